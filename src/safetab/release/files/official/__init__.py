"""Numbers that the Census Bureau published, as a release.

It says whose noise they have, and what is unknown.
"""
