"""DATA of the reader "cef": an .ini file with the folders and names of the files of each state."""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import UnreadableFile, read_text, resolved, why_unreadable
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.inputs.bureau.cef.layout import PERSON
from safetab.model.us.states import PUERTO_RICO_STATE, US_STATES

_SECTION = "paths"
_FOLDER_KEYS = ("per_dir", "unit_dir", "grfc_dir")
_PUERTO_RICO_KEYS = {
    "per_dir_pr": "per_dir",
    "unit_dir_pr": "unit_dir",
}  # and the keys to use if they are not given
_FORMAT_KEYS = ("per_file_format", "unit_file_format")
_GEOGRAPHY_FORMAT = "geo_file_format"
_TOTALS_KEY = "pop_dir"
_STATE_IN_NAME = slice(11, 13)  # of a geography file, as in grfc_tab20_01
_GEOGRAPHY_ENDINGS = (".txt", ".txt.gz")
_GZIPPED = ".gz"


@dataclass(frozen=True, slots=True)
class StateFiles:
    """The files of one state. The counts may be absent."""

    state: str
    persons: Path
    units: Path
    counts: Path | None


@dataclass(frozen=True, slots=True)
class CefFiles:
    """The files of some states in the order of the states, and the name of the .ini file."""

    label: str
    states: tuple[StateFiles, ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        of_states = ((state.persons, state.units, state.counts) for state in self.states)
        return tuple(path for files in of_states for path in files if path is not None)

    @property
    def about_persons(self) -> int:
        """An estimate of the number of persons, from the sizes of the files.

        A gzipped line has about a fifth of its bytes.
        """
        files = [state.persons for state in self.states]
        size = sum(
            path.stat().st_size * (5 if path.name.endswith(_GZIPPED) else 1) for path in files
        )
        return size // (PERSON.width + 1)


@dataclass(frozen=True, slots=True)
class ReaderFile:
    """The content of the .ini file, as paths."""

    path: Path
    folders: dict[str, Path]
    formats: dict[str, str]
    totals: Path | None = None  # the folder of published totals, if a product needs them

    def files_of(self, states: Iterable[str]) -> Checked[CefFiles]:
        """The person and unit files of these states, which must exist, and their counts.

        There is no value if there is a finding.
        """
        findings = FindingsOf(self.path.name)
        found = []
        asked = sorted(states)
        needed = {self._record_folder(kind, state) for kind in ("per", "unit") for state in asked}
        # os.path.exists never raises.
        missing_folders = [
            folder
            for folder in needed
            if not os.path.exists(folder)  # noqa: PTH110
        ]
        for folder in sorted(missing_folders):
            keys = " and ".join(key for key, named in self.folders.items() if named == folder)
            findings.error(keys, f"{folder} does not exist.")
        if findings.has_errors:
            return Checked(None, findings.findings)
        for state in asked:
            persons, units = (self._record_file(kind, state) for kind in ("per", "unit"))
            missing = [path.name for path in (persons, units) if not is_file(path)]
            if missing:
                findings.error(
                    f"state {state}",
                    f"no file {' and no file '.join(missing)} in the folders it names.",
                )
                continue
            counts = self._counts(units, persons)
            if counts is not None and not is_file(counts):
                findings.error(f"state {state}", f"{counts} is not a file.")
            found.append(StateFiles(state, persons, units, counts))
        return Checked(
            None if findings.has_errors else CefFiles(self.path.name, tuple(found)),
            findings.findings,
        )

    def geography_of(self, states: Iterable[str]) -> Checked[tuple[Path, ...]]:
        """The GRF-C files of these states.

        They are named by geo_file_format, or else have the state in their names. There is no value
        if there is a finding.
        """
        findings = FindingsOf(self.path.name)
        found = list[Path]()
        folder = self.folders["grfc_dir"]
        try:
            names = sorted(
                path.name for path in folder.iterdir() if path.name.endswith(_GEOGRAPHY_ENDINGS)
            )
        except OSError as error:
            raise_if_the_machine_failed(error)
            findings.error("grfc_dir", why_unreadable(folder, error))
            return Checked(None, findings.findings)
        for state in sorted(states):
            of_state = self._geography_files(state, names)
            if not of_state:
                findings.error("grfc_dir", f"no GRF-C of state {state} in {folder}.")
            for path in of_state:
                if not is_file(path):  # a pipe, for example, could not be read twice
                    findings.error("grfc_dir", f"{path} is not a file.")
            found += of_state
        return Checked(
            None if findings.has_errors else tuple(dict.fromkeys(found)), findings.findings
        )

    @property
    def states_there(self) -> tuple[str, ...]:
        """The states that have at least one file."""
        return tuple(
            state
            for state in sorted({*US_STATES, PUERTO_RICO_STATE})
            if any(is_file(self._record_file(kind, state)) for kind in ("per", "unit"))
            or self.geography_of([state]).value
        )

    @property
    def is_synthetic(self) -> bool:
        """Whether the marker for made-up people holds for all people.

        It must lie beside the .ini file, and each folder of records must be below it or have its
        own marker.
        """
        here = resolved(self.path.parent)
        return (here / SYNTHETIC_MARKER).exists() and all(
            resolved(folder).is_relative_to(here) or (folder / SYNTHETIC_MARKER).exists()
            for key, folder in self.folders.items()
            if key != "grfc_dir"
        )

    def _record_folder(self, kind: str, state: str) -> Path:
        return self.folders[f"{kind}_dir{'_pr' if state == PUERTO_RICO_STATE else ''}"]

    def _record_file(self, kind: str, state: str) -> Path:
        return _plain_or_gzipped(
            self._record_folder(kind, state) / (self.formats[f"{kind}_file_format"] % state)
        )

    def _counts(self, units: Path, persons: Path) -> Path | None:
        """The file of counts, or None.

        It lies beside the units or the persons, with CNT in its name instead of UNIT or PER. It may
        be something that is not a file.
        """
        candidates = [
            _plain_or_gzipped(file.with_name(file.name.removesuffix(_GZIPPED).replace(kind, "CNT")))
            for file, kind in ((units, "UNIT"), (persons, "PER"))
            if kind in file.name
        ]
        there = [path for path in candidates if os.path.lexists(path)]
        return next((path for path in there if is_file(path)), there[0] if there else None)

    def _geography_files(self, state: str, names: list[str]) -> list[Path]:
        folder = self.folders["grfc_dir"]
        if _GEOGRAPHY_FORMAT in self.formats:
            named = _plain_or_gzipped(folder / (self.formats[_GEOGRAPHY_FORMAT] % state))
            if is_file(named):
                return [named]
        return [
            folder / name
            for name in names
            if name[_STATE_IN_NAME] == state and name.startswith("grfc")
        ]


_DATA_IS_INI = 'With "reader": "cef" in config.json, DATA is the .ini file.'


def read_reader_file(path: Path, if_unreadable: str = _DATA_IS_INI) -> Checked[ReaderFile]:
    """The content of an .ini file, and every finding about it.

    `if_unreadable` says what the path must be.
    """
    findings = FindingsOf(path.name)
    try:
        parser = configparser.ConfigParser()
        parser.read_string(read_text(path))
        given = dict(parser.items(_SECTION))
    except UnreadableFile as problem:
        findings.error("", f"{problem} {if_unreadable}")
    except (configparser.DuplicateOptionError, configparser.DuplicateSectionError) as twice:
        findings.error(f"line {twice.lineno}", "repeats a key or a section. Keep one.")
    except configparser.Error:
        findings.error(
            "",
            f"it must be an .ini file with a section [{_SECTION}] of lines KEY = VALUE,"
            " and %% for %.",
        )
    else:
        return _reader_file_of(path, given, findings)
    return Checked(None, findings.findings)


def _reader_file_of(path: Path, given: dict[str, str], findings: FindingsOf) -> Checked[ReaderFile]:
    """The checked contents of an .ini file."""
    missing = [key for key in (*_FOLDER_KEYS, *_FORMAT_KEYS) if not given.get(key)]
    if missing:
        findings.error(f"[{_SECTION}]", f"keys missing: {shortened(missing, len(missing))}.")
    for key in (*_FOLDER_KEYS, *_PUERTO_RICO_KEYS, *_FORMAT_KEYS, _GEOGRAPHY_FORMAT, _TOTALS_KEY):
        if "\0" in given.get(key, ""):
            findings.error(key, "contains a NUL character. Correct the path.")
    for key in (*_FOLDER_KEYS, *_PUERTO_RICO_KEYS, _TOTALS_KEY):
        if "://" in given.get(key, ""):
            findings.error(
                key, "must be a folder on this machine. Copy the files here, or mount their folder."
            )
    formats = {key: given[key] for key in (*_FORMAT_KEYS, _GEOGRAPHY_FORMAT) if given.get(key)}
    for key, name in formats.items():
        if name.count("%") != 1 or "%s" not in name or "/" in name:
            findings.error(
                key, "must be a file name with %%s where the state is, such as CEF20_PER_%%s.txt."
            )
    of_key = {key: given.get(key) for key in _FOLDER_KEYS}
    of_key |= {
        key: given.get(key) or given.get(instead) for key, instead in _PUERTO_RICO_KEYS.items()
    }
    folders = {key: path.absolute().parent / folder for key, folder in of_key.items() if folder}
    totals = path.absolute().parent / given[_TOTALS_KEY] if given.get(_TOTALS_KEY) else None
    return Checked(
        None if findings.has_errors else ReaderFile(path, folders, formats, totals),
        findings.findings,
    )


def _plain_or_gzipped(path: Path) -> Path:
    """The file, or its gzipped form if only that exists."""
    gzipped = path.with_name(path.name + _GZIPPED)
    return gzipped if not is_file(path) and is_file(gzipped) else path


def is_file(path: Path) -> bool:
    """Whether there is such a file; False for a name too long."""
    try:
        return path.is_file()
    except OSError as error:
        raise_if_the_machine_failed(error)
        return False
