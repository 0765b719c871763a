"""What a configuration says, with its keys, checked whole, as one frozen type."""
