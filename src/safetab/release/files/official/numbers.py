"""Published groups -> the numbers of a release, with the noise of the level that measured them.

Some groups are copies: areas with the same blocks share one set of noisy numbers, and a copy has
the noise of the area that was measured. The sets of such areas are known from the blocks, or from
areas of two kinds that agree in too many numbers for chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.core.privacy.calibration import Stage
from safetab.foundation.arrays import Integers, Truths, mixed
from safetab.foundation.failures import closing_without_masking
from safetab.model.census.area_levels import AreaKind, Pass
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.us.official_tables import CODES, LEVELS, Cell
from safetab.model.us.us_census import COMMON, DETAILED, US
from safetab.release.files.coterminous import CoterminousSet, SetsOfPasses
from safetab.release.files.numbers import level_numbers
from safetab.release.files.numbers.level_numbers import NumberKinds, Numbers
from safetab.release.files.numbers.number_files import (
    LEAST_MARGIN,
    NumberColumns,
    NumberFile,
    numbers_file,
)
from safetab.release.files.numbers.published_groups import NO_DONOR
from safetab.release.files.official.groups import OfficialGroups
from safetab.release.files.release_universe import ReleaseLevel, Universe


@dataclass(frozen=True, slots=True, eq=False)
class ReadNumbers(Numbers):
    """Numbers as files have them, and which of them have a table that is not known."""

    is_unknown: Truths


class ReadColumns(NumberColumns):
    """The columns of numbers that were read: no file tells the total of stage 1.

    Where the table is not known, the margin has a lower end.
    """

    def __init__(self, universe: Universe, level: ReleaseLevel, kinds: NumberKinds) -> None:
        super().__init__(universe, level, kinds)
        self.schema = self.schema.append(pa.field(LEAST_MARGIN, pa.int64()))
        self._level_of_kind = np.array([kind.level for kind in kinds.kinds])

    def columns(self, numbers: Numbers) -> dict[str, pa.Array]:
        assert isinstance(numbers, ReadNumbers)
        least = np.zeros(len(numbers), dtype=np.int64)
        levels = self._level_of_kind[numbers.kinds[numbers.is_unknown]]
        lone_totals = self._kinds.first_of_groups(levels, np.zeros_like(levels, dtype=np.bool_), 0)
        least[numbers.is_unknown] = self._kinds.margins[lone_totals]
        own = {"stage_1_total": pa.nulls(len(numbers), pa.int64())}
        return (
            super().columns(numbers)
            | own
            | {LEAST_MARGIN: pa.array(least, mask=~numbers.is_unknown)}
        )


class OfficialNumbers:
    """Writes the numbers of published groups.

    `not_tabulated` counts groups that their level can't have. The margin of a total whose table is
    not known is that of the table with the most noise. Proof: docs/noise.md#unknown-tables.
    """

    def __init__(
        self,
        universe: Universe,
        groups: Sequence[OfficialGroups],
        donors: Sequence[_Donors],
        confidence: Fraction,
    ) -> None:
        self._universe = universe
        self._groups = list(zip(groups, donors, strict=True))
        self._kinds = NumberKinds(universe, confidence)
        self._confidence = confidence
        self.not_tabulated: Counter[str] = Counter()
        self.unknown_tables = 0
        self.withheld = 0
        self.copied_groups = 0

    def write(self, release: Path) -> dict[str, int]:
        """Write the files of all levels that have numbers and return the rows of each."""
        rows = {}
        for number, level in enumerate(self._universe.levels):
            found = self._rows_of(number, level)
            if len(found):
                name = numbers_file(level.design)
                file = NumberFile(release / name, ReadColumns(self._universe, level, self._kinds))
                with closing_without_masking(file):
                    file.write(found)
                rows[name] = file.rows
        return rows

    def _rows_of(self, number: int, level: ReleaseLevel) -> ReadNumbers:
        """By rising index, and within a group in the order of its lines."""
        parts = [
            self._rows_of_groups(number, level, groups, donors)
            for groups, donors in self._groups
            if groups.family is level.family and groups.geography == level.geography
        ]
        numbers = ReadNumbers.concat(parts)
        self.unknown_tables += int(numbers.is_unknown.sum())
        self.withheld += int(numbers.is_withheld.sum())
        # Lines of a group stand in their order.
        return numbers.take(np.argsort(numbers.indices, kind="stable"))

    def _rows_of_groups(
        self, number: int, level: ReleaseLevel, groups: OfficialGroups, donors: _Donors
    ) -> ReadNumbers:
        """The rows of groups with one shape, as the level that measured them would have them."""
        codes, code_of_group = np.unique(groups.code, return_inverse=True)
        position = level.positions_of(f"{code:04d}" for code in codes.tolist())[code_of_group]
        own = np.flatnonzero(position >= 0)
        measured_at = self._measured_at(number, level, donors.level[own])
        can_be = self._can_be_measured(level, position[own], measured_at, groups)
        self.not_tabulated[str(level.level)] += int((~can_be).sum())
        own, measured_at = own[can_be], measured_at[can_be]
        self.copied_groups += int((donors.level[own] >= 0).sum())
        entity = np.searchsorted(self._universe.entities[level.geography].ids, groups.entity[own])
        index = level.index.index_of(entity, position[own])
        is_total_only = level.is_total_only[position[own]]
        first_kind = self._kinds.first_of_groups(
            measured_at, is_total_only, groups.family.number_of(groups.shape)
        )
        is_there = groups.cells[own] != Cell.NOT_GIVEN
        lines = len(groups.lines)
        is_selected = (
            ~is_total_only
            & (groups.cells[own, 0] == Cell.NUMBER)
            & (groups.shape is groups.family.total)
        )
        totals = groups.counts[own, 0], measured_at, is_selected
        low, high = level_numbers.intervals_of(self._universe, self._confidence, *totals)
        flat = np.flatnonzero(is_there)
        group, line = flat // lines, flat % lines
        is_withheld = groups.cells[own][is_there] == Cell.WITHHELD
        counts = groups.counts[own][is_there]
        is_lone = line == 0
        return ReadNumbers(
            indices=index[group],
            kinds=(first_kind[group] + line).astype(np.int32),
            counts=counts,
            unclamped=counts,
            stage_1_totals=np.zeros(len(flat), dtype=np.int64),
            low=np.where(is_lone, low[group], level_numbers.NO_INTERVAL),
            high=np.where(is_lone, high[group], level_numbers.NO_INTERVAL),
            rules=np.where(is_withheld, level_numbers.UNKNOWN_RULE, level_numbers.NO_RULE).astype(
                np.int8
            ),
            donors=np.where(donors.level[own][group] >= 0, donors.entity[own][group], NO_DONOR),
            is_unknown=np.full(len(flat), not groups.is_known),
        )

    def _measured_at(self, number: int, level: ReleaseLevel, donor_level: Integers) -> Integers:
        """The number of the level whose noise each group has."""
        measured_at = np.full(len(donor_level), number)
        for donor in np.unique(donor_level[donor_level >= 0]).tolist():
            key = level.family, PopulationGroupLevel(LEVELS[donor], level.level.iterations)
            measured_at[donor_level == donor] = self._universe.number_of_level[key]
        return measured_at

    def _can_be_measured(
        self, level: ReleaseLevel, position: Integers, measured_at: Integers, groups: OfficialGroups
    ) -> Truths:
        """Whether the level that measured a group tabulates it, with a stage for its table."""
        can_be = np.zeros(len(position), dtype=np.bool_)
        for number in np.unique(measured_at).tolist():
            at = self._universe.levels[number]
            has = np.array(
                [stage in at.design.stages for stage in (Stage.STAGE_2, Stage.TOTAL_ONLY)]
            )
            own = measured_at == number
            can_be[own] = (
                at.is_tabulated[position[own]]
                & has[level.is_total_only[position[own]].astype(np.int64)]
            )
        return can_be & ~(level.is_total_only[position] & (groups.shape is not groups.family.total))


_GREATEST_CHANCE = 1e-15
"""The largest chance that numbers of two different areas are equal and so taken for copies."""


@dataclass(frozen=True, slots=True, eq=False)
class _Donors:
    """The geography level (a position in LEVELS) and entity that gave each group, or NO_DONOR."""

    level: Integers
    entity: Integers


def sets_by_numbers(universe: Universe, groups: Sequence[OfficialGroups]) -> SetsOfPasses:
    """Areas of different kinds with equal numbers for every Detailed group that all kinds tabulate.

    The chance that the noise of two areas agrees in a number is at most that of its likeliest
    value.
    Proof: docs/noise.md#copies-by-numbers.
    """
    level, entity, signature, log_chance = _areas(universe, groups)
    found: dict[Pass, list[CoterminousSet]] = {each: [] for each in universe.passes}
    order = np.argsort(signature, kind="stable")
    _, first, sizes = np.unique(signature[order], return_index=True, return_counts=True)
    for start, size in zip(first[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        members = order[start : start + size]
        if log_chance[members].max() > log(_GREATEST_CHANCE):
            continue
        levels = [LEVELS[number] for number in level[members].tolist()]
        kinds = [geography.kind for geography in levels]
        if len(set(kinds)) == len(kinds):
            pairs = sorted(zip(kinds, entity[members].tolist(), strict=True), key=_place_in_order)
            found[levels[0].tabulation_pass].append(tuple(pairs))
    for sets in found.values():
        sets.sort(key=lambda members: _place_in_order(members[0]))
    return found


def _place_in_order(member: tuple[AreaKind, int]) -> tuple[int, int]:
    kind, entity = member
    return US.donor_order.index(kind), entity


def _areas(
    universe: Universe, groups: Sequence[OfficialGroups]
) -> tuple[Integers, Integers, NDArray[np.uint64], NDArray[np.float64]]:
    """Areas of several kinds, as columns.

    The columns are level, entity, a hash of all numbers, and the log chance of equality.
    """
    compared = np.zeros(CODES, dtype=np.bool_)
    for iteration in universe.lists.iterations:
        is_everywhere = iteration.listed == COMMON
        compared[int(iteration.code)] = is_everywhere and iteration.level == DETAILED
    parts = []
    for part in groups:
        if part.geography.kind in US.donor_order:
            rows = compared[part.code]
            log_chance = _independent_numbers(part) * _log_chance_of_a_number(universe, part)
            level = np.full(int(rows.sum()), LEVELS.index(part.geography))
            parts.append((level, part.entity[rows], _signatures(part)[rows], log_chance[rows]))
    if not parts:
        none = np.empty(0, dtype=np.int64)
        return none, none, none.astype(np.uint64), none.astype(np.float64)
    level, entity, signature, log_chance = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    _, first, area = np.unique(entity * len(LEVELS) + level, return_index=True, return_inverse=True)
    sums, logs = np.zeros(len(first), dtype=np.uint64), np.zeros(len(first))
    np.add.at(sums, area, signature)
    np.add.at(logs, area, log_chance)
    return level[first], entity[first], sums, logs


def _independent_numbers(groups: OfficialGroups) -> Integers:
    """The count of numbers in each group that have independent noise.

    They are its cells that are shown, or its total.
    """
    is_shown = groups.cells == Cell.NUMBER
    cells = [number for number, line in enumerate(groups.lines) if line.cells == 1]
    return np.asarray(
        np.maximum(is_shown[:, cells].sum(axis=1), is_shown.any(axis=1)), dtype=np.int64
    )


def _log_chance_of_a_number(universe: Universe, groups: OfficialGroups) -> float:
    """The log chance of the likeliest value of one draw of noise; 0 if nothing is measured."""
    level = universe.level_of(groups.geography, DETAILED, groups.family)
    if Stage.STAGE_2 not in level.design.stages:
        return 0.0
    return log(float(level.design.noise(Stage.STAGE_2).chance_between(0, 1).mid()))


def _signatures(groups: OfficialGroups) -> NDArray[np.uint64]:
    """A number that two groups share if they have the same code, table and numbers."""
    family = groups.family.number * 16 + groups.family.number_of(groups.shape)
    found = mixed(
        groups.code.astype(np.uint64) * np.uint64(256) + np.uint64(family * 2 + groups.is_known)
    )
    for column in range(groups.counts.shape[1]):
        number = groups.counts[:, column].astype(np.uint64) * np.uint64(4) + groups.cells[:, column]
        found = mixed(found ^ number)
    return found


def donors_of(groups: Sequence[OfficialGroups], sets: SetsOfPasses) -> tuple[list[_Donors], int]:
    """Whose numbers each group has, and how many groups of coterminous areas have their own.

    For each set and group, the first kind that has it gave it to the others if their numbers are
    equal.
    """
    if not groups:
        return [], 0
    set_of: dict[tuple[Pass, AreaKind, int], int] = {}
    for tabulation_pass, of_pass in sets.items():
        for coterminous in of_pass:
            number = len(set_of)  # any number that no other set has
            set_of |= dict.fromkeys(((tabulation_pass, *member) for member in coterminous), number)
    parts = []
    for part in groups:
        numbers = _set_numbers(part, set_of)
        key = np.where(
            numbers < 0, NO_DONOR, (numbers * CODES + part.code) * 16 + part.family.number
        )
        kind = part.geography.kind
        place = US.donor_order.index(kind) if kind in US.donor_order else len(US.donor_order)
        level = np.full(len(part), LEVELS.index(part.geography))
        parts.append((key, np.full(len(part), place), level, part.entity, _signatures(part)))
    key, rank, level, entity, signature = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    in_set = np.flatnonzero(key != NO_DONOR)
    order = in_set[np.lexsort((rank[in_set], key[in_set]))]
    _, first, which = np.unique(key[order], return_index=True, return_inverse=True)
    donor = order[first][which]
    is_copy = (signature[order] == signature[donor]) & (order != donor)
    differing = int((signature[order] != signature[donor]).sum())
    of_level, of_entity = np.full(len(key), NO_DONOR), np.full(len(key), NO_DONOR)
    of_level[order[is_copy]], of_entity[order[is_copy]] = (
        level[donor[is_copy]],
        entity[donor[is_copy]],
    )
    ends = np.cumsum([len(of_shape) for of_shape in groups])[:-1]
    parts_of_donors = zip(np.split(of_level, ends), np.split(of_entity, ends), strict=True)
    return [_Donors(*of_part) for of_part in parts_of_donors], differing


def _set_numbers(
    groups: OfficialGroups, set_of: Mapping[tuple[Pass, AreaKind, int], int]
) -> Integers:
    """The number of the set that each group's area is in, or -1."""
    where = groups.geography.tabulation_pass, groups.geography.kind
    distinct, position = np.unique(groups.entity, return_inverse=True)
    numbers = [set_of.get((*where, entity), -1) for entity in distinct.tolist()]
    return np.array(numbers, dtype=np.int64)[position]
