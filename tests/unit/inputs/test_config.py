from fractions import Fraction

import numpy as np
import pytest

from tests.cases import lines_in, values_of
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


def read(world):
    return read_config(world.parameters)


def test_every_key_is_read(world):
    config = read(world).require()
    assert config.privacy_definition is PrivacyDefinition.ZCDP
    assert {each: config.parts_of(each) for each in config.passes} == {US_PASS: ("44", "50"), PR_PASS: ("72",)}
    assert config.reader is ReaderKind.CSV
    assert config.most_answers == 8
    assert config.stage_1_fraction == Fraction(1, 10)
    assert config.zero_suppression_chance == Fraction(9999, 10000)
    assert config.allow_negative_counts is True
    assert len(config.budgets) == 20
    assert config.budget_of(TRACT_DETAILED) == Fraction(1, 5)
    assert config.families[0].thresholds[PR_COUNTY_REGIONAL] == Thresholds((5000, 20000, 150000))


@pytest.mark.parametrize(
    "text",
    lines_in(
        """
        0.159
        1e-3
        2.134E0
        0.1000000000000000055511151231257827
        1000000000
        """
    ),
)
def test_numbers_are_exact(text, world):
    world.edit("config.json", '"privacy_budget_p_level_2_tract": 0.2', f'"privacy_budget_p_level_2_tract": {text}')
    assert read(world).require().budget_of(TRACT_DETAILED) == Fraction(text)


def test_files_spell_a_level_their_own_way():
    assert budget_key(SAFETAB_P, PERSONS, PR_COUNTY_REGIONAL) == "privacy_budget_p_level_1_pr_county"
    assert threshold_key(PR_COUNTY_REGIONAL) == "(PR-COUNTY, 1)"


def test_without_a_suppression_chance_nothing_is_suppressed(world):
    config = world.config()
    del config["zero_suppression_chance"]
    world.write_config(config)
    assert read(world).require().zero_suppression_chance == 0


def test_a_pass_that_is_off_needs_no_thresholds_and_no_states_but_all_budgets(world):
    thresholds = {key: value for key, value in world.config()["thresholds_p"].items() if key.startswith("(PR")}
    world.configure(run_us=False, state_filter_us=[], thresholds_p=thresholds)
    assert read(world).require().passes == (PR_PASS,)
    world.configure(privacy_budget_p_level_1_usa=-1)
    assert read(world).value is None


def test_budgets_of_a_pass_that_is_off_may_all_be_zero_and_thresholds_equal(world):
    zero = {key: 0 for key in world.config() if key.startswith("privacy_budget_p_level") and "_pr_" in key}
    world.configure(run_pr=False, thresholds_p=world.config()["thresholds_p"] | {"(USA, 1)": [0, 0, 0]}, **zero)
    assert read(world).value is not None


def test_fewer_than_eight_race_codes_are_worth_a_warning(world):
    world.configure(max_race_codes=3)
    assert [warning.where for warning in read(world).warnings] == ["max_race_codes"]


def test_a_group_that_reaches_a_threshold_gets_the_finer_table():
    for thresholds, chosen in values_of(
        """
        (1_000, 5_000, 20_000) | {-7: 0, 999: 0, 1_000: 1, 4_999: 1, 5_000: 2, 19_999: 2, 20_000: 3}
        (10, 10, 10) | {9: 0, 10: 3}
        """
    ):
        assert chosen_shapes(np.array([*chosen]), Thresholds(thresholds)).tolist() == [*chosen.values()]
    assert PERSONS.shapes == (TOTAL, SEX_BY_AGE_4, SEX_BY_AGE_9, SEX_BY_AGE_23)


def test_tables_have_these_many_cells_ages_and_rows():
    found = [[table.cells, table.divisions, len(table.file_rows.get("t2", ()))] for table in PERSONS.shapes]
    assert found == values_of(
        """
        1 | 0 | 0
        8 | 4 | 10
        18 | 9 | 20
        46 | 23 | 48
        """
    )
