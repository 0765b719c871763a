"""The files of a synthetic census, and the marker beside them.

They hold blocks, people, households and names. The marker says that the people are made up, and is
written first. Every column of a record is a dictionary of texts: this form is the fastest to write
and to read.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.apps.synthetic.files.parameter_files import write_lines
from safetab.apps.synthetic.geography.state_geography import Named, StateGeography, block_numbers
from safetab.apps.synthetic.households.units import HousedChunk, VacantUnits
from safetab.apps.synthetic.people.code_mix import CodeMix
from safetab.apps.synthetic.people.state_people import PeopleChunk, StatePeople, cenrace_of_chunk
from safetab.apps.synthetic.seeded_bits import Flags, Integers, RandomBits
from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.inputs.bureau.grfc import GEOGRAPHY_DIGITS, GEOGRAPHY_TABLE
from safetab.inputs.readers.area_names import NAMES_FILE
from safetab.inputs.readers.delimited import SEPARATOR
from safetab.inputs.records.cef.state_records import TYPE_OF_HHT
from safetab.inputs.records.record_files import PERSON_HOUSEHOLD_FILE
from safetab.model.products.bureau_columns import RACE_COLUMNS
from safetab.model.products.record import NO_CODE
from safetab.model.products.safetab_h.safetab_h import HOUSEHOLD_RECORD
from safetab.model.products.safetab_p.safetab_p import OLDEST_AGE, PERSON_RECORD

TEXTS = pa.dictionary(pa.int32(), pa.string())
_PERSON_SCHEMA = pa.schema([(column, TEXTS) for column in PERSON_RECORD.columns])
PERSON_HOUSEHOLD = "person-household"
"""Who lives with whom: a row for each person record.

Rows are in the order of the files of person records.
"""
_PERSON_HOUSEHOLD_SCHEMA = pa.schema([("HOUSEHOLD", pa.int32())])
_HOUSEHOLD_SCHEMA = pa.schema([(column, TEXTS) for column in HOUSEHOLD_RECORD.columns])

_AGES = pa.array([str(age) for age in range(OLDEST_AGE + 1)])
_SEXES = pa.array(["1", "2"])
_TRUTH = pa.array(["False", "True"])
_CENRACES = pa.array([f"{number:02d}" for number in range(64)])
_DIGITS = pa.array([str(digit) for digit in range(10)])


def person_table(
    chunk: PeopleChunk, people: StatePeople, mix: CodeMix, is_householder: Flags | None = None
) -> pa.Table:
    """The person records of a chunk.

    HOUSEHOLDER comes from `is_householder` if the people live in households, otherwise from the
    table of demographics.
    """
    demographics = people.demographics
    householder = (
        demographics.is_householder[chunk.demographic] if is_householder is None else is_householder
    )
    columns = {
        "QAGE": text_column(demographics.age[chunk.demographic], _AGES),
        "QSEX": text_column(demographics.is_female[chunk.demographic], _SEXES),
        "HOUSEHOLDER": text_column(householder, _TRUTH),
        **_block_columns(chunk, people),
        "CENRACE": text_column(cenrace_of_chunk(chunk, mix), _CENRACES),
        **_race_columns(chunk, mix),
        "QSPAN": used_text_column(chunk.ethnicity, pa.array(mix.codes)),
    }
    return pa.table({name: columns[name] for name in PERSON_RECORD.columns})


def _household_table(chunk: HousedChunk, people: StatePeople, mix: CodeMix) -> pa.Table:
    """The household records of a chunk. The codes are those of the householder."""
    of_householders = person_table(_householders(chunk), people, mix)
    columns = {name: of_householders[name] for name in of_householders.column_names}
    columns |= {
        "HHRACE": columns["CENRACE"],
        "HOUSEHOLD_TYPE": text_column(TYPE_OF_HHT[chunk.facts["HHT"]], _DIGITS),
        "TEN": text_column(chunk.tenure, _DIGITS),
    }
    return pa.table({name: columns[name] for name in HOUSEHOLD_RECORD.columns})


def _householders(chunk: HousedChunk) -> PeopleChunk:
    """The householders alone, in the order of their households."""
    blocks = chunk.people.blocks
    people_of_block = np.bincount(
        np.searchsorted(blocks, chunk.household_block), minlength=len(blocks)
    )
    return chunk.people.of(chunk.householder, blocks, people_of_block)


def text_column(positions: NDArray[Any], texts: pa.Array, is_null: Flags | None = None) -> pa.Array:
    """A dictionary column that points to these texts."""
    indices = pa.array(positions.astype(np.int32), mask=is_null)
    return pa.DictionaryArray.from_arrays(indices, texts, safe=False)


def used_text_column(
    positions: NDArray[Any], texts: pa.Array, is_null: Flags | None = None
) -> pa.Array:
    """Like `text_column`, but the dictionary has only the texts that occur, which saves space."""
    occurring = positions if is_null is None else positions[~is_null]
    used = np.flatnonzero(np.bincount(occurring, minlength=len(texts)))
    renumbered = np.zeros(len(texts), dtype=np.int32)
    renumbered[used] = np.arange(len(used))
    return text_column(renumbered[positions], texts.take(pa.array(used)), is_null)


def _block_columns(chunk: PeopleChunk, people: StatePeople) -> dict[str, pa.Array]:
    """The columns that name each person's block.

    Only the texts of the chunk's blocks are made.
    """
    numbers = block_numbers(people.geography, chunk.blocks)
    block_of_person = pa.array(np.repeat(np.arange(len(chunk.blocks)), chunk.people_of_block))
    names = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")
    return {
        name: _padded(numbers[name], GEOGRAPHY_DIGITS[name]).take(block_of_person) for name in names
    }


def _race_columns(chunk: PeopleChunk, mix: CodeMix) -> dict[str, pa.Array]:
    """QRACE1 to QRACE8. Most people have no code beyond the first."""
    texts = pa.array(mix.codes)
    several = chunk.several
    columns = {RACE_COLUMNS[0]: used_text_column(chunk.race, texts)}
    for slot in range(1, len(RACE_COLUMNS)):
        positions = np.zeros(len(chunk.race), dtype=np.int32)
        is_null = np.ones(len(chunk.race), dtype=np.bool_)
        has_code = several.races[:, slot] >= 0
        positions[several.person[has_code]] = several.races[has_code, slot]
        is_null[several.person[has_code]] = False
        columns[RACE_COLUMNS[slot]] = used_text_column(positions, texts, is_null)
    return columns


_TableWriter = Callable[[pa.Table], None]


class CensusFormat(Enum):
    """The form in which people and blocks are written.

    The value is the word on the command line.
    """

    PARQUET = "parquet"
    TEXT = "text"
    CEF = "cef"

    @property
    def ending(self) -> str:
        """The ending of the names of files."""
        return ".parquet" if self is CensusFormat.PARQUET else ".txt"


def begin_census(folder: Path, tables: Iterable[str]) -> None:
    """Make the folder of a census, put the marker into it, and make a folder for each table."""
    folder.mkdir()
    mark_as_made_up(folder)
    for table in tables:
        (folder / table).mkdir()


def mark_as_made_up(folder: Path) -> None:
    """Write the marker that says that the people in this folder are made up."""
    write_lines(
        folder / SYNTHETIC_MARKER, ["These people do not exist. safetab made them up, from a seed."]
    )


@contextmanager
def table_file(
    path: Path, schema: pa.Schema, separator: str = SEPARATOR, missing: str = NO_CODE
) -> Iterator[_TableWriter]:
    """Write a table of texts chunk by chunk, in the form that the ending of the path says.

    Parquet gets one row group per chunk. Text gets a header, lines that end in a line feed, and the
    text `missing` where a value is missing.
    """
    if path.suffix == CensusFormat.PARQUET.ending:
        kept = {"compression": "snappy", "write_statistics": False, "store_schema": False}
        with pa.parquet.ParquetWriter(path, schema, **kept) as parquet:
            yield lambda table: parquet.write_table(table, row_group_size=max(table.num_rows, 1))
        return
    options = pa.csv.WriteOptions(include_header=False, delimiter=separator, quoting_style="none")
    with path.open("wb") as text:
        text.write(separator.join(schema.names).encode() + b"\n")
        yield lambda table: pa.csv.write_csv(_as_text(table, missing), text, options)


def _as_text(table: pa.Table, missing: str) -> pa.Table:
    """A table with plain texts instead of dictionaries.

    `missing` stands where a value is missing.
    """
    return pa.table(
        {name: table[name].cast(pa.string()).fill_null(missing) for name in table.column_names}
    )


def person_file(
    folder: Path, state: str, form: CensusFormat
) -> AbstractContextManager[_TableWriter]:
    """The open file of one state's person records."""
    return table_file(folder / PERSON_RECORD.table / f"{state}{form.ending}", _PERSON_SCHEMA)


@dataclass(frozen=True, slots=True)
class PersonAndHouseholdFiles:
    """Writes the persons and households of one state, chunk by chunk, as text or Parquet."""

    mix: CodeMix
    write_persons: _TableWriter
    write_households: _TableWriter
    write_homes: _TableWriter

    def write(self, chunk: HousedChunk, people: StatePeople, bits: RandomBits) -> None:  # noqa: ARG002
        """Append the records of a chunk. HOUSEHOLDER of a person follows from the households."""
        is_householder = chunk.homes.householder == np.arange(len(chunk.unit))
        self.write_persons(person_table(chunk.people, people, self.mix, is_householder))
        self.write_households(_household_table(chunk, people, self.mix))
        in_quarters = chunk.homes.householder < 0
        numbers = pa.array(
            chunk.unit.astype(np.int32), mask=in_quarters
        )  # households come first among units
        self.write_homes(pa.table([numbers], _PERSON_HOUSEHOLD_SCHEMA))

    def write_vacant(self, vacant: VacantUnits) -> None:
        """Write nothing: vacant units are not households."""


@contextmanager
def person_and_household_files(
    folder: Path, state: str, form: CensusFormat, mix: CodeMix
) -> Iterator[PersonAndHouseholdFiles]:
    """The open files of one state's person and household records, and of who lives with whom."""
    path = folder / HOUSEHOLD_RECORD.table / f"{state}{form.ending}"
    homes_path = folder / PERSON_HOUSEHOLD / f"{state}.parquet"
    with (
        person_file(folder, state, form) as persons,
        table_file(path, _HOUSEHOLD_SCHEMA) as households,
        table_file(homes_path, _PERSON_HOUSEHOLD_SCHEMA) as homes,
    ):
        yield PersonAndHouseholdFiles(mix, persons, households, homes)


def join_person_households(folder: Path) -> None:
    """Make one file of the states' files of who lives with whom.

    Household n, counted from 0, is row n of the household records. People in group quarters have
    null.
    """
    parts = folder / PERSON_HOUSEHOLD
    kept: dict[str, Any] = {
        "use_dictionary": False,
        "column_encoding": "DELTA_BINARY_PACKED",
        "store_schema": False,
    }
    first = 0
    with pa.parquet.ParquetWriter(
        folder / PERSON_HOUSEHOLD_FILE, _PERSON_HOUSEHOLD_SCHEMA, **kept
    ) as file:
        for path in sorted(parts.iterdir()):
            part = pa.parquet.ParquetFile(path)
            for number in range(
                part.num_row_groups
            ):  # of a chunk, in which households are numbered from 0
                numbers = part.read_row_group(number)["HOUSEHOLD"]
                file.write_table(
                    pa.table(
                        [pc.add(numbers, pa.scalar(first, pa.int32()))], _PERSON_HOUSEHOLD_SCHEMA
                    )
                )
                first += pc.count_distinct(numbers).as_py()
    shutil.rmtree(parts)


def write_geography(folder: Path, geography: StateGeography, form: CensusFormat) -> None:
    """Write the blocks of one state: integers in Parquet, digits with leading zeros in text."""
    numbers = block_numbers(geography, slice(None))
    table = pa.table({name: pa.array(values.astype(np.int32)) for name, values in numbers.items()})
    if form is CensusFormat.TEXT:
        table = pa.table(
            {name: _padded(numbers[name], digits) for name, digits in GEOGRAPHY_DIGITS.items()}
        )
    path = folder / GEOGRAPHY_TABLE / f"{geography.share.state.code}{form.ending}"
    with table_file(path, table.schema) as write:
        write(table)


def _padded(numbers: Integers, digits: int) -> pa.Array:
    """The numbers as a dictionary column of texts with leading zeros."""
    distinct, positions = np.unique(numbers, return_inverse=True)
    return text_column(
        positions, pa.array([f"{number:0{digits}d}" for number in distinct.tolist()])
    )


def write_names(folder: Path, names: Iterable[Named]) -> None:
    """Write the names of the nation and of these geographic entities."""
    rows = (f"{level.label}|{region_id}|{name}" for level, region_id, name in names)
    write_lines(folder / NAMES_FILE, ["REGION_TYPE|REGION_ID|NAME", "USA|1|United States", *rows])
