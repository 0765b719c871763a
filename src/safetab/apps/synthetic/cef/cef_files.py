"""The files of a synthetic CEF, all in one folder.

They are persons, units, counts, GRF-C and reader.ini.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from safetab.apps.synthetic.cef import record_lines
from safetab.apps.synthetic.cef.record_lines import Lines, MafIds, Texts
from safetab.apps.synthetic.files.parameter_files import write_lines
from safetab.apps.synthetic.geography.state_geography import StateGeography, block_numbers
from safetab.apps.synthetic.households.units import HousedChunk, VacantUnits
from safetab.apps.synthetic.people.code_mix import CodeMix
from safetab.apps.synthetic.people.state_people import StatePeople
from safetab.apps.synthetic.seeded_bits import Integers, RandomBits
from safetab.inputs.bureau.grfc import GEOGRAPHY_DIGITS
from safetab.inputs.readers.delimited import SEPARATOR

READER_FILE = "reader.ini"

_COUNTS = ("COUNT_UNIT_HU", "COUNT_UNIT_GQ", "COUNT_PER_HU", "COUNT_PER_GQ")

_BLOCKS_PER_WRITE = 100_000
_SEPARATORS = tuple(f"after {name}" for name in record_lines.GRF_COLUMNS[:-1])


def write_reader_file(folder: Path) -> None:
    """Write reader.ini, which is DATA for the reader "cef". It names the files beside it."""
    write_lines(folder / READER_FILE, [record_lines.SHIPPED["reader_file"]])


def write_grf(folder: Path, geography: StateGeography) -> None:
    """Write the GRF-C of one state with all 76 columns.

    Columns that nothing here reads are empty.
    """
    separators = dict.fromkeys(_SEPARATORS, SEPARATOR.encode())
    with (folder / f"grfc_tab20_{geography.share.state.code}.txt").open("wb") as file:
        file.write(SEPARATOR.join(record_lines.GRF_COLUMNS).encode() + b"\n")
        for first in range(0, geography.share.blocks, _BLOCKS_PER_WRITE):
            blocks = slice(first, first + _BLOCKS_PER_WRITE)
            numbers = block_numbers(geography, blocks)
            count = len(numbers["TABBLK"])
            columns = _grf_columns(numbers, geography.share.state.code, first + np.arange(count))
            lines = record_lines.lines_of(_grf_line_type(columns), count, columns | separators)
            record_lines.write_fixed_lines(file, lines)


def _grf_columns(
    numbers: Mapping[str, Integers], state: str, block: Integers
) -> dict[str, Texts | bytes]:
    """The columns of GRF-C that have values, for blocks at these positions of a state.

    REGIONCE and DIVISIONCE are the same for all of them.
    """
    columns = {
        name: record_lines.digits_of(numbers[name], digits)
        for name, digits in GEOGRAPHY_DIGITS.items()
    }
    group = record_lines.digits_of(numbers["TABBLK"] // 1000, 1)
    divisions = record_lines.SHIPPED["divisions"]
    region, division = next(codes for *codes, states in divisions if state in states.split())
    return {
        **columns,
        "CURSTATE": columns["TABBLKST"],
        "CURCOUNTY": columns["TABBLKCOU"],
        "CURTRACTCE": columns["TABTRACTCE"],
        "TABBLKGRPCE": group,
        "CURBLKGRPCE": group,
        "REGIONCE": region.encode(),
        "DIVISIONCE": division.encode(),
        "OIDTABBLK": record_lines.digits_of(
            record_lines.block_oids(int(state), block), record_lines.OID_DIGITS
        ),
    }


def _grf_line_type(columns: Mapping[str, Texts | bytes]) -> np.dtype[Any]:
    """A line with the columns that have values.

    A separator follows all but the last of the 76.
    """
    widths: dict[str, int] = {}
    for name, separator in zip_longest(record_lines.GRF_COLUMNS, _SEPARATORS):
        if name in columns:
            texts = columns[name]
            widths[name] = len(texts) if isinstance(texts, bytes) else texts.dtype.itemsize
        if separator is not None:
            widths[separator] = 1
    return record_lines.layout_of(widths)


class CefStateFiles:
    """Writes the persons and units of one state, chunk by chunk, and counts them."""

    def __init__(
        self, state: str, mix: CodeMix, mafids: MafIds, persons: BinaryIO, units: BinaryIO
    ) -> None:
        self._state = state
        self._mix = mix
        self._mafids = mafids
        self._persons = persons
        self._units = units
        self._counts = Counter(dict.fromkeys(_COUNTS, 0))

    def write(self, chunk: HousedChunk, people: StatePeople, bits: RandomBits) -> None:
        """Append the records of a chunk. The bits choose the birthdays."""
        mafid = self._next_mafids(chunk.units)
        record_lines.write_fixed_lines(
            self._persons, record_lines.person_lines(chunk, people, self._mix, mafid, bits)
        )
        for lines in record_lines.unit_lines(chunk, people, self._mix, mafid):
            record_lines.write_fixed_lines(self._units, lines)
        quarters = len(chunk.quarters.block)
        in_quarters = int(chunk.quarters.size.sum())
        counted = (chunk.units - quarters, quarters, len(chunk.unit) - in_quarters, in_quarters)
        self._counts.update(dict(zip(_COUNTS, counted, strict=True)))

    def write_vacant(self, vacant: VacantUnits) -> None:
        """Append the vacant units of blocks where nobody lives."""
        mafid = self._next_mafids(len(vacant.block))
        record_lines.write_fixed_lines(
            self._units, record_lines.vacant_lines(vacant, self._state, mafid)
        )
        self._counts["COUNT_UNIT_HU"] += len(vacant.block)

    def counts_line(self) -> Lines:
        """The one line of the file of counts, for everything that was written."""
        counts = {
            **self._counts,
            "COUNT_UNIT": self._count("UNIT"),
            "COUNT_PER": self._count("PER"),
        }
        fields = {name: f"{count:10d}".encode() for name, count in counts.items()}
        return record_lines.lines_of(
            record_lines.COUNTS,
            1,
            {"BCUSTATEFP": self._state.encode(), "VERSION": record_lines.VERSION, **fields},
        )

    def _count(self, kind: str) -> int:
        return self._counts[f"COUNT_{kind}_HU"] + self._counts[f"COUNT_{kind}_GQ"]

    def _next_mafids(self, units: int) -> Texts:
        """The MAFIDs of the next units, as texts."""
        first = self._count("UNIT")
        return record_lines.digits_of(self._mafids.of_units(np.arange(first, first + units)), 9)


@contextmanager
def cef_state_files(
    folder: Path, state: str, mix: CodeMix, mafids: MafIds
) -> Iterator[CefStateFiles]:
    """The open files of one state.

    The counts are written at the end, unless an error is raised.
    """
    with (
        (folder / f"CEF20_PER_{state}.txt").open("wb") as persons,
        (folder / f"CEF20_UNIT_{state}.txt").open("wb") as units,
    ):
        files = CefStateFiles(state, mix, mafids, persons, units)
        yield files
    (folder / f"CEF20_CNT_{state}.txt").write_bytes(files.counts_line().tobytes())
