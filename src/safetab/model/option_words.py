"""Words of the default census in the help of options.

Without the census itself, `import safetab` is quick.
"""

AREAS_FILE = "GRF-C"
DONORS = "state, county, place, aiannh, tract"
