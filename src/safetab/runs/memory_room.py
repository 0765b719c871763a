"""The memory that a run still needs.

It is compared with every limit before the charge, so that no charge is lost to it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from safetab.core.algorithm.run_plan import RunPlan
from safetab.foundation.failures import RunFailed
from safetab.foundation.start_up import address_space_limit, control_group_limit
from safetab.runs.disk_space import size_in_words

_RECORD_BYTES = 16
_BYTES_OF_TEN_GROUPS = 3
_MOST_RECORDS, _MOST_GROUPS = 10**7, 275 * 10**6
"""The largest run that was measured. What a larger one needs beyond it isn't guessed."""


def least_growth(plan: RunPlan, records: int) -> int:
    """The bytes that counting, noise and writing take at least.

    What a process holds before the charge comes on top. They are less than what was measured
    (docs/testing-faults.md#memory): a run that can work is never refused.
    """
    groups = min(sum(level.universe.size for level in plan.levels), _MOST_GROUPS)
    counted = min(records, groups // 10, _MOST_RECORDS)
    return groups * _BYTES_OF_TEN_GROUPS // 10 + counted * _RECORD_BYTES


def memory_left() -> dict[str, int]:
    """The bytes that this process may still take, by what limits them.

    Nothing where the system doesn't say.
    """
    held: list[int] = []
    available = None
    with suppress(OSError, ValueError, LookupError):
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
        held = [int(number) * os.sysconf("SC_PAGE_SIZE") for number in pages[:3]]
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        of_machine = {
            name: int(rest.split()[0]) << 10
            for name, _, rest in (line.partition(":") for line in lines)
        }
        available = of_machine["MemAvailable"] + of_machine["SwapFree"]
    if not held:
        return {}
    space, resident, of_files = held
    limits = {
        "the address space (`ulimit -v`)": (address_space_limit(), space),
        "the memory of its control group": (control_group_limit(), resident - of_files),
        "the memory of this machine": (available, 0),
    }
    return {name: limit - used for name, (limit, used) in limits.items() if limit is not None}


def require_memory(plan: RunPlan, records: int, left: Mapping[str, int] | None = None) -> None:
    """Raise RunFailed if a limit leaves less memory than a run of this size needs for certain."""
    growth = least_growth(plan, records)
    for name, size in (memory_left() if left is None else left).items():
        if size < growth:
            raise RunFailed(
                f"{name} leaves {size_in_words(max(0, size))},"
                f" and this run needs about {size_in_words(growth)} more. Nothing was written."
                " Raise the limit, or run it where there is more memory."
            )
