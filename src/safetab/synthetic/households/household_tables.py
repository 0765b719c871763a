"""The households of a chunk as an Arrow table with the columns of the household records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from safetab.products.safetab_h.record import HOUSEHOLD_RECORD
from safetab.readers.cef.state_records import TYPE_OF_HHT
from safetab.synthetic.files.person_tables import person_table, text_column
from safetab.synthetic.households.units import HousedChunk
from safetab.synthetic.people.code_mix import CodeMix
from safetab.synthetic.people.state_people import FurtherCodes, PeopleChunk, StatePeople
from safetab.synthetic.seeded_bits import Integers

HOUSEHOLD_TABLE = HOUSEHOLD_RECORD.table
HOUSEHOLD_COLUMNS = HOUSEHOLD_RECORD.columns
HOUSEHOLD_SCHEMA = pa.schema([(column, pa.dictionary(pa.int32(), pa.string())) for column in HOUSEHOLD_COLUMNS])

_DIGITS = pa.array([str(digit) for digit in range(10)])


def household_table(chunk: HousedChunk, people: StatePeople, mix: CodeMix) -> pa.Table:
    """A row for each household, with the codes of its householder."""
    of_householders = person_table(_householders(chunk), people, mix)
    columns = {name: of_householders[name] for name in HOUSEHOLD_COLUMNS if name in of_householders.column_names}
    columns |= {
        "HHRACE": of_householders["CENRACE"],
        "HOUSEHOLD_TYPE": text_column(TYPE_OF_HHT[chunk.facts.hht], _DIGITS),
        "TEN": text_column(chunk.tenure, _DIGITS),
    }
    return pa.table({name: columns[name] for name in HOUSEHOLD_COLUMNS})


def _households_of_blocks(chunk: HousedChunk) -> Integers:
    position = np.searchsorted(chunk.people.blocks, chunk.household_block)
    return np.bincount(position, minlength=len(chunk.people.blocks))


def _householders(chunk: HousedChunk) -> PeopleChunk:
    people, householder = chunk.people, chunk.householder
    position = np.full(len(people.race), -1, dtype=np.int64)
    position[householder] = np.arange(len(householder))
    place = position[people.several.person]
    return PeopleChunk(
        blocks=people.blocks,
        people_of_block=_households_of_blocks(chunk),
        demographic=people.demographic[householder],
        race=people.race[householder],
        ethnicity=people.ethnicity[householder],
        several=FurtherCodes(place[place >= 0], people.several.races[place >= 0]),
    )
