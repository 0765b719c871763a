"""Mistakes of a compiler of specifications. Nothing in the package plants them: tests patch them in, one by one."""

from dataclasses import replace

import numpy as np

from tests.inside import (
    MOST_ANSWERS,
    GroupUniverse,
    Selector,
    Specification,
    area_tables_module,
    census_value_module,
    encoding_module,
    planner_module,
    run_plan_module,
    tabulate_level_module,
)


def sensitivity_without_only(patch):
    original = planner_module.sensitivity
    patch.setattr(
        planner_module,
        "sensitivity",
        lambda maps, *of_unit: original([replace(each, only={}) for each in maps], *of_unit),
    )


def k_one_too_small(patch):
    """Noise is made for units with one record less than a unit may have."""
    original = planner_module.sensitivity
    patch.setattr(planner_module, "sensitivity", lambda maps, most_records: original(maps, most_records - 1))


def suppression_at_the_wrong_kind(patch):
    original = census_value_module._kind
    patch.setattr(census_value_module, "_kind", lambda *args, suppresses: original(*args, suppresses=not suppresses))


def use_ignored(patch):
    patch.setattr(Specification, "use_of", lambda _, classification: len(classification.columns))


def answers_beyond_use_counted(patch):
    original = encoding_module.PatternTable
    patch.setattr(encoding_module, "PatternTable", lambda _, **settings: original(MOST_ANSWERS, **settings))


def classes_of_codes_merged_too_far(patch):
    """Codes that are in the same groups of the first level share a number, whatever other levels say."""
    original = encoding_module._groups_of_codes
    patch.setattr(encoding_module, "_groups_of_codes", lambda maps: original(maps[:1]))


def codes_merged_without_only(patch):
    original = encoding_module._groups_of_codes
    patch.setattr(encoding_module, "_groups_of_codes", lambda maps: original([replace(each, only={}) for each in maps]))


def nowhere_counted(patch):
    original = area_tables_module._level
    patch.setattr(area_tables_module, "_level", lambda level, *args: original(replace(level, nowhere=()), *args))


def a_pass_charged_with_the_budget_of_another_pass(patch):
    original = run_plan_module.loss_of_config_pass
    patch.setattr(run_plan_module, "loss_of_config_pass", lambda config, _: original(config, config.passes[-1]))


def a_pass_measured_with_the_budget_of_another_pass(patch):
    """Every label gets the budget of the first label with a budget for these tables and groups."""
    original = planner_module.level_design

    def of_the_first(config, of_family, level, *rest):
        budgets = of_family.budgets
        same = [each for each in budgets if each.iterations == level.iterations and budgets[each] > 0]
        return original(config, replace(of_family, budgets={**budgets, level: budgets[same[0]]}), level, *rest)

    patch.setattr(planner_module, "level_design", of_the_first)


def groups_of_nobody_left_out_where_nothing_chooses(patch):
    def of_somebody(level, totals):
        family = level.plan.family
        shapes = np.full(len(totals.indices), family.number_of(family.finest), dtype=np.int8)
        yield tabulate_level_module._stage_2(level, totals, None, shapes)

    patch.setitem(tabulate_level_module._ADAPTIVE, Selector.NONE, of_somebody)


def areas_of_a_list_ignored(patch):
    original = census_value_module._lists

    def everywhere(spec, kinds):
        return tuple(replace(each, kinds=tuple(kinds)) for each in original(spec, kinds))

    patch.setattr(census_value_module, "_lists", everywhere)


def lone_totals_measured_in_two_stages(patch):
    patch.setattr(
        GroupUniverse, "is_total_only", property(lambda universe: np.zeros(len(universe.iterations), np.bool_))
    )
