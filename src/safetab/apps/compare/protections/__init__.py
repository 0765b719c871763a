"""The methods by which agencies protect tables.

Each protection is one file and states its likelihood.
"""
