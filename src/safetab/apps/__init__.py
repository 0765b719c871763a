"""Applications around the core. None imports another."""
