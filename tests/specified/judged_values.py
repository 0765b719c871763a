"""What the text of a record means, by the field that holds it."""

import re

INVALID = object()
"""Stands for what is no value of a field."""

_TRUE = {"true", "True", "TRUE", "1"}
_FALSE = {"false", "False", "FALSE", "0"}


def value_of(field, said, missing):
    """The value of a field, `other` if it takes what is no value, or INVALID."""
    found = INVALID if said is None or said in missing else _checked(field, spelled(said))
    if found is INVALID and "other" in field:
        return _typed(field["type"], spelled(field["other"]))
    return found


def _checked(field, text):
    value = _typed(field["type"], text)
    constraints = field.get("constraints", {})
    if value is INVALID:
        return INVALID
    allowed = constraints.get("enum", []) + [each["value"] for each in field.get("categories", [])]
    is_allowed = not allowed or value in [_typed(field["type"], spelled(each)) for each in allowed]
    is_matched = "pattern" not in constraints or is_match(constraints["pattern"], text)
    is_low = "minimum" in constraints and value < constraints["minimum"]
    is_high = "maximum" in constraints and value > constraints["maximum"]
    return value if is_allowed and is_matched and not is_low and not is_high else INVALID


def _typed(kind, text):
    if kind == "integer":
        return int(text) if re.fullmatch("[+-]?[0-9]+", text) else INVALID
    if kind == "boolean":
        return True if text in _TRUE else False if text in _FALSE else INVALID
    return text


def spelled(value):
    """A value of the specification, or of a Parquet file, as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def texts_of(value):
    """One value or a list of them, as texts."""
    return [spelled(each) for each in value] if isinstance(value, list | tuple) else [spelled(value)]


def is_match(pattern, text):
    """Whether the whole text matches."""
    return re.fullmatch(pattern, text) is not None
