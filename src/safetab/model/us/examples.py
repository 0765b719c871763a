"""Examples and words of the U.S. census in the help of commands. Light: no numpy."""

from safetab.model.us.us_census import US

HEADING = "U.S. census"
INPUTS = (
    "For the 2020 U.S. Census: config.json with four lists;"
    " GRF-C with the records, or the .ini file of a CEF"
)
DATA = "Directory with the records (U.S. census: and GRF-C; or the .ini file of a CEF)."
GEOGRAPHY_FILE = "GRF-C file"
FORMS = "tidy: a file for each level, all columns; census: a file for each table, as the Bureau's."

AREA = 'Such as "Providence County, RI", 44007, nation; or a level.'
AREA_NAME = 'Name or id, e.g. "Providence County, RI" or 44007.'
_FIRST_OPTIONS = ("place", "county", "state", "tract", "aiannh")
AREA_OPTIONS = tuple(
    dict.fromkeys([*_FIRST_OPTIONS, *(kind.name for kind in US.kinds if not kind.is_whole)])
)
"""Kinds of area, in the order of help."""
WHOLE_OPTION = "nation"
KIND_OF_AREA = "county"

GROUP = 'Such as "Hmong alone"; all if left out.'
GROUP_NAME = 'Name or code, e.g. Hmong, "Hmong alone" or 3010.'
KINDS_OF_GROUPS = "Such as alone, combination or ethnicity; any or only."

LEVEL = "county-detailed"
LEVELS = "county-detailed, pr-tract-regional, or a key of config.json such as (COUNTY, 2)"
PASSES = "us or pr."
