"""The HTML page of an accuracy report."""
