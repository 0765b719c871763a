"""The household record: type and tenure are counted by, the householder's race HHRACE is checked alone."""

from __future__ import annotations

from safetab.products.record import (
    BLOCK_COLUMNS,
    ETHNICITY_COLUMN,
    RACE_COLUMNS,
    AttributePart,
    CheckedColumn,
    RecordLayout,
)
from safetab.products.safetab_h.tables import HOUSEHOLD_TYPES, TENURES

HOUSEHOLD_RECORD = RecordLayout(
    table="household-records",
    noun="household",
    nouns="households",
    columns=(*BLOCK_COLUMNS, "HHRACE", *RACE_COLUMNS, ETHNICITY_COLUMN, "HOUSEHOLD_TYPE", "TEN"),
    attribute=(
        AttributePart("HOUSEHOLD_TYPE", 1, HOUSEHOLD_TYPES, "must be 1 to 5", leading_zeros=False),
        AttributePart("TEN", 1, TENURES, "must be 1 to 4", leading_zeros=False),
    ),
    checked=(CheckedColumn("HHRACE", tuple(f"{code:02d}" for code in range(1, 64)), "must be 01 to 63", digits=2),),
    holds_people=True,
)
