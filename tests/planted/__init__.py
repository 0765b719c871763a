"""Bugs that break the guarantee. Nothing in the package plants them: tests patch them in, one by one."""
