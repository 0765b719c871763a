"""The plan of a run, from the values that its public files hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from safetab.core.algorithm.level_design import IterationsMeasured, level_design
from safetab.core.algorithm.run_plan import LevelPlan, RunPlan, selected_groups
from safetab.core.guarantees.concerns import warn_of_noisy_choices
from safetab.core.privacy.calibration import Stage
from safetab.foundation.findings import Checked, FindingsOf
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import Areas
from safetab.model.census.groups import GroupLevel, PublicLists, iteration_map_of
from safetab.model.census.population_groups import PublishedTotals, universe_of
from safetab.model.census.sensitivity import Sensitivity, sensitivity
from safetab.model.config.run_config import RunConfig, budget_key
from safetab.model.products.all_products import as_shipped
from safetab.model.specification.reading import Publication

if TYPE_CHECKING:
    from safetab.inputs.own_records import OwnIds
    from safetab.inputs.readers.area_names import AreaNames


@dataclass(frozen=True, slots=True)
class PublicFiles:
    """Everything that a plan is made from."""

    config: RunConfig
    lists: PublicLists
    geography_of_pass: Mapping[Pass, Areas]
    paths: tuple[Path, ...] = ()
    names: AreaNames = field(default_factory=dict)
    oids: OwnIds | None = None  # of records in a dialect's own form
    totals: PublishedTotals | None = None  # that choose tables, if the product asks for such
    totals_files: Mapping[str, Path] = field(default_factory=dict)
    publication: Publication | None = None  # None: nobody says whose numbers these are


def plan_of(files: PublicFiles) -> Checked[RunPlan]:
    """The plan, and findings about levels that can't be measured as configured."""
    findings = FindingsOf(files.config.spelling.file)
    families_and_levels = (
        (family, level) for level in files.config.levels for family in files.config.families
    )
    tabulated = [
        (of_family, level)
        for of_family, level in families_and_levels
        if of_family.budgets[level] > 0
    ]
    entities = {
        geography: files.geography_of_pass[geography.tabulation_pass].entities(geography.kind)
        for geography in {level.geography for _, level in tabulated}
    }
    has_total_only = files.config.product.has_total_only
    universes = {
        level: universe_of(
            level, entities[level.geography], files.lists, has_total_only=has_total_only
        )
        for level in dict.fromkeys(level for _, level in tabulated)
    }
    sensitivities: dict[tuple[GroupLevel, int], Sensitivity] = {}
    levels = list[LevelPlan]()
    for of_family, level in tabulated:
        # what sensitivity depends on, besides the lists
        grain = level.iterations, files.config.census.grain_of(level.geography.kind)
        if grain not in sensitivities:
            most = files.config.most_answers
            slots = files.config.census.classifications
            kind = level.geography.kind
            codes = iteration_map_of(
                files.lists, level.iterations, kind, most_answers=most, classifications=slots
            )
            sensitivities[grain] = sensitivity(
                codes.classifications, files.config.product.record.most_records
            )
        universe, total_only = universes[level], universes[level].total_only_iterations
        measured = IterationsMeasured(len(universe.iterations) - total_only, total_only)
        design = level_design(files.config, of_family, level, sensitivities[grain], measured)
        selected = None if files.totals is None else selected_groups(universe, files.totals)
        levels.append(LevelPlan(design, universe, selected))
        _check_level(levels[-1], findings)
    if files.totals is not None:
        _judge_unmeasured_passes(files, files.totals, levels, findings)
    warn_of_noisy_choices(files.config, levels, findings)
    left_out = tuple(level for level in files.config.levels if files.config.budget_of(level) == 0)
    # a specification that another one is like has the same name, in its own folder
    names = [path.name for path in files.paths]
    public = {
        path.name if names.index(path.name) == place else f"{path.parent.name}/{path.name}": path
        for place, path in enumerate(files.paths)
    } | dict(files.totals_files)
    plan = RunPlan(files.config, files.lists, tuple(levels), left_out, public)
    return Checked(None if findings.has_errors else plan, findings.findings)


def _judge_unmeasured_passes(
    files: PublicFiles, totals: PublishedTotals, levels: Sequence[LevelPlan], findings: FindingsOf
) -> None:
    """Report passes of which no group is measured: their budget would be spent on nothing.

    It is an error if no total is of the pass, and a warning if its totals are all of ignored
    groups.
    """
    for which in files.config.passes:
        of_pass = [plan for plan in levels if plan.level.geography.tabulation_pass == which]
        if not of_pass or any(plan.measured_groups for plan in of_pass):
            continue
        key, areas = files.config.spelling.passes[which], files.geography_of_pass[which]
        own = (
            (level.kind, found)
            for level, found in totals.of_level.items()
            if level.tabulation_pass == which
        )
        if any(np.isin(found.entity, areas.entities(kind)).any() for kind, found in own):
            findings.warning(
                key,
                "all published totals of this pass are ignored: its budget is spent on nothing.",
            )
        else:
            problem = "no published total is of this pass: its budget would be spent on nothing"
            findings.error(key, f"{problem}. Give totals of this pass, or leave the pass out.")


def _check_level(plan: LevelPlan, findings: FindingsOf) -> None:
    """Report a level whose noise can't be drawn or at which nothing is measured."""
    product = plan.design.product
    key = budget_key(product, plan.family, plan.level)
    of_stage_1 = as_shipped(product).stage_1_key
    advice = "Change the budget." if of_stage_1 is None else f"Change the budget or {of_stage_1}."
    for measured in plan.design.stages.values():
        complaint = measured.noise.out_of_sampler_range
        if complaint is not None:
            findings.error(
                key,
                f"the noise of {_STAGE_NAMES[measured.stage]} is out of range: {complaint}."
                f" {advice}",
            )
    if not plan.design.stages:
        message = (
            "no code leads to an iteration of this level, so nothing will be measured for this"
            " budget."
        )
        findings.warning(key, message)
    elif not len(plan.universe.entities):
        kind = plan.level.geography.kind.noun
        findings.warning(
            key, f"the geography lists no {kind}, so nothing will be measured for this budget."
        )


_STAGE_NAMES = {
    Stage.STAGE_1: "stage 1",
    Stage.STAGE_2: "stage 2",
    Stage.TOTAL_ONLY: "total-only groups",
}
