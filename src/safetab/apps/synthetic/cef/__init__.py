"""A synthetic census as a Census Edited File: persons, units, counts, the GRF-C and reader.ini."""
