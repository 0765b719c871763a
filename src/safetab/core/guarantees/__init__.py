"""The guarantee of a plan, in numbers, words and JSON."""
