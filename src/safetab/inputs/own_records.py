"""DATA in a dialect's own form, for which the engine has a reader, and what any DATA are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.foundation.findings import Checked
from safetab.inputs.bureau.cef.reader_file import CefFiles, is_file, read_reader_file

if TYPE_CHECKING:
    from safetab.inputs.records.cef.geography import BlockOids

OwnRecords = CefFiles
OwnIds: TypeAlias = "BlockOids"
"""The ids by which such records name the smallest areas."""


def find_own_records(data: Path, parts: Iterable[str]) -> Checked[OwnRecords]:
    """The files of records that DATA names for these parts of the territory."""
    reader = read_reader_file(data)
    if reader.value is None:
        return Checked(None, reader.findings)
    found = reader.value.files_of(parts)
    return Checked(found.value, reader.findings + found.findings)


def paths_read(data: Path) -> tuple[Path, ...]:
    """The paths that a run must not write into or over.

    This is the data directory, or the .ini file and every folder that it names.
    """
    read = read_reader_file(data).value if is_file(data) else None
    return (data, *(() if read is None else read.folders.values()))


def leads_marker_nowhere(data: Path) -> bool:
    """Whether the marker of synthetic people is a link to nothing.

    Then nobody can say what it means.
    """
    marker = (data.parent if is_file(data) else data) / SYNTHETIC_MARKER
    # os.path's functions never raise here.
    return os.path.islink(marker) and not os.path.exists(marker)  # noqa: PTH110, PTH114


def is_synthetic(data: Path) -> bool:
    """Whether a marker says that the people of a data directory or .ini file are made up."""
    try:
        if data.is_file():
            reader = read_reader_file(data).value
            return reader is not None and reader.is_synthetic
        return (data / SYNTHETIC_MARKER).exists()
    except OSError:  # an unreadable folder has no marker that counts
        return False
