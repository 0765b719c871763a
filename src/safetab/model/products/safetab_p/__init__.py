"""SafeTab-P: persons, a total, and sex by age as finely as the noisy size allows."""
