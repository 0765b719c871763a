"""Records as Spark reads them: their location, columns, and a DataFrame of their text.

The driver looks at names, headers, footers and the catalog. The executors read the rows, and spell
every value as the delimited file does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql import types as T  # noqa: N812

from safetab.counting.spark.executor import MISFIT, NOT_UTF8, WRONG_SHAPE
from safetab.counting.spark.options import TABLE_PREFIX
from safetab.counting.spark.rules import FILE, file_name
from safetab.counting.spark.session import hadoop_configuration, java
from safetab.foundation.batch_sizes import USUAL_SIZES
from safetab.foundation.findings import Finding, FindingsOf
from safetab.inputs.found_records import RecordLocation
from safetab.inputs.readers.delimited import SEPARATOR
from safetab.inputs.readers.forms.all_forms import GZIPPED_TEXT, PARQUET, TEXT, form_of
from safetab.inputs.readers.forms.table_form import TableForm
from safetab.inputs.readers.forms.text import (
    HEADER_RULE,
    report_blank_lines,
    report_overlong_line,
    report_stray_return,
)
from safetab.inputs.readers.table_files import why_damaged
from safetab.inputs.readers.text_tables import LONGEST_HEADER, LONGEST_LINE, header_in
from safetab.inputs.records import record_files
from safetab.inputs.records.record_files import (
    DATES,
    FRACTIONS,
    INTEGERS,
    OTHER_VALUES,
    TRUTH_VALUES,
    TypedColumns,
)
from safetab.model.products.record import NO_CODE, RecordLayout

_Read = tuple[DataFrame | None, tuple[Finding, ...]]
"""A row for each record, with text columns, MISFIT and FILE, and findings.

There are no rows if a column is wrong.
"""

_ReadAs = dict[str, T.DataType | None]
"""The type as which a column is read, or None if it has no values or is of another kind."""
_BYTE_ORDER_MARK = "\ufeff"
_LINE_END = "\r"
_ENDS_TWICE = "ends_twice"
_VERIFY_CHECKSUMS = "parquet.page.verify-checksum.enabled"
_DAMAGES = (
    "java.lang.RuntimeException",
    "java.io.EOFException",
    "java.util.zip.",
    "org.apache.parquet.",
)

_FIELD = re.compile(
    r"^  (required|optional|repeated) (\S+) (.+?)(?: \((.*)\))?(?: = \d+)?(?:;| \{)", re.MULTILINE
)
_NO_VALUE = "UNKNOWN"  # Parquet's annotation of a column without any value
_UNSIGNED_64_BITS = T.DecimalType(20, 0)
_READ_AS: dict[str, dict[str, T.DataType]] = {
    "binary": dict.fromkeys(("", "STRING", "ENUM", "JSON", "BSON"), T.StringType()),
    "boolean": {"": T.BooleanType()},
    "int32": dict.fromkeys(
        ("", *(f"INTEGER({bits},true)" for bits in (8, 16, 32))), T.IntegerType()
    )
    | dict.fromkeys(("INTEGER(8,false)", "INTEGER(16,false)"), T.IntegerType())
    | {"INTEGER(32,false)": T.LongType()},
    "int64": dict.fromkeys(("", "INTEGER(64,true)"), T.LongType())
    | {"INTEGER(64,false)": _UNSIGNED_64_BITS},
}
"""The Spark types of what Parquet stores, by its type and annotation."""

_PIECES = pa.schema([("path", pa.string()), ("piece", pa.int64())])
_INTEGER_TYPES = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_KINDS: tuple[tuple[tuple[type[T.DataType], ...], str], ...] = (
    (_INTEGER_TYPES, INTEGERS),
    ((T.StringType, T.BinaryType), record_files.TEXT),
    ((T.BooleanType,), TRUTH_VALUES),
    ((T.FloatType, T.DoubleType, T.DecimalType), FRACTIONS),
    ((T.DatetimeType,), DATES),
)


def located(session: SparkSession, given: str, findings: FindingsOf) -> RecordLocation | None:
    """The parts at a path or in `table:NAME`, by names alone.

    None and a finding if there are none.
    """
    if given.startswith(TABLE_PREFIX):
        name = given.removeprefix(TABLE_PREFIX)
        if not session.catalog.tableExists(name):
            findings.error("", f"the catalog has no table {name}.")
            return None
        return RecordLocation(name, None, (name,))
    parts = files_at(given, findings)
    if not parts:
        return None
    forms = {
        next((form for form in _READERS if part.endswith(form.ending)), None) for part in parts
    }
    if len(forms) != 1 or None in forms:
        endings = ", ".join(form.ending for form in _READERS)
        findings.error(
            "", f"{given} must be a file, or a folder of files, that all end in one of {endings}."
        )
        return None
    if any(record_files.PATTERN_CHARACTERS & set(part) for part in parts):
        findings.error(
            "", "its path has one of * ? [ ] { } in it, which Spark reads as a pattern. Rename it."
        )
        return None
    return RecordLocation(given.rstrip("/").rpartition("/")[2], forms.pop(), tuple(parts))


def files_at(given: str, findings: FindingsOf) -> list[str]:
    """The file at a path, or the files of the folder; else no file, and a finding."""
    path = java().org.apache.hadoop.fs.Path(given)
    files = path.getFileSystem(hadoop_configuration())
    if not files.exists(path):
        findings.error("", f"there is no {given}.")
        return []
    found = [status.getPath() for status in files.listStatus(path)]
    parts = [part.toString() for part in found if not part.getName().startswith((".", "_"))]
    if not parts:
        findings.error("", f"{given} is empty.")
    return sorted(parts)


def read_records(session: SparkSession, location: RecordLocation, record: RecordLayout) -> _Read:
    """The records, read when a job asks, once all columns are checked.

    Raises one of `SPARK_ERRORS`. Files that tasks read were checked before: there is a row for each
    piece of them.
    """
    if location.form is None:
        return _records_of_table(session, location, record)
    if tasks_read(location.form, record):
        return pieces_at(session, location, record), ()
    return _READERS[location.form](session, location, record)


def tasks_read(form: TableForm, record: RecordLayout) -> bool:
    """Whether tasks read such files, and Spark doesn't.

    They read a specification's files, and forms that Spark lacks.
    """
    return bool(record.fields) or form not in _READERS


def pieces_at(session: SparkSession, location: RecordLocation, record: RecordLayout) -> DataFrame:
    """A row for each piece of a file that one task reads: a path, and the number of the piece."""
    pieces = list[dict[str, object]]()
    for path in location.parts_of_this_machine:
        numbered = enumerate(form_of(path).pieces(path, record, USUAL_SIZES))
        pieces += [{"path": str(path), "piece": number} for number, _ in numbered]
    return session.createDataFrame(pa.Table.from_pylist(pieces, _PIECES))


def _records_of_table(
    session: SparkSession, location: RecordLocation, record: RecordLayout
) -> _Read:
    table = session.table(location.parts[0])
    findings = FindingsOf(location.label)
    read_as = {field.name: field.dataType for field in table.schema.fields}
    kinds = {name: _kind_of(data_type) for name, data_type in read_as.items()}
    record_files.check_typed_columns(TypedColumns(tuple(read_as), kinds), record, findings)
    if findings.has_errors:
        return None, findings.findings
    return _as_text_columns(table, read_as, F.lit(location.label), record), ()


def _records_of_parquet(
    session: SparkSession, location: RecordLocation, record: RecordLayout
) -> _Read:
    """Parts whose columns are read in the same way are read together."""
    findings = FindingsOf(location.label)
    of_parts = list[Finding]()
    found = dict[str, tuple[TypedColumns, _ReadAs]]()
    for path in location.parts:
        with _damage_found(location, path, of_parts) as of_part:
            found[path] = columns, _ = _columns_of_footer(path)
            record_files.check_typed_columns(columns, record, of_part)
    record_files.check_same_kinds((columns for columns, _ in found.values()), record, findings)
    if findings.has_errors or of_parts:
        return None, (*findings.findings, *of_parts)
    alike: dict[tuple[T.DataType | None, ...], list[str]] = {}
    for path, (_, read_as) in found.items():
        alike.setdefault(tuple(read_as[column] for column in record.columns), []).append(path)
    tables = list[DataFrame]()
    for types, parts in alike.items():
        types_read = dict(zip(record.columns, types, strict=True))
        fields = [
            T.StructField(name, data_type)
            for name, data_type in types_read.items()
            if data_type is not None
        ]
        reader = session.read.schema(T.StructType(fields)).option(_VERIFY_CHECKSUMS, value=True)
        table = reader.parquet(*parts, recursiveFileLookup=True)
        tables.append(_as_text_columns(table, types_read, F.col("_metadata.file_path"), record))
    return reduce(DataFrame.union, tables), ()


def _columns_of_footer(path: str) -> tuple[TypedColumns, _ReadAs]:
    """The columns of a Parquet file, and their types.

    Raises Py4JJavaError if it is not Parquet.

    Parquet writes a schema as a message with a line for each column, and lines further in for what
    is inside one.
    """
    where = java().org.apache.hadoop.fs.Path(path)
    file = java().org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(
        where, hadoop_configuration()
    )
    reader = java().org.apache.parquet.hadoop.ParquetFileReader.open(file)
    try:
        message = reader.getFileMetaData().getSchema().toString()
    finally:
        reader.close()
    names = list[str]()
    kinds = dict[str, str | None]()
    read_as = dict[str, T.DataType | None]()
    for repetition, stored_as, name, annotation in _FIELD.findall(message):
        names.append(name)
        is_single = repetition != "repeated"
        read_as[name] = _READ_AS.get(stored_as, {}).get(annotation) if is_single else None
        kinds[name] = (
            _kind_of_stored(stored_as, annotation, read_as[name]) if is_single else OTHER_VALUES
        )
    return TypedColumns(tuple(names), kinds), read_as


def _kind_of_stored(stored_as: str, annotation: str, read_as: T.DataType | None) -> str | None:
    if annotation == _NO_VALUE:
        return None
    if read_as is not None:
        return INTEGERS if _is_integer(read_as) else _kind_of(read_as)
    if stored_as in {"float", "double"} or annotation.startswith(("DECIMAL", "FLOAT16")):
        return FRACTIONS
    return (
        DATES if stored_as == "int96" or annotation.startswith(("DATE", "TIME")) else OTHER_VALUES
    )


def _kind_of(data_type: T.DataType) -> str | None:
    if isinstance(data_type, T.NullType):
        return None
    return next((kind for types, kind in _KINDS if isinstance(data_type, types)), OTHER_VALUES)


def _is_integer(data_type: T.DataType) -> bool:
    return isinstance(data_type, _INTEGER_TYPES) or data_type == _UNSIGNED_64_BITS


def _as_text_columns(
    table: DataFrame, types: Mapping[str, T.DataType | None], file: Column, record: RecordLayout
) -> DataFrame:
    """Typed columns, once they are checked, as text."""
    columns = [_as_text(column, types[column], record).alias(column) for column in record.columns]
    return table.select(*columns, F.lit(0).alias(MISFIT), file.alias(FILE))


def _as_text(name: str, data_type: T.DataType | None, record: RecordLayout) -> Column:
    width = record.digits.get(name)
    if data_type is None or isinstance(data_type, T.NullType):
        text = F.lit(None).cast("string")
    elif isinstance(data_type, T.BooleanType):
        text = F.when(F.col(name), "True").when(~F.col(name), "False")
    else:
        text = F.col(name).cast("string")
        if _is_integer(data_type) and width is not None:
            is_short = (F.col(name) >= 0) & (F.length(text) < width)
            text = F.when(is_short, F.lpad(text, width, "0")).otherwise(text)
    return F.coalesce(text, F.lit(NO_CODE)) if record.may_be_absent(name) else text


def _records_of_text(
    session: SparkSession, location: RecordLocation, record: RecordLayout
) -> _Read:
    """Parts whose columns stand in the same order are read together."""
    found = list[Finding]()
    headers = dict[tuple[str, ...], list[str]]()
    for path in location.parts:
        with _damage_found(location, path, found) as of_part:
            header = _header_at(path)
            record_files.check_header(header, record, of_part)
            headers.setdefault(tuple(header), []).append(path)
    if found:
        return None, tuple(found)
    records = list[DataFrame]()
    for columns, parts in headers.items():
        lines = _lines_of(session, parts)
        found += _line_findings(lines, SEPARATOR.join(columns), location)
        records.append(_records_of_lines(lines, columns, record))
    return reduce(DataFrame.union, records), tuple(found)


_READERS: Mapping[TableForm, Callable[[SparkSession, RecordLocation, RecordLayout], _Read]] = {
    TEXT: _records_of_text,
    GZIPPED_TEXT: _records_of_text,
    PARQUET: _records_of_parquet,
}
"""The forms that Spark reads itself, with its own readers."""


def _header_at(path: str) -> list[str]:
    """The header of a text file. Raises Py4JJavaError if the file can't be read."""
    where = java().org.apache.hadoop.fs.Path(path)
    stream = where.getFileSystem(hadoop_configuration()).open(where)
    try:
        is_zipped = path.endswith(GZIPPED_TEXT.ending)
        text = java().java.util.zip.GZIPInputStream(stream) if is_zipped else stream
        return header_in(bytes(text.readNBytes(LONGEST_HEADER)))
    finally:
        stream.close()


def _label_of(path: str, location: RecordLocation) -> str:
    """The name of a part in findings, with that of its folder."""
    name = file_name(path)
    return name if name == location.label else f"{location.label}/{name}"


@contextmanager
def _damage_found(
    location: RecordLocation, path: str, found: list[Finding]
) -> Iterator[FindingsOf]:
    """Collect findings about a part, damage too. Raises Py4JJavaError if it can't be reached."""
    findings = FindingsOf(_label_of(path, location))
    try:
        yield findings
    except Py4JJavaError as error:
        if not error.java_exception.getClass().getName().startswith(_DAMAGES):
            raise
        findings.error("", why_damaged(Path(path), error, unquote(path).removeprefix("file://")))
    found += findings.findings


def _lines_of(session: SparkSession, parts: Sequence[str]) -> DataFrame:
    """A row for each line of text files, line ends cut off."""
    lines = session.read.text(list(parts), lineSep="\n", recursiveFileLookup=True)
    value = F.col("value")
    ends_twice = value.endswith(2 * _LINE_END).alias(_ENDS_TWICE)
    return lines.select(
        F.rtrim(value, F.lit(_LINE_END)).alias("value"), ends_twice, F.col("_metadata")
    )


def _is_header(line: Column, header: str) -> Column:
    return line.isin(header, _BYTE_ORDER_MARK + header)


def _records_of_lines(lines: DataFrame, header: Sequence[str], record: RecordLayout) -> DataFrame:
    """A row for each record: the columns as text, whether the line is a misfit, and its file."""
    value = F.col("value")
    rows = lines.where((value != "") & ~_is_header(value, SEPARATOR.join(header)))
    has_other_shape = F.size(F.col("fields")) != len(record.columns)
    misfit = (
        F.when(~F.is_valid_utf8(value), NOT_UTF8).when(has_other_shape, WRONG_SHAPE).otherwise(0)
    )
    split = rows.select(
        value, F.split(value, r"\|").alias("fields"), F.col("_metadata.file_path").alias(FILE)
    )
    fields = [
        F.get("fields", F.lit(header.index(column))).alias(column) for column in record.columns
    ]
    return split.select(*fields, misfit.alias(MISFIT), FILE)


def _line_findings(lines: DataFrame, header: str, location: RecordLocation) -> Iterator[Finding]:
    """Mistakes in the lines of each file, whatever their values are.

    Findings name files, and no lines. No line may be over-long, blank lines must be at the end,
    carriage returns may only end lines, and the header may stand only in the first line.
    """
    value = F.col("value")
    block_start = F.col("_metadata.file_block_start").alias("start")
    position = F.struct(block_start, F.monotonically_increasing_id().alias("row"))
    file = F.col("_metadata.file_path").alias(FILE)
    placed = lines.select(file, value, _ENDS_TWICE, position.alias("position"))
    of_files = placed.groupBy(FILE).agg(
        F.count_if(_is_header(value, header)).alias("headers"),
        F.max(F.octet_length(value)).alias("longest"),
        F.count_if(value.contains(_LINE_END) | F.col(_ENDS_TWICE)).alias("returns"),
        F.min(F.when(value == "", F.col("position"))).alias("first_blank"),
        F.max(F.when(value != "", F.col("position"))).alias("last_filled"),
    )
    is_wrong = F.expr(
        f"headers > 1 OR returns > 0 OR longest > {LONGEST_LINE} OR first_blank < last_filled"
    )
    for row in of_files.where(is_wrong).orderBy(FILE).collect():
        name = file_name(row[FILE])
        findings = FindingsOf(_label_of(row[FILE], location))
        if row.longest > LONGEST_LINE:
            report_overlong_line(findings)
        elif row.first_blank is not None and row.first_blank < row.last_filled:
            start, last = row.last_filled
            is_before = F.expr(
                f"position.start < {start} OR (position.start = {start} AND position.row < {last})"
            )
            inside = placed.where((F.col(FILE) == row[FILE]) & (value == "") & is_before).count()
            report_blank_lines(inside, f"{inside:,} in {name}", findings)
        elif row.returns:
            report_stray_return(findings)
        if row.headers > 1:
            again = row.headers - 1
            findings.broken("", HEADER_RULE[1], again, f"{again:,} in {name}")
        yield from findings.findings
