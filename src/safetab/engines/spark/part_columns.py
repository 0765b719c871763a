"""What the columns of a file or table are, asked by the driver of a header, a footer or the catalog; no row is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import types as T  # noqa: N812 - as everybody calls it

from safetab.engines.spark.session import hadoop_configuration, java
from safetab.readers.person_columns import (
    DATES,
    FRACTIONS,
    INTEGERS,
    OTHER_VALUES,
    TEXT,
    TRUTH_VALUES,
    TypedColumns,
)
from safetab.readers.table_files import TableForm
from safetab.readers.text_tables import LONGEST_HEADER, header_in

_FIELD = re.compile(r"^  (required|optional|repeated) (\S+) (.+?)(?: \((.*)\))?(?: = \d+)?(?:;| \{)", re.MULTILINE)
_UNSIGNED_64_BITS = T.DecimalType(20, 0)
_READ_AS: dict[str, dict[str, T.DataType]] = {
    "binary": dict.fromkeys(("", "STRING", "ENUM", "JSON", "BSON"), T.StringType()),
    "boolean": {"": T.BooleanType()},
    "int32": dict.fromkeys(("", *(f"INTEGER({bits},true)" for bits in (8, 16, 32))), T.IntegerType())
    | dict.fromkeys(("INTEGER(8,false)", "INTEGER(16,false)"), T.IntegerType())
    | {"INTEGER(32,false)": T.LongType()},
    "int64": dict.fromkeys(("", "INTEGER(64,true)"), T.LongType()) | {"INTEGER(64,false)": _UNSIGNED_64_BITS},
}
"""How Spark reads what Parquet stores, by its type and annotation."""

_NO_VALUE = "UNKNOWN"  # the annotation of a column without any
_INTEGER_TYPES = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_KINDS: tuple[tuple[tuple[type[T.DataType], ...], str], ...] = (
    (_INTEGER_TYPES, INTEGERS),
    ((T.StringType, T.BinaryType), TEXT),
    ((T.BooleanType,), TRUTH_VALUES),
    ((T.FloatType, T.DoubleType, T.DecimalType), FRACTIONS),
    ((T.DatetimeType,), DATES),
)


@dataclass(frozen=True, slots=True)
class ReadColumns:
    """The columns, and how Spark reads those that hold text, integers or truth values; None if there is no value."""

    columns: TypedColumns
    read_as: Mapping[str, T.DataType | None]


def columns_of_footer(path: str) -> ReadColumns:
    """Of a Parquet file. Raises Py4JJavaError if it is none."""
    file = java().org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(
        java().org.apache.hadoop.fs.Path(path), hadoop_configuration()
    )
    reader = java().org.apache.parquet.hadoop.ParquetFileReader.open(file)
    try:
        return columns_of_message(reader.getFileMetaData().getSchema().toString())
    finally:
        reader.close()


def columns_of_message(message: str) -> ReadColumns:
    """`message` is how Parquet writes a schema: a line for each column, further in for what lies inside one."""
    names, kinds, read_as = list[str](), dict[str, str | None](), dict[str, T.DataType | None]()
    for repetition, stored_as, name, annotation in _FIELD.findall(message):
        names.append(name)
        is_one = repetition != "repeated"
        read_as[name] = _READ_AS.get(stored_as, {}).get(annotation) if is_one else None
        kinds[name] = _kind_of_stored(stored_as, annotation, read_as[name]) if is_one else OTHER_VALUES
    return ReadColumns(TypedColumns(tuple(names), kinds), read_as)


def columns_of_table(schema: T.StructType) -> ReadColumns:
    kinds = {field.name: _kind_of(field.dataType) for field in schema.fields}
    types = {field.name: field.dataType for field in schema.fields}
    return ReadColumns(TypedColumns(tuple(schema.names), kinds), types)


def header_at(path: str, form: TableForm) -> list[str]:
    """Of a text file. Raises Py4JJavaError if it can't be read."""
    where = java().org.apache.hadoop.fs.Path(path)
    stream = where.getFileSystem(hadoop_configuration()).open(where)
    try:
        text = java().java.util.zip.GZIPInputStream(stream) if form is TableForm.GZIPPED_TEXT else stream
        return header_in(bytes(text.readNBytes(LONGEST_HEADER)))
    finally:
        stream.close()


def is_integer(data_type: T.DataType | None) -> bool:
    return isinstance(data_type, _INTEGER_TYPES) or data_type == _UNSIGNED_64_BITS


def _kind_of_stored(stored_as: str, annotation: str, read_as: T.DataType | None) -> str | None:
    if annotation == _NO_VALUE:
        return None
    if read_as is not None:
        return INTEGERS if is_integer(read_as) else _kind_of(read_as)
    if stored_as in {"float", "double"} or annotation.startswith(("DECIMAL", "FLOAT16")):
        return FRACTIONS
    return DATES if stored_as == "int96" or annotation.startswith(("DATE", "TIME")) else OTHER_VALUES


def _kind_of(data_type: T.DataType) -> str | None:
    if isinstance(data_type, T.NullType):
        return None
    return next((kind for types, kind in _KINDS if isinstance(data_type, types)), OTHER_VALUES)
