"""Person records as a DataFrame whose columns are text, spelled as in the delimited file, read by the executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql import types as T  # noqa: N812

from safetab.engines.person_location import PersonLocation
from safetab.engines.spark.executor_tasks import MISFIT
from safetab.engines.spark.options import TABLE_PREFIX
from safetab.engines.spark.part_columns import (
    ReadColumns,
    columns_of_footer,
    columns_of_table,
    header_at,
    is_integer,
)
from safetab.engines.spark.session import hadoop_configuration, java
from safetab.foundation.findings import Finding, FindingsOf
from safetab.products.record import RACE_COLUMNS, RecordLayout
from safetab.readers.delimited import SEPARATOR
from safetab.readers.person_columns import check_header, check_same_kinds, check_typed_columns
from safetab.readers.person_files import damaged, report_blank_lines, report_overlong_line, report_stray_return
from safetab.readers.person_rules import HEADER_RULE, NO_CODE, rule_and_rows
from safetab.readers.table_files import TableForm
from safetab.readers.text_tables import LONGEST_LINE

"""A column that is 0 for a row that has its fields of text, else one of the next two."""
WRONG_SHAPE, NOT_UTF8 = 1, 2
FILE = "file"
"""A column with the path of the file that a row comes from; a table of the catalog has its name instead."""

_LINE_END = "\r"
_ENDS_TWICE = "ends_twice"
_VERIFY_CHECKSUMS = "parquet.page.verify-checksum.enabled"
_DAMAGES = ("java.lang.RuntimeException", "java.io.EOFException", "java.util.zip.", "org.apache.parquet.")
_BYTE_ORDER_MARK = "\ufeff"
_PATTERN_CHARACTERS = set("*?[]{}")


def located(session: SparkSession, given: str, findings: FindingsOf) -> PersonLocation | None:
    """What a path or `table:NAME` stands for, or nothing and a finding; only names are looked at."""
    if given.startswith(TABLE_PREFIX):
        name = given.removeprefix(TABLE_PREFIX)
        if not session.catalog.tableExists(name):
            findings.error("", f"the catalog has no table {name}.")
            return None
        return PersonLocation(name, None, (name,))
    parts = files_at(given, findings)
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


def files_at(given: str, findings: FindingsOf) -> list[str]:
    """The file at a path, or the files of the folder there; none and a finding if there are none."""
    path = java().org.apache.hadoop.fs.Path(given)
    files = path.getFileSystem(hadoop_configuration())
    if not files.exists(path):
        findings.error("", f"there is no {given}.")
        return []
    found = [status for status in files.listStatus(path) if not status.getPath().getName().startswith((".", "_"))]
    if not found:
        findings.error("", f"{given} is empty.")
    return sorted(status.getPath().toString() for status in found)


Read = tuple[DataFrame | None, tuple[Finding, ...]]
"""One row per person: columns of text, MISFIT and FILE; nothing, if a column or header is wrong; and what is wrong."""


def read_persons(session: SparkSession, location: PersonLocation, record: RecordLayout) -> Read:
    if location.form is None:
        table, findings = session.table(location.parts[0]), FindingsOf(location.label)
        found = columns_of_table(table.schema)
        check_typed_columns(found.columns, record, findings)
        if findings.has_errors:
            return None, findings.findings
        return _as_persons(table, found.read_as, F.lit(location.label), record), ()
    if location.form is TableForm.PARQUET:
        return _persons_of_parquet(session, location, record)
    return _persons_of_text(session, location, location.form, record)


def _persons_of_parquet(session: SparkSession, location: PersonLocation, record: RecordLayout) -> Read:
    """Parts whose columns are read in the same way are read together."""
    findings, of_parts, found = FindingsOf(location.label), list[Finding](), dict[str, ReadColumns]()
    for path in location.parts:
        with _damage_found(path, of_parts) as of_part:
            found[path] = columns_of_footer(path)
            check_typed_columns(found[path].columns, record, of_part)
    check_same_kinds((one.columns for one in found.values()), record, findings)
    if findings.has_errors or of_parts:
        return None, (*findings.findings, *of_parts)
    alike: dict[tuple[T.DataType | None, ...], list[str]] = {}
    for path, one in found.items():
        alike.setdefault(tuple(one.read_as[column] for column in record.columns), []).append(path)
    return reduce(DataFrame.union, (_parts_alike(session, *one, record) for one in alike.items())), ()


def _parts_alike(
    session: SparkSession, types: Sequence[T.DataType | None], parts: Sequence[str], record: RecordLayout
) -> DataFrame:
    read_as = dict(zip(record.columns, types, strict=True))
    schema = T.StructType([T.StructField(name, one) for name, one in read_as.items() if one is not None])
    reader = session.read.schema(schema).option(_VERIFY_CHECKSUMS, value=True)
    table = reader.parquet(*parts, recursiveFileLookup=True)
    return _as_persons(table, read_as, F.col("_metadata.file_path"), record)


def _persons_of_text(session: SparkSession, location: PersonLocation, form: TableForm, record: RecordLayout) -> Read:
    """Parts whose columns stand in the same order are read together."""
    found, headers = list[Finding](), dict[tuple[str, ...], list[str]]()
    for path in location.parts:
        with _damage_found(path, found) as of_part:
            found_header = header_at(path, form)
            check_header(found_header, record, of_part)
            headers.setdefault(tuple(found_header), []).append(path)
    if found:
        return None, tuple(found)
    persons = list[DataFrame]()
    for header, parts in headers.items():
        lines = lines_of(session, parts)
        found += line_findings(lines, SEPARATOR.join(header))
        persons.append(persons_of_lines(lines, header, record))
    return reduce(DataFrame.union, persons), tuple(found)


@contextmanager
def _damage_found(path: str, found: list[Finding]) -> Iterator[FindingsOf]:
    """Takes findings about one part; that it is damaged is one. What keeps it from being read at all is raised."""
    findings = FindingsOf(file_name(path))
    try:
        yield findings
    except Py4JJavaError as error:
        if not error.java_exception.getClass().getName().startswith(_DAMAGES):
            raise
        findings.error("", damaged(unquote(path).removeprefix("file://")))
    found += findings.findings


def lines_of(session: SparkSession, parts: Sequence[str]) -> DataFrame:
    """One row per line of the text files, line ends cut off."""
    lines = session.read.text(list(parts), lineSep="\n", recursiveFileLookup=True)
    value = F.col("value")
    is_twice = value.endswith(2 * _LINE_END).alias(_ENDS_TWICE)
    return lines.select(F.rtrim(value, F.lit(_LINE_END)).alias("value"), is_twice, F.col("_metadata"))


def is_header(line: Column, header: str) -> Column:
    return line.isin(header, _BYTE_ORDER_MARK + header)


def persons_of_lines(lines: DataFrame, header: Sequence[str], record: RecordLayout) -> DataFrame:
    """One row per person: the columns as text, whether the line is a misfit, and its file."""
    value = F.col("value")
    rows = lines.where((value != "") & ~is_header(value, SEPARATOR.join(header)))
    misfit = (
        F.when(~F.is_valid_utf8(value), NOT_UTF8)
        .when(F.size(F.col("fields")) != len(record.columns), WRONG_SHAPE)
        .otherwise(0)
    )
    split = rows.select(value, F.split(value, r"\|").alias("fields"), F.col("_metadata.file_path").alias(FILE))
    fields = [F.get("fields", F.lit(header.index(column))).alias(column) for column in record.columns]
    return split.select(*fields, misfit.alias(MISFIT), FILE)


def line_findings(lines: DataFrame, header: str) -> Iterator[Finding]:
    """No line is over-long, blank lines are at the end alone, carriage returns end lines, and headers stand there once.

    Findings name files, and no lines.
    """
    name, value = F.col("_metadata.file_path"), F.col("value")
    position = F.struct(
        F.col("_metadata.file_block_start").alias("start"), F.monotonically_increasing_id().alias("row")
    )
    placed = lines.select(name.alias(FILE), value, _ENDS_TWICE, position.alias("position"))
    of_files = placed.groupBy(FILE).agg(
        F.count_if(is_header(value, header)).alias("headers"),
        F.max(F.octet_length(value)).alias("longest"),
        F.count_if(value.contains(_LINE_END) | F.col(_ENDS_TWICE)).alias("returns"),
        F.min(F.when(value == "", F.col("position"))).alias("first_blank"),
        F.max(F.when(value != "", F.col("position"))).alias("last_filled"),
    )
    is_wrong = F.expr(f"headers > 1 OR returns > 0 OR longest > {LONGEST_LINE} OR first_blank < last_filled")
    for row in of_files.where(is_wrong).orderBy(FILE).collect():
        findings = FindingsOf(file_name(row[FILE]))
        if row.longest > LONGEST_LINE:
            report_overlong_line(findings)
        elif row.first_blank is not None and row.first_blank < row.last_filled:
            start, last = row.last_filled
            is_before = F.expr(f"position.start < {start} OR (position.start = {start} AND position.row < {last})")
            inside = placed.where((F.col(FILE) == row[FILE]) & (value == "") & is_before).count()
            report_blank_lines(inside, f"{inside:,} in {file_name(row[FILE])}", findings)
        elif row.returns:
            report_stray_return(findings)
        if row.headers > 1:
            again = row.headers - 1
            findings.error("", rule_and_rows(HEADER_RULE[1], again), f"{again:,} in {file_name(row[FILE])}")
        yield from findings.findings


def _as_persons(
    table: DataFrame, types: Mapping[str, T.DataType | None], file: Column, record: RecordLayout
) -> DataFrame:
    """Typed columns as text, once they are checked."""
    columns = [_as_text(column, types[column], record.digits.get(column)).alias(column) for column in record.columns]
    return table.select(*columns, F.lit(0).alias(MISFIT), file.alias(FILE))


def _as_text(name: str, data_type: T.DataType | None, width: int | None) -> Column:
    if data_type is None or isinstance(data_type, T.NullType):
        text = F.lit(None).cast("string")
    elif isinstance(data_type, T.BooleanType):
        text = F.when(F.col(name), "True").when(~F.col(name), "False")
    elif is_integer(data_type) and width is not None:
        text = F.col(name).cast("string")
        padded = F.when(F.length(text) < width, F.lpad(text, width, "0")).otherwise(text)
        text = F.when(F.col(name) < 0, text).otherwise(padded)
    else:
        text = F.col(name).cast("string")
    return F.coalesce(text, F.lit(NO_CODE)) if name in RACE_COLUMNS[1:] else text


def file_name(path: str) -> str:
    return Path(unquote(path)).name
