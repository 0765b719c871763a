"""Whom a publication exposes: claims, proofs, ranks and presence, and what they are counted against."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.attacked_worlds import area_of, drawn_systems, publication_of, system_of
from tests.cases import digits_in, lines_in, values_of
from tests.counted_census import parsed
from tests.inside import (
    AttackResult,
    Chances,
    Claims,
    PublishedArea,
    _named_example,
    attack_module,
    baseline,
    exposure,
    findings,
    linear_programs_module,
)


def attacked(area, publication, seed=1, **limits):
    return exposure(area, findings(area, publication, seed, **limits), seed)


@pytest.fixture(scope="module")
def area():
    return area_of(drawn_systems(8, 5, 4, 0.3, 0.5, 4), 5, 0.3)


def groups_of_1_or_2(area):
    return sum(np.isin(system.exact.counts[system.totals[:-1]], (1, 2)).sum() for system in area.systems)


@pytest.mark.parametrize(
    "spec",
    lines_in(
        """
        none
        round:base=1
        round-random:base=1
        threshold:people=1
        suppress:below=1
        """
    ),
)
def test_everybody_is_exposed_without_protection(area, spec):
    found = attacked(area, publication_of(area, spec))
    everybody = Claims(area.uniques, area.uniques)
    assert area.uniques > 20
    assert found.named == found.proven == everybody
    assert found.likeliest == found.ranked["uniques"] == everybody
    assert (found.ranked["100"].claims, found.ranked["500"].right) == (100, area.uniques)
    small = groups_of_1_or_2(area)
    assert found.presence == Claims(small, small)
    assert found.small_groups == baseline(area, 1).small_groups == small
    assert (found.outside, found.not_finished, found.r_hat) == (0, (), 1.0)


def test_a_protection_names_fewer_and_the_baseline_still_fewer(area):
    rounded = attacked(area, publication_of(area, "round-random:base=3"))
    nothing = baseline(area, 1)
    assert nothing.proven is None
    assert nothing.named.claims <= rounded.named.claims < area.uniques
    assert nothing.likeliest.right < rounded.likeliest.right < nothing.likeliest.claims == area.uniques
    assert rounded.proven.claims == rounded.proven.right
    assert rounded.outside == nothing.outside == 0
    assert 1 <= rounded.r_hat < 1.1


@pytest.mark.parametrize("spec", ["suppress:rule=1980", "suppress:below=3", "cell-key:D=2,V=0"])
def test_a_mark_or_a_number_where_zeros_are_shown_proves_that_somebody_is_there(area, spec):
    """The rules of 1980 withhold the tables of groups of 1 to 14 people, and no others."""
    assert attacked(area, publication_of(area, spec)).presence == Claims(*[groups_of_1_or_2(area)] * 2)


def test_what_proved_is_said(area, monkeypatch):
    few = replace(area, systems=area.systems[:1])
    publication = publication_of(few, "none")
    assert attacked(few, publication).proven_by == "propagation and CP-SAT"
    assert attacked(few, replace(publication, can_be_proven=False)).proven_by == ""
    monkeypatch.setattr(linear_programs_module, "find_spec", lambda _: None)
    assert attacked(few, publication).proven_by == "propagation alone: OR-Tools is not installed"


def test_one_thread_and_two_find_the_same(area):
    publication = publication_of(area, "suppress:below=3")
    assert attacked(area, publication, 5, threads=1) == attacked(area, publication, 5, threads=2)


def test_what_is_found_does_not_depend_on_the_truth(area):
    """The same publication, but the truth is turned around: the same chances, and other scores."""
    publication = publication_of(area, "round-random:base=3")
    few = replace(publication, windows=publication.windows[:3])
    own = area.systems[:3]
    turned = [
        replace(one, truth=one.truth[::-1], exact=replace(one.exact, counts=one.exact.counts[::-1])) for one in own
    ]
    found = (findings(replace(area, systems=systems), few, 1) for systems in (own, turned))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one.chances.is_one, other.chances.is_one)
        assert np.array_equal(one.proven, other.proven)


def test_time_that_is_up_is_said_and_nobody_is_named(area):
    found = attacked(area, publication_of(area, "none"), seconds=0.0)
    assert found.not_finished == ("groups that were not attacked, because the time limit was reached: 8.",)
    assert found.proven == found.named == found.presence == Claims(0, 0), "proofs apply, but none was made"
    assert (found.r_hat, found.unfinished) == (None, 8)


def test_the_time_limit_is_asked_before_each_group(area, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(attack_module, "monotonic", lambda: float(next(clock)))
    found = attacked(area, publication_of(area, "none"), seconds=4.5)
    assert found.not_finished == ("groups that were not attacked, because the time limit was reached: 4.",)


def test_a_publication_that_nothing_fits_is_said(area):
    right = publication_of(area, "none")
    windows = [replace(of, firsts=of.firsts + (np.arange(len(of.firsts)) == 0)) for of in right.windows[:2]]
    found = attacked(area, replace(right, windows=[*windows, *right.windows[2:]]))
    assert found.not_finished == (
        "groups attacked by bounds alone, because too few data sets were found that fit everything published: 2.",
    )
    assert found.unfinished == 2


def test_equal_chances_are_ranked_by_lot():
    """All 400 leaves look alike; 100 hold one person, all at the front. About 25 of the first 100 are right."""
    truth = np.zeros((100, 4), int)
    truth[:25] = 1
    system = system_of(truth, np.ones((100, 4)))
    one, nothing = area_of([system], 100, 0.5), np.zeros(len(system.lines))
    called = [AttackResult(Chances(nothing, nothing))]
    found = [exposure(one, called, seed).ranked["100"].right for seed in range(40)]
    assert abs(np.mean(found) - 25) < 4.5 * 4 / np.sqrt(40)  # false alarm 7e-6
    assert len(set(found)) > 1


def test_claims_of_presence_leave_out_groups_of_three_or_more():
    system = system_of(np.array(digits_in("10 20 30 00 00")), np.ones((5, 2)))
    called = np.zeros(len(system.lines))
    called[system.totals] = [0.95] * 4 + [0.94, 1.0]  # the whole area is no smallest area
    assert exposure(area_of([system], 5, 0.5), [AttackResult(Chances(0 * called, called))], 1).presence == Claims(3, 2)


def test_the_baseline_knows_the_total_of_the_whole_area_alone():
    """No cell is certain if 8 people are in 4 equal cells, and every cell is if nobody is there."""
    crowd, nobody = (system_of(np.full((2, 2), count), np.ones((2, 2))) for count in (2, 0))
    found = baseline(area_of([crowd, nobody], 2, 5.0), 1)
    assert found.named == Claims(0, 0)
    assert found.presence.claims == 0
    windows = attack_module.total_alone(crowd)
    assert [windows.of(number)[1].tolist() for number in range(9)] == [[]] * 6 + [[0.0], [], []]
    assert windows.of(6)[0] == 8


def test_an_area_without_systems_exposes_nobody():
    found = attacked(area_of([], 1, 0.5), PublishedArea((), (), can_be_proven=True))
    assert (found.uniques, found.named, found.likeliest) == (0, Claims(0, 0), Claims(0, 0))


def example_of(system, spec, published_by, r_hat=1.0):
    """The example of a person alone in a cell of two tracts, and what was published."""
    area = replace(area_of([system], 2, 0.3), line_words=("", "one half", "other half", *"abcd"))
    publication = publication_of(area, published_by)
    is_one = np.where(np.arange(len(system.lines)) == system.uniques[0], 0.97, 0.0)
    found = AttackResult(Chances(is_one, is_one, r_hat, 0, is_finished=True))
    return _named_example(area, parsed(spec), publication, [found]), publication.tables[0].numbers


def test_the_example_of_a_named_person_has_every_number_that_counts_them():
    system = system_of(np.array(digits_in("0134 2206")), np.full((2, 4), 0.5))
    example, numbers = example_of(system, "round-random:base=3", "cell-key:D=2,V=0.9")
    in_county = {words: printed for words, printed in example.published if "county" in words}
    assert [*in_county] == ["the total, county", "one half, county", "b, county"]
    assert in_county["b, county"] == f"{numbers[2 * 7 + 4]:,}"


def test_no_example_is_named_by_chains_that_disagree_or_by_one_person_s_error_counted_twice():
    system = system_of(np.array(digits_in("0134 2006")), np.full((2, 4), 0.5))
    keys = system.rows.sums((np.arange(8, dtype=np.uint64) + np.uint64(1)) * (system.truth > 0))
    system = replace(system, exact=replace(system.exact, keys=keys))
    assert np.count_nonzero(keys == keys[system.uniques[0]]) > 1, "counted twice"
    for spec, r_hat, has_example in values_of(
        """
        "round-random:base=3" | 1.0 | True
        "round-random:base=3" | 1.2 | False
        "round-random:base=3,fixed=yes" | 1.0 | False
        """
    ):
        assert (example_of(system, spec, "round-random:base=3", r_hat)[0] is not None) == has_example
