"""The U.S. Census Bureau's files: config.json, lists, GRF-C, and where a Census Edited File lies."""
