"""Protect one counted census in several ways; measure what users lose, and attack what is published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from safetab.assessment.assess import bits_of_run
from safetab.census.area_levels import AreaKind
from safetab.comparison.attacks import averaging, differencing
from safetab.comparison.attacks.attack import Limits, baseline, exposure, findings
from safetab.comparison.attacks.controls import controls
from safetab.comparison.attacks.membership import membership, membership_bound, membership_of_safetab
from safetab.comparison.examples import Examples, printed_number
from safetab.comparison.measures.utility import key_of_seed, utility
from safetab.comparison.protections.protection import Protection, Publication
from safetab.comparison.protections.safetab_runs import safetab_publication
from safetab.comparison.protections.swapped_data import leaving_share, swapped_data
from safetab.comparison.protections.swapping import Swapping
from safetab.comparison.published_area import SplitTotals, Swapped, published_area
from safetab.comparison.request import CompareRequest
from safetab.comparison.results import Compared, Comparison, Exposure, ShownNumber, added
from safetab.comparison.tables.count_area import CountedArea
from safetab.comparison.tables.exact_tables import Int64s
from safetab.comparison.world import World, census_words, comes_with, counted_world, facts_of, guarantee_of
from safetab.foundation.findings import InvalidInput
from safetab.foundation.progress import NoProgress, Progress

_SHOWN_GROUPS = 10


@dataclass(frozen=True, slots=True, eq=False)
class _Protected:
    """One protection, and the worlds that it publishes from."""

    protection: Protection
    world: World  # whose parameters SafeTab runs with
    swapped: World | None  # the world after a step on records

    def publication(self, counted: CountedArea, seed: int) -> Publication:
        """The first draw in one attacked area."""
        if self.protection.is_safetab:
            bits = bits_of_run(0, key_of_seed(seed))
            return safetab_publication(counted.area, self.world.inputs.plan, self.world.census.known, bits)
        return published_area(counted, self.protection, seed, self._swapped(counted))

    def _swapped(self, counted: CountedArea) -> Swapped | None:
        swapping, level = self.protection.records, counted.chosen.level
        if self.swapped is None or not isinstance(swapping, Swapping):
            return None
        areas, kinds = self.world.inputs.files.geography_of_pass[level.tabulation_pass], counted.census.kinds

        def people_of(kind: AreaKind) -> Int64s:
            return self.world.engine.records_of_areas(counted.census.level_of(level.tabulation_pass, kind))

        leaving = leaving_share(swapping, areas, kinds, people_of, (level.kind, counted.chosen.entity))
        return Swapped(self.swapped.people_of(counted.chosen), leaving)


class Comparing:
    """Compares protections of one world; the seed decides every draw."""

    def __init__(self, parameters: Path, data: Path, world: World, request: CompareRequest, progress: Progress) -> None:
        self._parameters, self._data = parameters, data
        self._world, self._request, self._progress = world, request, progress
        self.areas = world.areas(request)
        self._left_out = list[str]()
        self._printed = dict[str, Publication]()
        self._splits = {counted.area.region_id: SplitTotals.of(counted, request.seed) for counted in self.areas}
        self._examples = Examples(self.areas[0].area if self.areas else None)

    def comparison(self, protections: Sequence[Protection], left_out: Sequence[str] = ()) -> Comparison:
        """Everything that the page shows; it also says which protections were left out already."""
        self._left_out += left_out
        seed, first = self._request.seed, self.areas[0] if self.areas else None
        threads = self._request.options.threads
        self._progress.step("Attacking without the tables", 1)
        without = [baseline(counted.area, seed, threads) for counted in self.areas]
        self._progress.advance()
        self._progress.step("Comparing protections", len(protections))
        compared = list[Compared]()
        for protection in protections:
            compared += self._compared_if_possible(protection)
            self._progress.advance()
        self._progress.step("Checking the attack itself", 1)
        exposures = {each.protection.spec: each.exposure for each in compared if each.exposure is not None}
        proven_by = " or ".join(dict.fromkeys(each.proven_by for each in exposures.values() if each.proven_by))
        checks = controls(first.area, seed, exposures) if first else ()
        self._progress.advance()
        shown_area, shown = _shown(first, self._printed) if first else ("", ())
        unfinished = [
            f"{each.protection.spec}: {sentence}"
            for each in compared
            for sentence in (each.exposure.not_finished if each.exposure else ())
        ]
        return Comparison(
            census=census_words(self._world, self.areas, self._request),
            protections=tuple(compared),
            is_sweep=self._request.is_sweep,
            baseline=added(without),
            controls=checks,
            examples=self._examples.found(),
            shown=shown,
            shown_area=shown_area,
            facts={
                **facts_of(self._world, self.areas, self._request),
                **({"Proven by": proven_by} if proven_by else {}),
            },
            not_finished=(*self._left_out, *unfinished),
        )

    def _compared_if_possible(self, protection: Protection) -> list[Compared]:
        """The measures of one protection; none if a preset needs what these data lack, which is said."""
        try:
            with self._protected(protection) as protected:
                return [self._compared(protected)]
        except InvalidInput as invalid:
            if self._request.protections:
                raise
            reasons = " ".join(finding.message for finding in invalid.findings)
            self._left_out.append(f"{protection.spec} was left out: {reasons}")
            return []

    @contextmanager
    def _protected(self, protection: Protection) -> Iterator[_Protected]:
        """The worlds that a protection publishes from: the true one, and another where records change."""
        if protection.parameters is not None:
            with counted_world(protection.parameters, self._data, self._request, NoProgress()) as other:
                yield _Protected(protection, other, None)
        elif isinstance(protection.records, Swapping):
            with TemporaryDirectory(dir=self._request.options.temporary_folder) as temporary:
                inputs, place = self._world.inputs, Path(temporary)
                data = swapped_data(self._data, place, protection.records, inputs, self._request.seed)
                with counted_world(self._parameters, data, self._request, NoProgress()) as swapped:
                    yield _Protected(protection, self._world, swapped)
        else:
            yield _Protected(protection, self._world, None)

    def _compared(self, protected: _Protected) -> Compared:
        """The measures of one protection."""
        protection, request = protected.protection, self._request
        counts = None if protected.swapped is None else protected.swapped.census
        table = utility(protection, protected.world.census, runs=request.runs, seed=request.seed, published=counts)
        exposed = [self._exposure(protected, counted) for counted in self.areas]
        guarantee = guarantee_of(protection, protected.world.inputs.plan)
        return Compared(protection, table, added(exposed), guarantee, comes_with(protection))

    def _exposure(self, protected: _Protected, counted: CountedArea) -> Exposure:
        """The people whom the first draw exposes in one area, by all attacks."""
        protection, seed, area = protected.protection, self._request.seed, counted.area
        split = self._splits[area.region_id]
        publication = protected.publication(counted, seed)
        limits = Limits(self._request.time_limit, self._request.options.threads)
        found = findings(area, publication, seed, limits)
        exposed = exposure(area, found, seed)
        if counted is self.areas[0]:
            self._printed[protection.spec] = publication
            self._examples.see(protection, publication, found, split.groups, seed)
        plan = protected.world.inputs.plan
        finished = all(tables.is_finished for tables in publication.tables)
        late = () if finished else ("secondary suppression ran out of time, so more numbers may follow.",)
        if protection.is_safetab:
            whole = split.under_one_budget(publication) if split.places else {}
            member, bound = membership_of_safetab(area, plan, seed), membership_bound(plan)
        else:
            is_asked = protection.records is None and split.places
            whole = averaging.averaging(split.groups, protection, seed) if is_asked else {}
            member, bound = membership(area, protection, seed), None
        return replace(
            exposed,
            membership=member,
            membership_bound=bound,
            averaging=whole,
            differencing=differencing.differencing(area, publication),
            not_finished=(*exposed.not_finished, *late),
        )


def _shown(counted: CountedArea, printed: dict[str, Publication]) -> tuple[str, tuple[ShownNumber, ...]]:
    """Ten groups of one smallest area as each protection would print their totals, from large to small."""
    area = counted.area
    smallest = [place for place, each in enumerate(area.areas) if each.level == area.smallest]
    place = sorted(smallest, key=lambda each: area.areas[each].people)[len(smallest) // 2]
    found = [
        (int(system.exact.counts[number]), group, int(number))
        for group, system in enumerate(area.systems)
        for number in np.flatnonzero((system.areas == place) & (system.lines == 0) & (system.exact.counts > 0))
    ]
    found.sort(key=lambda each: -each[0])
    steps = np.unique(np.linspace(0, len(found) - 1, _SHOWN_GROUPS).astype(int)) if found else ()
    shown = []
    for size, group, number in (found[step] for step in steps):
        texts = {spec: printed_number(each, group, number) for spec, each in printed.items()}
        shown.append(ShownNumber(area.systems[group].name, size, texts))
    return area.areas[place].name, tuple(shown)
