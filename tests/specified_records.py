"""Small specifications with random records, and a judge in plain Python: sets of texts, no numbers."""

from __future__ import annotations

import gzip
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.inside import (
    AreaKind,
    AreaLevel,
    Areas,
    Category,
    Census,
    CharacteristicIteration,
    CodeList,
    EngineSettings,
    GroupKind,
    GroupLevel,
    GroupList,
    GroupUniverse,
    KeyColumn,
    LocalEngine,
    Members,
    Pass,
    PublicLists,
    RecordField,
    RecordLayout,
    Specification,
    TableShape,
    TextIds,
    classification_of,
    find_record_files,
    ordered_lists,
    record_layout_of,
    values_module,
)

ABOUT = values_module.About("X", "Title", "agency", "person", "people", "group", "groups")
NOWHERE = ""
MAIN, ISLANDS = Pass("main", "Main"), Pass("islands", "Islands")
BROAD, FINE = GroupLevel(0, "broad"), GroupLevel(1, "fine")
TRUE = ("true", "True", "TRUE", "1")
FALSE = ("false", "False", "FALSE", "0")

Row = dict[str, str]


@dataclass(frozen=True)
class SpecifiedWorld:
    """A specification, its lists, and what its engine is made of."""

    spec: Specification
    codes: Mapping[str, frozenset[str]]
    keys: tuple[tuple[str, ...], ...]  # sorted
    place: Mapping[tuple[str, ...], tuple[str | None, str, str]]  # pass, region, town of each key
    groups: tuple[tuple[CharacteristicIteration, frozenset[str]], ...]
    census: Census
    record: RecordLayout = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "record", record_layout_of(self.spec, self.codes, self.keys))

    @property
    def files(self) -> Any:
        of_kind = {kind: [] for kind in self.census.kinds}
        for key in self.keys:
            _, region, town = self.place[key]
            for kind, text in zip(self.census.kinds, ("all", region, town), strict=True):
                of_kind[kind].append(-1 if text == NOWHERE else kind.ids.number(text))
        whole = Areas.of_numbers(
            np.arange(len(self.keys)), {kind: np.array(ids) for kind, ids in of_kind.items()}, self.census.part
        )
        passes = np.array([self.place[key][0] or "" for key in self.keys])
        geography = {which: whole.chosen(passes == which.name) for which in self.census.passes}
        several = self.record.several
        config = SimpleNamespace(
            census=self.census,
            product=SimpleNamespace(record=self.record),
            most_answers=several.most_used if several.columns else 1,
            passes=self.census.passes,
        )
        iterations = tuple(group for group, _ in self.groups)
        lists = PublicLists({}, iterations, {group.code: codes for group, codes in self.groups})
        return SimpleNamespace(config=config, lists=lists, geography_of_pass=geography)

    def engine(self, data: Path, folder: Path, threads: int = 2) -> LocalEngine:
        found = find_record_files(data, self.record)
        return LocalEngine(found.require(), self.files, EngineSettings(folder, threads=threads), lambda _: None)

    def counts(self, engine: LocalEngine) -> Mapping[tuple[str, str, str], Counter[int]]:
        """The values of the attribute of the records of each group that has one, by label, entity and code."""
        engine.prepare()
        shape: Any = _Shape(self.record.attribute_values)
        found = {}
        for level in self.census.levels:
            geography = self.files.geography_of_pass[level.geography.tabulation_pass]
            iterations = self.files.lists.tabulated_iterations(level.iterations, level.geography.kind)
            universe = GroupUniverse(level, geography.entities(level.geography.kind), iterations)
            plan: Any = SimpleNamespace(universe=universe, level=level)
            totals = dict(zip(*map(np.ndarray.tolist, _columns(engine.totals(plan))), strict=True))
            cells = (
                engine.cells(plan, {shape: np.arange(universe.size)})[shape].confidential_counts
                if universe.size
                else []
            )
            for index, row in enumerate(np.asarray(cells).tolist()):
                assert sum(row) == totals.get(index, 0)
                if sum(row):
                    group = universe.group_at(index)
                    of_group = Counter({value: count for value, count in enumerate(row) if count})
                    found[level.geography.label, group.region_id, group.iteration.code] = of_group
        return found


def _columns(counts: Any) -> tuple[Any, Any]:
    return counts.indices, counts.confidential_counts[:, 0]


class _Shape:
    def __init__(self, values: int) -> None:
        self.cell_of_value, self.cells = tuple(range(values)), values


class Judge:
    """Says which rules a row breaks, and which groups it is in, from the specification alone."""

    def __init__(self, world: SpecifiedWorld) -> None:
        self._world, self._spec = world, world.spec
        self._fields = {one.name: one for one in world.spec.records.fields}

    def value(self, name: str, row: Row) -> str:
        """The text after `other`."""
        one, text = self._fields[name], row[name]
        return one.other if one.other is not None and not self._is_value(one, text) else text

    def _is_value(self, one: RecordField, text: str) -> bool:
        if text in self._spec.records.missing:
            return False
        if one.pattern is not None and re.fullmatch(one.pattern, text) is None:
            return False
        if one.type == "integer":
            if re.fullmatch("[+-]?[0-9]+", text) is None:
                return False
            number = int(text)
            texts = [int(each) for each in (*one.enum, *(category.value for category in one.categories))]
            low, high = (number if bound is None else bound for bound in (one.minimum, one.maximum))
            return low <= number <= high and (not texts or number in texts)
        if one.type == "boolean":
            return text in (*TRUE, *FALSE)
        texts = [*one.enum, *(category.value for category in one.categories)]
        return not texts or text in texts

    def broken(self, row: Row) -> set[tuple[str, str]]:
        """The columns and the kind of rule that a row breaks."""
        found = set()
        for one in self._spec.records.fields:
            has_rule = one.type not in {"string", "list"} or one.pattern or one.enum or one.categories
            if has_rule and not self._is_value(one, self.value(one.name, row)):
                found.add((one.name, "rule"))
        if self.key(row) not in self._world.place:
            found.add(("..".join(dict.fromkeys((self._key_columns[0], self._key_columns[-1]))), "listed"))
        for codes in self._spec.classifications:
            found |= self._broken_codes(codes, row)
        return found

    @property
    def _key_columns(self) -> list[str]:
        return [column.record for column in self._spec.areas.key]

    def key(self, row: Row) -> tuple[str, ...]:
        texts = tuple(self.value(name, row) for name in self._key_columns)
        other = self._spec.areas.other
        return other if other is not None and texts not in self._world.place else texts

    def answers(self, codes: CodeList, row: Row) -> list[tuple[str, str]]:
        """Each answer with what it is: a code, residual, missing or wrong."""
        missing, found = self._spec.records.missing, []
        texts = [self.value(name, row) for name in codes.columns]
        if codes.separator is not None:
            texts = [] if texts[0] in missing else texts[0].split(codes.separator)
            while texts and texts[-1] in missing:
                texts.pop()
            if codes.gaps == "skipped":
                texts = [text for text in texts if text not in missing]
        for text in texts:
            cut = text if codes.first is None else text[: codes.first]
            if text in missing:
                found.append((cut, "missing"))
            elif cut in codes.residual:
                found.append((cut, "residual"))
            else:
                found.append((cut, "code" if cut in self._world.codes[codes.name] else "wrong"))
        return found

    def _broken_codes(self, codes: CodeList, row: Row) -> set[tuple[str, str]]:
        kinds = [kind for _, kind in self.answers(codes, row)]
        names = list(codes.columns) if codes.separator is None else list(codes.columns) * len(kinds)
        found = {(name, f"code of {codes.file}") for name, kind in zip(names, kinds, strict=True) if kind == "wrong"}
        if codes.required and (not kinds or kinds[0] == "missing") and not (codes.separator and kinds):
            found.add((codes.columns[0], f"code of {codes.file}"))
            first_is_wrong = True
        else:
            first_is_wrong = False
        if codes.separator is not None and len(kinds) > 8 and codes.name not in self._spec.privacy.use:
            found.add((codes.columns[0], "most"))
        seen = kinds[1:] if first_is_wrong else kinds
        gap = "missing" in seen and any(kind in {"code", "residual"} for kind in seen[seen.index("missing") :])
        if codes.gaps == "error" and gap:
            found.add(("..".join(dict.fromkeys((codes.columns[0], codes.columns[-1]))), "gap"))
        return found

    def is_counted(self, row: Row) -> bool:
        for name, wanted in self._spec.records.where.items():
            one, text = self._fields[name], self.value(name, row)
            if one.type == "integer":
                if int(text) not in map(int, wanted):
                    return False
            elif text not in wanted:
                return False
        return True

    def attribute(self, row: Row) -> int:
        """The number of the row's values of sex and age."""
        sex = ["F", "M", "U"].index(self.value("SEX", row))
        return sex * 100 + int(self.value("AGE", row))

    def groups(self, row: Row) -> set[tuple[str, str, str]]:
        which, region, town = self._world.place[self.key(row)]
        if which is None or not self.is_counted(row):
            return set()
        found = set()
        for level in self._world.census.area_levels:
            entity = {"nation": "all", "region": region, "town": town}[level.kind.name]
            if level.tabulation_pass.name != which or entity == NOWHERE:
                continue
            for group, inside in self._world.groups:
                if group.is_tabulated(level.kind) and self._is_in(group, inside, row):
                    found.add((level.label, entity, group.code))
        return found

    def _is_in(self, group: CharacteristicIteration, inside: frozenset[str], row: Row) -> bool:
        codes = self._spec.classification(group.kind.classification.name)
        answers = self.answers(codes, row)[: self._spec.privacy.use.get(codes.name)]
        mine = {text for text, kind in answers if kind == "code"}
        return bool(mine & inside) if group.kind.members is Members.ANY else bool(mine) and mine <= inside

    def counts(self, rows: Sequence[Row]) -> Mapping[tuple[str, str, str], Counter[int]]:
        found: defaultdict[tuple[str, str, str], Counter[int]] = defaultdict(Counter)
        for row in rows:
            for group in self.groups(row):
                found[group][self.attribute(row)] += 1
        return dict(found)


def fields_of(*names: str, **changed: RecordField) -> tuple[RecordField, ...]:
    plain = tuple(RecordField(name, "string") for name in names)
    sexes = tuple(Category(value, value) for value in "FMU")
    usual = {
        "AGE": RecordField("AGE", "integer", attribute="age", minimum=0, maximum=99),
        "SEX": RecordField("SEX", "string", attribute="sex", categories=sexes),
    }
    return (*plain, *(usual | changed).values())


def specification(
    fields: Sequence[RecordField], key: Sequence[str], lists: Sequence[CodeList], **changed: Any
) -> Specification:
    """The specification with these fields; `changed` are fields of records, areas and privacy."""
    records = values_module.ConfidentialRecords("people", tuple(fields))
    for name in ("separator", "missing", "where", "unit"):
        if name in changed:
            records = replace(records, **{name: changed.pop(name)})
    levels = tuple(values_module.LevelOfAreas(name, name, name + "s") for name in ("nation", "region", "town"))
    keys = tuple(KeyColumn(name, name) for name in key)
    areas = values_module.TableOfAreas("areas.csv", keys, levels, other=changed.pop("other", None))
    shapes = (TableShape("1", "total", "Total"), TableShape("2", "by", "By", by=("sex", "age")))
    family = values_module.Family("persons", "sex by age", shapes)
    privacy = values_module.Privacy("zcdp", "stage 1", (), Fraction(1, 10), use=changed.pop("use", {}))
    assert not changed
    return Specification(ABOUT, records, areas, tuple(lists), values_module.Groups(()), (family,), privacy)


def world_of(spec: Specification, dice: random.Random, towns: int = 12) -> SpecifiedWorld:
    """A world with random areas, codes and groups for a specification."""
    of_key = [[f"{letter}{number}" for number in range(4)] for letter in "KLM"[: len(spec.areas.key)]]
    keys = {tuple(dice.choice(texts) for texts in of_key) for _ in range(3 * towns)}
    if len(spec.areas.key) == 1:
        keys = {(f"A{number:0{dice.choice([2, 9])}d}",) for number in range(towns)}
    if spec.areas.other is not None:
        keys.add(spec.areas.other)
    ordered = tuple(sorted(keys, key=lambda key: [text.encode() for text in key]))
    regions = ["north", "south", "west", "isle"]
    place = {}
    for number, key in enumerate(ordered):
        region = regions[number % 4] if number < 4 else dice.choice(regions)
        which = "islands" if region == "isle" else None if region == "west" else "main"
        place[key] = (which, region, dice.choice([NOWHERE, f"t{number // 2}", f"t{number}"]))
    census = _census(spec, regions, sorted({town for *_, town in place.values()} - {NOWHERE}))
    codes, groups = dict[str, frozenset[str]](), list[tuple[CharacteristicIteration, frozenset[str]]]()
    for given in spec.classifications:
        texts = {f"{number:0{given.first or 3}d}" for number in range(30)}
        codes[given.name] = frozenset(texts - {*given.residual})
    for kind, level in product(census.group_kinds, (BROAD, FINE)):
        shuffled = dice.sample(sorted(codes[kind.classification.name]), 20)  # a code is in one group of a kind
        for number, listed in enumerate([*census.lists, *census.lists, census.lists[0]]):
            code = f"{kind.name}-{level.name}-{listed.name}-{number}"
            inside = frozenset(shuffled[4 * number : 4 * number + 4])
            groups.append((CharacteristicIteration(code, code, level, kind, listed), inside))
    groups.sort(key=lambda group: group[0].code)
    return SpecifiedWorld(spec, codes, ordered, place, tuple(groups), census)


def _census(spec: Specification, regions: Sequence[str], towns: Sequence[str]) -> Census:
    nation = AreaKind("nation", "nation", "nations", "Nation", TextIds(("all",)), None, suppresses=False, is_whole=True)
    region = AreaKind("region", "region", "regions", "Region", TextIds(tuple(sorted(regions))), None, suppresses=False)
    town = AreaKind("town", "town", "towns", "Town", TextIds(tuple(sorted(towns))), None, suppresses=True)
    kinds = (nation, region, town)
    levels = tuple(
        AreaLevel(f"{which.name}-{kind.name}", number, which, kind, kind.title)
        for number, (which, kind) in enumerate((which, kind) for which in (MAIN, ISLANDS) for kind in kinds)
    )
    classifications = tuple(classification_of(spec, each) for each in ordered_lists(spec))
    group_kinds = tuple(
        GroupKind(f"{each.name} {members.value}", each.name, each, members)
        for each in classifications
        for members in Members
    )
    words: Any = None
    return Census(
        name="X", kinds=kinds, passes=(MAIN, ISLANDS), area_levels=levels, classifications=classifications,
        group_levels=(BROAD, FINE), group_kinds=group_kinds,
        lists=(GroupList("common", kinds), GroupList("regional", (region,))),
        part=region, donor_order=(region, town), words=words, pass_of_part={},
    )  # fmt: skip


def write_rows(data: Path, world: SpecifiedWorld, rows: Sequence[Row], ending: str) -> None:
    """Write the records in one of the forms."""
    data.mkdir(parents=True, exist_ok=True)
    names = list(world.record.columns)
    if ending == ".parquet":
        # a missing text may also be null
        missing = world.spec.records.missing
        columns = {
            name: [None if row[name] in missing and number % 2 else row[name] for number, row in enumerate(rows)]
            for name in names
        }
        schema = pa.schema([(name, pa.string()) for name in names])
        pq.write_table(pa.table(columns, schema), data / "people.parquet", row_group_size=200)
        return
    separator = world.spec.records.separator or ("," if ".csv" in ending else "|")
    names = names[::-1]
    lines = [separator.join(names), *(separator.join(row[name] for name in names) for row in rows)]
    text = "\ufeff" + "\r\n".join(lines) + "\r\n\r\n"
    content = text.encode()
    (data / f"people{ending}").write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
