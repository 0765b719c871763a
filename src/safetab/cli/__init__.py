"""The command line.

`main` imports little, so that --help is quick; each command imports what it needs.
"""
