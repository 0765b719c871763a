"""Small faults put into the core of the program, one at a time.

They show whether a test dies of each.
"""
