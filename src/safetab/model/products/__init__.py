"""What is counted: each product says its record, its tables, its selector, its keys and its files."""
