"""Worlds of SafeTab-H: households that do not exist, and totals of people that were published before."""
