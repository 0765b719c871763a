from collections import defaultdict
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.code_maps import iteration_map
from tests.inside import sensitivity

CODES = [str(1000 + n) for n in range(6)]


def maps(prefix):
    """Codes to at most one of four iterations, or to none."""
    return st.dictionaries(st.sampled_from(CODES), st.sampled_from([f"{prefix}{n}" for n in range(4)]))


def members(iteration_of_code):
    found = defaultdict(set)
    for code, iteration in iteration_of_code.items():
        found[iteration].add(code)
    return found


def iterations_by_definition(alone, in_combination, ethnicity, races, ethnicity_code):
    """The paper's words: alone if all codes are contained in the group; in combination if some code is."""
    return (
        {group for group, codes in members(alone).items() if races <= codes}
        | {group for group, codes in members(in_combination).items() if races & codes}
        | {group for group, codes in members(ethnicity).items() if ethnicity_code in codes}
    )


def people(max_race_codes):
    for count in range(1, max_race_codes + 1):
        for races in combinations(CODES, count):
            for ethnicity_code in [*CODES, "9950"]:
                yield list(races), ethnicity_code


@settings(max_examples=50, deadline=None)
@given(alone=maps("A"), in_combination=maps("C"), ethnicity=maps("E"), max_race_codes=st.integers(1, 4))
def test_stability_is_the_most_that_any_person_reaches(alone, in_combination, ethnicity, max_race_codes):
    maps = iteration_map(alone, in_combination, ethnicity, max_race_codes)
    most = 0
    for races, ethnicity_code in people(max_race_codes):
        expected = iterations_by_definition(alone, in_combination, ethnicity, set(races), ethnicity_code)
        assert maps.iterations_of(races, ethnicity_code) == expected
        most = max(most, len(expected))
    assert sensitivity(maps.classifications).l1 == most


@settings(max_examples=50, deadline=None)
@given(groups=maps("G"), max_race_codes=st.integers(1, 4))
def test_where_alone_and_in_combination_are_the_same_sets_stability_is_the_papers(groups, max_race_codes):
    """max_race_codes + 1, but 3 for a single code, as long as there are enough groups."""
    alone = {code: f"{group} alone" for code, group in groups.items()}
    maps = iteration_map(alone, groups, dict.fromkeys(CODES, "E"), max_race_codes)
    distinct = len(set(groups.values()))
    expected = 1 + (max(2, min(max_race_codes, distinct)) if distinct else 0)
    assert sensitivity(maps.classifications).l1 == expected
