"""Engines count exactly. They know persons and population groups, and nothing of noise."""
