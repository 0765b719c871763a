"""A run from files to files, and what surrounds it: options, guards, disk, accounts."""
