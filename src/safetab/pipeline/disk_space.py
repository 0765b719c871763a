"""How much disk a run needs: shown, and checked, before anything is read or drawn."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from safetab.foundation.failures import RunFailed
from safetab.planning.expectations import output_if_all_groups_are_empty
from safetab.planning.run_plan import LevelPlan, RunPlan

_ENCODED_PERSON_BYTES = 16
_GROUP_BYTES = 70  # in the tables and the measurements together, compressed as they are
_ROW_BYTES = 40
_PEOPLE_OF_A_GROUP = 4  # times T + 1: people in a published group, on average at least; six in a synthetic nation
_SMALLEST_BYTES = 10**7


@dataclass(frozen=True, slots=True)
class DiskNeed:
    """About so many bytes in a folder that is there."""

    called: str
    folder: Path
    size: int


def disk_needs(plan: RunPlan, people: int, temporary_folder: Path, out: Path) -> tuple[DiskNeed, DiskNeed]:
    output = sum(_output_bytes(level, people) for level in plan.levels)
    return (
        DiskNeed("--temp", temporary_folder, _SMALLEST_BYTES + people * _ENCODED_PERSON_BYTES),
        DiskNeed("OUT", out.parent, _SMALLEST_BYTES + output),
    )


def _output_bytes(level: LevelPlan, people: int) -> int:
    """What empty groups give on average, and what people add: a group that is published has about T of them or more."""
    if not level.universe.size or not level.design.stages:
        return 0
    empty, added = output_if_all_groups_are_empty(level), 0
    if level.design.suppression_threshold is not None:
        people_of_a_group = _PEOPLE_OF_A_GROUP * max(1, level.design.suppression_threshold + 1)
        added = min(level.universe.size, people // people_of_a_group)
    rows_of_tables = sum(empty.rows.values()) - empty.published_groups
    return int(empty.published_groups + added) * _GROUP_BYTES + int(rows_of_tables) * _ROW_BYTES


def require_disk(plan: RunPlan, people: int, temporary_folder: Path, out: Path, note: Callable[[str], None]) -> None:
    """Notes what a run will need, and raises RunFailed if there is less."""
    needs = disk_needs(plan, people, temporary_folder, out)
    note(described_needs(needs))
    require_room(needs)


def described_needs(needs: Sequence[DiskNeed]) -> str:
    return f"Disk: about {' and '.join(f'{size_in_words(need.size)} for {need.called}' for need in needs)}."


def require_room(needs: Iterable[DiskNeed], free_bytes: Callable[[Path], int] | None = None) -> None:
    """Raises RunFailed, with every disk that is too small, if the needs of some disk are more than it has."""
    free_of = free_bytes or (lambda folder: shutil.disk_usage(folder).free)
    short = []
    for _, of_disk in groupby(sorted(needs, key=_disk_of), key=_disk_of):
        together = list(of_disk)
        needed, free = sum(need.size for need in together), free_of(together[0].folder)
        if free < needed:
            names = " and ".join(f"{need.called} ({need.folder})" for need in together)
            short.append(
                f"the disk of {names} has {size_in_words(free)} free, and about {size_in_words(needed)} are needed."
            )
    if short:
        raise RunFailed(" ".join((*short, "Nothing was written. Make room, or give another --temp or OUT.")))


def _disk_of(need: DiskNeed) -> int:
    return need.folder.stat().st_dev


def size_in_words(number: int) -> str:
    return f"{number / 10**9:.1f} GB" if number >= 10**9 else f"{max(1, number // 10**6)} MB"
