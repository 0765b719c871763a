"""Noise, drawn: table inversion, and the one function that adds noise to counts."""
