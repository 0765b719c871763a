"""Makers of censuses: of people, of households, of any specification, and their releases, made once."""
