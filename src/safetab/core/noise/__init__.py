"""Exact facts about noise, certified by interval arithmetic.

Proofs: docs/noise.md. Draws nothing.
"""
