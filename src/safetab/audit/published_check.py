"""Whether a run published exactly what its noisy numbers and the paper's rules say: every group drawn, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from safetab.audit.audited_runs import AuditedRun
from safetab.audit.recording import Record
from safetab.audit.verdicts import Verdict, verdict
from safetab.mechanisms.noisy_count import noisy_count
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.ledger import DrawingRight, Ledger
from safetab.privacy.stages import Stage
from safetab.products.product import Shape

PUBLISHED = "published as the rules say"
Place = tuple[str, str, str, int]
Rows = dict[Place, tuple[int, ...]]
"""For each geography level, region, iteration and stage its numbers."""


def published_check(run: AuditedRun, out: Path, key: bytes) -> Verdict:
    """The measurement files beside a judge that draws noise for every group, empty or not, in the plainest way."""
    ledger, expected = Ledger(run.plan.config.budgets, AddressedBits(key)), Rows()
    for plan in run.plan.levels:
        measured = (plan.family, plan.level)
        rights = {event.stage: ledger.charge(event) for event in run.record.events if event.measured == measured}
        expected |= _Judge(plan, run.record, rights, float(run.plan.config.zero_suppression_chance)).rows()
    found = _rows_of_files(out)
    wrong = [place for place in sorted(expected.keys() | found.keys()) if expected.get(place) != found.get(place)]
    faults = [f"{level}, stage {stage}: measurements are not what they must be" for level, _, _, stage in wrong]
    groups = sum(plan.universe.size for plan in run.plan.levels)
    return verdict(PUBLISHED, faults, f"{len(found):,} measurements of {groups:,} groups, as a plain judge has them")


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """One level, written from the paper: thresholds that are reached, and suppression of totals up to T."""

    plan: LevelPlan
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

    def _adaptive(self, groups: NDArray[np.int64]) -> Rows:
        rows, total = Rows(), self.plan.family.total
        stage_1 = self._noisy(groups, total, Stage.STAGE_1)[:, 0]
        reached = sum((stage_1 >= limit).astype(int) for limit in self.plan.design.thresholds.totals)
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
        label, numbers = self.plan.level.geography.label, self._noisy(groups, shape, stage).tolist()
        named = [self.plan.universe.group_at(index) for index in groups.tolist()]
        return {
            (label, group.region_id, group.iteration.code, int(stage)): tuple(values)
            for group, values in zip(named, numbers, strict=True)
        }


def _rows_of_files(out: Path) -> Rows:
    rows: dict[Place, list[int]] = {}
    columns = ["geography_level", "region_id", "iteration_code", "stage", "value"]
    for path in sorted((out / "measurements").glob("*.parquet")):
        table = pq.read_table(path, columns=columns)
        for *place, value in zip(*(table[name].to_pylist() for name in columns), strict=True):
            rows.setdefault((place[0], place[1], place[2], place[3]), []).append(value)
    return {place: tuple(values) for place, values in rows.items()}
