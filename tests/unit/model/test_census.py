"""A census is a value: equal by its fields, and refused if noise or accounts could go wrong."""

import pickle
from dataclasses import replace

import pytest

from tests.inside import (
    COUNTY,
    DETAILED,
    NATION,
    PLACE,
    STATE,
    TRACT,
    US,
    US_PASS,
    AreaKind,
    Classification,
    DigitIds,
    TextIds,
)

LEVELS = "USA STATE COUNTY TRACT PLACE AIANNH PR-STATE PR-COUNTY PR-TRACT PR-PLACE"


def test_levels_have_the_addresses_that_noise_depends_on():
    assert {level.label: level.address for level in US.area_levels} == {
        label: n for n, label in enumerate(LEVELS.split())
    }
    assert {level.name: level.number for level in US.group_levels} == {"Major": 0, "Regional": 1, "Detailed": 2}


def test_values_that_were_sent_to_another_process_are_equal():
    for value in US_PASS, COUNTY, DETAILED, US.area_levels[2], US.lists[1], US.group_kinds[0], US.levels[3]:
        sent = pickle.loads(pickle.dumps(value))
        assert sent == value
        assert {value: 1}[sent] == 1


def test_censuses_with_another_list_differ():
    assert replace(US, name="U.S. census") == US
    assert replace(US, lists=US.lists[:1]) != US


def test_two_levels_with_one_address_and_a_third_classification_are_refused():
    shared = replace(US.area_levels[0], label="COUSUB")
    with pytest.raises(ValueError, match=r"two area_levels .* have the same address"):
        replace(US, area_levels=(*US.area_levels, shared))
    third = Classification("language", ("MT", "L2"))
    with pytest.raises(ValueError, match="two classifications"):
        replace(US, classifications=(*US.classifications, third))


def test_grains_are_the_kinds_that_tabulate_different_lists():
    assert US.grains == (NATION, COUNTY)
    assert [US.grain_of(kind) for kind in US.kinds] == [0, 0, 1, 1, 1, 1]


def test_ids_say_which_area_is_around_only_where_they_begin_with_it():
    assert TRACT.id_around("44007000101", COUNTY) == "44007"
    assert TRACT.id_around("44007000101", TRACT) == "44007000101"
    assert PLACE.id_around("4459000", STATE) == "44"
    assert PLACE.id_around("4459000", COUNTY) is None
    ward = AreaKind("ward", "ward", "wards", "Ward", TextIds(("a", "b")), parent=COUNTY, suppresses=True)
    assert ward.id_around("a", COUNTY) is None
    assert ward.id_around("a", ward) == "a"


def test_an_id_does_not_say_what_is_around_if_a_kind_between_has_ids_of_its_own():
    def kind(name, ids, parent=None):
        return AreaKind(name, name, f"{name}s", name, ids, parent=parent, suppresses=True)

    region = kind("region", DigitIds(2))
    for begins_with_parent, around in (True, "44"), (False, None):
        district = kind("district", DigitIds(4, begin_with_parent=begins_with_parent), region)
        ward = kind("ward", DigitIds(6, begin_with_parent=True), district)
        assert ward.id_around("440701", district) == "4407"
        assert ward.id_around("440701", region) == around


def test_ids_are_texts_with_numbers():
    assert DigitIds(5).text(1001) == "01001"
    assert DigitIds(5).number("01001") == 1001
    names = TextIds(("B", "a", "\N{LATIN SMALL LETTER E WITH ACUTE}"))
    assert [names.number(names.text(number)) for number in range(3)] == [0, 1, 2]
    for ids, wrong in (DigitIds(5), "1001"), (DigitIds(5), "x1001"), (names, "b"):
        with pytest.raises(ValueError, match="must be"):
            ids.number(wrong)
    with pytest.raises(ValueError, match="sorted as UTF-8"):
        TextIds(("a", "B"))
