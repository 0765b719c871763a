"""Noise, drawn: random bits by address, table inversion, and the one function that adds noise to counts."""
