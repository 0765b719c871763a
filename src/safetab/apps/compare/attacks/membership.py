"""Membership: how well someone who knows everybody else can tell if a person was counted.

The advantage of a test is its share of true alarms minus its share of false ones. The best test
compares the chances of what is published with and without the person: the likelihood ratio.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import atanh, ceil, erf, sqrt, tanh
from typing import NamedTuple

import numpy as np

from safetab.apps.compare.protections.protection import Floats, Known, Protection, Windows
from safetab.apps.compare.protections.safetab_runs import (
    MeasuredGroup,
    cells_of,
    logs_of_suppressed,
    measured_groups,
)
from safetab.apps.compare.protections.steps import publish, windows_of
from safetab.apps.compare.tables.attacked_area import AttackedArea, System, grain_of, lines_of
from safetab.apps.compare.tables.exact_tables import ExactTables, Int64s
from safetab.core.algorithm.run_plan import LevelPlan, RunPlan, chosen_shapes
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.privacy.calibration import Stage
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.runs.observed.theory import sum_of_draws

_MOST_PEOPLE = 300  # uniques that are tested at most; a seed chooses them
_DRAWS = 40  # least publications of each person's numbers, with and without her
# least publications of all: the advantage then has a standard error of about 0.01
_ALL_DRAWS = 4_000
_MOST_SYSTEMS = 40  # people tested where a whole system must be protected for each of them


class Target(NamedTuple):
    """One person: her system, and the numbers in it that count her.

    They are in at most one area of each level.
    """

    system: System
    numbers: Int64s


def membership(
    area: AttackedArea, protection: Protection, seed: int, unchanged: Collection[int] | None = None
) -> float | None:
    """The mean advantage over the area's uniques, on the attacked tables.

    `unchanged` are the levels whose numbers stay as they are when records are changed; only these
    are read then. None if there are no uniques, or no numbers to read.
    """
    is_number_wise = protection.numbers is None or not protection.numbers.width
    people = _chosen(area, seed, _MOST_PEOPLE if is_number_wise else _MOST_SYSTEMS)
    if unchanged is not None:
        is_read = np.isin([each.level for each in area.areas], list(unchanged))
        people = [
            Target(system, numbers[is_read[system.areas[numbers]]]) for system, numbers in people
        ]
    everybody, people = len(people), [person for person in people if len(person.numbers)]
    if not people:
        return None
    if not is_number_wise:
        if unchanged is not None:  # what is withheld here also depends on numbers that were changed
            return None
        return float(np.mean(list(_is_seen(people, protection))))
    # for each number of each person, the first of hers that counts the same people: the sum of
    # their keys is the same
    all_keys = [person.system.exact.keys[person.numbers] for person in people]
    owners = np.repeat(np.arange(len(people), dtype=np.uint64), [len(keys) for keys in all_keys])
    _, first, inverse = np.unique(
        [owners, np.concatenate(all_keys)], axis=1, return_index=True, return_inverse=True
    )
    sets = first[inverse.ravel()]
    ratios = np.stack([_ratios(people, sets, protection, seed, is_absent) for is_absent in (0, 1)])
    # where equal sets of people have equal errors, a second such number tells nothing: the better
    # test counts
    once = np.where((sets == np.arange(len(sets)))[:, None], ratios, 0.0)
    firsts = np.cumsum([0, *(len(person.numbers) for person in people[:-1])])
    found = max(_advantage(np.add.reduceat(each, firsts, axis=1)) for each in (ratios, once))
    return found * len(people) / everybody  # of the others no number says anything


def membership_of_safetab(
    area: AttackedArea, plan: RunPlan, seed: int, all_draws: int = _ALL_DRAWS
) -> float | None:
    """The mean advantage over the area's uniques with SafeTab; None if there are no uniques.

    The noise of every number that counts a person is drawn again and again.
    """
    people = _chosen(area, seed, _MOST_PEOPLE)
    if not people:
        return None
    random, family = np.random.default_rng([seed, 8]), plan.config.product.families[0]
    cell_of = {
        place: line.first_cell
        for place, line in enumerate(lines_of(grain_of(family)), 1)
        if line.cells == 1
    }
    sums = np.zeros((2, len(people), max(_DRAWS, all_draws // len(people))))
    for level in (each for each in plan.levels if each.family is family):
        groups = {(group.system, group.total): group for group in measured_groups(area, level)}
        for place, (system, numbers) in enumerate(people):
            for group in (
                groups[system, number] for number in numbers if (system, number) in groups
            ):
                lines = system.lines[numbers[system.areas[numbers] == system.areas[group.total]]]
                cell = next((cell_of[line] for line in lines.tolist() if line in cell_of), None)
                for is_absent in (0, 1):
                    sums[is_absent, place] += _ratios_of_group(
                        level, group, cell, is_absent, sums.shape[2], random
                    )
    return _advantage(sums)


def _advantage(ratios: Floats) -> float:
    """True alarms minus false ones, from ratios with everybody and without the person.

    A ratio above 0 is an alarm.
    """
    return float((ratios[0] > 0).mean() - (ratios[1] > 0).mean())


def _ratios_of_group(
    level: LevelPlan,
    group: MeasuredGroup,
    cell: int | None,
    is_absent: int,
    draws: int,
    random: np.random.Generator,
) -> Floats:
    """The log-likelihood ratio of a person's group in each draw.

    It is the logarithm of its chance with her, minus that without her.
    """
    design, family, total = level.design, level.family, int(group.system.exact.counts[group.total])
    if group.is_total_only:
        return _ratios_of_noise(design.noise(Stage.TOTAL_ONLY), 1, is_absent, draws, random)[1]
    shapes, ratios = np.full(draws, group.shape or 0), np.zeros(draws)
    if group.shape is None:
        errors, ratios = _ratios_of_noise(design.noise(Stage.STAGE_1), 1, is_absent, draws, random)
        shapes = chosen_shapes(total + errors, design.thresholds)
    for number in np.unique(shapes).tolist():
        here, shape = np.flatnonzero(shapes == number), family.shapes[number]
        cells = cells_of(shape, grain_of(family))
        summed = len(cells[cell]) if cells and cell is not None else shape.cells
        errors, of_stage_2 = _ratios_of_noise(
            design.noise(Stage.STAGE_2), summed, is_absent, len(here), random
        )
        ratios[here] += of_stage_2
        if not number and design.suppression_threshold is not None:
            with_her, without_her = logs_of_suppressed(design, total - np.arange(2))
            ratios[here[total + errors <= design.suppression_threshold]] = with_her - without_her
    return ratios


def _ratios_of_noise(
    noise: NoiseDistribution, summed: int, is_absent: int, draws: int, random: np.random.Generator
) -> tuple[Int64s, Floats]:
    """Errors of a sum of draws, counted from the number with the person, and what each tells."""
    own = sum_of_draws(noise, summed)
    errors = drawn_noise(own.chances, draws, random) - is_absent
    return errors, own.log_chances(errors) - own.log_chances(errors + 1)


def drawn_noise(chances: Floats, draws: int, random: np.random.Generator) -> Int64s:
    """Draws of symmetric noise that has these chances around 0."""
    return random.choice(len(chances), draws, p=chances / chances.sum()) - len(chances) // 2


def membership_bound(plan: RunPlan, *, is_changed: bool = False) -> float:
    """The greatest advantage about presence, or a changed record, for any attacker and person.

    It is rounded up: to 0.01, or as far as a limit below 1 stays below 1, to 0.0001 at most.
    """
    losses = [
        (plan.loss_of_a_person(each), plan.loss_of(each).bounded) for each in plan.config.passes
    ]
    loss = float(max(each[is_changed] for each in losses))
    noise = [stage.noise for level in plan.levels for stage in level.design.stages.values()]
    variances = [each.least_variance for each in noise]
    bound = bound_of_loss(plan.config.privacy_definition, loss, min(variances, default=0.0))
    rounded = [ceil(digits * bound) / digits for digits in (100, 1_000, 10_000)]
    return next((each for each in rounded if each < 1), 1.0)


def bound_of_loss(definition: PrivacyDefinition, loss: float, least_variance: float) -> float:
    """The greatest advantage at a loss, rho or epsilon, if no noise has a smaller variance.

    `least_variance` is sigma squared. Gaussian noise would leave a test between two normal
    distributions sqrt(2 rho) standard deviations apart (Dong, Roth and Su, Gaussian differential
    privacy, 2022). SafeTab draws whole numbers: from a sigma of 1 on, such noise is that of a
    normal distribution whose sigma is smaller by a share of at most 1 / (20 sigma squared), which
    raises the advantage by no larger share. With a sigma below 1, an alarm's chances (1 + t) / 2
    and (1 - t) / 2 have a divergence of 2 t artanh(t), which is at most rho. Under epsilon-DP they
    differ by at most a factor of e to the epsilon.
    """
    if definition.is_pure:
        return tanh(loss / 2)
    if least_variance >= 1:
        return min(1.0, erf(sqrt(loss) / 2) * (1 + 1 / (20 * least_variance)))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if middle < 1 and 2 * middle * atanh(middle) <= loss else (low, middle)
        )
    return high


def _chosen(area: AttackedArea, seed: int, most: int) -> list[Target]:
    """Some of the area's uniques, each with the numbers that count her."""
    every = [(system, leaf) for system in area.systems for leaf in system.uniques.tolist()]
    people = list[Target]()
    for place in np.sort(np.random.default_rng([seed, 4]).permutation(len(every))[:most]).tolist():
        system, leaf = every[place]
        members, row_of = system.rows.members, system.rows.row_of_member
        counting = row_of[members == members[(row_of == leaf) & (system.truth[members] == 1)]]
        people.append(Target(system, np.append(leaf, counting[counting != leaf])))
    return people


def _is_seen(people: Sequence[Target], protection: Protection) -> Iterator[bool]:
    """Whether the publication of each person's whole system changes with her.

    Such a method has no random bits.
    """
    no_bits = np.random.default_rng(0)
    published = cache(lambda system: publish(protection, system.exact, no_bits))
    for person in people:
        system, exact = person.system, person.system.exact
        counts, in_her_areas = (
            exact.counts.copy(),
            np.isin(system.areas, system.areas[person.numbers]),
        )
        counts[person.numbers] -= 1
        totals, everybody = exact.group_totals - in_her_areas, exact.area_people - in_her_areas
        without = replace(exact, counts=counts, group_totals=totals, area_people=everybody)
        both = published(system), publish(protection, without, no_bits)
        with_her, without_her = (np.stack([each.withheld_by, each.numbers.data]) for each in both)
        yield not np.array_equal(with_her, without_her)


def _ratios(
    people: Sequence[Target], sets: Int64s, protection: Protection, seed: int, is_absent: int
) -> Floats:
    """The log-likelihood ratio of each number in each draw.

    It is the logarithm of its chance with the person, minus that without her.
    """
    bits, draws = (
        np.random.default_rng([seed, 5, is_absent]),
        max(_DRAWS, _ALL_DRAWS // len(people)),
    )
    counts, totals, everybody = (
        np.repeat(
            np.concatenate([getattr(own.system.exact, field)[own.numbers] for own in people]), draws
        )
        for field in ("counts", "group_totals", "area_people")
    )
    # equal sets, equal keys
    keys = bits.integers(0, 1 << 64, (len(sets), draws), dtype=np.uint64)[sets].ravel()
    keys = np.where(counts > is_absent, keys, np.uint64(0))
    tables = ExactTables(counts - is_absent, keys, totals - is_absent, everybody - is_absent)
    is_total = np.repeat(
        np.concatenate([own.system.lines[own.numbers] == 0 for own in people]), draws
    )
    known = Known(counts - 1, counts, counts.astype(np.float64), is_total)
    windows = windows_of(protection, publish(protection, tables, bits), known)
    with_her, without_her = logs_at(windows, counts), logs_at(windows, counts - 1)
    is_possible = (with_her > -np.inf) | (without_her > -np.inf)
    ratios = np.subtract(with_her, without_her, out=np.zeros(len(counts)), where=is_possible)
    return ratios.reshape(-1, draws)


def logs_at(windows: Windows, counts: Int64s) -> Floats:
    """The logarithm of each number's chance at a true count.

    It is minus infinity outside the number's window, and 0 without one.
    """
    sizes, place = np.diff(windows.starts), counts - windows.firsts
    is_inside = (place >= 0) & (place < sizes)
    logs = np.where(sizes == 0, 0.0, -np.inf)
    logs[is_inside] = windows.logs[windows.starts[:-1][is_inside] + place[is_inside]]
    return logs
