"""The algorithm: both stages for every level. The only package that knows engines and mechanisms."""
