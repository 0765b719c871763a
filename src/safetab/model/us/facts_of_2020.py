"""Public facts of the 2020 Census, and sizes of made-up groups.

The facts are areas, groups, stability and production values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetab.model.us.states import US_STATES

ENTITIES = {
    "USA": 1, "STATE": 51, "COUNTY": 3_143, "TRACT": 84_414, "PLACE": 31_617, "AIANNH": 704,
    "PR-STATE": 1, "PR-COUNTY": 78, "PR-TRACT": 981, "PR-PLACE": 292,
}  # fmt: skip
"""The number of areas of a level, by label."""
GROUPS = {
    ("Regional", 0): (48, 4), ("Regional", 1): (48, 0), ("Detailed", 0): (2_150, 794),
    ("Detailed", 1): (2_150, 0),
}  # fmt: skip
"""The adaptive and the total-only groups, by group level and grain."""
STABILITY = (3, 3, 4, 5, 6, 7, 8, 9)
"""The stability of every level if 1, 2, .. race codes are used."""

PRODUCTION = "2020 production"
ROUNDED = "2020 with round-number thresholds"
FIRST_KEYS: dict[str, object] = {"max_race_codes": 8, "privacy_defn": "zcdp"}
LAST_KEYS: dict[str, object] = {
    "allow_negative_counts": True,
    "run_us": True,
    "run_pr": True,
    "reader": "csv",
    "state_filter_us": sorted(US_STATES),
}
"""The keys in a config.json of the production run besides the values of its product."""


def group_sizes() -> Mapping[str, Any]:
    """The sizes of groups in a synthetic census, by level.

    `tools/reproduction/group_sizes.py` counted them.
    """
    counted: Mapping[str, Any] = json.loads(
        Path(__file__).with_name("group_sizes.json").read_text("utf-8")
    )
    return counted
