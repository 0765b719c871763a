"""Small worlds, all of them."""
