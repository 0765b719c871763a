from __future__ import annotations

import numpy as np
import pytest

from tests.code_maps import iteration_map
from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    COMMON,
    COUNTY,
    DETAILED,
    NO_ENTITY,
    RACE_ALONE,
    REGIONAL,
    US,
    AreaLevel,
    Blocks,
    CharacteristicIteration,
    GroupLevel,
    PopulationGroupLevel,
    PublicLists,
    Sensitivity,
    areas_of_blocks,
    iteration_map_of,
    read_public_lists,
    sensitivity,
    universe_of,
)
from tests.plain_engine import index_in

BASQUE, IRISH, LIVONIAN, OTHER_EUROPEAN, HMONG, CHECKBOX = "1110", "1120", "1140", "1199", "4110", "1000"
DOMINICAN, NOT_HISPANIC = "2110", "9950"


@pytest.fixture
def lists() -> PublicLists:
    return read_public_lists(SMALL_EXAMPLE / "parameters").require()


def iterations_of(lists: PublicLists, level: GroupLevel, races: list[str], ethnicity: str, **how: object) -> set[str]:
    how = {"kind": US.kind("state"), "most_answers": 8} | how
    codes = iteration_map_of(lists, level, **how).iterations_of(races, ethnicity)
    names = {iteration.code: iteration.name for iteration in lists.iterations}
    return {names[code] for code in codes}


def test_one_code_is_alone_and_in_combination(lists):
    assert iterations_of(lists, DETAILED, [BASQUE], NOT_HISPANIC) == {
        "Basque alone",
        "Basque alone or in any combination",
    }


def test_codes_of_one_regional_group_are_alone_there_but_not_in_detailed_groups(lists):
    assert iterations_of(lists, REGIONAL, [BASQUE, IRISH], NOT_HISPANIC) == {
        "European alone",
        "European alone or in any combination",
    }
    assert iterations_of(lists, DETAILED, [BASQUE, IRISH], NOT_HISPANIC) == {
        "Basque alone or in any combination",
        "Irish alone or in any combination",
    }


def test_codes_of_several_groups_are_alone_in_none(lists):
    assert iterations_of(lists, REGIONAL, [BASQUE, HMONG], DOMINICAN) == {
        "European alone or in any combination",
        "East Asian alone or in any combination",
        "Caribbean Hispanic",
    }


def test_a_code_that_is_in_no_group_still_ends_aloneness(lists):
    assert iterations_of(lists, REGIONAL, [BASQUE, CHECKBOX], NOT_HISPANIC) == {"European alone or in any combination"}
    assert iterations_of(lists, REGIONAL, [CHECKBOX], NOT_HISPANIC) == set()


def test_a_code_given_twice_counts_once(lists):
    assert "Basque alone" in iterations_of(lists, DETAILED, [BASQUE, BASQUE], NOT_HISPANIC)


def test_codes_are_cut_by_position_and_aloneness_is_judged_on_what_is_left(lists):
    cut = iterations_of(lists, DETAILED, [BASQUE, BASQUE, HMONG], NOT_HISPANIC, most_answers=2)
    assert cut == {"Basque alone", "Basque alone or in any combination"}


def test_lists_differ_by_grain(lists):
    assert iterations_of(lists, DETAILED, [LIVONIAN], NOT_HISPANIC) == {
        "Livonian alone",
        "Livonian alone or in any combination",
    }
    assert iterations_of(lists, DETAILED, [LIVONIAN, OTHER_EUROPEAN], NOT_HISPANIC, kind=US.kind("county")) == {
        "Other European (below state) alone",
        "Other European (below state) alone or in any combination",
    }


def test_an_ethnicity_code_counts_as_ethnicity_alone(lists):
    assert iterations_of(lists, DETAILED, [DOMINICAN], DOMINICAN) == {"Dominican"}


@pytest.mark.parametrize(
    ("alone", "in_combination", "ethnicity", "max_race_codes", "most"),
    [
        ({}, {}, {}, 8, 0),
        ({"1": "A"}, {}, {}, 8, 1),
        ({}, {"1": "C"}, {"1": "E"}, 8, 2),
        ({"1": "A"}, {"1": "C"}, {"9": "E"}, 1, 3),
        ({"1": "A", "2": "B"}, {"1": "C", "2": "D"}, {"9": "E"}, 2, 3),
        # one wide alone group around many in-combination groups: max_race_codes + 2
        (dict.fromkeys("1234", "A"), dict(zip("1234", "CDFG", strict=True)), {"9": "E"}, 3, 5),
        # aloneness where no in-combination group is
        ({"3": "A"}, {"1": "C", "2": "D"}, {}, 2, 2),
        ({"3": "A"}, {}, {"9": "E"}, 2, 2),
    ],
)
def test_stability_of_hand_made_maps(alone, in_combination, ethnicity, max_race_codes, most):
    maps = iteration_map(alone, in_combination, ethnicity, max_race_codes).classifications
    assert sensitivity(maps) == Sensitivity(l2_squared=most, l1=most)


def test_a_race_iteration_reached_by_no_race_code_adds_no_stability():

    race = CharacteristicIteration("0001", "x", DETAILED, RACE_ALONE, COMMON)
    lists = PublicLists({"9950": "x"}, (race,), {"0001": frozenset({"9950"})})
    codes = iteration_map_of(lists, DETAILED, US.kind("state"), most_answers=8)
    assert not sensitivity(codes.classifications)


def test_every_group_has_a_fixed_place(lists):
    level = PopulationGroupLevel(US.area_level("COUNTY"), REGIONAL)
    blocks = np.array([10010000010001, 10030000010001, 440070001011000])
    nowhere = np.full(3, NO_ENTITY)
    universe = universe_of(level, areas_of_blocks(Blocks(blocks, nowhere, nowhere)).entities(COUNTY), lists)
    assert universe.entities.tolist() == [1001, 1003, 44007]
    assert [iteration.code for iteration in universe.iterations] == [
        "1002",
        "1101",
        "1201",
        "2002",
        "2101",
        "2201",
        "4002",
    ]
    assert universe.size == 21
    assert index_in(universe, 1001, "1002") == 0
    assert index_in(universe, 1003, "1101") == 8
    assert index_in(universe, 44007, "4002") == 20
    for place in range(universe.size):
        group = universe.group_at(place)
        assert index_in(universe, int(group.region_id), group.iteration.code) == place
    assert universe.group_at(0).region_id == "01001"


@pytest.mark.parametrize(("entity", "iteration"), [(1002, "1002"), (99999, "1002"), (1001, "1003")])
def test_a_group_outside_the_universe_has_no_place(entity, iteration, lists):
    level = PopulationGroupLevel(US.area_level("COUNTY"), REGIONAL)
    universe = universe_of(level, np.array([1001]), lists)
    with pytest.raises(KeyError):
        index_in(universe, entity, iteration)
    with pytest.raises(IndexError):
        universe.group_at(universe.size)
    with pytest.raises(IndexError):
        universe.group_at(-1)


def test_total_only_groups_are_at_nation_and_state_alone(lists):
    def iterations(geography: AreaLevel) -> tuple[int, int]:
        universe = universe_of(PopulationGroupLevel(geography, DETAILED), np.array([1]), lists)
        return universe.adaptive_groups, universe.total_only_groups

    assert iterations(US.area_level("USA")) == (19, 2)
    assert iterations(US.area_level("PLACE")) == (21, 0)
