"""Whether noise is what was paid for, added exactly, new in each run, and independent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safetab.apps.audit.audited_product import AuditWorld, NoiseWorld, due_noise
from safetab.apps.audit.audited_runs import Question, Record
from safetab.apps.audit.selftest import DRAWS, FALSE_ALARM, noisy_totals, p_value, selftest
from safetab.apps.audit.verdicts import Verdict, verdict
from safetab.apps.audit.worlds.configuration import MeasuredName, plain_config
from safetab.core.noise.discrete_gaussian import DiscreteGaussian
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.privacy.addressed_bits import KEY_BYTES, AddressedBits
from safetab.core.privacy.calibration import Stage
from safetab.runs.run import run_files

DISTRIBUTION = "noise has its distribution"
EXACT = "counts enter exactly"
FRESH = "two runs, two noises"
PAID = "noise as charged, charged as claimed"
UNRELATED = "noise of different numbers is unrelated"
WIDE = "noise of totals and cells as wide as due"
CHECKS_OF_A_NOISE_WORLD = 4
_LARGE_COUNTS = (0, 1, 2**31, 2**53 + 1, 2**60 + 1)  # a float would round the last two
_TIMES = 64  # a rounded count plus noise is right by chance in one of eight cases
_FEWEST_PAIRS = 60
_FEWEST_DRAWS = 500  # to judge a width
_MANY_DRAWS = 2_000  # to judge the share of each value
_FEWEST_GROUPS = 100  # to judge two cells
_FEWEST_IN_A_SUM = 1_000  # pairs of groups, to judge a distance
_FAR = 7.0  # standard deviations
_FAR_OF_MANY = 9.0  # where very many are compared
_POWER = 2.33  # standard deviations that an estimate stays above, 99 times of 100
_MOST_CELLS = 1 << 8  # more than a shape has
_REACH = 12  # widths; what lies beyond does not change a sum of squares
_Noises = NDArray[np.int64]
_CountClass = tuple[int, int]
"""Counts from the first number to below the second."""
_COUNT_CLASSES: tuple[_CountClass, ...] = ((0, 1), (1, 10), (10, 50), (50, 1 << 62))


@dataclass(frozen=True, slots=True, eq=False)
class DrawnNoise:
    """The noise of one question: a row for each group by rising index, a column for each cell."""

    question: Question
    indices: NDArray[np.int64]
    counts: NDArray[np.int64]
    noise: NDArray[np.int64]

    @property
    def due(self) -> NoiseDistribution:
        """The distribution that the noise must have."""
        return self.question[0].noise

    @property
    def name(self) -> str:
        """Level, stage and table in words."""
        return f"{self.question[0].level}, {self.kind}"

    @property
    def kind(self) -> str:
        """Stage and table in words, and the table family if there are several; not the level."""
        event, shape = self.question
        family = f"{event.family.name}: " if event.product.has_several_families else ""
        return f"{family}stage {int(event.stage)}, {shape.words}"

    @property
    def addresses(self) -> NDArray[np.int64]:
        """A number for each group and cell, the same in every question."""
        cells = np.arange(self.noise.shape[1])
        return np.asarray(self.indices[:, None] * _MOST_CELLS + cells).reshape(-1)


def _drawn_noise(record: Record) -> list[DrawnNoise]:
    """The noise of each question of a run, in the order in which they were asked."""
    found = []
    for question, counts_of in record.counts.items():
        if counts_of:
            indices = sorted(counts_of)
            counts = np.stack([counts_of[index] for index in indices])
            noisy = np.stack([record.noisy[question][index] for index in indices])
            found.append(DrawnNoise(question, np.array(indices), counts, noisy - counts))
    return found


def _spreads(drawn: list[DrawnNoise]) -> dict[tuple[str, _CountClass], tuple[int, float]]:
    """The spread of noise, by stage and shape, over all levels, for each class of counts.

    A spread is the number of draws, and the distance of their mean square from the variance in
    standard deviations.
    """
    sums: dict[tuple[str, _CountClass], list[float]] = {}
    for part in drawn:
        variance, deviation_of_squares = _moments(part.due)
        squares = part.noise.astype(float) ** 2 / variance - 1
        for at_least, below in _COUNT_CLASSES:
            chosen = squares[(part.counts >= at_least) & (part.counts < below)]
            found = sums.setdefault((part.kind, (at_least, below)), [0, 0.0, 0.0])
            found[0] += chosen.size
            found[1] += float(chosen.sum())
            found[2] += chosen.size * deviation_of_squares**2
    return {
        key: (int(draws), total / sqrt(variance) if variance else 0.0)
        for key, (draws, total, variance) in sums.items()
    }


@lru_cache(maxsize=256)
def _moments(noise: NoiseDistribution) -> tuple[float, float]:
    """The variance, and the standard deviation of a square divided by the variance."""
    values = np.arange(1, int(_REACH * 3 * noise.width) + _REACH)
    chances = np.array([float(noise.probability(int(value))) for value in values])
    variance = 2 * float((chances * values.astype(float) ** 2).sum())
    fourth = 2 * float((chances * values.astype(float) ** 4).sum())
    return variance, sqrt(fourth / variance**2 - 1)


def _pairings(drawn: list[DrawnNoise]) -> Iterator[tuple[str, _Noises, _Noises]]:
    """Noise that would be equal if an address were used twice, and words for what is compared.

    The pairs are the same addresses in two questions, and neighbouring groups in one question.
    """
    for first, second in combinations(drawn, 2):
        yield f"{first.name} and {second.name}", *_noise_at_same_addresses(first, second)
    for part in drawn:
        before, after = part.noise[:-1].reshape(-1), part.noise[1:].reshape(-1)
        yield f"{part.name}: neighbouring groups", before, after


def _noise_at_same_addresses(first: DrawnNoise, second: DrawnNoise) -> tuple[_Noises, _Noises]:
    """The noise of both at the groups and cells that both have, in the same order."""
    _, ours, theirs = np.intersect1d(
        first.addresses, second.addresses, assume_unique=True, return_indices=True
    )
    return first.noise.reshape(-1)[ours], second.noise.reshape(-1)[theirs]


@dataclass(frozen=True, slots=True)
class _Relation:
    """The strongest of several correlations, in standard deviations from none."""

    name: str
    looked_at: int  # number of correlations
    distance: float


def relations_of_cells(drawn: list[DrawnNoise], fewest: int) -> Iterator[_Relation]:
    """The strongest correlation of two cells of a table, by level and for all levels together.

    Tables with fewer groups than `fewest` are left out.
    """
    tables = [(part.name, part.noise) for part in drawn]
    by_kind: dict[str, list[NDArray[np.float64]]] = {}
    for part in drawn:
        by_kind.setdefault(part.kind, []).append(part.noise / sqrt(_moments(part.due)[0]))
    for_all_levels = [(kind, np.concatenate(parts)) for kind, parts in by_kind.items()]
    for name, noise in (*tables, *for_all_levels):
        groups, cells = noise.shape
        if cells > 1 and groups >= fewest and np.ptp(noise, axis=0).all():
            matrix = np.corrcoef(noise, rowvar=False) - np.eye(cells)
            first, second = np.unravel_index(np.abs(matrix).argmax(), matrix.shape)
            distance = float(matrix[first, second]) * sqrt(groups)
            yield _Relation(
                f"{name}: cells {first} and {second}", cells * (cells - 1) // 2, distance
            )


def relations_of_groups(drawn: list[DrawnNoise], fewest: int) -> Iterator[_Relation]:
    """The strongest correlation of groups a fixed distance apart, over all distances.

    Distances with fewer pairs than `fewest` are left out.
    """
    for part in drawn:
        cells = part.noise.shape[1]
        positions = part.indices - part.indices[0]
        span = int(positions[-1]) + 1
        scaled = np.zeros((span, cells))
        scaled[positions] = part.noise / sqrt(_moments(part.due)[0])
        is_drawn = np.zeros((span, 1))
        is_drawn[positions] = 1
        pairs = cells * np.rint(_autocorrelation(is_drawn))
        apart = np.flatnonzero(pairs >= fewest)
        apart = apart[apart > 0]
        if len(apart):
            distances = _autocorrelation(scaled)[apart] / np.sqrt(pairs[apart])
            worst = int(np.abs(distances).argmax())
            name = f"{part.name}: groups {apart[worst]} apart"
            yield _Relation(name, len(apart), float(distances[worst]))


def _autocorrelation(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Element d: the sum of the products, cell by cell, of all pairs of rows d apart."""
    size = 1 << (2 * len(rows) - 1).bit_length()
    power = (np.abs(np.fft.rfft(rows, size, axis=0)) ** 2).sum(axis=1)
    return np.asarray(np.fft.irfft(power, size)[: len(rows)])


def draw_checks() -> Iterator[Verdict]:
    """Check draws that are made outside a census.

    Their distribution is checked, and that counts stay exact.
    """
    verdicts = selftest()
    faults = [f"{kind.name}: p-value {kind.p_value:.2g}" for kind in verdicts if not kind.is_right]
    seen = f"{DRAWS:,} draws of {len(verdicts)} kinds, false alarm {FALSE_ALARM:g}"
    yield verdict(DISTRIBUTION, faults, seen, "a variance that is 3% off")
    yield _counts_enter_exactly()


def noise_world_checks(noise_world: NoiseWorld, folder: Path) -> Iterator[Verdict]:
    """Run a world twice and check its charges, its noise, and that the two runs differ."""
    world = noise_world.write(folder)
    record = _recorded_run(world, folder / "out")
    drawn = _drawn_noise(record)

    def named(found: Verdict) -> Verdict:
        return replace(found, check=f"{found.check}: {noise_world.name}")

    yield named(_paid(record, world.parameters, noise_world))
    yield named(_as_wide_as_due(drawn))
    yield named(_unrelated(drawn))
    again = _drawn_noise(_recorded_run(world, folder / "out-again"))
    yield named(_two_runs(drawn, again))


def _recorded_run(world: AuditWorld, out: Path) -> Record:
    record = Record()
    run_files(world.parameters, world.data, out, recorder=record.recorder)
    return record


def _counts_enter_exactly() -> Verdict:
    """A count shifts its noisy number by exactly its size.

    With one key, the noise is the same.
    """
    key = os.urandom(KEY_BYTES)
    noise = DiscreteGaussian(Fraction(9))
    counts = np.array(_LARGE_COUNTS * _TIMES, dtype=np.int64)
    noisy = noisy_totals(counts, noise, AddressedBits(key))
    shifts = noisy - noisy_totals(np.zeros_like(counts), noise, AddressedBits(key))
    faults = [
        f"a count of {count} became {shift}"
        for count, shift in zip(counts.tolist(), shifts.tolist(), strict=True)
        if count != shift
    ]
    return verdict(EXACT, faults, f"{len(counts)} counts up to {_LARGE_COUNTS[-1]:,}")


def _two_runs(one: list[DrawnNoise], other: list[DrawnNoise]) -> Verdict:
    """Two keys give different noise.

    The chance that all numbers agree is far below FALSE_ALARM.
    """
    second = {drawn.name: drawn for drawn in other}
    in_both = [first for first in one if first.name in second]
    pairs = [
        (first.name, *_noise_at_same_addresses(first, second[first.name])) for first in in_both
    ]
    enough = [pair for pair in pairs if len(pair[1]) >= _FEWEST_PAIRS]
    faults = [
        f"{name}: the same noise twice" for name, noise, again in enough if (noise == again).all()
    ]
    seen = f"{sum(len(noise) for _, noise, _ in pairs):,} numbers measured twice"
    return verdict(FRESH, faults, seen, "a key that two runs share", could_find=bool(enough))


def _paid(record: Record, parameters: Path, noise_world: NoiseWorld) -> Verdict:
    """Each level costs what config.json says, and its noise is as wide as that cost requires."""
    plain = plain_config(parameters)
    faults = []
    charged: dict[MeasuredName, dict[Stage, Fraction]] = {}
    for event in record.events:
        level = event.level
        name = (event.family.name, level.geography.label, level.iterations.number)
        charged.setdefault(name, {})[event.stage] = event.cost
        stability = noise_world.stability[level.iterations]
        stage = f"{level}, stage {event.stage}"
        if event.stability != stability:
            groups = f"a record can be in {stability} groups"
            faults.append(f"{level}: stability {event.stability}, and {groups}")
        if event.definition.spelling != plain.definition:
            written = f"config.json has {plain.definition}"
            faults.append(f"{level}: {event.definition.spelling}, and {written}")
        if event.cost != plain.shares()[event.stage] * plain.levels[name].budget:
            faults.append(f"{stage}: {event.cost} was charged, not its share of the budget")
        due = due_noise(event.definition, stability, noise_world.most_records, event.cost)
        if event.noise != due:
            faults.append(f"{stage}: drew {event.noise}, and {due} is due")
    for name, costs in charged.items():
        adaptive = costs.get(Stage.STAGE_1, Fraction(0)) + costs.get(Stage.STAGE_2, Fraction(0))
        most = max(adaptive, costs.get(Stage.TOTAL_ONLY, Fraction(0)))
        if most != plain.levels[name].budget:
            faults.append(f"{name}: {most} was charged, and {plain.levels[name].budget} is claimed")
    seen = f"{len(record.events)} charges to {len(charged)} budgets"
    return verdict(PAID, faults, seen, could_find=bool(record.events))


def _as_wide_as_due(drawn: list[DrawnNoise]) -> Verdict:
    """The width by stage, shape and size of the count.

    Each value's share is checked too, if draws suffice.
    """
    faults: list[str] = []
    not_judged: list[str] = []
    draws = 0
    for (name, (at_least, below)), (of_class, distance) in _spreads(drawn).items():
        draws += of_class
        counts = f"{name}, counts from {at_least}"
        if below <= 1 << 60:
            counts += f" to {below - 1}"
        if of_class < _FEWEST_DRAWS:
            not_judged.append(f"{counts} ({of_class})")
        elif abs(distance) > _FAR_OF_MANY:
            faults.append(f"{counts}: {distance:+.1f} standard deviations from its width")
    large = [part for part in drawn if part.noise.size >= _MANY_DRAWS]
    for part in large:
        chance = p_value(part.noise.reshape(-1), part.due)
        if chance < FALSE_ALARM / len(large):
            faults.append(f"{part.name}: p-value {chance:.2g}")
    needed = int(2 * (_FAR_OF_MANY + _POWER) ** 2 / 0.01)
    power = f"variances 10% off where there are {needed:,} draws or more"
    seen = f"{draws:,} draws of totals and cells, by stage, table and size of the count"
    if not_judged:
        seen += f"; fewer than {_FEWEST_DRAWS} draws, so not judged: {'; '.join(not_judged)}"
    return verdict(WIDE, faults, seen, power, could_find=draws > 0 and not not_judged)


def _unrelated(drawn: list[DrawnNoise]) -> Verdict:
    """Noise is uncorrelated.

    It is so at one address of two questions, in two cells, and between groups.

    The correlation of n independent pairs is about normal with standard deviation 1 / sqrt(n). The
    limit is seven of them, and nine for cells and distances, of which there are many: independent
    noise reaches one of the limits once in a hundred million audits.
    """
    faults = []
    compared = 0
    for name, one, other in _pairings(drawn):
        if len(one) < _FEWEST_PAIRS or not np.ptp(one) or not np.ptp(other):
            continue
        compared += 1
        correlation = np.corrcoef(one, other)[0, 1]
        if abs(correlation) * sqrt(len(one)) > _FAR:
            faults.append(f"{name}: correlation {correlation:.2f} over {len(one)} pairs")
    of_cells = relations_of_cells(drawn, _FEWEST_GROUPS)
    of_groups = relations_of_groups(drawn, _FEWEST_IN_A_SUM)
    for relation in (*of_cells, *of_groups):
        compared += relation.looked_at
        if abs(relation.distance) > _FAR_OF_MANY:
            far = f"{relation.distance:+.1f} standard deviations"
            faults.append(f"{relation.name}: {far} from unrelated")
    over_100 = (_FAR + _POWER) / 10
    power = f"correlations of {over_100:.1f} over 100 pairs, {over_100 / 10:.2f} over 10,000"
    seen = f"{compared:,} pairs of stages, levels, passes, tables, cells and groups"
    return verdict(UNRELATED, faults, seen, power, could_find=compared > 0)
