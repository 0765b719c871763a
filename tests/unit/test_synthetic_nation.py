"""The parts of a synthetic nation: how it is shared out, its geography, its codes, its people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.inside import (
    CHUNK_PEOPLE,
    DETAILED,
    ETHNICITY_KIND,
    FEWEST_ITERATIONS,
    MAJORS,
    MOST_ITERATIONS,
    MOST_PEOPLE,
    NATION_PEOPLE,
    NO_ENTITY,
    PEOPLE_OF_THE_TABLE,
    REGIONAL,
    STATE_PALETTE,
    US,
    US_PASS,
    US_STATES,
    GivenCounty,
    PeopleChunk,
    RandomBits,
    SizeRequest,
    StateCodes,
    StateGeography,
    StatePeople,
    StateShare,
    Stretch,
    apportioned,
    cenrace_of_chunk,
    code_mix_of,
    demographics,
    names_in,
    names_of_areas,
    own_public_lists,
    palettes_of,
    read_public_lists,
    state_geography,
    state_shares,
)

KINDS = ("counties", "tracts", "blocks", "places")
US_OF_2020 = (3_143, 84_414, 8_132_968, 31_617)
PUERTO_RICO_OF_2020 = (78, 981, 41_987, 292)


@pytest.fixture(scope="module")
def nation() -> list[StateGeography]:
    return [state_geography(share, seed=7) for share in state_shares(SizeRequest(NATION_PEOPLE))]


def numbers_of(shares: Sequence[StateShare]) -> tuple[int, ...]:
    return tuple(sum(getattr(share, kind) for share in shares) for kind in KINDS)


def block_ids_of(state: StateGeography) -> np.ndarray:
    tract = state.tract_of_block
    county = (state.state * 1000 + state.county_number_of_tract)[tract]
    return (county * 10**6 + state.tract_number[tract]) * 10**4 + state.block_number


def test_the_nation_is_that_of_2020():
    shares = state_shares(SizeRequest(NATION_PEOPLE))
    assert NATION_PEOPLE == 334_735_155
    assert {share.state.code for share in shares[:-1]} == US_STATES
    assert {share.state.name: share.people for share in shares}["California"] == 39_538_223
    assert (shares[-1].state.code, shares[-1].people) == ("72", 3_285_874)
    assert numbers_of(shares[:-1]) == US_OF_2020
    assert numbers_of(shares[-1:]) == PUERTO_RICO_OF_2020
    assert len({area for share in shares for area in share.aiannh_areas}) == 704
    assert not shares[-1].aiannh_areas


@pytest.mark.slow
def test_the_geography_has_exactly_these_entities(nation):
    of_us, of_puerto_rico = [0, 0, 0, 0], [0, 0, 0, 0]
    states_of_area: dict[int, set[int]] = {}
    for state in nation:
        blocks = block_ids_of(state)
        assert (np.diff(blocks) > 0).all()  # each once, and in order
        assert blocks[0] // 10**13 == blocks[-1] // 10**13 == state.state
        places = np.unique(state.place[state.place != NO_ENTITY])
        numbers = (len(np.unique(blocks // 10**10)), len(np.unique(blocks // 10**4)), len(blocks), len(places))
        total = of_puerto_rico if state.state == 72 else of_us
        total[:] = [before + number for before, number in zip(total, numbers, strict=True)]
        assert len(np.unique(state.place_number)) == len(places)
        for area in np.unique(state.aiannh[state.aiannh != NO_ENTITY]).tolist():
            states_of_area.setdefault(area, set()).add(state.state)
    assert tuple(of_us) == US_OF_2020
    assert tuple(of_puerto_rico) == PUERTO_RICO_OF_2020
    assert len(states_of_area) == 704
    assert 20 <= sum(len(states) > 1 for states in states_of_area.values()) <= 60


def test_sizes_vary_as_they_do(nation):
    of_block = np.concatenate([np.diff(state.last_person, prepend=0) for state in nation])
    assert of_block.sum() == NATION_PEOPLE
    assert 0.28 <= (of_block == 0).mean() <= 0.38
    of_tract = np.concatenate(
        [np.bincount(state.tract_of_block, weights=np.diff(state.last_person, prepend=0)) for state in nation]
    )
    assert of_tract.min() > 0
    assert 3_200 <= np.median(of_tract) <= 4_200
    assert 1_000 <= np.percentile(of_tract, 1) <= 2_000
    assert 8_000 <= np.percentile(of_tract, 99) <= 12_000
    inside_places = sum(int(np.diff(state.last_person, prepend=0)[state.place != NO_ENTITY].sum()) for state in nation)
    assert 0.5 <= inside_places / NATION_PEOPLE <= 0.8


def test_a_tract_meets_a_few_places(nation):
    atoms = 0
    for state in nation:
        key = (state.tract_of_block * 10**6 + state.place + 1) * 10**5 + state.aiannh + 1
        atoms += len(np.unique(key))
    assert 1.6 <= atoms / (84_414 + 981) <= 2.4


def test_the_geography_is_the_same_for_any_number_of_people():
    few, many = (
        state_geography(next(share for share in state_shares(SizeRequest(people)) if share.state.code == "44"), seed=7)
        for people in (1_000, 50_000_000)
    )
    assert (block_ids_of(few) == block_ids_of(many)).all()
    assert (few.place == many.place).all()
    assert few.last_person[-1] in {3, 4}
    assert many.last_person[-1] == pytest.approx(50_000_000 * 1_097_379 / NATION_PEOPLE, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_", "states", "counties", "tracts"),
    [
        (SizeRequest(10_000, states=3), 3, 379, 22_978),
        (SizeRequest(10_000, counties=60), 51, 60, 1_611),
        (SizeRequest(10_000, counties=7), 7, 7, 188),
        (SizeRequest(10_000, tracts=100), 51, 51, 100),
        (SizeRequest(10_000, tracts=1), 1, 1, 1),
        (SizeRequest(10_000, states=51, counties=51, tracts=51), 51, 51, 51),
        (SizeRequest(10_000, states=2, counties=2, tracts=30_000), 2, 2, 30_000),
        (SizeRequest(10_000, tracts=3_143, counties=3_143), 51, 3_143, 3_143),
        (SizeRequest(10_000_000, tracts=100_000), 51, 3_143, 100_000),
    ],
)
def test_sizes_that_are_asked_for_are_made(request_, states, counties, tracts):
    assert request_.findings() == ()
    shares = state_shares(request_)
    assert sum(share.people for share in shares) == request_.people
    assert shares[-1].state.code == "72"
    assert (len(shares) - 1, *numbers_of(shares[:-1])[:2]) == (states, counties, tracts)
    for share in shares:
        geography = state_geography(share, seed=1)
        blocks = block_ids_of(geography)
        assert (np.diff(blocks) > 0).all()
        assert len(blocks) == share.blocks
        assert len(np.unique(blocks // 10**4)) == share.tracts
        assert len(np.unique(blocks // 10**10)) == share.counties
        assert len(np.unique(geography.place[geography.place != NO_ENTITY])) == share.places
        assert set(np.unique(geography.aiannh)) - {NO_ENTITY} == set(share.aiannh_areas)


@pytest.mark.parametrize("people", [NATION_PEOPLE, MOST_PEOPLE])
def test_the_most_people_in_one_state_are_shared_out_too(people):
    share = state_shares(SizeRequest(people, states=1, counties=1, tracts=20_000))[0]
    geography = state_geography(share, seed=1)
    assert geography.last_person[-1] == share.people > 0.98 * people
    assert (np.diff(geography.last_person) >= 0).all()
    of_tract = np.bincount(geography.tract_of_block, weights=np.diff(geography.last_person, prepend=0))
    assert 0.05 < of_tract.min() / of_tract.mean() < of_tract.max() / of_tract.mean() < 6


def test_puerto_rico_has_its_share():
    for people in (102, 1_000, 1_000_000, MOST_PEOPLE):
        there = state_shares(SizeRequest(people, states=1))[-1].people
        assert there == round(people * 3_285_874 / 334_735_155) >= 1


def test_what_is_refused_is_told_at_once():
    findings = SizeRequest(0, states=52, counties=3, tracts=2).findings()
    assert [finding.where for finding in findings] == ["--people", "--states", "--counties", "--tracts", "--tracts"]


def test_a_state_has_no_more_counties_than_three_digits_can_number():
    assert SizeRequest(1_000, states=1, counties=999).findings() == ()
    (finding,) = SizeRequest(1_000, states=1, counties=1_000).findings()
    assert str(finding) == "--counties: 1,000 are too many for this number of states. A state can have 999."


def test_more_areas_than_the_nation_has_still_have_codes_of_four_digits():
    shares = state_shares(SizeRequest(1_000, tracts=200_000))
    areas = {area for share in shares for area in share.aiannh_areas}
    assert len(areas) == round(704 * 200_000 / 84_414)
    assert 1 <= min(areas) < max(areas) < 9_999


def test_parts_sum_to_the_whole_and_keep_to_the_least():
    assert apportioned(10, np.array([1, 1, 1])).tolist() == [3, 3, 4]
    assert apportioned(10, np.array([1, 0, 99]), least=2).tolist() == [2, 2, 6]
    assert apportioned(0, np.array([5, 5])).tolist() == [0, 0]


def test_bits_have_an_address():
    first, again, other = (RandomBits(1, *address).words(5, np.uint16).tolist() for address in ((2, 3), (2, 3), (2, 4)))
    assert first == again != other
    assert RandomBits(1, 2).below(3, 10_000).tolist().count(2) == pytest.approx(3_333, abs=300)


@pytest.mark.parametrize("iterations", [FEWEST_ITERATIONS, 100, 101, 2_996, MOST_ITERATIONS])
def test_own_lists_have_exactly_so_many_iterations(iterations):
    lists = own_public_lists(iterations)
    tabulated = [iteration for iteration in lists.iterations if iteration.listed is not None]
    assert len(tabulated) == iterations
    for kind in US.group_kinds:
        levels = Counter(iteration.level for iteration in tabulated if iteration.kind == kind)
        assert levels[DETAILED] >= 1
        assert levels[REGIONAL] >= 1
    assert len({iteration.code for iteration in lists.iterations}) == len(lists.iterations)
    assert all(1000 <= int(code) <= 9999 for code in lists.code_names)
    total_only = sum(iteration.is_total_only for iteration in tabulated)
    assert 0.05 <= total_only / len(tabulated) <= 0.3
    assert all(lists.codes_of_iteration[iteration.code] for iteration in tabulated)


def test_own_lists_are_heavy_on_detailed_groups_as_those_of_2020_are():
    lists = own_public_lists(2_996)
    assert 40 <= len(lists.tabulated_iterations(REGIONAL, US.kind("county"))) <= 70
    assert 2_000 <= len(lists.tabulated_iterations(DETAILED, US.kind("county"))) <= 2_400
    assert 1_500 <= len(lists.code_names) <= 2_000


def test_codes_have_a_heavy_tail():
    mix = code_mix_of(own_public_lists(2_996), seed=1)
    for major in range(len(MAJORS) - 1):
        weights = np.sort(mix.race_weight[mix.race_major == major])[::-1]
        assert 0.35 <= weights[0] / weights.sum() <= 0.45  # the checkbox
        assert weights[1] > 10 * np.median(weights)
    assert mix.codes[mix.not_hispanic] == "9950"
    assert mix.not_hispanic not in mix.hispanic


@pytest.mark.needs_2020_files
def test_the_lists_of_2020_are_understood(spec_2020):
    mix = code_mix_of(read_public_lists(spec_2020).require(), seed=1)
    assert mix.codes[mix.not_hispanic] == "9950"
    assert len(mix.hispanic) == 162
    assert np.bincount(mix.race_major).tolist() == [152, 78, 1195, 74, 58, 197]


def test_lists_without_major_groups_or_ethnicities_will_do():
    own = own_public_lists(FEWEST_ITERATIONS)
    races = tuple(
        one for one in own.iterations if one.kind != ETHNICITY_KIND and one.listed is not None
    )  # fmt: skip
    names = {code: name for code, name in own.code_names.items() if code < "9000"}
    mix = code_mix_of(type(own)(names, races, own.codes_of_iteration), seed=1)
    assert set(mix.race_major.tolist()) == {len(MAJORS) - 1}
    assert len(mix.hispanic) == 1


@pytest.mark.parametrize("which", US.passes)
def test_ages_and_sexes_are_plausible(which):
    table = demographics(which, seed=1)
    assert len(table.age) == PEOPLE_OF_THE_TABLE
    assert set(table.age.tolist()) == set(range(116))
    assert 0.15 <= (table.age < 18).mean() <= 0.25
    assert 0.14 <= (table.age >= 65).mean() <= 0.24
    assert 0.0001 <= (table.age >= 100).mean() <= 0.0005
    assert 0.49 <= table.is_female.mean() <= 0.53
    assert table.is_female[table.age >= 90].mean() > 0.6
    assert not table.is_householder[table.age < 18].any()
    assert 0.3 <= table.is_householder.mean() <= 0.45


def test_given_counties_places_and_areas_lie_where_they_are_given():
    rhode_island = next(share for share in state_shares(SizeRequest(1_000)) if share.state.code == "44")
    counties = (
        GivenCounty(3, "Kent County", 2, (Stretch(74300, "Warwick city", 0, 50),), ()),
        GivenCounty(
            7, "Providence County", 3, (), (Stretch(2415, "Reservation", 20, 40), Stretch(10, "Other", 40, 41))
        ),
    )
    share = replace(
        rhode_island, counties=2, tracts=5, blocks=200, places=1, aiannh_areas=(10, 2415), given_counties=counties
    )
    geography = state_geography(share, seed=1)
    county = geography.county_number_of_tract[geography.tract_of_block]
    assert geography.county_number_of_tract.tolist() == [3, 3, 7, 7, 7]
    assert geography.tract_number.tolist() == [100, 200, 100, 200, 300]
    kent, providence = np.flatnonzero(county == 3), np.flatnonzero(county == 7)
    inside = np.flatnonzero(geography.place == 0)
    assert geography.place_number.tolist() == [74300]
    assert inside[0] == kent[0]
    assert abs(inside[-1] - len(kent) // 2) <= 5
    reservation, other = (np.flatnonzero(geography.aiannh == code) for code in (2415, 10))
    assert abs(len(reservation) - len(providence) // 5) <= 2
    assert reservation[-1] + 1 == other[0]
    assert len(other) >= 1
    names = [name for _, _, name in (*names_in(geography, seed=1), *names_of_areas([share], seed=1))]
    assert {"Warwick city, Rhode Island", "Kent County, Rhode Island", "Reservation", "Other"} <= set(names)
    assert "Census Tract 3, Providence County, Rhode Island" in names


def test_given_weights_and_homes_are_followed():
    mix = code_mix_of(own_public_lists(600), seed=3)
    races, hispanic = np.zeros(mix.races, dtype=np.int64), np.zeros(len(mix.hispanic), dtype=np.int64)
    races[[0, 5]], hispanic[1] = (3, 1), 1
    hispanic_per_mille = np.where(np.arange(mix.races) == 5, 1000, 0)
    share = next(share for share in state_shares(SizeRequest(1_000, tracts=300)) if share.aiannh_areas)
    home = int(np.flatnonzero(mix.race_major == 2)[-1])
    given = replace(
        mix,
        given={share.state.code: StateCodes(races, hispanic_per_mille, hispanic)},
        given_homes=dict.fromkeys(share.aiannh_areas, home),
    )
    palettes = palettes_of(state_geography(share, seed=3), given, seed=3)
    of_state = palettes.race[:STATE_PALETTE]
    assert set(of_state.tolist()) == {0, 5}
    assert abs((of_state == 0).mean() - 0.75) < 0.01
    assert set(palettes.race.tolist()) == {0, 5, home}
    pairs = set(zip(palettes.race.tolist(), palettes.ethnicity.tolist(), strict=True))
    assert pairs == {(0, mix.not_hispanic), (5, int(mix.hispanic[1])), (home, mix.not_hispanic)}


# People

Chunks = list[PeopleChunk]


@pytest.fixture(scope="module")
def rhode_island() -> StatePeople:
    """At full size: a million people in 280 tracts."""
    share = next(share for share in state_shares(SizeRequest(NATION_PEOPLE)) if share.state.code == "44")
    geography = state_geography(share, seed=3)
    palettes = palettes_of(geography, code_mix_of(own_public_lists(2_996), seed=3), seed=3)
    return StatePeople(geography, palettes, demographics(US_PASS, 3), 26, is_shuffled=False)


@pytest.fixture(scope="module")
def chunks(rhode_island: StatePeople) -> Chunks:
    return [rhode_island.chunk(number, seed=3) for number in range(rhode_island.chunks)]


def test_chunks_are_the_people_of_their_blocks_in_order(rhode_island, chunks):
    assert [len(chunk.race) for chunk in chunks] == [CHUNK_PEOPLE] * 4 + [97_379]
    blocks = np.concatenate([np.repeat(chunk.blocks, chunk.people_of_block) for chunk in chunks])
    expected = np.diff(rhode_island.geography.last_person, prepend=0)
    assert (np.diff(blocks) >= 0).all()
    assert (np.bincount(blocks, minlength=len(expected)) == expected).all()


def test_shuffled_people_are_as_many_in_each_block(rhode_island, chunks):
    people = StatePeople(
        rhode_island.geography, rhode_island.palettes, rhode_island.demographics, 26, is_shuffled=True
    )  # fmt: skip
    shuffled = [people.chunk(number, seed=3) for number in range(people.chunks)]
    in_order, scattered = (
        np.concatenate([np.repeat(chunk.blocks, chunk.people_of_block) for chunk in made])
        for made in (chunks, shuffled)
    )
    assert (np.sort(scattered) == in_order).all()
    assert (np.diff(scattered) < 0).mean() > 0.3


def test_a_chunk_is_the_same_whenever_it_is_made(rhode_island, chunks):
    again = rhode_island.chunk(2, seed=3)
    assert (again.race == chunks[2].race).all()
    assert (again.several.races == chunks[2].several.races).all()
    assert (rhode_island.chunk(2, seed=4).race != chunks[2].race).any()


def test_about_a_tenth_report_several_codes_none_twice(chunks):
    people = sum(len(chunk.race) for chunk in chunks)
    races = np.concatenate([chunk.several.races for chunk in chunks])
    assert 0.09 <= len(races) / people <= 0.11
    counts = np.bincount((races >= 0).sum(axis=1), minlength=9)
    assert counts[:2].tolist() == [0, 0]
    assert (np.diff(counts[2:]) <= 0).all()
    assert counts[8] > 0
    ordered = np.sort(races, axis=1)
    assert not ((np.diff(ordered, axis=1) == 0) & (ordered[:, 1:] >= 0)).any()
    assert ((races >= 0) == (np.arange(8) < (races >= 0).sum(axis=1)[:, np.newaxis])).all()  # no gaps
    for chunk in chunks:
        assert (chunk.race[chunk.several.person] == chunk.several.races[:, 0]).all()


def test_most_codes_are_absent_from_most_tracts(rhode_island, chunks):
    tract = np.concatenate(
        [np.repeat(rhode_island.geography.tract_of_block[chunk.blocks], chunk.people_of_block) for chunk in chunks]
    )
    race = np.concatenate([chunk.race for chunk in chunks])
    tracts, codes = rhode_island.geography.share.tracts, len(set(race.tolist()))
    assert codes > 300
    present = len(np.unique(tract * 10**4 + race))
    assert 0.01 <= present / (tracts * codes) <= 0.25
    # a code of middling size is gathered: half of its people in a few tracts
    sizes = np.bincount(race)
    middling = np.argsort(-sizes)[60]
    of_tract = np.sort(np.bincount(tract[race == middling], minlength=tracts))[::-1]
    assert of_tract[: tracts // 10].sum() > 0.5 * of_tract.sum()


def test_cenrace_numbers_the_major_races(chunks):
    mix = code_mix_of(own_public_lists(2_996), seed=3)
    cenrace = cenrace_of_chunk(chunks[0], mix)
    assert 1 <= cenrace.min() <= cenrace.max() <= 63
    has_one = np.ones(len(cenrace), dtype=bool)
    has_one[chunks[0].several.person] = False
    assert (cenrace[has_one] == mix.race_major[chunks[0].race[has_one]] + 1).all()
    for person, races in zip(chunks[0].several.person[:500], chunks[0].several.races[:500], strict=True):
        majors = sorted(set(mix.race_major[races[races >= 0]].tolist()))
        if majors == [0, 1]:
            assert cenrace[person] == 7
        if len(majors) == 1:
            assert cenrace[person] == majors[0] + 1
