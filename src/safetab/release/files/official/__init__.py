"""Numbers that the Census Bureau published, as a release: whose noise they have, and what is unknown."""
