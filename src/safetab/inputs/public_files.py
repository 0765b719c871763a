"""Reads the public files of a run in their dialect: lists of codes and groups, and areas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from safetab.foundation.findings import Checked, Finding
from safetab.inputs.bureau import grfc, public_lists
from safetab.inputs.bureau.cef.reader_file import read_reader_file
from safetab.inputs.specified_files import compile_folder
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import Areas
from safetab.model.census.groups import PublicLists
from safetab.model.config.run_config import ReaderKind, RunConfig
from safetab.model.specification.reading import is_specification

if TYPE_CHECKING:
    from safetab.inputs.own_records import OwnIds


def read_public_lists(parameters: Path) -> Checked[PublicLists]:
    """The lists of a parameters directory, and every finding about them."""
    if is_specification(parameters):
        compiled = compile_folder(parameters)
        return Checked(None if compiled.value is None else compiled.value.lists, compiled.findings)
    return public_lists.read_lists(parameters)


def list_paths(parameters: Path) -> tuple[Path, ...]:
    """The files that the lists are read from."""
    return public_lists.paths_of_lists(parameters)


def read_codes(parameters: Path) -> Checked[Mapping[str, str]]:
    """The codes that records may hold, with their names."""
    return public_lists.codes_and_names(parameters)


def write_short_form(lists: PublicLists, file: Path, *, overwrite: bool) -> None:
    """Write which codes belong to which group, one row a group."""
    public_lists.write_short_lists(lists, file, overwrite=overwrite)


@dataclass(frozen=True, slots=True)
class _GivenGeography:
    """The areas, the files that list them, and the ids by which records in a dialect's own form name them."""

    geography: Areas
    paths: tuple[Path, ...]
    oids: OwnIds | None = None


def read_given_geography(data: Path, reader: ReaderKind, config: RunConfig | None) -> Checked[_GivenGeography]:
    """The geography of a directory, or of a CEF's .ini file for the states of a configuration."""
    if reader is ReaderKind.CEF:
        return _of_cef(data, None if config is None else config.parts_asked_for)
    read = grfc.read_geography(data)
    return Checked(
        None if read.value is None else _GivenGeography(read.value, grfc.geography_paths(data)), read.findings
    )


def _of_cef(data: Path, states: Iterable[str] | None) -> Checked[_GivenGeography]:
    """The geography that a CEF's .ini file names, for these states."""
    from safetab.inputs.records.cef.geography import read_cef_geography  # noqa: PLC0415 - few runs read a CEF

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
    return Checked(_GivenGeography(read.value.geography, paths.value, read.value.oids), findings)


def folder_beside(data: Path, reader: ReaderKind) -> Path:
    """The folder of files that accompany the data: DATA itself, or the folder of a CEF's .ini file."""
    return data.parent if reader is ReaderKind.CEF else data


def parts_without_areas(config: RunConfig, of_pass: Mapping[Pass, Areas]) -> tuple[Finding, ...]:
    """A pass without any area is an error; a part without one is a warning."""
    return grfc.states_without_blocks(config, of_pass)


def totals_folder(data: Path, reader: ReaderKind) -> Path | None:
    """The folder of published totals that DATA names, if it names one."""
    ini = read_reader_file(data).value if reader is ReaderKind.CEF else None
    return None if ini is None else ini.totals
