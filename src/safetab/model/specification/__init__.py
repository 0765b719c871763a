"""The specification of a census: its language, the files it is read from, and the values it becomes."""
