"""The audit: tools of our own that test whether the program keeps its privacy claims."""
