"""Below everything: findings, failures, progress, files and locks. Knows nothing of a census."""
