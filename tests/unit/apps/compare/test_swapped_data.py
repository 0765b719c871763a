"""Swapping on files: new DATA that a run reads, with the same people in other places."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import values_of
from tests.commands import done, invalid
from tests.inside import (
    COUNTY,
    PERSON_HOUSEHOLD_FILE,
    STATE,
    TRACT,
    US,
    US_PASS,
    CensusFormat,
    CensusRequest,
    NoProgress,
    SizeRequest,
    Swapping,
    kinds_around,
    read_inputs,
    write_census,
)
from tests.worlds.world import World

HI = Swapping(0.5, (0.25, 0.5, 0.25), (0.3, 0.4, 0.3))
WHERE = ["TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"]
HOUSEHOLD = "HOUSEHOLD"


def write_people(folder, people=8_000, **more):
    folder.mkdir()
    size = SizeRequest(people, states=1, counties=3, tracts=9)
    write_census(folder, CensusRequest(size, iterations=40, **more).checked().require(), NoProgress())
    return World.of(folder)


def swapped(world, folder, swapping=HI, seed=1):
    """New data of a world."""
    return swapping.changed_data(world.data, folder, read_inputs(*world).require(), seed)


def records_of(data, table="person-records"):
    return pa.concat_tables(pq.read_table(path) for path in sorted((data / table).iterdir()))


def places_of(records):
    return ["".join(row) for row in zip(*(records[name].to_pylist() for name in WHERE), strict=True)]


@pytest.fixture(scope="module")
def census(tmp_path_factory):
    return write_people(tmp_path_factory.mktemp("census") / "made", households=True, shared_codes=0.9)


@pytest.fixture(scope="module")
def after(census, tmp_path_factory):
    return swapped(census, tmp_path_factory.mktemp("swapped"))


def homes_of(data):
    return pq.read_table(data / PERSON_HOUSEHOLD_FILE)[HOUSEHOLD].to_pylist()


def test_households_move_as_a_whole_and_nothing_else_changes(census, after):
    before, moved = records_of(census.data), records_of(after)
    others = [name for name in before.column_names if name not in WHERE]
    assert moved.column_names == before.column_names
    assert moved.select(others).to_pydict() == before.select(others).to_pydict()
    home = homes_of(after)
    old, new = places_of(before), places_of(moved)
    place_of = dict(zip(home, new, strict=True))
    assert all(
        place == (was if number is None else place_of[number])
        for number, was, place in zip(home, old, new, strict=True)
    )
    assert 0.4 < np.mean(np.array(old) != np.array(new)) < 0.5
    households = places_of(records_of(after, "household-records"))
    assert households == [place_of[number] for number in range(len(households))]
    assert sorted(households) == sorted(places_of(records_of(census.data, "household-records")))


@pytest.mark.parametrize("name", ["parameters", "household-parameters"])
def test_the_engine_reads_them(census, after, name):
    parameters = census.parameters.with_name(name)
    before, now = ([each.where for each in read_inputs(parameters, data).findings] for data in (census.data, after))
    assert before == now
    assert {path.name for path in after.iterdir()} == {path.name for path in census.data.iterdir()}
    assert (after / "SYNTHETIC").is_file()
    if name == "parameters":
        done("validate", parameters, after)


def test_swaps_are_a_function_of_the_seed(census, after, tmp_path):
    same, other = (places_of(records_of(swapped(census, tmp_path / str(seed), seed=seed))) for seed in (1, 2))
    assert places_of(records_of(after)) == same != other


def test_records_of_text_give_the_same_people_and_the_same_swaps(after, tmp_path):
    text = write_people(tmp_path / "text", households=True, shared_codes=0.9, form=CensusFormat.TEXT)
    moved, wanted = records_of(swapped(text, tmp_path)), records_of(after)
    assert places_of(moved) == places_of(wanted)
    assert moved["QRACE2"].to_pylist() == [code or "Null" for code in wanted["QRACE2"].to_pylist()]


def test_households_with_somebody_who_is_alone_with_their_codes_go_first(census, tmp_path):
    before = records_of(census.data)
    columns = [*WHERE[:3], *(f"QRACE{number}" for number in range(1, 9)), "QSPAN"]  # without sex and age
    traits = list(zip(*(before[name].to_pylist() for name in columns), strict=True))
    times = Counter(traits)
    unique = {home for home, one in zip(homes_of(census.data), traits, strict=True) if times[one] == 1} - {None}
    moved = swapped(census, tmp_path, Swapping(0.1, geography=(0.0, 1.0, 0.0), target="unique"))
    new, old = (np.array(places_of(records_of(data, "household-records"))) for data in (moved, census.data))
    changed = {*np.flatnonzero(new != old).tolist()}
    assert 30 < len(unique) < 0.3 * len(changed)
    assert len(unique - changed) < 0.1 * len(unique)


@pytest.mark.parametrize("more", [{}, {"form": CensusFormat.CEF}])
def test_it_is_refused_where_nobody_knows_who_lives_with_whom(tmp_path, more):
    world = write_people(tmp_path / "census", people=1_000, **more)
    if more:
        world = world._replace(data=world.data / "reader.ini")
    assert "who lives with whom: synthesize with --households" in invalid(swapped, world, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("column", "problem"), [(HOUSEHOLD, "has 3 rows, and there are 8,000"), ("OTHER", "a column HOUSEHOLD of integers")]
)
def test_a_file_of_other_people_is_refused(census, tmp_path, column, problem):
    data = tmp_path / "data"
    data.mkdir()
    for path in census.data.iterdir():
        if path.name != PERSON_HOUSEHOLD_FILE:
            (data / path.name).symlink_to(path)
    pq.write_table(pa.table({column: [0, 0, 1]}), data / PERSON_HOUSEHOLD_FILE)
    assert problem in invalid(swapped, census._replace(data=data), tmp_path / "out")


@pytest.fixture
def areas(census):
    return read_inputs(*census).require().files.geography_of_pass[US_PASS]


def test_the_share_who_leave_an_area_under_attack(census, areas, after):
    assert kinds_around(areas, US.kinds) == [TRACT, COUNTY, STATE]
    tracts = areas.entities(TRACT)
    old, new = (np.array([int(place[:11]) for place in places_of(records_of(data))]) for data in (census.data, after))
    in_us = old < 72 * 10**9
    people = np.bincount(np.searchsorted(tracts, old[in_us]), minlength=len(tracts))
    of_state = HI.leaving_share(areas, US.kinds, lambda _: people, (STATE, 0))
    assert of_state == pytest.approx(np.mean(old[in_us] != new[in_us]), abs=0.04)
    of_counties = [HI.leaving_share(areas, US.kinds, lambda _: people, (COUNTY, number)) for number in range(3)]
    assert min(of_counties) < of_state < max(of_counties)


@pytest.mark.parametrize(
    ("geography", "kept"),
    values_of(
        """
        (1, 0, 0) | 3
        (0, 1, 0) | 2
        (0.3, 0.4, 0.3) | 1
        (0.5, 0, 0.5) | 1
        """
    ),
)
def test_areas_that_nobody_leaves_keep_their_numbers(census, areas, tmp_path, geography, kept):
    swapping = Swapping(0.5, (0.25, 0.5, 0.25), geography)
    found = swapping.kinds_nobody_leaves(areas, US.kinds)
    assert {kind for kind in found if not kind.is_whole} == {*(STATE, COUNTY, TRACT)[:kept]}
    assert any(kind.is_whole for kind in found)
    old, new = (places_of(records_of(data)) for data in (census.data, swapped(census, tmp_path, swapping)))
    for number, digits in enumerate((2, 5, 11)):
        assert any(one[:digits] != other[:digits] for one, other in zip(old, new, strict=True)) == (number >= kept)


def test_any_census_can_be_swapped_once_its_households_are_known(tmp_path):
    world = World(tmp_path / "own", tmp_path / "own-data")
    done("new", world.parameters)
    done("synthesize", world.parameters, "--people", "2000")
    assert "swap needs to know" in invalid(swapped, world, tmp_path / "out")
    record = read_inputs(*world).require().files.config.product.record

    def places(records):
        return list(zip(*(records[name].to_pylist() for name in record.area.columns), strict=True))

    (path,) = (path for path in world.data.iterdir() if path.name.startswith(record.table))
    old = places(pq.read_table(path))
    order = sorted(range(len(old)), key=old.__getitem__)
    home = np.empty(len(old), int)
    home[order] = np.cumsum([n % 2 == 0 or old[order[n]] != old[order[n - 1]] for n in range(len(order))]) - 1
    pq.write_table(pa.table({HOUSEHOLD: home}), world.data / PERSON_HOUSEHOLD_FILE)
    data = swapped(world, tmp_path / "out", Swapping(0.5, geography=(0.0, 0.0, 1.0)))
    new = places(records_of(data, record.table))
    assert sorted(new) == sorted(old)
    assert new != old
    assert not [each for each in read_inputs(world.parameters, data).findings if each.is_error]
