"""The disk space that a run needs: shown and checked before anything is read or drawn."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from safetab.core.algorithm.run_plan import LevelPlan, RunPlan, output_if_all_groups_are_empty
from safetab.foundation.failures import RunFailed

_ENCODED_RECORD_BYTES = 16
_GROUP_BYTES = 70  # in the tables and the measurements together, compressed as they are
_ROW_BYTES = 40
# Times T + 1: the least average number of records in a published group. A synthetic nation has six.
_RECORDS_OF_A_GROUP = 4
_SMALLEST_BYTES = 10**7


@dataclass(frozen=True, slots=True)
class DiskNeed:
    """About how many bytes an existing folder needs, and what messages call it."""

    called: str
    folder: Path
    size: int


def _output_bytes(level: LevelPlan, records: int) -> int:
    """The bytes that a level adds to the output.

    Empty groups are published as often as noise makes them, on average; a published group with
    records has about T of them or more.
    """
    if not level.universe.size or not level.design.stages:
        return 0
    empty = output_if_all_groups_are_empty(level)
    added = 0
    if level.design.suppression_threshold is not None:
        records_of_a_group = _RECORDS_OF_A_GROUP * max(1, level.design.suppression_threshold + 1)
        added = min(level.universe.size, records // records_of_a_group)
    rows_of_tables = sum(empty.rows.values()) - empty.published_groups
    return int(empty.published_groups + added) * _GROUP_BYTES + int(rows_of_tables) * _ROW_BYTES


def require_disk(
    plan: RunPlan, records: int, temporary_folder: Path, out: Path, note: Callable[[str], None]
) -> None:
    """Note what a run will need. Raises RunFailed if a disk has less."""
    output = sum(_output_bytes(level, records) for level in plan.levels)
    needs = (
        DiskNeed("--temp", temporary_folder, _SMALLEST_BYTES + records * _ENCODED_RECORD_BYTES),
        DiskNeed("OUT", out.parent, _SMALLEST_BYTES + output),
    )
    sizes = [f"{size_in_words(need.size)} for {need.called}" for need in needs]
    note(f"Disk: about {' and '.join(sizes)}.")
    require_room(needs)


def require_room(
    needs: Iterable[DiskNeed], free_bytes: Callable[[Path], int] | None = None
) -> None:
    """Raise RunFailed, with every disk that is too small, if a disk has less than it needs."""
    free_of = free_bytes or (lambda folder: shutil.disk_usage(folder).free)
    short = []
    for _, of_disk in groupby(sorted(needs, key=_disk_of), key=_disk_of):
        together = list(of_disk)
        needed = sum(need.size for need in together)
        free = free_of(together[0].folder)
        if free < needed:
            names = " and ".join(f"{need.called} ({need.folder})" for need in together)
            has = f"has {size_in_words(free)} free, but about {size_in_words(needed)} are needed."
            short.append(f"the disk of {names} {has}")
    if short:
        raise RunFailed(
            " ".join((*short, "Nothing was written. Make room, or give another --temp or OUT."))
        )


def _disk_of(need: DiskNeed) -> int:
    return need.folder.stat().st_dev


def size_in_words(number: int) -> str:
    """A number of bytes such as 1.5 GB or 20 MB."""
    return f"{number / 10**9:.1f} GB" if number >= 10**9 else f"{max(1, number // 10**6)} MB"
