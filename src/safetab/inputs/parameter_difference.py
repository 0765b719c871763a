"""The changes from one parameters folder to another.

They are about choices, losses, levels, areas, groups, codes and other keys. Both folders become
facts of the same form, whatever their dialect; what they don't share is the difference. No record
is read. Areas that lie in DATA are compared only if DATA is given.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.guarantees.plan_json import JsonObject, exact, plan_as_json
from safetab.foundation.findings import Checked, Finding, InvalidInput, shortened
from safetab.foundation.result_tables import Result
from safetab.inputs.configuration import parameters_findings, read_config, reader_asked_for
from safetab.inputs.planner import PublicFiles, plan_of
from safetab.inputs.public_files import read_given_geography, read_public_lists
from safetab.inputs.specified_files import compile_folder
from safetab.model.census.area_levels import AreaLevel, Pass
from safetab.model.census.areas import NO_ENTITY, Areas
from safetab.model.census.groups import PublicLists
from safetab.model.config.run_config import RunConfig
from safetab.model.specification.reading import Publication, is_specification, read_publication

_Facts = dict[str, dict[str, str]]
"""Texts by name, of each thing: a level, a group."""
_KINDS = ("choice", "loss", "level", "area", "group", "code", "key")
_NOUNS = {"level": "level", "area": "area level", "group": "group", "code": "code"}
"""The nouns of the things that sentences count, by kind."""
_COLUMNS = ("kind", "where", "what", "before", "after")
_BEFORE, _AFTER = 3, 4
_HIDDEN = frozenset(
    ("pass", "geography_level", "iteration_level", "family", "stages", "if_all_groups_are_empty")
)
"""The keys of a level in a plan that follow from the rest."""
_NAMED = 5  # things are named where more are alike
_SHOWN = 20  # different changes of one kind are shown
_NO_LIST = "no list"
_LONGEST = 100  # letters of a text in a sentence
_MADE_OF = "what lies in which of them, as a digest"
_NO_AREAS = "Areas were not compared: they lie in DATA. Give --data DATA to compare them."


class UnsharedFact(NamedTuple):
    """A fact that the folders don't share; None where a folder does not have it."""

    kind: str
    where: str
    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True, eq=False, repr=False)
class ParameterDifference(Result):
    """All differences from one parameters folder to another, as sentences or as a table.

    `names` has the names of groups and codes. `has_areas` is False if areas lie in DATA, which was
    not given.
    """

    folders: tuple[str, str]
    rows: tuple[UnsharedFact, ...]
    names: Mapping[tuple[str, str], str]
    has_areas: bool

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def _title(self) -> str:
        count = (
            f"{len(self):,} difference{'' if len(self) == 1 else 's'}"
            if self.rows
            else "No difference"
        )
        return f"{count} between {self.folders[0]} and {self.folders[1]}"

    def __repr__(self) -> str:
        return f"<{self._title[:1].lower()}{self._title[1:]}>"

    def __str__(self) -> str:
        lines = [f"{self._title}."]
        for kind, rows in groupby(self.rows, lambda row: row.kind):
            lines += _paragraph(kind, tuple(rows), self.names)
        return "\n".join(lines if self.has_areas else [*lines, _NO_AREAS])

    def as_json(self) -> JsonObject:
        """The folders and every difference; numbers are exact, as texts."""
        before, after = self.folders
        facts: JsonObject = {"before": before, "after": after, "is_equal": not self.rows}
        return facts | {"areas_compared": self.has_areas, "differences": self._dictionaries}

    def to_arrow(self) -> pa.Table:
        """The table for Arrow, with a row for each difference."""
        return pa.Table.from_pylist(
            self._dictionaries, pa.schema([(name, pa.string()) for name in _COLUMNS])
        )

    @property
    def _dictionaries(self) -> list[dict[str, str | None]]:
        return [dict(zip(_COLUMNS, row, strict=True)) for row in self.rows]


def _paragraph(
    kind: str, rows: tuple[UnsharedFact, ...], names: Mapping[tuple[str, str], str]
) -> Iterator[str]:
    """The differences in things of one kind: those that are alike in one sentence."""
    if kind not in _NOUNS:
        places = (
            ", ".join(filter(None, (names.get((kind, row.where), row.where), row.what)))
            for row in rows
        )
        yield from (
            f"  {place}: {_change(row)}" for place, row in zip(places, rows[:_SHOWN], strict=False)
        )
        yield from [f"  and {len(rows) - _SHOWN:,} more: see --json"] if len(rows) > _SHOWN else []
        return
    renamed, alike = list[UnsharedFact](), dict[tuple[str, str, tuple[str, ...]], list[str]]()
    for where, found in groupby(rows, lambda row: row.where):
        of_thing = tuple(found)
        if [row.what for row in of_thing] == ["name"]:
            renamed.append(of_thing[0])
            continue
        listed = "".join(f" in {row.after or row.before}" for row in of_thing if row.what == "list")
        changes = tuple(
            f"    {names.get((kind, row.what), row.what)}: {_change(row)}" for row in of_thing
        )
        key = ("", "move" if {row.what for row in of_thing} == {"groups"} else "change", changes)
        if any(all(row[side] is None for row in of_thing) for side in (_BEFORE, _AFTER)):
            key = (listed, "appear" if of_thing[0].before is None else "vanish", ())
        alike.setdefault(key, []).append(names.get((kind, where), where))
    for (listed, verb, changes), things in list(alike.items())[:_SHOWN]:
        ending = "" if len(things) > 1 else "es" if verb == "vanish" else "s"
        noun, between = (
            f"{_NOUNS[kind]}{'s' if len(things) > 1 else ''}",
            "; " if kind == "level" else ", ",
        )
        yield (
            f"  {len(things):,} {noun}{listed} {verb}{ending}: {shortened(things, _NAMED, between)}"
        )
        yield from changes
    if len(alike) > _SHOWN:
        yield f"  and {len(alike) - _SHOWN:,} more changes of {_NOUNS[kind]}s"
    yield from _renamed(_NOUNS[kind], renamed)


def _renamed(noun: str, rows: Sequence[UnsharedFact]) -> Iterator[str]:
    if rows:
        yield (
            f"  {len(rows):,} {noun}{' changes its' if len(rows) == 1 else 's change their'} name:"
        )
    yield from (f"    {row.where}: {_change(row)}" for row in rows[:_SHOWN])
    yield from [f"    and {len(rows) - _SHOWN:,} more: see --json"] if len(rows) > _SHOWN else []


def _change(row: UnsharedFact) -> str:
    """The change of a text, or of the items of a list."""
    before, after = (
        None if text is None else textwrap.shorten(text, _LONGEST) for text in row[_BEFORE:]
    )
    if before is None or after is None:
        return f"{after} is new" if before is None else f"{before} is gone"
    mine, others = (text.split(", ") if text else [] for text in row[_BEFORE:])
    lost, gained = (
        [one for one in mine if one not in others],
        [one for one in others if one not in mine],
    )
    is_list = row.what in {"ids", "groups", "passes"} or (
        row.kind == "choice" and " of " in row.what
    )
    if is_list and (len(mine), len(others)) != (1, 1) and lost + gained:
        items = {"loses": lost, "gains": gained}
        return " and ".join(
            f"{verb} {len(each):,}: {shortened(each)}" for verb, each in items.items() if each
        )
    return " becomes ".join("none" if text in {"", _NO_LIST} else text for text in (before, after))


class _Parameters(NamedTuple):
    """The content of a folder. If the areas are unknown, they are None and the plan has none."""

    config: RunConfig
    lists: PublicLists
    publication: Publication | None  # by about.toml
    areas: Mapping[Pass, Areas] | None
    plan: RunPlan


def difference(before: Path, after: Path, data: Path | None = None) -> ParameterDifference:
    """The changes from one folder to the other.

    Raises InvalidInput with every error of both folders.
    """
    read = [_parameters(folder, data) for folder in (before, after)]
    errors = dict.fromkeys(error for one in read for error in one.errors)
    one, other = (each.value for each in read)
    if errors or one is None or other is None:
        raise InvalidInput(errors)
    has_areas = one.areas is not None and other.areas is not None
    common = {group.code for group in one.lists.iterations} & {
        group.code for group in other.lists.iterations
    }
    mine, others = (_facts(each, common, has_areas=has_areas) for each in (one, other))
    if (one.config.specification is None) != (other.config.specification is None):
        mine["key"] = others["key"] = {}
    rows = tuple(row for kind in _KINDS for row in _differences(kind, mine[kind], others[kind]))
    named = (
        (kind, code, texts["name"])
        for kind in ("group", "code")
        for code, texts in (others[kind] | mine[kind]).items()
    )
    names = {(kind, code): f"{code} ({name})" for kind, code, name in named} | dict(
        _words_of_plans(one, other)
    )
    return ParameterDifference((str(before), str(after)), rows, names, has_areas)


def _words_of_plans(*read: _Parameters) -> Iterator[tuple[tuple[str, str], str]]:
    """The words of a printed plan for whose loss it is, and for margins of error."""
    protected = dict.fromkeys(of.config.product.record.protected for of in read)
    yield ("loss", "whole_run"), f"any {' or '.join(protected)} in this run"
    yield ("level", "margins of error, total only"), "+/- total-only group"
    yield ("level", "margins of error, stage 1 total"), "+/- total of stage 1"
    yield from ((("loss", each.name), each.title) for of in read for each in of.config.passes)
    for design in (level.design for of in read for level in of.plan.levels):
        for shape, line in ((each, line) for each in design.shapes for line in each.kinds):
            words = "lone total" if shape is design.family.total else f"{shape.title}, {line.short}"
            yield (
                ("level", f"margins of error, {shape.label}, {line.name}".replace("_", " ")),
                f"+/- {words}",
            )


def _differences(kind: str, mine: _Facts, others: _Facts) -> Iterator[UnsharedFact]:
    for where in dict.fromkeys((*mine, *others)):
        one, other = mine.get(where, {}), others.get(where, {})
        for what in dict.fromkeys((*one, *other)):
            if one.get(what) != other.get(what):
                yield UnsharedFact(kind, where, what, one.get(what), other.get(what))


def _parameters(folder: Path, data: Path | None) -> Checked[_Parameters]:
    """The content of a folder, or every finding, which names the folder."""
    refused = parameters_findings(folder)
    if refused:
        return Checked(None, refused)
    areas: Mapping[Pass, Areas] | None = None
    publication: Publication | None = None
    if is_specification(folder):
        compiled = compile_folder(folder)
        given, findings = compiled.value, compiled.findings
        config, lists = (None, None) if given is None else (given.config, given.lists)
        areas = None if given is None or given.areas is None else given.areas_of_pass
    else:
        of_config, of_lists, about = (
            read_config(folder),
            read_public_lists(folder),
            read_publication(folder),
        )
        config, lists, publication = of_config.value, of_lists.value, about.value
        findings = of_config.findings + of_lists.findings + about.findings
    findings = _named(findings, folder)
    if config is not None and areas is None and data is not None:
        geography = read_given_geography(data, reader_asked_for(folder, data), config)
        findings += _named(geography.findings, data)
        if geography.value is not None:
            whole, number = geography.value.geography, config.census.part.ids.number
            areas = {
                which: whole.of_parts(map(number, config.parts_of(which)))
                for which in config.passes
            }
    if config is None or lists is None or any(finding.is_error for finding in findings):
        return Checked(None, findings)
    nowhere = dict.fromkeys(config.passes, Areas.none(config.census))
    plan = plan_of(PublicFiles(config, lists, nowhere if areas is None else areas))
    made = (
        None if plan.value is None else _Parameters(config, lists, publication, areas, plan.value)
    )
    return Checked(made, findings + _named(plan.findings, folder))


def _named(findings: Iterable[Finding], folder: Path) -> tuple[Finding, ...]:
    """The findings with the folder before the name of the file."""
    return tuple(replace(finding, file=str(folder / finding.file)) for finding in findings)


def _facts(of: _Parameters, common: set[str], *, has_areas: bool) -> dict[str, _Facts]:
    """The facts of each kind. Codes move between groups that both folders have."""
    names = of.lists.code_names
    groups, groups_of = dict[str, dict[str, str]](), {code: list[str]() for code in sorted(names)}
    for one in of.lists.iterations:
        listed = _NO_LIST if one.listed is None else one.listed.name
        groups[one.code] = {
            "name": one.name,
            "list": listed,
            "level": one.level.name,
            "kind": one.kind.name,
        }
        for code in of.lists.codes_of_iteration[one.code] if one.code in common else ():
            if one.kind.classification.may_hold(code):
                groups_of[code].append(one.code)
    plan: Any = plan_as_json(of.plan)
    hidden = _HIDDEN if has_areas else _HIDDEN | {"entities", "groups"}
    levels = [
        {key: text for key, text in level.items() if key not in hidden} for level in plan["levels"]
    ]
    said = of.config.specification or {"about": of.publication, "reader": of.config.reader.value}
    keys = {key: text for key, text in _leaves("", said) if not key.startswith("privacy.")}
    return {
        "choice": {"": dict(_choices(of.config))},
        "loss": {which: _words(loss) for which, loss in plan["loss"].items()},
        "level": {
            str(each): _words(level) for each, level in zip(of.plan.levels, levels, strict=True)
        },
        "area": {
            each.label: _of_areas(each, of.areas)
            for each in of.config.census.area_levels
            if has_areas
        },
        "group": groups,
        "code": {
            code: {"name": names[code], "groups": ", ".join(found)}
            for code, found in groups_of.items()
        },
        "key": {key: {"": text} for key, text in keys.items()},
    }


def _words(facts: JsonObject) -> dict[str, str]:
    """The texts of a part of a plan, by names in words; epsilons at other deltas are left out."""
    texts = _leaves("", facts)
    return {
        key.replace("_", " ").replace(".", ", "): text for key, text in texts if "delta" not in key
    }


def _of_areas(level: AreaLevel, areas: Mapping[Pass, Areas] | None) -> dict[str, str]:
    """The ids of a level's areas, and a digest of which smallest areas lie in which of them."""
    of_pass = (areas or {}).get(level.tabulation_pass)
    if of_pass is None:
        return {"ids": ""}
    entities, numbers = of_pass.entities(level.kind), of_pass.number_of_area(level.kind)
    ranks = np.where(numbers == NO_ENTITY, NO_ENTITY, np.searchsorted(entities, numbers))
    digest = hashlib.sha256(ranks.astype("<i8").tobytes()).hexdigest()[:12]
    return {"ids": ", ".join(map(level.kind.ids.text, entities.tolist())), _MADE_OF: digest}


def _choices(config: RunConfig) -> Iterator[tuple[str, str]]:
    """The choices that are not for one level."""
    yield "product", config.product.name
    yield "privacy definition", config.privacy_definition.full_name
    yield "answers that count", str(config.most_answers)
    yield "part of a budget for stage 1", exact(config.stage_1_fraction)
    yield "chance that an empty group is suppressed", exact(config.zero_suppression_chance)
    yield "negative numbers", "allowed" if config.allow_negative_counts else "not allowed"
    yield "passes", ", ".join(each.name for each in config.passes)
    for which in config.passes:
        yield (
            f"{config.census.part.nouns} of {which.name}",
            ", ".join(sorted(config.parts_of(which))),
        )


def _leaves(path: str, value: object) -> Iterator[tuple[str, str]]:
    """The texts of a value and of all inside it, by their keys."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, tuple) and any(map(is_dataclass, value)):
        value = dict(enumerate(value))
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(f"{path}.{key}" if path else str(key), each)
    elif value is not None:
        yield path, ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
