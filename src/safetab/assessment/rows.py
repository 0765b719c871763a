"""The rows of the report's table: one for each level, kind of iteration, size class, table and number."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from safetab.assessment.assess_run import AssessedLevel
from safetab.assessment.classes import KINDS, SIZE_STARTS, TOTAL, MeasuredAs, NumberSort, size_class_name
from safetab.assessment.level_cubes import Cubes, LevelCubes
from safetab.products.product import TableFamily

ALL = "all"
FAMILY = "table_family"
"""A column of reports on products with several table families."""
SOMEBODY = "1 or more"
KIND_LABELS = (*(kind.value for kind in KINDS), ALL)
SIZE_LABELS = (*(size_class_name(number) for number in range(len(SIZE_STARTS))), SOMEBODY, ALL)
_COUNTS = ("groups", "published", "numbers", "draws", "selection_aware_intervals")
_WORTH_A_ROW = 1.0  # groups that theory expects with a table, in all runs, although none was seen


def accuracy_table(levels: Iterable[AssessedLevel], runs: int, *, has_theory: bool, configuration: str) -> pa.Table:
    parts = []
    for level in levels:
        for measured, tally in level.tallies.items():
            cubes = LevelCubes(level, measured, runs, has_theory=has_theory)
            shares = cubes.shares()
            for sort in tally.sorts:
                columns = shares | cubes.errors(sort)
                parts.append(_rows(_keys(level, measured, sort, configuration, runs), columns, sort, tally.family))
    return pa.concat_tables([part for part in parts if len(part)])


def _keys(
    level: AssessedLevel, measured: MeasuredAs, sort: NumberSort, configuration: str, runs: int
) -> dict[str, object]:
    of_level, design = level.truth.plan.level, level.truth.plan.design
    return {
        "configuration": configuration,
        "pass": of_level.geography.tabulation_pass.value,
        "geography_level": of_level.geography.label,
        "iteration_level": of_level.iterations.label,
        **({FAMILY: design.family.name} if design.product.has_several_families else {}),
        "measured": measured.value,
        "number": sort.label,
        "runs": runs,
    }


def _rows(keys: dict[str, object], cubes: Cubes, sort: NumberSort, family: TableFamily) -> pa.Table:
    """Classes without a group are left out, and so are tables that no group got and none was expected to get."""
    expected = cubes["published_share_theory"] * cubes["groups"] * float(str(keys["runs"]))
    is_there = cubes["numbers"] > 0
    if sort == TOTAL:
        is_there |= (cubes["groups"] > 0) & (expected >= _WORTH_A_ROW)
        is_there[:, -1] |= cubes["groups"][:, -1] > 0
    chosen = kind, shape, size = np.nonzero(is_there)
    shape_labels, starts = (*(one.label for one in family.shapes), ALL), [*SIZE_STARTS, None, None]
    columns: dict[str, pa.Array] = {name: pa.array([value] * len(kind)) for name, value in keys.items()}
    columns["iteration_kind"] = pa.array([KIND_LABELS[one] for one in kind])
    columns["size_class"] = pa.array([SIZE_LABELS[one] for one in size])
    columns["size_from"] = pa.array([starts[one] for one in size], pa.int64())
    columns["table"] = pa.array([shape_labels[one] for one in shape])
    for name, cube in cubes.items():
        values = np.broadcast_to(cube, is_there.shape)[chosen]
        if name in _COUNTS:
            columns[name] = pa.array(np.rint(values).astype(np.int64))
        else:
            columns[name] = pa.array(values, mask=~np.isfinite(values))
    family_column = [FAMILY] if FAMILY in keys else []
    order = ("configuration", "pass", "geography_level", "iteration_level", *family_column, "measured")
    first = [*order, "iteration_kind", "size_class", "size_from", "table", "number", "runs"]
    return pa.table({name: columns[name] for name in [*first, *(name for name in columns if name not in first)]})
