"""The page for a committee."""
