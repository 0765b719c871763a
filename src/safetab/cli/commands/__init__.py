"""The commands, grouped by who uses them."""
