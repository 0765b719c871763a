"""Utility for households, whose published totals choose tables, and for censuses that are specified."""

import pytest

from tests.counted_census import counted, nearest_5, protection
from tests.inside import NoProgress, RunOptions, accuracy_table, assess, key_of_seed, summary, utility
from tests.worlds.households import write_small_households
from tests.worlds.specified.nz_case import full_keys, write_nz_case

pytestmark = pytest.mark.slow


def written(folder, which):
    if which == "households":
        world = write_small_households(folder / "world")
        return world.parameters, world.data
    keys = full_keys()
    if which == "every group":
        keys["privacy"]["selector"] = "none"
        del keys["privacy"]["stage_1"], keys["privacy"]["suppress"]
        for level in keys["privacy"]["levels"]:
            level.pop("thresholds", None)
    return write_nz_case(folder, None if which == "specified" else keys)


@pytest.fixture(scope="module", params=["households", "specified", "every group"])
def truth(request, tmp_path_factory):
    with counted(*written(tmp_path_factory.mktemp("census"), request.param)) as census:
        yield census


def sums(table):
    """Numbers, and their absolute errors together, of groups with somebody in them."""
    return {
        (row["level"], row["kind"], row["sort"]): (row["numbers"], round(row["mean_absolute_error"] * row["numbers"]))
        for row in table.to_pylist()
        if row["size_class"] == "all" and row["numbers"]
    }


def test_safetab_has_the_numbers_of_accuracy(truth):
    found = sums(utility(protection("safetab", is_safetab=True), truth, runs=2, seed=3))
    assessment = assess(truth.inputs, truth.known, RunOptions(test_key=key_of_seed(3)), 2, NoProgress())
    expected = {}
    several = truth.inputs.plan.config.product.has_several_families
    for row in accuracy_table(assessment, "given").to_pylist():
        if row["size_class"] == "1 or more" and row["table"] == "all" and row["number"] != "combined total":
            level = f"({row['geography_level']}, {row['iteration_level']})"
            key = f"{level}, {row['table_family']}" if several else level, row["iteration_kind"], row["number"]
            numbers, errors = expected.get(key, (0, 0))
            if row["numbers"]:
                errors += round(row["mean_absolute_error"] * row["numbers"])
                expected[key] = numbers + row["numbers"], errors
    assert found == expected
    assert len(found) > 20


def test_rounding_errs_by_two_at_most_and_nothing_by_nothing(truth):
    nothing, rounded = (
        utility(protection(name, *change), truth, runs=1, seed=1)
        for name, change in (("none", ()), ("nearest 5", (nearest_5, 2)))
    )
    assert {errors for _, errors in sums(nothing).values()} == {0}
    assert summary(nothing)["groups_published"] == 1
    assert max(rounded["largest_absolute_error"].to_pylist()) == 2
    assert summary(rounded)["tables_not_additive"] > 0
    assert summary(nothing)["tables_not_additive"] == 0


def test_tables_are_those_of_the_plan(truth):
    for level in truth.levels.values():
        known = level.plan.known_shapes()
        if known is not None:
            shapes = dict(zip(*(each.tolist() for each in known), strict=True))
            assert [shapes[group] for group in level.groups.tolist()] == level.shapes.tolist()
