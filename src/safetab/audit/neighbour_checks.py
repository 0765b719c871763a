"""Record and replay on neighbouring worlds: what one person can change before the noise, and after it.

docs/privacy.md#audit says what each check proves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safetab.audit import worlds
from safetab.audit.recording import Change, Question, Record, recorded
from safetab.audit.verdicts import Verdict, verdict
from safetab.census.geography_levels import TabulationPass
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.pipeline.options import RunOptions
from safetab.pipeline.run import run_files
from safetab.planning.run_plan import RunPlan
from safetab.privacy.addressed_bits import KEY_BYTES
from safetab.privacy.measurement_event import MeasurementEvent
from safetab.privacy.stages import Stage

NEIGHBOURS: Mapping[str, tuple[worlds.Person, ...]] = {
    "one person more": worlds.ONE_MORE_PERSON,
    "eight codes and an ethnicity": worlds.EIGHT_CODES_AND_AN_ETHNICITY,
    "a TotalOnly person": worlds.A_TOTAL_ONLY_PERSON,
    "one code eight times": worlds.ONE_CODE_EIGHT_TIMES,
    "moved to Puerto Rico": worlds.MOVED_TO_PUERTO_RICO,
}
SOMEBODY_WHERE_NOBODY_WAS = "the first person of Puerto Rico"
ONE_PERSON, REPLAY, NO_TRACE = "one person", "equal numbers, equal bytes", "suppressed groups leave no trace"
_LESS = 7


Release = dict[str, tuple[bytes, float]]
"""For each file its bytes and when it was last changed."""


@dataclass(frozen=True, slots=True, eq=False)
class AuditedRun:
    plan: RunPlan
    record: Record
    released: Release


def audited_run(
    folder: Path, people: tuple[worlds.Person, ...], key: bytes, replayed: Record | None = None,
    change: Change | None = None,
) -> AuditedRun:  # fmt: skip
    """A whole run, from files to files, with a recorder where the noise is added."""
    world, out = worlds.write_world(folder, people, worlds.audit_config()), folder / "out"
    with recorded(replayed, change) as record:
        summary = run_files(world.parameters, world.data, out, RunOptions(test_key=key))
    return AuditedRun(summary.plan, record, released_files(out))


def released_files(out: Path) -> Release:
    files = (path for path in sorted(out.rglob("*")) if path.is_file())
    return {str(path.relative_to(out)): (path.read_bytes(), path.stat().st_mtime) for path in files}


def neighbour_checks(folder: Path, key: bytes | None = None) -> Iterator[Verdict]:
    key = key or os.urandom(KEY_BYTES)
    base = audited_run(folder / "base", worlds.POPULATION, key)
    for number, (name, people) in enumerate(NEIGHBOURS.items()):
        neighbour = audited_run(folder / f"neighbour-{number}", people, key, base.record)
        yield from _compared(name, base, neighbour)
    nobody = audited_run(folder / "nobody", worlds.NOBODY_IN_PUERTO_RICO, key)
    somebody = audited_run(folder / "somebody", worlds.ONE_PERSON_IN_PUERTO_RICO, key, nobody.record)
    yield from _compared(SOMEBODY_WHERE_NOBODY_WAS, nobody, somebody)
    change, altered = _lower_suppressed_numbers(base)
    again = audited_run(folder / "suppressed", worlds.POPULATION, key, base.record, change)
    faults = different_files(base.released, again.released)
    if not altered:
        faults.append("nothing was suppressed, so nothing was tried")
    yield verdict(NO_TRACE, faults, f"other noisy numbers for {altered} suppressed groups")


def _compared(name: str, base: AuditedRun, neighbour: AuditedRun) -> Iterator[Verdict]:
    yield _one_person(name, base.record, neighbour.record)
    faults = different_files(base.released, neighbour.released)
    yield verdict(f"{REPLAY}: {name}", faults, f"{len(base.released)} files, the log among them")


def different_files(one: Release, other: Release) -> list[str]:
    return [f"{path} differs" for path in sorted(one.keys() | other.keys()) if one.get(path) != other.get(path)]


def _one_person(name: str, base: Record, neighbour: Record) -> Verdict:
    """In each level at most `stability` groups differ, each by one in its total and in one cell."""
    faults: list[str] = []
    most: dict[TabulationPass, tuple[int, str]] = {}
    for level in dict.fromkeys(event.level for event in base.events | neighbour.events):
        stability = min(event.stability for event in base.events | neighbour.events if event.level == level)
        for stages in ({Stage.TOTAL_ONLY, Stage.STAGE_1}, {Stage.TOTAL_ONLY, Stage.STAGE_2}):
            differences = _differences(base, neighbour, level, stages)
            steps = [int(step) for difference in differences for step in difference[difference != 0]]
            if len(differences) > stability:
                faults.append(f"{level}: {len(differences)} groups differ, and the stability is {stability}")
            if any(np.count_nonzero(difference) != 1 for difference in differences):
                faults.append(f"{level}: a group differs in several cells")
            if set(steps) not in (set(), {1}, {-1}):
                faults.append(f"{level}: counts differ by {sorted(set(steps))}")
            if differences:
                which = level.geography.tabulation_pass
                words = f"{len(differences)} of {stability} groups in {level}"
                most[which] = max(most.get(which, (0, "")), (len(differences), words))
    return verdict(f"{ONE_PERSON}: {name}", faults, "; ".join(words for _, words in most.values()) or "nothing differs")


def _differences(
    base: Record, neighbour: Record, level: PopulationGroupLevel, stages: set[Stage]
) -> list[NDArray[np.int64]]:
    """For each group that differs in these stages, the difference of its cells."""
    found = []
    for question in dict.fromkeys([*base.counts, *neighbour.counts]):
        event, shape = question
        if event.level != level or event.stage not in stages:
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
        events = {event.stage: event for event in base.record.events if event.level == plan.level}
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
