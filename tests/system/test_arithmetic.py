"""`a + b`, `a - b` and `a / b`: the numbers of `sum`, `differ` and `ratio`, with noise that is shared counted as shared."""

# ruff: noqa: ARG005 - each question takes both numbers
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import safetab
from tests.inside import Absence, Difference, Estimate, GroupTable
from tests.releases import numbers_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def release(demo_out):
    return safetab.open_release(demo_out)


@pytest.fixture(scope="module")
def a(release):
    return present(release.total("Providence County", "Dominican"))


@pytest.fixture(scope="module")
def b(release):
    return present(release.total("Providence County", "Puerto Rican"))


@pytest.fixture(scope="module")
def absent(release):
    answer = release.total("Kent County", "Hmong", kind="alone")
    assert isinstance(answer, Absence)
    return answer


def present(answer: object) -> Estimate:
    assert isinstance(answer, Estimate), answer
    return answer


def same(one: Estimate | Difference, other: Estimate | Difference) -> bool:
    own, its = ((each.value, each.margin_of_error, each.interval, each.variance) for each in (one, other))
    return own == its


def test_a_number_added_to_itself_has_twice_the_noise(a):
    twice = a + a
    assert (twice.value, twice.margin_of_error) == (2 * a.value, 2 * a.margin_of_error)
    assert twice.variance == pytest.approx(4 * a.variance)
    assert any("more than once" in note for note in twice.notes)


def test_independent_numbers_add_their_variances(a, b):
    assert (a + b).value == a.value + b.value
    assert (a + b).variance == pytest.approx(a.variance + b.variance)
    assert (a - b).variance == pytest.approx(a.variance + b.variance)
    assert (a + b).margin_of_error < a.margin_of_error + b.margin_of_error


def test_the_signs_and_the_functions_give_the_same(release, a, b):
    by_sum = release.sum([a, b])
    assert same(a + b, by_sum)
    assert (a + b).notes == by_sum.notes
    assert same(present((a + b).combined), present(by_sum.combined))
    assert same(sum([a, b]), by_sum)
    assert same(a - b, release.differ(a, b))
    assert (a / b).interval == release.ratio(a, b).interval


def test_a_part_shares_its_noise_with_the_whole(release, a):
    table = release.table("Providence County", "Dominican")
    assert isinstance(table, GroupTable)
    children = table.count(ages=(0, 17))
    adults = a - children
    assert adults.variance == pytest.approx(a.variance - children.variance)
    assert (children / a).interval == release.ratio(children, a).interval


def test_what_is_taken_away_again_leaves_no_noise(a, b):
    back = (a + b) - b
    assert (back.value, back.margin_of_error) == (a.value, a.margin_of_error)
    nothing = back - a
    assert (nothing.value, nothing.margin_of_error, nothing.variance) == (0, 0, 0)


def test_differences_add_up_from_the_left(a, b):
    assert same((a - b) + b + b, (a + b + b) - b)
    assert same((a - b) - (b - a), (a + a) - (b + b))
    assert same(-(a - b), b - a)
    assert same(sum([a - b, a - b]), (a + a) - (b + b))


def test_a_copy_has_the_noise_of_its_donor(release, demo_out):
    row = next(
        row for row in numbers_of(demo_out) if row["donor_region_id"] is not None and row["table_id"] == "T01001"
    )
    level = {"PR-STATE": "state", "PR-COUNTY": "county"}.get(row["geography_level"], row["geography_level"].lower())
    donor_level = row["donor_geography_level"].removeprefix("PR-").lower()
    copy = present(release.total(row["region_id"], row["iteration_code"], level=level.removeprefix("pr-")))
    donor = present(release.total(row["donor_region_id"], row["iteration_code"], level=donor_level))
    assert (copy - donor).variance == 0
    assert (copy + donor).variance == pytest.approx(4 * donor.variance)


def test_a_sum_of_selected_totals_knows_of_their_selection(release):
    small = [
        one for area in release.areas("county") for one in release.totals(area=area).numbers if one.selection_matters
    ][:2]
    both = small[0] + small[1]
    assert both.selection_matters
    assert both.interval == release.sum(small).interval


def test_who_is_missing_from_a_sum_is_missing_from_sums_of_it(release, a):
    counties = release.sum([release.totals(group="Dominican", level="county")])
    missing = len(counties.absent)
    assert missing
    assert any(f"{missing} of " in note and "absent" in note for note in (counties + a).notes)
    assert (counties + a).absent == counties.absent == (counties + counties).absent


def test_less_sure_parts_make_a_sum_less_sure(a, b):
    less_sure = replace(a, holds_confidence=False)
    assert (a + b).holds_confidence
    assert not (less_sure + b).holds_confidence
    assert not (b - less_sure).holds_confidence
    assert not (b / less_sure).holds_confidence


ABSENT: list[Callable[[Estimate, Absence], object]] = [
    lambda a, none: a + none,
    lambda a, none: none + a,
    lambda a, none: a - none,
    lambda a, none: none - a,
    lambda a, none: a / none,
    lambda a, none: none / a,
    lambda a, none: sum([none, a]),
    lambda a, none: (a - a) + none,
    lambda a, none: none + none,
]


@pytest.mark.parametrize("question", ABSENT)
def test_an_absent_number_is_refused_with_its_reason(question, a, absent):
    with pytest.raises(safetab.InvalidInput, match="This does not mean zero"):
        question(a, absent)


SENSELESS: list[Callable[[Estimate, Estimate], object]] = [
    lambda a, b: a + 1,
    lambda a, b: 1 + a,
    lambda a, b: a - 0.5,
    lambda a, b: 1000 - a,
    lambda a, b: a / 2,
    lambda a, b: 1 / a,
    lambda a, b: a + "b",
    lambda a, b: a + None,
    lambda a, b: (a - b) + 1,
    lambda a, b: 1 + (a - b),
    lambda a, b: 1 - (a - b),
    lambda a, b: (a - b) / b,
    lambda a, b: b / (a - b),
    lambda a, b: a + (a - b),
    lambda a, b: (a / b) + a,
    lambda a, b: (a / b) - (b / a),
]


@pytest.mark.parametrize("question", SENSELESS)
def test_what_has_no_right_noise_is_refused_by_a_sentence(question, a, b):
    with pytest.raises(TypeError, match=r"among each other|comes first"):
        question(a, b)


def test_numbers_of_two_releases_are_not_mixed(a, household_run):
    households = safetab.open_release(household_run[1])
    other = next(iter(households.totals(area="1", level="nation").numbers))
    for question in (lambda: a + other, lambda: a - other, lambda: other / a):
        with pytest.raises(safetab.InvalidInput, match="is of another release"):
            question()


def test_households_have_arithmetic_too(household_run):
    households = safetab.open_release(household_run[1])
    group = present(households.totals(area="1", level="nation").largest(1)[0]).counted[0].group
    types, tenure = (
        households.table("1", group, level="nation"),
        households.table("1", group, level="nation", family="tenure"),
    )
    assert isinstance(types, GroupTable)
    assert isinstance(tenure, GroupTable)
    family, nonfamily, rented = types.count("family"), types.count("nonfamily"), tenure.count("rented")
    assert same(family + nonfamily, types.count())
    assert (rented - family).variance == pytest.approx(rented.variance + family.variance)
