"""The columns that all records of the Census Bureau share: the block, the race codes and the ethnicity code."""

from __future__ import annotations

from safetab.census.groups import Classification
from safetab.products.record import AreaColumns, CodeColumns

BLOCK_DIGITS = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}
BLOCK_COLUMNS = tuple(BLOCK_DIGITS)

RACE = Classification("race", tuple(f"QRACE{number}" for number in range(1, 9)), pattern="[0-8][0-9]{3}")
ETHNICITY = Classification("ethnicity", ("QSPAN",))
RACE_COLUMNS = RACE.columns
CODE_COLUMNS = (*RACE_COLUMNS, *ETHNICITY.columns)

BLOCKS = AreaColumns(BLOCK_COLUMNS, tuple(BLOCK_DIGITS.values()), "block", "state", listed_in="GRF-C")
RACE_CODES = CodeColumns(RACE, "a code of the list from 1000 to 8999", digits=4)
ETHNICITY_CODES = CodeColumns(ETHNICITY, "a code of the list", digits=4)
