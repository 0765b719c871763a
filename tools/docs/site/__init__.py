"""The documentation as one static site: `make docs`."""
