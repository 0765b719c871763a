"""The losses of users: the same measures for every protection."""
