"""Accuracy reports: many runs of the real algorithm compared with the truth. Confidential."""
