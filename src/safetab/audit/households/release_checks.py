"""Households that take their totals from a release of persons, and how their two tables are made to agree."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from safetab.audit.audited_runs import AuditedRun
from safetab.audit.households import world_files as households
from safetab.audit.persons import world_files as persons
from safetab.audit.published_check import Group, PublishedCounts, published_check
from safetab.audit.recording import recorded
from safetab.audit.verdicts import Verdict, verdict
from safetab.audit.world_config import plain_config
from safetab.estimates.open_release import open_release
from safetab.estimates.reading.absence import Absence
from safetab.estimates.results import GroupTable
from safetab.pipeline.options import RunOptions
from safetab.pipeline.run import run_files
from safetab.privacy.addressed_bits import KEY_BYTES
from safetab.release.release_options import CoterminousOptions, ReleaseOptions

TOTALS, ADJUSTED = "totals of a release choose the tables", "adjusted cells are those of least squares"
_STABILITY = {1: 3, 2: 9}  # of the Regional and the Detailed groups of these worlds, counted by hand
_FAMILIES = ("household type", "tenure")
_OF_A_LEVEL, _FEWEST = 2, 20
_ROUNDING = Fraction(1, 200)  # of what a line is moved by: shares are rounded to denominators up to 10,000


def release_checks(folder: Path) -> Iterator[Verdict]:
    key = os.urandom(KEY_BYTES)
    world = persons.write_world(folder / "persons", persons.POPULATION, persons.audit_config())
    copied = ReleaseOptions(coterminous=CoterminousOptions(copy_all=True))
    run_files(world.parameters, world.data, folder / "totals", RunOptions(test_key=key, release=copied))
    run = _run_with_totals(folder, key)
    yield _totals_check(run, folder, key)
    yield _adjusted_check(run, folder / "out")


def _run_with_totals(folder: Path, key: bytes) -> AuditedRun:
    world = households.write_world(folder / "households", households.POPULATION, households.audit_config())
    (world.data / "pop-group-totals.txt").unlink()
    with recorded() as record:
        options = RunOptions(test_key=key, totals=folder / "totals")
        plan = run_files(world.parameters, world.data, folder / "out", options).plan
    return AuditedRun(world, plan, record, {})


def _totals_check(run: AuditedRun, folder: Path, key: bytes) -> Verdict:
    """Every total of the release after its coterminous step has its table, copied or not, and no other group has."""
    before, after = (_totals_in(folder / "totals" / place) for place in ("t1", "after-steps/t1"))
    found = published_check(run, folder / "out", key, after)
    copied = len(after.keys() - before.keys())
    faults = [] if copied else ["no total was copied, so nothing was tried"]
    return verdict(TOTALS, [*found.faults, *faults], f"{found.seen}; {copied:,} of {len(after):,} totals are copies")


def _totals_in(tables: Path) -> PublishedCounts:
    """Read line by line from the delimited tables of a run."""
    rows = (line.split("|") for path in sorted(tables.glob("*.csv")) for line in path.read_text().splitlines()[1:])
    return {(level, region, iteration): int(total) for region, level, iteration, total in rows}


def _adjusted_check(run: AuditedRun, out: Path) -> Verdict:
    """Computed here anew with the variances of config.json: each cell gives up its share of the difference."""
    release, plain = open_release(out), plain_config(run.world.parameters)
    faults, compared = list[str](), 0
    for level, region, code in _groups_with_tables(run):
        area, group = release.geography(region, level), release.group(code)
        tables = [release.table(area, group, family=family) for family in _FAMILIES]
        adjusted = [release.table(area, group, family=family, adjusted=True) for family in _FAMILIES]
        iterations = int(group.level)
        budgets = [plain.levels[family, level, iterations].budget for family in _FAMILIES]
        variances = [_STABILITY[iterations] / (2 * budget) for budget in budgets]
        wrong = _wrong_lines(tables, adjusted, variances)
        compared += 1
        faults += [f"{level}, {family}: a line is not what least squares gives" for family in wrong]
    if compared < _FEWEST:
        faults.append("hardly any group has both tables, so nothing was tried")
    return verdict(ADJUSTED, faults, f"both tables of {compared} groups, with family budgets that differ")


def _groups_with_tables(run: AuditedRun) -> Iterator[Group]:
    """Some groups of every level; one of their two tables, or both, has several cells."""
    for plan in run.plan.levels:
        questions = [question for question in run.record.counts if question[0].measured == (plan.family, plan.level)]
        finer = (index for question in questions if question[1].cells > 1 for index in run.record.counts[question])
        for index in sorted(finer)[:_OF_A_LEVEL]:
            group = plan.universe.group_at(index)
            yield plan.level.geography.label, group.region_id, group.iteration.code


def _wrong_lines(
    tables: Sequence[GroupTable | Absence], adjusted: Sequence[GroupTable | Absence], variances: Sequence[Fraction]
) -> Iterator[str]:
    """The families of which a line is wrong."""
    found = [one for one in (*tables, *adjusted) if isinstance(one, GroupTable)]
    if len(found) < 2 * len(_FAMILIES):
        yield from (family for family, one in zip(_FAMILIES, adjusted, strict=True) if isinstance(one, Absence))
        return
    totals = [one.count().exact_value for one in found[:2]]
    whole = sum(one.shape.cells * variance for one, variance in zip(found[:2], variances, strict=True))
    for number, family in enumerate(_FAMILIES):
        step = variances[number] / whole * (totals[number] - totals[1 - number])  # what each cell gives up
        for before, after in zip(found[number].lines, found[2 + number].lines, strict=True):
            moved = before.counted[0].line.cells * step
            if abs(before.exact_value - moved - after.exact_value) > _ROUNDING * abs(moved):
                yield family
