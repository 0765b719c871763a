"""What a config.json of the 2020 production run says besides the values of its product."""

from __future__ import annotations

from safetab.dialects.bureau.states import US_STATES

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
