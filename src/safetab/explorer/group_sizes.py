"""How large the groups of each level are in a census of people who do not exist: what the page's simulation draws from.

`reproduction/group_sizes.py` counted them. No real census had any part in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import pairwise

from safetab.tuning.level_sizes import Facts, LevelSizes

Pair = tuple[int, int]  # a size in people, and how many groups have it


def group_sizes(facts: Facts) -> dict[str, object]:
    """For each level the sizes of its groups with somebody in them, for as many possible groups as the level has."""
    counted = json.loads((files("safetab.explorer") / "group_sizes.json").read_text("utf-8"))
    levels = {f"{level.geography.label},{int(level.iterations)}": sizes for level, sizes in facts.items()}
    return {
        "people": counted["people"],
        "levels": {key: _of_level(counted["levels"][key], sizes) for key, sizes in levels.items()},
    }


def _of_level(counted: Mapping[str, Mapping[str, object]], sizes: LevelSizes) -> dict[str, object]:
    iterations = sizes.lists.iterations
    return {
        "adaptive": _of_kind(counted["adaptive"], sizes.entities * iterations.adaptive),
        "total_only": _of_kind(
            counted["total_only"] if counted["total_only"]["possible"] else counted["adaptive"],
            sizes.entities * iterations.total_only,
        ),
    }


def _of_kind(counted: Mapping[str, object], possible: int) -> dict[str, object]:
    known = counted["possible"]
    assert isinstance(known, int)
    return {"possible": possible, "sizes": list(_scaled(counted["sizes"], known, possible))}  # type: ignore[arg-type]


def _scaled(sizes: Iterable[Pair], known: int, possible: int) -> Iterable[Pair]:
    """The same distribution over another number of groups: sums from the largest size on are rounded."""
    if not possible:
        return
    largest_first, sums = sorted(sizes, reverse=True), [0]
    for _, groups in largest_first:
        sums.append(sums[-1] + groups)
    rounded = [(2 * total * possible + known) // (2 * known) for total in sums]
    for (size, _), (before, after) in zip(largest_first, pairwise(rounded), strict=True):
        if after > before:
            yield (size, after - before)
