"""A curator's accounts: what all runs on a data set spent."""
