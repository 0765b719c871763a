"""A release, opened for people who use its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import TABULATED_ITERATION_LEVELS, CharacteristicIteration
from safetab.estimates.difference import Difference
from safetab.estimates.estimate import Estimate
from safetab.estimates.ratio import Ratio
from safetab.estimates.reading.absence import Absence
from safetab.estimates.reading.group_numbers import GroupNumbers
from safetab.estimates.reading.instead import instead_of
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.release_contents import Geographic, Grouped, ReleaseContents
from safetab.estimates.results import Answer, Answers, GroupTable
from safetab.estimates.sums import sum_notes, sum_of_estimates
from safetab.foundation.argument_types import checks_arguments
from safetab.foundation.findings import shortened
from safetab.release.release_folder import ReleaseFolder, open_release_folder

Addend = Answer | Answers | tuple[Geographic, Grouped]

_PAIR = ("area", "group")


def open_release(path: str | Path) -> Release:
    """Opens OUT of a run, or OUT/release. Raises `safetab.InvalidInput` if there is none."""
    return Release(open_release_folder(Path(path)))


class Release(ReleaseContents):
    """Answers questions about a release.

    Areas and groups are given by name or by id, as docs/names.md says. What is not found or not unique raises an
    `InvalidInput` with candidates. A number that is absent comes back as an `Absence`, which
    says why and what to use instead; it is never taken for zero.
    """

    def __init__(self, folder: ReleaseFolder) -> None:
        super().__init__(folder)
        self._numbers = GroupNumbers(folder)

    @checks_arguments
    def total(
        self, geography: Geographic, group: Grouped, *, level: str | None = None, kind: str | None = None
    ) -> Answer:
        """How many people of a group live in an area, or what else the release counts of them.

        Args:
            geography: The area: its name or its id.
            group: The race or ethnicity group: its name or its code.
            level: The level of the area, if its name fits several.
            kind: alone, combination or ethnicity, if the name of the group fits several.
        """
        entity, iteration = self._found(geography, group, level, kind)
        answer = self._numbers.total(entity, iteration)
        return instead_of(answer, self._universe, self._numbers) if isinstance(answer, Absence) else answer

    @checks_arguments
    def table(
        self,
        geography: Geographic,
        group: Grouped,
        *,
        level: str | None = None,
        kind: str | None = None,
        family: str | None = None,
        adjusted: bool = False,
    ) -> GroupTable | Absence:
        """What the product's tables show of a group, as finely as the release has it.

        Args:
            geography: The area: its name or its id.
            group: The race or ethnicity group: its name or its code.
            level: The level of the area, if its name fits several.
            kind: alone, combination or ethnicity, if the name of the group fits several.
            family: Which of its tables, if the product has several: by the name of the family.
            adjusted: Gives the least-squares cells, labelled, with which the tables of all families have one total.
        """
        entity, iteration = self._found(geography, group, level, kind)
        if adjusted:
            found = self._numbers.adjusted_table(entity, iteration, self._lookup.family(family))
            if found is None:
                raise self._lookup.refusal("adjusted", "there is no second table of the group to agree with.")
            answer = found
        else:
            answer = self._numbers.table(entity, iteration, self._lookup.family(family))
        return instead_of(answer, self._universe, self._numbers) if isinstance(answer, Absence) else answer

    @checks_arguments
    def totals(
        self,
        *,
        group: Grouped | None = None,
        geography: Geographic | None = None,
        level: str | None = None,
        kind: str | None = None,
        within: Geographic | None = None,
    ) -> Answers:
        """Totals of one group in all areas of a level, or of all groups in one area.

        With a group, areas without a number are among the answers as absences; with an area, published groups alone.

        Args:
            group: The race or ethnicity group; give the level too.
            geography: The area, if no group is given.
            level: The level of the areas: nation, state, county, tract, place or aiannh.
            kind: alone, combination or ethnicity.
            within: A state, or a county if the level is tract: the areas in it alone.
        """
        if group is not None and geography is None and level is not None:
            return self._in_all_areas(group, level, kind, within)
        if geography is not None and group is None:
            return self._of_all_groups(self.geography(geography, level), kind)
        raise self._lookup.refusal("totals", "give group= and level=, or geography= alone.")

    @checks_arguments
    def sum(self, addends: Iterable[Addend], what: str | None = None) -> Estimate:
        """The sum of numbers, with its exact noise, and an interval that knows which of them passed suppression.

        `notes` of the result say who is counted more than once and who is missing.

        Args:
            addends: Numbers, answers of `totals`, or pairs of an area and a group.
            what: What to call the sum.
        """
        answers = [answer for addend in addends for answer in self._answers(addend)]
        parts = [one for one in answers if isinstance(one, Estimate)]
        absences = [one for one in answers if isinstance(one, Absence)] + [one for part in parts for one in part.absent]
        if not parts:
            raise self._lookup.refusal("sum", f"nothing to add up: {shortened(_why(absences), between='; ')}.")
        notes = sum_notes(self._universe, parts, absences)
        return sum_of_estimates(parts, what or f"the sum of {len(parts):,} numbers", notes, tuple(absences))

    @checks_arguments
    def differ(self, a: Answer, b: Answer) -> Difference:
        """How far two numbers are apart, and whether they may be equal; noise that they share cancels.

        Args:
            a: A number of this release.
            b: The number that is taken from it.
        """
        return Difference(self._present(a), self._present(b))

    @checks_arguments
    def ratio(self, a: Answer, b: Answer) -> Ratio:
        """A ratio or a share, with the interval of Fieller's method, or a wider one where selection matters.

        Args:
            a: A number of this release.
            b: The number that it is divided by.
        """
        return Ratio(self._present(a), self._present(b))

    def _found(
        self, geography: Geographic, group: Grouped, level: str | None, kind: str | None
    ) -> tuple[Entity, CharacteristicIteration]:
        entity = self._lookup.entity(geography, level)
        return entity, self._lookup.group(group, kind, at=entity.geography)

    def _present(self, answer: Answer) -> Estimate:
        if isinstance(answer, Absence):
            raise self._lookup.refusal(answer.what, f"has no number ({answer.status}). {answer.reason}")
        if any(measured.release != self._numbers.release for measured in answer.form.weights):
            raise self._lookup.refusal(answer.what, "is of another release. Ask this one for all numbers.")
        return answer

    def _answers(self, addend: Addend) -> Iterable[Answer]:
        if isinstance(addend, Answers | Estimate | Absence):
            answers = addend if isinstance(addend, Answers) else [addend]
            return [one if isinstance(one, Absence) else self._present(one) for one in answers]
        if not isinstance(addend, tuple) or len(addend) != len(_PAIR):
            raise self._lookup.refusal("sum", f"give numbers, answers of totals(), or pairs ({', '.join(_PAIR)}).")
        entity, iteration = self._found(*addend, None, None)
        return [self._numbers.total(entity, iteration)]

    def _in_all_areas(self, group: Grouped, level: str, kind: str | None, within: Geographic | None) -> Answers:
        geographies = self._lookup.geographies_of(level)
        iteration = self._lookup.group(group, kind, at=geographies[0])
        entities = self._lookup.entities(geographies)
        if within is not None:
            entities = self._inside(entities, self.geography(within))
        by_level: dict[GeographyLevel, list[Entity]] = {}
        for entity in entities:
            by_level.setdefault(entity.geography, []).append(entity)
        return Answers(
            tuple(
                answer
                for of_level in by_level.values()
                for answer in self._numbers.totals_of_group(of_level, iteration)
            ),
            product=self._universe.product,
        )

    def _of_all_groups(self, entity: Entity, kind: str | None) -> Answers:
        wanted = None if kind is None else self._lookup.kind(kind)
        codes = {one.code: one for one in self._universe.lists.iterations if wanted is None or one.kind is wanted}
        return Answers(
            tuple(
                answer
                for iterations in TABULATED_ITERATION_LEVELS
                for answer in self._numbers.totals_of_area(entity, iterations, codes)
            ),
            product=self._universe.product,
        )


def _why(absences: Sequence[Absence]) -> list[str]:
    return [f"{one.what} ({one.status})" for one in absences] or ["no numbers were given"]
