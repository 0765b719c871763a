"""The U.S. Census Bureau's files: config.json, lists, GRF-C, and a Census Edited File's folders."""
