"""The U.S. census as values: areas, passes, lists, ids, published tables."""
