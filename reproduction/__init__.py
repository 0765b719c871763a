"""Makes docs/the-paper-reproduced.md and its figures: `make paper`."""
