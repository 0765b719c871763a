"""Who lives with whom: the people of a block in households and group quarters, and units where nobody lives."""
