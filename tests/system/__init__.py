"""Whole runs and commands, from outside."""
