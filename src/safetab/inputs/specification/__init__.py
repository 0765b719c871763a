"""A census that a specification describes: its value, its public files, and its configuration."""
