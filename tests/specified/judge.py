"""A second opinion on a specification: reads it and its records as texts and counts with sets, compiling nothing.

It follows the rules of the specification language alone. It imports nothing of the package, gives no
number to an area or a code, and is slow on purpose: every question goes through all records again.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import Any

from tests.specified.judged_codes import Classification, Group, spanned, stability, stability_by_brute_force
from tests.specified.judged_files import Row, read_keys, read_records, read_table
from tests.specified.judged_values import INVALID, texts_of, value_of

Cell = tuple[Any, ...]
"""One part of each attribute: the label of a category, or a range (lowest, highest); of lines, the line's label."""
GroupOfArea = tuple[str, str]
"""The id of an area and the code of a group."""

FIELD, AREA, UNIT = "field", "area", "unit"
"""The rules that a record can break, besides those of codes."""


@dataclass(frozen=True, eq=False)
class Label:
    """A level of areas inside a pass; `of_pass` is None if there are no passes."""

    label: str
    level: Mapping[str, Any]
    of_pass: Mapping[str, Any] | None

    @property
    def pass_name(self):
        return "all" if self.of_pass is None else self.of_pass["name"]


@dataclass(frozen=True)
class Triple:
    """What a budget is given for."""

    family: str
    groups: str
    label: str
    budget: Fraction
    thresholds: tuple[int, ...]


@dataclass(frozen=True)
class JudgedRecord:
    """A record that counts: its row of the table of areas, its attributes' values, and its codes."""

    area: Row
    values: Mapping[str, Any]
    codes: Mapping[str, frozenset[str]]


class Judge:
    """What a specification and its records come to."""

    def __init__(self, parameters, data):
        keys, self._folder = read_keys(parameters)
        self.keys, self._data = keys, data
        self.fields = {field["name"]: field for field in keys["records"]["fields"]}
        self.missing = tuple(keys["records"].get("missing", [""]))
        self.levels = {level["name"]: level for level in keys["areas"]["levels"]}
        self.families = {family["name"]: family for family in keys["tables"]}
        areas = keys["areas"]["file"]  # a name without an ending is that of a file beside the records
        self.areas = read_table(self._folder / areas if "." in areas else data / f"{areas}.txt")
        use = keys["privacy"].get("use", {})
        self.classifications = {
            name: Classification(name, each, self._folder, self.fields, use.get(name))
            for name, each in keys["classifications"].items()
        }

    # ---- areas

    @cached_property
    def labels(self):
        """In the order of their noise addresses."""
        levels, passes = self.keys["areas"]["levels"], self.keys["areas"].get("passes")
        if not passes:
            return [Label(level["name"], level, None) for level in levels]
        inside = [(each, level) for each in passes for level in levels if level["name"] in each["levels"]]
        return [Label(each["levels"][level["name"]], level, each) for each, level in inside]

    def label(self, label):
        return next(each for each in self.labels if each.label == label)

    def is_inside(self, area, of_pass):
        """Whether a row of the table of areas lies in a pass."""
        where = {} if of_pass is None else of_pass["where"]
        return all(area[column] in texts_of(values) for column, values in where.items())

    def entity(self, label, area):
        """The id of the area of this level that holds a smallest area, if the pass has it."""
        if not self.is_inside(area, label.of_pass):
            return None
        if "whole" in label.level:
            return label.level["whole"]
        columns = texts_of(label.level["id"])
        if area[columns[-1]] in texts_of(label.level.get("nowhere", [])):
            return None
        return "".join(area[column] for column in columns)

    @cached_property
    def _key(self):
        pairs = [[part.strip() for part in text.split(" = ")] for text in self.keys["areas"]["key"]]
        return [(pair[0], pair[-1]) for pair in pairs]

    @cached_property
    def _area_of(self):
        return {tuple(area[table] for _, table in self._key): area for area in self.areas}

    def _area(self, record):
        found = self._area_of.get(tuple(record[column] for column, _ in self._key))
        other = self.keys["areas"].get("other")
        return self._area_of[tuple(texts_of(other))] if found is None and other is not None else found

    # ---- groups

    @cached_property
    def groups(self):
        keys = self.keys["groups"]
        return list(self._groups_of_files(keys) if "file" in keys else self._groups_of_columns(keys))

    def _groups_of_files(self, keys):
        inside = [(row["group"], row["code"]) for row in read_table(self._folder / keys["codes"])]
        for row in read_table(self._folder / keys["file"]):
            codes = frozenset(code for group, code in inside if group == row["group"])
            listed = row.get("list") or "common"
            yield Group(row["group"], row["name"], row["level"], row["classification"], row["members"], listed, codes)

    def _groups_of_columns(self, keys):
        words = {"any": "{name}", "only": "{name} only"} | keys.get("words", {})
        for level in keys["levels"]:
            rows = self.classifications[level["of"]].rows
            for value in sorted({row[level["column"]] for row in rows} - {""}):
                inside = [row for row in rows if row[level["column"]] == value]
                codes = frozenset(row["code"] for row in inside)
                for members in level["members"]:
                    code = level.get("code_prefix", "") + value + ("-only" if members == "only" else "")
                    name = words[members].replace("{name}", inside[0][level["names"]])
                    yield Group(code, name, level["name"], level["of"], members, "common", codes)

    def groups_at(self, level, label):
        """The groups of a level that are tabulated at a label."""
        lists = self.keys["groups"].get("lists") or {"common": {"areas": "all"}}
        found = []
        for group in self.groups:
            areas = lists[group.listed].get("areas", "all") if group.listed in lists else "all"
            if group.level == level and (areas == "all" or label.level["name"] in texts_of(areas)):
                found.append(group)
        return found

    def universe(self, level, label):
        """The ids of the areas and the codes of the groups, each in the order of its UTF-8 bytes."""
        ids = {self.entity(label, area) for area in self.areas} - {None}
        codes = {group.code for group in self.groups_at(level, label)}
        return sorted(ids, key=str.encode), sorted(codes, key=str.encode)

    # ---- records

    @cached_property
    def rows(self):
        """All records, as the file has them."""
        return read_records(self._data, self.keys["records"])

    @cached_property
    def broken(self):
        """How many rows break which rule in which column."""
        found = Counter()
        for row in self.rows:
            found.update(self.broken_by(row))
        if self._unit:
            unit = self.keys["records"]["unit"]
            rows_of = Counter(row[unit["column"]] for row in self.rows)
            found[unit["column"], UNIT] = sum(1 for rows in rows_of.values() if rows > unit["most_records"])
        return +found

    @property
    def _unit(self):
        return self.keys["records"].get("unit", {}).get("column")

    def broken_by(self, row):
        """The columns, and which of their rules a row breaks; once for each classification that reads a column."""
        return Counter(self._broken(row))

    def _broken(self, row):
        of_codes = {column for each in self.classifications.values() for column in each.columns}
        of_areas = {column for column, _ in self._key}
        for name, field in self.fields.items():
            is_missing = row[name] is None or row[name] in self.missing
            if is_missing and name in of_codes | of_areas:
                continue
            has_rule = field["type"] != "string" or field.keys() & {"constraints", "categories"} or name == self._unit
            if field["type"] != "list" and has_rule and value_of(field, row[name], self.missing) is INVALID:
                yield name, FIELD
        if self._area(row) is None:
            yield spanned([column for column, _ in self._key]), AREA
        for each in self.classifications.values():
            yield from set(each.broken(each.answers(row, self.missing)))

    @cached_property
    def records(self):
        """The records that `where` lets through; all rows must keep to the rules."""
        assert not self.broken, self.broken
        where = self.keys["records"].get("where", {})
        kept = []
        for row in self.rows:
            if not all(self._has(row, column, values) for column, values in where.items()):
                continue
            values = {
                field.get("attribute", name): value_of(field, row[name], self.missing)
                for name, field in self.fields.items()
                if field["type"] != "list"
            }
            codes = {name: each.counted(each.answers(row, self.missing)) for name, each in self.classifications.items()}
            kept.append(JudgedRecord(self._area(row), values, codes))
        return kept

    def _has(self, row, column, values):
        field = self.fields[column]
        wanted = [value_of({"type": field["type"]}, text, ()) for text in texts_of(values)]
        return value_of(field, row[column], self.missing) in wanted

    def records_of_passes(self):
        """How many records each pass counts."""
        passes = self.keys["areas"].get("passes") or [{"name": "all", "where": {}}]
        inside = {each["name"]: [r for r in self.records if self.is_inside(r.area, each)] for each in passes}
        return {name: len(records) for name, records in inside.items()}

    # ---- counts

    @cached_property
    def triples(self):
        """What has a budget, in the order of the file."""
        found = []
        for choice in self.keys["privacy"]["levels"]:
            families = texts_of(choice.get("tables", list(self.families)))
            named = product(families, texts_of(choice["groups"]), texts_of(choice["areas"]))
            thresholds = tuple(choice.get("thresholds", ()))
            found += [Triple(*names, Fraction(choice["budget"]), thresholds) for names in named]
        return found

    @cache  # noqa: B019 - a judge lives as long as its test
    def members(self, level, label):
        """The records of every group that has one, by their places in `records`."""
        groups, found = self.groups_at(level, label), {}
        for place, record in enumerate(self.records):
            area = self.entity(label, record.area)
            for group in groups if area is not None else ():
                if group.holds(record.codes[group.classification]):
                    found.setdefault((area, group.code), []).append(place)
        return found

    def totals(self, level, label):
        """The total of every group that has a record."""
        return {group: len(records) for group, records in self.members(level, label).items()}

    def cells(self, level, label, family, shape):
        """The cells of every group that has a record; every cell is there, in order."""
        cells, cell_of, found = self.cells_of_shape(family, shape), self._cell_of_records(family, shape), {}
        for group, records in self.members(level, label).items():
            counts = Counter(cell_of[place] for place in records)
            found[group] = {cell: counts[cell] for cell in cells}
        return found

    @cache  # noqa: B019 - a judge lives as long as its test
    def _cell_of_records(self, family, shape):
        """The one cell of each record."""
        cells, found = self.cells_of_shape(family, shape), []
        for record in self.records:
            (cell,) = [cell for cell, is_in in cells.items() if is_in(record.values)]
            found.append(cell)
        return found

    def cells_of_shape(self, family, shape_id):
        """Every cell of a shape, in order, with the question whether values are in it."""
        keys = self.families[family]
        shape = next(each for each in keys["shapes"] if each["id"] == shape_id)
        if "lines" in keys:
            return self._cells_of_lines(keys, shape)
        parts = [self._parts(attribute, shape.get("breaks", {})) for attribute in shape.get("by", [])]
        cells = {}
        for chosen in product(*parts):
            tests = [(attribute, test) for attribute, (_, test) in zip(shape.get("by", []), chosen, strict=True)]
            cells[tuple(part for part, _ in chosen)] = lambda values, tests=tests: all(
                test(values[attribute]) for attribute, test in tests
            )
        return cells

    def _field_of(self, attribute):
        return next(each for name, each in self.fields.items() if each.get("attribute", name) == attribute)

    def _parts(self, attribute, breaks):
        field = self._field_of(attribute)
        if attribute in breaks:
            starts = list(breaks[attribute])
            ends = [start - 1 for start in starts[1:]] + [field["constraints"]["maximum"]]
            ranges = list(zip(starts, ends, strict=True))
            return [((low, high), lambda value, low=low, high=high: low <= value <= high) for low, high in ranges]
        plain = {"type": field["type"]}
        values = [(each["label"], value_of(plain, each["value"], ())) for each in field["categories"]]
        return [(label, lambda value, wanted=wanted: value == wanted) for label, wanted in values]

    def _cells_of_lines(self, keys, shape):
        """The lines that no other line of the shape divides."""
        plain = {"type": self._field_of(keys["of"])["type"]}
        named = {line["label"]: {value_of(plain, value, ()) for value in line["values"]} for line in keys["lines"]}
        lines = {label: named[label] for label in shape.get("lines", [keys["lines"][0]["label"]])}
        cells = {}
        for label, values in lines.items():
            if not any(other < values for other in lines.values()):
                cells[label,] = lambda found, values=values: found[keys["of"]] in values
        return cells

    # ---- choices

    def losses_of_passes(self):
        """What each pass spends: the sum of the budgets of its triples."""
        losses = {label.pass_name: Fraction(0) for label in self.labels}
        for triple in self.triples:
            losses[self.label(triple.label).pass_name] += triple.budget
        return losses

    def suppresses(self, level, label):
        """Whether small totals of a level may be left out; lone totals never are."""
        keys = self.keys["privacy"].get("suppress", {"chance": 0, "areas": []})
        lists = self.keys["groups"].get("lists", {})
        has_tables = any(lists.get(group.listed, {}).get("tables") != "total" for group in self.groups_at(level, label))
        return has_tables and keys["chance"] > 0 and label.level["name"] in texts_of(keys["areas"])

    # ---- sensitivity

    def stability(self, level, label):
        """The greatest number of groups of a record, by the formula."""
        groups = self.groups_at(level, label)
        of_classification = {name: [g for g in groups if g.classification == name] for name in self.classifications}
        return sum(stability(self.classifications[name], found) for name, found in of_classification.items())

    def stability_by_brute_force(self, level, label):
        """The same, by trying every set of codes of each classification. Exact if no column is read twice."""
        return self._brute_force(frozenset(self.groups_at(level, label)))

    @cache  # noqa: B019 - a judge lives as long as its test
    def _brute_force(self, groups):
        most = 0
        for name, each in self.classifications.items():
            most += stability_by_brute_force(each, [group for group in groups if group.classification == name])
        return most

    def most_groups_of_a_record(self, level, label):
        """The greatest number of groups that a record of the file is in."""
        groups_of = Counter()
        for records in self.members(level, label).values():
            groups_of.update(records)
        return max(groups_of.values(), default=0)
