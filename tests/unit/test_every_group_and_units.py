"""Units with several records, and the selector "none", by hand."""

import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.engine_inputs import engine_inputs
from tests.inside import (
    SAFETAB_P,
    TAKEN_TO_BE_PUBLIC,
    US,
    AddressedBits,
    ExactCounts,
    GroupUniverse,
    Ledger,
    PrivacyDefinition,
    Selector,
    Sensitivity,
    Stage,
    Thresholds,
    Unit,
    guarantee_as_json,
    output_if_all_groups_are_empty,
    plan_as_json,
    plan_of,
    protected_sentence,
    read_public_files,
    show_plan,
    tabulate_level,
)
from tests.plain_engine import PlainEngine
from tests.worlds.people import problems_with, write_random_world

THREE = Unit("patient", "PATIENT", 3)
OF_UNITS = replace(SAFETAB_P, record=replace(SAFETAB_P.record, unit=THREE))
EVERY_GROUP = replace(SAFETAB_P, selector=Selector.NONE)
ELSEWHERE = replace(US, name="elsewhere")


def plan_with(world, product, **changes):
    files = read_public_files(*world).require()
    return plan_of(replace(files, config=replace(files.config, product=product, **changes))).require()


def level_named(plan, name):
    (level,) = (each for each in plan.levels if str(each.level) == name)
    return level


# Units


def test_gaussian_noise_of_a_unit_has_k_squared_times_the_variance(world):
    records, units = plan_with(world, SAFETAB_P), plan_with(world, OF_UNITS)
    state = level_named(units, "(STATE, Detailed)").design
    assert state.stability == 9
    assert state.sensitivity == Sensitivity(l2_squared=81, l1=27)
    assert {stage: each.noise.parameter for stage, each in state.stages.items()} == {
        Stage.STAGE_1: Fraction(81) / (2 * Fraction(2, 10)),
        Stage.STAGE_2: Fraction(81) / (2 * Fraction(18, 10)),
        Stage.TOTAL_ONLY: Fraction(81) / (2 * 2),
    }
    for one, other in zip(records.levels, units.levels, strict=True):
        for stage in one.design.stages:
            assert other.design.noise(stage).parameter == 9 * one.design.noise(stage).parameter
    assert units.loss == records.loss


def test_geometric_noise_of_a_unit_has_k_times_the_scale(world):
    pure = {"privacy_definition": PrivacyDefinition.PURE_DP}
    records, units = plan_with(world, SAFETAB_P, **pure), plan_with(world, OF_UNITS, **pure)
    for one, other in zip(records.levels, units.levels, strict=True):
        for stage in one.design.stages:
            assert other.design.noise(stage).parameter == 3 * one.design.noise(stage).parameter


def test_what_is_protected_is_said_in_the_nouns_of_the_census():
    admissions = replace(SAFETAB_P.record, noun="admission", nouns="admissions")
    assert protected_sentence(replace(SAFETAB_P, record=admissions)) == (
        "What is protected is one admission: one record. Somebody with several records is protected less."
    )
    of_patients = replace(SAFETAB_P, record=replace(admissions, unit=THREE))
    assert protected_sentence(of_patients) == "What is protected is one patient, with up to 3 admissions."
    once = replace(SAFETAB_P, record=replace(admissions, unit=replace(THREE, most_records=1)))
    assert protected_sentence(once) == "What is protected is one patient, with one admission."


def test_a_plan_says_what_it_protects_and_takes_to_be_public(world, capsys):
    plan = plan_with(world, OF_UNITS)
    foreign = replace(plan, config=replace(plan.config, census=ELSEWHERE))
    show_plan(foreign)
    shown = capsys.readouterr().out
    assert "What is protected is one patient, with up to 3 people." in shown
    assert "all records of one patient are added or removed; bounded: they change" in shown
    assert "any patient in this run" in shown
    most = "one person is in at most 9 of the groups of an area (stability), and in exactly 9 with the codes 1110, 1120"
    assert f"Detailed (Nation, State, Puerto Rico state): {most}" in " ".join(shown.split())
    assert shown.index(TAKEN_TO_BE_PUBLIC) < shown.index("  config.json  sha256 ")
    told = plan_as_json(foreign)
    assert told["protected"] == protected_sentence(OF_UNITS)
    assert "GRF-C.txt" in told["public_files"]
    assert {len(digest) for digest in told["public_files"].values()} == {64}
    assert guarantee_as_json(foreign.config) == {
        "protected": protected_sentence(OF_UNITS),
        "about_public_files": TAKEN_TO_BE_PUBLIC,
    }


def test_the_bureaus_products_keep_their_words(world, capsys):
    plan = plan_with(world, SAFETAB_P)
    show_plan(plan)
    shown = capsys.readouterr().out
    assert "Unbounded: the record of one person is added or removed; bounded: it changes." in shown
    assert "protected is" not in shown
    assert "Taken to be public" not in shown
    assert not {"protected", "public_files", "about_public_files", "stability"} & plan_as_json(plan).keys()
    assert guarantee_as_json(plan.config) == {}


# Every group in the finest shape


def test_without_a_selector_stage_2_has_the_whole_budget_and_there_is_nothing_else(world):
    plan = plan_with(world, EVERY_GROUP)
    assert plan.loss == plan_with(world, SAFETAB_P).loss
    for level in plan.levels:
        assert set(level.design.stages) == {Stage.STAGE_2}
        assert level.design.stages[Stage.STAGE_2].budget == level.design.budget
        assert level.design.suppression_threshold is None
        assert level.universe.total_only_iterations == 0
        assert level.measured_groups == level.universe.size
    state = level_named(plan, "(STATE, Detailed)").design
    assert state.noise(Stage.STAGE_2).parameter == Fraction(9, 4)  # 9 groups, rho 2
    tract = level_named(plan, "(TRACT, Detailed)")
    output = output_if_all_groups_are_empty(tract)
    assert (output.published_groups, output.rows["t1"], output.rows["t2"]) == (252, 252, 252 * 48)


def measured(level, inputs, engine, at_once):
    ledger = Ledger(inputs.plan.config.budgets, AddressedBits(bytes(32)))
    found = list(tabulate_level(level, engine, ledger, at_once))
    assert [(event.stage, event.cost) for event in ledger.events] == [(Stage.STAGE_2, level.design.budget)]
    return found


@pytest.mark.parametrize("at_once", [7, 1 << 21])
def test_every_group_is_published_in_the_finest_shape_even_if_it_is_empty(at_once, tmp_path):
    world = write_random_world(tmp_path / "world", 17, people=90, zero_suppression_chance=0.9999)  # without noise
    inputs = engine_inputs(world, EVERY_GROUP)
    engine, empty = PlainEngine(inputs.persons, inputs.files), 0
    assert problems_with(engine.check()) == ()
    engine.prepare()
    assert any(listed.is_total_only for listed in US.lists)
    for level in inputs.plan.levels:
        finest, everyone = level.family.finest, np.arange(level.universe.size)
        found = measured(level, inputs, engine, at_once)
        assert np.array_equal(np.concatenate([each.indices for each in found]), everyone)
        assert {each.stage_1_totals for each in found} == {None}
        for each in found:
            assert (each.shape_numbers == level.family.number_of(finest)).all()
        values = np.concatenate([each.values[finest] for each in found])
        truth = engine.cells(level, {finest: everyone})[finest].confidential_counts
        assert np.array_equal(values, truth)
        empty += int((truth.sum(axis=1) == 0).sum())
    assert empty > 50


class Nobody:
    """Counts of a census without anybody."""

    def totals(self, _):
        return ExactCounts(np.empty(0, dtype=np.int64), np.empty((0, 1), dtype=np.int64))

    def cells(self, _, groups_of):
        return {
            shape: ExactCounts(groups, np.zeros((len(groups), shape.cells), dtype=np.int64))
            for shape, groups in groups_of.items()
        }


def test_a_grid_of_400_000_cells_is_measured_in_bounded_memory_with_the_noise_of_its_budget(world):
    plan = plan_with(world, EVERY_GROUP)
    given = level_named(plan, "(TRACT, Detailed)")
    cells = 400_000
    universe = GroupUniverse(given.level, np.arange(cells), given.universe.iterations[:1], has_total_only=False)
    level = replace(given, universe=universe)
    ledger = Ledger(plan.config.budgets, AddressedBits(bytes(32)))
    groups = squares = numbers = 0
    tracemalloc.start()
    for each in tabulate_level(level, Nobody(), ledger):
        noise = each.values[level.family.finest]
        groups, numbers, squares = groups + len(noise), numbers + noise.size, squares + int((noise**2).sum())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (groups, numbers) == (cells, cells * 46)
    assert peak < 100 << 20  # all numbers at once take 147 MB, and their noise as much again
    sigma_squared = given.design.sensitivity.l2_squared / (2 * given.design.budget)
    assert squares / numbers == pytest.approx(float(sigma_squared), rel=0.005)  # 15 standard deviations
    assert ledger.spent(given.level.geography.tabulation_pass) == given.design.budget


def test_thresholds_and_suppression_of_a_configuration_are_nothing_to_a_run_without_a_selector(world):
    plan = plan_with(world, EVERY_GROUP, zero_suppression_chance=Fraction(9, 10), stage_1_fraction=Fraction(1, 2))
    families = tuple(
        replace(each, thresholds=dict.fromkeys(each.thresholds, Thresholds(()))) for each in plan.config.families
    )
    without = plan_with(world, EVERY_GROUP, families=families)
    for one, other in zip(plan.levels, without.levels, strict=True):
        assert one.design.stages == other.design.stages
        assert one.design.suppression_threshold is other.design.suppression_threshold is None
        assert output_if_all_groups_are_empty(one) == output_if_all_groups_are_empty(other)
