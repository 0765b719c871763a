"""Reads files of areas alone, in their dialect. A re-release may: nothing here knows of records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.findings import Checked
from safetab.inputs.bureau import grfc
from safetab.inputs.bureau.cef.reader_file import read_reader_file
from safetab.inputs.readers.table_files import table_paths_at
from safetab.model.census.areas import Areas
from safetab.model.us.block_areas import states_of_blocks

AREAS_TABLE = grfc.GEOGRAPHY_TABLE
"""The name of the table of areas in a data directory."""
_INI = ".ini"
SMALLEST_AREA_COLUMN = "TABBLK"
"""The column that names the smallest areas."""


def read_areas_at(path: Path, parts: Iterable[str] | None = None) -> Checked[Areas]:
    """The areas of one file, or of a folder of files, with any name.

    An .ini file stands for the files of areas that it names: those of these parts of the territory,
    or all.
    """
    if path.suffix != _INI:
        return grfc.read_geography_at(path)
    named = _named_by(path, parts)
    return (
        Checked(None, named.findings)
        if named.value is None
        else grfc.read_geography_of(named.value)
    )


def area_paths_at(path: Path, parts: Iterable[str]) -> tuple[Path, ...]:
    """The files that the areas at a path are read from."""
    return (_named_by(path, parts).value or ()) if path.suffix == _INI else table_paths_at(path)


def _named_by(ini: Path, parts: Iterable[str] | None) -> Checked[tuple[Path, ...]]:
    """The files of areas that an .ini file names."""
    reader = read_reader_file(
        ini, "Give the .ini file of the CEF, or a GRF-C file, with --geography."
    )
    if reader.value is None:
        return Checked(None, reader.findings)
    return reader.value.geography_of(reader.value.states_there if parts is None else parts)


def read_smallest_areas_at(path: Path) -> Checked[NDArray[np.int64]]:
    """The ids of the smallest areas that a file lists."""
    return grfc.read_blocks_at(path)


def parts_of_smallest_areas(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the part that each smallest area is in, as its id says."""
    return states_of_blocks(numbers)


def spelled_smallest_area(number: int) -> str:
    """The id of a smallest area, as files spell it."""
    return f"{number:015d}"


def lists_areas_by_units(path: Path) -> bool:
    """Whether a list of the smallest areas was made from confidential units."""
    return grfc.lists_blocks_by_units(path)
