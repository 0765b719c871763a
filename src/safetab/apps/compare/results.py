"""The results of a comparison, as the page and the files show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from statistics import fmean
from typing import Any

import pyarrow as pa

from safetab.apps.compare.protections.protection import Protection


@dataclass(frozen=True, slots=True)
class Claims:
    """The number of an attacker's claims, and how many of these are right."""

    claims: int
    right: int

    def __add__(self, other: Claims) -> Claims:
        return Claims(self.claims + other.claims, self.right + other.right)


@dataclass(frozen=True, slots=True)
class Exposure:
    """People exposed by one protection in the area under attack.

    None: the measure does not apply.
    """

    uniques: int
    proven: Claims | None  # every claim should be right
    named: Claims  # with a chance of at least 95 %
    # the cells that look likeliest to hold one person, by how many are looked at
    ranked: Mapping[str, Claims]
    presence: Claims  # groups of 1 or 2 people known to be there
    membership: float | None  # advantage of the best test for one person, on the attacked tables
    # of the guarantee over the whole release; only for formal privacy
    membership_bound: float | None
    # share of totals exact, by the number of splits
    averaging: Mapping[int, float] = field(default_factory=dict)
    # slivers of 1 to 9 people, and the people in those that follow
    differencing: tuple[int, int] | None = None
    small_groups: int = 0  # groups of 1 or 2 people in smallest areas, found or not
    r_hat: float | None = None  # of the two chains; near 1 if they agree
    unfinished: int = 0  # groups that were not attacked to the end
    outside: int = 0  # states that left a window: must be 0
    not_finished: tuple[str, ...] = ()  # in sentences
    proven_by: str = ""  # "propagation", or "propagation and CP-SAT"
    is_checked: bool = False  # whether linear programs found that no withheld count follows

    @property
    def likeliest(self) -> Claims:
        """The 500 cells that look likeliest to hold one person, or fewer: as many as do."""
        return self.ranked["500 or uniques"]


def added(exposures: Sequence[Exposure]) -> Exposure | None:
    """The exposure of several areas together. None without any.

    People add up; advantages and shares are averaged.
    """
    if len(exposures) < 2:
        return exposures[0] if exposures else None

    def known(name: str) -> list[Any]:
        return [value for each in exposures if (value := getattr(each, name)) is not None]

    sums = (
        "uniques",
        "proven",
        "named",
        "presence",
        "small_groups",
        "unfinished",
        "outside",
        "not_finished",
    )
    first = exposures[0]
    return replace(
        first,
        **{name: reduce(add, known(name)) for name in sums if known(name)},
        ranked={
            most: reduce(add, (each.ranked[most] for each in exposures)) for most in first.ranked
        },
        membership=fmean(known("membership")) if known("membership") else None,
        averaging={
            at: fmean(each[at] for each in known("averaging") if at in each)
            for at in first.averaging
        },
        differencing=(
            sum(each[0] for each in known("differencing")),
            sum(each[1] for each in known("differencing")),
        ),
        r_hat=max(known("r_hat"), default=None),
        is_checked=all(known("is_checked")),
    )


@dataclass(frozen=True, slots=True)
class Control:
    """A check of the attack itself, which ran with this comparison."""

    name: str
    sentence: str  # what was done, and what came out
    holds: bool


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """One deduction of an attack, from this run.

    It has what is published, the steps, and what follows.
    """

    attack: str  # "proven", "named", "differencing", ...
    protection: str
    about: str  # the group, and the area if all numbers are of one
    # words and the number as printed, "withheld" without one
    published: tuple[tuple[str, str], ...]
    steps: tuple[str, ...]
    truth: str


@dataclass(frozen=True, slots=True)
class ShownNumber:
    """A group's total in the area of the page's example table."""

    group: str
    truth: int
    printed: Mapping[str, str]  # by the protection's spec: "12", "withheld"


@dataclass(frozen=True, slots=True)
class Compared:
    """One protection: what users lost, and whom it exposed."""

    protection: Protection
    utility: pa.Table  # the columns of measures/utility.py
    exposure: Exposure | None
    guarantee: str  # the formal one in words, or "none stated"
    # what a user gets with a number: "exact", "a mark where withheld", "nothing"
    comes_with: tuple[str, ...]

    @property
    def is_checked(self) -> bool:
        """Whether linear programs found that no withheld count follows."""
        return self.exposure is not None and self.exposure.is_checked


@dataclass(frozen=True, slots=True)
class ComparedCensus:
    """The page's words for the census and its parts."""

    people: int
    nouns: str  # what the records describe: "people", "households"
    groups: str  # "population groups"
    # a noun phrase: "the total of every group, and a table where its true size gives one"
    tables: str
    attacked_area: str = ""  # its name, or names; empty if nothing was attacked
    areas: str = "areas"  # the small areas in it, and that of the example table: "tracts"
    # a finer table of every group, however small; else where the true size gives one
    is_stress_test: bool = False
    whole: str = ""  # where SafeTab publishes every group
    attacked: int = 1  # how many areas
    # "the nation and the state": larger areas whose tables were attacked as well
    larger_attacked: str = ""
    larger_left: str = ""  # and others
    spent_on_left: str = ""  # "86%": of SafeTab's privacy loss, on tables of these others


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that the page shows."""

    census: ComparedCensus
    protections: tuple[Compared, ...]
    # whether families are compared at several strengths, which the third picture joins
    is_sweep: bool
    baseline: Exposure | None
    controls: tuple[Control, ...]
    examples: tuple[WorkedExample, ...]
    shown: tuple[ShownNumber, ...]  # ten groups of one smallest area
    shown_area: str
    # how it was run: people, area, tables, seed, versions, limits; words and values
    facts: Mapping[str, str]
    not_finished: tuple[str, ...]
