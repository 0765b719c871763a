"""The U.S. Census Bureau's census and its files."""
