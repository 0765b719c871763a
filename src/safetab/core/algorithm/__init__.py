"""The algorithm: both stages for every level, from exact counts to noisy numbers.

Start with safetab.py.
"""
