"""One room at a time."""
