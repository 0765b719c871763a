"""The files of a synthetic census: blocks, people, names, and the marker that says that nobody of them exists."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.products.record import RACE_COLUMNS
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.synthetic.files.block_numbers import GEOGRAPHY_DIGITS, block_numbers
from safetab.synthetic.files.person_tables import PERSON_SCHEMA
from safetab.synthetic.geography.entity_names import Named
from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.lists.parameter_files import write_lines

GEOGRAPHY_TABLE = "GRF-C"
NAMES_FILE = "geography-names.txt"

_MARKER_TEXT = "These people do not exist. safetab made them up, from a seed."
_NO_CODE = "Null"


class CensusFormat(Enum):
    """How people and blocks are written; the value is what the command line calls it."""

    PARQUET = "parquet"
    TEXT = "text"
    CEF = "cef"

    @property
    def ending(self) -> str:
        return ".parquet" if self is CensusFormat.PARQUET else ".txt"

    def bytes_needed(self, people: int, blocks: int, *, has_households: bool = False) -> int:
        """About how much room a census takes, as measured, and a tenth more."""
        a_person, a_block, a_unit = {
            CensusFormat.PARQUET: (4.2, 1.0, 6.0),
            CensusFormat.TEXT: (78.0, 30.0, 70.0),
            CensusFormat.CEF: (92.0, 140.0, 77.0),
        }[self]
        units = min(1.15 * people, 0.42 * people + 0.8 * blocks) if has_households else 0
        return round(1.1 * (people * a_person + blocks * a_block + units * a_unit)) + 20_000_000


class CensusTableFile:
    """Writes a table chunk by chunk. Parquet: a row group a chunk; text: a header, then lines that end in LF."""

    def __init__(self, path: Path, schema: pa.Schema, form: CensusFormat) -> None:
        self._parquet = self._text = None
        if form is CensusFormat.PARQUET:
            self._parquet = pa.parquet.ParquetWriter(
                path, schema, compression="snappy", write_statistics=False, store_schema=False
            )
        else:
            self._text = path.open("wb")
            self._text.write(("|".join(schema.names) + "\n").encode())

    def write(self, table: pa.Table) -> None:
        if self._parquet is not None:
            self._parquet.write_table(table, row_group_size=max(table.num_rows, 1))
        elif self._text is not None:
            options = pa.csv.WriteOptions(include_header=False, delimiter="|", quoting_style="none")
            pa.csv.write_csv(table, self._text, options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for file in (self._parquet, self._text):
            if file is not None:
                file.close()


def begin_census(folder: Path, tables: Iterable[str]) -> None:
    """The marker comes first: made-up people must never lie without it. Each of the tables gets a folder."""
    folder.mkdir()
    write_lines(folder / SYNTHETIC_MARKER, [_MARKER_TEXT])
    for table in tables:
        (folder / table).mkdir()


def person_file(folder: Path, state: str, form: CensusFormat) -> CensusTableFile:
    return CensusTableFile(folder / PERSON_RECORD.table / f"{state}{form.ending}", PERSON_SCHEMA, form)


def as_text(table: pa.Table) -> pa.Table:
    """Plain texts instead of dictionaries, and the word for no code."""
    columns = {name: table[name].cast(pa.string()) for name in table.column_names}
    return pa.table(columns | {name: columns[name].fill_null(_NO_CODE) for name in RACE_COLUMNS})


def write_geography(folder: Path, geography: StateGeography, form: CensusFormat) -> None:
    numbers = block_numbers(geography)
    table = pa.table({name: pa.array(values.astype(np.int32)) for name, values in numbers.items()})
    if form is CensusFormat.TEXT:
        table = pa.table({name: _padded(table[name], digits) for name, digits in GEOGRAPHY_DIGITS.items()})
    path = folder / GEOGRAPHY_TABLE / f"{geography.share.state.code}{form.ending}"
    with CensusTableFile(path, table.schema, form) as file:
        file.write(table)


def _padded(column: pa.ChunkedArray, digits: int) -> pa.Array:
    numbers = column.combine_chunks().dictionary_encode()
    numbers = numbers.chunk(0) if isinstance(numbers, pa.ChunkedArray) else numbers
    return pa.array([f"{number:0{digits}d}" for number in numbers.dictionary.to_pylist()]).take(numbers.indices)


def write_names(folder: Path, names: Iterable[Named]) -> None:
    rows = (f"{level.label}|{region_id}|{name}" for level, region_id, name in names)
    write_lines(folder / NAMES_FILE, ["REGION_TYPE|REGION_ID|NAME", *rows])
