"""The totals of an earlier release, beside those of a newer one.

The pages of the newer release show with them what changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from safetab.apps.website import data_files
from safetab.apps.website.data_files import Totals
from safetab.apps.website.level_facts import absent_at, is_selected, noise_of_level
from safetab.apps.website.level_rows import MeasuredTables, read_level
from safetab.foundation.arrays import Integers, Truths, find_sorted
from safetab.foundation.findings import shortened
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.groups import GroupLevel
from safetab.release.estimates.noisy_number import reason_of
from safetab.release.files.checksums import invalid
from safetab.release.files.citation import agency_and_year, known_facts, title_of
from safetab.release.files.group_statuses import NOT_TABULATED
from safetab.release.files.numbers.level_numbers import intervals_of
from safetab.release.files.release_folder import ReleaseFolder, open_release_folder
from safetab.release.files.release_universe import Universe

_EARLIER_FOLDER = "earlier"
EARLIER_NAMES = rf"{_EARLIER_FOLDER}/(absent|totals/\d+-\d+/\d+)"
_ABSENT = f"{_EARLIER_FOLDER}/absent"
_NOT_THERE = "x"  # in place of a digit: the earlier release doesn't have the group


class LevelTotals(NamedTuple):
    """The totals of one area level and group level, and the tables that they are in."""

    geography: AreaLevel
    iterations: GroupLevel
    totals: Totals
    tables: MeasuredTables


class _TablesAt(MeasuredTables):
    """Tables whose intervals are computed anew, because a release may have another confidence."""

    def add_selected(self, number: int, totals: Integers, low: Integers, high: Integers) -> None:
        """Keep the intervals at the confidence of these tables, and not those of the release."""
        levels = np.full(len(totals), self.tables[number].level)
        low, high = intervals_of(
            self._universe, self._confidence, totals, levels, np.ones(len(totals), dtype=np.bool_)
        )
        super().add_selected(number, totals, low, high)


def open_earlier(path: Path, newer: ReleaseFolder) -> EarlierRelease:
    """Open an earlier release.

    Raises InvalidInput if it is damaged, or of another design than the newer one.
    """
    opened = open_release_folder(path)
    wanted, found = _design(newer.universe), _design(opened.universe)
    wrong = [
        f"{what} {shortened(found[what])} instead of {shortened(wanted[what])}"
        for what in wanted
        if wanted[what] != found[what]
    ]
    if wrong:
        advice = "Give an earlier release of the same design, or leave --earlier out."
        raise invalid(
            path, f"can't be compared with {newer.path}: it has {'; '.join(wrong)}. {advice}"
        )
    return EarlierRelease(opened, newer)


def _design(universe: Universe) -> dict[str, list[str]]:
    """The facts that two releases must share to be compared, by name.

    The name of a specified product may have a year in it, so it is left out.
    """
    census, product = universe.census, universe.product
    name = f" ({product.name})" if universe.specification is None else ""
    return {
        "counts of": [f"{product.record.nouns}{name}"],
        "area levels": [level.label for level in census.area_levels],
        "group levels": [level.name for level in census.group_levels],
        "kinds of groups": [kind.name for kind in census.group_kinds],
    }


class EarlierRelease:
    """An earlier release of the same design.

    Its areas and groups get the positions that the newer one has for them.
    """

    def __init__(self, opened: ReleaseFolder, newer: ReleaseFolder) -> None:
        self.opened = opened
        self._newer = newer
        self._confidence = newer.facts.options.confidence
        self._tables = _TablesAt(opened.universe, self._confidence)
        self._groups = self._positions_of_groups()
        self._begins: dict[str, list[list[int]]] = {}
        self._in_both = self._the_same = 0

    def write_level(self, site: Path, name: str, own: LevelTotals) -> None:
        """Write the totals of a level that the newer release has areas and groups for.

        `own` are its totals.
        """
        found = self._read(own.geography, own.iterations)
        if found is None:
            return
        universe = self._newer.universe
        self._begins[name] = data_files.write_totals(
            site, f"{_EARLIER_FOLDER}/totals/{name}", found.totals, own.geography, universe
        )
        keys = [
            one.totals.iterations * len(universe.entities[own.geography]) + one.totals.entities
            for one in (own, found)
        ]
        place, is_in_both = find_sorted(*keys)
        mine, other = own.totals.take(place[is_in_both]), found.totals.take(is_in_both)
        is_own = _is_measured_there(mine, own, universe) & _is_measured_there(
            other, found, self.opened.universe
        )
        self._in_both += int(is_own.sum())
        self._the_same += int((is_own & (mine.values == other.values)).sum())

    def write_facts(self, site: Path) -> dict[str, object]:
        """Write why numbers are absent, and return what the pages know of the earlier release.

        Raises InvalidInput if both releases were made from the same measurements, or have nothing
        in common.
        """
        if not any(self._begins.values()):
            nothing = (
                f"has no number for an area and a group of {self._newer.path}:"
                " their ids and codes differ."
            )
            raise invalid(
                self.opened.path,
                f"{nothing} Give an earlier release of the same places and groups.",
            )
        if (
            2 * self._the_same > self._in_both
        ):  # noise that protects anyone makes two draws equal less often
            raise invalid(
                self.opened.path,
                f"has the same measurements as {self._newer.path}: {self._the_same:,} of"
                f" {self._in_both:,} totals are equal. Give a release of another census or of"
                " another draw of noise, or leave --earlier out.",
            )
        data_files.write_data(site, _ABSENT, self._absent())
        return self._facts()

    def _facts(self) -> dict[str, object]:
        """The earlier release's own facts: status, margins, noise, and groups renamed since."""
        universe, facts = self.opened.universe, self.opened.facts
        return {
            "title": title_of(facts.publication, universe.census, universe.product.record),
            "product": {"name": universe.product.name},
            "publication": {
                "agencyAndYear": agency_and_year(facts.publication),
                "facts": list(known_facts(facts.publication).items()),
            },
            "year": self._year(),
            "isRead": facts.origin is not None,
            "date": facts.date.isoformat(),
            "version": facts.version,
            "status": {
                "value": facts.status.value,
                "line": facts.status.line,
                "forRelease": facts.status.is_for_release,
            },
            "tables": [
                {
                    "level": table.level,
                    "stage": table.stage.name,
                    "cells": table.shape.cells,
                    "margin": self._tables.margin(table, table.shape.cells),
                    "least": None if table.is_known else self._tables.margin(table, 1),
                    "isSelected": is_selected(table, universe),
                }
                for table in self._tables.tables
            ],
            "noises": [
                noise_of_level(number, universe, self._confidence)
                for number in range(len(universe.levels))
            ],
            "selected": self._tables.selected_as_json(),
            "totals": self._begins,
            "renamed": self._renamed(),
        }

    def _year(self) -> str:
        """The year of the earlier numbers.

        Nothing if it is not known or the same.
        """
        publications = [one.facts.publication for one in (self.opened, self._newer)]
        years = [one.year if one is not None else "" for one in publications]
        return years[0] if len(set(years)) > 1 else ""

    def _positions_of_groups(self) -> Integers:
        """The position in the newer list of each group.

        It is -1 if the list has no group with this code, level and kind.
        """
        newer = {group.code: group for group in self._newer.universe.lists.iterations}
        position_of, positions = self._newer.universe.number_of_code, []
        for group in self.opened.universe.lists.iterations:
            other = newer.get(group.code)
            is_it = other is not None and (other.level.name, other.kind.name) == (
                group.level.name,
                group.kind.name,
            )
            positions.append(position_of[group.code] if is_it else -1)
        return np.array(positions, dtype=np.int64)

    def _geography(self, newer: AreaLevel) -> AreaLevel | None:
        return next(
            (one for one in self.opened.universe.entities if one.label == newer.label), None
        )

    def _positions_of_areas(self, newer: AreaLevel, own: AreaLevel) -> Integers:
        """The position in the newer release of each area, or -1.

        A whole of other parts is not the same area.
        """
        of_pass = ((self._newer.universe, newer), (self.opened.universe, own))
        parts, own_parts = (
            set(universe.states[level.tabulation_pass]) for universe, level in of_pass
        )
        if newer.kind.is_whole and parts != own_parts:
            return np.full(len(self.opened.universe.entities[own]), -1, dtype=np.int64)
        position_of = {
            one: position
            for position, one in enumerate(self._newer.universe.entities[newer].region_ids)
        }
        ids = self.opened.universe.entities[own].region_ids
        return np.array([position_of.get(one, -1) for one in ids], dtype=np.int64)

    def _read(self, newer: AreaLevel, newer_iterations: GroupLevel) -> LevelTotals | None:
        """The totals of a level, in the newer release's positions.

        Those that it can't have are left out.
        """
        universe, geography = self.opened.universe, self._geography(newer)
        if geography is None:
            return None
        iterations = universe.census.group_level(newer_iterations.name)
        levels = [
            universe.level_of(geography, iterations, family) for family in universe.product.families
        ]
        families = [
            rows
            for level in levels
            if (rows := read_level(self.opened, level, self._tables)) is not None
        ]
        if not families:
            return None
        totals = data_files.totals_of(families, self._tables)
        entities = self._positions_of_areas(newer, geography)[totals.entities]
        groups = self._groups[totals.iterations]
        moved = Totals(groups, entities, totals.tables, totals.values).take(
            (entities >= 0) & (groups >= 0)
        )
        in_order = moved.take(np.lexsort((moved.entities, moved.iterations)))
        return LevelTotals(geography, iterations, in_order, self._tables)

    def _absent(self) -> dict[str, object]:
        """The reasons for absent totals, by level of the newer release and in its positions.

        `areas` are the positions of areas that the earlier release has, in runs; `reasons` have a
        character for each group, as the facts do; `absent` has the reason for other groups by
        level.
        """
        universe = self.opened.universe
        areas: list[list[list[int]]] = []
        reasons: list[str] = []
        absent: list[dict[str, object]] = []
        for newer in self._newer.universe.entities:
            geography = self._geography(newer)
            there = {} if geography is None else absent_at(geography, universe, self.opened.facts)
            areas.append(
                [] if geography is None else _runs(self._positions_of_areas(newer, geography))
            )
            reasons.append("" if geography is None else self._reasons(geography))
            absent.append({level: reason for level, (_, reason, _) in there.items()})
        why = [reason_of(one, None, universe.product, NOT_TABULATED) for one in universe.reasons]
        return {"areas": areas, "reasons": reasons, "absent": absent, "why": why}

    def _reasons(self, geography: AreaLevel) -> str:
        """The reasons of a level for the groups of the newer release.

        They have the form of the facts of a site.
        """
        own = np.array([*data_files.reasons_of_geography(geography, self.opened.universe)])
        characters = np.full(len(self._newer.universe.lists.iterations), _NOT_THERE)
        is_there = self._groups >= 0
        characters[self._groups[is_there]] = own[is_there]
        return "".join(characters.tolist())

    def _renamed(self) -> dict[str, str]:
        """The earlier names of groups whose name has changed, by position."""
        named = self._newer.universe.lists.iterations
        pairs = zip(self._groups.tolist(), self.opened.universe.lists.iterations, strict=True)
        return {
            str(at): group.name for at, group in pairs if at >= 0 and named[at].name != group.name
        }


def _is_measured_there(totals: Totals, level: LevelTotals, universe: Universe) -> Truths:
    """Whether each total is shown and is a measurement of its own level.

    It must not be copied, nor be just 0.
    """
    labels = [universe.levels[table.level].geography.label for table in level.tables.tables]
    is_own = np.array([label == level.geography.label for label in labels], dtype=np.bool_)
    return np.asarray((totals.tables >= 0) & is_own[totals.tables] & (totals.values != 0))


def _runs(positions: Integers) -> list[list[int]]:
    """Positions from 0 as runs: the first of each, and its end."""
    rising = np.sort(positions[positions >= 0])
    runs = np.split(rising, np.flatnonzero(np.diff(rising) > 1) + 1)
    return [[int(run[0]), int(run[-1]) + 1] for run in runs if len(run)]
