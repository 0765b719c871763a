"""DATA of the reader "cef": an .ini file that says in which folders, and by which names, the files of a state lie."""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from safetab.census.geography_levels import PUERTO_RICO_STATE, US_STATES
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.foundation.text_files import UnreadableFile, read_text, why_unreadable
from safetab.foundation.whole_path import resolved
from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.readers.cef.layout import PERSON

STATES = tuple(sorted({*US_STATES, PUERTO_RICO_STATE}))

_SECTION = "paths"
_FOLDER_KEYS = ("per_dir", "unit_dir", "grfc_dir")
_PUERTO_RICO_KEYS = {"per_dir_pr": "per_dir", "unit_dir_pr": "unit_dir"}  # and where they are taken from if not given
_FORMAT_KEYS = ("per_file_format", "unit_file_format")
_GEOGRAPHY_FORMAT = "geo_file_format"
_TOTALS_KEY = "pop_dir"
_STATE_IN_NAME = slice(11, 13)  # of a geography file, as in grfc_tab20_01
_GEOGRAPHY_ENDINGS = (".txt", ".txt.gz")
_GZIPPED = ".gz"


@dataclass(frozen=True, slots=True)
class StateFiles:
    """The files of one state; the counts may be absent."""

    state: str
    persons: Path
    units: Path
    counts: Path | None


@dataclass(frozen=True, slots=True)
class CefFiles:
    """The files of the states that are asked for, in the order of the states, and the name of the file that says so."""

    label: str
    states: tuple[StateFiles, ...]

    @property
    def about_persons(self) -> int:
        """By the sizes of the files; a gzipped line has about a fifth."""
        sizes = ((one.persons.stat().st_size, one.persons.name.endswith(_GZIPPED)) for one in self.states)
        return sum(size * (5 if is_gzipped else 1) for size, is_gzipped in sizes) // (PERSON.width + 1)


@dataclass(frozen=True, slots=True)
class ReaderFile:
    """What the .ini file says, as paths."""

    path: Path
    folders: dict[str, Path]
    formats: dict[str, str]
    totals: Path | None = None  # the folder of published totals, if a product needs them

    @property
    def record_folders(self) -> tuple[Path, ...]:
        return tuple(folder for key, folder in self.folders.items() if key != "grfc_dir")

    def files_of(self, states: Iterable[str]) -> Checked[CefFiles]:
        """The person and unit files, which must be there, and the counts."""
        findings, found, asked = FindingsOf(self.path.name), [], sorted(states)
        needed = {self._record_folder(kind, state) for kind in ("per", "unit") for state in asked}
        for folder in sorted(one for one in needed if not os.path.exists(one)):  # noqa: PTH110 - which never raises
            keys = " and ".join(key for key, named in self.folders.items() if named == folder)
            findings.error(keys, f"{folder} does not exist.")
        if findings.has_errors:
            return Checked(None, findings.findings)
        for state in asked:
            persons, units = (self._record_file(kind, state) for kind in ("per", "unit"))
            missing = [path.name for path in (persons, units) if not _is_file(path)]
            if missing:
                findings.error(f"state {state}", f"no file {' and no file '.join(missing)} in the folders it names.")
                continue
            counts = self._counts(units, persons)
            if counts is not None and not _is_file(counts):
                findings.error(f"state {state}", f"{counts} is no file.")
            found.append(StateFiles(state, persons, units, counts))
        return Checked(None if findings.has_errors else CefFiles(self.path.name, tuple(found)), findings.findings)

    def geography_of(self, states: Iterable[str]) -> Checked[tuple[Path, ...]]:
        """The GRF-C of each state: by geo_file_format, else every file that has the state in its name."""
        findings, found = FindingsOf(self.path.name), list[Path]()
        folder = self.folders["grfc_dir"]
        try:
            names = sorted(path.name for path in folder.iterdir() if path.name.endswith(_GEOGRAPHY_ENDINGS))
        except OSError as error:
            raise_if_the_machine_failed(error)
            findings.error("grfc_dir", why_unreadable(folder, error))
            return Checked(None, findings.findings)
        for state in sorted(states):
            of_state = self._geography_files(state, names)
            if not of_state:
                findings.error("grfc_dir", f"no GRF-C of state {state} in {folder}.")
            for path in of_state:
                if not _is_file(path):  # a pipe, say, could not be read twice
                    findings.error("grfc_dir", f"{path} is no file.")
            found += of_state
        return Checked(None if findings.has_errors else tuple(dict.fromkeys(found)), findings.findings)

    @property
    def states_there(self) -> tuple[str, ...]:
        """The states of which there is some file."""
        return tuple(
            state
            for state in STATES
            if any(_is_file(self._record_file(kind, state)) for kind in ("per", "unit"))
            or _geography_is_there(self, state)
        )

    @property
    def is_synthetic(self) -> bool:
        """Whether the marker lies beside the .ini file and holds for all people: in its folder, or in their own."""
        here = resolved(self.path.parent)
        return (here / SYNTHETIC_MARKER).exists() and all(
            resolved(folder).is_relative_to(here) or (folder / SYNTHETIC_MARKER).exists()
            for folder in self.record_folders
        )

    def _record_folder(self, kind: str, state: str) -> Path:
        return self.folders[f"{kind}_dir{'_pr' if state == PUERTO_RICO_STATE else ''}"]

    def _record_file(self, kind: str, state: str) -> Path:
        return _as_it_is(self._record_folder(kind, state) / (self.formats[f"{kind}_file_format"] % state))

    def _counts(self, units: Path, persons: Path) -> Path | None:
        """Beside the units or the persons, with CNT in its name where theirs has UNIT or PER; whatever lies there."""
        candidates = [
            _as_it_is(file.with_name(file.name.removesuffix(_GZIPPED).replace(kind, "CNT")))
            for file, kind in ((units, "UNIT"), (persons, "PER"))
            if kind in file.name
        ]
        there = [path for path in candidates if os.path.lexists(path)]
        return next((path for path in there if _is_file(path)), there[0] if there else None)

    def _geography_files(self, state: str, names: list[str]) -> list[Path]:
        folder = self.folders["grfc_dir"]
        if _GEOGRAPHY_FORMAT in self.formats:
            named = _as_it_is(folder / (self.formats[_GEOGRAPHY_FORMAT] % state))
            if _is_file(named):
                return [named]
        return [folder / name for name in names if name[_STATE_IN_NAME] == state and name.startswith("grfc")]


def _geography_is_there(reader: ReaderFile, state: str) -> bool:
    return bool(reader.geography_of([state]).value)


def read_reader_file(path: Path) -> Checked[ReaderFile]:
    findings = FindingsOf(path.name)
    try:
        parser = configparser.ConfigParser()
        parser.read_string(read_text(path))
        given = dict(parser.items(_SECTION))
    except UnreadableFile as problem:
        advice = ' With "reader": "cef" in config.json, DATA is the .ini file.'
        findings.error("", f"{problem}{advice}")
    except (configparser.DuplicateOptionError, configparser.DuplicateSectionError) as twice:
        findings.error(f"line {twice.lineno}", "gives a key or a section a second time. Keep one.")
    except configparser.Error:
        findings.error("", f"it must be an .ini file with a section [{_SECTION}] of lines KEY = VALUE, and %% for %.")
    else:
        return _reader_file_of(path, given, findings)
    return Checked(None, findings.findings)


def _reader_file_of(path: Path, given: dict[str, str], findings: FindingsOf) -> Checked[ReaderFile]:
    missing = [key for key in (*_FOLDER_KEYS, *_FORMAT_KEYS) if not given.get(key)]
    if missing:
        findings.error(f"[{_SECTION}]", f"keys missing: {shortened(missing, len(missing))}.")
    for key in (*_FOLDER_KEYS, *_PUERTO_RICO_KEYS, *_FORMAT_KEYS, _GEOGRAPHY_FORMAT, _TOTALS_KEY):
        if "\0" in given.get(key, ""):
            findings.error(key, "contains a NUL character. Correct the path.")
    for key in (*_FOLDER_KEYS, *_PUERTO_RICO_KEYS, _TOTALS_KEY):
        if "://" in given.get(key, ""):
            findings.error(key, "must be a folder of this machine. Copy the files here, or mount where they lie.")
    formats = {key: given[key] for key in (*_FORMAT_KEYS, _GEOGRAPHY_FORMAT) if given.get(key)}
    for key, name in formats.items():
        if name.count("%") != 1 or "%s" not in name or "/" in name:
            findings.error(key, "must be a file name with %%s where the state is, as CEF20_PER_%%s.txt.")
    of_key = {key: given.get(key) for key in _FOLDER_KEYS}
    of_key |= {key: given.get(key) or given.get(instead) for key, instead in _PUERTO_RICO_KEYS.items()}
    folders = {key: path.absolute().parent / folder for key, folder in of_key.items() if folder}
    totals = path.absolute().parent / given[_TOTALS_KEY] if given.get(_TOTALS_KEY) else None
    return Checked(None if findings.has_errors else ReaderFile(path, folders, formats, totals), findings.findings)


def paths_read(data: Path) -> tuple[Path, ...]:
    """What a run must not write into or over: the data directory, or the .ini file and every folder that it names."""
    read = read_reader_file(data).value if _is_file(data) else None
    return (data, *(() if read is None else read.folders.values()))


def _as_it_is(path: Path) -> Path:
    """The file, or its gzipped form if only that is there."""
    gzipped = path.with_name(path.name + _GZIPPED)
    return gzipped if not _is_file(path) and _is_file(gzipped) else path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise_if_the_machine_failed(error)
        return False
