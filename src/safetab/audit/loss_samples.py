"""What the releases of a loss world tell about one person: the log-likelihood ratio of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safetab.audit.counted_level import CountedLevel
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.calibration import Noise
from safetab.privacy.ledger import Ledger
from safetab.privacy.stages import Stage
from safetab.products.product import Shape
from safetab.tabulation.measurements import Measurements
from safetab.tabulation.tabulate_level import tabulate_level

_RARE = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Log-likelihood ratios, one for each time that the world with the person, or the one without, was seen."""

    with_person: NDArray[np.float64]
    without: NDArray[np.float64]


class Distinguisher:
    """The best test there is of whether a person is in an entity, given what was released about it.

    It knows the design and all but one person. Whether it is best matters for its power alone: a bound from it holds
    for every program.
    """

    def __init__(self, levels: Sequence[CountedLevel]) -> None:
        self._budgets = {(one.plan.family, one.plan.level): one.plan.design.budget for one in levels}
        self._levels = [_LevelOfEntities(one) for one in levels]

    def samples(self) -> Samples:
        """One run, with a key of its own."""
        ledger = Ledger(self._budgets, AddressedBits.of_the_operating_system())
        whole = np.sum([level.log_ratios(ledger) for level in self._levels], axis=0)
        return Samples(whole[1::2], whole[::2])


class _LevelOfEntities:
    """What the numbers of one table family tell about the person, entity by entity."""

    def __init__(self, level: CountedLevel) -> None:
        family, design = level.plan.family, level.plan.design
        self._level = level
        without, with_person = (level.of_entities(family.total)[place, :, 0] for place in (0, 1))
        self._is_changed = without != with_person
        self._without = {shape: level.of_entities(shape)[0] for shape in family.shapes}
        self._cell = {shape: self._changed_cell(shape) for shape in family.shapes}
        self._ratio_of = {stage: _log_ratios(planned.noise) for stage, planned in design.stages.items()}
        self._absence = np.array([self._log_ratio_of_absence(int(count)) for count in without])

    def _changed_cell(self, shape: Shape) -> NDArray[np.int64]:
        """For each iteration the cell in which the person is; 0 where the person is in none."""
        difference = self._level.of_entities(shape)[1] - self._level.of_entities(shape)[0]
        found: NDArray[np.int64] = np.abs(difference).argmax(axis=1)
        return found

    def _log_ratio_of_absence(self, count: int) -> float:
        design = self._level.plan.design
        if design.suppression_threshold is None:
            return 0.0
        return float((design.suppression_chance(count + 1) / design.suppression_chance(count)).log())

    def log_ratios(self, ledger: Ledger) -> NDArray[np.float64]:
        """One for each entity, of a run that pays from this ledger."""
        plan = self._level.plan
        ratios = np.zeros((len(plan.universe.entities), len(plan.universe.iterations)))
        is_there = np.zeros(ratios.shape, dtype=np.bool_)
        for measured in tabulate_level(plan, self._level, ledger):
            self._add_ratios(measured, ratios.reshape(-1))
            is_there.reshape(-1)[measured.indices] = True
        whole: NDArray[np.float64] = np.where(is_there, ratios, self._absence)[:, self._is_changed].sum(axis=1)
        return whole

    def _add_ratios(self, measured: Measurements, ratios: NDArray[np.float64]) -> None:
        family, iterations = self._level.plan.family, measured.plan.universe.index.iteration_of(measured.indices)
        if measured.stage_1_totals is not None:
            noise = measured.stage_1_totals - self._without[family.total][iterations, 0]
            ratios[measured.indices] += _at(self._ratio_of[Stage.STAGE_1], noise)
        for shape, values in measured.values.items():
            groups = measured.groups_of(shape)
            of_group = iterations[groups]
            cells = self._cell[shape][of_group]
            noise = values[np.arange(len(groups)), cells] - self._without[shape][of_group, cells]
            ratios[measured.indices[groups]] += _at(self._ratio_of[measured.stage], noise)


def _at(ratios: NDArray[np.float64], noise: NDArray[np.int64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = ratios[np.clip(noise + len(ratios) // 2, 0, len(ratios) - 1)]
    return found


def _log_ratios(noise: Noise) -> NDArray[np.float64]:
    """How much likelier a number is with one person more, for noise from -M to M: log P[X = x - 1] - log P[X = x]."""
    most = noise.least_with_tail_below(_RARE)
    logs = np.array([float(noise.probability(value).log()) for value in range(-most - 1, most + 1)])
    return -np.diff(logs)


def joined(parts: list[Samples]) -> Samples:
    return Samples(np.concatenate([one.with_person for one in parts]), np.concatenate([one.without for one in parts]))
