"""Worlds in which the loss of one level is measured: many copies of a pair of neighbours, side by side.

Every entity (tract or state) of such a world holds the same four people, and every second one holds one person more.
Numbers of different entities have noise of their own, so each entity is one sample of what a release tells about that
person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.audit import worlds
from safetab.census.geography_levels import US_STATES, GeographyLevel
from safetab.foundation.progress import NoProgress
from safetab.pipeline.backends import backend_of
from safetab.pipeline.inputs import checked_engine, read_inputs
from safetab.pipeline.options import RunOptions
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape

_PEOPLE_OF_AN_ENTITY = 4
_STATES = tuple(f"{state:02d}" for state in range(1, 57) if f"{state:02d}" in US_STATES)[:50]


@dataclass(frozen=True, slots=True)
class LossWorld:
    """A level, its noise, and who is there or not."""

    name: str
    budget: float
    runs: int  # each with a key of its own
    entities: int = 4_000
    geography: GeographyLevel = GeographyLevel.TRACT
    person: worlds.Person = worlds.FILLS_ALL_GROUPS
    lists: worlds.WorldLists = field(default_factory=worlds.WorldLists)
    changes: Mapping[str, Any] = field(default_factory=dict)
    is_suppressed: bool = False

    @property
    def samples(self) -> int:
        """How often each of the two worlds is seen."""
        return self.runs * self.entities // 2

    @property
    def definition(self) -> PrivacyDefinition:
        return PrivacyDefinition.PURE_DP if "privacy_defn" in self.changes else PrivacyDefinition.ZCDP

    @property
    def stability(self) -> int:
        """How many groups the person is in: as many as anybody can be."""
        return len(self.person.races) + 1 if self.lists.has_ethnicities else len(self.person.races)

    @property
    def stage_fractions(self) -> tuple[Fraction, ...]:
        """The shares of the budget that each of the person's groups is measured with."""
        return (Fraction(1),) if self.lists.all_total_only else (worlds.GAMMA, 1 - worlds.GAMMA)

    def blocks(self) -> Sequence[str]:
        if self.geography is GeographyLevel.STATE:
            return [f"{state}|001|000100|1000" for state in _STATES[: self.entities]]
        return [f"01|{1 + tract // 5000:03d}|{100 + tract % 5000:06d}|1000" for tract in range(self.entities)]

    def write(self, folder: Path) -> worlds.AuditWorld:
        blocks = self.blocks()
        people = [
            replace(self.person, block=block)
            for place, block in enumerate(blocks)
            for _ in range(_PEOPLE_OF_AN_ENTITY + place % 2)
        ]
        states = sorted({block[:2] for block in blocks})
        config = worlds.config_of_one_level(self.geography, self.budget, state_filter_us=states, **self.changes)
        return worlds.write_world(folder, people, config, self.lists, dict.fromkeys(blocks, "99999|9999"))


_NINE = worlds.WorldLists(races=8)
_ONE = worlds.WorldLists(races=1, has_alone=False, has_ethnicities=False)
_ALL_TOTALS = worlds.WorldLists(races=8, all_total_only=True)
_ONE_TOTAL = worlds.WorldLists(races=1, has_alone=False, has_ethnicities=False, all_total_only=True)
_ONE_CODE = worlds.Person(worlds.CROWDED_BLOCK, worlds.EIGHT_RACES[:1], sex=2, age=0)
_WOMAN = worlds.Person(worlds.CROWDED_BLOCK, worlds.EIGHT_RACES, worlds.FILLS_ALL_GROUPS.ethnicity, sex=2, age=21)
_GEOMETRIC = {"privacy_defn": "puredp"}
_ALL_TABLES = {"thresholds_p": {key: [2, 5, 8] for key in worlds.audit_config()["thresholds_p"]}}
_SUPPRESSED = {"zero_suppression_chance": 0.6}
_ONE_CODE_EACH = {"max_race_codes": 1}

_STATE = GeographyLevel.STATE
LOSS_WORLDS = (
    LossWorld("9 totals, rho 2", 2, 6_000, 50, _STATE, lists=_ALL_TOTALS),
    LossWorld("9 totals, rho 2, a key for every pair", 2, 140_000, 2, _STATE, lists=_ALL_TOTALS),
    LossWorld("9 groups, both stages, all tables, rho 2", 2, 75, person=_WOMAN, lists=_NINE, changes=_ALL_TABLES),
    LossWorld(
        "9 groups, suppression, rho 2", 2, 75, person=_WOMAN, lists=_NINE, changes=_ALL_TABLES | _SUPPRESSED,
        is_suppressed=True,
    ),
    LossWorld("1 total, rho 1", 1, 10_000, 50, _STATE, _ONE_CODE, _ONE_TOTAL, _ONE_CODE_EACH),
    LossWorld(
        "1 group, both stages, all tables, rho 1", 1, 25, 20_000, person=_ONE_CODE, lists=_ONE,
        changes=_ALL_TABLES | _ONE_CODE_EACH,
    ),
    LossWorld("9 totals, epsilon 4", 4, 10_000, 50, _STATE, lists=_ALL_TOTALS, changes=_GEOMETRIC),
    LossWorld(
        "9 groups, both stages, all tables, epsilon 4", 4, 100, person=_WOMAN, lists=_NINE,
        changes=_ALL_TABLES | _GEOMETRIC,
    ),
    LossWorld(
        "9 groups, suppression, epsilon 4", 4, 75, person=_WOMAN, lists=_NINE,
        changes=_ALL_TABLES | _SUPPRESSED | _GEOMETRIC, is_suppressed=True,
    ),
    LossWorld(
        "1 group, both stages, all tables, epsilon 2", 2, 25, 20_000, person=_ONE_CODE, lists=_ONE,
        changes=_ALL_TABLES | _ONE_CODE_EACH | _GEOMETRIC,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class CountedLevel:
    """A level whose counts are at hand, so that runs need not count again; keeps to the protocol `GroupCounts`."""

    plan: LevelPlan
    counted: Mapping[Shape, ExactCounts]

    def totals(self, _: LevelPlan) -> ExactCounts:
        return self.counted[self.plan.family.total]

    def cells(self, _: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        return {shape: self.counted[shape].of_groups(groups) for shape, groups in groups_of.items()}

    def of_entities(self, shape: Shape) -> NDArray[np.int64]:
        """The counts by entity, iteration and cell."""
        universe, counted = self.plan.universe, self.counted[shape]
        every = counted.of_groups(np.arange(universe.size)).confidential_counts
        return every.reshape(len(universe.entities), len(universe.iterations), shape.cells)


def counted_level(world: LossWorld, folder: Path) -> CountedLevel:
    """The world's one level, counted from its files by the engine of a run."""
    written = world.write(folder)
    inputs = read_inputs(written.parameters, written.data)
    with backend_of(RunOptions()) as backend, checked_engine(inputs, backend, NoProgress()) as (_, engine):
        engine.prepare()
        plan = inputs.require().plan.levels[0]
        totals = engine.totals(plan)
        finer = [engine.cells(plan, {shape: totals.indices})[shape] for shape in plan.family.finer]
        return CountedLevel(plan, dict(zip(plan.family.shapes, (totals, *finer), strict=True)))
