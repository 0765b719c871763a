"""The algorithm: both stages for every level. Only this package knows engines and mechanisms."""
