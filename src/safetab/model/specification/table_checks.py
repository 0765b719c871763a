"""Rules of the keys of tables and of privacy together with the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import prod

from safetab.model.specification.kinds import Problem, given_twice, inside, numbered, shown, unknown
from safetab.model.specification.values import (
    Choice,
    Family,
    Privacy,
    RecordField,
    Specification,
    TableShape,
)

MOST_FAMILIES = 16
MOST_SHAPES = 16
MOST_CELLS = 127
MOST_VALUES = 65_536
_TOTAL, _OTHERS = "stage 1", "published totals"

_Attributes = Mapping[str, RecordField]
"""The fields by what tables call them."""


def _values_of(field: RecordField) -> Sequence[str] | range:
    """The values of a field in the order of tables, a range as such.

    Empty if they are not known.
    """
    if field.type == "integer" and not field.listed and None not in {field.minimum, field.maximum}:
        return range(field.minimum or 0, (field.maximum or 0) + 1)
    return [value for value in field.listed if value is not None]


def problems_of_tables(
    families: Sequence[Family], attributes: _Attributes, tables: Collection[str]
) -> Iterator[Problem]:
    """Problems of families of tables; `tables` are the paths of the tables in the file."""
    if len(families) > MOST_FAMILIES:
        yield "tables", f"{len(families)} families; {MOST_FAMILIES} are the most."
    used: set[str] = set()
    for where, family in numbered("tables", families):
        if len(family.shapes) > MOST_SHAPES:
            yield f"{where}.shapes", f"{len(family.shapes)} shapes; {MOST_SHAPES} are the most."
        has_lines = bool(family.of or family.lines)
        if not has_lines and (
            (family.shapes[:1] and family.shapes[0].by) or f"{where}.shapes[1].breaks" in tables
        ):
            yield (
                f"{where}.shapes[1]",
                "the first shape is the lone total. Leave out `by` and `breaks`.",
            )
        yield from (_of_lines if has_lines else _of_crossings)(where, family, attributes)
        used |= (
            {family.of or ""}
            if has_lines
            else {name for shape in family.shapes for name in shape.by}
        )
    sizes = [len(_values_of(attributes[name])) for name in used & attributes.keys()]
    values = prod(size for size in sizes if 0 < size <= MOST_VALUES)
    if values > MOST_VALUES:
        problem = (
            f"the attributes of all tables together have {values:,} values;"
            f" {MOST_VALUES:,} are the most."
        )
        yield "tables", f"{problem} Lower a maximum, or join categories before."


def _without_values(where: str, name: str, attributes: _Attributes) -> Iterator[Problem]:
    """Whether an attribute is unknown, or has no list of values, or too long a list."""
    yield from unknown(where, name, attributes or [name], "attribute")
    if name in attributes and not _values_of(attributes[name]):
        advice = "Give the field categories, an enum, or a minimum and a maximum."
        yield where, f"the values of {shown(name)} are not known. {advice}"
    elif name in attributes and len(_values_of(attributes[name])) > MOST_VALUES:
        yield where, f"{shown(name)} has more than {MOST_VALUES:,} values. Lower its maximum."


def _of_crossings(where: str, family: Family, attributes: _Attributes) -> Iterator[Problem]:
    """Problems of a family that crosses attributes."""
    for number, (place, shape) in enumerate(numbered(f"{where}.shapes", family.shapes)):
        if shape.lines:
            yield f"{place}.lines", "the family has no lines: it needs `of` and `lines` for them."
        elif number > 0 and not shape.by:
            yield (
                f"{place}.by",
                'missing. Only the first shape is the total; write, say, by = ["age"].',
            )
        for name in shape.breaks if {*shape.by} <= attributes.keys() else ():
            yield from unknown(inside(f"{place}.breaks", name), name, shape.by, "attribute of `by`")
        cells = 1
        for each, name in numbered(f"{place}.by", shape.by):
            problems = list(_without_values(each, name, attributes))
            if name in attributes and not problems:
                problems = list(
                    _of_breaks(
                        inside(f"{place}.breaks", name), attributes[name], shape.breaks.get(name)
                    )
                )
                values = _values_of(attributes[name])
                cells *= (
                    len(shape.breaks.get(name, [0])) if isinstance(values, range) else len(values)
                )
            yield from problems
        if cells > MOST_CELLS:
            yield place, f"{cells} cells; {MOST_CELLS} are the most. Use fewer or wider parts."
    used = sorted({name for shape in family.shapes for name in shape.by} & attributes.keys())
    for name in family.stubs:
        yield from unknown(inside(f"{where}.stubs", name), name, used, "attribute of this family")


def _of_breaks(where: str, field: RecordField, breaks: Sequence[int] | None) -> Iterator[Problem]:
    """Problems of the ranges that a shape divides an attribute into."""
    values = _values_of(field)
    if not isinstance(values, range):
        if breaks is not None:
            yield where, "only a range of integers has breaks; categories stay whole. Leave it out."
        return
    if breaks is None:
        yield where, "missing. Give the first value of each range."
        return
    if any(second <= first for first, second in pairwise(breaks)):
        yield where, "the breaks do not rise. Give the first value of each range in rising order."
    if breaks[0] != values[0]:
        yield where, f"the first break is {breaks[0]}, and the minimum of the field is {values[0]}."
    if breaks[-1] > values[-1]:
        yield where, f"{breaks[-1]} is above the maximum of the field, {values[-1]}."


def _of_lines(where: str, family: Family, attributes: _Attributes) -> Iterator[Problem]:
    """Problems of a family whose lines are sets of values."""
    problems = [
        (f"{where}.{key}", "missing. A family of lines has both `of` and `lines`.")
        for key in ("of", "lines")
        if not getattr(family, key)
    ] or list(_without_values(f"{where}.of", family.of or "", attributes))
    yield from problems
    if problems or not attributes:
        return
    values = [str(value) for value in _values_of(attributes[family.of or ""])]
    listed = list(numbered(f"{where}.lines", family.lines))
    yield from given_twice((f"{place}.label", line.label) for place, line in listed)
    for place, line in listed:
        for each, value in numbered(f"{place}.values", line.values):
            yield from unknown(each, value, values, f"value of {family.of}")
    if set(family.lines[0].values or values) != set(values):
        yield (
            f"{where}.lines[1].values",
            "the first line must be the set of all values of the attribute.",
        )
    sets = {line.label: set(line.values) for line in family.lines if line.label and line.values}
    for number, (place, shape) in enumerate(numbered(f"{where}.shapes", family.shapes)):
        yield from _of_shape(place, shape, list(sets), is_first=number == 0)
        if set(shape.lines) <= sets.keys():
            yield from _of_runs(
                f"{place}.lines", {label: sets[label] for label in shape.lines}, values
            )


def _of_shape(
    where: str, shape: TableShape, lines: Sequence[str], *, is_first: bool
) -> Iterator[Problem]:
    """Problems of the labels of a shape of lines."""
    if shape.by or shape.breaks:
        yield where, "a family of lines has shapes of lines. Leave out `by` and `breaks`."
    for place, label in numbered(f"{where}.lines", shape.lines):
        yield from unknown(place, label, lines, "line")
    if is_first and shape.lines != tuple(lines[:1]):
        yield (
            f"{where}.lines",
            "the first shape is the lone total: it has the first line and no other.",
        )
    elif shape.lines[:1] != tuple(lines[:1]):
        yield f"{where}.lines", "the first line of a shape must be the first line of the family."


def _of_runs(where: str, lines: Mapping[str, set[str]], values: Sequence[str]) -> Iterator[Problem]:
    """Lines that are not runs of neighbouring cells.

    The cells are the lines that no other divides.
    """
    cells = [each for each in lines.values() if not any(other < each for other in lines.values())]
    if len(cells) > MOST_CELLS:
        yield where, f"{len(cells)} cells; {MOST_CELLS} are the most."
    times = Counter(value for cell in cells for value in cell)
    for value in values:
        if times[value] != 1:
            count = "no cell" if not times[value] else f"{times[value]} cells"
            yield where, f"the value {shown(value)} is in {count}. Every value is in exactly one."
            return
    for label, line in lines.items():
        run = [number for number, cell in enumerate(cells) if cell & line]
        if set().union(*(cells[number] for number in run)) != line or run[-1] - run[0] + 1 != len(
            run
        ):
            problem = f"{shown(label)} is not a run of neighbouring cells."
            yield where, f"{problem} Change the order of the lines, or leave the line out."


def problems_of_privacy(spec: Specification) -> Iterator[Problem]:
    """Problems of the choices of a committee."""
    privacy = spec.privacy
    if privacy.selector == _TOTAL and privacy.stage_1 is None:
        yield "privacy.stage_1", 'missing. Selector "stage 1" needs it, for example stage_1 = 0.1.'
    goes_with = {"stage_1": _TOTAL, "suppress": _TOTAL, "totals": _OTHERS}
    given = {
        "stage_1": privacy.stage_1,
        "suppress": privacy.suppress_areas,
        "totals": privacy.totals,
    }
    for key, selector in goes_with.items():
        if given[key] and privacy.selector not in {selector, None}:
            yield f"privacy.{key}", f"only for selector {shown(selector)}. Delete it."
    for codes in spec.classifications:
        most = privacy.use.get(codes.name, 0)
        if codes.columns and most > len(codes.columns):
            yield (
                inside("privacy.use", codes.name),
                f"{most} is more than its {len(codes.columns)} columns.",
            )
    yield from _of_choices(privacy, {each.name: each for each in spec.tables if each.name})
    tabulated = {area for choice in privacy.levels if choice.groups for area in choice.areas}
    for where, one in numbered("areas.passes", spec.areas.passes):
        if tabulated and one.levels and not tabulated & set(one.levels.values()):
            yield "privacy.levels", f"nothing is tabulated in the pass {shown(one.name or where)}."


def _of_choices(privacy: Privacy, families: Mapping[str, Family]) -> Iterator[Problem]:
    """Problems of `privacy.levels`."""
    triples: set[tuple[str, ...]] = set()
    for where, choice in numbered("privacy.levels", privacy.levels):
        if not choice.tables and len(families) > 1:
            yield f"{where}.tables", f"missing. Name the families: {', '.join(families)}."
        yield from _of_thresholds(where, choice, families, privacy.selector)
        for triple in product(choice.tables or families, choice.groups, choice.areas):
            if triple in triples:
                yield where, f"{', '.join(triple)} is given twice. A triple has one budget."
            triples.add(triple)


def _of_thresholds(
    where: str, choice: Choice, families: Mapping[str, Family], selector: str | None
) -> Iterator[Problem]:
    """Thresholds of the wrong number or order."""
    where, given = f"{where}.thresholds", len(choice.thresholds)
    for name in choice.tables or families:
        finer = len(families[name].shapes) - 1 if name in families else -1
        if finer >= 0 and given != finer and not (selector == "none" and not given):
            problem = (
                f"{given} {'threshold' if given == 1 else 'thresholds'} given, {finer} needed:"
            )
            yield where, f"{problem} one for each table of {name} after the total, in rising order."
    if any(second < first for first, second in pairwise(choice.thresholds)):
        yield where, f"{', '.join(map(str, choice.thresholds))} are not in rising order."
