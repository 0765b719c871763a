import shutil
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import safetab
from tests.cases import values_of
from tests.cef_files import write_cef
from tests.conftest import SHARED
from tests.inside import (
    DETAILED,
    NO_ENTITY,
    PR_PASS,
    REGIONAL,
    SEX_BY_AGE_23,
    US,
    US_PASS,
    Blocks,
    InvalidInput,
    PublicFiles,
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
from tests.worlds.world import World


def level_of(plan, geography, iterations=DETAILED):
    wanted = (US.area_level(geography), iterations)
    (level,) = (one for one in plan.levels if (one.level.geography, one.level.iterations) == wanted)
    return level


@pytest.fixture
def plan(world):
    return safetab.plan(*world)


def test_a_level_with_budget_0_is_left_out(plan):
    assert [str(level) for level in plan.levels_left_out] == ["(AIANNH, Regional)"]
    assert len(plan.levels) == 19
    assert plan.loss_of(US_PASS).unbounded == Fraction("4.85")
    assert plan.loss.bounded == Fraction("9.7")


def test_stages_share_the_budget_of_a_level(plan):
    stages = level_of(plan, "STATE").design.stages
    budgets = {Stage.STAGE_1: Fraction(2, 10), Stage.STAGE_2: Fraction(18, 10), Stage.TOTAL_ONLY: 2}
    assert {stage: stage_plan.budget for stage, stage_plan in stages.items()} == budgets
    assert stages[Stage.TOTAL_ONLY].noise.sigma_squared == Fraction(9, 4)
    assert set(level_of(plan, "COUNTY").design.stages) == {Stage.STAGE_1, Stage.STAGE_2}


def test_the_loss_is_told_for_a_table_of_deltas(plan):
    loss = plan_as_json(plan)["loss"]["whole_run"]
    by_delta = loss["unbounded_epsilon_by_delta"]
    assert by_delta["1e-10"] == loss["unbounded_epsilon"] == 25.0701
    assert list(by_delta.values()) == sorted(by_delta.values())
    assert loss["bounded_epsilon_by_delta"]["1e-10"] == loss["bounded_epsilon"]


def test_only_groups_below_state_are_suppressed(plan, world):
    for iterations, threshold, names in (
        (DETAILED, None, ("STATE", "PR-STATE")),
        (DETAILED, 19, ("COUNTY", "AIANNH")),
        (REGIONAL, 55, ("PR-TRACT",)),
    ):
        assert {level_of(plan, name, iterations).design.suppression_threshold for name in names} == {threshold}
    world.configure(zero_suppression_chance=0)
    assert {level.design.suppression_threshold for level in safetab.plan(*world).levels} == {None}


def test_pure_dp_gets_geometric_noise(world):
    world.configure(privacy_defn="puredp")
    plan = safetab.plan(*world)
    stages = level_of(plan, "COUNTY").design.stages
    assert [stages[stage].noise.scale for stage in (Stage.STAGE_1, Stage.STAGE_2)] == [450, 50]
    assert plan_as_json(plan)["loss"]["us"] == {"unbounded_epsilon": "4.85", "bounded_epsilon": "9.7"}


@pytest.mark.parametrize("definition", ["zcdp", "puredp"])
def test_a_budget_of_a_thousand_million_makes_noise_vanish(definition, world):
    budgets = {key: 10**9 for key, value in world.config().items() if key.startswith("privacy_budget_p_le") and value}
    world.configure(privacy_defn=definition, **budgets)
    for level in safetab.plan(*world).levels:
        assert level.design.margins().shapes[SEX_BY_AGE_23]["total"] == 0
        assert level.design.suppression_threshold in (None, 0)


@pytest.mark.parametrize(
    ("chance", "low", "high"),
    values_of("""
        "0.9999" | 1e-5 | 1e-4
        "0.99999999999999999999" | 0 | 1e-20
    """),
)
def test_published_empty_groups_are_counted_as_theory_says(chance, low, high, world):
    """The rarest publications are not lost in rounding."""
    world.edit("config.json", '"zero_suppression_chance": 0.9999', f'"zero_suppression_chance": {chance}')
    plan = safetab.plan(*world)
    tract = level_of(plan, "TRACT")
    is_published = float(tract.design.stages[Stage.STAGE_2].noise.tail(tract.design.suppression_threshold + 1))
    assert low < is_published < high
    assert output_if_all_groups_are_empty(tract).published_groups == pytest.approx(252 * is_published, rel=1e-9)
    state = output_if_all_groups_are_empty(level_of(plan, "STATE"))
    assert state.published_groups == 42
    assert state.rows == {"t1": 42, "t2": 0}


def test_thresholds_of_zero_give_empty_groups_tables(world):
    world.configure(thresholds_p={level: [0, 0, 0] for level in world.config()["thresholds_p"]})
    tract = level_of(safetab.plan(*world), "TRACT")
    stages, output = tract.design.stages, output_if_all_groups_are_empty(tract)
    gets_a_table, passes = float(stages[Stage.STAGE_1].noise.tail(0)), float(stages[Stage.STAGE_2].noise.tail(20))
    assert 0.5 < gets_a_table < 0.6
    assert output.rows["t2"] == pytest.approx(252 * 48 * gets_a_table, rel=1e-12)
    assert output.published_groups == pytest.approx(252 * (gets_a_table + (1 - gets_a_table) * passes), rel=1e-12)


def test_a_level_without_entities_is_planned_with_a_warning(world):
    for _ in range(4):
        world.edit("GRF-C.txt", "2320", "9999")
    checked = plan_of_files(*world)
    (warning,) = checked.warnings
    assert "the geography lists no AIANNH area" in warning.message
    aiannh = level_of(checked.require(), "AIANNH")
    assert aiannh.universe.size == 0
    assert aiannh.design.stability == 9
    assert output_if_all_groups_are_empty(aiannh).rows["t1"] == 0


def test_a_level_without_codes_is_planned_with_a_warning(world):
    pairs = world.path("race-and-ethnicity-code-to-iteration.txt")
    regional = ("1002", "2002", "1101", "2101", "1201", "2201", "4002")
    lines = pairs.read_text().splitlines(keepends=True)
    pairs.write_text("".join(line for line in lines if not line.startswith(regional)))
    checked = plan_of_files(*world)
    messages = "\n".join(warning.message for warning in checked.warnings)
    assert "no code belongs to 1002, 1101, 1201, 2002, 2101 and 2 more" in messages
    assert messages.count("nothing will be measured for this budget") == 9
    county = level_of(checked.require(), "COUNTY", REGIONAL)
    assert county.design.stability == 0
    assert dict(county.design.stages) == {}
    assert output_if_all_groups_are_empty(county).published_groups == 0


def warned(world):
    return [(finding.where, finding.message) for finding in plan_of_files(*world).warnings]


def test_a_plan_warns_of_choices_that_noise_makes(world):
    low = {level: [5, 100, 7000] for level in ("(COUNTY, 2)", "(TRACT, 2)")}
    world.configure(thresholds_p=world.config()["thresholds_p"] | low)
    told = warned(world)
    assert {where for where, _ in told} == {"(COUNTY, Detailed); (TRACT, Detailed)"}
    in_stage_1, not_above_t, total = (message for _, message in told)
    assert "5, lies within the noise of stage 1 (±29 at 95 %): groups with nobody in them would get" in in_stage_1
    assert "5, is not above the suppression threshold T = 19." in not_above_t
    assert "the total of the table with 4 ages has a larger margin of error: ±28 at 95 %." in total


@pytest.mark.parametrize(
    ("chance", "sentence"),
    values_of("""
        0 | "A suppression chance of 0 publishes every empty group."
        0.5 | "A suppression chance of one half or less publishes many empty groups."
    """),
)
def test_a_plan_warns_of_empty_groups_that_are_published(world, chance, sentence):
    world.configure(zero_suppression_chance=chance)
    assert warned(world) == [("", sentence)]
    suppressing = ("county", "tract", "place", "aiannh", "pr_county", "pr_tract", "pr_place")
    world.configure(**{f"privacy_budget_p_level_{n}_{level}": 0 for n in (1, 2) for level in suppressing})
    assert warned(world) == []


def test_python_raises_all_findings_at_once(world):
    world.configure(max_race_codes=0, run_us=1)
    with pytest.raises(InvalidInput) as raised:
        safetab.plan(*world)
    assert [finding.where for finding in raised.value.findings] == ["run_us", "max_race_codes"]
    assert "config.json has 2 problems" in str(raised.value)


@pytest.mark.parametrize("text", ["2.134", "5", "1/3", "-0.125", "0.001"])
def test_exact_numbers_are_written_exactly(text):
    assert exact(Fraction(text)) == text


# The 2020 parameter files


@pytest.mark.needs_2020_files
def test_the_2020_files_give_the_papers_and_the_bureaus_numbers(spec_2020, cases, tmp_path):
    world = World(tmp_path, cases / "two-states-20k" / "data")
    shutil.copytree(spec_2020, tmp_path, copy_function=shutil.copyfile, dirs_exist_ok=True)
    world.edit("config.json", '"reader": "cef"', '"reader": "csv"')
    plan = plan_of_files(*world).require()
    us, pr = (plan.loss_of(one) for one in (US_PASS, PR_PASS))
    assert us.unbounded == Fraction("4.944")
    assert us.bounded == Fraction("9.888")
    assert pr.unbounded == Fraction("2.643")
    assert pr.bounded == Fraction("5.286")
    assert {level.design.stability for level in plan.levels} == {9}
    assert {level.design.suppression_threshold for level in plan.levels} == {None, 21, 93}
    for level in plan.levels:
        sigma = float(level.design.stages[Stage.STAGE_2].noise.sigma_squared) ** 0.5
        expected = {"2.134": 1.5307, "0.159": 5.6077, "0.008": 25.0}[exact(level.design.budget)]
        assert sigma == pytest.approx(expected, abs=5e-5)
        adaptive = level.universe.adaptive_groups / len(level.universe.entities)
        assert adaptive == {REGIONAL: 48, DETAILED: 2150}[level.level.iterations]


@pytest.fixture(scope="module")
def config_and_lists():
    return read_config(SHARED / "spec-2020").require(), read_public_lists(SHARED / "spec-2020").require()


@pytest.mark.needs_2020_files
def test_the_2020_lists_tabulate_2996_iterations_798_of_them_as_totals_only(config_and_lists):
    tabulated = [iteration for iteration in config_and_lists[1].iterations if iteration.listed is not None]
    assert len(tabulated) == 2996
    assert sum(iteration.is_total_only for iteration in tabulated) == 798


@pytest.mark.needs_2020_files
@pytest.mark.parametrize(
    ("max_race_codes", "most"),
    values_of("""
        8 | 9
        3 | 4
        1 | 3
    """),
)
def test_stability_of_the_2020_lists(max_race_codes, most, config_and_lists):
    config, lists = config_and_lists
    areas = dict.fromkeys(config.passes, _national_geography(1, 1, 1, 1, 1))
    plan = plan_of(PublicFiles(replace(config, most_answers=max_race_codes), lists, areas)).require()
    assert {level.design.stability for level in plan.levels} == {most}


@pytest.mark.needs_2020_files
def test_the_nation_has_266_586_338_population_groups(config_and_lists):
    sizes = {US_PASS: (51, 3_143, 84_414, 31_617, 704), PR_PASS: (1, 78, 981, 292, 0)}
    areas = {of_pass: _national_geography(*numbers) for of_pass, numbers in sizes.items()}
    plan = plan_of(PublicFiles(*config_and_lists, areas)).require()
    assert sum(level.universe.size for level in plan.levels) == 266_586_338
    below_state = [level for level in plan.levels if level.level.geography.kind.suppresses]
    empty = sum(output_if_all_groups_are_empty(level).published_groups for level in below_state)
    detailed, regional = 260_642_350 * 6.175e-5, 5_785_200 * 9.192e-5
    assert empty == pytest.approx(detailed + regional, rel=1e-4)


@pytest.mark.needs_2020_files
@pytest.mark.parametrize(
    "case", ["toy", "tricky-8-codes", "tricky-3-codes", pytest.param("two-states-20k", marks=pytest.mark.slow)]
)
def test_the_cases_are_accepted(case, cases):
    assert plan_of_files(*World.of(cases / case)).errors == ()


def _national_geography(states, counties, tracts, places, aiannh):
    """One block a tract; so many distinct entities of each kind."""
    tract = np.arange(tracts)
    county = tract % counties
    block = ((county % states * 1000 + county // states) * 10**6 + tract) * 10**4
    place, aiannh_area = (np.where(tract < number, tract, NO_ENTITY) for number in (places, aiannh))
    return areas_of_blocks(Blocks(np.sort(block), place, aiannh_area))


def test_a_level_is_unprotected_if_the_noise_of_any_stage_is_mostly_zero(plan, world):
    assert plan.unprotected_levels == ()
    world.configure(privacy_budget_p_level_2_county=14)  # sigma squared of stage 2: 9 / (2 * 0.9 * 14) = 0.357
    plan = safetab.plan(*world)
    county = level_of(plan, "COUNTY")
    assert [stage.noise.is_mostly_zero for stage in county.design.stages.values()] == [False, True]
    assert plan.unprotected_levels == (county.level,)


def test_totals_lie_in_the_folder_that_the_ini_file_of_a_cef_names(tmp_path):
    world = write_household_world(tmp_path / "world", 12, budget=1, people=20)
    ini = write_cef(world, tmp_path / "cef").ini
    (tmp_path / "t1").mkdir()
    shutil.copy(world.data / "pop-group-totals.txt", tmp_path / "t1" / "part-00000-x.csv")
    assert "pop-group-totals.txt" in " ".join(map(str, read_public_files(world.parameters, ini).errors))
    ini.write_text(ini.read_text() + "pop_dir = ../t1/\n")
    assert list(read_public_files(world.parameters, ini).require().totals_files) == ["part-00000-x.csv"]
