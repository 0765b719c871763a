"""The pictures of the README, taken from the demos: `make pictures`."""
