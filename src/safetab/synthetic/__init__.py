"""Made-up censuses: people who do not exist, for demonstrations, tests and benchmarks."""
