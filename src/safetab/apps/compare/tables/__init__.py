"""The tables that every protection publishes, and the area under attack."""
