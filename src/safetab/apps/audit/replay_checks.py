"""Record and replay: what one record can change before the noise is added, and after it.

A second world with other records is run with the noisy numbers of the first. Then every published
file must be the same, byte for byte, whatever route the numbers take out of the program.
docs/privacy.md#audit says what each check proves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safetab.apps.audit import audited_runs as runs
from safetab.apps.audit.audited_product import AuditedProduct, Neighbour, Records, Route
from safetab.apps.audit.audited_runs import AuditedRun, Record, Setting
from safetab.apps.audit.publication_checks import PUBLISHED, published_check
from safetab.apps.audit.verdicts import Verdict, verdict
from safetab.apps.audit.worlds.configuration import config_check
from safetab.apps.audit.worlds.plain_census import counted_check
from safetab.core.privacy.addressed_bits import KEY_BYTES
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.measurement_event import MeasuredLevel
from safetab.model.census.area_levels import Pass
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.products.product import Shape

ONE_RECORD = "one record"
REPLAY = "equal numbers, equal bytes"
NO_TRACE = "suppressed groups leave no trace"
ALL_ROUTES = "equal numbers on every way out"
SCALE = "thousands of records, equal numbers"
_LOWERED_BY = 7


def neighbour_checks(
    audited: AuditedProduct,
    folder: Path,
    neighbours: Sequence[Neighbour],
    key: bytes | None = None,
    route: Route = runs.USUAL,
) -> Iterator[Verdict]:
    """Check the usual world, then compare each neighbour with it."""
    key = key or os.urandom(KEY_BYTES)
    base = runs.audited_run(folder / "base", audited.population, Setting(audited, key, route))
    replaying = Setting(audited, key, route, replayed=base.record)
    yield config_check(base.plan, base.world.parameters)
    yield published_check(base, folder / "base" / "out", key)
    if audited.is_specified:
        yield counted_check(base)
    for number, neighbour in enumerate(neighbours):
        other = runs.audited_run(folder / f"neighbour-{number}", neighbour.records, replaying)
        yield from _compared(neighbour, base, other)
    if base.plan.config.product.has_stage_1:
        yield _no_trace(folder / "suppressed", base, replaying)


def nobody_checks(
    audited: AuditedProduct, folder: Path, key: bytes | None = None, route: Route = runs.USUAL
) -> Iterator[Verdict]:
    """Compare a pass without any record with one that has a single record."""
    key = key or os.urandom(KEY_BYTES)
    first = audited.first_of_a_pass
    nobody = runs.audited_run(folder / "nobody", first.records[:-1], Setting(audited, key, route))
    replaying = Setting(audited, key, route, replayed=nobody.record)
    somebody = runs.audited_run(folder / "somebody", first.records, replaying)
    yield from _compared(first, nobody, somebody)


def form_checks(audited: AuditedProduct, folder: Path, *, with_nobody: bool) -> Iterator[Verdict]:
    """Check every other form of the census as the usual one.

    The neighbours are those of a quick audit.
    """
    for number, form in enumerate(audited.forms):
        found = [
            neighbour_checks(audited, folder / str(number), audited.quick_neighbours, route=form)
        ]
        if with_nobody:
            found.append(nobody_checks(audited, folder / f"nobody-{number}", route=form))
        for each in chain(*found):
            yield replace(each, check=f"{each.check}: {form.name}")


def route_checks(
    audited: AuditedProduct, folder: Path, routes: Sequence[Route], key: bytes | None = None
) -> Iterator[Verdict]:
    """Compare the usual world with one of several more records, by each of these routes."""
    for number, route in enumerate(routes):
        setting = Setting(audited, key or os.urandom(KEY_BYTES), route)
        worlds = (audited.population, audited.several_more)
        yield from _replayed(f"{ALL_ROUTES}: {route.name}", folder / str(number), worlds, setting)


def scale_checks(
    audited: AuditedProduct, folder: Path, key: bytes | None = None
) -> Iterator[Verdict]:
    """Compare thousands of records with a third of them; the rows are shuffled."""
    setting = Setting(audited, key or os.urandom(KEY_BYTES), runs.CLAMPED)
    yield from _replayed(SCALE, folder, audited.thousands, setting)


def _replayed(
    name: str, folder: Path, worlds: tuple[Records, Records], setting: Setting
) -> Iterator[Verdict]:
    """Whether the files reveal which world was run, and whether they are what the rules say.

    The second world has all records of the first and more. A group that is empty only in the first
    is asked for its noise in the second, and gets what it would have had in the first.
    """
    few, many = worlds
    first = runs.audited_run(folder / "few", few, setting)
    second = runs.audited_run(folder / "many", many, replace(setting, replayed=first.record))
    faults = runs.different_files(first.released, second.released)
    nouns = setting.audited.product.record.nouns
    seen = f"{len(first.released)} files, {len(few):,} and {len(many):,} {nouns}"
    yield verdict(name, faults, seen, could_find=bool(first.released))
    published = published_check(first, folder / "few" / "out", setting.key)
    yield replace(published, check=f"{PUBLISHED}: {setting.route.name}")


def _no_trace(folder: Path, base: AuditedRun, replaying: Setting) -> Verdict:
    """Whether other noisy numbers of suppressed groups change any published file."""
    change, altered = _lower_suppressed_numbers(base)
    records = replaying.audited.population
    again = runs.audited_run(folder, records, replace(replaying, change=change))
    faults = runs.different_files(base.released, again.released)
    if not altered:
        faults.append("nothing was suppressed, so nothing was tried")
    return verdict(NO_TRACE, faults, f"other noisy numbers for {altered} suppressed groups")


def _compared(neighbour: Neighbour, base: AuditedRun, other: AuditedRun) -> Iterator[Verdict]:
    """Compare the counts and the files of a neighbour with those of the usual world."""
    yield _one_record(neighbour, base.record, other.record)
    faults = runs.different_files(base.released, other.released)
    seen = f"{len(base.released)} files, including the log"
    yield verdict(f"{REPLAY}: {neighbour.name}", faults, seen, could_find=bool(base.released))


def _one_record(neighbour: Neighbour, base: Record, other: Record) -> Verdict:
    """At most `stability` groups of a level differ, each by one in its total and in one cell.

    A changed record may leave one cell of a group and enter another. A record with other codes
    leaves groups and enters as many others.
    """
    faults: list[str] = []
    most: dict[Pass, tuple[int, str]] = {}
    events = base.events | other.events
    for measured in dict.fromkeys(event.measured for event in events):
        level = measured[1]
        of_events = (event.sensitivity for event in events if event.measured == measured)
        sensitivity = min(of_events, key=lambda each: each.l1)
        may_differ = sensitivity.groups * (1 + neighbour.has_other_codes)
        for stages in ({Stage.TOTAL_ONLY, Stage.STAGE_1}, {Stage.TOTAL_ONLY, Stage.STAGE_2}):
            differences = _differences(base, other, measured, stages)
            found = _faults_of(differences, may_differ, neighbour)
            if neighbour.is_of_unit:
                may_differ = sensitivity.l1
                found = _faults_of_unit(differences, sensitivity)
            faults += [f"{level}: {fault}" for fault in found]
            if differences:
                which = level.geography.tabulation_pass
                words = f"{len(differences)} of {may_differ} groups in {level}"
                most[which] = max(most.get(which, (0, "")), (len(differences), words))
    shapes = {shape for _, shape in base.counts.keys() | other.counts.keys()}
    different = sum(_differs(base, other, shape) for shape in shapes)
    seen = "; ".join(words for _, words in most.values()) + f"; cells of {different} tables differ"
    if not most:
        faults.append("nothing differs, so nothing was tried")
    return verdict(f"{ONE_RECORD}: {neighbour.name}", faults, seen)


def _differs(base: Record, other: Record, shape: Shape) -> bool:
    levels = dict.fromkeys(event.measured for event, of_event in base.counts if of_event is shape)
    return any(_differences(base, other, level, set(Stage), shape) for level in levels)


def _faults_of(
    differences: list[NDArray[np.int64]], may_differ: int, neighbour: Neighbour
) -> Iterator[str]:
    """Say which of the rules for one record these differences break."""
    steps = {tuple(sorted(difference[difference != 0].tolist())) for difference in differences}
    if len(differences) > may_differ:
        yield f"{len(differences)} groups differ, and {may_differ} may"
    if any(len(step) > 1 + neighbour.is_changed for step in steps):
        yield "a group differs in several cells"
    may_go_both_ways = neighbour.is_changed or neighbour.has_other_codes
    goes_both_ways = len(steps) > 1 and not may_go_both_ways
    if steps - {(-1,), (1,), (-1, 1)} or goes_both_ways:
        yield f"counts differ by {sorted(steps)}"


def _faults_of_unit(
    differences: list[NDArray[np.int64]], sensitivity: Sensitivity
) -> Iterator[str]:
    """Say whether a unit's records together move the counts further than they may.

    The noise is made for a certain distance.
    """
    l1 = sum(int(np.abs(difference).sum()) for difference in differences)
    l2_squared = sum(int((difference**2).sum()) for difference in differences)
    if l1 > sensitivity.l1 or l2_squared > sensitivity.l2_squared:
        may = f"{sensitivity.l1} and {sensitivity.l2_squared} may be"
        yield f"counts move by {l1} in L1 norm and {l2_squared} in squared L2 norm, and {may}"


def _differences(
    base: Record,
    other: Record,
    measured: MeasuredLevel,
    stages: set[Stage],
    only: Shape | None = None,
) -> list[NDArray[np.int64]]:
    """For each group that differs in these stages, the differences of its cells."""
    found = []
    for question in dict.fromkeys([*base.counts, *other.counts]):
        event, shape = question
        if event.measured != measured or event.stage not in stages or only not in {None, shape}:
            continue
        before = base.counts.get(question, {})
        after = other.counts.get(question, {})
        zeros = np.zeros(shape.cells, dtype=np.int64)
        for index in before.keys() | after.keys():
            difference = after.get(index, zeros) - before.get(index, zeros)
            if difference.any():
                found.append(difference)
    return found


def _lower_suppressed_numbers(base: AuditedRun) -> tuple[runs.Change, int]:
    """A change that lowers the numbers of suppressed groups, and how many groups it lowers."""
    suppressed: dict[runs.Question, frozenset[int]] = {}
    for plan in base.plan.levels:
        measured = (plan.family, plan.level)
        events = {event.stage: event for event in base.record.events if event.measured == measured}
        threshold = plan.design.suppression_threshold
        if threshold is None or Stage.STAGE_2 not in events:
            continue
        total = plan.family.total
        totals = base.record.noisy.get((events[Stage.STAGE_2], total), {})
        indices = frozenset(index for index, value in totals.items() if value[0] <= threshold)
        for stage in (Stage.STAGE_1, Stage.STAGE_2):
            suppressed[events[stage], total] = indices

    def lowered(
        question: runs.Question, indices: NDArray[np.int64], noisy: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        is_suppressed = np.isin(indices, list(suppressed.get(question, ())))
        return noisy - _LOWERED_BY * is_suppressed[:, None].astype(np.int64)

    return lowered, sum(map(len, suppressed.values())) // 2
