"""config.json, read exactly and checked whole, as one frozen type."""
