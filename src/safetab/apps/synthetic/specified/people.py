"""Made-up people for any specification, block by block.

The same request gives the same bytes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from safetab.apps.synthetic.files.census_files import (
    TEXTS,
    mark_as_made_up,
    table_file,
    text_column,
    used_text_column,
)
from safetab.apps.synthetic.seeded_bits import Flags, Integers, RandomBits, apportioned, from_age_on
from safetab.apps.synthetic.specified.patterns import matching
from safetab.foundation.findings import Checked, FindingsOf
from safetab.foundation.progress import Progress
from safetab.inputs.specified_files import Compiled, compile_folder
from safetab.model.products.record import CodeColumns, ListedAreas, RecordLayout
from safetab.model.products.record_field import RuledColumn
from safetab.model.specification.values import SPECIFICATION_FILE, Unit

STEPS = 1 << 16
"""Shares are whole numbers that add up to this."""
_MOST_VALUES = 4_096
_SOME_VALUES = 12
_COUNTED_TIMES = 19
_YEARS_OF_LIFE = range(60, 131)
"""A range of this length is taken for ages."""
_PEOPLE_OF_AGE = (
    (0, 1_200),
    (20, 1_300),
    (50, 1_250),
    (65, 1_000),
    (75, 600),
    (85, 200),
    (95, 25),
    (105, 1),
)
"""About how many people have an age, from each of these ages on."""
_SEX, _SEXES = "sex|gender", 2
"""The pattern of such a field's name, and how many of its values are common.

The others share a hundredth of the people.
"""
_ANSWERS_OF_A_LIST = 4
_LOCAL_RANKS = np.repeat(np.arange(6), [6, 3, 2, 2, 1, 1])
"""Six codes are common in a place, the first one most."""
_LOCAL_PER_MILLE = 600
"""The number of first answers, of 1,000, that are codes common in the place."""
_MORE_PER_MILLE = 140
"""The number of people, of 1,000 who gave an answer, who give one more."""
_NONE_PER_MILLE = 10
_NO_ANSWER = -1
_RARE = 25
"""The size of a residual code, where others have about 1,000."""
_LONGER = ".9"
"""The ending of a code if only the beginning of what a record says counts."""


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """The columns that hold one answer each, or the one column that holds a list of them."""

    columns: tuple[str, ...]
    texts: Sequence[str]
    tables: Sequence[Integers]  # by answer, a text for each of STEPS
    least: int  # how many answers everybody gives
    local: Integers | None = None  # by place, the texts that are common there
    separator: str | None = None
    has_gaps: bool = False

    def answered(self, place: Integers, bits: RandomBits) -> dict[str, pa.Array]:
        """The columns of records; `place` is where each one lives."""
        texts, answers = pa.array(self.texts, pa.string()), self._answers(place, bits)
        made = [text_column(np.maximum(each, 0), texts, each == _NO_ANSWER) for each in answers]
        if self.separator is None:
            return dict(zip(self.columns, made, strict=True))
        plain = [
            pa.repeat("", len(place)),
            *(each.cast(pa.string()) for each in made),
        ]  # no row of nulls
        joined = pc.binary_join_element_wise(*plain, self.separator, null_handling="skip")
        joined = pc.utf8_slice_codeunits(joined, len(self.separator))
        return {self.columns[0]: pc.if_else(pc.equal(joined, ""), None, joined).dictionary_encode()}

    def _answers(self, place: Integers, bits: RandomBits) -> list[Integers]:
        """The text of each answer of each record, or _NO_ANSWER.

        Nobody adds an answer already given.
        """
        people, answers = len(place), list[Integers]()
        given = np.full(people, max(self.least, 1))
        if not self.least:
            given[bits.chances(_NONE_PER_MILLE, people)] = 0
        for slot, table in enumerate(self.tables):
            answer = table[bits.below(STEPS, people)] if len(table) else np.full(people, _NO_ANSWER)
            if slot == 0 and self.local is not None:
                rank = _LOCAL_RANKS[bits.below(len(_LOCAL_RANKS), people)]
                answer = np.where(
                    bits.chances(_LOCAL_PER_MILLE, people), self.local[place, rank], answer
                )
            is_given = (given > slot) & (answer != _NO_ANSWER)
            if slot >= self.least:
                for earlier in answers:
                    is_given &= earlier != answer
                if self.has_gaps:
                    is_given &= ~bits.chances(_NONE_PER_MILLE, people)
                else:
                    given = np.where(is_given, given, np.minimum(given, slot))
            answers.append(np.where(is_given, answer, _NO_ANSWER))
            if len(answers) < len(self.tables):
                given += (given == slot + 1) & bits.chances(_MORE_PER_MILLE, people)
        return answers


@dataclass(frozen=True, slots=True, eq=False)
class _QuestionMaker:
    """Makes the questions of a layout, for people who live in a number of places."""

    layout: RecordLayout
    weights: Mapping[str, int]  # how common codes are, if that is known
    is_filled: bool  # whether no column may be empty
    places: int
    bits: RandomBits
    findings: FindingsOf

    def questions(self) -> list[_Question]:
        """A question for each classification.

        Each column without a code, an area or a unit has one too.
        """
        asked = list[_Question]()
        taken = {
            *self.layout.area.columns,
            *((self.layout.unit.column,) if self.layout.unit else ()),
        }
        for codes in (self.layout.several, self.layout.single):
            if not taken.issuperset(codes.columns):
                asked += self._of_codes(codes)
                taken.update(codes.columns)
        for name, column in self.layout.fields.items():
            asked += [] if name in taken else self._of_column(column)
        return asked

    def _of_column(self, column: RuledColumn) -> list[_Question]:
        counted = self.layout.where.get(column.column, frozenset())
        texts = values_of(column, self.bits, also=sorted(map(str, counted)))
        if not texts:
            problem = "can't make up a value: none satisfies its constraints."
            self.findings.error(f"records.fields {column.column}", problem)
            return []
        table = np.repeat(np.arange(len(texts)), shares_of(column, texts, counted, self.bits))
        return [
            _Question(
                (column.column,),
                texts,
                [table],
                least=int(self.is_filled or column.field.other is None),
            )
        ]

    def _of_codes(self, codes: CodeColumns) -> list[_Question]:
        """The question of a classification; empty, with a finding, if no code fits its columns."""
        texts = sorted((codes.listed or frozenset()) | codes.residual)
        texts += [text + _LONGER for text in texts if len(text) == codes.first]
        usual = self.bits.lognormal(1.7, len(texts)).tolist()
        sizes = np.array(
            [self.weights.get(text, size) for text, size in zip(texts, usual, strict=True)]
        )
        sizes[np.isin(texts, list(codes.residual))] = _RARE
        tables, least = list[Integers](), 0
        for slot, column in enumerate(codes.columns, start=1):
            right = np.flatnonzero(self._are_right(column, texts))
            tables.append(
                np.repeat(right, apportioned(STEPS, sizes[right])) if len(right) else right
            )
            readers = [each for name, each in self.layout.code_columns if name == column]
            if self.is_filled or any(column not in reader.optional for reader in readers):
                least = slot
        if not all(map(len, tables[: max(least, 1)])):
            problem = (
                "no code fits its columns: their fields, patterns and lists exclude each other."
            )
            self.findings.error(f"classifications.{codes.classification.name}", problem)
            return []
        local = self._common_in_places(tables[0])
        tables *= 1 if codes.separator is None else _ANSWERS_OF_A_LIST
        return [
            _Question(codes.columns, texts, tables, least, local, codes.separator, codes.skips_gaps)
        ]

    def _are_right(self, column: str, texts: Sequence[str]) -> Flags:
        """Whether each text fits the column and its classifications.

        It must be one answer for every classification that reads it.
        """
        are_right = np.array(
            [self.layout.fields[column].value_of(text) is not None for text in texts]
        )
        for codes in (reader for name, reader in self.layout.code_columns if name == column):
            listed = codes.residual.union(codes.listed or ())
            are_right &= [text[: codes.first] in listed for text in texts]
            if codes.separator is not None:
                are_right &= [codes.separator not in text for text in texts]
        return are_right

    def _common_in_places(self, table: Integers) -> Integers:
        """The texts that are common in each place. Even a rare one is common somewhere."""
        sizes = np.bincount(table)
        flatter = apportioned(STEPS, np.sqrt(100 * sizes).astype(np.int64))
        local, ranks = np.repeat(np.arange(len(sizes)), flatter), int(_LOCAL_RANKS.max()) + 1
        return local[self.bits.below(STEPS, self.places * ranks)].reshape(self.places, ranks)


def values_of(
    column: RuledColumn, bits: RandomBits, count: int = _SOME_VALUES, also: Sequence[str] = ()
) -> list[str]:
    """Values that the column accepts: all that are listed, or about `count`.

    Those of `also` come first.
    """
    values: Iterable[object] = column.field.listed
    if not values and column.field.type == "boolean":
        values = ("true", "false")
    elif not values and column.field.type == "integer":
        least = (
            min(0, column.field.maximum or 0)
            if column.field.minimum is None
            else column.field.minimum
        )
        end = least + _SOME_VALUES if column.field.maximum is None else column.field.maximum + 1
        values = range(least, end, max(1, (end - least) // max(count, _MOST_VALUES)))
    elif not values and column.field.pattern is not None:
        values = matching(column.field.pattern, bits, count)
    elif not values:
        values = (f"v{number}" for number in range(1, count + 1))
    return [
        text
        for text in dict.fromkeys((*also, *map(str, values)))
        if column.value_of(text) is not None
    ]


def shares_of(
    column: RuledColumn, values: Sequence[str], counted: Collection[object], bits: RandomBits
) -> Integers:
    """The share of each value, in STEPS.

    Ages and sexes are as people have them, and values that are counted are more frequent.
    """
    weights = bits.lognormal(0.1, len(values))
    if re.search(_SEX, column.field.called, re.IGNORECASE):
        weights[_SEXES:] = weights[:_SEXES].sum() // (99 * max(1, len(values) - _SEXES))
    if column.field.type == "integer" and not column.field.listed and len(values) in _YEARS_OF_LIFE:
        weights = weights * from_age_on(
            _PEOPLE_OF_AGE, np.array(values, dtype=np.int64) - int(values[0])
        )
    is_counted = [column.value_of(text) in counted for text in values]
    return apportioned(STEPS, np.where(is_counted, _COUNTED_TIMES * weights, weights))


PEOPLE_OF = {"nz": 200_000, "ons": 300_000}
"""The numbers of people of the shipped censuses.

Nobody took these censuses: their areas are made up, too.
"""
_BLOCK = 1 << 18
"""The number of records made at a time."""
_MOST_PEOPLE = 1_000_000_000
_SAME_UNIT_PER_MILLE = 250
_PLAN, _BLOCKS = 0, 1  # addresses of random bits


@dataclass(frozen=True, slots=True)
class PeopleRequest:
    """A request of `safetab synthesize FOLDER`.

    `weights` says how common codes are, if it is known.
    """

    parameters: Path
    people: int
    seed: int = 2020
    is_text: bool = False
    weights: Mapping[str, int] = field(default_factory=dict)

    def checked(self) -> Checked[_PeoplePlan]:
        """The plan of the people, and every finding about the request and the specification."""
        findings = FindingsOf("the command")
        if not 1 <= self.people <= _MOST_PEOPLE:
            findings.error("--people", f"must be from 1 to {_MOST_PEOPLE:,}.")
        if self.seed < 0:
            findings.error("--seed", "must be 0 or above.")
        compiled = compile_folder(self.parameters)
        if compiled.value is None or findings.has_errors:
            return Checked(None, findings.findings + compiled.findings)
        of_plan = FindingsOf(SPECIFICATION_FILE)
        plan = _plan(self, compiled.value, of_plan)
        return Checked(None if of_plan.has_errors else plan, compiled.findings + of_plan.findings)


@dataclass(frozen=True, slots=True, eq=False)
class _PeoplePlan:
    """People to be made up: how many live in each area, and what they are asked."""

    request: PeopleRequest
    layout: RecordLayout
    file: str
    missing: str  # what a text file says where there is no answer
    ids: Mapping[str, pa.Array]  # by column, the id of each area
    last: Integers  # by area, how many people live there and in the areas before it
    place: Integers  # by area, the place whose groups are common there
    questions: Sequence[_Question]
    units: pa.Array | None  # their ids, if the column limits them

    def blocks(self) -> Iterator[pa.Table]:
        """The records, in the order of their areas, at most BLOCK at a time."""
        for block, first in enumerate(range(0, self.request.people, _BLOCK)):
            bits = RandomBits(self.request.seed, _BLOCKS, block)
            number = np.arange(first, min(first + _BLOCK, self.request.people))
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
        units = np.where(is_same, number - number % unit.most_records, number) + (
            column.field.minimum or 0
        )
        texts = pc.cast(pa.array(units), pa.string())
        padded = (
            texts
            if column.field.type == "integer"
            else pc.utf8_lpad(texts, len(str(_MOST_PEOPLE)), "0")
        )
        return padded.dictionary_encode()


def write_people(folder: Path, plan: _PeoplePlan, progress: Progress) -> None:
    """Write the records into an empty folder.

    A marker there says that people are made up.
    """
    mark_as_made_up(folder)
    progress.step(f"Making up {plan.layout.nouns}", -(-plan.request.people // _BLOCK))
    schema = pa.schema([(name, TEXTS) for name in plan.layout.columns])
    with table_file(
        folder / plan.file, schema, plan.layout.separator_in(plan.file), plan.missing
    ) as write:
        for block in plan.blocks():
            write(block)
            progress.advance()


def _plan(request: PeopleRequest, compiled: Compiled, findings: FindingsOf) -> _PeoplePlan | None:
    """The plan, or None and findings if no record can satisfy the specification."""
    layout, spec = compiled.config.product.record, compiled.config.specification
    assert spec is not None  # the folder has one
    bits, keys = RandomBits(request.seed, _PLAN), _keys(layout)
    if compiled.areas is None or not keys:
        findings.error(
            "areas", f"no area of {spec.areas.file} has an id that the records' fields accept."
        )
        return None
    levels = [
        compiled.areas.number_of_area(kind)[list(keys)] for kind in compiled.config.census.kinds
    ]
    place, sizes = _places(levels, bits)
    columns = map(pa.array, zip(*keys.values(), strict=True))
    ids = dict(zip(layout.area.columns, columns, strict=True))
    is_filled = request.is_text and not spec.records.missing
    maker = _QuestionMaker(layout, request.weights, is_filled, int(place.max()) + 1, bits, findings)
    questions, units = maker.questions(), _unit_ids(layout, request.people, bits, findings)
    texts = [*ids.values(), *(question.texts for question in questions), units or ()]
    file = _text_file(layout, texts, findings) if request.is_text else f"{layout.table}.parquet"
    missing, last = (
        next(iter(spec.records.missing), ""),
        np.cumsum(apportioned(request.people, sizes)),
    )
    return _PeoplePlan(request, layout, file, missing, ids, last, place, questions, units)


def _keys(layout: RecordLayout) -> dict[int, tuple[str, ...]]:
    """The ids of the smallest areas that records may hold, by the area's number."""
    columns = [layout.fields[name] for name in layout.area.columns]
    keys = layout.area.keys if isinstance(layout.area, ListedAreas) else ()
    return {
        number: key
        for number, key in enumerate(keys)
        if None not in map(RuledColumn.value_of, columns, key)
    }


def _places(levels: Sequence[Integers], bits: RandomBits) -> tuple[Integers, Integers]:
    """The place that each area lies in, from 0, and about how many people live in the area.

    Places are the level with nearest to as many places as a place has areas. Few areas are very
    large.
    """
    numbered = [np.unique(level, return_inverse=True)[1] for level in levels]
    place = min(numbered, key=lambda level: abs((int(level.max()) + 1) ** 2 - len(level)))
    sizes = (
        bits.lognormal(0.9, len(place)) * bits.lognormal(0.7, int(place.max()) + 1)[place] // 1_000
    )
    return place, np.maximum(sizes, 1)


def _unit_ids(
    layout: RecordLayout, people: int, bits: RandomBits, findings: FindingsOf
) -> pa.Array | None:
    """The ids of units, if the rules of their column limit them.

    Otherwise None: any number is an id.
    """
    if layout.unit is None:
        return None
    column, needed = layout.fields[layout.unit.column], -(-people // layout.unit.most_records)
    highest = str(people + (column.field.minimum or 0))
    if column.is_free or (column.field.type == "integer" and column.value_of(highest) is not None):
        return None
    ids = values_of(column, bits, needed)
    if len(ids) < needed:
        problem = (
            f"only {len(ids):,} different ids can be made up, and {people:,} records need"
            f" {needed:,}."
        )
        findings.error(f"records.fields {column.column}", f"{problem} Ask for fewer people.")
    return pa.array(ids)


def _text_file(
    layout: RecordLayout, texts: Iterable[Iterable[object]], findings: FindingsOf
) -> str:
    """The name of a text file, with the ending whose separator no text holds."""
    used = set("".join([layout.several.separator or "", *layout.columns]))
    for of_column in texts:
        used.update(*map(str, of_column))
    for file in (f"{layout.table}.csv", f"{layout.table}.txt"):
        if used.isdisjoint({layout.separator_in(file), *'"\r\n'}):
            return file
    problem = (
        "values hold the separator, a quotation mark or a line break, which a text file can't."
    )
    findings.error("records.separator", f"{problem} Use --format parquet.")
    return ""


def write_example(name: str, people: int, folder: Path, progress: Progress) -> None:
    """Make `folder/parameters` and `folder/data`.

    The first is the shipped specification with its lists, the second are people for it. A mix says
    about how many of 10,000 people give each code first. It is no part of a specification.
    """
    shipped, parameters, data = files(__package__), folder / "parameters", folder / "data"
    parameters.mkdir()
    data.mkdir()
    for file in (shipped / name).iterdir():
        (parameters / file.name).write_bytes(file.read_bytes())
    mix = (shipped / "mixes" / f"{name}.csv").read_text(encoding="utf-8")
    weights = {row["code"]: int(row["people"]) for row in csv.DictReader(mix.splitlines())}
    write_people(
        data, PeopleRequest(parameters, people, weights=weights).checked().require(), progress
    )
