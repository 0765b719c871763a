"""A synthetic census as a Census Edited File.

Its files are persons, units, counts, the GRF-C and reader.ini.
"""
