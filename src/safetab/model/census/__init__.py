"""A census as a value: areas, groups, levels, and the universe of groups.

Codes are mapped to groups, and sensitivity follows from that. All of it is pure.
"""
