"""The files of a specification, read plainly: every cell is a text."""

import csv
import gzip
import tomllib
from fractions import Fraction
from typing import Any

import pyarrow.parquet as pq

from tests.specified.judged_values import spelled

Row = dict[str, Any]
_INHERITED = ("areas", "classifications", "groups")


def read_keys(parameters):
    """The keys of census.toml and privacy.toml, and the folder of the lists."""
    keys, folder = _toml(parameters / "census.toml"), parameters
    if "like" in keys:
        other = parameters / keys["like"]
        folder = other.parent
        keys |= {name: each for name, each in _toml(other).items() if name in _INHERITED}
    if (parameters / "privacy.toml").exists():
        keys |= _toml(parameters / "privacy.toml")
    return keys, folder


def _toml(path):
    return tomllib.loads(path.read_text("utf-8"), parse_float=Fraction)


def read_table(path):
    """The rows of a public list or of the table of areas."""
    if path.suffix == ".parquet":
        return [
            {name: "" if value is None else spelled(value) for name, value in row.items()}
            for row in pq.read_table(path).to_pylist()
        ]
    text = path.read_bytes().decode("utf-8-sig")
    lines = list(csv.reader(text.replace("\r\n", "\n").split("\n"), delimiter="|" if path.suffix == ".txt" else ","))
    lines = [line for line in lines if line]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def read_records(data, keys):
    """The records: texts, None where a Parquet file has null, lists where it has lists."""
    (found,) = [path for path in data.iterdir() if path.name.split(".")[0] == keys["file"]]
    parts = sorted(found.iterdir()) if found.is_dir() else [found]
    return [row for part in parts for row in _records_of(part, keys)]


def _records_of(path, keys):
    names = [field["name"] for field in keys["fields"]]
    if path.name.endswith(".parquet"):
        rows = pq.read_table(path, partitioning=None).to_pylist()
        return [{name: _plain(row[name]) for name in names} for row in rows]
    content = path.read_bytes()
    content = gzip.decompress(content) if path.name.endswith(".gz") else content
    separator = keys.get("separator") or ("," if ".csv" in path.name else "|")
    lines = content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    header, *rows = [line.split(separator) for line in lines if line]
    return [dict(zip(header, row, strict=True)) for row in rows]


def _plain(value):
    return value if value is None or isinstance(value, list) else spelled(value)
