"""The files of people, blocks and names."""
