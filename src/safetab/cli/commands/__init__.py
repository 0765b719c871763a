"""The commands, by who they are for."""
