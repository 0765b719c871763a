"""The choices of a committee: budgets, thresholds, the selector, and what is shown of small numbers."""

# fmt: off
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from safetab.specification.keys import FILE, SUPPRESS, Keyed, keyed, referring, table_of
from safetab.specification.kinds import ListOf, MapOf, Number, Text, Whole

BUDGET = Number("a number above 0", above=0, advice=" To leave these levels out, delete the entry.")
HIGHEST_THRESHOLD = 2**62
MOST_COLUMNS = 8


class Choice(Keyed):
    """An entry of `privacy.levels`: a budget and thresholds for every triple that it names."""

    tables: tuple[str, ...] = keyed(ListOf(referring("family of tables"), or_one=True),
        "The families; needed if there are several.", '"gender and age"', required=False)
    groups: tuple[str, ...] = keyed(
        ListOf(referring("level of groups"), or_one=True), "The levels of groups.", '["level 1", "level 2"]')
    areas: tuple[str, ...] = keyed(ListOf(referring("label of areas"), or_one=True),
        "The labels of levels of areas.", '["nation", "region"]')
    budget: Fraction = keyed(BUDGET, "The budget of each: rho under zCDP, epsilon under pure DP.", "0.02")
    thresholds: tuple[int, ...] = keyed(ListOf(Whole(0, HIGHEST_THRESHOLD), may_be_empty=True),
        "The smallest noisy total for each table after the first, in rising order.", "[500, 5000, 50000]",
        required=False)


class Privacy(Keyed):
    """The choices of a committee."""

    definition: str = keyed(Text(choices=("zcdp", "puredp")), "The definition of privacy.", '"zcdp"')
    selector: str = keyed(Text(choices=("stage 1", "published totals", "none")),
        "What chooses a group's table: a noisy total, published totals, or nothing, so that every group gets"
        " the finest.", '"stage 1"')
    levels: tuple[Choice, ...] = keyed(ListOf(table_of(Choice)),
        "A budget and thresholds for families, levels of groups and labels of areas; what is not listed is"
        " not tabulated.", '[{ groups = "level 1", areas = "nation", budget = 0.02, thresholds = [500] }]')
    stage_1: Fraction | None = keyed(Number("a number strictly between 0 and 1", above=0, below=1),
        'The share of the budget for the noisy totals of selector "stage 1".', "0.1", default=None)
    suppress_chance: Fraction = keyed(Number("a number of at least 0 and below 1", at_least=0, below=1),
        "The chance with which a group without records is withheld.", "0.9999", default=Fraction(0),
        required=True, at="suppress.chance")
    suppress_areas: tuple[str, ...] = keyed(
        ListOf(referring("level of areas"), or_one=True), "The levels of areas where groups are withheld.",
        '["ta", "sa2"]', default=(), required=True, at="suppress.areas")
    negatives: str = keyed(Text(choices=("kept", "withheld", "zero")),
        'What to do with negative counts; "kept" if absent.', '"kept"', default="kept")
    totals: str | None = keyed(FILE, "The file of published totals.", '"totals.csv"', default=None)
    use: Mapping[str, int] = keyed(MapOf(Whole(1, MOST_COLUMNS), Text(refers_to="classification")),
        "How many columns of a classification are used, or answers of a list.", "{ language = 3 }",
        default={})


PRIVACY = table_of(Privacy, suppress=SUPPRESS)
