"""Censuses of made-up people for demonstrations, tests and benchmarks."""
