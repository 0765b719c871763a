"""Made-up censuses on which the audit runs the program."""
