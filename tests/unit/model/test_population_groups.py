import numpy as np
import pytest

from tests.cases import cases_of, values_of
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
    Blocks,
    CharacteristicIteration,
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


@pytest.fixture
def lists():
    return read_public_lists(SMALL_EXAMPLE / "parameters").require()


@pytest.mark.parametrize(
    "case",
    cases_of("""
        Detailed | 1110 | 9950 | state | 8 | Basque alone, Basque* | one code is alone and in combination
        Regional | 1110 1120 | 9950 | state | 8 | European alone, European* | codes of one regional group are alone there
        Detailed | 1110 1120 | 9950 | state | 8 | Basque*, Irish* | but not in detailed groups
        Regional | 1110 4110 | 2110 | state | 8 | Caribbean Hispanic, East Asian*, European* | codes of several groups are alone in none
        Detailed | 1110 1110 4110 | 9950 | state | 2 | Basque alone, Basque* | codes are cut by position, one given twice counts once, and aloneness is judged on what is left
        Regional | 1110 1000 | 9950 | state | 8 | European* | a code that is in no group still ends aloneness
        Regional | 1000 | 9950 | state | 8 | | and is in none
        Detailed | 1140 | 9950 | state | 8 | Livonian alone, Livonian* | lists differ by grain: at state
        Detailed | 1140 1199 | 9950 | county | 8 | Other European (below state) alone, Other European (below state)* | and below
        Detailed | 2110 | 2110 | state | 8 | Dominican | an ethnicity code counts as ethnicity alone
    """),
)
def test_the_groups_of_a_person(case, lists):
    """Of each group in any combination a star instead of the words; 1000 is a checkbox, 9950 not Hispanic."""
    level, races, ethnicity, kind, most_answers, groups, _ = case
    codes = iteration_map_of(
        lists, {"Detailed": DETAILED, "Regional": REGIONAL}[level], US.kind(kind), most_answers=int(most_answers)
    ).iterations_of(races.split(), ethnicity)
    names = {iteration.code: iteration.name for iteration in lists.iterations}
    assert ", ".join(sorted(names[code].replace(" alone or in any combination", "*") for code in codes)) == groups


@pytest.mark.parametrize(
    ("alone", "in_combination", "ethnicity", "max_race_codes", "most"),
    # the sixth: one wide alone group around many in-combination groups, max_race_codes + 2;
    # the last two: aloneness where no in-combination group is
    values_of("""
        {} | {} | {} | 8 | 0
        {"1": "A"} | {} | {} | 8 | 1
        {} | {"1": "C"} | {"1": "E"} | 8 | 2
        {"1": "A"} | {"1": "C"} | {"9": "E"} | 1 | 3
        {"1": "A", "2": "B"} | {"1": "C", "2": "D"} | {"9": "E"} | 2 | 3
        {"1": "A", "2": "A", "3": "A", "4": "A"} | {"1": "C", "2": "D", "3": "F", "4": "G"} | {"9": "E"} | 3 | 5
        {"3": "A"} | {"1": "C", "2": "D"} | {} | 2 | 2
        {"3": "A"} | {} | {"9": "E"} | 2 | 2
    """),
)
def test_stability_of_hand_made_maps(alone, in_combination, ethnicity, max_race_codes, most):
    maps = iteration_map(alone, in_combination, ethnicity, max_race_codes).classifications
    assert sensitivity(maps) == Sensitivity(l2_squared=most, l1=most)


def test_a_race_iteration_reached_by_no_race_code_adds_no_stability():
    race = CharacteristicIteration("0001", "x", DETAILED, RACE_ALONE, COMMON)
    lists = PublicLists({"9950": "x"}, (race,), {"0001": frozenset({"9950"})})
    assert not sensitivity(iteration_map_of(lists, DETAILED, US.kind("state"), most_answers=8).classifications)


COUNTY_REGIONAL = PopulationGroupLevel(US.area_level("COUNTY"), REGIONAL)


def test_every_group_has_a_fixed_place(lists):
    blocks = np.array([10010000010001, 10030000010001, 440070001011000])
    nowhere = np.full(3, NO_ENTITY)
    universe = universe_of(COUNTY_REGIONAL, areas_of_blocks(Blocks(blocks, nowhere, nowhere)).entities(COUNTY), lists)
    assert universe.entities.tolist() == [1001, 1003, 44007]
    assert " ".join(iteration.code for iteration in universe.iterations) == "1002 1101 1201 2002 2101 2201 4002"
    places = [index_in(universe, *group) for group in ((1001, "1002"), (1003, "1101"), (44007, "4002"))]
    assert universe.size == 21
    assert places == [0, 8, 20]
    for place in range(universe.size):
        group = universe.group_at(place)
        assert index_in(universe, int(group.region_id), group.iteration.code) == place
    assert universe.group_at(0).region_id == "01001"


def test_a_group_outside_the_universe_has_no_place(lists):
    universe = universe_of(COUNTY_REGIONAL, np.array([1001]), lists)
    for entity, iteration in values_of("""
        1002 | "1002"
        99999 | "1002"
        1001 | "1003"
    """):
        with pytest.raises(KeyError):
            index_in(universe, entity, iteration)
    for place in universe.size, -1:
        with pytest.raises(IndexError):
            universe.group_at(place)


@pytest.mark.parametrize(
    ("geography", "adaptive", "total_only"),
    values_of("""
        "USA" | 19 | 2
        "PLACE" | 21 | 0
    """),
)
def test_total_only_groups_are_at_nation_and_state_alone(geography, adaptive, total_only, lists):
    universe = universe_of(PopulationGroupLevel(US.area_level(geography), DETAILED), np.array([1]), lists)
    assert universe.adaptive_groups == adaptive
    assert universe.total_only_groups == total_only
