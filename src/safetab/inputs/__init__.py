"""How agencies spell their censuses: one folder for each."""
