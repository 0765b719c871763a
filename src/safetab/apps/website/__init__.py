"""A release as a web site: pages that need no server and no network, and the numbers in small files."""
