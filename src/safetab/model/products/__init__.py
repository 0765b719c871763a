"""The products: each has its record, its tables, its selector, its keys and its files."""
