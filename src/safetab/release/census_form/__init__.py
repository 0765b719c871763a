"""A release in the form of the Census Bureau's published tables."""
