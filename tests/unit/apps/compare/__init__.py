"""The comparison of protections."""
