"""The noise that a release states for its numbers is that of the budgets in config.json, worked out by hand.

An area and its coterminous copies have budgets of their own; some groups get a total alone.
"""

from fractions import Fraction
from functools import cache
from math import exp

import pytest

import safetab
from tests.cases import cases_of
from tests.releases import json_of, numbers_of
from tests.system.release.test_coterminous import WATER, write_world

STABILITY = 2  # a person is alone in one group at most, and in the same group or others in combination
STAGE_1 = Fraction(1, 10)
TOTAL_ONLY, EVERYWHERE = "3003", "3002"
NOT_SUPPRESSED = ("USA", "STATE", "PR-STATE")
OF_LEVELS = """
usa | 5
state | 3
county | 0.4
tract | 0.2
place | 0.1
pr_state | 2
pr_county | 0.6
pr_tract | 0.3
pr_place | 0.15
"""
BUDGETS = dict(cases_of(OF_LEVELS))


def written(folder, **more):
    """A run whose levels all differ, with copies; so much is published that every kind of number is there."""
    changes = {f"privacy_budget_p_level_2_{level}": float(budget) for level, budget in BUDGETS.items()}
    world, water = write_world(folder, [10, 10**6, 10**6], zero_suppression_chance=0.4, **changes), folder / "water.txt"
    water.write_text(WATER)  # a county has one tract of land
    return world.run(folder / "out", test_key="21" * 32, coterminous=True, empty_blocks=water, **more)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return written(tmp_path_factory.mktemp("by-hand"))


def test_a_level_without_areas_costs_nothing_and_nothing_is_wrong_with_that(out):
    charged = {event["geography_level"] for event in json_of(out / "manifest.json")["charged"]}
    assert "AIANNH" not in charged
    assert safetab.verify(out).findings == ()


def due_variance(row):
    """The parameter of the noise of a row: of the donor's level if it is a copy."""
    level = row["donor_geography_level"] or row["geography_level"]
    share = 1 if row["iteration_code"] == TOTAL_ONLY else 1 - STAGE_1
    return STABILITY / (2 * Fraction(BUDGETS[level.lower().replace("-", "_")]) * share)


@cache
def chances_of(variance):
    """The chance of each draw, from the definition of the noise."""
    values = range(-60, 61)
    weights = [exp(-(value**2) / (2 * float(variance))) for value in values]
    return {value: weight / sum(weights) for value, weight in zip(values, weights, strict=True)}


def every_number_has_the_noise_of_its_budget(out):
    seen = set()
    for row in numbers_of(out):
        variance = due_variance(row)
        assert Fraction(row["noise_parameter"]) == variance, row
        if row["noise_draws"] == 1:
            chances = chances_of(variance)
            least = next(m for m in range(61) if sum(chances.get(value, 0) for value in range(-m, m + 1)) >= 0.95)
            assert row["unclamped_margin_of_error"] == least, row
        seen.add((row["iteration_code"] == TOTAL_ONLY, row["status"], row["table"] == "total"))
    assert {(True, "published", True), (False, "published", True), (False, "copied", True)} <= seen
    copies = [row for row in numbers_of(out) if row["status"] == "copied"]
    assert {row["geography_level"] for row in copies} >= {"COUNTY", "PLACE"}


def test_every_number_has_the_noise_of_its_budget(out):
    every_number_has_the_noise_of_its_budget(out)


@cache
def least_threshold(variance):
    """The least T that suppresses an empty group in 0.4 of all cases or more."""
    chances = chances_of(variance)
    return next(limit for limit in range(-1, 60) if sum(chance for v, chance in chances.items() if v <= limit) >= 0.4)


@cache
def interval_of(total, variance):
    """The sizes that a published total does not contradict, at 95 %, by T and noise of the level that measured it."""
    chances, threshold = chances_of(variance), least_threshold(variance)

    def shares(size):
        published = {size + value: chance for value, chance in chances.items() if size + value > threshold}
        above = sum(chance for number, chance in published.items() if number >= total)
        below = sum(chance for number, chance in published.items() if number <= total)
        return above, below, sum(published.values())

    inside = [size for size, (*ends, every) in enumerate(map(shares, range(60))) if min(ends) > 0.025 * every]
    return min(inside), max(inside)


def is_plain(row):
    """Whether the level that measured it suppresses nothing."""
    return (row["donor_geography_level"] or row["geography_level"]) in NOT_SUPPRESSED


def due_interval(row):
    """The interval of a lone total: selection-aware if the level that measured it suppresses anything."""
    if is_plain(row):
        number, margin = row["unclamped_count"], row["unclamped_margin_of_error"]
        return max(number - margin, 0), max(number + margin, 0)
    return interval_of(row["unclamped_count"], due_variance(row))


def copies_have_the_intervals_of_their_donors(out):
    lone = [row for row in numbers_of(out) if row["table"] == "total" and row["iteration_code"] != TOTAL_ONLY]
    differing = set()
    for row in lone:
        due = due_interval(row)
        assert (row["interval_low"], row["interval_high"]) == due, row
        if row["status"] == "copied":
            differing.add((is_plain(row), due_interval({**row, "donor_geography_level": None}) != due))
    assert differing >= {(True, True), (False, True)}  # of the receiver's noise it would be another interval


def test_copies_have_the_intervals_of_their_donors(out):
    copies_have_the_intervals_of_their_donors(out)


DONORS = """
COUNTY 11001 | STATE 11
PLACE 1150000 | STATE 11
TRACT 44005000100 | COUNTY 44005
PR-COUNTY 72031 | PR-STATE 72
PR-TRACT 72031000100 | PR-STATE 72
PR-PLACE 7220200 | PR-STATE 72
"""
"""Areas of the same blocks, without those of water, by the geography of the world: of a group that every area has."""


def copies_are_the_numbers_of_their_donors(out):
    rows = numbers_of(out)
    measured = {(area_of(row), *line_of(row)): row for row in rows}
    found = {}
    for row in [row for row in rows if row["status"] == "copied"]:
        donor = f"{row['donor_geography_level']} {row['donor_region_id']}"
        if row["iteration_code"] == EVERYWHERE:
            found[area_of(row)] = donor
        for column in ("count", "unclamped_count", "margin_of_error", "noise_parameter"):
            assert row[column] == measured[donor, *line_of(row)][column]
    assert found == dict(cases_of(DONORS))


def area_of(row):
    return f"{row['geography_level']} {row['region_id']}"


def line_of(row):
    return row["iteration_code"], row["table_id"], row["line"]


def test_copies_are_the_numbers_of_their_donors(out):
    copies_are_the_numbers_of_their_donors(out)
