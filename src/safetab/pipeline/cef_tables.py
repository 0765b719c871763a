"""Tables made from a CEF: its records as Parquet, for engines that read no CEF; and which blocks have a unit."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from safetab.census.geography import Geography
from safetab.engines.local.cef_engine import whole_columns
from safetab.foundation.confidential_log import ConfidentialLog
from safetab.foundation.findings import Finding, InvalidInput
from safetab.foundation.new_file import new_file_findings, write_new_file
from safetab.foundation.progress import NoProgress, Progress
from safetab.foundation.whole_path import whole_path
from safetab.outputs.earlier_output import NamesLike, always_named
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.pipeline.backends import forbid_memory_dumps
from safetab.pipeline.guards import (
    endings_told,
    findings_logged,
    log_passed,
    opened_log,
    os_errors_as_run_failed,
    own_errors_logged,
)
from safetab.pipeline.options import refused_log
from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.products.record import RACE_COLUMNS
from safetab.products.safetab_h.record import HOUSEHOLD_RECORD
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.readers.cef.geography import BlockOids, CefGeography, read_cef_geography
from safetab.readers.cef.reader_file import CefFiles, ReaderFile, paths_read, read_reader_file
from safetab.readers.cef.state_records import CefRecords, StateReader, records_of
from safetab.readers.cef.state_rules import CefRules
from safetab.readers.delimited import SEPARATOR
from safetab.readers.geography import GEOGRAPHY_TABLE, UNIT_COLUMN, block_columns

CONVERTED_FILE = "CONFIDENTIAL"

_CONVERTED = "Records of real people, unless the file SYNTHETIC lies beside this one. For the curator alone.\n"
_EARLIER = always_named(
    CONVERTED_FILE,
    NamesLike(
        rf"({PERSON_RECORD.table}|{HOUSEHOLD_RECORD.table})/\d\d\.parquet|{GEOGRAPHY_TABLE}\.parquet"
        rf"|{CONVERTED_FILE}|{SYNTHETIC_MARKER}"
    ),
)
_TYPES = {"HOUSEHOLDER": pa.bool_(), "TABTRACTCE": pa.int32()}  # the others have at most four digits


@dataclass(frozen=True, slots=True)
class ConvertedCef:
    """How many records were written, and what is worth a look."""

    persons: int
    households: int
    warnings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _Cef:
    reader: ReaderFile
    files: CefFiles
    geography: CefGeography


def blocks_with_units(data: Path, out: Path, confidential_log: Path | None = None) -> tuple[Finding, ...]:
    """Writes every block of the GRF-C and whether a unit lies in it; returns the warnings.

    Public only if the numbers of units are: docs/privacy.md#blocks-with-units.
    """
    refused = new_file_findings(out) + refused_log(out, paths_read(data), "the list of blocks")
    with _guarded(data, refused, confidential_log) as (cef, judgement):
        has_unit = np.zeros(len(cef.geography.oids.blocks), dtype=np.bool_)
        for files in cef.files.states:
            reader = StateReader(files, CefRules(None, cef.geography.oids))
            has_unit[reader.unit_table().units.places] = True
            judgement.add(reader.findings)
        blocks = cef.geography.oids.blocks[has_unit]
        table = _geography_table(cef.geography.geography, blocks)
        warnings = judgement.warnings()
        write_new_file(out, lambda path: _write_confidential(table, path))
        return warnings


def _write_confidential(table: pa.Table, path: Path) -> None:
    """It is made of confidential files, and the curator decides whether it is public."""
    path.touch(mode=0o600)
    _write_text(table, path)


def convert_cef(
    data: Path,
    out: Path,
    confidential_log: Path | None = None,
    progress: Progress | None = None,
    *,
    overwrite: bool = False,
) -> ConvertedCef:
    """Writes the records of all states that there are files of as Parquet, in a folder for the curator alone."""
    out, today = whole_path(out), datetime.datetime.now(datetime.UTC).date()
    refused = output_findings(out, paths_read(data), overwrite=overwrite, earlier=_EARLIER)
    with (
        _guarded(data, refused, confidential_log) as (cef, judgement),
        whole_output(out, today, overwrite=overwrite) as new,
    ):
        progress, written = progress or NoProgress(), {PERSON_RECORD.table: 0, HOUSEHOLD_RECORD.table: 0}
        progress.step("Converting the states", len(cef.files.states))
        for table in written:
            (new / table).mkdir(mode=0o700)
        for files in cef.files.states:
            reader = StateReader(files, CefRules(None, cef.geography.oids, for_households=True))
            for table, rows in _write_state(reader, new, files.state, cef.geography.oids).items():
                written[table] += rows
            judgement.add(reader.findings)
            progress.advance()
        warnings = judgement.warnings()
        pq.write_table(
            _geography_table(cef.geography.geography), new / f"{GEOGRAPHY_TABLE}.parquet", compression="zstd"
        )
        (new / CONVERTED_FILE).write_text(_CONVERTED)
        if cef.reader.is_synthetic:
            (new / SYNTHETIC_MARKER).write_text("The people in this folder do not exist.\n")
        _keep_for_the_curator(new)
        return ConvertedCef(written[PERSON_RECORD.table], written[HOUSEHOLD_RECORD.table], warnings)


def _keep_for_the_curator(folder: Path) -> None:
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


class _Judgement:
    """Gathers the findings of all states before one of them ends the work."""

    def __init__(self, log: ConfidentialLog | None) -> None:
        self._log = log
        self._findings: list[Finding] = []

    def add(self, findings: Iterable[Finding]) -> None:
        self._findings += findings

    def warnings(self) -> tuple[Finding, ...]:
        """Once all is read. Raises InvalidInput if something is an error."""
        if any(finding.is_error for finding in self._findings):
            raise InvalidInput(self._findings)
        if self._log is not None:
            log_passed(self._log, self._findings)
        return tuple(self._findings)


@contextmanager
def _guarded(
    data: Path, refused: tuple[Finding, ...], confidential_log: Path | None
) -> Iterator[tuple[_Cef, _Judgement]]:
    """The files of all states that there are any of; what goes wrong inside is put into our words."""
    if confidential_log is not None:
        refused += refused_log(confidential_log, paths_read(data))
    if refused:
        raise InvalidInput(refused)
    forbid_memory_dumps()
    with (
        opened_log(confidential_log) if confidential_log else nullcontext() as log,
        endings_told(log),
        os_errors_as_run_failed(),
        findings_logged(log),
        own_errors_logged(log),
    ):
        yield _opened(data), _Judgement(log)


def _opened(data: Path) -> _Cef:
    reader = read_reader_file(data).require()
    states = reader.states_there
    files, paths = reader.files_of(states), reader.geography_of(states)
    geography = read_cef_geography(paths.value or (), states)
    if files.value is None or paths.value is None or geography.value is None or not states:
        found = files.findings + paths.findings + (geography.findings if paths.value else ())
        raise InvalidInput(dict.fromkeys(found))
    return _Cef(reader, files.value, geography.value)


def _write_state(reader: StateReader, folder: Path, state: str, oids: BlockOids) -> dict[str, int]:
    columns_of = {record.table: record.columns for record in (PERSON_RECORD, HOUSEHOLD_RECORD)}
    rows = dict.fromkeys(columns_of, 0)
    with ExitStack() as opened:
        writers = {
            table: opened.enter_context(
                pq.ParquetWriter(folder / table / f"{state}.parquet", _schema(columns), compression="zstd")
            )
            for table, columns in columns_of.items()
        }
        for joined in reader.joined_persons():
            for record in (PERSON_RECORD, HOUSEHOLD_RECORD):
                records = records_of(joined, record)
                writers[record.table].write_batch(_batch(records, columns_of[record.table], oids))
                rows[record.table] += len(records)
    return rows


def _schema(columns: tuple[str, ...]) -> pa.Schema:
    return pa.schema([(name, _TYPES.get(name, pa.int16())) for name in columns])


def _batch(records: CefRecords, columns: tuple[str, ...], oids: BlockOids) -> pa.RecordBatch:
    """Codes as integers, and null for no code."""
    numbers, schema = whole_columns(records, oids), _schema(columns)
    arrays = [
        pa.array(
            numbers[name].astype(schema.field(name).type.to_pandas_dtype()),
            mask=numbers[name] == 0 if name in RACE_COLUMNS[1:] else None,
        )
        for name in columns
    ]
    return pa.record_batch(arrays, schema=schema)


def _geography_table(geography: Geography, with_units: NDArray[np.int64] | None = None) -> pa.Table:
    """The columns of GRF-C as text, and whether a block is among those with a unit, if these are given."""
    columns = {
        name: pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), width, "0")
        for name, (numbers, width) in block_columns(geography).items()
    }
    if with_units is not None:
        columns[UNIT_COLUMN] = pa.array(np.where(np.isin(geography.block, with_units), "1", "0"))
    return pa.table(columns)


def _write_text(table: pa.Table, path: Path) -> None:
    with path.open("wb") as file:
        file.write(SEPARATOR.join(table.column_names).encode() + b"\n")
        options = pa.csv.WriteOptions(include_header=False, delimiter=SEPARATOR, quoting_style="none")
        pa.csv.write_csv(table, file, options)
