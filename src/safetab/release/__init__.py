"""The tidy release: numbers with their margins, the public universe beside them, and why a number is absent.

A release is a function of the measurements of published groups, public lists and the options; it reaches no person.
"""
