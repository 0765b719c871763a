"""The Census Edited File: persons, units and counts of each state, and the full GRF-C, as an agency has them."""
