"""The pictures of the README and the how-tos, taken from the demos."""
