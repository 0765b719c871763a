"""Keys of config.json that are mixed up."""

from dataclasses import replace

from tests.inside import DETAILED, REGIONAL, US, US_PASS, config_file_module

_US = {one.kind: one for one in US.area_levels if one.tabulation_pass == US_PASS}


def _other_budget(patch, other):
    """`other` takes a table family and a level; gives those whose budget is read."""
    original = config_file_module.budget_key
    patch.setattr(
        config_file_module, "budget_key", lambda product, *measured: original(product, *other(product, *measured))
    )


def puerto_rico_read_with_us_budgets(patch):
    def of_us(_, family, level):
        return family, replace(level, geography=_US[level.geography.kind])

    _other_budget(patch, of_us)


def a_level_read_with_the_budget_key_of_another_level(patch):
    """With the budgets of 2020 a county's Detailed groups would lose 13 times as much."""

    def of_states(_, family, level):
        is_county = (level.geography, level.iterations) == (US.area_level("COUNTY"), DETAILED)
        return family, replace(level, geography=US.area_level("STATE")) if is_county else level

    _other_budget(patch, of_states)


def tenure_read_with_the_budgets_of_household_type(patch):
    _other_budget(patch, lambda product, _, level: (product.families[0], level))


def thresholds_of_another_iteration_level(patch):
    original = config_file_module.threshold_key
    other = {DETAILED: REGIONAL, REGIONAL: DETAILED}
    patch.setattr(
        config_file_module, "threshold_key", lambda level: original(replace(level, iterations=other[level.iterations]))
    )
