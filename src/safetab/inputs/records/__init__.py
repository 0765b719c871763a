"""Records of people and households: found, read and checked."""
