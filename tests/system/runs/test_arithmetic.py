"""`a + b`, `a - b` and `a / b`: the numbers of `sum`, `differ` and `ratio`, with noise that is shared counted as shared."""

from dataclasses import replace

import pytest

import safetab

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def a(release):
    return release.total("Providence County", "Dominican")


@pytest.fixture(scope="module")
def b(release):
    return release.total("Providence County", "Puerto Rican")


def facts(one):
    return one.value, one.margin_of_error, one.interval, one.variance


def test_the_signs_and_the_functions_give_the_same(release, a, b):
    """Of two numbers, of one twice, and of two that passed suppression."""
    totals = [one for area in release.areas("county") for one in release.totals(area=area).numbers]
    small = [one for one in totals if one.selection_matters][:2]
    for one, other in ((a, b), (a, a), small):
        both = release.sum([one, other])
        assert facts(one + other) == facts(sum([one, other])) == facts(both)
        assert (one + other).notes == both.notes
        assert (one + other).selection_matters == (one is small[0])
        assert facts(one - other) == facts(release.differ(one, other))
    assert facts((a + b).combined) == facts(release.sum([a, b]).combined)
    assert (a / b).interval == release.ratio(a, b).interval


def test_a_part_shares_its_noise_with_the_whole(release, a):
    children = release.table("Providence County", "Dominican").count(ages=(0, 17))
    assert (a - children).variance == pytest.approx(a.variance - children.variance)
    assert (children / a).interval == release.ratio(children, a).interval


def test_what_is_taken_away_again_leaves_no_noise(a, b):
    back = (a + b) - b
    assert (back.value, back.margin_of_error) == (a.value, a.margin_of_error)
    assert facts(back - a) == (0, 0, (0, 0), 0)


def test_differences_add_up_from_the_left(a, b):
    assert facts((a - b) + b + b) == facts((a + b + b) - b)
    assert facts((a - b) - (b - a)) == facts(sum([a - b, a - b])) == facts((a + a) - (b + b))
    assert facts(-(a - b)) == facts(b - a)


def test_who_is_missing_from_a_sum_is_missing_from_sums_of_it(release, a):
    counties = release.sum([release.totals(group="Dominican", level="county")])
    missing = len(counties.absent)
    assert missing
    assert any(f"{missing} of " in note and "absent" in note for note in (counties + a).notes)
    assert (counties + a).absent == counties.absent == (counties + counties).absent


def test_less_sure_parts_make_a_sum_less_sure(a, b):
    less_sure = replace(a, holds_confidence=False)
    sure = [one.holds_confidence for one in (a + b, less_sure + b, b - less_sure, b / less_sure)]
    assert sure == [True, False, False, False]


ABSENT = "a + none, none + a, a - none, none - a, a / none, none / a, sum([none] + [a]), (a - a) + none, none + none"
OTHER = "a + other, a - other, other / a"
SENSELESS = (
    "a + 1, 1 + a, a - 0.5, 1000 - a, a / 2, 1 / a, a + 'b', a + None, (a - b) + 1, 1 + (a - b), 1 - (a - b), "
    "(a - b) / b, b / (a - b), a + (a - b), (a / b) + a, (a / b) - (b / a)"
)


@pytest.mark.parametrize(
    ("questions", "error", "words"),
    [
        (ABSENT, safetab.InvalidInput, "This does not mean zero"),
        (OTHER, safetab.InvalidInput, "is of another release"),
        (SENSELESS, TypeError, r"among each other|comes first"),
    ],
)
def test_absent_numbers_those_of_another_release_and_what_has_no_right_noise_are_refused(
    questions, error, words, release, a, b, households
):
    given = {
        "a": a,
        "b": b,
        "none": release.total("Kent County", "Hmong", kind="alone"),
        "other": households.totals(area="1", level="nation").numbers[0],
    }
    for question in questions.split(", "):
        with pytest.raises(error, match=words):
            eval(question, given)


def test_households_have_arithmetic_too(households):
    group = households.totals(area="1", level="nation").largest(1)[0].counted[0].group
    types = households.table("1", group, level="nation")
    rented = households.table("1", group, level="nation", family="tenure").count("rented")
    family, nonfamily = types.count("family"), types.count("nonfamily")
    assert facts(family + nonfamily) == facts(types.count())
    assert (rented - family).variance == pytest.approx(rented.variance + family.variance)
