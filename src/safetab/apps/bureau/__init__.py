"""The Census Bureau's own files: tables of its edited file, and releases from its published tables."""
