"""The choices of a committee: budgets, thresholds, the selector, and what is shown of small numbers."""

# fmt: off
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from safetab.specification.keys import FILE, Keyed, keyed, referring, table_of
from safetab.specification.kinds import ListOf, MapOf, Number, Text, Whole

BUDGET = Number("a number above 0", above=0, advice=" To leave these levels out, delete the entry.")
HIGHEST_THRESHOLD = 2**62
MOST_COLUMNS = 8


class Choice(Keyed):
    """An entry of `privacy.levels`: a budget and thresholds for every triple that it names."""

    tables: tuple[str, ...] = keyed(ListOf(referring("family of tables"), or_one=True), required=False)
    groups: tuple[str, ...] = keyed(ListOf(referring("level of groups"), or_one=True))
    areas: tuple[str, ...] = keyed(ListOf(referring("label of areas"), or_one=True))
    budget: Fraction = keyed(BUDGET)
    thresholds: tuple[int, ...] = keyed(ListOf(Whole(0, HIGHEST_THRESHOLD), may_be_empty=True), required=False)


class Privacy(Keyed):
    """The choices of a committee."""

    definition: str = keyed(Text(choices=("zcdp", "puredp")))
    selector: str = keyed(Text(choices=("stage 1", "published totals", "none")))
    levels: tuple[Choice, ...] = keyed(ListOf(table_of(Choice)))
    stage_1: Fraction | None = keyed(Number("a number strictly between 0 and 1", above=0, below=1), default=None)
    suppress_chance: Fraction = keyed(
        Number("a number of at least 0 and below 1", at_least=0, below=1), default=Fraction(0),
        required=True, at="suppress.chance")
    suppress_areas: tuple[str, ...] = keyed(
        ListOf(referring("level of areas"), or_one=True), default=(), required=True, at="suppress.areas")
    negatives: str = keyed(Text(choices=("kept", "withheld", "zero")), default="kept")
    totals: str | None = keyed(FILE, default=None)
    use: Mapping[str, int] = keyed(MapOf(Whole(1, MOST_COLUMNS), Text(refers_to="classification")), default={})


PRIVACY = table_of(Privacy, "suppress")
