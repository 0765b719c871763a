"""Small faults put into the core of the program, one at a time, to see whether a test dies of each."""
