"""The pictures of the README, taken from the demo: `make pictures`."""
