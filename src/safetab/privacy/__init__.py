"""What is promised and what it costs: definitions, calibration, composition, conversions.

docs/privacy.md has the proofs.
"""
