"""The promise and its cost: definitions, calibration, composition.

Proofs: docs/privacy.md.
"""
