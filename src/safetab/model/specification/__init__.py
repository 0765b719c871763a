"""The specification of a census.

Its language, the files it is read from, and the values it becomes.
"""
