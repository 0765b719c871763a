"""Membership: how well somebody who knows everybody else can tell whether one person was counted.

The advantage of a test is its share of true alarms minus its share of false ones. The best test
compares the chances of what is published with and without the person: the likelihood ratio.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import atanh, erf, sqrt, tanh

import numpy as np

from safetab.assessment.theory import sum_of_draws
from safetab.comparison.protections.protection import Floats, Known, Protection, Windows
from safetab.comparison.protections.safetab_runs import LEAST_CHANCE, cells_of, logs_of_suppressed
from safetab.comparison.protections.steps import publish, windows_of
from safetab.comparison.tables.attacked_area import AttackedArea, System, grain_of, lines_of
from safetab.comparison.tables.exact_tables import ExactTables, Int64s, PublishedTables
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.planning.run_plan import LevelPlan, RunPlan, chosen_shapes
from safetab.privacy.calibration import Noise, PrivacyDefinition, Stage

MOST_PEOPLE = 300
"""The most uniques that are tested; a seed chooses them."""
_DRAWS = 40  # least publications of each person's numbers, with and without her
_ALL_DRAWS = 4_000  # least publications of all: the advantage then has a standard error of about 0.01
_MOST_SYSTEMS = 40  # people tested where a whole system must be protected for each of them


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One person: her system, and its numbers that count her, in at most one area of each level."""

    system: System
    numbers: Int64s


def membership(area: AttackedArea, protection: Protection, seed: int) -> float | None:
    """The mean advantage over the area's uniques, on the attacked tables.

    None if there are no uniques, or if records are changed: then no number stands for itself.
    """
    is_number_wise = not getattr(protection.numbers, "has_secondary", False)
    people = _chosen(area, seed, MOST_PEOPLE if is_number_wise else _MOST_SYSTEMS)
    if not people or protection.records is not None:
        return None
    if not is_number_wise:  # such a method has no random bits
        whole = {id(person.system): person.system.exact for person in people}
        published = {of: publish(protection, exact, np.random.default_rng([seed, 6])) for of, exact in whole.items()}
        return float(np.mean([_is_seen(person, protection, published[id(person.system)], seed) for person in people]))
    sets = _sets_of_people(people)
    ratios = np.stack([_ratios(people, sets, protection, seed, is_absent) for is_absent in (0, 1)])
    # where equal sets of people have equal errors a second such number tells nothing: the better test counts
    once = np.where((sets == np.arange(len(sets)))[:, None], ratios, 0.0)
    firsts = np.cumsum([0, *(len(person.numbers) for person in people[:-1])])
    return max(_advantage(np.add.reduceat(each, firsts, axis=1)) for each in (ratios, once))


def membership_of_safetab(area: AttackedArea, plan: RunPlan, seed: int, all_draws: int = _ALL_DRAWS) -> float | None:
    """The same for SafeTab: the noise of every number that counts a person is drawn again and again."""
    people = _chosen(area, seed, MOST_PEOPLE)
    if not people:
        return None
    random = np.random.default_rng([seed, 8])
    sums = np.zeros((2, len(people), _draws_of(people, all_draws)))
    for level in plan.levels:
        if level.family is plan.config.product.families[0] and level.level.geography.label in area.levels:
            for place, group in _groups_of(area, level, people):
                for is_absent in (0, 1):
                    sums[is_absent, place] += group.ratios(is_absent, sums.shape[2], random)
    return _advantage(sums)


def _draws_of(people: Sequence[Target], all_draws: int = _ALL_DRAWS) -> int:
    return max(_DRAWS, all_draws // len(people))


def _advantage(ratios: Floats) -> float:
    """True alarms minus false ones, from ratios with everybody and without the person; above 0 is an alarm."""
    return float((ratios[0] > 0).mean() - (ratios[1] > 0).mean())


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """A person's group in one area, as SafeTab measures it."""

    level: LevelPlan
    total: int
    cell: int | None  # of the grain, if the attacked table has cells
    is_total_only: bool
    shape: int | None  # None: the noisy total of stage 1 chooses

    def ratios(self, is_absent: int, draws: int, random: np.random.Generator) -> Floats:
        """The logarithm of the chance of each draw with the person, minus that without her."""
        design, family = self.level.design, self.level.family
        if self.is_total_only:
            return _ratios_of_noise(design.noise(Stage.TOTAL_ONLY), 1, is_absent, draws, random)[1]
        shapes, ratios = np.full(draws, self.shape or 0), np.zeros(draws)
        if self.shape is None:
            errors, ratios = _ratios_of_noise(design.noise(Stage.STAGE_1), 1, is_absent, draws, random)
            shapes = chosen_shapes(self.total + errors, design.thresholds)
        for number in np.unique(shapes).tolist():
            here, shape = np.flatnonzero(shapes == number), family.shapes[number]
            cells = None if self.cell is None else cells_of(shape, grain_of(family))
            summed = shape.cells if cells is None or self.cell is None else len(cells[self.cell])
            noise = design.noise(Stage.STAGE_2)
            errors, of_stage_2 = _ratios_of_noise(noise, summed, is_absent, len(here), random)
            ratios[here] += of_stage_2
            if not number and design.suppression_threshold is not None:
                with_her, without_her = logs_of_suppressed(design, self.total - np.arange(2))
                ratios[here[self.total + errors <= design.suppression_threshold]] = with_her - without_her
        return ratios


def _ratios_of_noise(
    noise: Noise, summed: int, is_absent: int, draws: int, random: np.random.Generator
) -> tuple[Int64s, Floats]:
    """Errors of a sum of draws, counted from the number with the person, and what each tells."""
    own = sum_of_draws(noise, summed)
    errors = drawn_noise(own.chances, draws, random) - is_absent
    logs = np.log(np.maximum(np.pad(own.chances, 1), LEAST_CHANCE))
    at = errors + own.reach + 1
    return errors, logs[at] - logs[at + 1]


def drawn_noise(chances: Floats, draws: int, random: np.random.Generator) -> Int64s:
    """Draws of symmetric noise that has these chances around 0."""
    return random.choice(len(chances), draws, p=chances / chances.sum()) - len(chances) // 2


def _groups_of(area: AttackedArea, level: LevelPlan, people: Sequence[Target]) -> Iterator[tuple[int, _Group]]:
    """The groups of a level that count somebody and are measured, with her place among the people."""
    lines, known = lines_of(grain_of(level.family)), level.known_shapes()
    position = {iteration.code: place for place, iteration in enumerate(level.universe.iterations)}
    of_level = area.levels.index(level.level.geography.label)
    for place, person in enumerate(people):
        system = person.system
        numbers = [number for number in person.numbers if area.areas[system.areas[number]].level == of_level]
        if not numbers or system.iteration not in position:
            continue
        iteration, shape = position[system.iteration], None
        if known is not None:
            index = area.areas[system.areas[numbers[0]]].entity * len(position) + iteration
            at = int(np.searchsorted(known[0], index))
            if at == len(known[0]) or known[0][at] != index:
                continue
            shape = int(known[1][at])
        cells = [lines[line - 1] for line in system.lines[numbers].tolist() if line and lines[line - 1].cells == 1]
        total, is_total_only = int(system.exact.group_totals[numbers[0]]), level.universe.is_total_only[iteration]
        yield place, _Group(level, total, cells[0].first_cell if cells else None, bool(is_total_only), shape)


def membership_bound(plan: RunPlan) -> float:
    """The greatest advantage against the whole release, for any attacker and every person.

    Under rho-zCDP it is that of Gaussian noise: a test between two normal distributions sqrt(2 rho)
    standard deviations apart (Dong, Roth and Su, Gaussian differential privacy, 2022). That SafeTab
    draws whole numbers adds at most a share of 1 / (20 sigma squared). Where some sigma is below 1
    it is the bound for any mechanism with this rho instead.
    """
    loss = float(max(plan.loss_of_a_person(each) for each in plan.config.passes))
    noise = [stage.noise for level in plan.levels for stage in level.design.stages.values()]
    is_wide = all(isinstance(each, DiscreteGaussian) and each.sigma_squared >= 1 for each in noise)
    return bound_of_loss(plan.config.privacy_definition, loss, is_wide=is_wide)


def bound_of_loss(definition: PrivacyDefinition, loss: float, *, is_wide: bool = True) -> float:
    """The greatest advantage at a loss, rho or epsilon; `is_wide`: the noise is Gaussian, and sigma at least 1.

    Without that, an alarm's chances (1 + t) / 2 and (1 - t) / 2 have a divergence of 2 t artanh(t),
    which is at most rho. Under epsilon-DP they differ by at most a factor of e to the epsilon.
    """
    if definition is PrivacyDefinition.PURE_DP:
        return tanh(loss / 2)
    if is_wide:
        return erf(sqrt(loss) / 2)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle < 1 and 2 * middle * atanh(middle) <= loss else (low, middle)
    return high


def _chosen(area: AttackedArea, seed: int, most: int) -> list[Target]:
    """Some of the area's uniques, each with the numbers that count her."""
    every = [(system, leaf) for system in area.systems for leaf in system.uniques.tolist()]
    chosen = np.random.default_rng([seed, 4]).permutation(len(every))[:most]
    return [_target(*every[place]) for place in np.sort(chosen).tolist()]


def _target(system: System, leaf: int) -> Target:
    """The person who is alone in a leaf."""
    rows = system.rows
    of_leaf = rows.members[rows.starts[leaf] : rows.starts[leaf + 1]]
    [unknown] = of_leaf[system.truth[of_leaf] == 1].tolist()
    counting = np.searchsorted(rows.starts, np.flatnonzero(rows.members == unknown), side="right") - 1
    return Target(system, np.concatenate([[leaf], counting[counting != leaf]]))


def _is_seen(person: Target, protection: Protection, with_her: PublishedTables, seed: int) -> bool:
    """Whether the publication of the whole system changes with the person: then nothing is uncertain."""
    system, exact = person.system, person.system.exact
    counts_her = np.isin(np.arange(len(exact.counts)), person.numbers)
    in_her_areas = np.isin(system.areas, system.areas[person.numbers])
    without = ExactTables(
        exact.counts - counts_her,
        exact.keys - np.where(counts_her, exact.keys[person.numbers[0]], np.uint64(0)),
        exact.group_totals - in_her_areas,
        exact.area_people - in_her_areas,
        exact.parts,
    )
    without_her = publish(protection, without, np.random.default_rng([seed, 6]))
    is_same = np.array_equal(with_her.withheld_by, without_her.withheld_by)
    return not (is_same and np.array_equal(with_her.numbers.filled(0), without_her.numbers.filled(0)))


def _sets_of_people(people: Sequence[Target]) -> Int64s:
    """For each number of each person, the first of hers that counts the same people."""
    first: dict[tuple[int, bytes], int] = {}
    sets = list[int]()
    for place, person in enumerate(people):
        rows = person.system.rows
        for number in person.numbers.tolist():
            parts = rows.members[rows.starts[number] : rows.starts[number + 1]]
            counted = np.sort(parts[person.system.truth[parts] > 0]).tobytes()
            sets.append(first.setdefault((place, counted), len(sets)))
    return np.array(sets, dtype=np.int64)


def _ratios(people: Sequence[Target], sets: Int64s, protection: Protection, seed: int, is_absent: int) -> Floats:
    """What each number of each person tells in each draw: her presence, with keys of their own.

    It is the logarithm of the number's chance with the person minus that without her.
    """
    bits, draws = np.random.default_rng([seed, 5, is_absent]), _draws_of(people)
    exact = [(person.system.exact, person.numbers) for person in people]
    counts, totals, everybody = (
        np.repeat(np.concatenate(of_people), draws)
        for of_people in (
            [own.counts[numbers] for own, numbers in exact],
            [own.group_totals[numbers] for own, numbers in exact],
            [own.area_people[numbers] for own, numbers in exact],
        )
    )
    keys = bits.integers(0, 1 << 64, (len(sets), draws), dtype=np.uint64)[sets].ravel()  # equal sets, equal keys
    keys = np.where(counts > is_absent, keys, np.uint64(0))
    tables = ExactTables(counts - is_absent, keys, totals - is_absent, everybody - is_absent)
    known = Known(counts - 1, counts, counts.astype(np.float64))
    windows = windows_of(protection, publish(protection, tables, bits), known)
    with_her, without_her = logs_at(windows, counts), logs_at(windows, counts - 1)
    is_possible = (with_her > -np.inf) | (without_her > -np.inf)
    ratios = np.subtract(with_her, without_her, out=np.zeros(len(counts)), where=is_possible)
    return ratios.reshape(-1, draws)


def logs_at(windows: Windows, counts: Int64s) -> Floats:
    """The logarithm of each number's chance at a true count: minus infinity outside its window, 0 without one."""
    sizes = np.diff(windows.starts)
    place = counts - windows.firsts
    is_inside = (place >= 0) & (place < sizes)
    logs = np.where(sizes == 0, 0.0, -np.inf)
    logs[is_inside] = windows.logs[windows.starts[:-1][is_inside] + place[is_inside]]
    return logs
