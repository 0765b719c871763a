"""The Census Edited File: its layout, and the .ini file that names its files.

Its records: inputs/records/cef.
"""
