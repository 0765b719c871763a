"""A specification to start from: a commented census.toml, three areas and three codes.

Names and types of columns come from a datapackage.json or the footer of a Parquet file, names alone
from a header. No record is read.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from io import BytesIO
from pathlib import Path, PurePosixPath
from string import Template
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.apps.synthetic.seeded_bits import RandomBits
from safetab.apps.synthetic.specified.people import values_of
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import UnreadableFile, read_text, why_unreadable
from safetab.foundation.findings import InvalidInput, shortened
from safetab.inputs.readers.text_tables import LONGEST_HEADER
from safetab.inputs.records.record_files import INTEGERS, LISTS, TEXT, TRUTH_VALUES, kind_of
from safetab.model.products.record_field import RuledColumn
from safetab.model.specification.values import SPECIFICATION_FILE, RecordField

_PLACE = (
    "area|block|tract|district|munic|comm?un|parish|ward|region|zone|place|county|grid|geo|postal"
    "|^oa$|^sa1$"
)
_GROUP = (
    "ethn|race|group|nation|origin|ancest|lang|relig|diag|code|citizen|birth|tribe|occup|industr"
)
_AGE = "(?<![a-z])q?age(?![a-z])"
_SEX = "(?<![a-z])q?(?:sex|gender)(?![a-z])"
_UNIT = "(?:^|[^a-z]|person|patient|pupil|client|household)id$|^(?:person|patient|pupil|client)$"
_AGES, _BREAKS = {"minimum": 0, "maximum": 120}, (15, 30, 45, 65, 80)
_MOST_CATEGORIES = 20
_MOST_ANSWERS = 8
_THRESHOLDS = (100, 1_000)
_MAGIC, _TAIL = b"PAR1", 8  # a Parquet file ends with the length of its footer and the magic word
_RULES = {
    "string": ("pattern", "enum"),
    "integer": ("minimum", "maximum", "enum"),
    "boolean": (),
    "list": (),
}
"""The constraints that the language has for each type."""
_TYPES = {TEXT: "string", INTEGERS: "integer", TRUTH_VALUES: "boolean", LISTS: "list"}
_SCHEMA = "census.schema.json"
_NEW = files("safetab.apps.synthetic.specified") / "new"
_EXAMPLE = "The columns below are an example. Replace them with those of your file."
_TAKEN_OVER = "The columns are those of {}; no record was read."
_NO_TYPES = " A header has no types: ages are taken for integers, everything else for texts."
_IN_QUOTES = " Its names are in quotes: write the file without quotes, since records may have none."
_SEPARATORS = {".csv": (",", "commas"), ".txt": ("|", "|")}
_NAME = re.compile(r"[^\W\d][\w .-]*")
_NO_FOOTER = "is not a Parquet file with a footer that can be read. Of other formats,"
_NO_FORMAT = "is neither a .csv or .txt file nor a Parquet file. Of other formats,"
_OTHER_FORMATS = "write the names of the columns into a .csv file, with commas between them."
_GUESSED = "  # GUESSED: check this"
_ABOUT_TYPES = "\n# A header has no types: choose string, integer, boolean or list for each column."
_ABOUT_UNUSED = (
    "\n# Nothing reads a column that has a # before it. Remove the # before you use the column."
)
_ABOUT_UNITS = """\
# Does {} say whose record it is? If one person may have several records, \
remove the # of the next line, and
# that of the column if it has one: then the whole person is protected, not each record alone.
"""
UNKNOWN = "COLUMN-OF-"
"""Begins what stands in place of a column that can't be guessed. `validate` refuses it."""
_UNKNOWN_AREA, _UNKNOWN_CODE = (
    {"name": f"{UNKNOWN}{of}", "type": "string"} for of in ("AREAS", "CODES")
)

_Field = dict[str, Any]
"""A field with the keys that census.toml has for it."""


class _Columns(NamedTuple):
    """The columns of a file of records.

    Also what the specification says about the file they are known from.
    """

    fields: Sequence[_Field]
    origin: str
    file: str
    missing: Sequence[str]
    are_all_needed: bool  # text files may have no column that the specification lacks
    have_types: bool = True  # a header has none


def columns_of_package(path: Path | None) -> _Columns:
    """The columns of a data package's first table; without a package, of the example.

    Raises InvalidInput.
    """
    if path is None:
        return _table_of(
            json.loads((_NEW / "datapackage.json").read_text(encoding="utf-8")), _EXAMPLE
        )
    try:
        return _table_of(json.loads(read_text(path)), _TAKEN_OVER.format(path.name))
    except UnreadableFile as problem:
        raise InvalidInput.about(path, str(problem)) from None
    except (ValueError, LookupError, TypeError, AttributeError, StopIteration, RecursionError):
        why = "describes no table: no resource has a schema with named fields."
        raise InvalidInput.about(path, why) from None


def columns_of_file(path: Path) -> _Columns:
    """The columns in a text file's header or a Parquet file's footer. Raises InvalidInput."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InvalidInput.about(path, "is not a regular file.")  # a pipe would wait for ever
    try:
        return (
            _columns_of_header(path)
            if path.suffix.lower() in _SEPARATORS
            else _columns_of_footer(path)
        )
    except OSError as error:
        raise_if_the_machine_failed(error)
        raise InvalidInput.about(path, why_unreadable(path, error)) from None


def _columns_of_header(path: Path) -> _Columns:
    """The columns in the first line; no byte after it is read. Raises OSError or InvalidInput.

    The line may be a record, if the file has no header: findings quote nothing of it.
    """
    separator, separators = _SEPARATORS[path.suffix.lower()]
    with path.open("rb", buffering=0) as file:  # without a buffer, a line is read byte by byte
        line = file.readline(LONGEST_HEADER)
    names = _names_in(line, separator)
    if len(names) < 2 or len({*names}) < len(names) or not all(map(_NAME.fullmatch, names)):
        rule = f"two or more names, each once, with {separators} between them; in UTF-8"
        raise InvalidInput.about(
            path, f"line 1 must be a header: {rule}. Names begin with a letter."
        )
    types = {
        name: "integer" if re.search(_AGE, name, re.IGNORECASE) else "string" for name in names
    }
    fields = [{"name": name, "type": kind} for name, kind in types.items()]
    origin = _TAKEN_OVER.format(path.name) + _NO_TYPES + (_IN_QUOTES if b'"' in line else "")
    return _table_of({"path": path.name, "fields": fields}, origin)._replace(have_types=False)


def _names_in(line: bytes, separator: str) -> list[str]:
    """The names in a header, which may be in quotes; none if it can't be divided."""
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
        (names,) = csv.reader([text], delimiter=separator, strict=True)
    except (UnicodeDecodeError, csv.Error):
        return []
    return names


def _columns_of_footer(path: Path) -> _Columns:
    """The columns in a Parquet file's footer; no other byte is read.

    Raises OSError or InvalidInput.
    """
    try:
        schema = pq.read_schema(BytesIO(_MAGIC + _footer(path)))
    except (pa.ArrowException, ValueError):
        why = _NO_FOOTER if path.suffix == ".parquet" else _NO_FORMAT
        raise InvalidInput.about(path, f"{why} {_OTHER_FORMATS}") from None
    kinds = {column.name: kind_of(column.type) or "nothing" for column in schema}
    if len(kinds) < len(schema):
        raise InvalidInput.about(path, "has two columns with one name. Rename one of them.")
    left_out = [f"{name} ({kind})" for name, kind in kinds.items() if kind not in _TYPES]
    more = (
        f" Left out, since a table can't use what they hold: {', '.join(left_out)}."
        if left_out
        else ""
    )
    used = {name: _TYPES[kind] for name, kind in kinds.items() if kind in _TYPES}
    fields = [{"name": name, "type": kind, "delimiter": ";"} for name, kind in used.items()]
    return _table_of({"path": path.name, "fields": fields}, _TAKEN_OVER.format(path.name) + more)


def _footer(path: Path) -> bytes:
    """The footer of a Parquet file, with its length and the magic word.

    Raises ValueError if it has none.
    """
    with path.open("rb", buffering=0) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        tail = file.read(_TAIL)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != _MAGIC or length + _TAIL + len(_MAGIC) > size:
            raise ValueError
        file.seek(size - _TAIL - length)
        return file.read(length) + tail


def _table_of(package: Any, origin: str) -> _Columns:
    """The first table of a package. A package may be a lone table, or its schema."""
    tables = [(each, each.get("schema", each)) for each in package.get("resources", [package])]
    table, schema = next(
        (each, of) for each, of in tables if isinstance(of, dict) and of.get("fields")
    )
    path = PurePosixPath(table.get("path", "people"))
    missing = [str(each) for each in schema.get("missingValues", [""])]
    others = [
        f"{each['name']} ({each['type']})"
        for each in schema["fields"]
        if each.get("type", "string") not in _RULES
    ]
    origin += (
        f" Taken for texts, since a table can't use their types: {', '.join(others)}."
        if others
        else ""
    )
    fields = [_field(each) for each in schema["fields"]]
    return _Columns(fields, origin, path.name.partition(".")[0], missing, path.suffix != ".parquet")


def _field(given: _Field) -> _Field:
    """A field with the keys that the language has.

    If no table can use its type, it holds any text.
    """
    name, kind, rules = (
        str(given["name"]),
        given.get("type", "string"),
        given.get("constraints", {}),
    )
    if kind not in _RULES:
        return {"name": name, "type": "string"}
    values = [
        each if isinstance(each, dict) else {"value": each} for each in given.get("categories", ())
    ]
    field = {"name": name} | {key: given[key] for key in ("title", "attribute") if key in given}
    if kind == "integer" and _is_like(_AGE, field):
        field["unit_name"], rules = "years", _AGES | rules
    field["type"] = kind
    if kind == "list":
        field["delimiter"] = given.get("delimiter", ",")
    field["constraints"] = {rule: rules[rule] for rule in _RULES[kind] if rule in rules}
    if values:
        field["constraints"].pop("enum", None)  # the categories say it
        field["categories"] = [
            {**each, "label": str(each.get("label", each["value"]))} for each in values
        ]
    return field


def write_new_census(folder: Path, columns: _Columns, name: str) -> str:
    """Write census.toml with its schema and lists, and return what was guessed, in sentences.

    Raises InvalidInput.
    """
    known = [_with_values(each) for each in columns.fields]
    area, codes = _area_and_codes(known)
    others = [each for each in known if each not in (area, *codes)]
    categories = [each for each in others if 1 < len(_listed(each)) <= _MOST_CATEGORIES]
    category = min(categories, key=lambda each: not _is_like(_SEX, each), default=None)
    age = next((each for each in others if "unit_name" in each and each != category), None)
    fields = [each if each in others else _as_text(each) for each in known]
    shapes, names, key = _shapes(category, age), [each["name"] for each in codes], area["name"]
    used = [each for each in (area, *codes, category, age) if each]
    is_unknown = UNKNOWN in key or UNKNOWN in names[0]
    unused = (
        []
        if columns.are_all_needed or is_unknown
        else [each["name"] for each in known if each not in used]
    )
    guesses = [each["name"] for each in known if each not in columns.fields]
    guessed = guesses if columns.have_types else [each["name"] for each in known]
    units = [each["name"] for each in others if _is_like(_UNIT, each) and each not in used]
    parts = {
        "origin": " ".join(columns.origin.split()),
        "folder": name,
        "file": _toml(columns.file),
        "missing": _toml(columns.missing),
        "fields": "\n".join(_line(each, unused, guessed) for each in fields),
        "about_types": "" if columns.have_types else _ABOUT_TYPES,
        "about_unused": _ABOUT_UNUSED if unused else "",
        "about_units": _ABOUT_UNITS.format(" or ".join(map(_toml, units))) if units else "",
        "unit": _toml((units or ["PERSON"])[0]),
        "key": _toml("AREA" if key == "AREA" else f"{key} = AREA"),
        "columns": f"columns = {_toml(names)}"
        if codes[0]["type"] != "list"
        else f"column  = {_toml(*names)}",
        "guessed": "" if columns.origin == _EXAMPLE else _GUESSED,
        "shapes": "\n".join(f"  {_toml(shape)}," for shape in shapes),
        "detail": _toml(shapes[-1]["title"].lower()),
        "thresholds": _toml(_THRESHOLDS[: len(shapes) - 1]),
    }
    text = Template((_NEW / SPECIFICATION_FILE).read_text(encoding="utf-8")).substitute(parts)
    (folder / SPECIFICATION_FILE).write_text(text, encoding="utf-8")
    (folder / _SCHEMA).write_bytes((files("safetab.model.specification") / _SCHEMA).read_bytes())
    _write_list(
        folder / "areas.csv",
        "AREA,AREA_NAME,REGION,REGION_NAME",
        "Area",
        "Region",
        _ids(area, "101 102 201"),
    )
    _write_list(
        folder / "codes.csv",
        "code,name,broad,broad_name",
        "Group",
        "Broad group",
        _ids(codes[0], "1 2 3"),
    )
    how = [
        "write yours in place of it" if UNKNOWN in each else "guessed" for each in (key, names[0])
    ]
    guess = f"{columns.origin} Area: {key} ({how[0]}). Codes: {', '.join(names)} ({how[1]})."
    guess += "".join(f" Values of {name}: 1, 2 (guessed)." for name in guesses)
    return "" if columns.origin == _EXAMPLE else f"{guess} Check {SPECIFICATION_FILE}.\n"


def _with_values(field: _Field) -> _Field:
    """The field, with two values to correct if it seems to be someone's sex.

    It gets them only if it says nothing of its values.
    """
    has_values = field.get("constraints") or field.get("categories")
    if has_values or field["type"] not in {"string", "integer"} or not _is_like(_SEX, field):
        return field
    values = (1, 2) if field["type"] == "integer" else ("1", "2")
    return {
        **field,
        "categories": [{"value": each, "label": f"{field['name']} {each}"} for each in values],
    }


def _line(field: _Field, unused: Sequence[str], guessed: Sequence[str]) -> str:
    """The line of a field in census.toml: a comment if nothing reads the field."""
    begin = "  # " if field["name"] in unused else "  "
    end = _GUESSED if field["name"] in guessed else ""
    return f"{begin}{_toml(field)},{end}"


def _area_and_codes(fields: Sequence[_Field]) -> tuple[_Field, list[_Field]]:
    """The columns that seem to hold the area, and codes: a guess to correct.

    Raises InvalidInput if none may.
    """
    usable = [each for each in fields if each["type"] != "boolean" and not _is_like(_AGE, each)]
    usable.sort(key=lambda each: (bool(_listed(each)), each["type"] == "integer"))
    if len(usable) < 2:
        names = shortened(each["name"] for each in fields) or "none"
        problem = (
            f"one column with an area and one with a code are needed. The columns are: {names}."
        )
        raise InvalidInput.about("the records", problem)
    places = [each for each in usable if each["type"] != "list" and _is_like(_PLACE, each)]
    area = min(places, key=lambda each: _is_like(_GROUP, each), default=_UNKNOWN_AREA)
    others = [each for each in usable if each != area]
    code = next(
        (each for each in others if each["type"] == "list" or _is_like(_GROUP, each)), _UNKNOWN_CODE
    )
    numbered = re.compile(re.escape(code["name"].rstrip("0123456789")) + "([0-9]+)")
    alike = [each for each in others if each["type"] == code["type"] != "list"]
    answers = [each for each in alike if numbered.fullmatch(each["name"])]
    answers.sort(key=lambda each: int(numbered.sub(r"\1", each["name"])))
    return area, answers[:_MOST_ANSWERS] or [code]


def _is_like(pattern: str, field: _Field) -> bool:
    return re.search(pattern, field["name"], re.IGNORECASE) is not None


def _listed(field: _Field) -> list[Any]:
    """The only values of a field, if it has a list of them."""
    categories = [each["value"] for each in field.get("categories", ())]
    return categories or field.get("constraints", {}).get("enum", [])


def _as_text(field: _Field) -> _Field:
    """The field of an area or of codes.

    These are texts even where a file holds them as integers.
    """
    return {**field, "type": "string", "constraints": {}} if field["type"] == "integer" else field


def _shapes(category: _Field | None, age: _Field | None) -> list[dict[str, Any]]:
    """The tables, from the lone total to the finest."""
    shapes: list[dict[str, Any]] = [{"id": "T1", "label": "total", "title": "Total"}]
    by = [str(each.get("attribute", each["name"])) for each in (category, age) if each]
    if category:
        shapes.append({"id": "T2", "label": by[0], "title": by[0].capitalize(), "by": by[:1]})
    if age:
        least, most = age["constraints"]["minimum"], age["constraints"]["maximum"]
        breaks = {by[-1]: [least, *(each for each in _BREAKS if least < each <= most)]}
        label, title = "_".join(by), " by ".join(by).capitalize()
        shapes.append({"id": "T3", "label": label, "title": title, "by": by, "breaks": breaks})
    return shapes


def _toml(value: Any) -> str:
    """A value in TOML, on one line; keys without a value are left out."""
    if isinstance(value, dict):
        keys = {key: key if re.fullmatch("[A-Za-z0-9_-]+", key) else _toml(key) for key in value}
        given = (
            f"{keys[key]} = {_toml(each)}" for key, each in value.items() if each not in ({}, "")
        )
        return f"{{ {', '.join(given)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _ids(field: _Field, otherwise: str) -> list[str]:
    """Ids or codes that the field accepts; others if it accepts any."""
    listed, pattern = tuple(map(str, _listed(field))), field.get("constraints", {}).get("pattern")
    column = RuledColumn(RecordField(field["name"], "string", pattern=pattern, enum=listed))
    return otherwise.split() if column.is_free else values_of(column, RandomBits(0))


def _write_list(path: Path, header: str, noun: str, larger: str, ids: Sequence[str]) -> None:
    """Write ids with names, the first two in one larger area or group and the rest in another."""
    with path.open("w", encoding="utf-8", newline="") as text:
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(header.split(","))
        for place, each in enumerate(ids):
            number = min(place // 2, 1) + 1
            rows.writerow((each, f"{noun} {each}", f"{larger[0]}{number}", f"{larger} {number}"))
