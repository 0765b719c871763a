import hashlib
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import ConvertOptions, ParseOptions
from pyarrow.dataset import CsvFileFormat, dataset

from tests.cases import cases_of
from tests.inside import (
    DETAILED,
    PERSONS,
    PR_PASS,
    RACE_ALONE,
    REGIONAL,
    US,
    US_PASS,
    FurtherCodes,
    PeopleChunk,
    Thresholds,
    cenrace_of_chunk,
    chosen_shapes,
    demo_plan,
    iteration_map_of,
    plan_of_files,
    read_geography,
    read_public_lists,
    write_demo_census,
)
from tests.releases import files_of
from tests.worlds.world import World

HEADER = (
    "QAGE|QSEX|HOUSEHOLDER|TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|CENRACE|"
    "QRACE1|QRACE2|QRACE3|QRACE4|QRACE5|QRACE6|QRACE7|QRACE8|QSPAN"
)
STATES = ("15", "35", "44", "49", "50", "72")
FILES = {
    "parameters/about.toml",
    "parameters/config.json",
    "parameters/race-and-ethnicity-codes.txt",
    "parameters/race-characteristic-iterations.txt",
    "parameters/ethnicity-characteristic-iterations.txt",
    "parameters/race-and-ethnicity-code-to-iteration.txt",
    "data/geography-names.txt",
    "data/SYNTHETIC",
    *(f"data/{table}/{state}.txt" for table in ("GRF-C", "person-records") for state in STATES),
}
PROVIDENCE, NAVAJO_NATION = "44007", "2430"


@dataclass(frozen=True)
class Written:
    """A census that was written, read back with nothing of the package's own."""

    folder: Path

    @property
    def world(self):
        return World.of(self.folder)

    def rows(self, file):
        lines = (self.folder / file).read_bytes().decode().split("\n")
        assert lines[-1] == ""
        return [line.split("|") for line in lines[1:-1]]

    @cached_property
    def people(self):
        read = ConvertOptions(column_types=dict.fromkeys(HEADER.split("|"), pa.string()))
        form = CsvFileFormat(ParseOptions(delimiter="|"), convert_options=read)
        columns = dataset(self.folder / "data" / "person-records", format=form).to_table().columns
        return [*zip(*(column.to_numpy().tolist() for column in columns), strict=True)]

    def parts(self, table):
        return [row for state in STATES for row in self.rows(f"data/{table}/{state}.txt")]

    @cached_property
    def lists(self):
        return read_public_lists(self.world.parameters).require()


def written(folder, people, **how):
    write_demo_census(folder, people, **how)
    return Written(folder)


def share(wanted, of):
    """How many rows are as wanted."""
    return sum(map(wanted, of)) / len(of)


@pytest.fixture(scope="module")
def demo(demo_census):
    """The census of the demo, at its full size."""
    return Written(demo_census)


def race_codes_of(person):
    return tuple(code for code in person[8:16] if code != "Null")


def test_a_plan_is_made_without_a_finding(demo):
    checked = plan_of_files(*demo.world)
    assert checked.findings == ()
    plan = checked.require()
    assert plan.config.passes == (US_PASS, PR_PASS)
    assert [str(level) for level in plan.levels_left_out] == ["(AIANNH, Regional)"]
    assert all(len(level.universe.entities) > 0 for level in plan.levels)


@pytest.mark.parametrize("people", [1_000, pytest.param(7_000, marks=pytest.mark.slow)])
def test_a_small_census_can_be_planned_too_and_has_people_in_every_state(tmp_path, people):
    census = written(tmp_path, people)
    assert plan_of_files(*census.world).findings == ()
    assert len(census.people) == people
    assert {person[3] for person in census.people} == set(STATES)
    every_entity_has_a_name_and_every_name_an_entity(census)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path):
    first, again, other = (
        files_of(written(tmp_path / name, 1_500, seed=seed).folder) for name, seed in (("a", 7), ("b", 7), ("c", 8))
    )
    assert set(first) == FILES
    assert first == again
    for table in "GRF-C", "person-records":
        assert first[f"data/{table}/44.txt"] != other[f"data/{table}/44.txt"]


def test_the_bytes_are_the_same_on_every_machine(tmp_path):
    """Renew the digest when the tables of the demo change; if it changes without that, a dependency's stream has."""
    made = files_of(written(tmp_path, 5_000, seed=2020).folder)
    digest = hashlib.sha256(b"".join(content for _, content in sorted(made.items()))).hexdigest()
    assert digest == "48ca8f865a9882af08fd2e571e4205ee9042ccca54e55f645ddfecba23e7fb2c"


def test_households_are_of_the_same_people(tmp_path):
    people, homes = (written(tmp_path / str(has), 1_500, has_households=has) for has in (False, True))
    of_homes, of_people = ([row[:2] + row[3:] for row in census.people] for census in (homes, people))
    assert of_homes == of_people, "but for householders"
    assert homes.parts("household-records")
    assert set(files_of(homes.folder)) - set(files_of(people.folder)) == {
        "data/person-household.parquet",
        *(f"data/household-records/{state}.txt" for state in STATES),
        *(f"household-{name}" for name in files_of(homes.folder) if name.startswith("parameters/")),
    }


def test_the_person_file_has_the_header_of_the_format_and_plain_lines(demo):
    content = (demo.folder / "data/person-records/44.txt").read_bytes()
    assert content.startswith(HEADER.encode() + b"\n")
    assert content.endswith(b"\n")
    assert not {*b'"\r '} & {*content}


@pytest.mark.slow
def test_every_person_is_inside_the_domains(demo):
    codes = {code for code, _ in demo.rows("parameters/race-and-ethnicity-codes.txt")}
    race_codes = {code for code in codes if "1000" <= code <= "8999"}
    assert len(demo.people) == 200_000
    columns = [*map(set, zip(*demo.people, strict=True))]
    assert len(columns) == 17
    assert columns[0] <= {str(age) for age in range(116)}
    assert columns[1:3] == [{"1", "2"}, {"True", "False"}]
    assert {person[3:7] for person in demo.people} <= {tuple(row[:4]) for row in demo.parts("GRF-C")}
    assert columns[7] <= {f"{number:02d}" for number in range(1, 64)}
    assert columns[16] <= codes
    for reported in {person[8:16] for person in demo.people}:
        filled = [code for code in reported if code != "Null"]
        assert filled
        assert reported == (*filled, *["Null"] * (8 - len(filled)))
        assert race_codes.issuperset(filled)
        assert len(set(filled)) == len(filled)


def test_people_are_many_and_varied_enough(demo):
    people = demo.people
    alike = Counter(person[8:16] for person in people)
    counts = Counter(8 - codes.count("Null") for codes in alike.elements())
    assert 0.09 <= 1 - counts[1] / len(people) <= 0.12
    assert set(counts) == {*range(1, 9)}
    races = (one.code for one in demo.lists.iterations if one.kind == RACE_ALONE)
    assert {codes[0] for codes in alike} == {code for one in races for code in demo.lists.codes_of_iteration[one]}
    ages = Counter(int(person[0]) for person in people)
    assert 10 <= sum(count for age, count in ages.items() if age >= 100) <= 400
    assert min(ages[age] for age in range(80)) > 500
    assert 0.49 <= share(lambda person: person[1] == "2", people) <= 0.52
    assert not any(person[2] == "True" and int(person[0]) < 18 for person in people)
    codes = Counter(person[8] for person in people)  # a long tail
    assert max(codes.values()) > 20_000
    assert sum(count < 200 for count in codes.values()) >= 8


def test_tracts_and_blocks_have_plausible_sizes(demo):
    people = Counter(person[3:6] for person in demo.people)
    blocks = Counter(tuple(row[:3]) for row in demo.parts("GRF-C"))
    assert set(people) == set(blocks)
    assert 700 <= min(people.values()) <= max(people.values()) <= 8_000
    assert blocks.total() == 30 * len(blocks)
    assert 5 <= min(blocks.values()) <= max(blocks.values()) <= 100


def test_some_blocks_are_in_no_place_and_most_in_no_aiannh_area(demo):
    rows = demo.parts("GRF-C")
    assert 0.3 <= share(lambda row: row[4] == "99999", rows) <= 0.6
    assert 0.8 <= share(lambda row: row[5] == "9999", rows) <= 0.99
    assert {row[0] for row in rows if row[5] == NAVAJO_NATION} == {"35", "49"}


def every_entity_has_a_name_and_every_name_an_entity(census):
    named = [(level, region) for level, region, _ in census.rows("data/geography-names.txt")]
    geography, entities = read_geography(census.world.data).require(), set()
    for level in US.area_levels:
        inside = geography.of_parts(map(int, STATES[:-1] if level.tabulation_pass == US_PASS else STATES[-1:]))
        entities |= {(level.label, level.kind.ids.text(one)) for one in inside.entities(level.kind).tolist()}
    assert len(named) == len(entities)
    assert {*named} == entities


def test_every_entity_has_a_name_and_every_name_an_entity(demo):
    every_entity_has_a_name_and_every_name_an_entity(demo)


def test_groups_gather(demo):
    block_area = {tuple(row[:4]): row[5] for row in demo.parts("GRF-C")}
    in_navajo_nation = [person for person in demo.people if block_area[person[3:7]] == NAVAJO_NATION]
    assert 0.5 < share(lambda person: person[8] == "5110", in_navajo_nation) < 0.65
    assert share(lambda person: person[3] == "15", [person for person in demo.people if "7010" in person[8:16]]) > 0.9
    hmong = Counter(person[3:6] for person in demo.people if "4430" in person[8:16])
    assert sum(count for _, count in hmong.most_common(3)) / hmong.total() > 0.5


@pytest.mark.parametrize(
    ("level", "key", "kind", "entity", "least"),
    [
        (DETAILED, "(COUNTY, 2)", "county", PROVIDENCE, 4),
        (DETAILED, "(STATE, 2)", "state", "44", 2),
        (REGIONAL, "(STATE, 1)", "state", "15", 2),
    ],
)
def test_in_one_area_each_table_goes_to_several_groups(demo, level, key, kind, entity, least):
    iterations = iteration_map_of(demo.lists, level, US.kind(kind), most_answers=8)
    inside = (person for person in demo.people if "".join(person[3:5]).startswith(entity))
    alike, sizes = Counter((race_codes_of(person), person[16]) for person in inside), Counter()
    for codes, people in alike.items():
        for iteration in iterations.iterations_of(*codes):
            sizes[iteration] += people
    thresholds = Thresholds(tuple(demo.world.config()["thresholds_p"][key]))
    tables = Counter(chosen_shapes(np.array([*sizes.values()]), thresholds).tolist())  # without noise
    assert min(tables[table] for table in range(len(PERSONS.shapes))) >= least


def test_a_total_only_group_falls_among_the_others_below_state(demo):
    names = {iteration.code: iteration.name for iteration in demo.lists.iterations}
    for kind, group in zip(US.grains, ("Livonian", "Other European"), strict=True):
        found = iteration_map_of(demo.lists, DETAILED, kind, most_answers=8).iterations_of(("1140",), "9950")
        assert {names[code] for code in found} == {f"{group} alone", f"{group} alone or in any combination"}


def test_the_lists_have_every_kind_of_iteration(demo):
    lists = demo.lists
    assert 60 <= len(lists.code_names) <= 90
    assert lists.code_names["9950"] == "Not Hispanic (checkbox)"
    for kind in US.group_kinds:
        own = [iteration for iteration in lists.iterations if iteration.kind == kind]
        levels = Counter(iteration.level for iteration in own)
        assert all(levels[level] >= 2 for level in US.group_levels)
        assert any(iteration.is_total_only for iteration in own)


def test_nothing_is_written_where_something_is(tmp_path):
    with pytest.raises(ValueError, match="999 people are too few"):
        write_demo_census(tmp_path, people=999)
    assert not list(tmp_path.iterdir())
    (tmp_path / "data").mkdir()
    with pytest.raises(FileExistsError, match="data already exists"):
        write_demo_census(tmp_path, people=1_000)
    assert list(tmp_path.rglob("*")) == [tmp_path / "data"]


@pytest.mark.parametrize(
    ("codes", "cenrace"),
    cases_of(
        """
        1000 | 1
        1060 1070 | 1
        8000 | 6
        1000 3000 | 7
        3000 1000 3110 | 7
        1000 8000 | 11
        7010 8000 | 21
        1000 3000 5000 | 22
        1000 3000 5000 4000 7000 8000 | 63
        """
    ),
)
def test_cenrace_numbers_the_major_races(codes, cenrace):
    mix = demo_plan(people=1_000, seed=1).mix
    races = [mix.codes.index(code) for code in codes.split()]
    races += [-1] * (8 - len(races))
    one, race = np.ones(1, dtype=np.int64), np.array(races[:1], dtype=np.uint16)
    several = FurtherCodes(np.zeros(1, dtype=np.int64), np.array([races], dtype=np.int32))
    chunk = PeopleChunk(one, one, one.astype(np.uint16), race, race, several)
    assert cenrace_of_chunk(chunk, mix).tolist() == [int(cenrace)]


def test_the_description_is_whole():
    """Everything in it lies in a county, every county in a state, and every code has a weight for each state."""
    description = tomllib.loads((files("safetab.apps.synthetic") / "demo.toml").read_text("utf-8"))
    counties = [row[0] for row in description["counties"]]
    assert counties == sorted(counties)
    assert {county[:2] for county in counties} == set(STATES) == set(description["states"])
    for row in (*description["places"], *description["aiannh_areas"]):
        assert row[0] in counties
        assert 0 <= row[3] < row[4] <= 100
    assert {int(area) for area in description["homes"]} == {row[1] for row in description["aiannh_areas"]}
    assert {len(row) for kind in ("races", "ethnicities") for row in description[kind]} == {5 + len(STATES)}


def test_people_are_where_the_description_puts_them(demo):
    """In a state a code has about its weight; a place covers its part of the county's blocks, from end to end."""
    people = Counter(person[3] for person in demo.people)
    japanese = Counter(person[3] for person in demo.people if person[8] == "4020")
    assert 0.11 <= japanese["15"] / people["15"] <= 0.19  # 1,500 of 9,500 who are not Hispanic
    assert japanese["50"] / people["50"] < 0.01
    places = [row[4] for row in demo.parts("GRF-C") if row[0] + row[1] == PROVIDENCE]
    assert [*dict.fromkeys(place for place in places if place != "99999")] == [
        *("14140", "19180", "22960", "54640", "59000", "80780")
    ]
    assert 0.25 <= places.count("59000") / len(places) <= 0.31  # 36 to 66 percent, less its holes
    hispanic = Counter(person[3] for person in demo.people if person[16] != "9950")
    assert 0.05 <= people["72"] / len(demo.people) <= 0.08
    assert hispanic["72"] / people["72"] > 0.95
    assert 0.35 <= hispanic["35"] / people["35"] <= 0.5
    assert hispanic["50"] / people["50"] < 0.05
