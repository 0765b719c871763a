"""Texts made from declarations in the program: JSON Schemas, the page about specifications, and a quoted contract."""
