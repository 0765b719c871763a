"""Checks of an output before it appears."""
