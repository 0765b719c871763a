"""Runs that are observed: errors of many draws beside the truth."""
