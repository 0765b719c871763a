"""TOML and CSV of plain values, for specifications that tests make up."""

import csv
import io
import json
from collections.abc import Mapping
from decimal import Decimal


def toml_of(keys):
    """The text of a specification: scalars first, then a section for each table."""
    lines = [f"{_key(name)} = {_value(each)}" for name, each in keys.items() if not _is_section(each)]
    for name, each in keys.items():
        if _is_section(each):
            for table in each if isinstance(each, list) else [each]:
                heading = f"[[{name}]]" if isinstance(each, list) else f"[{name}]"
                lines += ["", heading, *(f"{_key(key)} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def csv_of(header, rows, **form):
    written = io.StringIO()
    csv.writer(written, **{"lineterminator": "\n"} | form).writerows([header.split(","), *rows])
    return written.getvalue()


def _is_section(value):
    return isinstance(value, dict) or (isinstance(value, list) and isinstance(value[0], dict))


def _key(name):
    is_bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if is_bare else json.dumps(name, ensure_ascii=False)


def _value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items()) + " }"
    return "[" + ", ".join(map(_value, value)) + "]"
