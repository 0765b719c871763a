"""A confidential record as data, and the layout of a specification's records.

A layout names the record's file, its columns with their rules, and the attribute that tables
divide. Every record has a smallest area, codes of a classification with several answers, and a code
of one with a single answer, which the readers check in the same way for all layouts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from safetab.model.census.groups import MOST_ANSWERS, Classification
from safetab.model.products.record_field import RuledColumn
from safetab.model.specification.values import CodeList, Specification, Unit

NO_CODE = "Null"
"""The text in a column of codes that stands for none."""
SHORT_VALUE = 8
"""The most bytes of a value of a text file that is a key of one word."""
WRONG, RESIDUAL = -1, -2
"""In place of a code's number: an invalid code, and an answer that is not stated.

0 is a missing answer.
"""


@dataclass(frozen=True, slots=True)
class AreaColumns:
    """The columns that together spell a record's smallest area.

    The first one names the part it is in.
    """

    columns: tuple[str, ...]
    widths: tuple[int, ...]  # how many digits each has, leading zeros included
    noun: str
    part_noun: str
    listed_in: str  # the public file that has all areas


@dataclass(frozen=True, eq=False)
class ListedAreas:
    """The columns whose texts together are a record's smallest area, one of a public table.

    An area's number is the place of its texts in `keys`, which are sorted as UTF-8, column by
    column.
    """

    columns: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    other: tuple[str, ...] | None  # the area of every record whose texts are not listed
    listed_in: str  # the public file that has all areas
    part_noun: str = "smallest area"

    @cached_property
    def texts_of(self) -> Mapping[str, list[str]]:
        """The texts of each column for every area, in the order of the areas."""
        return {
            column: [key[place] for key in self.keys] for place, column in enumerate(self.columns)
        }

    @cached_property
    def number_of(self) -> Mapping[tuple[str, ...], int]:
        """The number of each area."""
        return {key: number for number, key in enumerate(self.keys)}

    @property
    def number_of_others(self) -> int:
        """The number of the area of records whose texts are not listed, or -1 if they are wrong."""
        return -1 if self.other is None else self.number_of[self.other]


@dataclass(frozen=True, slots=True)
class CodeColumns:
    """The columns that hold a record's codes of one classification, in the order of answers."""

    classification: Classification
    codes: str  # what a code must be, in words
    digits: int | None = None  # how many a code has, if codes are numbers; texts have none
    listed: frozenset[str] | None = (
        None  # the valid codes of a specification; None: those of the run's list
    )
    missing: frozenset[str] = frozenset({NO_CODE})
    first: int | None = None  # how many characters of what a record says count
    residual: frozenset[str] = (
        frozenset()
    )  # answers that are not stated: valid, and in no set of codes
    required: bool = True  # whether the first answer must be there
    skips_gaps: bool = False  # whether an answer may follow a missing one
    separator: str | None = None  # of the answers, if one column holds them all
    use: int | None = None  # how many answers count; None: all

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.classification.columns

    @property
    def most_used(self) -> int:
        """The most answers of a record that count."""
        return min(self.classification.most_answers, self.use or MOST_ANSWERS)

    @property
    def most_listed(self) -> int:
        """The most answers that a list may have: any number, if only the first few count."""
        return MOST_ANSWERS if self.use is None else 1 << 30

    def number_of(self, text: str | None, numbers: Mapping[str, int]) -> int:
        """The number of an answer: that of its code, 0 if it is missing, RESIDUAL or WRONG."""
        if text is None or text in self.missing:
            return 0
        cut = text[: self.first]
        return RESIDUAL if cut in self.residual else numbers.get(cut, WRONG)

    def answers_in(self, text: str | None) -> list[str | None]:
        """The answers in the text of a list.

        Missing ones are left out at the end, and where they are skipped.
        """
        if text is None or text in self.missing:
            return []
        answers = [
            None if answer in self.missing else answer for answer in text.split(self.separator)
        ]
        if self.skips_gaps:
            return [answer for answer in answers if answer is not None]
        while answers and answers[-1] is None:
            answers.pop()
        return list(answers)

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that may hold no code.

        They are all but the first, and that too if no answer is required.
        """
        return self.columns[self.required :]


_NO_CODES = CodeColumns(Classification("", ()), "", listed=frozenset(), required=False)
"""The columns of a classification that a record doesn't have."""


@dataclass(frozen=True)
class RecordLayout:
    """The layout of a confidential record: its file, its columns in order, and its attribute.

    The attribute is one number. Its parts, each counted from the lowest value, are the digits of a
    mixed-radix number. `fields` are the columns of a specification.
    """

    table: str  # the name of the file or folder, without its ending
    noun: str
    nouns: str
    columns: tuple[str, ...]
    attribute: tuple[RuledColumn, ...]
    checked: tuple[RuledColumn, ...]
    area: AreaColumns | ListedAreas
    several: CodeColumns  # of the classification with several answers
    single: CodeColumns  # of the one with a single answer
    holds_people: bool = (
        False  # whether a record stands for several people, who may be in another product
    )
    fields: Mapping[str, RuledColumn] = field(default_factory=dict, hash=False)
    where: Mapping[str, frozenset[int | str | None]] = field(default_factory=dict, hash=False)
    """The values of each column that a record must have to be counted."""
    unit: Unit | None = None
    missing: frozenset[str] = frozenset()  # the texts that say nothing
    separator: str | None = "|"  # of text files; None: that of the file's ending
    takes_csv: bool = False  # whether text files may end in .csv

    @property
    def counted(self) -> str:
        """The plural after a number: persons or households, or what a specification says."""
        return self.nouns if self.fields else f"{self.noun}s"

    @property
    def protected(self) -> str:
        """The noun of what is protected: a record, or a unit with all its records."""
        return self.noun if self.unit is None else self.unit.name

    @property
    def most_records(self) -> int:
        """The most records that there may be of what is protected."""
        return 1 if self.unit is None else self.unit.most_records

    @property
    def part_column(self) -> str:
        """The column whose number decides which pass a record is in."""
        return self.area.columns[0]

    @cached_property
    def code_columns(self) -> tuple[tuple[str, CodeColumns], ...]:
        """The columns with codes: those of several answers, then the single one.

        Both may read one column.
        """
        return tuple(
            (column, codes) for codes in (self.several, self.single) for column in codes.columns
        )

    @cached_property
    def separators_of_lists(self) -> Mapping[str, str]:
        """The separator of the answers in each column that holds lists of them."""
        return {
            name: codes.separator
            for name, codes in self.code_columns
            if codes.separator is not None
        }

    def may_be_absent(self, column: str) -> bool:
        """Whether a record may have no value in a column."""
        return column in self.several.optional

    def separator_in(self, name: str) -> str:
        """The separator of the text file with this name."""
        return self.separator or ("," if name.removesuffix(".gz").endswith(".csv") else "|")

    @cached_property
    def has_long_values(self) -> bool:
        """Whether values of text files may have more than 8 bytes, by what is public."""
        if not isinstance(self.area, ListedAreas):
            return False
        known, listed = (
            set(self.area.columns),
            {text for texts in self.area.texts_of.values() for text in texts},
        )
        for name, codes in self.code_columns:
            if codes.separator is None and codes.first is None:
                known.add(name)
                listed |= codes.listed or frozenset()
        is_any_free = any(one.is_free and name not in known for name, one in self.fields.items())
        return is_any_free or any(len(text.encode()) > SHORT_VALUE for text in listed)

    @cached_property
    def needs_no_check(self) -> frozenset[str]:
        """The columns whose rule every listed area keeps, so that the check of areas is enough."""
        if (
            not isinstance(self.area, ListedAreas)
            or self.area.other is not None
            or not self.area.keys
        ):
            return frozenset()
        divided = {part.column for part in self.attribute}
        plain = [
            (self.fields[name], {*texts})
            for name, texts in self.area.texts_of.items()
            if name not in divided
        ]
        return frozenset(
            one.column for one, texts in plain if one.field.other is None and one.takes_all(texts)
        )

    @property
    def ruled(self) -> tuple[RuledColumn, ...]:
        """The columns that have rules of this record's own."""
        return (*self.attribute, *self.checked)

    @cached_property
    def attribute_values(self) -> int:
        """The number of values that the attribute can have."""
        return prod(part.values for part in self.attribute)

    @cached_property
    def attribute_factors(self) -> tuple[int, ...]:
        """The factor by which each part's number is multiplied."""
        return tuple(
            prod(part.values for part in self.attribute[n + 1 :])
            for n in range(len(self.attribute))
        )

    @cached_property
    def digits(self) -> Mapping[str, int]:
        """The columns with a fixed number of digits, leading zeros included."""
        areas: dict[str, int] = {}
        if isinstance(self.area, AreaColumns):
            areas = dict(zip(self.area.columns, self.area.widths, strict=True))
        codes = {name: column.digits for name, column in self.code_columns}
        own = {column.column: column.digits for column in self.checked}
        return areas | {
            name: digits for name, digits in (codes | own).items() if digits is not None
        }


def record_layout_of(
    spec: Specification, codes: Mapping[str, Collection[str]], areas: Sequence[tuple[str, ...]]
) -> RecordLayout:
    """The layout of a specification's records.

    `codes` are the valid codes of each classification by its name; `areas` are the keys of the
    table of areas, sorted as UTF-8 column by column. Both may be empty, if only a release is read.
    """
    given, missing = spec.records, frozenset(spec.records.missing)
    fields = {one.name: RuledColumn(one, missing) for one in given.fields}
    attribute = tuple(fields[one.name] for one in spec.divided)
    slots = [_codes(spec, each, codes.get(each.name, ())) for each in ordered_lists(spec)]
    if len(slots) == 1:
        slots.insert(0 if slots[0].classification.has_one_answer else 1, _NO_CODES)
    several, single = slots
    return RecordLayout(
        table=given.file,
        noun=spec.about.record,
        nouns=spec.about.records,
        columns=tuple(fields),
        attribute=attribute,
        checked=tuple(one for one in fields.values() if not one.is_free and one not in attribute),
        area=ListedAreas(
            columns=tuple(column.record for column in spec.areas.key),
            keys=tuple(areas),
            other=spec.areas.other if areas else None,
            listed_in=spec.areas.file,
        ),
        several=several,
        single=single,
        holds_people=bool(spec.about.holds),
        fields=fields,
        where={
            name: frozenset(map(fields[name].parsed, values)) - {None}
            for name, values in given.where.items()
        },
        unit=given.unit,
        missing=missing,
        separator=given.separator,
        takes_csv=True,
    )


def ordered_lists(spec: Specification) -> tuple[CodeList, ...]:
    """The classifications, the one with more answers first: it takes the engines' eight columns."""
    return tuple(
        sorted(
            spec.classifications,
            key=lambda each: classification_of(spec, each).most_answers,
            reverse=True,
        )
    )


def classification_of(spec: Specification, given: CodeList) -> Classification:
    """The classification of a code list."""
    is_list = _separator(spec, given) is not None
    return Classification(given.name, given.columns, pattern=given.pattern or ".*", is_list=is_list)


def _separator(spec: Specification, given: CodeList) -> str | None:
    field = spec.records.named(given.columns[0])
    return given.separator or (field.delimiter if field.type == "list" else None)


def _codes(spec: Specification, given: CodeList, codes: Collection[str]) -> CodeColumns:
    separator = _separator(spec, given)
    words = (
        f"a code of {given.file}"
        if separator is None
        else f"codes of {given.file}, separated by {separator}"
    )
    return CodeColumns(
        classification=classification_of(spec, given),
        codes=words,
        listed=frozenset(codes),
        missing=frozenset(spec.records.missing),
        first=given.first,
        residual=frozenset(given.residual),
        required=given.required,
        skips_gaps=given.gaps == "skipped",
        separator=separator,
        use=spec.privacy.use.get(given.name),
    )
