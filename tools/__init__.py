"""Tools for those who change the program."""
