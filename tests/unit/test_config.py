from fractions import Fraction

import numpy as np
import pytest

from tests.inside import (
    DETAILED,
    PERSONS,
    PR_PASS,
    REGIONAL,
    SAFETAB_P,
    SEX_BY_AGE_4,
    SEX_BY_AGE_9,
    SEX_BY_AGE_23,
    TOTAL,
    US,
    US_PASS,
    PopulationGroupLevel,
    PrivacyDefinition,
    ReaderKind,
    Thresholds,
    budget_key,
    chosen_shapes,
    read_config,
    threshold_key,
)

TRACT_DETAILED = PopulationGroupLevel(US.area_level("TRACT"), DETAILED)
PR_COUNTY_REGIONAL = PopulationGroupLevel(US.area_level("PR-COUNTY"), REGIONAL)


def shape_chosen(noisy_total, thresholds):
    (number,) = chosen_shapes(np.array([noisy_total]), Thresholds(thresholds))
    return PERSONS.shapes[number]


def test_every_key_is_read(world):
    config = read_config(world.parameters).require()
    assert config.privacy_definition is PrivacyDefinition.ZCDP
    assert config.passes == (US_PASS, PR_PASS)
    assert config.parts_of(US_PASS) == ("44", "50")
    assert config.parts_of(PR_PASS) == ("72",)
    assert config.reader is ReaderKind.CSV
    assert config.most_answers == 8
    assert config.stage_1_fraction == Fraction(1, 10)
    assert config.zero_suppression_chance == Fraction(9999, 10000)
    assert config.allow_negative_counts is True
    assert len(config.budgets) == 20
    assert config.budget_of(TRACT_DETAILED) == Fraction(1, 5)
    assert config.families[0].thresholds[PR_COUNTY_REGIONAL] == Thresholds((5000, 20000, 150000))


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("0.159", Fraction(159, 1000)),
        ("1e-3", Fraction(1, 1000)),
        ("2.134E0", Fraction(2134, 1000)),
        ("0.1000000000000000055511151231257827", Fraction(1000000000000000055511151231257827, 10**34)),
        ("1000000000", Fraction(10**9)),
    ],
)
def test_numbers_are_exact(text, exact, world):
    world.edit("config.json", '"privacy_budget_p_level_2_tract": 0.2', f'"privacy_budget_p_level_2_tract": {text}')
    assert read_config(world.parameters).require().budget_of(TRACT_DETAILED) == exact


def test_files_spell_a_level_their_own_way():
    assert budget_key(SAFETAB_P, PERSONS, PR_COUNTY_REGIONAL) == "privacy_budget_p_level_1_pr_county"
    assert threshold_key(PR_COUNTY_REGIONAL) == "(PR-COUNTY, 1)"


def test_without_a_suppression_chance_nothing_is_suppressed(world):
    config = world.config()
    del config["zero_suppression_chance"]
    world.write_config(config)
    assert read_config(world.parameters).require().zero_suppression_chance == 0


def test_a_pass_that_is_off_needs_no_thresholds_and_no_states_but_all_budgets(world):
    thresholds = {key: value for key, value in world.config()["thresholds_p"].items() if key.startswith("(PR")}
    world.configure(run_us=False, state_filter_us=[], thresholds_p=thresholds)
    assert read_config(world.parameters).require().passes == (PR_PASS,)
    world.configure(privacy_budget_p_level_1_usa=-1)
    assert read_config(world.parameters).value is None


def test_budgets_of_a_pass_that_is_off_may_all_be_zero(world):
    zero = {key: 0 for key in world.config() if key.startswith("privacy_budget_p_level") and "_pr_" in key}
    world.configure(run_pr=False, **zero)
    assert read_config(world.parameters).value is not None


def test_equal_thresholds_are_accepted(world):
    world.configure(thresholds_p=world.config()["thresholds_p"] | {"(USA, 1)": [0, 0, 0]})
    assert read_config(world.parameters).value is not None


def test_fewer_than_eight_race_codes_are_worth_a_warning(world):
    world.configure(max_race_codes=3)
    (warning,) = read_config(world.parameters).warnings
    assert warning.where == "max_race_codes"


@pytest.mark.parametrize(
    ("noisy_total", "table"),
    [
        (-7, TOTAL),
        (999, TOTAL),
        (1_000, SEX_BY_AGE_4),
        (4_999, SEX_BY_AGE_4),
        (5_000, SEX_BY_AGE_9),
        (19_999, SEX_BY_AGE_9),
        (20_000, SEX_BY_AGE_23),
    ],
)
def test_a_group_that_reaches_a_threshold_gets_the_finer_table(noisy_total, table):
    assert shape_chosen(noisy_total, (1_000, 5_000, 20_000)) is table


def test_where_thresholds_are_equal_the_finest_table_is_given():
    assert shape_chosen(10, (10, 10, 10)) is SEX_BY_AGE_23
    assert shape_chosen(9, (10, 10, 10)) is TOTAL


@pytest.mark.parametrize(
    ("table", "cells", "ages", "t2_rows"),
    [
        (TOTAL, 1, 0, 0),
        (SEX_BY_AGE_4, 8, 4, 10),
        (SEX_BY_AGE_9, 18, 9, 20),
        (SEX_BY_AGE_23, 46, 23, 48),
    ],
)
def test_tables_have_these_many_cells_and_rows(table, cells, ages, t2_rows):
    assert (table.cells, table.divisions, len(table.file_rows.get("t2", ()))) == (cells, ages, t2_rows)
