"""Made-up people for any specification, and a specification to start from."""
