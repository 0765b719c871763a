"""`safetab compare`: protect one counted census in several ways, measure, and attack.

The measures are of what users lose; the attacks are on what is published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from safetab.apps.compare.attacks.arithmetic import (
    SplitGroups,
    averaging,
    averaging_example,
    differencing,
)
from safetab.apps.compare.attacks.attack import (
    CHECK_OF_SAFETAB,
    LARGE_SCALE,
    baseline,
    controls,
    exposure,
    findings,
)
from safetab.apps.compare.attacks.membership import (
    membership,
    membership_bound,
    membership_of_safetab,
)
from safetab.apps.compare.examples import add_examples, shown_numbers
from safetab.apps.compare.measures.utility import key_of_seed, utility
from safetab.apps.compare.pages.words import text
from safetab.apps.compare.protections.protection import (
    Known,
    Protection,
    PublishedArea,
    RecordStep,
    told_once,
)
from safetab.apps.compare.protections.safetab_runs import safetab_publication
from safetab.apps.compare.protections.steps import publish, windows_of
from safetab.apps.compare.results import Compared, Comparison, Exposure, WorkedExample, added
from safetab.apps.compare.tables.attacked_area import AttackedArea
from safetab.apps.compare.tables.count_area import CountedArea
from safetab.apps.compare.world import (
    CompareRequest,
    World,
    checked_protections,
    comes_with,
    counted_world,
    guarantee_of,
)
from safetab.apps.compare.written_tables import write_comparison
from safetab.foundation.files import whole_path
from safetab.foundation.findings import Finding, InvalidInput
from safetab.foundation.locked_folder import locked_folder
from safetab.foundation.progress import NoProgress, Progress
from safetab.foundation.result_tables import Result
from safetab.inputs.configuration import require_parameters
from safetab.runs import guards
from safetab.runs.observed.assess import bits_of_run
from safetab.runs.options import TEMPORARY_PREFIX

_MOST_GROUPS, _LEAST_PEOPLE, _MOST_PEOPLE = 200, 5, 199


@dataclass(frozen=True, slots=True, eq=False)
class _Protected:
    """One protection, and the worlds that it publishes from."""

    protection: Protection
    world: World  # whose parameters SafeTab runs with
    swapped: World | None  # the world after a step on records

    def publication(self, counted: CountedArea, seed: int) -> PublishedArea:
        """The first draw in one attacked area: the published numbers, and what they tell."""
        protection, systems, records = (
            self.protection,
            counted.area.systems,
            self.protection.records,
        )
        if protection.is_safetab:
            return _safetab_publication(self.world, seed, counted.area)
        swapped = (
            None
            if self.swapped is None
            else counted.recounted(self.swapped.people_of(counted.chosen))
        )
        exact = swapped or [system.exact for system in systems]
        leaving = 0.0 if records is None else self._leaving(records, counted)
        tables, windows = [], []
        for place, (system, counts) in enumerate(zip(systems, exact, strict=True)):
            known = Known.of(system)
            published = publish(protection, counts, np.random.default_rng([seed, place]))
            found = windows_of(
                protection, published, known if swapped is None else known.of_changed_records
            )
            found = told_once(found, system.rows) if protection.repeats_errors else found
            if records is not None:
                found = records.windows(found, known, leaving, system.leaves)
            tables.append(published)
            windows.append(found)
        return PublishedArea(tables, windows, can_be_proven=not leaving)

    def _leaving(self, records: RecordStep, counted: CountedArea) -> float:
        """The share of people who were taken out of their smallest area."""
        census, level = counted.census, counted.chosen.level
        return records.leaving_share(
            self.world.inputs.files.geography_of_pass[level.tabulation_pass],
            census.kinds,
            lambda kind: self.world.engine.records_of_areas(
                census.level_of(level.tabulation_pass, kind)
            ),
            (level.kind, counted.chosen.entity),
        )

    def unchanged(self, counted: CountedArea) -> set[int] | None:
        """The attacked levels whose numbers a step on records leaves as they are.

        None without such a step.
        """
        census, records = counted.census, self.protection.records
        if records is None:
            return None
        areas = self.world.inputs.files.geography_of_pass[counted.chosen.level.tabulation_pass]
        kept = records.kinds_nobody_leaves(areas, census.kinds)
        return {
            place
            for place, label in enumerate(counted.area.levels)
            if census.area_level(label).kind in kept
        }


def _safetab_publication(world: World, seed: int, area: AttackedArea) -> PublishedArea:
    """The first run of SafeTab, as it publishes an area."""
    return safetab_publication(
        area, world.inputs.plan, world.census.known, bits_of_run(0, key_of_seed(seed))
    )


_Split = tuple[SplitGroups, Sequence[tuple[int, int, int]]]
"""Groups whose totals are asked for again and again, in parts; and places of the totals.

The place of a total is a system, a number and an area.
"""


def _split_totals(counted: CountedArea, seed: int) -> _Split:
    """Some groups of 5 to 199 people that the seed chooses among those of the smallest areas."""
    area = counted.area
    places = [
        (place, number, of)
        for place, system in enumerate(area.systems)
        for number, of in zip(
            system.totals.tolist(), system.areas[system.totals].tolist(), strict=True
        )
        if area.areas[of].level == area.smallest
        and _LEAST_PEOPLE <= system.exact.counts[number] <= _MOST_PEOPLE
    ]
    which = np.sort(np.random.default_rng([seed, 5]).permutation(len(places))[:_MOST_GROUPS])
    places = [places[each] for each in which.tolist()]
    by_value, keys = counted.by_value([(place, of) for place, _, of in places])
    names = [f"{area.systems[place].name}, {area.areas[of].name}" for place, _, of in places]
    people = np.array([area.areas[of].people for _, _, of in places], dtype=np.int64)
    return SplitGroups(names, by_value, keys, people, counted.ordered_values), places


def as_published(split: _Split, publication: PublishedArea) -> dict[int, float]:
    """The share of totals that are published exactly.

    It is for methods that aren't run with a table builder.
    """
    groups, places = split
    printed = [publication.tables[place].numbers.filled(-1)[number] for place, number, _ in places]
    return {0: float(np.equal(printed, groups.by_value.sum(axis=1)).mean())}


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonSummary(Result):
    """The protections compared, and the work that was not finished."""

    warnings: tuple[Finding, ...]
    protections: tuple[str, ...]  # their specs
    not_finished: tuple[str, ...]

    @property
    def _title(self) -> str:
        return f"Protections compared: {len(self.protections):,}"

    def to_arrow(self) -> pa.Table:
        """A row for each protection: its spec."""
        return pa.table({"protection": [*self.protections]})


def compare_files(
    parameters: Path,
    data: Path,
    out: Path,
    request: CompareRequest,
    progress: Progress | None = None,
) -> ComparisonSummary:
    """Compare protections on one synthetic census and write the page and its numbers.

    All of it is written, or nothing. Raises InvalidInput if an input or option is wrong or the
    people may be real, RunFailed if the machine fails.
    """
    progress = progress or NoProgress()
    require_parameters(parameters, data)
    out = whole_path(out)
    protections, left_out = checked_protections(parameters, data, out, request)
    threads = guards.pyarrow_threads(request.options.threads)
    with (
        guards.os_errors_as_run_failed(),
        guards.findings_logged(None),
        guards.own_errors_logged(None),
        threads,
    ):
        with counted_world(parameters, data, request, progress) as world:
            comparison = Comparing(parameters, data, world, request, progress).comparison(
                protections, left_out
            )
        progress.step("Writing the page", 1)
        write_comparison(out, comparison, request)
        progress.advance()
    specs = tuple(each.protection.spec for each in comparison.protections)
    return ComparisonSummary(world.warnings, specs, comparison.not_finished)


class Comparing:
    """Compares protections of one world; the seed decides every draw."""

    def __init__(
        self,
        parameters: Path,
        data: Path,
        world: World,
        request: CompareRequest,
        progress: Progress,
    ) -> None:
        self._parameters, self._data = parameters, data
        self._world, self._request, self._progress = world, request, progress
        self._areas = world.areas(request)
        self._left_out = dict[str, list[str]]()  # specs by the reason
        self._printed = dict[str, PublishedArea]()
        self._splits = [_split_totals(counted, request.seed) for counted in self._areas]
        self._examples = dict[str, WorkedExample]()

    def comparison(
        self, protections: Sequence[Protection], left_out: Mapping[str, str]
    ) -> Comparison:
        """Everything that the page shows.

        It also says which protections were left out already, and why.
        """
        for spec, reason in left_out.items():
            self._left_out.setdefault(reason, []).append(spec)
        seed, progress = self._request.seed, self._progress
        progress.step("Attacking without the tables", 1)
        without = [
            baseline(counted.area, seed, self._request.options.threads) for counted in self._areas
        ]
        progress.advance()
        progress.step("Comparing protections", len(protections))
        compared = list[Compared]()
        for protection in protections:
            compared += self._compared(protection)
            progress.advance()
        progress.step("Checking the attack itself", 1)
        exposures = {
            each.protection.spec: each.exposure for each in compared if each.exposure is not None
        }
        has_safetab = self._areas and any(each.protection.is_safetab for each in compared)
        large = None
        with suppress(InvalidInput):  # such budgets may be out of range
            large = (
                partial(_safetab_publication, self._world.scaled(LARGE_SCALE), seed)
                if has_safetab
                else None
            )
        checks = controls(self._areas[0].area, seed, exposures, large) if self._areas else ()
        progress.advance()
        proven_by = " or ".join(
            dict.fromkeys(each.proven_by for each in exposures.values() if each.proven_by)
        )
        facts = self._world.facts(self._areas, self._request)
        shown_area, shown = (
            shown_numbers(self._areas[0].area, self._printed) if self._areas else ("", ())
        )
        unfinished = [
            f"{spec}: {sentence}"
            for spec, each in exposures.items()
            for sentence in each.not_finished
        ]
        if self._areas and not self._areas[0].area.uniques:
            unfinished.append(text("nobody_alone", area=self._areas[0].area.name))
        elif has_safetab and not any(check.name == CHECK_OF_SAFETAB for check in checks):
            unfinished.append(text("no_check_of_safetab"))
        return Comparison(
            census=self._world.words(self._areas, self._request),
            protections=tuple(compared),
            is_sweep=self._request.is_sweep,
            baseline=added(without),
            controls=checks,
            examples=tuple(self._examples.values()),
            shown=shown,
            shown_area=shown_area,
            facts={**facts, "Proven by": proven_by} if proven_by else facts,
            not_finished=(
                *(f"left out: {'; '.join(specs)}: {why}" for why, specs in self._left_out.items()),
                *unfinished,
            ),
        )

    def _compared(self, protection: Protection) -> list[Compared]:
        """The measures of one protection.

        There are none if a preset needs what these data lack, which is said.
        """
        seed, runs = self._request.seed, self._request.runs
        try:
            with self._protected(protection) as protected:
                world, swapped = protected.world, protected.swapped
                counts = None if swapped is None else swapped.census
                table = utility(protection, world.census, runs=runs, seed=seed, published=counts)
                exposed = [
                    self._exposure(protected, *each)
                    for each in zip(self._areas, self._splits, strict=True)
                ]
                guarantee = guarantee_of(protection, world.inputs.plan)
                return [
                    Compared(protection, table, added(exposed), guarantee, comes_with(protection))
                ]
        except InvalidInput as invalid:
            if self._request.protections:
                raise
            reasons = " ".join(finding.message for finding in invalid.findings)
            self._left_out.setdefault(reasons, []).append(protection.spec)
            return []

    @contextmanager
    def _protected(self, protection: Protection) -> Iterator[_Protected]:
        """The worlds that a protection publishes from.

        They are the true one, and another where records change.
        """
        if protection.parameters is not None:
            with counted_world(
                protection.parameters, self._data, self._request, NoProgress()
            ) as other:
                yield _Protected(protection, other, None)
        elif protection.scale is not None:
            yield _Protected(protection, self._world.scaled(protection.scale), None)
        elif protection.is_of_2020:
            yield _Protected(protection, self._world.of_2020(), None)
        elif protection.records is not None:
            with locked_folder(self._request.options.temporary_folder, TEMPORARY_PREFIX) as place:
                inputs = self._world.inputs
                data = protection.records.changed_data(
                    self._data, place, inputs, self._request.seed
                )
                with counted_world(self._parameters, data, self._request, NoProgress()) as swapped:
                    yield _Protected(protection, self._world, swapped)
        else:
            yield _Protected(protection, self._world, None)

    def _exposure(self, protected: _Protected, counted: CountedArea, split: _Split) -> Exposure:
        """The people whom the first draw exposes in one area, by all attacks."""
        protection, seed, area = protected.protection, self._request.seed, counted.area
        publication = protected.publication(counted, seed)
        found = findings(
            area, publication, seed, self._request.time_limit, self._request.options.threads
        )
        exposed = exposure(area, found, seed)
        groups, places = split
        is_asked = protection.records is None and bool(places)
        if counted is self._areas[0]:
            self._printed[protection.spec] = publication
            averaged = partial(averaging_example, groups, protection, seed) if is_asked else None
            add_examples(self._examples, area, protection, publication, found, averaged)
        plan = protected.world.inputs.plan
        finished = all(tables.is_finished for tables in publication.tables)
        late = () if finished else (text("secondary_late"),)
        if protection.is_safetab:
            member, bound = membership_of_safetab(area, plan, seed), membership_bound(plan)
        else:
            member, bound = membership(area, protection, seed, protected.unchanged(counted)), None
        has_builder = not (protection.is_safetab or protection.is_secondary)
        whole = averaging(groups, protection, seed) if is_asked and has_builder else {}
        return replace(
            exposed,
            membership=member,
            membership_bound=bound,
            averaging=whole or (as_published(split, publication) if is_asked else {}),
            differencing=differencing(area, publication),
            not_finished=(*exposed.not_finished, *late),
            is_checked=protection.is_secondary and finished,
        )
