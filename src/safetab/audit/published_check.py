"""Whether a run published exactly what its noisy numbers and the paper's rules say: every group drawn, one by one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from safetab.audit.audited_product import AuditedProduct
from safetab.audit.audited_runs import AuditedRun, Setting, run_in_world
from safetab.audit.recording import Record
from safetab.audit.verdicts import Verdict, verdict
from safetab.audit.world_config import MeasuredName, PlainConfig, PlainLevel, plain_config
from safetab.mechanisms.noisy_count import noisy_count
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.addressed_bits import KEY_BYTES, AddressedBits
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.ledger import DrawingRight, Ledger
from safetab.privacy.measurement_event import MeasurementEvent
from safetab.privacy.stages import Stage
from safetab.products.product import Product, Shape

PUBLISHED = "published as the rules say"
Group = tuple[str, str, str]
"""Geography level, region and iteration."""
Place = tuple[str, str, str, str, int]
Rows = dict[Place, tuple[int, ...]]
"""For each group, table family and stage its numbers."""
PublishedCounts = dict[Group, int]
_READ_AT_ONCE, _LARGE_COUNT = 1 << 14, 5_000


def published_check(run: AuditedRun, out: Path, key: bytes, published: PublishedCounts | None = None) -> Verdict:
    """The measurement files beside a judge that draws noise for every group, empty or not, in the plainest way.

    Where published totals choose, they are those of DATA unless others are given.
    """
    product, plain = run.plan.config.product, plain_config(run.world.parameters)
    if published is None and product.totals_table is not None:
        published = _published_totals(run.world.data, product.totals_table)
    measured = [(plan, written) for plan in run.plan.levels if (written := plain.levels[_name(plan)]).budget]
    budgets = {(plan.family, plan.level): written.budget for plan, written in measured}
    ledger, expected = Ledger(budgets, AddressedBits(key)), Rows()
    for plan, written in measured:
        rights = {stage: ledger.charge(_event(plan, stage, plain)) for stage in plan.design.stages}
        judge = _Judge(plan, written, run.record, rights, float(plain.suppression_chance))
        expected |= judge.rows() if published is None else judge.rows_of_published(published)
    found = _rows_of_files(out, product)
    wrong = [place for place in sorted(expected.keys() | found.keys()) if expected.get(place) != found.get(place)]
    faults = [
        f"{level}, {family}, stage {stage}: measurements are not what they must be"
        for level, _, _, family, stage in wrong
    ]
    groups = sum(plan.universe.size for plan in run.plan.levels)
    seen = f"{len(found):,} measurements of {groups:,} groups, the same as an independent computation"
    return verdict(PUBLISHED, faults, seen, could_find=groups > 0)


def _name(plan: LevelPlan) -> MeasuredName:
    return plan.family.name, plan.level.geography.label, int(plan.level.iterations)


def _event(plan: LevelPlan, stage: Stage, plain: PlainConfig) -> MeasurementEvent:
    """With the privacy definition and the budget from config.json."""
    definition = next(one for one in PrivacyDefinition if one.spelling == plain.definition)
    cost = plain.shares()[stage] * plain.levels[_name(plan)].budget
    design = plan.design
    return MeasurementEvent(design.product, design.family, design.level, stage, definition, design.stability, cost)


def large_level_check(audited: AuditedProduct, folder: Path, key: bytes | None = None) -> Verdict:
    """The same for a level that is read in several parts, and for counts of thousands."""
    key = key or os.urandom(KEY_BYTES)
    run = run_in_world(audited.write_large(folder), folder / "out", Setting(audited, key))
    found = published_check(run, folder / "out", key)
    most = max(int(one.max()) for counts in run.record.counts.values() for one in counts.values())
    groups = max(plan.measured_groups for plan in run.plan.levels)
    faults = [] if most > _LARGE_COUNT and groups > _READ_AT_ONCE else ["the world is too small, so nothing was tried"]
    seen = f"{found.seen}; {groups:,} groups at one level, counts up to {most:,}"
    return verdict(f"{PUBLISHED}: a large level", [*found.faults, *faults], seen)


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """One level, written from the paper: thresholds that are reached, and suppression of totals up to T.

    Thresholds are those of config.json, as the audit itself reads it. Where published totals choose, as the
    specification of SafeTab-H has it: a group has a table if it has a total.
    """

    plan: LevelPlan
    written: PlainLevel
    record: Record
    rights: dict[Stage, DrawingRight]
    suppression_chance: float

    def rows(self) -> Rows:
        rows, iterations = Rows(), self.plan.universe.iterations
        is_total_only = np.tile([one.is_total_only for one in iterations], len(self.plan.universe.entities))
        if Stage.TOTAL_ONLY in self.rights:
            rows |= self._rows_of(np.flatnonzero(is_total_only), self.plan.family.total, Stage.TOTAL_ONLY)
        if Stage.STAGE_2 in self.rights:
            rows |= self._adaptive(np.flatnonzero(~is_total_only))
        return rows

    def rows_of_published(self, published: PublishedCounts) -> Rows:
        totals = [published.get(self._group_at(index)) for index in range(self.plan.universe.size)]
        rows, thresholds = Rows(), self.written.thresholds
        for number, shape in enumerate(self.plan.family.shapes):
            chosen = [
                index
                for index, total in enumerate(totals)
                if total is not None and sum(total >= limit for limit in thresholds) == number
            ]
            rows |= self._rows_of(np.array(chosen, dtype=np.int64), shape, Stage.STAGE_2)
        return rows

    def _adaptive(self, groups: NDArray[np.int64]) -> Rows:
        rows, total = Rows(), self.plan.family.total
        stage_1 = self._noisy(groups, total, Stage.STAGE_1)[:, 0]
        reached = sum((stage_1 >= limit).astype(int) for limit in self.written.thresholds)
        for number, shape in enumerate(self.plan.family.shapes):
            chosen = groups[reached == number]
            if shape is total and self._suppressed_up_to is not None:
                chosen = chosen[self._noisy(chosen, total, Stage.STAGE_2)[:, 0] > self._suppressed_up_to]
            rows |= self._rows_of(chosen, shape, Stage.STAGE_2) | self._rows_of(chosen, total, Stage.STAGE_1)
        return rows

    @property
    def _suppressed_up_to(self) -> int | None:
        """The least T at which nobody is suppressed often enough, below state level."""
        if not self.plan.level.geography.is_substate or not self.suppression_chance:
            return None
        noise, value = self.rights[Stage.STAGE_2].event.noise, -1
        while float(noise.cdf(value)) < self.suppression_chance:
            value += 1
        return value

    def _noisy(self, groups: NDArray[np.int64], shape: Shape, stage: Stage) -> NDArray[np.int64]:
        right = self.rights[stage]
        return noisy_count(self.record.exact((right.event, shape), groups), shape, right)

    def _rows_of(self, groups: NDArray[np.int64], shape: Shape, stage: Stage) -> Rows:
        numbers, family = self._noisy(groups, shape, stage).tolist(), self.plan.family.name
        return {
            (*self._group_at(index), family, int(stage)): tuple(values)
            for index, values in zip(groups.tolist(), numbers, strict=True)
        }

    def _group_at(self, index: int) -> Group:
        group = self.plan.universe.group_at(index)
        return self.plan.level.geography.label, group.region_id, group.iteration.code


def _published_totals(data: Path, table: str) -> PublishedCounts:
    """Read here anew, line by line."""
    rows = [line.split("|") for line in (data / f"{table}.txt").read_text().splitlines()[1:]]
    return {(level, region, iteration): int(total) for region, level, iteration, total in rows}


def _rows_of_files(out: Path, product: Product) -> Rows:
    rows: dict[Place, list[int]] = {}
    columns = ["geography_level", "region_id", "iteration_code", "table", "stage", "value"]
    for path in sorted((out / "measurements").glob("*.parquet")):
        table = pq.read_table(path, columns=columns)
        for *place, value in zip(*(table[name].to_pylist() for name in columns), strict=True):
            level, region, iteration, shape, stage = place
            family = product.family_of_label[shape].name
            rows.setdefault((level, region, iteration, family, stage), []).append(value)
    return {place: tuple(values) for place, values in rows.items()}
