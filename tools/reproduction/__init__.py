"""Makes docs/the-paper-reproduced.md and its figures: `python -m tools.reproduction`."""
