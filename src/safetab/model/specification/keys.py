"""Declarations by fields of values of the keys that fill them.

The forms of texts that several keys have are here, too.
"""

from __future__ import annotations

from dataclasses import field, fields, replace
from typing import Any, dataclass_transform

from safetab.foundation.files import package_data
from safetab.model.specification.kinds import (
    NO_DEFAULT,
    Frozen,
    Key,
    Kind,
    ListOf,
    Number,
    Reading,
    Table,
    Text,
    Value,
    Whole,
)

_MEANINGS = package_data("safetab.model.specification", "meanings.toml")
_NAME_WORDS = (
    "a name (a letter or digit, then at most 39 letters, digits, blanks, dots,"
    " hyphens and underscores)"
)

TEXT = Text()
DETAIL = Text(most=100)
"""Names of files are made of it."""
ANY_TEXT = Text(pattern=".*")
NAME = Text(_NAME_WORDS, "[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}")
FILE = Text(
    "the plain name of a file in the folder of the specification", r"[^./\\:\x00][^/\\:\x00]*"
)
CHARACTER = Text("one character that is not a letter, digit or quote", r"[!#-'*-/:-@\[-`{-~\t]")
FILLED = Text(
    'a text with {name} once and no other brace, such as "{name} only"', r"[^{}]*\{name\}[^{}]*"
)
FIELD = Text(refers_to="field")
VALUES = ListOf(Value(), or_one=True)
TEXTS = ListOf(TEXT, distinct=True)
INTEGER = Whole(-(2**61), 2**61)
POSITIVE = Number("a number above 0", above=0)
PRODUCT_NAME = Text(
    "a text of at most 100 letters, digits, blanks, dots, commas, brackets,"
    " hyphens and underscores",
    "[A-Za-z0-9][A-Za-z0-9 ._,()-]{0,99}",
)
NO_CODES = "it is empty. Write one, for example [classifications.language]."
NO_ROWS = "it is empty. A pass has rows of its own and levels of areas."


def declaring(what: str) -> Text:
    """A name that others refer to.

    It differs from the other names of its sort by more than case.
    """
    return replace(NAME, declares=what)


def referring(what: str) -> Text:
    """The name of something that is declared elsewhere."""
    return replace(NAME, refers_to=what)


def keyed(
    kind: Kind, *, default: Any = NO_DEFAULT, required: bool | None = None, at: str = ""
) -> Any:
    """A field that a key of the file fills: the one with its name, or the one at a path.

    A path leads to a table within the value's table. Without a default it is required, unless it is
    said otherwise.
    """
    is_required = default is NO_DEFAULT if required is None else required
    declared = {"key": Key(at, kind, "", "", is_required, default=default)}
    if default is NO_DEFAULT:
        return field(metadata=declared)
    return (
        field(default_factory=dict, metadata=declared)
        if default == {}
        else field(default=default, metadata=declared)
    )


@dataclass_transform(frozen_default=True, field_specifiers=(keyed,))
class Keyed(Frozen):
    """A value whose fields are declared with `keyed`."""


def table_of(value: type, *flat: str) -> Table:
    """The table whose keys fill a value; `flat` are the tables within it.

    What keys mean is in meanings.toml.
    """
    meanings = _MEANINGS[value.__name__]
    keys: dict[str, list[Key]] = {name: [] for name in ("", *flat)}
    for each in fields(value):
        if "key" in each.metadata:
            key: Key = each.metadata["key"]
            table, _, name = (key.name or each.name).rpartition(".")
            meaning, value_text = meanings[each.name]
            is_section = value_text.startswith((f"[{name}", "[["))
            example = value_text if is_section else f"{name} = {value_text}"
            keys[table].append(
                replace(key, name=name, meaning=meaning, example=example, fills=each.name)
            )
    inner = (
        Key(
            name, Table(tuple(keys[name]), dict), meanings[name][0], f"{name} = {meanings[name][1]}"
        )
        for name in flat
    )
    return Table((*keys[""], *inner), value)


class KeyColumn(Frozen):
    """A column of the records and the column of the table of areas that holds the same ids."""

    record: str
    table: str


class KeyColumnText(Text):
    """One name for both columns of a KeyColumn, or the record's = the table's."""

    def read(self, value: object, where: str, reading: Reading) -> Any:
        text = super().read(value, where, reading)
        if text is None:
            return None
        record, equals, table = text.partition("=")
        column = KeyColumn(record.strip(), table.strip()) if equals else KeyColumn(text, text)
        reading.references.append((where, column.record, "field"))
        return column

    def written(self, value: KeyColumn) -> str:
        return value.record if value.record == value.table else f"{value.record} = {value.table}"
