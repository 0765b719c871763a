"""Python's functions for commands that have no room of their own; what a command prints stays with the command."""
