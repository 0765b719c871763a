"""Person records as a DataFrame whose columns are text, spelled as in the delimited file, read by the executors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql import types as T  # noqa: N812

from safetab.engines.person_location import PersonLocation
from safetab.engines.spark.options import TABLE_PREFIX
from safetab.foundation.findings import FindingsOf, shortened
from safetab.products.record import RACE_COLUMNS, RecordLayout
from safetab.readers.delimited import SEPARATOR
from safetab.readers.person_rules import NO_CODE
from safetab.readers.table_files import TableForm

MISFIT = "misfit"
"""A column that is 0 for a row that has its fields of text, else one of the next two."""
WRONG_SHAPE, NOT_UTF8 = 1, 2
FILE = "file"
"""A column with the path of the file that a row comes from; a table of the catalog has its name instead."""

_LINE_END = "\r"
_BYTE_ORDER_MARK = "\ufeff"
_PATTERN_CHARACTERS = set("*?[]{}")
_INTEGERS = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_NO_TEXT = (T.ArrayType, T.MapType, T.StructType, T.NullType)


def located(session: SparkSession, given: str, findings: FindingsOf) -> PersonLocation | None:
    """What a path or `table:NAME` stands for, or nothing and a finding; only names are looked at."""
    if given.startswith(TABLE_PREFIX):
        name = given.removeprefix(TABLE_PREFIX)
        if not session.catalog.tableExists(name):
            findings.error("", f"the catalog has no table {name}.")
            return None
        return PersonLocation(name, None, (name,))
    parts = files_at(session, given, findings)
    if not parts:
        return None
    forms = {next((form for form in TableForm if part.endswith(form.value)), None) for part in parts}
    if len(forms) != 1 or None in forms:
        endings = ", ".join(form.value for form in TableForm)
        findings.error("", f"{given} must be a file, or a folder of files, that all end in one of {endings}.")
        return None
    if any(_PATTERN_CHARACTERS & set(part) for part in parts):
        findings.error("", "its path has one of * ? [ ] { } in it, which Spark reads as a pattern. Rename it.")
        return None
    return PersonLocation(given.rstrip("/").rpartition("/")[2], forms.pop(), tuple(parts))


def files_at(session: SparkSession, given: str, findings: FindingsOf) -> list[str]:
    """The file at a path, or the files of the folder there; none and a finding if there are none."""
    path = session._jvm.org.apache.hadoop.fs.Path(given)
    files = path.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
    if not files.exists(path):
        findings.error("", f"there is no {given}.")
        return []
    found = [status for status in files.listStatus(path) if not status.getPath().getName().startswith((".", "_"))]
    if not found:
        findings.error("", f"{given} is empty.")
    return sorted(status.getPath().toString() for status in found)


def read_persons(
    session: SparkSession, location: PersonLocation, record: RecordLayout, findings: FindingsOf
) -> DataFrame | None:
    """One row per person: columns of text, MISFIT and FILE; nothing and a finding if a column or header is wrong."""
    if location.form is None:
        return typed_persons(session.table(location.parts[0]), F.lit(location.label), record, findings)
    if location.form is TableForm.PARQUET:
        try:
            table = parquet_table(session, location.parts)
        except AnalysisException as error:
            if "CANNOT_MERGE" not in (error.getCondition() or ""):
                raise
            findings.error("", "a column has several types in its parts. Write all parts alike.")
            return None
        return typed_persons(table, F.col("_metadata.file_path"), record, findings)
    lines = lines_of(session, location)
    return persons_of_lines(lines, record) if check_lines(lines, location, record, findings) else None


def lines_of(session: SparkSession, location: PersonLocation) -> DataFrame:
    """One row per line of the text files, line ends cut off."""
    lines = session.read.text(list(location.parts), lineSep="\n", recursiveFileLookup=True)
    return lines.select(F.rtrim("value", F.lit(_LINE_END)).alias("value"), F.col("_metadata"))


def is_header(line: Column, record: RecordLayout) -> Column:
    header = SEPARATOR.join(record.columns)
    return line.isin(header, _BYTE_ORDER_MARK + header)


def persons_of_lines(lines: DataFrame, record: RecordLayout) -> DataFrame:
    """One row per person: the columns as text, whether the line is a misfit, and its file."""
    value = F.col("value")
    rows = lines.where((value != "") & ~is_header(value, record))
    misfit = (
        F.when(~F.is_valid_utf8(value), NOT_UTF8)
        .when(F.size(F.col("fields")) != len(record.columns), WRONG_SHAPE)
        .otherwise(0)
    )
    split = rows.select(value, F.split(value, r"\|").alias("fields"), F.col("_metadata.file_path").alias(FILE))
    fields = [F.get("fields", F.lit(position)).alias(column) for position, column in enumerate(record.columns)]
    return split.select(*fields, misfit.alias(MISFIT), FILE)


def check_lines(lines: DataFrame, location: PersonLocation, record: RecordLayout, findings: FindingsOf) -> bool:
    """Every file has its header once, and blank lines only at its end; whether all headers are right.

    Findings name files, and no lines.
    """
    name, value = F.col("_metadata.file_path"), F.col("value")
    position = F.struct(F.col("_metadata.file_block_start"), F.monotonically_increasing_id())
    of_files = (
        lines.select(name.alias("file"), value, position.alias("position"))
        .groupBy("file")
        .agg(
            F.count_if(is_header(F.col("value"), record)).alias("headers"),
            F.min(F.when(value == "", F.col("position"))).alias("first_blank"),
            F.max(F.when(value != "", F.col("position"))).alias("last_filled"),
        )
    )
    with_header = {row.file for row in of_files.where("headers = 1").select("file").collect()}
    blank_inside = [row.file for row in of_files.where("first_blank < last_filled").select("file").collect()]
    without_header = {file_name(part) for part in location.parts} - {file_name(file) for file in with_header}
    for file in sorted(without_header):
        findings.error("line 1", f"the header must be {SEPARATOR.join(record.columns)}, in {file}")
    if blank_inside:
        inside = shortened(sorted(file_name(file) for file in blank_inside))
        findings.error("", f"blank lines are only allowed at the end: {inside}.")
    return not without_header


def typed_persons(table: DataFrame, file: Column, record: RecordLayout, findings: FindingsOf) -> DataFrame | None:
    """Typed columns as text; nothing and a finding if a column is missing, or there twice."""
    names = list(table.columns)
    folded = [name.upper() for name in names]
    wrong = [column for column in record.columns if names.count(column) != 1 or folded.count(column) != 1]
    if wrong:
        listed = shortened(wrong, len(record.columns))
        findings.error("", f"columns missing, or there more than once, capital letters or not: {listed}.")
        return None
    types = {field.name: field.dataType for field in table.schema.fields}
    columns = [_as_text(column, types[column], record.digits.get(column)).alias(column) for column in record.columns]
    return table.select(*columns, F.lit(0).alias(MISFIT), file.alias(FILE))


def _as_text(name: str, data_type: T.DataType, width: int | None) -> Column:
    column = F.col(name)
    if isinstance(data_type, _NO_TEXT):
        text = F.when(column.isNotNull(), F.lit(""))
    elif isinstance(data_type, T.BooleanType):
        text = F.when(column, "True").when(~column, "False")
    elif isinstance(data_type, _INTEGERS) and width is not None:
        text = column.cast("string")
        padded = F.when(F.length(text) < width, F.lpad(text, width, "0")).otherwise(text)
        text = F.when(column < 0, text).otherwise(padded)
    else:
        text = column.cast("string")
    return F.coalesce(text, F.lit(NO_CODE)) if name in RACE_COLUMNS[1:] else text


def parquet_table(session: SparkSession, parts: Sequence[str]) -> DataFrame:
    return session.read.parquet(*parts, mergeSchema=True, recursiveFileLookup=True)


def file_name(path: str) -> str:
    return Path(unquote(path)).name
