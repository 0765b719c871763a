"""Record and replay on neighbouring worlds: what one record can change before the noise, and after it.

docs/privacy.md#audit says what each check proves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safetab.audit.audited_product import AuditedProduct, Neighbour
from safetab.audit.audited_runs import AuditedRun, Setting, audited_run, different_files
from safetab.audit.published_check import published_check
from safetab.audit.recording import Change, Question, Record
from safetab.audit.verdicts import Verdict, verdict
from safetab.audit.world_config import config_check
from safetab.census.geography_levels import TabulationPass
from safetab.privacy.addressed_bits import KEY_BYTES
from safetab.privacy.measurement_event import MeasuredLevel, MeasurementEvent
from safetab.privacy.stages import Stage
from safetab.products.product import Shape

ONE_RECORD, REPLAY, NO_TRACE = "one record", "equal numbers, equal bytes", "suppressed groups leave no trace"
_LESS = 7


def neighbour_checks(
    audited: AuditedProduct, folder: Path, neighbours: Sequence[Neighbour], key: bytes | None = None
) -> Iterator[Verdict]:
    key = key or os.urandom(KEY_BYTES)
    base = audited_run(folder / "base", audited.population, Setting(audited, key))
    yield config_check(base.plan, base.world.parameters)
    yield published_check(base, folder / "base" / "out", key)
    for number, neighbour in enumerate(neighbours):
        other = audited_run(
            folder / f"neighbour-{number}", neighbour.people, Setting(audited, key, replayed=base.record)
        )
        yield from _compared(neighbour, base, other)
    if audited.product.suppression_key is not None:
        yield _no_trace(audited, folder / "suppressed", base, key)


def nobody_checks(audited: AuditedProduct, folder: Path, key: bytes | None = None) -> Iterator[Verdict]:
    """A pass without anybody beside one with a single record."""
    key = key or os.urandom(KEY_BYTES)
    first = audited.first_of_a_pass
    nobody = audited_run(folder / "nobody", audited.nobody_in_a_pass, Setting(audited, key))
    somebody = audited_run(folder / "somebody", first.people, Setting(audited, key, replayed=nobody.record))
    yield from _compared(first, nobody, somebody)


def _no_trace(audited: AuditedProduct, folder: Path, base: AuditedRun, key: bytes) -> Verdict:
    change, altered = _lower_suppressed_numbers(base)
    again = audited_run(folder, audited.population, Setting(audited, key, replayed=base.record, change=change))
    faults = different_files(base.released, again.released)
    if not altered:
        faults.append("nothing was suppressed, so nothing was tried")
    return verdict(NO_TRACE, faults, f"other noisy numbers for {altered} suppressed groups")


def _compared(neighbour: Neighbour, base: AuditedRun, other: AuditedRun) -> Iterator[Verdict]:
    yield _one_record(neighbour, base.record, other.record)
    faults = different_files(base.released, other.released)
    seen = f"{len(base.released)} files, including the log"
    yield verdict(f"{REPLAY}: {neighbour.name}", faults, seen, could_find=bool(base.released))


def _one_record(neighbour: Neighbour, base: Record, other: Record) -> Verdict:
    """In each level at most `stability` groups differ, each by one in its total and in one cell.

    A changed record may leave one cell of a group and enter another; one with other codes leaves groups for others.
    """
    faults: list[str] = []
    most: dict[TabulationPass, tuple[int, str]] = {}
    events = base.events | other.events
    for measured in dict.fromkeys(event.measured for event in events):
        level = measured[1]
        stability = min(event.stability for event in events if event.measured == measured)
        may_differ = stability * (1 + neighbour.has_other_codes)
        for stages in ({Stage.TOTAL_ONLY, Stage.STAGE_1}, {Stage.TOTAL_ONLY, Stage.STAGE_2}):
            differences = _differences(base, other, measured, stages)
            faults += [f"{level}: {fault}" for fault in _faults_of(differences, may_differ, neighbour)]
            if differences:
                which = level.geography.tabulation_pass
                words = f"{len(differences)} of {may_differ} groups in {level}"
                most[which] = max(most.get(which, (0, "")), (len(differences), words))
    tables = {shape for _, shape in base.counts.keys() | other.counts.keys() if _differs(base, other, shape)}
    seen = "; ".join(words for _, words in most.values()) + f"; cells of {len(tables)} tables differ"
    if not most:
        faults.append("nothing differs, so nothing was tried")
    return verdict(f"{ONE_RECORD}: {neighbour.name}", faults, seen)


def _differs(base: Record, other: Record, shape: Shape) -> bool:
    levels = dict.fromkeys(event.measured for event, of_event in base.counts if of_event is shape)
    return any(_differences(base, other, one, set(Stage), shape) for one in levels)


def _faults_of(differences: list[NDArray[np.int64]], may_differ: int, neighbour: Neighbour) -> Iterator[str]:
    steps = {tuple(sorted(difference[difference != 0].tolist())) for difference in differences}
    if len(differences) > may_differ:
        yield f"{len(differences)} groups differ, and {may_differ} may"
    if any(len(step) > 1 + neighbour.is_changed for step in steps):
        yield "a group differs in several cells"
    if steps - {(-1,), (1,), (-1, 1)} or (not neighbour.may_differ_both_ways and len(steps) > 1):
        yield f"counts differ by {sorted(steps)}"


def _differences(
    base: Record, neighbour: Record, measured: MeasuredLevel, stages: set[Stage], only: Shape | None = None
) -> list[NDArray[np.int64]]:
    """For each group that differs in these stages, the difference of its cells."""
    found = []
    for question in dict.fromkeys([*base.counts, *neighbour.counts]):
        event, shape = question
        if event.measured != measured or event.stage not in stages or only not in {None, shape}:
            continue
        one, other = base.counts.get(question, {}), neighbour.counts.get(question, {})
        nobody = np.zeros(shape.cells, dtype=np.int64)
        for index in one.keys() | other.keys():
            difference = other.get(index, nobody) - one.get(index, nobody)
            if difference.any():
                found.append(difference)
    return found


def _lower_suppressed_numbers(base: AuditedRun) -> tuple[Change, int]:
    """Gives suppressed groups other numbers, with which they are still suppressed; tells how many they are."""
    suppressed: dict[Question, frozenset[int]] = {}
    for plan in base.plan.levels:
        events = {event.stage: event for event in base.record.events if event.measured == (plan.family, plan.level)}
        if plan.design.suppression_threshold is None or Stage.STAGE_2 not in events:
            continue
        totals = base.record.noisy.get((events[Stage.STAGE_2], plan.family.total), {})
        indices = frozenset(index for index, value in totals.items() if value[0] <= plan.design.suppression_threshold)
        suppressed |= dict.fromkeys(_totals_of(events), indices)

    def lowered(question: Question, indices: NDArray[np.int64], noisy: NDArray[np.int64]) -> NDArray[np.int64]:
        is_suppressed = np.isin(indices, list(suppressed.get(question, ())))
        return noisy - _LESS * is_suppressed[:, None].astype(np.int64)

    return lowered, sum(map(len, suppressed.values())) // 2


def _totals_of(events: Mapping[Stage, MeasurementEvent]) -> list[Question]:
    return [(event, event.family.total) for event in (events[Stage.STAGE_1], events[Stage.STAGE_2])]
