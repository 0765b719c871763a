"""The fields that tables divide records by, their parts, and what people call these.

A record's attribute is one number: the place of its value in each field's `values`, as the digits
of a mixed-radix number, in the order of `Specification.divided`, the first field's digit first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from keyword import iskeyword

from safetab.model.products.product import Label, LabelColumn
from safetab.model.specification.values import RecordField

_INTEGER_BITS = (8, 16, 32, 64)
_BOTH, ALL = "both", "all"
TAKEN_COLUMNS = frozenset({
    "geography_level", "region_id", "region_name", "iteration_code", "iteration_name",
    "iteration_kind", "iteration_level", "table", "table_id", "line", "stub", "count",
    "margin_of_error", "interval_low", "interval_high", "unclamped_count",
    "unclamped_margin_of_error", "variance", "noise_draws", "noise_mechanism", "noise_parameter",
    "stage_1_total", "status", "rule", "donor_geography_level", "donor_region_id", "stage", "value",
    "mechanism", "parameter_numerator", "parameter_denominator", "area_level", "area", "group",
    "geo_id", "donor_geo_id", "iteration_id",
})  # fmt: skip
"""The other columns of files with numbers: an attribute of such a name has `record_` before it."""


def plural_of(noun: str) -> str:
    """The usual plural of an English noun."""
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if re.search(r"[^aeiou]y$", noun) else f"{noun}s"


def slug_of(name: str) -> str:
    """The name as a column or an argument spells it: other characters become underscores."""
    return re.sub(r"\W+", "_", name).strip("_")


@dataclass(frozen=True, slots=True)
class Part:
    """Some values of an attribute: a category, a range, a named set, or all of them."""

    places: Sequence[int]  # of the values
    stub: str
    words: str  # in a sentence; empty if all
    labels: tuple[Label, ...]  # of a line
    cell_labels: tuple[Label | None, ...]  # as the measurement file spells them


@dataclass(frozen=True)
class Attribute:
    """A field as tables divide it, and what a product says of a range in its own way."""

    field: RecordField
    asked_as: str = ""  # the argument of questions, if it is not the name
    unit: str | None = None  # after a range, in a sentence, if it is not the field's
    one: str = ""  # a single value in a sentence, with {} for it

    @property
    def name(self) -> str:
        """The attribute's name in tables."""
        return self.field.called

    @property
    def argument(self) -> str:
        """The attribute's name in questions, as Python can spell it."""
        slug = self.asked_as or slug_of(self.name)
        return f"{slug}_" if iskeyword(slug) else slug if slug.isidentifier() else f"_{slug}"

    @property
    def plural(self) -> str:
        """The attribute's name as a plural."""
        return plural_of(self.name)

    @property
    def is_range(self) -> bool:
        """Whether its parts are ranges of integers."""
        return self.field.is_range

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The texts of its values, in order."""
        return self.field.values

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of the categories in tables."""
        return tuple(category.label for category in self.field.categories) or self.values

    @property
    def bounds(self) -> tuple[int, int]:
        """The first and the last integer of a range."""
        return int(self.values[0]), int(self.values[-1])

    @property
    def whole_label(self) -> str:
        """The label of a line that counts all categories."""
        return _BOTH if len(self.values) == len((_BOTH, ALL)) else ALL

    @property
    def whole_words(self) -> str:
        """All values, as the name of a line says it."""
        return _BOTH if not self.is_range and self.whole_label == _BOTH else f"all {self.plural}"

    @cached_property
    def whole(self) -> Part:
        """All values as one part. Raises ValueError if a category has the label of all."""
        places = range(len(self.values))
        if self.is_range:
            return Part(places, "Total", "", self.bounds, (None, None))
        if self.whole_label in map(str.casefold, self.labels):
            raise ValueError(
                f'{self.field.name}: a category can\'t be labelled "{self.whole_label}":'
                " lines of all are."
            )
        return Part(places, "Total", "", (self.whole_label,), (None,))

    def parts(self, breaks: Sequence[int], stubs: Mapping[str, str]) -> tuple[Part, ...]:
        """The parts in order: each category, or the ranges that begin at the breaks.

        Without breaks every integer is a part. `stubs` has the stubs that differ from the usual
        ones.
        """
        if self.is_range:
            low, high = self.bounds
            starts = (*(breaks or range(low, high + 1)), high + 1)
            return tuple(self._range(first, after - 1, stubs) for first, after in pairwise(starts))
        return tuple(self._category(place, stubs) for place in range(len(self.values)))

    def _category(self, place: int, stubs: Mapping[str, str]) -> Part:
        value, label = self.values[place], self.labels[place]
        stub = stubs.get(label) or stubs.get(value) or label[:1].upper() + label[1:]
        return Part(
            (place,),
            stub,
            label,
            (label,),
            (int(value) if self.field.type == "integer" else label,),
        )

    def _range(self, first: int, last: int, stubs: Mapping[str, str]) -> Part:
        low, high = self.bounds
        spelled = (
            f"{first}-{last}",
            *((f"{first}+",) if last == high else ()),
            *((str(first),) if first == last else ()),
        )
        stub = next((stubs[text] for text in spelled if text in stubs), None) or self._stub(
            first, last
        )
        labels = (first, last)
        return Part(range(first - low, last - low + 1), stub, self.words_of(labels), labels, labels)

    def _stub(self, first: int, last: int) -> str:
        low, high = self.bounds
        unit = self.field.unit_name
        if (first, last) == (low, high):
            return f"All {self.plural}"
        if unit and first == low == 0 != last:
            return f"Under {last + 1} {unit}"
        return self._range_in_words(first, last, unit)

    def words_of(self, labels: tuple[Label, ...]) -> str:
        """A part in a sentence, such as "female" or "0 to 17 rooms"; empty if all.

        An open range is such as "65 rooms and over".
        """
        if labels == self.whole.labels:
            return ""
        if not self.is_range:
            return str(labels[0])
        first, last = map(int, labels)
        if first == last != self.bounds[1] and self.one:
            return self.one.format(first)
        return self._range_in_words(first, last, self.unit_in_words)

    @property
    def unit_in_words(self) -> str:
        """The words after a range in a sentence."""
        return self.field.unit_name if self.unit is None else self.unit

    def _range_in_words(self, first: int, last: int, unit: str) -> str:
        after = f" {unit}" if unit else ""
        if last == self.bounds[1]:
            return f"{first}{after} and over"
        return f"{first}{after}" if first == last else f"{first} to {last}{after}"

    @cached_property
    def columns(self) -> tuple[LabelColumn, ...]:
        """The columns that say which of its values a number counts: one, or two for a range."""
        slug = slug_of(self.name)
        name = f"record_{slug}" if slug.lower() in TAKEN_COLUMNS else slug
        if not self.is_range:
            numbers = map(int, self.values) if self.field.type == "integer" else ()
            cell_type = _integer_type(numbers) if self.field.type == "integer" else "string"
            words = f"Which {plural_of(self.name)} are counted."
            return (
                LabelColumn(
                    name, "string", cell_type, words, values=(self.whole_label, *self.labels)
                ),
            )
        unit = f", in {self.field.unit_name}" if self.field.unit_name else ""
        types = (_integer_type(self.bounds), _integer_type(self.bounds, least=16))
        first = LabelColumn(f"{name}_start", *types, f"First {self.name} that is counted{unit}.")
        last = f"Last {self.name} that is counted{unit}; {self.bounds[1]} is the highest."
        return first, LabelColumn(f"{name}_end", *types, last)


def _integer_type(numbers: Iterator[int] | Sequence[int], least: int = _INTEGER_BITS[0]) -> str:
    """The narrowest type of at least `least` bits that holds the numbers."""
    most = max(number if number >= 0 else -number - 1 for number in numbers)
    return next(f"int{bits}" for bits in _INTEGER_BITS if bits >= least and most < 2 ** (bits - 1))
