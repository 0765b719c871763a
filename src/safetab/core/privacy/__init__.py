"""What is promised and what it costs: definitions, calibration, composition. Proofs: docs/privacy.md."""
