"""The algorithm: both stages for every level. The only room that knows engines and mechanisms."""
