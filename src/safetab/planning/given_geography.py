"""The geography that a run is given, in whichever form its reader has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from safetab.census.geography import Geography
from safetab.config.run_config import ReaderKind, RunConfig
from safetab.foundation.findings import Checked
from safetab.readers.cef.reader_file import read_reader_file
from safetab.readers.geography import geography_paths, read_geography

if TYPE_CHECKING:
    from safetab.readers.cef.geography import BlockOids


@dataclass(frozen=True, slots=True)
class GivenGeography:
    """The blocks, the files that list them, and the ids by which the units of a CEF name them, if it is one."""

    geography: Geography
    paths: tuple[Path, ...]
    oids: BlockOids | None = None


def read_given_geography(data: Path, reader: ReaderKind, config: RunConfig | None) -> Checked[GivenGeography]:
    """The geography of a directory, or that of an .ini file for the states of a configuration, if there is one."""
    if reader is ReaderKind.CEF:
        return _of_cef(data, None if config is None else states_asked_for(config))
    read = read_geography(data)
    return Checked(None if read.value is None else GivenGeography(read.value, geography_paths(data)), read.findings)


def states_asked_for(config: RunConfig) -> tuple[str, ...]:
    """The states of all passes that run."""
    return tuple(state for which in config.passes for state in config.states_of(which))


def _of_cef(data: Path, states: Iterable[str] | None) -> Checked[GivenGeography]:
    from safetab.readers.cef.geography import read_cef_geography  # noqa: PLC0415 - most data are no CEF

    reader = read_reader_file(data)
    if reader.value is None:
        return Checked(None, reader.findings)
    wanted = tuple(reader.value.states_there if states is None else states)
    paths = reader.value.geography_of(wanted)
    if paths.value is None:
        return Checked(None, reader.findings + paths.findings)
    read = read_cef_geography(paths.value, wanted)
    findings = reader.findings + paths.findings + read.findings
    if read.value is None:
        return Checked(None, findings)
    return Checked(GivenGeography(read.value.geography, paths.value, read.value.oids), findings)


def folder_beside(data: Path, reader: ReaderKind) -> Path:
    """Where what belongs to the data lies, such as names of places: in DATA, or beside the .ini file."""
    return data.parent if reader is ReaderKind.CEF else data
