"""Counting in this process, on files of this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from safetab.counting.contract import CountingEngine, EngineSettings
from safetab.foundation.findings import Checked, Finding, FindingsOf
from safetab.foundation.progress import Progress
from safetab.inputs.found_records import Records
from safetab.inputs.known_lists import KnownLists
from safetab.inputs.own_records import OwnRecords, find_own_records
from safetab.inputs.planner import PublicFiles
from safetab.inputs.readers.table_files import TableFiles
from safetab.inputs.records.record_files import (
    find_record_files,
    number_of_records,
    readable_record_files,
)
from safetab.model.config.run_config import ReaderKind
from safetab.model.products.record import RecordLayout


class LocalBackend:
    """A `Backend` for files of this machine; engines are loaded when they are asked for."""

    def __init__(self, settings: EngineSettings, log: Callable[[str], None]) -> None:
        self._settings = settings
        self._log = log

    def start(self, progress: Progress) -> None:
        """Nothing needs to be started."""

    def records(self, data: Path, record: RecordLayout) -> Checked[Records]:
        """As `Backend.records`."""
        return find_record_files(data, record, self._settings.threads, self._settings.sizes)

    def cef_records(self, data: Path, parts: Sequence[str]) -> Checked[Records]:
        """As `Backend.cef_records`."""
        return find_own_records(data, parts)

    def geography_folder(self, data: Path) -> Checked[Path]:
        """The data directory itself."""
        return Checked(data, ())

    def number_of_records(self, records: Records) -> int:
        """As `Backend.number_of_records`."""
        return (
            records.about_persons
            if isinstance(records, OwnRecords)
            else number_of_records(_files(records))
        )

    def engine(self, records: Records, files: PublicFiles) -> CountingEngine:
        """As `Backend.engine`."""
        if isinstance(records, OwnRecords):
            from safetab.counting.local.cef import CefEngine  # noqa: PLC0415 - most data are no CEF

            return CefEngine(records, files, self._settings, self._log)
        from safetab.counting.local.engine import LocalEngine  # noqa: PLC0415 - loads numba

        return LocalEngine(_files(records), files, self._settings, self._log)

    def judge(
        self, data: Path, known: KnownLists, rows_done: Callable[[int], None]
    ) -> tuple[Finding, ...]:
        """As `Backend.judge`."""
        if known.reader is ReaderKind.CEF:
            from safetab.counting.local.cef import judge_cef  # noqa: PLC0415

            cef = self.cef_records(data, tuple(known.parts.values())).value
            return judge_cef(known, cef, rows_done) if isinstance(cef, OwnRecords) else ()
        files = readable_record_files(data, known.record)
        if files is None:
            return ()
        from safetab.counting.local.rules import judge_rows  # noqa: PLC0415

        findings = FindingsOf(files.label)
        # a damaged file is reported where its columns are checked
        with suppress(pa.ArrowException, OSError):
            judge_rows(files, known, findings, rows_done, self._settings.sizes)
        return findings.findings

    def close(self) -> None:
        """Nothing is left to release."""


def _files(records: Records) -> TableFiles:
    if not isinstance(records, TableFiles):
        raise TypeError("the local engine reads files of this machine")
    return records
