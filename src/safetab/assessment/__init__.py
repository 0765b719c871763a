"""How good the numbers are: the truth beside many runs of the real algorithm. What comes of it is confidential."""
