"""What noise is: exact facts about its distribution, certified by interval arithmetic. Draws nothing.

docs/noise.md has the formulas and their proofs.
"""
