"""Whether the noise of a run is the noise that was paid for, exact, fresh, and unrelated from number to number."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np

from safetab.audit import worlds
from safetab.audit.paid_noise import noisy_totals
from safetab.audit.recording import Question, Record, recorded
from safetab.audit.selftest import DRAWS, FALSE_ALARM, selftest
from safetab.audit.verdicts import Verdict, verdict
from safetab.config.config_file import CONFIG_FILE, budget_key
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.pipeline.run import run_files
from safetab.privacy.addressed_bits import KEY_BYTES, AddressedBits
from safetab.privacy.calibration import Noise
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.measurement_event import MeasurementEvent
from safetab.privacy.stages import Stage

DISTRIBUTION, EXACT, FRESH, PAID, UNRELATED = (
    "noise has its distribution",
    "counts enter exactly",
    "two runs, two noises",
    "noise as charged, charged as claimed",
    "noise of different numbers is unrelated",
)
_LARGE_COUNTS = (0, 1, 2**31, 2**53 + 1, 2**60 + 1)  # a float would round the last two
_FEWEST_PAIRS = 30


def noise_checks(folder: Path) -> Iterator[Verdict]:
    yield _has_its_distribution()
    yield _counts_enter_exactly()
    config = worlds.audit_config(zero_suppression_chance=0)  # every group gets noise, so none is chosen for its noise
    world = worlds.write_world(folder, worlds.POPULATION, config)
    records = []
    for number in range(2):
        with recorded() as record:
            run_files(world.parameters, world.data, folder / f"out-{number}")
        records.append(record)
    yield _two_runs(*records)
    yield _paid(records[0], world.parameters)
    yield _unrelated(records[0])


def _has_its_distribution() -> Verdict:
    verdicts = selftest()
    faults = [f"{one.name}: p-value {one.p_value:.2g}" for one in verdicts if not one.is_right]
    return verdict(DISTRIBUTION, faults, f"{DRAWS:,} draws of {len(verdicts)} kinds, false alarm {FALSE_ALARM:g}")


def _counts_enter_exactly() -> Verdict:
    """With one key the noise is the same, so a larger count must shift the noisy number by exactly its size."""
    key, noise = os.urandom(KEY_BYTES), DiscreteGaussian(Fraction(9))
    counts = np.array(_LARGE_COUNTS, dtype=np.int64)
    noisy, zero = (noisy_totals(one, noise, AddressedBits(key)) for one in (counts, np.zeros_like(counts)))
    shifts = noisy - zero
    faults = [
        f"a count of {count} became {shift}"
        for count, shift in zip(counts, shifts.tolist(), strict=True)
        if count != shift
    ]
    return verdict(EXACT, faults, f"counts up to {_LARGE_COUNTS[-1]:,}")


def _two_runs(one: Record, other: Record) -> Verdict:
    """Two keys give the same noise for all these numbers with a probability far below FALSE_ALARM."""
    same = [
        f"{question[0].level}, stage {question[0].stage}: the same noise twice"
        for question in one.noisy.keys() & other.noisy.keys()
        if len(one.noisy[question]) >= _FEWEST_PAIRS and _noise_of(one, question) == _noise_of(other, question)
    ]
    return verdict(FRESH, same, f"{sum(map(len, one.noisy.values())):,} groups measured twice")


def _paid(record: Record, parameters: Path) -> Verdict:
    """Recomputed here from config.json: what each level costs, and how wide its noise must be."""
    config = json.loads((parameters / CONFIG_FILE).read_text(), parse_float=Fraction, parse_int=Fraction)
    faults = []
    costs: dict[str, dict[Stage, Fraction]] = {}
    for event in record.events:
        costs.setdefault(budget_key(event.product, event.family, event.level), {})[event.stage] = event.cost
        if event.noise != _due_noise(event):
            faults.append(f"{event.level}, stage {event.stage}: drew {event.noise}, and {_due_noise(event)} is due")
    for key, by_stage in costs.items():
        adaptive = by_stage.get(Stage.STAGE_1, Fraction(0)) + by_stage.get(Stage.STAGE_2, Fraction(0))
        charged = max(adaptive, by_stage.get(Stage.TOTAL_ONLY, Fraction(0)))
        if charged != config[key]:
            faults.append(f"{key}: {charged} was charged, and {config[key]} is claimed")
    return verdict(PAID, faults, f"{len(record.events)} events of {len(costs)} levels")


def _due_noise(event: MeasurementEvent) -> Noise:
    if event.definition is PrivacyDefinition.PURE_DP:
        return DiscreteLaplace(event.stability / event.cost)
    return DiscreteGaussian(event.stability / (2 * event.cost))


def _unrelated(record: Record) -> Verdict:
    """The correlation of the noise of two questions at the same indices, for every two questions.

    Of n independent pairs it is about normal with standard deviation 1 / sqrt(n); the limit is seven of them, which
    all comparisons together reach once in a thousand million audits.
    """
    totals = [question for question in record.noisy if question[1] is question[0].family.total]
    faults, compared = [], 0
    for one, other in combinations(totals, 2):
        first, second = _noise_of(record, one), _noise_of(record, other)
        indices = sorted(first.keys() & second.keys())
        if len(indices) < _FEWEST_PAIRS:
            continue
        compared += 1
        correlation = np.corrcoef([first[index] for index in indices], [second[index] for index in indices])[0, 1]
        if abs(correlation) * math.sqrt(len(indices)) > 7:
            names = (f"{event.level} stage {event.stage}" for event, _ in (one, other))
            faults.append(f"{' and '.join(names)}: correlation {correlation:.2f} over {len(indices)} groups")
    return verdict(UNRELATED, faults, f"{compared} pairs of stages and levels")


def _noise_of(record: Record, question: Question) -> dict[int, int]:
    counts = record.counts[question]
    return {index: int(noisy[0] - counts[index][0]) for index, noisy in record.noisy[question].items()}
