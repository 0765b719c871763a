"""A census as a value: areas, groups, levels, codes to groups, sensitivity, the universe of groups. Pure."""
