"""The sizes of the groups of a synthetic census, for the explorer's page.

Run it as `python -m tools.reproduction.group_sizes CENSUS`. CENSUS is what `safetab synthesize
CENSUS --people 334735155 --us` writes. People of such a census do not exist, so their numbers may
be public. Writes src/safetab/model/us/group_sizes.json; the same census gives the same bytes.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.foundation.progress import NoProgress
from safetab.runs.guards import backend_of
from safetab.runs.inputs import checked_engine, read_inputs
from safetab.runs.options import RunOptions
from tools import PROJECT

FILE = PROJECT / "src" / "safetab" / "model" / "us" / "group_sizes.json"
EACH_SIZE_UP_TO = 20
BINS_OF_A_DECADE = 12


def main(census: Path) -> None:
    with TemporaryDirectory() as folder:
        checked = read_inputs(
            _with_every_level(census / "parameters", Path(folder) / "parameters"), census / "data"
        )
    levels = {}
    with (
        backend_of(RunOptions()) as backend,
        checked_engine(checked, backend, NoProgress()) as (_, engine),
    ):
        people = engine.prepare()
        for level in checked.require().plan.levels:
            levels[f"{level.level.geography.label},{level.level.iterations.number}"] = sizes_of(
                level, engine.totals(level)
            )
            print(level.level)
    lines = ",\n".join(f'"{key}": {json.dumps(sizes)}' for key, sizes in levels.items())
    FILE.write_text(f'{{"people": {sum(people.values())},\n"levels": {{\n{lines}\n}}}}\n')
    print(f"Wrote {FILE.name}.")


def _with_every_level(parameters: Path, copy: Path) -> Path:
    """The same lists; a level that the configuration leaves out has a budget."""
    shutil.copytree(parameters, copy)
    config = json.loads((copy / "config.json").read_text("utf-8"))
    left_out = [
        key for key, value in config.items() if key.startswith("privacy_budget_") and value == 0
    ]
    (copy / "config.json").write_text(
        json.dumps(config | dict.fromkeys(left_out, 1)), encoding="utf-8"
    )
    return copy


def sizes_of(level: LevelPlan, totals: ExactCounts) -> dict[str, object]:
    """Of groups that get tables as their size allows and of those that get a total alone."""
    universe = level.universe
    is_total_only = universe.is_total_only[universe.index.iteration_of(totals.indices)]
    sizes, entities = totals.confidential_counts[:, 0], len(universe.entities)
    total_only = int(universe.is_total_only.sum())
    return {
        "adaptive": of_kind(
            sizes[~is_total_only], entities * (len(universe.iterations) - total_only)
        ),
        "total_only": of_kind(sizes[is_total_only], entities * total_only),
    }


def of_kind(sizes: NDArray[np.int64], possible: int) -> dict[str, object]:
    """Pairs of a size and a number of groups.

    Small sizes have one each, large ones go by twelfths of a power of ten.
    """
    bins = np.where(
        sizes <= EACH_SIZE_UP_TO, sizes, 1000 + np.floor(BINS_OF_A_DECADE * np.log10(sizes))
    )
    _, bin_of, groups = np.unique(bins, return_inverse=True, return_counts=True)
    means = (
        np.rint(np.bincount(bin_of, weights=sizes) / groups).astype(int)
        if len(sizes)
        else np.empty(0, int)
    )
    return {
        "possible": possible,
        "sizes": [list(pair) for pair in zip(means.tolist(), groups.tolist(), strict=True)],
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
