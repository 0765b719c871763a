"""A chunk of people as an Arrow table with the columns of the person records.

Every column is a dictionary of texts: the form that is fastest to write, and that databases read fastest.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.products.record import RACE_COLUMNS
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.products.safetab_p.tables import OLDEST_AGE
from safetab.synthetic.people.code_mix import CodeMix
from safetab.synthetic.people.state_people import PeopleChunk, StatePeople, cenrace_of_chunk
from safetab.synthetic.seeded_bits import Integers

PERSON_SCHEMA = pa.schema([(column, pa.dictionary(pa.int32(), pa.string())) for column in PERSON_RECORD.columns])

_AGES = pa.array([str(age) for age in range(OLDEST_AGE + 1)])
_SEXES = pa.array(["1", "2"])
_TRUTH = pa.array(["False", "True"])
_CENRACES = pa.array([f"{number:02d}" for number in range(64)])


def person_table(
    chunk: PeopleChunk, people: StatePeople, mix: CodeMix, is_householder: NDArray[np.bool_] | None = None
) -> pa.Table:
    """`is_householder` follows from households; without them, from the table of demographics."""
    demographics = people.demographics
    marked = demographics.is_householder[chunk.demographic] if is_householder is None else is_householder.view(np.int8)
    columns = {
        "QAGE": text_column(demographics.age[chunk.demographic], _AGES),
        "QSEX": text_column(demographics.is_female[chunk.demographic], _SEXES),
        "HOUSEHOLDER": text_column(marked, _TRUTH),
        **_block_columns(chunk, people),
        "CENRACE": text_column(cenrace_of_chunk(chunk, mix), _CENRACES),
        **_race_columns(chunk, mix),
        "QSPAN": used_text_column(chunk.ethnicity, pa.array(mix.codes)),
    }
    return pa.table({name: columns[name] for name in PERSON_RECORD.columns})


def text_column(positions: NDArray[np.integer], texts: pa.Array, is_null: NDArray[np.bool_] | None = None) -> pa.Array:
    indices = pa.array(positions.astype(np.int32), mask=is_null)
    return pa.DictionaryArray.from_arrays(indices, texts, safe=False)


def used_text_column(
    positions: NDArray[np.integer], texts: pa.Array, is_null: NDArray[np.bool_] | None = None
) -> pa.Array:
    """As `text_column`, with those texts alone that occur: fewer bits a person."""
    occurring = positions if is_null is None else positions[~is_null]
    used = np.flatnonzero(np.bincount(occurring, minlength=len(texts)))
    renumbered = np.zeros(len(texts), dtype=np.int32)
    renumbered[used] = np.arange(len(used))
    return text_column(renumbered[positions], texts.take(pa.array(used)), is_null)


def _block_columns(chunk: PeopleChunk, people: StatePeople) -> dict[str, pa.Array]:
    geography = people.geography
    tract = geography.tract_of_block[chunk.blocks]

    def column(number_of_block: Integers, digits: int) -> pa.Array:
        numbers, of_block = np.unique(number_of_block, return_inverse=True)
        texts = pa.array([f"{number:0{digits}d}" for number in numbers.tolist()])
        return text_column(np.repeat(of_block.astype(np.int32), chunk.people_of_block), texts)

    return {
        "TABBLKST": column(np.full(len(tract), geography.state), 2),
        "TABBLKCOU": column(geography.county_number_of_tract[tract], 3),
        "TABTRACTCE": column(geography.tract_number[tract], 6),
        "TABBLK": column(geography.block_number[chunk.blocks], 4),
    }


def _race_columns(chunk: PeopleChunk, mix: CodeMix) -> dict[str, pa.Array]:
    texts, several = pa.array(mix.codes), chunk.several
    columns = {RACE_COLUMNS[0]: used_text_column(chunk.race, texts)}
    for slot in range(1, len(RACE_COLUMNS)):
        positions = np.zeros(len(chunk.race), dtype=np.int32)
        is_null = np.ones(len(chunk.race), dtype=np.bool_)
        has_code = several.races[:, slot] >= 0
        positions[several.person[has_code]] = several.races[has_code, slot]
        is_null[several.person[has_code]] = False
        columns[RACE_COLUMNS[slot]] = used_text_column(positions, texts, is_null)
    return columns
