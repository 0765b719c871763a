"""Tables made from a CEF.

They are its records as Parquet for Spark, and the list of blocks with units.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.counting.local.cef import whole_columns
from safetab.foundation.files import whole_path
from safetab.foundation.findings import Finding, InvalidInput, require_none
from safetab.foundation.new_files import new_file_findings, write_new_file
from safetab.foundation.progress import ConfidentialLog, Progress
from safetab.inputs.bureau.cef.reader_file import CefFiles, ReaderFile, read_reader_file
from safetab.inputs.bureau.grfc import GEOGRAPHY_TABLE, UNIT_COLUMN, block_columns
from safetab.inputs.own_records import paths_read
from safetab.inputs.readers.delimited import SEPARATOR
from safetab.inputs.records.cef.geography import BlockOids, CefGeography, read_cef_geography
from safetab.inputs.records.cef.state_records import CefRecords, CefRules, StateReader, records_of
from safetab.model.census.areas import Areas
from safetab.model.products.bureau_columns import RACE_COLUMNS
from safetab.model.products.safetab_h.safetab_h import HOUSEHOLD_RECORD
from safetab.model.products.safetab_p.safetab_p import PERSON_RECORD
from safetab.release.outputs.output_folder import (
    NamesLike,
    always_named,
    output_findings,
    whole_output,
)
from safetab.runs import guards
from safetab.runs.options import refused_log

_CONVERTED_FILE = "CONFIDENTIAL"
_CONVERTED = (
    "Records of real people, unless the file SYNTHETIC lies beside this one."
    " For the curator alone.\n"
)
_RECORDS = rf"({PERSON_RECORD.table}|{HOUSEHOLD_RECORD.table})/\d\d\.parquet"
_OTHERS = rf"{GEOGRAPHY_TABLE}\.parquet|{_CONVERTED_FILE}|{SYNTHETIC_MARKER}"
_EARLIER = always_named(_CONVERTED_FILE, NamesLike(rf"{_RECORDS}|{_OTHERS}"))
# columns that are not here have at most four digits
_TYPES = {"HOUSEHOLDER": pa.bool_(), "TABTRACTCE": pa.int32()}


@dataclass(frozen=True, slots=True)
class ConvertedCef:
    """The numbers of records written, and the warnings."""

    persons: int
    households: int
    warnings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _Cef:
    reader: ReaderFile
    files: CefFiles
    geography: CefGeography


def blocks_with_units(
    data: Path, out: Path, confidential_log: Path | None = None
) -> tuple[Finding, ...]:
    """Write every block of the GRF-C and whether it has a unit; return the warnings.

    The list is public only if the numbers of units are: docs/privacy.md#blocks-with-units. Raises
    InvalidInput if an input is at fault, RunFailed if the machine refuses.
    """
    refused = new_file_findings(out) + refused_log(out, paths_read(data), "the list of blocks")
    findings: list[Finding] = []
    with _guarded(data, refused, confidential_log) as (cef, log):
        has_unit = np.zeros(len(cef.geography.oids.blocks), dtype=np.bool_)
        for files in cef.files.states:
            reader = StateReader(files, CefRules(None, cef.geography.oids))
            has_unit[reader.unit_table().units.places] = True
            findings += reader.findings
        blocks = cef.geography.oids.blocks[has_unit]
        table = _geography_table(cef.geography.geography, blocks)
        warnings = _warnings(findings, log)
        write_new_file(out, lambda path: _write_text(table, path))
        return warnings


def convert_cef(
    data: Path, out: Path, confidential_log: Path | None, progress: Progress, *, overwrite: bool
) -> ConvertedCef:
    """Write the records of every state that has files as Parquet, in a folder of mode 0700.

    Raises InvalidInput if an input is at fault, RunFailed if the machine refuses.
    """
    out = whole_path(out)
    refused = output_findings(out, paths_read(data), overwrite=overwrite, earlier=_EARLIER)
    with (
        _guarded(data, refused, confidential_log) as (cef, log),
        whole_output(out, overwrite=overwrite) as new,
    ):
        findings: list[Finding] = []
        written = {PERSON_RECORD.table: 0, HOUSEHOLD_RECORD.table: 0}
        progress.step("Converting the states", len(cef.files.states))
        for table in written:
            (new / table).mkdir(mode=0o700)
        for files in cef.files.states:
            reader = StateReader(files, CefRules(None, cef.geography.oids, for_households=True))
            for table, rows in _write_state(reader, new, files.state, cef.geography.oids).items():
                written[table] += rows
            findings += reader.findings
            progress.advance()
        warnings = _warnings(findings, log)
        blocks = _geography_table(cef.geography.geography)
        pq.write_table(blocks, new / f"{GEOGRAPHY_TABLE}.parquet", compression="zstd")
        (new / _CONVERTED_FILE).write_text(_CONVERTED)
        if cef.reader.is_synthetic:
            (new / SYNTHETIC_MARKER).write_text("The people in this folder do not exist.\n")
        for path in (new, *new.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
        return ConvertedCef(written[PERSON_RECORD.table], written[HOUSEHOLD_RECORD.table], warnings)


def _warnings(findings: list[Finding], log: ConfidentialLog | None) -> tuple[Finding, ...]:
    """The warnings of all states, once all are read.

    So one error does not hide the others. Raises InvalidInput if a finding is an error.
    """
    if any(finding.is_error for finding in findings):
        raise InvalidInput(findings)
    if log is not None:
        guards.log_passed(log, findings)
    return tuple(findings)


@contextmanager
def _guarded(
    data: Path, refused: tuple[Finding, ...], confidential_log: Path | None
) -> Iterator[tuple[_Cef, ConfidentialLog | None]]:
    """The files of every state that has any; errors inside are raised again in our own words."""
    if confidential_log is not None:
        refused += refused_log(confidential_log, paths_read(data))
    require_none(refused)
    guards.forbid_memory_dumps()
    with guards.errors_reported(confidential_log) as log:
        yield _opened(data), log


def _opened(data: Path) -> _Cef:
    """The files and the geography of a CEF. Raises InvalidInput with every finding."""
    reader = read_reader_file(data, "READER.INI is the .ini file of a CEF.").require()
    states = reader.states_there
    files, paths = reader.files_of(states), reader.geography_of(states)
    geography = read_cef_geography(paths.value or (), states)
    if files.value is None or paths.value is None or geography.value is None or not states:
        found = files.findings + paths.findings + (geography.findings if paths.value else ())
        raise InvalidInput(dict.fromkeys(found))
    return _Cef(reader, files.value, geography.value)


def _write_state(reader: StateReader, folder: Path, state: str, oids: BlockOids) -> dict[str, int]:
    """Write the persons and households of a state; return the rows of each table."""
    kinds = (PERSON_RECORD, HOUSEHOLD_RECORD)
    rows = {record.table: 0 for record in kinds}
    with ExitStack() as opened:
        writers = {}
        for record in kinds:
            path = folder / record.table / f"{state}.parquet"
            writer = pq.ParquetWriter(path, _schema(record.columns), compression="zstd")
            writers[record.table] = opened.enter_context(writer)
        for joined in reader.joined_persons():
            for record in kinds:
                records = records_of(joined, record)
                writers[record.table].write_batch(_batch(records, record.columns, oids))
                rows[record.table] += len(records)
    return rows


def _schema(columns: tuple[str, ...]) -> pa.Schema:
    return pa.schema([(name, _TYPES.get(name, pa.int16())) for name in columns])


def _batch(records: CefRecords, columns: tuple[str, ...], oids: BlockOids) -> pa.RecordBatch:
    """The records with codes as integers, and null for no code."""
    numbers, schema = whole_columns(records, oids), _schema(columns)
    arrays = []
    for field in schema:
        is_null = numbers[field.name] == 0 if field.name in RACE_COLUMNS[1:] else None
        arrays.append(
            pa.array(numbers[field.name].astype(field.type.to_pandas_dtype()), mask=is_null)
        )
    return pa.record_batch(arrays, schema=schema)


def _geography_table(geography: Areas, with_units: NDArray[np.int64] | None = None) -> pa.Table:
    """The columns of GRF-C as text; with `with_units`, also whether a block is among these."""
    columns = {
        name: pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), width, "0")
        for name, (numbers, width) in block_columns(geography).items()
    }
    if with_units is not None:
        columns[UNIT_COLUMN] = pa.array(np.where(np.isin(geography.smallest, with_units), "1", "0"))
    return pa.table(columns)


def _write_text(table: pa.Table, path: Path) -> None:
    """Write a table as text with a header, in the delimited form of the specification.

    The file has mode 0600: the curator decides whether the list is public.
    """
    path.touch(mode=0o600)
    with path.open("wb") as file:
        file.write(SEPARATOR.join(table.column_names).encode() + b"\n")
        options = pa.csv.WriteOptions(
            include_header=False, delimiter=SEPARATOR, quoting_style="none"
        )
        pa.csv.write_csv(table, file, options)
