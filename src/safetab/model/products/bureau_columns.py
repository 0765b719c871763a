"""The common parts of the Census Bureau's products.

They are the form of specification, the block, race codes and the ethnicity code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from safetab.model.census.groups import Classification
from safetab.model.products.record import AreaColumns, CodeColumns, RecordLayout, record_layout_of
from safetab.model.products.record_field import RuledColumn
from safetab.model.specification.reading import read_specification
from safetab.model.specification.values import Specification

BLOCK_DIGITS = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}
BLOCK_COLUMNS = tuple(BLOCK_DIGITS)

RACE = Classification(
    "race", tuple(f"QRACE{number}" for number in range(1, 9)), pattern="[0-8][0-9]{3}"
)
ETHNICITY = Classification("ethnicity", ("QSPAN",))
RACE_COLUMNS = RACE.columns
CODE_COLUMNS = (*RACE_COLUMNS, *ETHNICITY.columns)

BLOCKS = AreaColumns(
    BLOCK_COLUMNS, tuple(BLOCK_DIGITS.values()), "block", "state", listed_in="GRF-C"
)
RACE_CODES = CodeColumns(RACE, "a code of the list from 1000 to 8999", digits=4)
ETHNICITY_CODES = CodeColumns(ETHNICITY, "a code of the list", digits=4)
SETS_OF_RACES = "0[1-9]|[1-5][0-9]|6[0-3]", "must be 01 to 63"
"""The rule of a column that says which set of major races was reported."""
_DIGITS_OF_SETS = 2


@cache
def shipped_specification(name: str) -> Specification:
    """The specification of a product that is shipped, by the name of its folder."""
    return read_specification(Path(__file__).parent / name).require()


def bureau_record(spec: Specification, rules: Mapping[str, tuple[str, str]]) -> RecordLayout:
    """The layout of the records of a shipped specification.

    The Bureau's files spell values in one way. `rules` has the pattern of each column with a rule
    of its own, and the rule in words.
    """
    record = record_layout_of(spec, {}, ())
    columns = {}
    for name, (pattern, rule) in rules.items():
        field = replace(spec.records.named(name), pattern=pattern)
        digits = _DIGITS_OF_SETS if rule == SETS_OF_RACES[1] else None
        columns[name] = RuledColumn(field, own_rule=rule, digits=digits)
    return replace(
        record,
        attribute=tuple(columns[part.column] for part in record.attribute),
        checked=tuple(
            columns[one.column] for one in record.checked if one.column not in BLOCK_COLUMNS
        ),
        area=BLOCKS,
        several=RACE_CODES,
        single=ETHNICITY_CODES,
        fields={},
        missing=frozenset(),
        takes_csv=False,
    )
