"""The public files that a specification names: areas, lists of groups and codes, totals."""
