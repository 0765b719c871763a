"""The tidy release: numbers with margins, the public universe, and why a number is absent.

A release is a function of the measurements of published groups, public lists and the options. It
reaches no record.
"""
