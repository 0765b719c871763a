"""From names that people type to the areas and groups of a release."""
