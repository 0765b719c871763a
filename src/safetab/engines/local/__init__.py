"""Counting inside the process: Arrow and compiled loops read files, compiled loops count, DuckDB takes fingerprints."""
