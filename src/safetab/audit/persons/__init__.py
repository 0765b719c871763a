"""Worlds of SafeTab-P: persons who do not exist. Nothing else of the audit knows what a person is."""
