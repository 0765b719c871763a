"""Facts from the footer of a Parquet file; a damaged footer raises an error.

pyarrow raises a Python error for whatever Arrow's readers refuse. But if Arrow refuses what
`metadata.row_group(...).column(...)` or `.statistics` ask for, the process ends, and a `read_table`
with filters hangs. So only this module asks for these facts, after a reader has accepted the
column.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def opened_parquet(path: Path) -> pq.ParquetFile:
    """The opened file. Raises ArrowInvalid if it is damaged or a column's name is not UTF-8."""
    try:
        file = pq.ParquetFile(path)
        _ = file.schema_arrow.names
    except UnicodeDecodeError:
        raise pa.ArrowInvalid("the name of a column is not UTF-8") from None
    return file


def schema_of(path: Path) -> pa.Schema:
    """The Arrow schema of a file. Raises ArrowInvalid if it is damaged."""
    with opened_parquet(path) as file:
        return file.schema_arrow


def rows_of_parquet(file: pq.ParquetFile) -> int:
    """The number of rows. Raises ArrowInvalid if the file and its row groups disagree on it."""
    metadata = file.metadata
    rows = int(metadata.num_rows)
    if sum(rows_of_group(metadata, number) for number in range(metadata.num_row_groups)) != rows:
        raise pa.ArrowInvalid("the rows of the row groups don't add up to those of the file")
    return rows


def rows_of_group(metadata: pq.FileMetaData, row_group: int) -> int:
    """The number of rows of a row group."""
    return int(metadata.row_group(row_group).num_rows)


def chunk_facts(file: pq.ParquetFile, row_group: int, column: str) -> pq.ColumnChunkMetaData:
    """The footer's facts about a column of a row group.

    Raises ArrowException or OSError if damaged.
    """
    for _ in file.iter_batches(1, [row_group], [column], use_threads=False):
        break  # a reader has looked at the same facts
    schema, columns = file.metadata.schema, range(file.metadata.num_columns)
    position = next(number for number in columns if schema.column(number).path == column)
    return file.metadata.row_group(row_group).column(position)


def text_range(file: pq.ParquetFile, row_group: int, column: str) -> tuple[str, str] | None:
    """The least and greatest text of a row group's column, or None.

    Raises ArrowInvalid if damaged.
    """
    chunk = chunk_facts(file, row_group, column)
    if (
        chunk.physical_type != "BYTE_ARRAY"
    ):  # Arrow compares this with the schema, and ends the process if they differ
        raise pa.ArrowInvalid("a column is not of the type that the schema says")
    statistics = chunk.statistics
    return (
        (statistics.min, statistics.max)
        if statistics is not None and statistics.has_min_max
        else None
    )
