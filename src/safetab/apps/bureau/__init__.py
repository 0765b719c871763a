"""The Census Bureau's own files: tables of its edited file, and releases from its tables.

The releases are read from the Bureau's published tables.
"""

HANDED_OUT = {
    "cef_tables": "ConvertedCef blocks_with_units convert_cef",
    "official": "OfficialRequest read_official_release",
}
