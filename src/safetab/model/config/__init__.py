"""The content of a configuration, with its keys, checked whole, as one frozen type."""
