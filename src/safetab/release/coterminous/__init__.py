"""Coterminous geographies: the sets, the donors, the copies."""
