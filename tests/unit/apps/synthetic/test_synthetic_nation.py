"""The parts of a synthetic nation: how it is shared out, its geography, its codes, its people."""

from dataclasses import replace

import numpy as np
import pytest

from tests.cases import cases_of
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
    RandomBits,
    SizeRequest,
    StateCodes,
    StatePeople,
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


NATION = SizeRequest(NATION_PEOPLE)


def every(step):
    return [state_geography(share, 7) for share in state_shares(NATION)[::step]]


@pytest.fixture(scope="module", params=[7, pytest.param(1, marks=pytest.mark.slow)])
def states(request):
    """By day every seventh state."""
    return every(request.param)


def state_44(size=None, **changes):
    """Rhode Island."""
    share = next(share for share in state_shares(size or SizeRequest(1_000)) if share.state.code == "44")
    return replace(share, **changes)


def people_of(geography):
    """Of each block."""
    return np.diff(geography.last_person, prepend=0)


def people_of_tracts(geography):
    return np.bincount(geography.tract_of_block, weights=people_of(geography))


def entities(of):
    return np.unique(of[of != NO_ENTITY])


def numbers_of(shares):
    return tuple(sum(getattr(share, kind) for share in shares) for kind in KINDS)


def block_ids_of(state):
    """Each once, and in order."""
    tract = state.tract_of_block
    county = (state.state * 1000 + state.county_number_of_tract)[tract]
    blocks = (county * 10**6 + state.tract_number[tract]) * 10**4 + state.block_number
    assert (np.diff(blocks) > 0).all()
    return blocks


def test_the_nation_is_that_of_2020():
    *us, pr = state_shares(NATION)
    assert NATION_PEOPLE == 334_735_155
    assert {share.state.code for share in us} == US_STATES
    assert {share.state.name: share.people for share in us}["California"] == 39_538_223
    assert pr.state.code == "72"
    assert pr.people == 3_285_874
    assert len(pr.aiannh_areas) == 0
    assert numbers_of(us) == US_OF_2020
    assert numbers_of([pr]) == PUERTO_RICO_OF_2020
    assert len({area for share in us for area in share.aiannh_areas}) == 704


@pytest.mark.slow
def test_the_geography_has_exactly_these_entities():
    numbers, states_of_area = {}, {}
    for state in every(1):
        blocks, places = block_ids_of(state), entities(state.place)
        assert blocks[0] // 10**13 == blocks[-1] // 10**13 == state.state
        found = (len(np.unique(blocks // 10**10)), len(np.unique(blocks // 10**4)), len(blocks), len(places))
        numbers.setdefault(state.state == 72, []).append(found)
        assert len(np.unique(state.place_number)) == len(places)
        for area in entities(state.aiannh).tolist():
            states_of_area.setdefault(area, set()).add(state.state)
    assert tuple(np.sum(numbers[False], axis=0)) == US_OF_2020
    assert numbers[True] == [PUERTO_RICO_OF_2020]
    assert len(states_of_area) == 704
    assert 20 <= sum(len(states) > 1 for states in states_of_area.values()) <= 60


def test_sizes_vary_as_they_do(states):
    of_block, of_tract, in_places = (
        np.concatenate([of(state) for state in states])
        for of in (people_of, people_of_tracts, lambda state: people_of(state)[state.place != NO_ENTITY])
    )
    codes = {f"{state.state:02}" for state in states}
    people = sum(share.people for share in state_shares(NATION) if share.state.code in codes)
    assert of_block.sum() == people
    assert 0.28 <= (of_block == 0).mean() <= 0.38
    assert of_tract.min() > 0
    assert 3_200 <= np.median(of_tract) <= 4_200
    assert 1_000 <= np.percentile(of_tract, 1) <= 2_000
    assert 8_000 <= np.percentile(of_tract, 99) <= 12_000
    assert 0.5 <= in_places.sum() / people <= 0.8


def test_a_tract_meets_a_few_places(states):
    atoms = sum(
        len(np.unique((state.tract_of_block * 10**6 + state.place + 1) * 10**5 + state.aiannh + 1)) for state in states
    )
    assert 1.6 <= atoms / sum(len(state.tract_number) for state in states) <= 2.4


def test_the_geography_is_the_same_for_any_number_of_people():
    few, many = (state_geography(state_44(SizeRequest(people)), 7) for people in (1_000, 50_000_000))
    assert (block_ids_of(few) == block_ids_of(many)).all()
    assert (few.place == many.place).all()
    assert few.last_person[-1] in {3, 4}
    assert many.last_person[-1] == pytest.approx(50_000_000 * 1_097_379 / NATION_PEOPLE, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "made"),
    cases_of("""
        states=3 | 3 379 22_978
        counties=60 | 51 60 1_611
        counties=7 | 7 7 188
        tracts=100 | 51 51 100
        tracts=1 | 1 1 1
        states=51 counties=51 tracts=51 | 51 51 51
        states=2 counties=2 tracts=30_000 | 2 2 30_000
        tracts=3_143 counties=3_143 | 51 3_143 3_143
        people=10_000_000 tracts=100_000 | 51 3_143 100_000
    """),
)
def test_sizes_that_are_asked_for_are_made(asked, made):
    """States, counties and tracts."""
    sizes = dict(size.split("=") for size in asked.split())
    request = SizeRequest(**{"people": 10_000} | {name: int(size) for name, size in sizes.items()})
    assert request.findings() == ()
    shares = state_shares(request)
    assert sum(share.people for share in shares) == request.people
    assert shares[-1].state.code == "72"
    assert [len(shares) - 1, *numbers_of(shares[:-1])[:2]] == [*map(int, made.split())]
    for share in shares:
        geography = state_geography(share, 1)
        blocks = block_ids_of(geography)
        assert len(blocks) == share.blocks
        assert len(np.unique(blocks // 10**4)) == share.tracts
        assert len(np.unique(blocks // 10**10)) == share.counties
        assert len(entities(geography.place)) == share.places
        assert {*entities(geography.aiannh)} == {*share.aiannh_areas}


@pytest.mark.parametrize("people", [pytest.param(NATION_PEOPLE, marks=pytest.mark.slow), MOST_PEOPLE])
def test_the_most_people_in_one_state_are_shared_out_too(people):
    share = state_shares(SizeRequest(people, states=1, counties=1, tracts=20_000))[0]
    geography = state_geography(share, 1)
    assert geography.last_person[-1] == share.people > 0.98 * people
    assert (people_of(geography) >= 0).all()
    of_tract = people_of_tracts(geography)
    assert 0.05 < of_tract.min() / of_tract.mean() < of_tract.max() / of_tract.mean() < 6


def test_puerto_rico_has_its_share():
    for people in 102, 1_000, 1_000_000, MOST_PEOPLE:
        assert state_shares(SizeRequest(people, states=1))[-1].people == round(people * 3_285_874 / 334_735_155) >= 1


def test_what_is_refused_is_told_at_once():
    findings = SizeRequest(0, states=52, counties=3, tracts=2).findings()
    assert [finding.where for finding in findings] == ["--people", "--states", "--counties", "--tracts", "--tracts"]
    assert SizeRequest(1_000, states=1, counties=999).findings() == ()  # three digits
    (finding,) = SizeRequest(1_000, states=1, counties=1_000).findings()
    assert str(finding) == "--counties: 1,000 are too many for this number of states. A state can have 999."


def test_more_areas_than_the_nation_has_still_have_codes_of_four_digits():
    areas = {area for share in state_shares(SizeRequest(1_000, tracts=200_000)) for area in share.aiannh_areas}
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
    levels = {(iteration.kind, iteration.level) for iteration in tabulated}
    assert levels >= {(kind, level) for kind in US.group_kinds for level in (DETAILED, REGIONAL)}
    assert len({iteration.code for iteration in lists.iterations}) == len(lists.iterations)
    assert all(1000 <= int(code) <= 9999 for code in lists.code_names)
    assert 0.05 <= sum(iteration.is_total_only for iteration in tabulated) / iterations <= 0.3
    assert all(lists.codes_of_iteration[iteration.code] for iteration in tabulated)


def test_own_lists_are_heavy_on_detailed_groups_as_those_of_2020_are():
    lists = own_public_lists(2_996)
    assert 40 <= len(lists.tabulated_iterations(REGIONAL, US.kind("county"))) <= 70
    assert 2_000 <= len(lists.tabulated_iterations(DETAILED, US.kind("county"))) <= 2_400
    assert 1_500 <= len(lists.code_names) <= 2_000


def test_codes_have_a_heavy_tail():
    mix = code_mix_of(own_public_lists(2_996), 1)
    for major in range(len(MAJORS) - 1):
        weights = np.sort(mix.race_weight[mix.race_major == major])[::-1]
        assert 0.35 <= weights[0] / weights.sum() <= 0.45  # the checkbox
        assert weights[1] > 10 * np.median(weights)
    assert mix.codes[mix.not_hispanic] == "9950"
    assert mix.not_hispanic not in mix.hispanic


@pytest.mark.needs_2020_files
def test_the_lists_of_2020_are_understood(spec_2020):
    mix = code_mix_of(read_public_lists(spec_2020).require(), 1)
    assert mix.codes[mix.not_hispanic] == "9950"
    assert len(mix.hispanic) == 162
    assert np.bincount(mix.race_major).tolist() == [152, 78, 1195, 74, 58, 197]


def test_lists_without_major_groups_or_ethnicities_will_do():
    own = own_public_lists(FEWEST_ITERATIONS)
    races = tuple(one for one in own.iterations if one.kind != ETHNICITY_KIND and one.listed is not None)
    names = {code: name for code, name in own.code_names.items() if code < "9000"}
    mix = code_mix_of(type(own)(names, races, own.codes_of_iteration), 1)
    assert set(mix.race_major.tolist()) == {len(MAJORS) - 1}
    assert len(mix.hispanic) == 1


@pytest.mark.parametrize("which", US.passes)
def test_ages_and_sexes_are_plausible(which):
    table = demographics(which, 1)
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
    areas = Stretch(2415, "Reservation", 20, 40), Stretch(10, "Other", 40, 41)
    counties = (
        GivenCounty(3, "Kent County", 2, (Stretch(74300, "Warwick city", 0, 50),), ()),
        GivenCounty(7, "Providence County", 3, (), areas),
    )
    share = state_44(counties=2, tracts=5, blocks=200, places=1, aiannh_areas=(10, 2415), given_counties=counties)
    geography = state_geography(share, 1)
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
    names = {name for _, _, name in (*names_in(geography, seed=1), *names_of_areas([share], 1))}
    assert names >= {"Warwick city, Rhode Island", "Kent County, Rhode Island", "Reservation", "Other"}
    assert "Census Tract 3, Providence County, Rhode Island" in names


def test_given_weights_and_homes_are_followed():
    mix = code_mix_of(own_public_lists(600), 3)
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
    palettes = palettes_of(state_geography(share, seed=3), given, 3)
    of_state = palettes.race[:STATE_PALETTE]
    assert set(of_state.tolist()) == {0, 5}
    assert abs((of_state == 0).mean() - 0.75) < 0.01
    assert set(palettes.race.tolist()) == {0, 5, home}
    pairs = set(zip(palettes.race.tolist(), palettes.ethnicity.tolist(), strict=True))
    assert pairs == {(0, mix.not_hispanic), (5, int(mix.hispanic[1])), (home, mix.not_hispanic)}


# People


@pytest.fixture(scope="module")
def mix():
    return code_mix_of(own_public_lists(2_996), 3)


@pytest.fixture(scope="module")
def rhode_island(mix):
    """At full size: a million people in 280 tracts."""
    geography = state_geography(state_44(NATION), 3)
    return StatePeople(geography, palettes_of(geography, mix, 3), demographics(US_PASS, 3), 26, is_shuffled=False)


@pytest.fixture(scope="module")
def chunks(rhode_island):
    return [rhode_island.chunk(number, seed=3) for number in range(rhode_island.chunks)]


def blocks_of(chunks):
    """Of each person."""
    return np.concatenate([np.repeat(chunk.blocks, chunk.people_of_block) for chunk in chunks])


def test_chunks_are_the_people_of_their_blocks_in_order(rhode_island, chunks):
    assert [len(chunk.race) for chunk in chunks] == [CHUNK_PEOPLE] * 4 + [97_379]
    blocks, expected = blocks_of(chunks), people_of(rhode_island.geography)
    assert (np.diff(blocks) >= 0).all()
    assert (np.bincount(blocks, minlength=len(expected)) == expected).all()


def test_shuffled_people_are_as_many_in_each_block(rhode_island, chunks):
    people = replace(rhode_island, is_shuffled=True)
    scattered = blocks_of([people.chunk(number, seed=3) for number in range(people.chunks)])
    assert (np.sort(scattered) == blocks_of(chunks)).all()
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
    tract = rhode_island.geography.tract_of_block[blocks_of(chunks)]
    race = np.concatenate([chunk.race for chunk in chunks])
    tracts, codes = rhode_island.geography.share.tracts, len(set(race.tolist()))
    assert codes > 300
    assert 0.01 <= len(np.unique(tract * 10**4 + race)) / (tracts * codes) <= 0.25
    # a code of middling size is gathered: half of its people in a few tracts
    of_tract = np.sort(np.bincount(tract[race == np.argsort(-np.bincount(race))[60]], minlength=tracts))[::-1]
    assert of_tract[: tracts // 10].sum() > 0.5 * of_tract.sum()


def test_cenrace_numbers_the_major_races(mix, chunks):
    chunk = chunks[0]
    cenrace, several = cenrace_of_chunk(chunk, mix), chunk.several
    assert 1 <= cenrace.min() <= cenrace.max() <= 63
    alone = np.delete(np.arange(len(cenrace)), several.person)
    assert (cenrace[alone] == mix.race_major[chunk.race[alone]] + 1).all()
    for person, races in zip(several.person[:500], several.races[:500], strict=True):
        majors = sorted(set(mix.race_major[races[races >= 0]].tolist()))
        assert majors != [0, 1] or cenrace[person] == 7
        assert len(majors) > 1 or cenrace[person] == majors[0] + 1
