"""A second reader of the audit's specification.

It looks at texts, row by row, and compiles nothing.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product as crossed
from typing import Any

from safetab.apps.audit.audited_product import AuditWorld
from safetab.apps.audit.audited_runs import AuditedRun, Question
from safetab.apps.audit.verdicts import Verdict, verdict
from safetab.apps.audit.worlds.configuration import listed, specified_keys
from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.calibration import Stage

COUNTED = "counted as the specification says"
_Row = Mapping[str, str]
_Key = tuple[str, str, int]
"""Entity, group and cell."""
_Cells = Counter[_Key]
_Record = tuple[_Row, Mapping[str, Any], Mapping[str, frozenset[str]]]
"""The row of a record's area, its values by attribute and its codes by classification."""


@dataclass(frozen=True, slots=True)
class _Group:
    classification: str
    is_only: bool
    codes: frozenset[str]
    on_list: str = ""  # if groups are on lists

    def holds(self, codes: frozenset[str]) -> bool:
        return bool(codes) and codes <= self.codes if self.is_only else bool(codes & self.codes)


class PlainCensus:
    """The entities, the groups and the exact counts of a world, as its texts say them."""

    def __init__(self, world: AuditWorld) -> None:
        self._parameters = world.parameters
        self._keys = specified_keys(world.parameters)
        records = self._keys["records"]
        self._fields = {field.get("attribute", field["name"]): field for field in records["fields"]}
        header, *lines = (world.data / f"{records['file']}.txt").read_text().splitlines()
        columns = header.split(records["separator"])
        rows = (dict(zip(columns, line.split(records["separator"]), strict=True)) for line in lines)
        self.measures_every_group = self._keys["privacy"]["selector"] == "none"
        where = records["where"]
        self._rows = [
            row for row in rows if all(row[column] in listed(where[column]) for column in where)
        ]

    def _table(self, name: str) -> list[_Row]:
        with (self._parameters / name).open(newline="") as file:
            return list(csv.DictReader(file))

    @cached_property
    def _areas(self) -> dict[str, _Row]:
        """The rows of the table of areas, by their only key column."""
        (key,) = self._keys["areas"]["key"]
        return {row[key]: row for row in self._table(self._keys["areas"]["file"])}

    def entity(self, label: str, area: _Row) -> str | None:
        """The id of the entity that holds a smallest area; None if no entity of the label does."""
        level, where = next(
            (level, each["where"])
            for each in self._keys["areas"]["passes"]
            for level in self._keys["areas"]["levels"]
            if each["levels"].get(level["name"]) == label
        )
        if any(area[column] not in listed(values) for column, values in where.items()):
            return None
        if "whole" in level:
            return str(level["whole"])
        is_nowhere = area[level["id"][-1]] in listed(level.get("nowhere", []))
        return None if is_nowhere else "".join(area[column] for column in level["id"])

    def groups_at(self, label: str, name: str) -> dict[str, _Group]:
        """The groups of a level that are tabulated for the areas of a label."""
        kinds = {
            kind
            for each in self._keys["areas"]["passes"]
            for kind, its in each["levels"].items()
            if its == label
        }
        found = self.groups(name)
        areas = {
            which: set(listed(its["areas"]))
            for which, its in self._keys["groups"].get("lists", {}).items()
        }
        return {
            code: group
            for code, group in found.items()
            if not group.on_list or areas[group.on_list] & {"all", *kinds}
        }

    def lone_groups(self, name: str) -> set[str]:
        """The groups of a level that get a total with all of its budget."""
        lists = self._keys["groups"].get("lists", {})
        groups = {} if self.measures_every_group else self.groups(name)
        return {code for code, group in groups.items() if "tables" in lists.get(group.on_list, {})}

    def _groups_of_files(self, name: str) -> dict[str, _Group]:
        codes = self._table(self._keys["groups"]["codes"])
        return {
            row["group"]: _Group(
                row["classification"],
                row["members"] == "only",
                frozenset(each["code"] for each in codes if each["group"] == row["group"]),
                row["list"],
            )
            for row in self._table(self._keys["groups"]["file"])
            if row["level"] == name
        }

    def groups(self, name: str) -> dict[str, _Group]:
        """The groups of a level, by their codes."""
        if "file" in self._keys["groups"]:
            return self._groups_of_files(name)
        level = next(each for each in self._keys["groups"]["levels"] if each["name"] == name)
        found: dict[str, _Group] = {}
        for row in self._listed_codes(level["of"]):
            value = row[level["column"]]
            for members in level["members"] if value else ():
                code = level.get("code_prefix", "") + value + ("-only" if members == "only" else "")
                before = found[code].codes if code in found else frozenset()
                found[code] = _Group(level["of"], members == "only", before | {row["code"]})
        return found

    def _listed_codes(self, classification: str) -> list[_Row]:
        keys = self._keys["classifications"][classification]
        is_code = re.compile(keys.get("pattern", ".*")).fullmatch
        rows = self._table(keys["file"])
        return [
            row
            for row in rows
            if is_code(row["code"]) and row["code"] not in keys.get("residual", [])
        ]

    def universe(self, level: LevelPlan) -> set[tuple[str, str]]:
        """Every entity with every group of a level."""
        label, name = level.level.geography.label, level.level.iterations.name
        ids = {self.entity(label, area) for area in self._areas.values()}
        return {
            (text, code) for text in ids if text is not None for code in self.groups_at(label, name)
        }

    @cached_property
    def _records(self) -> list[_Record]:
        (key,), other = self._keys["areas"]["key"], self._keys["areas"]["other"][0]
        return [
            (
                self._areas.get(row[key]) or self._areas[other],
                {
                    name: self._value(field, row[field["name"]])
                    for name, field in self._fields.items()
                },
                {name: self._codes(name, row) for name in self._keys["classifications"]},
            )
            for row in self._rows
        ]

    def _value(self, field: Mapping[str, Any], text: str) -> Any:
        """The value of a field; what is no value is the field's other value."""
        if field["type"] == "integer":
            limits = field["constraints"]
            is_number = (
                re.fullmatch("[+-]?[0-9]+", text)
                and limits["minimum"] <= int(text) <= limits["maximum"]
            )
            return int(text) if is_number else field["other"]
        values = [category["value"] for category in field.get("categories", [])]
        return field["other"] if values and text not in values else text

    def _codes(self, classification: str, row: _Row) -> frozenset[str]:
        """The codes that count: in the first columns that are used, and cut.

        Missing and residual codes don't count.
        """
        keys = self._keys["classifications"][classification]
        used = self._keys["privacy"]["use"].get(classification)
        texts = [row[column] for column in keys["columns"][:used]]
        answers = {
            text[: keys.get("first")]
            for text in texts
            if text not in self._keys["records"]["missing"]
        }
        return frozenset(answers - set(keys.get("residual", [])))

    def counts(self, level: LevelPlan, shape_label: str) -> _Cells:
        """The counts of every group of a level that has a record, by cell of a shape."""
        family = next(each for each in self._keys["tables"] if each["name"] == level.family.name)
        shape = next(each for each in family["shapes"] if each["label"] == shape_label)
        cell_of = self._cell_of(shape)
        label = level.level.geography.label
        groups = self.groups_at(label, level.level.iterations.name)
        found = _Cells()
        for area, values, codes in self._records:
            entity = self.entity(label, area)
            for code, group in groups.items() if entity is not None else ():
                if group.holds(codes[group.classification]):
                    found[entity or "", code, cell_of(values)] += 1
        return found

    def _cell_of(self, shape: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], int]:
        """The number of a record's cell.

        Attributes are crossed in their order, the last one fastest.
        """
        parts: list[Sequence[Any]] = []
        for name in shape.get("by", []):
            starts = shape.get("breaks", {}).get(name)
            parts.append(
                starts or [category["value"] for category in self._fields[name]["categories"]]
            )
        cells = list(crossed(*parts))

        def cell_of(values: Mapping[str, Any]) -> int:
            inside = []
            for name, part in zip(shape.get("by", []), parts, strict=True):
                is_range = isinstance(part[0], int)
                inside.append(
                    max(start for start in part if start <= values[name])
                    if is_range
                    else values[name]
                )
            return cells.index(tuple(inside))

        return cell_of


def counted_check(run: AuditedRun) -> Verdict:
    """Compare every exact count that a run asked for with a plain reading.

    Every group that the run has is compared too.
    """
    plain = PlainCensus(run.world)
    compared = 0
    faults: list[str] = []
    for level in run.plan.levels:
        groups = [level.universe.group_at(index) for index in range(level.universe.size)]
        names = [(group.region_id, group.iteration.code) for group in groups]
        if len(names) != len(set(names)) or set(names) != plain.universe(level):
            faults.append(f"{level.level}: other entities or groups than are listed")
            continue
        for (event, shape), found in run.record.counts.items():
            if event.measured != (level.family, level.level):
                continue
            asked = {
                (*names[index], cell): int(count)
                for index, cells in found.items()
                for cell, count in enumerate(cells)
            }
            compared += len(asked)
            wrong = _wrong_counts(plain, level, (event, shape), asked)
            if wrong:
                faults.append(f"{level.level}, {shape.words}: {wrong} counts are wrong")
    return verdict(
        COUNTED, faults, f"{compared:,} counts, read from the texts again", could_find=compared > 0
    )


def _wrong_counts(
    plain: PlainCensus, level: LevelPlan, question: Question, asked: Mapping[_Key, int]
) -> int:
    """The number of counts of a question that are wrong, or missing.

    Counts of groups that this stage does not measure are wrong.
    """
    event, shape = question
    lone = plain.lone_groups(level.level.iterations.name)
    is_lone = event.stage is Stage.TOTAL_ONLY
    counts = plain.counts(level, shape.label)
    expected = _Cells({key: count for key, count in counts.items() if (key[1] in lone) == is_lone})
    wrong = [key for key in asked if asked[key] != expected[key] or (key[1] in lone) != is_lone]
    is_whole = (
        shape is level.family.finest
        if plain.measures_every_group
        else event.stage is not Stage.STAGE_2
    )
    missed = [key for key in expected if key not in asked] if is_whole else []
    return len(wrong) + len(missed)
