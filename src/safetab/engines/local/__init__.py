"""Counting inside the process: DuckDB reads text, Arrow reads Parquet, compiled loops count."""
