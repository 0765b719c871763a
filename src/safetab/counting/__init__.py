"""Engines count exactly. They know records and population groups, and nothing of noise."""
