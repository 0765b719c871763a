"""The parts of every protection: its source, what it publishes, and what that reveals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from safetab.apps.compare.tables.attacked_area import System
from safetab.apps.compare.tables.exact_tables import ExactTables, Int64s, PublishedTables, Rows
from safetab.foundation.findings import Finding
from safetab.model.census.area_levels import AreaKind
from safetab.model.census.areas import Areas
from safetab.runs.inputs import RunInputs

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a protection: who uses it, since when, and what is known of it.

    It is printed beside what the protection makes.
    """

    agency: str
    years: str
    document: str
    published: Sequence[str]  # what the agency says about its method
    assumed: Sequence[str]  # what was chosen here because it is secret


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """For each number, log P(published | true count) over the true counts that are possible.

    Number i has the true counts firsts[i], firsts[i] + 1, ... with the logarithms
    logs[starts[i]:starts[i + 1]]. A number without any logarithm tells nothing.
    """

    firsts: Int64s
    starts: Int64s
    logs: Floats

    def of(self, number: int) -> tuple[int, Floats]:
        """The least possible true count of a number, and the logarithms from it on."""
        return int(self.firsts[number]), self.logs[self.starts[number] : self.starts[number + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class PublishedArea:
    """The facts that one draw gives about each system of the area, in its order.

    They are all that an attack may look at.
    """

    tables: Sequence[PublishedTables]
    windows: Sequence[Windows]
    can_be_proven: bool  # False where any true count fits any published number: noise, swapping


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The facts that other public tables give the attacker about each number.

    He knows the method too, but no random bit.
    """

    least: Int64s  # the true count is at least so large, by the design of the tables
    most: Int64s  # and at most so large
    expected: Floats  # what he would expect without this publication
    is_total: NDArray[np.bool_]  # whether it is its group's total

    @classmethod
    def of(cls, system: System) -> Self:
        """The facts that are known of the numbers of an attacked group."""
        return cls(system.least, system.most, system.rows.sums(system.expected), system.lines == 0)

    @property
    def of_changed_records(self) -> Self:
        """The facts for counts that swapping changed, without the limits of the design.

        The design of the tables follows true sizes, and limits them alone.
        """
        far = 2 * self.most.max(initial=0) + 10
        return replace(self, least=np.zeros_like(self.least), most=np.full_like(self.most, far))


def between(least: Int64s | int, most: Int64s | int, known: Known) -> Windows:
    """Windows that hold every true count from `least` to `most` that is not ruled out.

    Each of these counts gives what is published with certainty.
    """
    firsts = np.maximum(least, known.least)
    sizes = np.maximum(np.minimum(most, known.most) - firsts + 1, 0)
    return _windows(firsts, sizes, np.zeros(sizes.sum()))


def from_chances(firsts: Int64s, chances: Floats, known: Known) -> Windows:
    """Number i has the true counts firsts[i], firsts[i] + 1, ... with the chances of row i."""
    trues = firsts[:, None] + np.arange(chances.shape[1])
    is_known = (trues >= known.least[:, None]) & (trues <= known.most[:, None])
    possible = np.where(is_known, chances, 0.0)
    has_begun = np.logical_or.accumulate(possible > 0, axis=1)
    goes_on = np.logical_or.accumulate(possible[:, ::-1] > 0, axis=1)[:, ::-1]
    is_kept = has_begun & goes_on
    with np.errstate(divide="ignore"):  # a count in the middle may be impossible
        logs = np.log(possible[is_kept])
    return _windows(firsts + is_kept.argmax(axis=1), is_kept.sum(axis=1), logs)


def chosen(is_first: NDArray[np.bool_], first: Windows, second: Windows) -> Windows:
    """The windows of `first` where it is chosen, elsewhere those of `second`."""
    sizes = np.where(is_first, np.diff(first.starts), np.diff(second.starts))
    logs = np.empty(sizes.sum())
    takes_first = np.repeat(is_first, sizes)
    logs[takes_first] = first.logs[np.repeat(is_first, np.diff(first.starts))]
    logs[~takes_first] = second.logs[np.repeat(~is_first, np.diff(second.starts))]
    return _windows(np.where(is_first, first.firsts, second.firsts), sizes, logs)


def told_once(windows: Windows, rows: Rows) -> Windows:
    """The windows where errors are in record keys: equal numbers tell only once.

    Of numbers that are the same sum, the last one alone tells.
    """
    sums = [parts.tobytes() for parts in np.split(rows.members, rows.starts[1:-1])]
    last = {parts: number for number, parts in enumerate(sums)}
    is_last = np.array([last[parts] == number for number, parts in enumerate(sums)])
    return chosen(
        is_last, windows, _windows(windows.firsts, np.zeros_like(windows.firsts), np.empty(0))
    )


def _windows(firsts: Int64s, sizes: Int64s, logs: Floats) -> Windows:
    return Windows(firsts, np.append(0, np.cumsum(sizes)), logs)


class RecordStep(Protocol):
    """Changes records before anything is counted.

    So every table is an exact table of the changed records.
    """

    @property
    def rate(self) -> float:
        """The share of the records that may leave their place."""

    def refused(self, data: Path, /) -> tuple[Finding, ...]:
        """Why the records of DATA can't be changed so."""

    def changed_data(self, data: Path, folder: Path, inputs: RunInputs, seed: int, /) -> Path:
        """Make `folder/data`: DATA after the change, for the same PARAMETERS. Return its path."""

    def leaving_share(
        self,
        areas: Areas,
        kinds: Sequence[AreaKind],
        people_of: Callable[[AreaKind], Int64s],
        attacked: tuple[AreaKind, int],
        /,
    ) -> float:
        """The share of the attacked area's people who leave their smallest area.

        It is computed from public facts alone.
        """

    def kinds_nobody_leaves(self, areas: Areas, kinds: Sequence[AreaKind], /) -> set[AreaKind]:
        """The kinds of area whose numbers stay as they are."""

    def windows(self, windows: Windows, known: Known, leaving: float, leaves: Int64s, /) -> Windows:
        """Windows over true counts, from those over counts of changed records."""


class NumberStep:
    """Protects finished numbers one by one, or a whole system of them (secondary suppression).

    What a method states of itself besides: the properties below, where they differ.
    """

    __slots__ = ()

    def protect(self, tables: ExactTables, bits: np.random.Generator, /) -> PublishedTables:
        """The numbers that are published; `bits` are this draw's own."""
        raise NotImplementedError

    def windows(self, published: PublishedTables, known: Known, /) -> Windows:
        """The likelihood: what each published or withheld number tells about its true count."""
        raise NotImplementedError

    @property
    def largest_error(self) -> int | None:
        """The largest distance of a published number from the truth; None if nothing limits it."""
        return None

    @property
    def may_be_secret(self) -> bool:
        """Whether an agency may keep the largest error to itself."""
        return False

    @property
    def withheld_below(self) -> int:
        """Numbers below it are withheld."""
        return 0

    @property
    def width(self) -> int:
        """Above 0 numbers are withheld because of others, too: secondary suppression."""
        return 0

    @property
    def has_least_width(self) -> bool:
        """Whether no secondary suppression could withhold less."""
        return False

    @property
    def is_drawn_again(self) -> bool:
        """Whether each draw may give other numbers for the same records."""
        return False

    @property
    def repeats_errors(self) -> bool:
        """Whether numbers of the same people have the same error, by record keys."""
        return False


@dataclass(frozen=True, slots=True)
class Threshold:
    """Decides which tables are published at all.

    They are those of groups, or of areas, that are large enough.
    """

    people: int
    is_of_areas: bool

    def is_withheld(self, tables: ExactTables) -> NDArray[np.bool_]:
        """Whether each number's group is too small in its area, or its area is."""
        return np.asarray(
            (tables.area_people if self.is_of_areas else tables.group_totals) < self.people
        )


@dataclass(frozen=True, slots=True)
class Protection:
    """A protection as the user asked for it.

    It has steps on records, then on the selection, then on numbers.
    """

    spec: str
    name: str
    source: Source | None = None
    records: RecordStep | None = None
    selections: tuple[Threshold, ...] = ()
    numbers: NumberStep | None = None  # None: exact, or SafeTab
    is_safetab: bool = False
    parameters: Path | None = None  # SafeTab's directory, if it is not that of the comparison
    scale: Fraction | None = None  # by which SafeTab's budgets are multiplied
    is_of_2020: bool = False  # SafeTab with the budgets of 2020
    family: str = ""  # the names of its steps, without those that only choose tables
    # what its users say for it: of its steps together, or of each of them
    said: tuple[str, ...] = ()

    @property
    def repeats_errors(self) -> bool:
        """Whether numbers of the same people have the same error, by record keys.

        After swapping no error is met twice.
        """
        return self.records is None and self.numbers is not None and self.numbers.repeats_errors

    @property
    def is_drawn_again(self) -> bool:
        """Whether each draw may give other numbers for the same records; swapping is drawn once."""
        return self.is_safetab or (self.numbers is not None and self.numbers.is_drawn_again)

    @property
    def is_exact(self) -> bool:
        """Whether every number is published as it is."""
        return not (self.records or self.selections or self.numbers or self.is_safetab)

    @property
    def is_secondary(self) -> bool:
        """Whether numbers are withheld because of others."""
        return self.numbers is not None and self.numbers.width > 0

    @property
    def largest_error(self) -> int | None:
        """The largest distance of a published number from the truth, as users know it.

        None if nothing limits it.
        """
        if self.records is not None or self.is_safetab:
            return None
        return 0 if self.numbers is None else self.numbers.largest_error
