"""Censuses of any agency: a small one that a person can count, and random ones."""
