"""Python's functions for commands that have no room of their own.

What a command prints stays with the command.
"""
