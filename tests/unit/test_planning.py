from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import safetab
from tests.cef_files import write_cef
from tests.inside import (
    DETAILED,
    NO_ENTITY,
    PR_PASS,
    REGIONAL,
    SEX_BY_AGE_23,
    US,
    US_PASS,
    AreaLevel,
    Areas,
    Blocks,
    Finding,
    GroupLevel,
    InvalidInput,
    LevelPlan,
    PublicFiles,
    RunPlan,
    Stage,
    areas_of_blocks,
    exact,
    output_if_all_groups_are_empty,
    plan_as_json,
    plan_of,
    plan_of_files,
    read_config,
    read_public_files,
    read_public_lists,
)
from tests.worlds.households import write_household_world


def level_of(plan: RunPlan, geography: AreaLevel, iterations: GroupLevel) -> LevelPlan:
    (level,) = (one for one in plan.levels if (one.level.geography, one.level.iterations) == (geography, iterations))
    return level


def test_a_level_with_budget_0_is_left_out(world):
    plan = safetab.plan(*world)
    assert [str(level) for level in plan.levels_left_out] == ["(AIANNH, Regional)"]
    assert len(plan.levels) == 19
    assert plan.loss_of(US_PASS).unbounded == Fraction("4.85")
    assert plan.loss.bounded == Fraction("9.7")


def test_stages_share_the_budget_of_a_level(world):
    plan = safetab.plan(*world)
    state = level_of(plan, US.area_level("STATE"), DETAILED)
    assert {stage: stage_plan.budget for stage, stage_plan in state.design.stages.items()} == {
        Stage.STAGE_1: Fraction(2, 10),
        Stage.STAGE_2: Fraction(18, 10),
        Stage.TOTAL_ONLY: Fraction(2),
    }
    assert state.design.stages[Stage.TOTAL_ONLY].noise.sigma_squared == Fraction(9, 4)
    county = level_of(plan, US.area_level("COUNTY"), DETAILED)
    assert set(county.design.stages) == {Stage.STAGE_1, Stage.STAGE_2}


def test_the_loss_is_told_for_a_table_of_deltas(world):
    loss = plan_as_json(safetab.plan(*world))["loss"]["whole_run"]
    by_delta = loss["unbounded_epsilon_by_delta"]
    assert by_delta["1e-10"] == loss["unbounded_epsilon"] == 25.0701
    assert list(by_delta.values()) == sorted(by_delta.values())
    assert loss["bounded_epsilon_by_delta"]["1e-10"] == loss["bounded_epsilon"]


def test_only_groups_below_state_are_suppressed(world):
    plan = safetab.plan(*world)
    thresholds = {str(level.level): level.design.suppression_threshold for level in plan.levels}
    assert thresholds["(STATE, Detailed)"] is None
    assert thresholds["(PR-STATE, Detailed)"] is None
    assert thresholds["(COUNTY, Detailed)"] == 19
    assert thresholds["(AIANNH, Detailed)"] == 19
    assert thresholds["(PR-TRACT, Regional)"] == 55
    world.configure(zero_suppression_chance=0)
    plan = safetab.plan(*world)
    assert {level.design.suppression_threshold for level in plan.levels} == {None}


def test_pure_dp_gets_geometric_noise(world):
    world.configure(privacy_defn="puredp")
    plan = safetab.plan(*world)
    county = level_of(plan, US.area_level("COUNTY"), DETAILED)
    assert county.design.stages[Stage.STAGE_1].noise.scale == Fraction(450)
    assert county.design.stages[Stage.STAGE_2].noise.scale == Fraction(50)
    loss = plan_as_json(plan)["loss"]
    assert loss["us"] == {"unbounded_epsilon": "4.85", "bounded_epsilon": "9.7"}


@pytest.mark.parametrize("definition", ["zcdp", "puredp"])
def test_a_budget_of_a_thousand_million_makes_noise_vanish(definition, world):
    budgets = {
        key: 10**9 for key, value in world.config().items() if key.startswith("privacy_budget_p_level") and value
    }
    world.configure(privacy_defn=definition, **budgets)
    for level in safetab.plan(*world).levels:
        assert level.design.margins().shapes[SEX_BY_AGE_23]["total"] == 0
        assert level.design.suppression_threshold in (None, 0)


def test_published_empty_groups_are_counted_as_theory_says(world):
    plan = safetab.plan(*world)
    tract = level_of(plan, US.area_level("TRACT"), DETAILED)
    chance = float(tract.design.stages[Stage.STAGE_2].noise.tail(20))  # T is 19
    assert 0 < chance < 1e-4
    assert output_if_all_groups_are_empty(tract).published_groups == pytest.approx(252 * chance, rel=1e-12)
    state = output_if_all_groups_are_empty(level_of(plan, US.area_level("STATE"), DETAILED))
    assert (state.published_groups, state.rows) == (42, {"t1": 42, "t2": 0})


def test_the_rarest_publications_are_not_lost_in_rounding(world):
    world.edit("config.json", '"zero_suppression_chance": 0.9999', '"zero_suppression_chance": 0.99999999999999999999')
    plan = safetab.plan(*world)
    tract = level_of(plan, US.area_level("TRACT"), DETAILED)
    chance = float(tract.design.stages[Stage.STAGE_2].noise.tail(tract.design.suppression_threshold + 1))
    assert 0 < chance < 1e-20
    assert output_if_all_groups_are_empty(tract).published_groups == pytest.approx(252 * chance, rel=1e-9)


def test_thresholds_of_zero_give_empty_groups_tables(world):
    world.configure(thresholds_p={level: [0, 0, 0] for level in world.config()["thresholds_p"]})
    plan = safetab.plan(*world)
    tract = level_of(plan, US.area_level("TRACT"), DETAILED)
    gets_a_table = float(tract.design.stages[Stage.STAGE_1].noise.tail(0))
    passes = float(tract.design.stages[Stage.STAGE_2].noise.tail(20))
    output = output_if_all_groups_are_empty(tract)
    assert 0.5 < gets_a_table < 0.6
    assert output.rows["t2"] == pytest.approx(252 * 48 * gets_a_table, rel=1e-12)
    assert output.published_groups == pytest.approx(252 * (gets_a_table + (1 - gets_a_table) * passes), rel=1e-12)


def test_a_level_without_entities_is_planned_with_a_warning(world):
    world.edit("GRF-C.txt", "2320", "9999")
    for _ in range(3):
        world.edit("GRF-C.txt", "2320", "9999")
    checked = plan_of_files(*world)
    (warning,) = checked.warnings
    assert "the geography lists no AIANNH area" in warning.message
    aiannh = level_of(checked.require(), US.area_level("AIANNH"), DETAILED)
    assert (aiannh.universe.size, aiannh.design.stability) == (0, 9)
    assert output_if_all_groups_are_empty(aiannh).rows["t1"] == 0


def test_a_level_without_codes_is_planned_with_a_warning(world):
    pairs = world.parameters / "race-and-ethnicity-code-to-iteration.txt"
    regional = ("1002", "2002", "1101", "2101", "1201", "2201", "4002")
    lines = pairs.read_text().splitlines(keepends=True)
    pairs.write_text("".join(line for line in lines if not line.startswith(regional)))
    checked = plan_of_files(*world)
    messages = [warning.message for warning in checked.warnings]
    assert any(message.startswith("no code belongs to 1002, 1101, 1201, 2002, 2101 and 2 more") for message in messages)
    assert sum("nothing will be measured for this budget" in message for message in messages) == 9
    county = level_of(checked.require(), US.area_level("COUNTY"), REGIONAL)
    assert (county.design.stability, dict(county.design.stages)) == (0, {})
    assert output_if_all_groups_are_empty(county).published_groups == 0


STAGE_1_DECIDES = "The lowest threshold, 5, lies within the noise of stage 1 (±29 at 95 %): groups with nobody in them would get tables."


def warned(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(finding.where, finding.message) for finding in findings]


def test_a_plan_warns_of_choices_that_noise_makes(world):
    given = world.config()["thresholds_p"]
    world.configure(thresholds_p={**given, "(COUNTY, 2)": [5, 100, 7000], "(TRACT, 2)": [5, 100, 7000]})
    total = (
        "At its threshold of 5 persons, the total of the table with 4 ages has a larger margin of error: ±28 at 95 %."
    )
    not_above_t = "The lowest threshold, 5, is not above the suppression threshold T = 19."
    assert warned(plan_of_files(*world).warnings) == [
        ("(COUNTY, Detailed); (TRACT, Detailed)", text) for text in (STAGE_1_DECIDES, not_above_t, total)
    ]


@pytest.mark.parametrize(
    ("chance", "sentence"),
    [
        (0, "A suppression chance of 0 publishes every empty group."),
        (0.5, "A suppression chance of one half or less publishes many empty groups."),
    ],
)
def test_a_plan_warns_of_empty_groups_that_are_published(world, chance, sentence):
    world.configure(zero_suppression_chance=chance)
    assert warned(plan_of_files(*world).warnings) == [("", sentence)]
    suppressing = ("county", "tract", "place", "aiannh", "pr_county", "pr_tract", "pr_place")
    world.configure(**{f"privacy_budget_p_level_{n}_{level}": 0 for n in (1, 2) for level in suppressing})
    assert plan_of_files(*world).warnings == ()


def test_python_raises_all_findings_at_once(world):
    world.configure(max_race_codes=0, run_us=1)
    with pytest.raises(InvalidInput) as raised:
        safetab.plan(*world)
    assert [finding.where for finding in raised.value.findings] == ["run_us", "max_race_codes"]
    assert "config.json has 2 problems" in str(raised.value)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(2134, 1000), "2.134"),
        (Fraction(5), "5"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(1, 1000), "0.001"),
    ],
)
def test_exact_numbers_are_written_exactly(number, text):
    assert exact(number) == text
    assert Fraction(text) == number


# The 2020 parameter files


@pytest.mark.needs_2020_files
def test_the_2020_files_give_the_papers_and_the_bureaus_numbers(spec_2020, cases, tmp_path):
    parameters = shutil.copytree(spec_2020, tmp_path / "parameters", copy_function=shutil.copyfile)
    config = (parameters / "config.json").read_text()
    assert '"reader": "cef"' in config
    (parameters / "config.json").write_text(config.replace('"reader": "cef"', '"reader": "csv"'))
    plan = plan_of_files(parameters, cases / "two-states-20k" / "data").require()
    assert (plan.loss_of(US_PASS).unbounded, plan.loss_of(US_PASS).bounded) == (
        Fraction("4.944"),
        Fraction("9.888"),
    )
    assert plan.loss_of(PR_PASS).unbounded == Fraction("2.643")
    assert plan.loss_of(PR_PASS).bounded == Fraction("5.286")
    assert {level.design.stability for level in plan.levels} == {9}
    assert {level.design.suppression_threshold for level in plan.levels} == {None, 21, 93}
    for level in plan.levels:
        sigma = float(level.design.stages[Stage.STAGE_2].noise.sigma_squared) ** 0.5
        expected = {"2.134": 1.5307, "0.159": 5.6077, "0.008": 25.0}[exact(level.design.budget)]
        assert sigma == pytest.approx(expected, abs=5e-5)
        adaptive = level.universe.adaptive_groups / len(level.universe.entities)
        assert adaptive == {REGIONAL: 48, DETAILED: 2150}[level.level.iterations]


@pytest.mark.needs_2020_files
def test_the_2020_lists_tabulate_2996_iterations_798_of_them_as_totals_only(spec_2020):
    lists = read_public_lists(spec_2020).require()
    tabulated = [iteration for iteration in lists.iterations if iteration.listed is not None]
    assert len(tabulated) == 2996
    assert sum(iteration.is_total_only for iteration in tabulated) == 798


@pytest.mark.needs_2020_files
@pytest.mark.parametrize(("max_race_codes", "most"), [(8, 9), (3, 4), (1, 3)])
def test_stability_of_the_2020_lists(max_race_codes, most, spec_2020):
    config, lists = read_config(spec_2020).require(), read_public_lists(spec_2020).require()
    config = replace(config, most_answers=max_race_codes)
    plan = plan_of(
        PublicFiles(config, lists, dict.fromkeys(config.passes, _national_geography(1, 1, 1, 1, 1)))
    ).require()
    assert {level.design.stability for level in plan.levels} == {most}


@pytest.mark.needs_2020_files
def test_the_nation_has_266_586_338_population_groups(spec_2020):
    config, lists = read_config(spec_2020).require(), read_public_lists(spec_2020).require()
    geography_of_pass = {
        US_PASS: _national_geography(51, 3_143, 84_414, 31_617, 704),
        PR_PASS: _national_geography(1, 78, 981, 292, 0),
    }
    plan = plan_of(PublicFiles(config, lists, geography_of_pass)).require()
    assert sum(level.universe.size for level in plan.levels) == 266_586_338
    below_state = [level for level in plan.levels if level.level.geography.kind.suppresses]
    empty = sum(output_if_all_groups_are_empty(level).published_groups for level in below_state)
    assert empty == pytest.approx(
        260_642_350 * 6.175e-5 + 5_785_200 * 9.192e-5, rel=1e-4
    )  # Detailed and Regional groups


@pytest.mark.needs_2020_files
@pytest.mark.parametrize("case", ["toy", "tricky-8-codes", "tricky-3-codes", "two-states-20k"])
def test_the_cases_are_accepted(case, cases):
    assert plan_of_files(cases / case / "parameters", cases / case / "data").errors == ()


def _national_geography(states: int, counties: int, tracts: int, places: int, aiannh: int) -> Areas:
    """One block a tract; so many distinct entities of each kind."""
    tract = np.arange(tracts)
    county = tract % counties
    state = county % states
    block = ((state * 1000 + county // states) * 10**6 + tract) * 10**4
    place = np.where(tract < places, tract, NO_ENTITY)
    return areas_of_blocks(Blocks(np.sort(block), place, np.where(tract < aiannh, tract, NO_ENTITY)))


def test_a_level_is_unprotected_if_the_noise_of_any_stage_is_mostly_zero(world):
    assert safetab.plan(*world).unprotected_levels == ()
    world.configure(privacy_budget_p_level_2_county=14)  # sigma squared of stage 2: 9 / (2 * 0.9 * 14) = 0.357
    plan = safetab.plan(*world)
    county = level_of(plan, US.area_level("COUNTY"), DETAILED)
    assert [stage.noise.is_mostly_zero for stage in county.design.stages.values()] == [False, True]
    assert plan.unprotected_levels == (county.level,)


@pytest.mark.parametrize("has_key", [True, False])
def test_totals_lie_in_the_folder_that_the_ini_file_of_a_cef_names(tmp_path, has_key):
    world = write_household_world(tmp_path / "world", 12, budget=1, people=20)
    cef = write_cef(world, tmp_path / "cef")
    (tmp_path / "t1").mkdir()
    shutil.copy(world.data / "pop-group-totals.txt", tmp_path / "t1" / "part-00000-x.csv")
    if has_key:
        cef.ini.write_text(cef.ini.read_text() + "pop_dir = ../t1/\n")
    files = read_public_files(world.parameters, cef.ini)
    if has_key:
        assert list(files.require().totals_files) == ["part-00000-x.csv"]
    else:
        assert any("pop-group-totals.txt" in str(finding) for finding in files.errors)
