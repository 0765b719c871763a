"""SafeTab with scaled budgets: exact losses, the noise and numbers that they give, and a line in the sweep."""

import re
import shutil
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tests.commands import invalid
from tests.counted_census import parsed
from tests.inside import (
    SWEEP,
    Claims,
    Compared,
    CompareRequest,
    Comparing,
    Exposure,
    NoProgress,
    Windows,
    attack_module,
    committee_rows,
    counted_world,
    guarantee_of,
    membership_bound,
    parse,
    pictures,
    safetab_runs_module,
    stated_guarantee,
)
from tests.worlds.people import write_small_census
from tests.worlds.specified.small_world import nz_keys, write_specification
from tests.worlds.world import World

REQUEST = CompareRequest(preset="sweep", runs=2, seed=1)


@pytest.fixture(scope="module")
def census(tmp_path_factory):
    """Of the states alone."""
    census = World.of(write_small_census(tmp_path_factory.mktemp("scaled") / "census", people=2_000, tracts=8))
    census.configure(run_pr=False)
    return census


@pytest.fixture(scope="module")
def world(census):
    with counted_world(*census, REQUEST, NoProgress()) as of_census:
        yield of_census


def compared(census, world, *specs, **asked):
    comparing = Comparing(*census, world, replace(REQUEST, **asked), NoProgress())
    return comparing.comparison([parse(spec, census.parameters.parent) for spec in specs], {})


def variances_of(level):
    return {stage: each.noise.sigma_squared for stage, each in level.design.stages.items()}


def test_a_quarter_of_the_budgets_is_a_quarter_of_the_loss_and_four_times_the_variance(world):
    plan, scaled = world.inputs.plan, world.scaled(Fraction(1, 4)).inputs.plan
    assert scaled.loss.unbounded == plan.loss.unbounded / 4 > 0
    for own, other in zip(plan.levels, scaled.levels, strict=True):
        assert other.design.budget == own.design.budget / 4
        assert other.design.thresholds == own.design.thresholds
        assert variances_of(other) == {stage: 4 * variance for stage, variance in variances_of(own).items()}
    assert membership_bound(scaled) < membership_bound(plan)
    assert membership_bound(plan) < membership_bound(plan, is_changed=True) <= 1
    assert guarantee_of(parsed("safetab:scale=0.25"), scaled) != guarantee_of(parsed("safetab"), plan)
    assert world.inputs.plan is plan


def test_larger_areas_are_attacked_where_they_hold_the_same_people_and_else_their_budgets_are_told(world):
    found = world.words(world.areas(REQUEST), REQUEST)
    assert (found.larger_attacked, found.larger_left) == ("the state", "the nation")
    assert found.spent_on_left == "43%"  # (2.134 + 0.008) / 4.944
    assert world.words((), REQUEST).larger_left == ""


def test_totals_of_secondary_suppression_are_read_as_published(census, world, monkeypatch):
    monkeypatch.setattr(attack_module, "_SEVERAL_KINDS", attack_module._SEVERAL_KINDS[:1])
    monkeypatch.setattr(attack_module, "_CHECKED_GROUPS", 1)
    (suppressed,) = compared(census, world, "suppress:below=10,secondary=lp", runs=1).protections
    assert list(suppressed.exposure.averaging) == [0]
    assert stated_guarantee(suppressed).endswith("no withheld count follows")


def test_a_guarantee_says_why_there_is_none_and_what_was_checked(world):
    late = Exposure(0, None, Claims(0, 0), {}, Claims(0, 0), None, None)
    found = replace(late, is_checked=True)
    fixed, checked = "none below 1: nothing is random", "; by linear programs no withheld count follows"
    suppress = "suppress:below=3,secondary=lp"
    for spec, attacked, said in (
        ("cell-key:D=2,V=0.9", late, "none stated"),
        ("threshold:people=9+round:base=5", late, fixed),
        (suppress, found, fixed + checked),
        (suppress, late, fixed),
        (suppress, None, fixed),
        (f"swap:rate=0.05+{suppress}", found, "none stated" + checked),
    ):
        protection = parsed(spec)
        compared = Compared(protection, None, attacked, guarantee_of(protection, world.inputs.plan), ())
        assert stated_guarantee(compared) == said


def test_a_scale_gives_the_numbers_of_parameters_with_such_budgets(census, world):
    config = census.config()
    budgets = [key for key in config if key.startswith("privacy_budget") and "stage" not in key]
    other = World(census.parameters.with_name("quarter"), census.data)
    shutil.copytree(census.parameters, other.parameters)
    other.configure(**{key: float(Decimal(str(config[key])) / 4) for key in budgets})
    specs = "safetab", "safetab:scale=1", "safetab:scale=0.25", "safetab:quarter"
    own, of_1, of_a_quarter, quarter = (
        (each.utility.drop_columns("protection").to_pydict(), each.guarantee)
        for each in compared(census, world, *specs, attack=("none",), runs=1).protections
    )
    assert own == of_1
    assert own != of_a_quarter == quarter


def test_the_budgets_of_2020_have_its_loss_and_the_thresholds_given(census, world):
    plan, quarter = world.of_2020().inputs.plan, world.scaled(Fraction(1, 4))
    assert plan.loss.unbounded == Fraction("4.944")
    assert quarter.of_2020().inputs.plan.loss.unbounded == Fraction("4.944"), "whatever the budgets given"
    given = [level.design.thresholds for level in world.inputs.plan.levels]
    assert [level.design.thresholds for level in plan.levels] == given
    assert quarter.inputs.plan.loss.unbounded != Fraction("4.944")
    asked = compared(census, quarter, "safetab", "safetab:2020", attack=("none",), runs=1).protections
    assert ["rho = 4.944" in each.guarantee for each in asked] == [False, True]


def test_a_census_of_its_own_has_no_budgets_of_2020(tmp_path):
    own = write_specification(tmp_path, nz_keys())
    with counted_world(*own, REQUEST, NoProgress()) as other:
        assert "had other tables" in invalid(other.of_2020)


@pytest.mark.slow
def test_the_sweep_has_a_point_for_each_strength_and_a_line_through_them(census, world):
    strengths = SWEEP["SafeTab"]
    comparison = compared(census, world, *strengths, "safetab")
    *swept, own = comparison.protections
    assert own.exposure == swept[strengths.index("safetab:scale=1")].exposure
    bounds = [each.exposure.membership_bound for each in swept if each.exposure]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[:2] == [1, 1], "of less than 0.01 below 1, rounded up"
    assert len(set(bounds)) == len(strengths) - 1
    rows = committee_rows(comparison)
    errors = [row["error_10_to_99"] for row in rows[: len(strengths)]]
    assert errors == sorted(errors)
    trade_off = str(pictures(comparison, rows)).partition("Error and people exposed")[2]
    assert re.findall(r"([A-F]), named: error", trade_off) == list("ABCDEF")
    [line] = re.findall(r'd="M([^"]*)" class="line', trade_off)
    assert line.count("L") == len(strengths)  # from each point to the next


@pytest.mark.slow
def test_the_attack_is_checked_on_safetab_with_a_very_large_budget(census, world, monkeypatch):
    """An attack that forgets what the cells of SafeTab's tables and its lone totals tell finds nobody."""
    good = compared(census, world, "safetab").controls
    assert [each.holds for each in good if each.name == "SafeTab with a very large budget"] == [True]
    assert not any("SafeTab" in each.name for each in compared(census, world, "none").controls)

    def nothing(own):
        return Windows(np.zeros(len(own.draws), int), np.zeros(len(own.draws) + 1, int), np.zeros(0))

    monkeypatch.setattr(safetab_runs_module._PublishedSystem, "windows", property(nothing))
    weak = compared(census, world, "safetab").controls
    assert [each.name for each in weak if not each.holds] == ["SafeTab with a very large budget"]


def test_noise_that_cannot_be_drawn_is_refused(world):
    assert "out of range" in invalid(world.scaled, Fraction("0.000000000001"))
