"""Texts made from declarations in the program.

They are JSON Schemas, the page about specifications, and a quoted contract.
"""
