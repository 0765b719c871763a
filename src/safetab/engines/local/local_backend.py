"""Counting in this process, on files of this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from safetab.config.run_config import ReaderKind
from safetab.engines.backend import Persons
from safetab.engines.contract import CountingEngine, EngineSettings
from safetab.engines.known_lists import KnownLists
from safetab.engines.person_judge import judge_rows
from safetab.foundation.findings import Checked, Finding, FindingsOf
from safetab.planning.planner import PublicFiles
from safetab.products.record import RecordLayout
from safetab.readers.cef.reader_file import CefFiles, read_reader_file
from safetab.readers.person_files import find_person_files, label_of, number_of_persons, readable_person_files
from safetab.readers.table_files import TableFiles


class LocalBackend:
    """Keeps to the protocol `Backend`; the engine is loaded when it is asked for."""

    def __init__(self, settings: EngineSettings, log: Callable[[str], None]) -> None:
        self._settings = settings
        self._log = log

    def persons(self, data: Path, record: RecordLayout) -> Checked[Persons]:
        found = find_person_files(data, record, self._settings.threads)
        return Checked(found.value, found.findings)

    def cef_persons(self, data: Path, states: Sequence[str]) -> Checked[Persons]:
        reader = read_reader_file(data)
        if reader.value is None:
            return Checked(None, reader.findings)
        found = reader.value.files_of(states)
        return Checked(found.value, reader.findings + found.findings)

    def geography_folder(self, data: Path) -> Checked[Path]:
        return Checked(data, ())

    def number_of_persons(self, persons: Persons) -> int:
        return persons.about_persons if isinstance(persons, CefFiles) else number_of_persons(_files(persons))

    def engine(self, persons: Persons, files: PublicFiles) -> CountingEngine:
        if isinstance(persons, CefFiles):
            from safetab.engines.local.cef_engine import CefEngine  # noqa: PLC0415 - most data are no CEF

            return CefEngine(persons, files, self._settings, self._log)
        from safetab.engines.local.local_engine import LocalEngine  # noqa: PLC0415 - `import safetab` loads no engine

        return LocalEngine(_files(persons), files, self._settings, self._log)

    @property
    def remark(self) -> None:
        return None

    def judge(self, data: Path, known: KnownLists, rows_done: Callable[[int], None]) -> tuple[Finding, ...]:
        if known.reader is ReaderKind.CEF:
            from safetab.engines.local.cef_engine import judge_cef  # noqa: PLC0415

            cef = self.cef_persons(data, [f"{state:02d}" for state in known.states]).value
            return judge_cef(known, cef, rows_done) if isinstance(cef, CefFiles) else ()
        files = readable_person_files(data, known.record)
        if files is None:
            return ()
        findings = FindingsOf(label_of(files))
        with suppress(pa.ArrowException, OSError):  # a damaged file is found where its columns are checked
            judge_rows(files, known, findings, rows_done)
        return findings.findings

    def close(self) -> None:
        pass


def _files(persons: Persons) -> TableFiles:
    if not isinstance(persons, TableFiles):
        raise TypeError("the local engine reads files of this machine")
    return persons
