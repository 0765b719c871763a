"""How much a plan lets one expect to be published about groups with nobody in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from flint import arb

from safetab.distributions.noise_distribution import DEFAULT_BITS
from safetab.distributions.precision import working_precision
from safetab.planning.run_plan import LevelPlan
from safetab.planning.selected_groups import SelectedGroups
from safetab.planning.selectors import chosen_shapes
from safetab.privacy.stages import Stage


@dataclass(frozen=True, slots=True)
class EmptyGroupOutput:
    """What is published, on average, if nobody is in any group of the level.

    Nearly all groups of a census are empty, so this is close for `published_groups`, and never below it; a group with
    people in it is published at least as often, so the rows of a real run are at least these.
    """

    published_groups: float
    rows: Mapping[str, float]  # by the folder of a table file


def output_if_all_groups_are_empty(plan: LevelPlan) -> EmptyGroupOutput:
    design, universe = plan.design, plan.universe
    if plan.selected is not None:
        return _of_selected_groups(plan, plan.selected)
    groups = design.empty_groups_published(universe.adaptive_groups, universe.total_only_groups)
    rows = {file.folder: _rows(plan, file.folder, groups) for file in design.product.files}
    return EmptyGroupOutput(groups, rows)


def _of_selected_groups(plan: LevelPlan, selected: SelectedGroups) -> EmptyGroupOutput:
    """Published totals say which groups are published and with which tables, whoever is in them."""
    shapes = np.bincount(chosen_shapes(selected.totals, plan.design.thresholds), minlength=len(plan.family.shapes))
    rows = {
        file.folder: float(
            sum(
                groups * len(shape.file_rows.get(file.folder, ()))
                for groups, shape in zip(shapes.tolist(), plan.family.shapes, strict=True)
            )
        )
        for file in plan.design.product.files
    }
    return EmptyGroupOutput(float(len(selected.indices)), rows)


def _rows(plan: LevelPlan, folder: str, published_groups: float) -> float:
    """A lone total has a row in the file of totals alone, whether it is measured in two stages or in one."""
    family = plan.family
    if folder in family.total.file_rows:
        return published_groups
    if Stage.STAGE_2 not in plan.design.stages:
        return 0.0
    chances = plan.design.shape_chances()
    with working_precision(DEFAULT_BITS):
        of_a_group = sum((chances[shape] * len(shape.file_rows.get(folder, ())) for shape in family.finer), arb(0))
        return float((plan.universe.adaptive_groups * of_a_group).mid())
