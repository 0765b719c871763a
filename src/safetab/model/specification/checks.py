"""Rules of several keys together: about, records, areas, classifications and groups.

No file is opened. Values were read before: what was wrong or missing is None, or empty.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from safetab.foundation.findings import shortened
from safetab.model.privacy_definition import LossUnit, PrivacyDefinition
from safetab.model.specification.kinds import Problem, given_twice, inside, numbered, shown, unknown
from safetab.model.specification.table_checks import problems_of_privacy, problems_of_tables
from safetab.model.specification.values import (
    COMMON,
    EVERYWHERE,
    MOST_CODE_BYTES,
    MOST_COLUMNS,
    CodeList,
    ConfidentialRecords,
    Groups,
    PassOfAreas,
    RecordField,
    Specification,
    TableOfAreas,
)

MOST_LABELS = 16
MOST_GROUP_LEVELS = 16
MOST_CLASSIFICATIONS = 2
_SHIPPED_NOISE = {"SafeTab-P": 0, "SafeTab-H": 1}
"""The shipped products, which alone have numbers below `_STRANGERS_FIRST`.

The Bureau's dialect reads their areas.
"""
_STRANGERS_FIRST = 8
_RECORD_ENDINGS = (".csv", ".txt", ".parquet", ".gz")
_AREA_ENDINGS = (".csv", ".parquet")
_TWO_RUNS = "run two specifications on the same records; the spend log adds them up"
_SINGLE_VALUES = ("string", "integer", "boolean")
_TYPES_WITH = {
    "delimiter": ("list",),
    "constraints.minimum": ("integer",),
    "constraints.maximum": ("integer",),
    "constraints.pattern": ("string",),
    "constraints.enum": _SINGLE_VALUES,
    "categories": _SINGLE_VALUES,
    "other": _SINGLE_VALUES,
}
"""The types of fields that may have a key."""
_INTEGER = re.compile("0|-?[1-9][0-9]*")

_Fields = Mapping[str, RecordField]


def problems_of(spec: Specification, tables: Collection[str]) -> Iterator[Problem]:
    """Everything that is wrong with a specification that has these tables.

    Its values have the right form.
    """
    fields = {each.name: each for each in spec.records.fields if each.name}
    yield from _of_about(spec)
    yield from _of_records(spec.records, fields)
    yield from _of_areas(spec, fields)
    yield from _of_classifications(spec.classifications, fields)
    yield from _of_groups(spec.groups, has_words="groups.words" in tables)
    yield from _of_lists(spec)
    yield from problems_of_tables(
        spec.tables, {field.called: field for field in fields.values()}, tables
    )
    yield from problems_of_privacy(spec)


def warnings_of(spec: Specification) -> Iterator[Problem]:
    """The fields that nothing reads, and the lists that nothing uses.

    The fields are checked nevertheless.
    """
    for each in spec.groups.lists:
        if each.name != COMMON and spec.groups.file is None:
            where = inside("groups.lists", each.name)
            yield where, "nothing uses this list: groups that are made from columns are in common."
    read = {*spec.records.where, *(column.record for column in spec.areas.key)}
    read |= {spec.records.unit.column} if spec.records.unit else set()
    read |= {
        column
        for codes in spec.classifications
        for column in (*codes.columns, codes.column)
        if column
    }
    for family in spec.tables:
        read |= {family.of or "", *(name for shape in family.shapes for name in shape.by)}
    fields = {
        where: field
        for where, field in numbered("records.fields", spec.records.fields)
        if field.name
    }
    unread = {
        where: field.name
        for where, field in fields.items()
        if not {field.name, field.called} & read
    }
    if len(unread) > 1:
        names = shortened(unread.values())
        yield (
            "records.fields",
            f"nothing reads {len(unread)} fields: {names}; their values are only checked.",
        )
        return
    for where, name in unread.items():
        yield where, f"nothing reads the field {name}; its values are only checked."


def separator_of(codes: CodeList, fields: _Fields) -> str | None:
    """The character between the codes of a classification's one column.

    None if a column holds one code.
    """
    column = fields.get(codes.column or "")
    return codes.separator or (column.delimiter if column else None) or None


def _is_value(field: RecordField, text: str) -> bool:
    """Whether a text is a value of a field, as its type, constraints and categories say."""
    if field.type == "integer":
        if not _INTEGER.fullmatch(text):
            return False
        if field.minimum is not None and int(text) < field.minimum:
            return False
        if field.maximum is not None and int(text) > field.maximum:
            return False
    if field.type == "boolean" and text not in {"true", "false"}:
        return False
    if field.pattern is not None and not re.fullmatch(field.pattern, text):
        return False
    values = [category.value for category in field.categories]
    return text in (field.enum or [text]) and text in (values or [text])


def _is_shipped(spec: Specification) -> bool:
    return _SHIPPED_NOISE.get(spec.about.name) == spec.about.noise


def _of_about(spec: Specification) -> Iterator[Problem]:
    if spec.about.noise < _STRANGERS_FIRST and not _is_shipped(spec):
        problem = f"numbers below {_STRANGERS_FIRST} belong to the shipped products."
        yield "about.noise", f"{problem} Leave the key out, or write 8 to 15."
    spelled_in_rho = {each.spelling for each in PrivacyDefinition if not each.is_pure}
    loss = "rho" if spec.privacy.definition in spelled_in_rho else "epsilon"
    reference = spec.about.reference
    given = {unit.symbol for unit in LossUnit if getattr(reference, unit.symbol, None) is not None}
    if reference and given != {loss}:
        yield (
            "about.reference",
            f"give its {loss}, which is the loss of privacy.definition, and no other.",
        )


def _of_records(records: ConfidentialRecords, fields: _Fields) -> Iterator[Problem]:
    """Problems of the file of records, its fields, `where` and the unit."""
    if (records.file or "").lower().endswith(_RECORD_ENDINGS):
        yield "records.file", f"{shown(records.file)} has an ending. Leave the ending out."
    listed = list(numbered("records.fields", records.fields))
    if len({name.lower() for name in fields}) == len(listed):  # else another finding says it
        yield from given_twice((f"{where}.attribute", field.called) for where, field in listed)
    for where, field in listed:
        yield from _of_field(where, field, records)
    for name, values in records.where.items():
        where = inside("records.where", name)
        if name in fields and fields[name].type == "list":
            yield where, "it is a list. Records can be chosen by fields with one value."
        for value in values:
            if name in fields and not _is_value(fields[name], value):
                yield where, f"{shown(value)} is not a value of the field {name}."
    if records.unit is not None:
        # units are compared as texts: 7 and 07 would be two, and an integer has both spellings
        column = fields.get(records.unit.column)
        yield from _of_type("records.unit.column", column, ("string",))
        if column is not None and column.other is not None:
            yield (
                "records.unit.column",
                f"the field {column.name} has `other`, which would make strangers one unit.",
            )


def _of_type(where: str, field: RecordField | None, types: Sequence[str]) -> Iterator[Problem]:
    """Whether the type of a field does not fit its use."""
    if field is not None and field.type and field.type not in types:
        yield (
            where,
            f"the field {field.name} is of type {field.type}; {' or '.join(types)} is needed.",
        )


def _of_field(where: str, field: RecordField, records: ConfidentialRecords) -> Iterator[Problem]:
    if field.type == "list" and not field.delimiter:
        yield f"{where}.delimiter", 'missing. A list needs one, for example delimiter = ";".'
    if field.delimiter and field.delimiter == records.separator:
        yield (
            f"{where}.delimiter",
            "it is the separator of the columns, too. Choose another character.",
        )
    for key, types in _TYPES_WITH.items():
        name = key.rpartition(".")[2]
        is_given = getattr(field, name) != getattr(RecordField, name)
        if is_given and field.type and field.type not in types:
            yield f"{where}.{key}", f"a field of type {field.type} has none. Leave it out."
    if field.minimum is not None and field.maximum is not None and field.minimum > field.maximum:
        yield (
            f"{where}.constraints.maximum",
            f"{field.maximum} is below the minimum, {field.minimum}.",
        )
    yield from _of_values(where, field)
    for value in field.listed:
        if value in records.missing:
            yield (
                where,
                f"{shown(value)} is a value of the field and in records.missing, too."
                " Keep it in one place.",
            )


def _of_values(where: str, field: RecordField) -> Iterator[Problem]:
    """Values of a field that are given twice or break its other rules."""
    categories = list(numbered(f"{where}.categories", field.categories))
    values = [(f"{place}.value", each.value) for place, each in categories]
    yield from given_twice(values)
    yield from given_twice((f"{place}.label", each.label) for place, each in categories)
    rules = replace(field, enum=(), categories=())
    for place, value in values or numbered(f"{where}.constraints.enum", field.enum):
        if value is not None and not _is_value(rules, value):
            yield (
                place,
                f"{shown(value)} breaks the rules of the field: its type, range or pattern.",
            )
    if values and field.enum and {value for _, value in values} != set(field.enum):
        yield f"{where}.constraints.enum", "it differs from the categories. Leave it out."
    if field.other is not None and not _is_value(field, field.other):
        yield f"{where}.other", f"{shown(field.other)} is not a value of the field."


def _of_areas(spec: Specification, fields: _Fields) -> Iterator[Problem]:
    areas = spec.areas
    if areas.file and not _is_shipped(spec) and not areas.file.lower().endswith(_AREA_ENDINGS):
        yield (
            "areas.file",
            f"{shown(areas.file)} does not end in {' or '.join(_AREA_ENDINGS)}. Write the ending.",
        )
    yield from _of_area_key(areas, fields)
    for where, level in numbered("areas.levels", areas.levels):
        if (level.whole is not None) == bool(level.id):
            yield (
                where,
                "give either `whole`, the id of everything, or `id`, the columns of the table.",
            )
        if level.whole is not None and (
            level.whole != level.whole.strip() or len(level.whole.encode()) > MOST_CODE_BYTES
        ):
            yield (
                f"{where}.whole",
                f"an id has at most {MOST_CODE_BYTES} bytes and no blank around it.",
            )
        for key in ("nowhere", "names"):
            if level.whole is not None and getattr(level, key):
                yield f"{where}.{key}", "the whole has none. Leave it out."
    for (_, earlier), (where, later) in combinations(numbered("areas.passes", areas.passes), 2):
        if _overlap(earlier, later):
            yield f"{where}.where", f"it overlaps with that of {shown(earlier.name or '')}."
    labels = sum(len(each.levels) for each in areas.passes) or len(areas.levels)
    if labels > MOST_LABELS:
        yield (
            "areas.levels",
            f"{labels} levels of areas, those of all passes together; {MOST_LABELS} are the most.",
        )


def _of_area_key(areas: TableOfAreas, fields: _Fields) -> Iterator[Problem]:
    columns = list(numbered("areas.key", areas.key))
    yield from given_twice((where, column.record) for where, column in columns)
    yield from given_twice((where, column.table) for where, column in columns)
    for where, column in columns:
        if not column.table:
            yield where, 'no column after "=". Write "RECORD\'S = TABLE\'S", or one name for both.'
        yield from _of_type(where, fields.get(column.record), ("string",))
        if column.record in fields and fields[column.record].other is not None:
            yield where, f"the field {column.record} has `other`. Say areas.other instead."
    if areas.other is not None and columns and len(areas.other) != len(columns):
        yield "areas.other", f"give one text for each column of areas.key: {len(columns)}."


def _overlap(one: PassOfAreas, other: PassOfAreas) -> bool:
    """Whether passes by the same columns share values of each."""
    if not one.where or set(one.where) != set(other.where):
        return False
    return all(set(values) & set(other.where[column]) for column, values in one.where.items())


def _of_classifications(classifications: Sequence[CodeList], fields: _Fields) -> Iterator[Problem]:
    """Problems of classifications; at most one of them may have several answers."""
    if len(classifications) > MOST_CLASSIFICATIONS:
        yield (
            "classifications",
            f"{len(classifications)} are too many; two are the most: {_TWO_RUNS}.",
        )
    names = {each.name.lower() for each in classifications}
    several = []
    for codes in classifications:
        where = inside("classifications", codes.name)
        if f"{codes.name} only".lower() in names:
            yield (
                where,
                f"{shown(f'{codes.name} only')} is given twice."
                " Names must differ by more than case.",
            )
        yield from _of_columns(where, codes, fields)
        if len(codes.columns) > 1 or separator_of(codes, fields) is not None:
            several.append(codes.name)
    if len(several) > 1:
        problem = (
            f"{' and '.join(several)} both have several answers; one of two has a single column:"
            f" {_TWO_RUNS}."
        )
        yield "classifications", problem


def _of_columns(where: str, codes: CodeList, fields: _Fields) -> Iterator[Problem]:
    if bool(codes.columns) == (codes.column is not None):
        yield where, "give either `columns`, or `column` for several codes in one column."
    if codes.separator is not None and codes.columns:
        yield f"{where}.separator", "it goes with `column`, not with `columns`."
    if len(codes.columns) > MOST_COLUMNS:
        yield (
            f"{where}.columns",
            f"{len(codes.columns)} are too many; eight are the most: {_TWO_RUNS}.",
        )
    types = (
        ("string", "list") if codes.column is not None and codes.separator is None else ("string",)
    )
    for place, column in [
        *numbered(f"{where}.columns", codes.columns),
        (f"{where}.column", codes.column),
    ]:
        yield from _of_type(place, fields.get(column), types)
        if column in fields and fields[column].other is not None:
            yield (
                place,
                f"the field {column} has `other`, which codes can't have."
                " Map them in the file of records.",
            )


def _of_groups(groups: Groups, *, has_words: bool) -> Iterator[Problem]:
    if len(groups.levels) > MOST_GROUP_LEVELS:
        yield (
            "groups.levels",
            f"{len(groups.levels)} levels of groups; {MOST_GROUP_LEVELS} are the most.",
        )
    of_files = groups.file is not None or groups.codes is not None
    for key in ("file", "codes"):
        if of_files and getattr(groups, key) is None:
            yield f"groups.{key}", "missing. Groups from files need both `file` and `codes`."
    if of_files and has_words:
        yield "groups.words", "groups from files have their names there. Leave it out."
    for where, level in numbered("groups.levels", groups.levels):
        for key in ("of", "column", "members", "names", "code_prefix"):
            if of_files and getattr(level, key):
                yield (
                    f"{where}.{key}",
                    "groups come from `groups.file`. Leave it out, or `file` and `codes`.",
                )
            elif not of_files and key in {"of", "column", "members"} and not getattr(level, key):
                yield (
                    f"{where}.{key}",
                    "missing. Without `groups.file` a level has of, column and members.",
                )


def _of_lists(spec: Specification) -> Iterator[Problem]:
    levels = [level.name for level in spec.areas.levels if level.name]
    for each in spec.groups.lists:
        where = f"{inside('groups.lists', each.name)}.areas"
        if each.areas == (EVERYWHERE,) and EVERYWHERE in levels:
            yield (
                where,
                f"{shown(EVERYWHERE)} means every level, and a level has this name."
                " Rename the level.",
            )
        for area in each.areas or () if levels and each.areas != (EVERYWHERE,) else ():
            yield from unknown(where, area, levels, "level of areas")
