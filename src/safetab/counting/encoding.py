"""The numbers that records get: atoms for their smallest areas and patterns for their codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise, product

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.run_plan import LevelPlan
from safetab.counting.patterns import IterationLists, PatternTable, iteration_lists
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.inputs.planner import PublicFiles
from safetab.model.census.area_levels import AreaLevel, Pass
from safetab.model.census.areas import Atoms
from safetab.model.census.groups import IterationMap, iteration_map_of, numbers_of_codes
from safetab.model.census.sensitivity import CodeMaps
from safetab.model.products.record import AreaColumns, ListedAreas


@dataclass(frozen=True, slots=True)
class PartAtoms:
    """The atoms of one part, which follow each other in the numbering of all passes together."""

    tabulation_pass: Pass
    first_atom: int
    end_atom: int


AreaLookup = tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
"""The tables in which areas are looked up.

Whether each part is in a pass; where its areas begin; the smallest areas of all passes, rising;
their atoms.
"""
LEFT_OUT, NOT_DIGITS, NOT_LISTED = -1, -2, -3
"""Instead of an atom: the area is in no pass that runs, is not a number, or is not listed."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedLookup:
    """The atom and the pass of each listed area by its number.

    Those of an unknown area end both.

    An area in no pass that runs has LEFT_OUT instead of an atom, and -1 instead of the position of
    a pass. Records are counted by pass without looking at atoms.
    """

    atom_of_area: NDArray[np.int32]
    pass_of_area: NDArray[np.int8]


class Encoding:
    """Numbers for areas, code combinations and iterations, over all passes of a run."""

    def __init__(self, files: PublicFiles) -> None:
        self._files = files
        self.record = files.config.product.record
        geographies = files.geography_of_pass
        self._atoms: Mapping[Pass, Atoms] = {
            which: geographies[which].atoms() for which in geographies
        }
        self._first_atom: dict[Pass, int] = {}
        self.atom_count = 0
        for which, atoms in self._atoms.items():
            self._first_atom[which] = self.atom_count
            self.atom_count += atoms.count
        census, several = files.config.census, self.record.several
        self.parts_of_pass: dict[Pass, list[int]] = {which: [] for which in geographies}
        # of whole passes: a filter doesn't change which records exist
        self.pass_of_part = census.pass_of_part
        self.parts_there = census.parts_there
        self.iteration_number: dict[str, int] = {}
        if isinstance(self.record.area, ListedAreas):
            self.pass_of_part = {number: which.name for number, which in enumerate(geographies)}
            most = min(several.most_used, files.config.most_answers) if several.columns else 1
            self.patterns = PatternTable(most, may_be_empty=True, may_skip=several.skips_gaps)
        else:
            number_of, parts_of = census.part.ids.number, files.config.parts_of
            self.parts_of_pass = {
                which: [number_of(part) for part in parts_of(which)] for which in geographies
            }
            self.patterns = PatternTable(files.config.most_answers)
        self._grains = [*product(census.tabulated_group_levels, census.grains)]
        for level, kind in self._grains:
            for iteration in files.lists.tabulated_iterations(level, kind):
                self.iteration_number.setdefault(iteration.code, len(self.iteration_number))

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes that run."""
        return tuple(self.parts_of_pass)

    @cached_property
    def numbers_of_codes(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """The numbers of the codes of either classification.

        Raises InvalidInput if there are too many.
        """
        several, single = self.record.several.listed, self.record.single.listed
        if several is None or single is None:
            of_list = numbers_of_codes(self._files.lists.code_names)
            return of_list, of_list
        maps = zip(*(of_map.classifications for of_map in self.iteration_maps), strict=True)
        groups_of = [_groups_of_codes(of_slot) for of_slot in maps] or [{}, {}]
        try:
            return numbers_of_codes(several, groups_of[0]), numbers_of_codes(single, groups_of[1])
        except ValueError as error:
            raise InvalidInput(
                [Finding(Severity.ERROR, "the code lists", "", str(error))]
            ) from None

    @cached_property
    def listed_lookup(self) -> ListedLookup:
        """The arrays by which a listed area's atom and pass are found."""
        if not isinstance(self.record.area, ListedAreas):
            raise TypeError("the areas of this record are spelled in digits")
        count = len(self.record.area.keys)
        found = ListedLookup(
            np.full(count + 1, LEFT_OUT, dtype=np.int32), np.full(count + 1, -1, dtype=np.int8)
        )
        found.atom_of_area[count] = NOT_LISTED
        for number, (which, atoms) in enumerate(self._atoms.items()):
            found.atom_of_area[atoms.smallest] = self._first_atom[which] + atoms.atom_of_area
            found.pass_of_area[self._files.geography_of_pass[which].smallest] = number
        return found

    @cached_property
    def parts(self) -> list[PartAtoms]:
        """The parts of all passes, in the order of their atoms."""
        found = []
        for tabulation_pass, atoms in self._atoms.items():
            first_atom = self._first_atom[tabulation_pass]
            _, firsts = np.unique(atoms.part_of_atom, return_index=True)
            bounds = [*(first_atom + firsts).tolist(), first_atom + atoms.count]
            found += [PartAtoms(tabulation_pass, first, end) for first, end in pairwise(bounds)]
        return found

    @cached_property
    def area_lookup(self) -> AreaLookup:
        """The arrays by which a smallest area's atom is found."""
        if not isinstance(self.record.area, AreaColumns):
            raise TypeError("the areas of this record are listed")
        part_digits, *other_digits = self.record.area.widths
        parts_end = 10**part_digits
        is_of_pass = np.zeros(parts_end, dtype=np.bool_)
        is_of_pass[list(chain.from_iterable(self.parts_of_pass.values()))] = True
        areas = np.concatenate([atoms.smallest for atoms in self._atoms.values()])
        firsts = [np.int32(first) for first in self._first_atom.values()]
        numbered = zip(firsts, self._atoms.values(), strict=True)
        atom_of_area = np.concatenate([first + atoms.atom_of_area for first, atoms in numbered])
        if not (areas[1:] > areas[:-1]).all():  # the passes' parts lie between each other's
            order = np.argsort(areas, kind="stable")
            areas, atom_of_area = areas[order], atom_of_area[order]
        first_of_part = np.searchsorted(areas, np.arange(parts_end + 1) * 10 ** sum(other_digits))
        return is_of_pass, first_of_part, areas, atom_of_area

    def entity_of_atom(self, geography: AreaLevel) -> NDArray[np.int64]:
        """For every atom of every pass the position of its entity among those of a level, or -1."""
        positions = np.full(self.atom_count, -1, dtype=np.int64)
        first = self._first_atom[geography.tabulation_pass]
        of_pass = self._atoms[geography.tabulation_pass].positions(geography.kind)
        positions[first : first + len(of_pass)] = of_pass
        return positions

    @cached_property
    def iteration_maps(self) -> list[IterationMap]:
        """One map from codes to iterations for each iteration level and grain of geography."""
        most, slots = self.patterns.most_answers, self._files.config.census.classifications
        map_of = partial(
            iteration_map_of, self._files.lists, most_answers=most, classifications=slots
        )
        return [map_of(level, kind) for level, kind in self._grains]

    def iteration_lists(self) -> IterationLists:
        """The iterations of each pattern, of all levels and grains together."""
        return self.lists_of(slice(None))

    def lists_of(self, patterns: NDArray[np.int64] | slice) -> IterationLists:
        """The iterations of some patterns, which are numbered anew in their order."""
        codes = self.patterns.codes[patterns]
        return iteration_lists(
            codes, self.iteration_maps, self.iteration_number, self.numbers_of_codes
        )

    def number_at(self, level: LevelPlan) -> NDArray[np.int64]:
        """The numbers of a level's iterations, in the level's order."""
        iterations = level.universe.iterations
        return np.array(
            [self.iteration_number[iteration.code] for iteration in iterations], dtype=np.int64
        )

    def position_at(self, level: LevelPlan) -> NDArray[np.int64]:
        """For every iteration its position among those of a level, or -1."""
        positions = np.full(len(self.iteration_number), -1, dtype=np.int64)
        positions[self.number_at(level)] = np.arange(len(level.universe.iterations))
        return positions


def _groups_of_codes(maps: Sequence[CodeMaps]) -> Mapping[str, object]:
    """The groups of each code in every map: codes with the same ones mean the same."""
    codes = {code for of_map in maps for code in (*of_map.any_of, *of_map.only)}
    return {
        code: tuple((of_map.any_of.get(code), of_map.only.get(code)) for of_map in maps)
        for code in codes
    }
