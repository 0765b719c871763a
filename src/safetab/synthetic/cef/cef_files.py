"""The files of a synthetic CEF: everything beside reader.ini, in one folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np

from safetab.synthetic.cef.fixed_lines import Texts, digits_of, lines_of, write_fixed_lines
from safetab.synthetic.cef.grf_lines import grf_header, grf_lines
from safetab.synthetic.cef.person_lines import person_lines
from safetab.synthetic.cef.record_widths import COUNTS, VERSION
from safetab.synthetic.cef.unit_ids import MafIds
from safetab.synthetic.cef.unit_lines import unit_lines, vacant_lines
from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.households.units import HousedChunk, VacantUnits
from safetab.synthetic.lists.parameter_files import write_lines
from safetab.synthetic.people.code_mix import CodeMix
from safetab.synthetic.people.state_people import StatePeople
from safetab.synthetic.seeded_bits import RandomBits

READER_FILE = "reader.ini"

_FORMATS = {
    "per_file_format": "CEF20_PER_%%s.txt",
    "unit_file_format": "CEF20_UNIT_%%s.txt",
    "geo_file_format": "grfc_tab20_%%s.txt",
}
_FOLDERS = ("per_dir", "unit_dir", "per_dir_pr", "unit_dir_pr", "grfc_dir")


def write_reader_file(folder: Path) -> None:
    """What DATA is for the reader "cef": where the files lie, as seen from this one."""
    settings = [*(f"{name} = ./" for name in _FOLDERS), *(f"{name} = {form}" for name, form in _FORMATS.items())]
    write_lines(folder / READER_FILE, ["[paths]", *settings])


def write_grf(folder: Path, geography: StateGeography) -> None:
    with (folder / f"grfc_tab20_{geography.share.state.code}.txt").open("wb") as file:
        file.write(grf_header())
        for lines in grf_lines(geography):
            write_fixed_lines(file, lines)


@dataclass(slots=True)
class CefStateFiles:
    """Persons and units of a state, chunk by chunk; the counts are written at the end."""

    folder: Path
    state: str
    mix: CodeMix
    mafids: MafIds
    _persons: BinaryIO = field(init=False)
    _units: BinaryIO = field(init=False)
    _housing_units: int = field(default=0, init=False)
    _quarters: int = field(default=0, init=False)
    _people_at_home: int = field(default=0, init=False)
    _people_in_quarters: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._persons = (self.folder / f"CEF20_PER_{self.state}.txt").open("wb")
        self._units = (self.folder / f"CEF20_UNIT_{self.state}.txt").open("wb")

    def write(self, chunk: HousedChunk, people: StatePeople, bits: RandomBits) -> None:
        mafid = self._next_mafids(chunk.units)
        write_fixed_lines(self._persons, person_lines(chunk, people, self.mix, mafid, bits))
        for lines in unit_lines(chunk, people, self.mix, mafid):
            write_fixed_lines(self._units, lines)
        quarters, in_quarters = len(chunk.quarters.block), int(chunk.quarters.size.sum())
        self._count(chunk.units - quarters, quarters, len(chunk.unit) - in_quarters, in_quarters)

    def write_vacant(self, vacant: VacantUnits) -> None:
        units = len(vacant.block)
        write_fixed_lines(self._units, vacant_lines(vacant, self.state, self._next_mafids(units)))
        self._count(units, 0, 0, 0)

    def _next_mafids(self, units: int) -> Texts:
        first = self._housing_units + self._quarters
        return digits_of(self.mafids.of_units(np.arange(first, first + units)), 9)

    def _count(self, housing_units: int, quarters: int, at_home: int, in_quarters: int) -> None:
        self._housing_units += housing_units
        self._quarters += quarters
        self._people_at_home += at_home
        self._people_in_quarters += in_quarters

    def _write_counts(self) -> None:
        counts = {
            "COUNT_UNIT": self._housing_units + self._quarters,
            "COUNT_UNIT_HU": self._housing_units,
            "COUNT_UNIT_GQ": self._quarters,
            "COUNT_PER": self._people_at_home + self._people_in_quarters,
            "COUNT_PER_HU": self._people_at_home,
            "COUNT_PER_GQ": self._people_in_quarters,
        }
        fields = {name: f"{count:10d}".encode() for name, count in counts.items()}
        line = lines_of(COUNTS, 1, {"BCUSTATEFP": self.state.encode(), "VERSION": VERSION, **fields})
        (self.folder / f"CEF20_CNT_{self.state}.txt").write_bytes(line.tobytes())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._persons.close()
        self._units.close()
        if kind is None:
            self._write_counts()
