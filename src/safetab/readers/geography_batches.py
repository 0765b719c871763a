"""The wanted columns of a geography file, batch by batch, from text or Parquet, as Arrow arrays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import FindingsOf, shortened
from safetab.foundation.parquet_facts import opened_parquet, rows_of_parquet, schema_of
from safetab.foundation.text_files import why_unreadable
from safetab.readers.delimited import SEPARATOR
from safetab.readers.digit_columns import is_text
from safetab.readers.table_files import TableForm
from safetab.readers.text_tables import BLOCK_BYTES, header_of, is_ascii, is_header_alone


def batches_of(
    path: Path, form: TableForm, columns: tuple[str, ...], findings: FindingsOf, misshapen_lines: list[int]
) -> Iterator[pa.RecordBatch]:
    """Batches with exactly these columns; whatever is wrong with the shape of the file goes to the findings.

    Lines with too few or too many fields are left out, and their numbers are appended to `misshapen_lines` before the
    batch that they would have been in comes out.
    """
    try:
        if form is TableForm.PARQUET:
            yield from _parquet_batches(path, columns, findings)
        else:
            yield from _text_batches(path, columns, findings, misshapen_lines)
    except pa.ArrowException as error:
        raise_if_the_machine_failed(error)
        findings.error("", f"{path} is damaged, or not what its ending says. Write it again.")
    except OSError as error:
        raise_if_the_machine_failed(error)
        if error.errno is None:  # from the decompressor, not from the operating system
            findings.error("", f"{path} is damaged, or not what its ending says. Write it again.")
        else:
            findings.error("", why_unreadable(path, error))


def columns_of(path: Path) -> list[str]:
    """The names of a file's columns. Raises OSError or an ArrowException if it can't be read."""
    is_parquet = path.name.endswith(TableForm.PARQUET.value)
    return list(schema_of(path).names) if is_parquet else header_of(path)


def _parquet_batches(path: Path, columns: tuple[str, ...], findings: FindingsOf) -> Iterator[pa.RecordBatch]:
    with opened_parquet(path) as file:
        names = file.schema_arrow.names
        missing = [column for column in columns if names.count(column) != 1]
        if missing:
            findings.error("", f"columns missing, or there more than once: {shortened(missing, len(columns))}.")
            return
        strange = [name for name in columns if not _is_readable(file.schema_arrow.field(name).type)]
        for name in strange:
            findings.error(name, f"has the type {file.schema_arrow.field(name).type}. Give text or integers.")
        if strange:
            return
        rows = rows_of_parquet(file)
        for batch in file.iter_batches(columns=list(columns)):
            rows -= len(batch)
            yield pa.record_batch([_as_bytes(batch.column(name)) for name in columns], names=list(columns))
        if rows:
            raise pa.ArrowInvalid("the number of rows differs from the one in the footer")


def _is_readable(column_type: pa.DataType) -> bool:
    values = column_type.value_type if pa.types.is_dictionary(column_type) else column_type
    return pa.types.is_integer(values) or is_text(values)


def _as_bytes(column: pa.Array) -> pa.Array:
    """Integers as they are, every kind of text as bytes: what is no UTF-8 is no digits either."""
    decoded = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return decoded.cast(pa.binary()) if is_text(decoded.type) else decoded


def _text_batches(
    path: Path, columns: tuple[str, ...], findings: FindingsOf, misshapen_lines: list[int]
) -> Iterator[pa.RecordBatch]:
    header = header_of(path)
    positions = _positions_of(header, columns, findings)
    if positions is None:
        return

    def remember(row: pa.csv.InvalidRow) -> str:
        misshapen_lines.append(row.number)
        return "skip"

    if is_header_alone(path):
        return
    names = [str(position) for position in range(len(header))]
    wanted = [str(position) for position in positions]
    with pa.input_stream(str(path), compression="detect") as stream:
        reader = pa.csv.open_csv(
            # a row that is told to `remember` must be UTF-8; as Latin-1 every byte is a character, and no digit more
            stream if is_ascii(path) else pa.transcoding_input_stream(stream, "latin-1", "utf-8"),
            # one thread, so that the line of a wrong row is known
            read_options=pa.csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, skip_rows=1, column_names=names),
            parse_options=pa.csv.ParseOptions(
                delimiter=SEPARATOR,
                quote_char=False,
                double_quote=False,
                ignore_empty_lines=False,
                invalid_row_handler=remember,
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=wanted, column_types=dict.fromkeys(wanted, pa.binary()), null_values=[]
            ),
        )
        for batch in reader:
            yield batch.rename_columns(list(columns))
    if misshapen_lines:
        lines = shortened(f"line {line}" for line in misshapen_lines)
        findings.error(
            "", f"a row must have {len(header)} fields separated by {SEPARATOR}, as the header has: {lines}."
        )


def _positions_of(header: list[str], columns: tuple[str, ...], findings: FindingsOf) -> list[int] | None:
    """Where the wanted columns stand; they must be there once each, in any order."""
    missing = [column for column in columns if header.count(column) != 1]
    if missing:
        findings.error(
            "line 1", f"columns missing, or there more than once: {shortened(missing, len(columns))}."
            f" The header must hold {SEPARATOR.join(columns)}, in any order."
        )  # fmt: skip
        return None
    return [header.index(column) for column in columns]
