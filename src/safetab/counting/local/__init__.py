"""Counting in this process: Arrow reads files; compiled loops encode and count."""
