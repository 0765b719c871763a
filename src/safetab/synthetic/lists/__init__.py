"""Code lists and parameters: given ones, or lists of a census's own."""
