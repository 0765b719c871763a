"""Swapping on files: new DATA that a run reads, with the same people in other places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import cli
from tests.inside import (
    COUNTY,
    PERSON_HOUSEHOLD_FILE,
    STATE,
    TRACT,
    US,
    US_PASS,
    CensusFormat,
    CensusRequest,
    InvalidInput,
    NoProgress,
    RunInputs,
    SizeRequest,
    Swapping,
    kinds_around,
    kinds_nobody_leaves,
    leaving_share,
    read_inputs,
    swapped_data,
    write_census,
)

HI = Swapping(0.5, (0.25, 0.5, 0.25), (0.3, 0.4, 0.3))
WHERE = ["TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"]
HOUSEHOLD = "HOUSEHOLD"


def write_people(folder: Path, **more: Any) -> Path:
    folder.mkdir()
    size = SizeRequest(8_000, states=1, counties=3, tracts=9)
    write_census(folder, CensusRequest(size, iterations=40, **more).checked().require(), NoProgress())
    return folder


def inputs_of(folder: Path, parameters: str = "parameters") -> RunInputs:
    return read_inputs(folder / parameters, folder / "data").require()


def records_of(data: Path, table: str = "person-records") -> pa.Table:
    return pa.concat_tables(pq.read_table(path) for path in sorted((data / table).iterdir()))


def places_of(records: pa.Table) -> list[str]:
    return ["".join(row) for row in zip(*(records[name].to_pylist() for name in WHERE), strict=True)]


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_people(tmp_path_factory.mktemp("census") / "made", households=True, shared_codes=0.9)


@pytest.fixture(scope="module")
def after(census: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return swapped_data(census / "data", tmp_path_factory.mktemp("swapped"), HI, inputs_of(census), 1)


def test_households_move_as_a_whole_and_nothing_else_changes(census, after):
    before, moved = records_of(census / "data"), records_of(after)
    others = [name for name in before.column_names if name not in WHERE]
    assert moved.column_names == before.column_names
    assert moved.select(others).to_pydict() == before.select(others).to_pydict()
    home = pq.read_table(after / PERSON_HOUSEHOLD_FILE)[HOUSEHOLD].to_pylist()
    old, new = places_of(before), places_of(moved)
    place_of = {number: place for number, place in zip(home, new, strict=True) if number is not None}
    assert all(place_of[n] == place for n, place in zip(home, new, strict=True) if n is not None)
    assert all(a == b for n, a, b in zip(home, old, new, strict=True) if n is None)
    share = np.mean([a != b for a, b in zip(old, new, strict=True)])
    assert 0.4 < share < 0.5
    households = places_of(records_of(after, "household-records"))
    assert households == [place_of[number] for number in range(len(households))]
    assert sorted(households) == sorted(places_of(records_of(census / "data", "household-records")))


@pytest.mark.parametrize("parameters", ["parameters", "household-parameters"])
def test_the_engine_reads_them(census, after, parameters):
    of_data = [read_inputs(census / parameters, data).findings for data in (census / "data", after)]
    assert [each.where for each in of_data[0]] == [each.where for each in of_data[1]]
    assert {path.name for path in after.iterdir()} == {path.name for path in (census / "data").iterdir()}
    assert (after / "SYNTHETIC").is_file()
    if parameters == "parameters":
        result = cli("validate", census / parameters, after)
        assert result.exit_code == 0, result.stderr


def test_swaps_are_a_function_of_the_seed(census, after, tmp_path):
    same, other = (
        places_of(records_of(swapped_data(census / "data", tmp_path / str(seed), HI, inputs_of(census), seed)))
        for seed in (1, 2)
    )
    assert places_of(records_of(after)) == same != other


def test_records_of_text_give_the_same_people_and_the_same_swaps(after, tmp_path):
    text = write_people(tmp_path / "text", households=True, shared_codes=0.9, form=CensusFormat.TEXT)
    moved = records_of(swapped_data(text / "data", tmp_path, HI, inputs_of(text), 1))
    wanted = records_of(after)
    assert places_of(moved) == places_of(wanted)
    assert moved["QRACE2"].to_pylist() == [code or "Null" for code in wanted["QRACE2"].to_pylist()]


def test_households_with_somebody_who_is_alone_with_their_codes_go_first(census, tmp_path):
    before = records_of(census / "data")
    codes = [f"QRACE{number}" for number in range(1, 9)]
    columns = [*WHERE[:3], *codes, "QSPAN"]  # without sex and age
    traits = list(zip(*(before[name].to_pylist() for name in columns), strict=True))
    times: dict[tuple, int] = {}
    for one in traits:
        times[one] = times.get(one, 0) + 1
    home = pq.read_table(census / "data" / PERSON_HOUSEHOLD_FILE)[HOUSEHOLD].to_pylist()
    unique = {n for n, one in zip(home, traits, strict=True) if n is not None and times[one] == 1}
    targeted = Swapping(0.1, geography=(0.0, 1.0, 0.0), target="unique")
    moved = swapped_data(census / "data", tmp_path, targeted, inputs_of(census), 1)
    pairs = zip(
        places_of(records_of(moved, "household-records")),
        places_of(records_of(census / "data", "household-records")),
        strict=True,
    )
    swapped = {number for number, (new, old) in enumerate(pairs) if new != old}
    assert 30 < len(unique) < 0.3 * len(swapped)
    assert len(unique - swapped) < 0.1 * len(unique)


@pytest.mark.parametrize("more", [{}, {"form": CensusFormat.CEF}])
def test_it_is_refused_where_nobody_knows_who_lives_with_whom(tmp_path, more):
    folder = write_people(tmp_path / "census", **more)
    data = folder / "data" / "reader.ini" if more else folder / "data"
    inputs = read_inputs(folder / "parameters", data).require()
    with pytest.raises(InvalidInput, match="swap needs to know who lives with whom: synthesize with --households"):
        swapped_data(data, tmp_path / "out", HI, inputs, 1)
    assert not (tmp_path / "out").exists()


def test_a_file_of_other_people_is_refused(census, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for path in (census / "data").iterdir():
        (data / path.name).symlink_to(path)
    (data / PERSON_HOUSEHOLD_FILE).unlink()
    pq.write_table(pa.table({HOUSEHOLD: pa.array([0, 0, 1])}), data / PERSON_HOUSEHOLD_FILE)
    with pytest.raises(InvalidInput, match="has 3 rows, and there are 8,000 records"):
        swapped_data(data, tmp_path / "out", HI, inputs_of(census), 1)
    pq.write_table(pa.table({"OTHER": [0]}), data / PERSON_HOUSEHOLD_FILE)
    with pytest.raises(InvalidInput, match="a column HOUSEHOLD of integers"):
        swapped_data(data, tmp_path / "out", HI, inputs_of(census), 1)


def test_the_share_who_leave_an_area_under_attack(census, after):
    areas = inputs_of(census).files.geography_of_pass[US_PASS]
    assert kinds_around(areas, US.kinds) == [TRACT, COUNTY, STATE]
    tracts = areas.entities(TRACT)
    old, new = (
        np.array([int(place[:11]) for place in places_of(records_of(data))]) for data in (census / "data", after)
    )
    in_us = old < 72 * 10**9
    people = np.bincount(np.searchsorted(tracts, old[in_us]), minlength=len(tracts))
    of_state = leaving_share(HI, areas, US.kinds, lambda _: people, (STATE, 0))
    assert of_state == pytest.approx(np.mean(old[in_us] != new[in_us]), abs=0.04)
    of_counties = [leaving_share(HI, areas, US.kinds, lambda _: people, (COUNTY, number)) for number in range(3)]
    assert min(of_counties) < of_state < max(of_counties)


@pytest.mark.parametrize(
    ("geography", "kept"),
    [
        ((1, 0, 0), {TRACT, COUNTY, STATE}),
        ((0, 1, 0), {COUNTY, STATE}),
        ((0.3, 0.4, 0.3), {STATE}),
        ((0.5, 0, 0.5), {STATE}),
    ],
)
def test_areas_that_nobody_leaves_keep_their_numbers(census, tmp_path, geography, kept):
    areas = inputs_of(census).files.geography_of_pass[US_PASS]
    swapping = Swapping(0.5, (0.25, 0.5, 0.25), geography)
    found = kinds_nobody_leaves(swapping, areas, US.kinds)
    assert {kind for kind in found if not kind.is_whole} == kept
    assert any(kind.is_whole for kind in found)
    before, after = census / "data", swapped_data(census / "data", tmp_path, swapping, inputs_of(census), 1)
    for kind, digits in ((TRACT, 11), (COUNTY, 5), (STATE, 2)):
        moved = [
            one[:digits] != other[:digits]
            for one, other in zip(places_of(records_of(before)), places_of(records_of(after)), strict=True)
        ]
        assert any(moved) == (kind not in kept)


def test_any_census_can_be_swapped_once_its_households_are_known(tmp_path):
    folder, data = tmp_path / "own", tmp_path / "own-data"
    assert cli("new", folder).exit_code == 0
    assert cli("synthesize", folder, "--people", "2000").exit_code == 0
    inputs = read_inputs(folder, data).require()
    with pytest.raises(InvalidInput, match="swap needs to know"):
        swapped_data(data, tmp_path / "out", HI, inputs, 1)
    record = inputs.files.config.product.record
    (path,) = (path for path in data.iterdir() if path.name.startswith(record.table))
    before = pq.read_table(path)
    place = list(zip(*(before[name].to_pylist() for name in record.area.columns), strict=True))
    order = sorted(range(len(place)), key=place.__getitem__)
    home = np.empty(len(place), dtype=np.int64)
    home[order] = (
        np.cumsum([n == 0 or n % 2 == 0 or place[order[n]] != place[order[n - 1]] for n in range(len(order))]) - 1
    )
    pq.write_table(pa.table({HOUSEHOLD: home}), data / PERSON_HOUSEHOLD_FILE)
    swapped = swapped_data(data, tmp_path / "out", Swapping(0.5, geography=(0.0, 0.0, 1.0)), inputs, 1)
    moved = records_of(swapped, record.table)
    new = list(zip(*(moved[name].to_pylist() for name in record.area.columns), strict=True))
    assert sorted(new) == sorted(place)
    assert new != place
    assert not [each for each in read_inputs(folder, swapped).findings if each.is_error]
