"""The page of an accuracy report."""
