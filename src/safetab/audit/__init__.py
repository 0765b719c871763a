"""Does the program keep what it claims? Our own tools against it."""
