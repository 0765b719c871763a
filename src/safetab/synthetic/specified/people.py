"""Made-up people for any specification, block by block: the same request gives the same bytes."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from safetab.dialects.specified_files import Compiled, compile_folder
from safetab.foundation.findings import Checked, FindingsOf
from safetab.foundation.progress import Progress
from safetab.products.record import ListedAreas, RecordLayout
from safetab.products.record_field import RuledColumn
from safetab.specification.values import SPECIFICATION_FILE, Unit
from safetab.synthetic.files.census_files import TEXTS, mark_as_made_up, table_file, used_text_column
from safetab.synthetic.seeded_bits import Integers, RandomBits, apportioned
from safetab.synthetic.specified.questions import Question, QuestionMaker, values_of

PEOPLE_OF = {"nz": 200_000, "ons": 300_000}
"""How many people the shipped censuses have, which nobody took: their areas are made up, too."""
BLOCK = 1 << 18
"""How many records are made at a time."""
MOST_PEOPLE = 1_000_000_000
_SAME_UNIT_PER_MILLE = 250
_PLAN, _BLOCKS = 0, 1  # addresses of random bits


@dataclass(frozen=True, slots=True)
class PeopleRequest:
    """What `safetab synthesize FOLDER` was asked for; `weights` says how common codes are, if it is known."""

    parameters: Path
    people: int
    seed: int = 2020
    is_text: bool = False
    weights: Mapping[str, int] = field(default_factory=dict)

    def checked(self) -> Checked[PeoplePlan]:
        """The plan of the people, and every finding about the request and the specification."""
        findings = FindingsOf("the command")
        if not 1 <= self.people <= MOST_PEOPLE:
            findings.error("--people", f"must be from 1 to {MOST_PEOPLE:,}.")
        if self.seed < 0:
            findings.error("--seed", "must be 0 or above.")
        compiled = compile_folder(self.parameters)
        if compiled.value is None or findings.has_errors:
            return Checked(None, findings.findings + compiled.findings)
        of_plan = FindingsOf(SPECIFICATION_FILE)
        plan = _plan(self, compiled.value, of_plan)
        return Checked(None if of_plan.has_errors else plan, compiled.findings + of_plan.findings)


@dataclass(frozen=True, slots=True, eq=False)
class PeoplePlan:
    """People to be made up: how many live in each area, and what they are asked."""

    request: PeopleRequest
    layout: RecordLayout
    file: str
    missing: str  # what a text file says where there is no answer
    ids: Mapping[str, pa.Array]  # by column, the id of each area
    last: Integers  # by area, how many people live there and in the areas before it
    place: Integers  # by area, the place whose groups are common there
    questions: Sequence[Question]
    units: pa.Array | None  # their ids, if the column limits them

    def blocks(self) -> Iterator[pa.Table]:
        """The records, in the order of their areas, at most BLOCK at a time."""
        for block, first in enumerate(range(0, self.request.people, BLOCK)):
            bits = RandomBits(self.request.seed, _BLOCKS, block)
            number = np.arange(first, min(first + BLOCK, self.request.people))
            area = np.searchsorted(self.last, number, side="right")
            columns = {name: used_text_column(area, ids) for name, ids in self.ids.items()}
            for question in self.questions:
                columns |= question.answered(self.place[area], bits)
            if self.layout.unit is not None:
                columns[self.layout.unit.column] = self._units(self.layout.unit, number, bits)
            yield pa.table({name: columns[name] for name in self.layout.columns})

    def _units(self, unit: Unit, number: Integers, bits: RandomBits) -> pa.Array:
        """The id of each record's unit: neighbouring records, never more than a unit may have."""
        if self.units is not None:
            return used_text_column(number // unit.most_records, self.units)
        is_same = bits.chances(_SAME_UNIT_PER_MILLE, len(number))
        column = self.layout.fields[unit.column]
        units = np.where(is_same, number - number % unit.most_records, number) + (column.field.minimum or 0)
        texts = pc.cast(pa.array(units), pa.string())
        padded = texts if column.field.type == "integer" else pc.utf8_lpad(texts, len(str(MOST_PEOPLE)), "0")
        return padded.dictionary_encode()


def write_people(folder: Path, plan: PeoplePlan, progress: Progress) -> None:
    """Write the records into an empty folder, and the marker that says that people are made up."""
    mark_as_made_up(folder)
    progress.step(f"Making up {plan.layout.nouns}", -(-plan.request.people // BLOCK))
    schema = pa.schema([(name, TEXTS) for name in plan.layout.columns])
    with table_file(folder / plan.file, schema, plan.layout.separator_in(plan.file), plan.missing) as write:
        for block in plan.blocks():
            write(block)
            progress.advance()


def _plan(request: PeopleRequest, compiled: Compiled, findings: FindingsOf) -> PeoplePlan | None:
    """The plan, or None and findings if no record can satisfy the specification."""
    layout, spec = compiled.config.product.record, compiled.config.specification
    assert spec is not None  # the folder has one
    bits, keys = RandomBits(request.seed, _PLAN), _keys(layout)
    if compiled.areas is None or not keys:
        findings.error("areas", f"no area of {spec.areas.file} has an id that the records' fields accept.")
        return None
    levels = [compiled.areas.number_of_area(kind)[list(keys)] for kind in compiled.config.census.kinds]
    place, sizes = _places(levels, bits)
    columns = map(pa.array, zip(*keys.values(), strict=True))
    ids = dict(zip(layout.area.columns, columns, strict=True))
    is_filled = request.is_text and not spec.records.missing
    maker = QuestionMaker(layout, request.weights, is_filled, int(place.max()) + 1, bits, findings)
    questions, units = maker.questions(), _unit_ids(layout, request.people, bits, findings)
    texts = [*ids.values(), *(question.texts for question in questions), units or ()]
    file = _text_file(layout, texts, findings) if request.is_text else f"{layout.table}.parquet"
    missing, last = next(iter(spec.records.missing), ""), np.cumsum(apportioned(request.people, sizes))
    return PeoplePlan(request, layout, file, missing, ids, last, place, questions, units)


def _keys(layout: RecordLayout) -> dict[int, tuple[str, ...]]:
    """The ids of the smallest areas that records may hold, by the area's number."""
    columns = [layout.fields[name] for name in layout.area.columns]
    keys = layout.area.keys if isinstance(layout.area, ListedAreas) else ()
    return {number: key for number, key in enumerate(keys) if None not in map(RuledColumn.value_of, columns, key)}


def _places(levels: Sequence[Integers], bits: RandomBits) -> tuple[Integers, Integers]:
    """The place that each area lies in, from 0, and about how many people live in the area.

    Places are the level with nearest to as many places as a place has areas. Few areas are very large.
    """
    numbered = [np.unique(level, return_inverse=True)[1] for level in levels]
    place = min(numbered, key=lambda level: abs((int(level.max()) + 1) ** 2 - len(level)))
    sizes = bits.lognormal(0.9, len(place)) * bits.lognormal(0.7, int(place.max()) + 1)[place] // 1_000
    return place, np.maximum(sizes, 1)


def _unit_ids(layout: RecordLayout, people: int, bits: RandomBits, findings: FindingsOf) -> pa.Array | None:
    """The ids of units, if the rules of their column limit them; otherwise None: any number is an id."""
    if layout.unit is None:
        return None
    column, needed = layout.fields[layout.unit.column], -(-people // layout.unit.most_records)
    highest = str(people + (column.field.minimum or 0))
    if column.is_free or (column.field.type == "integer" and column.value_of(highest) is not None):
        return None
    ids = values_of(column, bits, needed)
    if len(ids) < needed:
        problem = f"only {len(ids):,} different ids can be made up, and {people:,} records need {needed:,}."
        findings.error(f"records.fields {column.column}", f"{problem} Ask for fewer people.")
    return pa.array(ids)


def _text_file(layout: RecordLayout, texts: Iterable[Iterable[object]], findings: FindingsOf) -> str:
    """The name of a text file, with the ending whose separator no text holds."""
    used = set("".join([layout.several.separator or "", *layout.columns]))
    for of_column in texts:
        used.update(*map(str, of_column))
    for file in (f"{layout.table}.csv", f"{layout.table}.txt"):
        if used.isdisjoint({layout.separator_in(file), *'"\r\n'}):
            return file
    problem = "values hold the separator, a quotation mark or a line break, which a text file can't."
    findings.error("records.separator", f"{problem} Use --format parquet.")
    return ""


def write_example(name: str, people: int, folder: Path, progress: Progress) -> None:
    """Make `folder/parameters`, the shipped specification with its lists, and `folder/data`, people for it.

    A mix says about how many of 10,000 people give each code first. It is no part of a specification.
    """
    shipped, parameters, data = files(__package__), folder / "parameters", folder / "data"
    parameters.mkdir()
    data.mkdir()
    for file in (shipped / name).iterdir():
        (parameters / file.name).write_bytes(file.read_bytes())
    mix = (shipped / "mixes" / f"{name}.csv").read_text(encoding="utf-8")
    weights = {row["code"]: int(row["people"]) for row in csv.DictReader(mix.splitlines())}
    write_people(data, PeopleRequest(parameters, people, weights=weights).checked().require(), progress)
