"""Who lives with whom.

The people of a block are in households and group quarters; nobody lives in the vacant units.
"""
