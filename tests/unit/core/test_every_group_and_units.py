"""Units with several records, and the selector "none", by hand."""

import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.conftest import SMALL_EXAMPLE
from tests.engine_inputs import engine_inputs
from tests.inside import (
    SAFETAB_P,
    TAKEN_TO_BE_PUBLIC,
    US,
    AddressedBits,
    BatchSizes,
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


@pytest.fixture(scope="module")
def files():
    return read_public_files(SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data").require()


@pytest.fixture(scope="module")
def plan_with(files):
    """Makes the plan of the small example with another product and changes to its configuration."""
    return lambda product, **changes: plan_of(
        replace(files, config=replace(files.config, product=product, **changes))
    ).require()


def level_named(plan, name):
    (level,) = (each for each in plan.levels if str(each.level) == name)
    return level


@pytest.mark.parametrize(
    ("definition", "times"),
    [(PrivacyDefinition.ZCDP, 9), (PrivacyDefinition.PURE_DP, 3)],
    ids=["Gaussian", "geometric"],
)
def test_gaussian_noise_of_a_unit_has_k_squared_times_the_variance_and_geometric_noise_k_times_the_scale(
    definition, times, plan_with
):
    records, units = (plan_with(one, privacy_definition=definition) for one in (SAFETAB_P, OF_UNITS))
    for one, other in zip(records.levels, units.levels, strict=True):
        for stage in one.design.stages:
            assert other.design.noise(stage).parameter == times * one.design.noise(stage).parameter
    assert units.loss == records.loss
    state = level_named(units, "(STATE, Detailed)").design
    assert (state.stability, state.sensitivity) == (9, Sensitivity(l2_squared=81, l1=27))
    if definition is PrivacyDefinition.ZCDP:
        for stage, cost in {Stage.STAGE_1: "0.2", Stage.STAGE_2: "1.8", Stage.TOTAL_ONLY: 2}.items():
            assert state.noise(stage).parameter == 81 / (2 * Fraction(cost))


def test_what_is_protected_is_said_in_the_nouns_of_the_census():
    admissions = replace(SAFETAB_P.record, noun="admission", nouns="admissions")
    for record, sentence in (
        (admissions, "one admission: one record. Somebody with several records is protected less."),
        (replace(admissions, unit=THREE), "one patient, with up to 3 admissions."),
        (replace(admissions, unit=replace(THREE, most_records=1)), "one patient, with one admission."),
    ):
        assert protected_sentence(replace(SAFETAB_P, record=record)) == f"What is protected is {sentence}"


def test_a_plan_says_what_it_protects_and_takes_to_be_public(plan_with, capsys):
    foreign = plan_with(OF_UNITS)
    foreign = replace(foreign, config=replace(foreign.config, census=ELSEWHERE))
    show_plan(foreign)
    shown = " ".join(capsys.readouterr().out.split())
    for told in (
        "What is protected is one patient, with up to 3 people.",
        "all records of one patient are added or removed; bounded: they change",
        "any patient in this run",
        "Detailed (Nation, State, Puerto Rico state): one person is in at most 9 of the groups of an area (stability), "
        "and in exactly 9 with the codes 1110, 1120",
    ):
        assert told in shown
    assert shown.index(" ".join(TAKEN_TO_BE_PUBLIC.split())) < shown.index(" config.json sha256 ")
    told = plan_as_json(foreign)
    guarantee = {"protected": protected_sentence(OF_UNITS), "about_public_files": TAKEN_TO_BE_PUBLIC}
    assert told["protected"] == guarantee["protected"]
    assert "GRF-C.txt" in told["public_files"]
    assert {len(digest) for digest in told["public_files"].values()} == {64}
    assert guarantee_as_json(foreign.config) == guarantee


def test_the_bureaus_products_keep_their_words(plan_with, capsys):
    plan = plan_with(SAFETAB_P)
    show_plan(plan)
    shown = capsys.readouterr().out
    assert "Unbounded: the record of one person is added or removed; bounded: it changes." in shown
    assert "protected is" not in shown
    assert "Taken to be public" not in shown
    assert not {"protected", "public_files", "about_public_files", "stability"} & plan_as_json(plan).keys()
    assert guarantee_as_json(plan.config) == {}


# Every group in the finest shape


def test_without_a_selector_stage_2_has_the_whole_budget_and_there_is_nothing_else(plan_with):
    plan = plan_with(EVERY_GROUP)
    assert plan.loss == plan_with(SAFETAB_P).loss
    for level in plan.levels:
        assert {stage: each.budget for stage, each in level.design.stages.items()} == {
            Stage.STAGE_2: level.design.budget
        }
        assert level.design.suppression_threshold is None
        assert level.universe.total_only_iterations == 0
        assert level.measured_groups == level.universe.size
    state = level_named(plan, "(STATE, Detailed)").design
    assert state.noise(Stage.STAGE_2).parameter == Fraction(9, 4)  # 9 groups, rho 2
    output = output_if_all_groups_are_empty(level_named(plan, "(TRACT, Detailed)"))
    assert (output.published_groups, output.rows["t1"], output.rows["t2"]) == (252, 252, 252 * 48)


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
        ledger = Ledger(inputs.plan.config.budgets, AddressedBits(bytes(32)))
        found = list(tabulate_level(level, engine, ledger, BatchSizes(groups=at_once)))
        assert [(event.stage, event.cost) for event in ledger.events] == [(Stage.STAGE_2, level.design.budget)]
        assert np.array_equal(np.concatenate([each.indices for each in found]), everyone)
        for each in found:
            assert each.stage_1_totals is None
            assert (each.shape_numbers == level.family.number_of(finest)).all()
        truth = engine.cells(level, {finest: everyone})[finest].confidential_counts
        assert np.array_equal(np.concatenate([each.values[finest] for each in found]), truth)
        empty += int((truth.sum(axis=1) == 0).sum())
    assert empty > 50


# Units


# Every group in the finest shape


class Nobody:
    """Counts of a census without anybody."""

    def totals(self, _):
        return ExactCounts(np.empty(0, int), np.empty((0, 1), int))

    def cells(self, _, groups_of):
        return {
            shape: ExactCounts(groups, np.zeros((len(groups), shape.cells), int)) for shape, groups in groups_of.items()
        }


def test_a_grid_of_200_000_cells_is_measured_in_bounded_memory_with_the_noise_of_its_budget(plan_with):
    plan, cells = plan_with(EVERY_GROUP), 200_000
    given = level_named(plan, "(TRACT, Detailed)")
    universe = GroupUniverse(given.level, np.arange(cells), given.universe.iterations[:1], has_total_only=False)
    level, ledger = replace(given, universe=universe), Ledger(plan.config.budgets, AddressedBits(bytes(32)))
    groups = squares = 0
    tracemalloc.start()
    for each in tabulate_level(level, Nobody(), ledger):
        noise = each.values[level.family.finest]
        groups, squares = groups + len(noise), squares + int((noise**2).sum())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert groups == cells
    assert peak < 100 << 20  # all numbers at once take 74 MB, and their noise as much again
    variance = given.design.sensitivity.l2_squared / (2 * given.design.budget)
    assert squares / (cells * 46) == pytest.approx(float(variance), rel=0.007)  # 15 standard deviations
    assert ledger.spent(given.level.geography.tabulation_pass) == given.design.budget


def test_thresholds_and_suppression_of_a_configuration_are_nothing_to_a_run_without_a_selector(files, plan_with):
    families = tuple(
        replace(each, thresholds=dict.fromkeys(each.thresholds, Thresholds(()))) for each in files.config.families
    )
    plan = plan_with(EVERY_GROUP, zero_suppression_chance=Fraction(9, 10), stage_1_fraction=Fraction(1, 2))
    for one, other in zip(plan.levels, plan_with(EVERY_GROUP, families=families).levels, strict=True):
        assert one.design.stages == other.design.stages
        assert one.design.suppression_threshold is other.design.suppression_threshold is None
        assert output_if_all_groups_are_empty(one) == output_if_all_groups_are_empty(other)
