"""Whether the noise of a run is the noise that was paid for, exact, fresh, and unrelated from number to number."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from safetab.audit.audited_product import AuditWorld, NoiseWorld
from safetab.audit.drawn_noise import (
    DrawnNoise,
    drawn_noise,
    pairings,
    relations_of_cells,
    relations_of_groups,
    spreads,
)
from safetab.audit.paid_noise import noisy_totals
from safetab.audit.recording import Record, recorded
from safetab.audit.selftest import DRAWS, FALSE_ALARM, p_value, selftest
from safetab.audit.verdicts import Verdict, verdict
from safetab.audit.world_config import MeasuredName, plain_config
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.pipeline.run import run_files
from safetab.privacy.addressed_bits import KEY_BYTES, AddressedBits
from safetab.privacy.calibration import Noise
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.measurement_event import MeasurementEvent
from safetab.privacy.stages import Stage

DISTRIBUTION, EXACT, FRESH, PAID, UNRELATED, WIDE = (
    "noise has its distribution",
    "counts enter exactly",
    "two runs, two noises",
    "noise as charged, charged as claimed",
    "noise of different numbers is unrelated",
    "noise of totals and cells as wide as due",
)
_LARGE_COUNTS = (0, 1, 2**31, 2**53 + 1, 2**60 + 1)  # a float would round the last two
_TIMES = 64  # a rounded count plus noise is right by chance in one of eight cases
_FEWEST_PAIRS = 60
_FEWEST_DRAWS, _MANY_DRAWS = 500, 2_000
_FEWEST_GROUPS, _FEWEST_IN_A_SUM = 100, 1_000
_FAR, _FAR_OF_MANY = 7.0, 9.0  # standard deviations


def noise_checks(folder: Path, chosen: Sequence[NoiseWorld]) -> Iterator[Verdict]:
    for number, noise_world in enumerate(chosen):
        yield from noise_world_checks(noise_world, folder / str(number))


def draw_checks() -> Iterator[Verdict]:
    """Of draws without a census around them."""
    yield _has_its_distribution()
    yield _counts_enter_exactly()


def noise_world_checks(noise_world: NoiseWorld, folder: Path) -> Iterator[Verdict]:
    world = noise_world.write(folder)
    record = _recorded_run(world, folder / "out")
    drawn = drawn_noise(record)
    yield _named(_paid(record, world.parameters, noise_world), noise_world)
    yield _named(_as_wide_as_due(drawn), noise_world)
    yield _named(_unrelated(drawn), noise_world)
    again = drawn_noise(_recorded_run(world, folder / "out-again"))
    yield _named(_two_runs(drawn, again), noise_world)


def _recorded_run(world: AuditWorld, out: Path) -> Record:
    with recorded() as record:
        run_files(world.parameters, world.data, out)
    return record


def _named(found: Verdict, noise_world: NoiseWorld) -> Verdict:
    return replace(found, check=f"{found.check}: {noise_world.name}")


def _has_its_distribution() -> Verdict:
    verdicts = selftest()
    faults = [f"{one.name}: p-value {one.p_value:.2g}" for one in verdicts if not one.is_right]
    seen = f"{DRAWS:,} draws of {len(verdicts)} kinds, false alarm {FALSE_ALARM:g}"
    return verdict(DISTRIBUTION, faults, seen, "a variance that is 3 % off")


def _counts_enter_exactly() -> Verdict:
    """With one key the noise is the same, so a larger count must shift the noisy number by exactly its size."""
    key, noise = os.urandom(KEY_BYTES), DiscreteGaussian(Fraction(9))
    counts = np.array(_LARGE_COUNTS * _TIMES, dtype=np.int64)
    noisy, zero = (noisy_totals(one, noise, AddressedBits(key)) for one in (counts, np.zeros_like(counts)))
    shifts = noisy - zero
    faults = [
        f"a count of {count} became {shift}"
        for count, shift in zip(counts, shifts.tolist(), strict=True)
        if count != shift
    ]
    return verdict(EXACT, faults, f"{len(counts)} counts up to {_LARGE_COUNTS[-1]:,}")


def _two_runs(one: list[DrawnNoise], other: list[DrawnNoise]) -> Verdict:
    """Two keys give the same noise for all these numbers with a probability far below FALSE_ALARM."""
    second = {drawn.question: drawn for drawn in other}
    same, compared, could_find = [], 0, False
    for first in one:
        again = second.get(first.question)
        if again is None:
            continue
        _, here, there = np.intersect1d(first.places, again.places, assume_unique=True, return_indices=True)
        compared += len(here)
        noises = first.noise.reshape(-1)[here], again.noise.reshape(-1)[there]
        could_find |= len(here) >= _FEWEST_PAIRS
        if len(here) >= _FEWEST_PAIRS and (noises[0] == noises[1]).all():
            same.append(f"{first.name}: the same noise twice")
    seen = f"{compared:,} numbers measured twice"
    return verdict(FRESH, same, seen, "a key that two runs share", could_find=could_find)


def _paid(record: Record, parameters: Path, noise_world: NoiseWorld) -> Verdict:
    """Recomputed here from config.json: what each level costs, and how wide its noise must be."""
    plain = plain_config(parameters)
    faults = []
    charged: dict[MeasuredName, dict[Stage, Fraction]] = {}
    for event in record.events:
        name = (event.family.name, event.level.geography.label, int(event.level.iterations))
        charged.setdefault(name, {})[event.stage] = event.cost
        stability, written = noise_world.stability[event.level.iterations], plain.levels[name].budget
        if event.stability != stability:
            faults.append(f"{event.level}: stability {event.stability}, and a record can be in {stability} groups")
        if event.definition.spelling != plain.definition:
            faults.append(f"{event.level}: {event.definition.spelling}, and config.json has {plain.definition}")
        if event.cost != plain.shares()[event.stage] * written:
            faults.append(f"{event.level}, stage {event.stage}: {event.cost} was charged, not its share of the budget")
        if event.noise != _due_noise(event):
            faults.append(f"{event.level}, stage {event.stage}: drew {event.noise}, and {_due_noise(event)} is due")
    for name, costs in charged.items():
        adaptive = costs.get(Stage.STAGE_1, Fraction(0)) + costs.get(Stage.STAGE_2, Fraction(0))
        most = max(adaptive, costs.get(Stage.TOTAL_ONLY, Fraction(0)))
        if most != plain.levels[name].budget:
            faults.append(f"{name}: {most} was charged, and {plain.levels[name].budget} is claimed")
    seen = f"{len(record.events)} charges to {len(charged)} budgets"
    return verdict(PAID, faults, seen, could_find=bool(record.events))


def _due_noise(event: MeasurementEvent) -> Noise:
    if event.definition is PrivacyDefinition.PURE_DP:
        return DiscreteLaplace(event.stability / event.cost)
    return DiscreteGaussian(event.stability / (2 * event.cost))


def _as_wide_as_due(drawn: list[DrawnNoise]) -> Verdict:
    """By stage, shape and size of the count; and each value's share where there are draws enough."""
    faults, not_judged, draws = list[str](), list[str](), 0
    for (name, (at_least, below)), spread in spreads(drawn).items():
        draws += spread.draws
        size = f"counts from {at_least}" if below > 1 << 60 else f"counts from {at_least} to {below - 1}"
        if spread.draws < _FEWEST_DRAWS:
            not_judged.append(f"{name}, {size} ({spread.draws})")
        elif abs(spread.distance) > _FAR_OF_MANY:
            faults.append(f"{name}, {size}: {spread.distance:+.1f} standard deviations from its width")
    usual = [one for one in drawn if one.noise.size >= _MANY_DRAWS]
    for one in usual:
        chance = p_value(one.noise.reshape(-1), one.due)
        if chance < FALSE_ALARM / len(usual):
            faults.append(f"{one.name}: p-value {chance:.2g}")
    power = f"variances 10 % off where there are {int(2 * (_FAR_OF_MANY + 2.33) ** 2 / 0.01):,} draws or more"
    seen = f"{draws:,} draws of totals and cells, by stage, table and size of the count"
    if not_judged:
        seen += f"; fewer than {_FEWEST_DRAWS} draws, so not judged: {'; '.join(not_judged)}"
    return verdict(WIDE, faults, seen, power, could_find=draws > 0 and not not_judged)


def _unrelated(drawn: list[DrawnNoise]) -> Verdict:
    """The correlation of noise at the same place of two questions, in any two cells, and in groups any distance apart.

    Of n independent pairs it is about normal with standard deviation 1 / sqrt(n). The limit is seven of them, and
    nine for cells and distances, of which there are many: all together reach it once in a hundred million audits.
    """
    faults, compared = [], 0
    for name, one, other in pairings(drawn):
        if len(one) < _FEWEST_PAIRS or not np.ptp(one) or not np.ptp(other):
            continue
        compared += 1
        correlation = np.corrcoef(one, other)[0, 1]
        if abs(correlation) * math.sqrt(len(one)) > _FAR:
            faults.append(f"{name}: correlation {correlation:.2f} over {len(one)} pairs")
    for relation in (*relations_of_cells(drawn, _FEWEST_GROUPS), *relations_of_groups(drawn, _FEWEST_IN_A_SUM)):
        compared += relation.looked_at
        if abs(relation.distance) > _FAR_OF_MANY:
            faults.append(f"{relation.name}: {relation.distance:+.1f} standard deviations from unrelated")
    power = f"correlations of {(_FAR + 2.33) / 10:.1f} over 100 pairs, {(_FAR + 2.33) / 100:.2f} over 10,000"
    seen = f"{compared:,} pairs of stages, levels, passes, tables, cells and groups"
    return verdict(UNRELATED, faults, seen, power, could_find=compared > 0)
