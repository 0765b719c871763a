"""Records of the Census Edited File."""
