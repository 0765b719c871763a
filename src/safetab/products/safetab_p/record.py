"""The person record: sex and age are counted by, householder and CENRACE are checked alone."""

from __future__ import annotations

from safetab.products.record import (
    BLOCK_COLUMNS,
    ETHNICITY_COLUMN,
    RACE_COLUMNS,
    AttributePart,
    CheckedColumn,
    RecordLayout,
)
from safetab.products.safetab_p.tables import OLDEST_AGE, SEXES

PERSON_RECORD = RecordLayout(
    table="person-records",
    noun="person",
    nouns="people",
    columns=("QAGE", "QSEX", "HOUSEHOLDER", *BLOCK_COLUMNS, "CENRACE", *RACE_COLUMNS, ETHNICITY_COLUMN),
    attribute=(
        AttributePart("QSEX", 1, len(SEXES), "must be 1 or 2", leading_zeros=False),
        AttributePart("QAGE", 0, OLDEST_AGE, f"must be an age from 0 to {OLDEST_AGE}", leading_zeros=True),
    ),
    checked=(
        CheckedColumn("HOUSEHOLDER", ("False", "True"), "must be True or False", digits=None),
        CheckedColumn("CENRACE", tuple(f"{code:02d}" for code in range(1, 64)), "must be 01 to 63", digits=2),
    ),
)
