"""Noise, by its distribution."""
