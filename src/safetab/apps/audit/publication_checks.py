"""Whether a run published exactly what its noisy numbers and the rules of the paper say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from safetab.apps.audit.audited_product import AuditedProduct
from safetab.apps.audit.audited_runs import AuditedRun, Record, Setting, run_in_world
from safetab.apps.audit.verdicts import Verdict, verdict
from safetab.apps.audit.worlds.configuration import PlainLevel, plain_config
from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.mechanisms.noisy_count import noisy_count
from safetab.core.privacy.addressed_bits import KEY_BYTES, AddressedBits
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.ledger import DrawingRight, Ledger
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Product, Shape
from safetab.release.estimates.estimate import Absence
from safetab.release.estimates.open_release import open_release
from safetab.release.estimates.results import GroupTable
from safetab.release.files.release_options import CoterminousOptions, ReleaseOptions
from safetab.runs.options import RunOptions
from safetab.runs.run import run_files

PUBLISHED = "published as the rules say"
TOTALS = "totals of a release choose the tables"
ADJUSTED = "adjusted cells are those of least squares"
_Group = tuple[str, str, str]
"""Geography level, region and iteration."""
_RowKey = tuple[str, str, str, str, int]
"""A group, a table family and a stage."""
_Rows = dict[_RowKey, tuple[int, ...]]
_PublishedTotals = dict[_Group, int]
_READ_AT_ONCE = 1 << 14
_LARGE_COUNT = 5_000
_STABILITY = {1: 3, 2: 9}  # of Regional and Detailed groups in the usual worlds, counted by hand
_FAMILIES = ("household type", "tenure")
_GROUPS_OF_A_LEVEL = 2
_FEWEST_GROUPS = 20
_ROUNDING = Fraction(1, 200)  # of a line's shift: shares are rounded to denominators up to 10,000


def published_check(
    run: AuditedRun, out: Path, key: bytes, published: _PublishedTotals | None = None
) -> Verdict:
    """Compare the measurement files with an independent computation.

    The judge draws noise for every group, empty or not, in the plainest way. `published` are the
    totals that choose tables, where a product has such; by default they are read from DATA.
    """
    product = run.plan.config.product
    plain = plain_config(run.world.parameters)
    if published is None and product.totals_table is not None:
        lines = (run.world.data / f"{product.totals_table}.txt").read_text().splitlines()
        published = _totals_of_lines(lines[1:])
    measured = []
    for plan in run.plan.levels:
        level = plan.level
        written = plain.levels[plan.family.name, level.geography.label, level.iterations.number]
        if written.budget:
            measured.append((plan, written))
    budgets = {(plan.family, plan.level): written.budget for plan, written in measured}
    ledger = Ledger(budgets, AddressedBits(key))
    definition = PrivacyDefinition.spelled(plain.definition)
    expected = _Rows()
    for plan, written in measured:
        design = plan.design
        of_level = (design.product, design.family, design.level)
        rights = {}
        for stage in design.stages:  # charged with the definition and the budget of config.json
            cost = plain.shares()[stage] * written.budget
            event = MeasurementEvent(*of_level, stage, definition, design.sensitivity, cost)
            rights[stage] = ledger.charge(event)
        judge = _Judge(plan, written, run.record, rights, float(plain.suppression_chance))
        if plain.measures_every_group:
            expected |= judge.rows_of_every_group()
        else:
            expected |= judge.rows() if published is None else judge.rows_of_published(published)
    found = _rows_of_files(out, product)
    rows = sorted(expected.keys() | found.keys())
    wrong = [row for row in rows if expected.get(row) != found.get(row)]
    faults = [
        f"{level}, {family}, stage {stage}: measurements are not what they must be"
        for level, _, _, family, stage in wrong
    ]
    groups = sum(plan.universe.size for plan in run.plan.levels)
    seen = (
        f"{len(found):,} measurements of {groups:,} groups, the same as an independent computation"
    )
    return verdict(PUBLISHED, faults, seen, could_find=groups > 0)


def large_level_check(audited: AuditedProduct, folder: Path, key: bytes | None = None) -> Verdict:
    """`published_check` of a level that is read in several parts and has counts of thousands."""
    key = key or os.urandom(KEY_BYTES)
    run = run_in_world(audited.write_large(folder), folder / "out", Setting(audited, key))
    found = published_check(run, folder / "out", key)
    most = max(
        int(cells.max()) for counts in run.record.counts.values() for cells in counts.values()
    )
    groups = max(plan.measured_groups for plan in run.plan.levels)
    faults = list(found.faults)
    if most <= _LARGE_COUNT or groups <= _READ_AT_ONCE:
        faults.append("the world is too small, so nothing was tried")
    seen = f"{found.seen}; {groups:,} groups at one level, counts up to {most:,}"
    return verdict(f"{PUBLISHED}: a large level", faults, seen)


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """The publication that one level owes, by the paper's rules and the audit's own reading.

    A noisy first stage chooses tables by thresholds that a total reaches, and totals up to T are
    suppressed. Where published totals choose, the specification of SafeTab-H holds: a group has a
    table if it has a total. Where nothing chooses, every group has the finest table.
    """

    plan: LevelPlan
    written: PlainLevel
    record: Record
    rights: dict[Stage, DrawingRight]
    suppression_chance: float

    def rows(self) -> _Rows:
        """Measurements of a level whose tables a noisy first stage chooses."""
        rows = _Rows()
        universe = self.plan.universe
        of_iterations = [iteration.is_total_only for iteration in universe.iterations]
        is_total_only = np.tile(of_iterations, len(universe.entities))
        if Stage.TOTAL_ONLY in self.rights:
            groups = np.flatnonzero(is_total_only)
            rows |= self._rows_of(groups, self.plan.family.total, Stage.TOTAL_ONLY)
        if Stage.STAGE_2 in self.rights:
            rows |= self._adaptive(np.flatnonzero(~is_total_only))
        return rows

    def rows_of_every_group(self) -> _Rows:
        """Measurements of a level whose groups all have the finest table."""
        groups = np.arange(self.plan.universe.size)
        return self._rows_of(groups, self.plan.family.shapes[-1], Stage.STAGE_2)

    def rows_of_published(self, published: _PublishedTotals) -> _Rows:
        """Measurements of a level whose tables published totals choose."""
        rows = _Rows()
        thresholds = self.written.thresholds
        chosen: dict[int, list[int]] = {}
        for index in range(self.plan.universe.size):
            total = published.get(self._group_at(index))
            if total is not None:
                reached = sum(total >= threshold for threshold in thresholds)
                chosen.setdefault(reached, []).append(index)
        for number, shape in enumerate(self.plan.family.shapes):
            groups = np.array(chosen.get(number, []), dtype=np.int64)
            rows |= self._rows_of(groups, shape, Stage.STAGE_2)
        return rows

    def _adaptive(self, groups: NDArray[np.int64]) -> _Rows:
        """Measurements of the groups that get a table by their first noisy total.

        Suppressed groups are left out.
        """
        rows = _Rows()
        total = self.plan.family.total
        suppressed_up_to = self._suppressed_up_to()
        stage_1 = self._noisy(groups, total, Stage.STAGE_1)[:, 0]
        reached = sum((stage_1 >= limit).astype(int) for limit in self.written.thresholds)
        for number, shape in enumerate(self.plan.family.shapes):
            chosen = groups[reached == number]
            if shape is total and suppressed_up_to is not None:
                stage_2 = self._noisy(chosen, total, Stage.STAGE_2)[:, 0]
                chosen = chosen[stage_2 > suppressed_up_to]
            rows |= self._rows_of(chosen, shape, Stage.STAGE_2)
            rows |= self._rows_of(chosen, total, Stage.STAGE_1)
        return rows

    def _suppressed_up_to(self) -> int | None:
        """The least T that suppresses an empty group often enough.

        None where nothing is suppressed.
        """
        if not self.written.is_suppressed or not self.suppression_chance:
            return None
        noise = self.rights[Stage.STAGE_2].event.noise
        value = -1
        while float(noise.cdf(value)) < self.suppression_chance:
            value += 1
        return value

    def _noisy(self, groups: NDArray[np.int64], shape: Shape, stage: Stage) -> NDArray[np.int64]:
        right = self.rights[stage]
        return noisy_count(self.record.exact((right.event, shape), groups), shape, right)

    def _rows_of(self, groups: NDArray[np.int64], shape: Shape, stage: Stage) -> _Rows:
        numbers = self._noisy(groups, shape, stage).tolist()
        family = self.plan.family.name
        return {
            (*self._group_at(index), family, int(stage)): tuple(values)
            for index, values in zip(groups.tolist(), numbers, strict=True)
        }

    def _group_at(self, index: int) -> _Group:
        group = self.plan.universe.group_at(index)
        return self.plan.level.geography.label, group.region_id, group.iteration.code


def _totals_of_lines(lines: Sequence[str]) -> _PublishedTotals:
    """Totals of delimited rows, read here without the program's reader."""
    rows = [line.split("|") for line in lines]
    return {(level, region, iteration): int(total) for region, level, iteration, total in rows}


def _rows_of_files(out: Path, product: Product) -> _Rows:
    """The measurements of an output folder."""
    rows: dict[_RowKey, list[int]] = {}
    columns = ["geography_level", "region_id", "iteration_code", "table", "stage", "value"]
    for path in sorted((out / "measurements").glob("*.parquet")):
        table = pq.read_table(path, columns=columns)
        values = [table[name].to_pylist() for name in columns]
        for level, region, iteration, shape, stage, value in zip(*values, strict=True):
            family = product.family_of_label[shape].name
            rows.setdefault((level, region, iteration, family, stage), []).append(value)
    return {key: tuple(values) for key, values in rows.items()}


def release_checks(
    persons: AuditedProduct, households: AuditedProduct, folder: Path
) -> Iterator[Verdict]:
    """Check households with totals from a release of persons, and their adjusted cells."""
    key = os.urandom(KEY_BYTES)
    world = persons.write(folder / "persons", persons.population, {})
    copied = ReleaseOptions(coterminous=CoterminousOptions(copy_all=True))
    options = RunOptions(test_key=key, release=copied)
    run_files(world.parameters, world.data, folder / "totals", options)
    world = households.write(folder / "households", households.population, {})
    (world.data / f"{households.product.totals_table}.txt").unlink()
    options = RunOptions(test_key=key, totals=folder / "totals")
    record = Record()
    out = folder / "out"
    summary = run_files(world.parameters, world.data, out, options, recorder=record.recorder)
    run = AuditedRun(world, summary.plan, record, {})
    yield _totals_check(run, folder, key)
    yield _adjusted_check(run, out)


def _totals_check(run: AuditedRun, folder: Path, key: bytes) -> Verdict:
    """Exactly the groups with a total after the coterminous step have tables, copied or not."""
    before = _totals_in(folder / "totals" / "t1")
    after = _totals_in(folder / "totals" / "after-steps" / "t1")
    found = published_check(run, folder / "out", key, after)
    copied = len(after.keys() - before.keys())
    faults = list(found.faults)
    if not copied:
        faults.append("no total was copied, so nothing was tried")
    seen = f"{found.seen}; {copied:,} of {len(after):,} totals are copies"
    return verdict(TOTALS, faults, seen)


def _totals_in(tables: Path) -> _PublishedTotals:
    """Totals in the delimited tables of a run."""
    totals = _PublishedTotals()
    for path in sorted(tables.glob("*.csv")):
        totals |= _totals_of_lines(path.read_text().splitlines()[1:])
    return totals


def _adjusted_check(run: AuditedRun, out: Path) -> Verdict:
    """Compare adjusted tables with least squares, computed from the variances of config.json."""
    release = open_release(out)
    plain = plain_config(run.world.parameters)
    faults: list[str] = []
    compared = 0
    for level, region, code in _groups_with_tables(run):
        area = release.area(region, level)
        group = release.group(code)
        iterations = group.level.number
        tables, adjusted, variances = [], [], []
        for family in _FAMILIES:
            tables.append(release.table(area, group, family=family))
            adjusted.append(release.table(area, group, family=family, adjusted=True))
            budget = plain.levels[family, level, iterations].budget
            variances.append(_STABILITY[iterations] / (2 * budget))
        compared += 1
        for family in _wrong_families(tables, adjusted, variances):
            faults.append(f"{level}, {family}: a line is not what least squares gives")
    if compared < _FEWEST_GROUPS:
        faults.append("too few groups have both tables, so nothing was tried")
    seen = f"both tables of {compared} groups, with family budgets that differ"
    return verdict(ADJUSTED, faults, seen)


def _groups_with_tables(run: AuditedRun) -> Iterator[_Group]:
    """A few groups of every level for which one of the two tables has several cells."""
    for plan in run.plan.levels:
        finer: list[int] = []
        for (event, shape), counts in run.record.counts.items():
            if event.measured == (plan.family, plan.level) and shape.cells > 1:
                finer += counts
        for index in sorted(finer)[:_GROUPS_OF_A_LEVEL]:
            group = plan.universe.group_at(index)
            yield plan.level.geography.label, group.region_id, group.iteration.code


def _wrong_families(
    tables: Sequence[GroupTable | Absence],
    adjusted: Sequence[GroupTable | Absence],
    variances: Sequence[Fraction],
) -> Iterator[str]:
    """The families with a line that least squares does not give, or without an adjusted table.

    Each cell gives up its share of the difference between the two totals.
    """
    found = [table for table in (*tables, *adjusted) if isinstance(table, GroupTable)]
    if len(found) < 2 * len(_FAMILIES):
        for family, table in zip(_FAMILIES, adjusted, strict=True):
            if isinstance(table, Absence):
                yield family
        return
    totals = [table.count().exact_value for table in found[:2]]
    pairs = zip(found[:2], variances, strict=True)
    variance_of_both = sum(table.shape.cells * variance for table, variance in pairs)
    for number, family in enumerate(_FAMILIES):
        difference = totals[number] - totals[1 - number]
        step = variances[number] / variance_of_both * difference  # what each cell gives up
        for before, after in zip(found[number].lines, found[2 + number].lines, strict=True):
            moved = before.counted[0].line.cells * step
            if abs(before.exact_value - moved - after.exact_value) > _ROUNDING * abs(moved):
                yield family
