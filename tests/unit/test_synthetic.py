from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

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
    PublicLists,
    Shape,
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
    def parameters(self) -> Path:
        return self.folder / "parameters"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def rows(self, file: str) -> list[list[str]]:
        lines = (self.folder / file).read_bytes().decode().split("\n")
        assert lines[-1] == ""
        return [line.split("|") for line in lines[1:-1]]

    @cached_property
    def people(self) -> list[list[str]]:
        return [[*map(sys.intern, row)] for row in self.parts("person-records")]  # few texts, many times

    def parts(self, table: str) -> list[list[str]]:
        return [row for state in STATES for row in self.rows(f"data/{table}/{state}.txt")]

    def lists(self) -> PublicLists:
        return read_public_lists(self.parameters).require()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The census of the demo, at its full size."""
    folder = tmp_path_factory.mktemp("demo")
    write_demo_census(folder)
    return Written(folder)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def race_codes_of(person: list[str]) -> tuple[str, ...]:
    return tuple(code for code in person[8:16] if code != "Null")


def race_codes_of_the_lists(lists: PublicLists) -> set[str]:
    races = (one.code for one in lists.iterations if one.kind == RACE_ALONE)
    return {code for iteration in races for code in lists.codes_of_iteration[iteration]}


def test_a_plan_is_made_without_a_finding(demo):
    checked = plan_of_files(*demo)
    assert checked.findings == ()
    plan = checked.require()
    assert plan.config.passes == (US_PASS, PR_PASS)
    assert [str(level) for level in plan.levels_left_out] == ["(AIANNH, Regional)"]
    assert all(len(level.universe.entities) > 0 for level in plan.levels)


@pytest.mark.parametrize("people", [1_000, 7_000])
def test_a_small_census_can_be_planned_too_and_has_people_in_every_state(tmp_path, people):
    write_demo_census(tmp_path, people)
    assert plan_of_files(tmp_path / "parameters", tmp_path / "data").findings == ()
    written = Written(tmp_path).people
    assert len(written) == people
    assert {person[3] for person in written} == set(STATES)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path):
    for folder, seed in (("first", 7), ("again", 7), ("other", 8)):
        write_demo_census(tmp_path / folder, people=3_000, seed=seed)
    first, again, other = (bytes_of(tmp_path / folder) for folder in ("first", "again", "other"))
    assert set(first) == FILES
    assert first == again
    for table in ("GRF-C", "person-records"):
        assert first[f"data/{table}/44.txt"] != other[f"data/{table}/44.txt"]


def test_the_bytes_are_the_same_on_every_machine(tmp_path):
    """Renew the digest when the tables of the demo change; if it changes without that, a dependency's stream has."""
    write_demo_census(tmp_path, people=5_000, seed=2020)
    digest = hashlib.sha256(b"".join(content for _, content in sorted(bytes_of(tmp_path).items()))).hexdigest()
    assert digest == "48ca8f865a9882af08fd2e571e4205ee9042ccca54e55f645ddfecba23e7fb2c"


def test_households_are_of_the_same_people(tmp_path):
    householder = 2
    for folder, has_households in (("people", False), ("homes", True)):
        write_demo_census(tmp_path / folder, people=5_000, has_households=has_households)
    people, homes = Written(tmp_path / "people"), Written(tmp_path / "homes")
    assert [row[:householder] + row[householder + 1 :] for row in homes.people] == [
        row[:householder] + row[householder + 1 :] for row in people.people
    ]
    assert homes.parts("household-records")
    assert set(bytes_of(homes.folder)) - set(bytes_of(people.folder)) == {
        "data/person-household.parquet",
        *(f"data/household-records/{state}.txt" for state in STATES),
        *(f"household-{name}" for name in bytes_of(homes.folder) if name.startswith("parameters/")),
    }


def test_the_person_file_has_the_header_of_the_format_and_plain_lines(demo):
    content = (demo.data / "person-records" / "44.txt").read_bytes()
    assert content.startswith(HEADER.encode() + b"\n")
    assert content.endswith(b"\n")
    assert b'"' not in content
    assert b"\r" not in content
    assert b" " not in content


@pytest.mark.slow
def test_every_person_is_inside_the_domains(demo):
    codes = {code for code, _ in demo.rows("parameters/race-and-ethnicity-codes.txt")}
    race_codes = {code for code in codes if "1000" <= code <= "8999"}
    blocks = {tuple(row[:4]) for row in demo.parts("GRF-C")}
    people = demo.people
    assert len(people) == 200_000
    assert {len(person) for person in people} == {17}
    assert {person[0] for person in people} <= {str(age) for age in range(116)}
    assert {person[1] for person in people} == {"1", "2"}
    assert {person[2] for person in people} == {"True", "False"}
    assert {tuple(person[3:7]) for person in people} <= blocks
    assert {person[7] for person in people} <= {f"{number:02d}" for number in range(1, 64)}
    assert {person[16] for person in people} <= codes
    for reported in {tuple(person[8:16]) for person in people}:
        filled = [code for code in reported if code != "Null"]
        assert filled
        assert reported == (*filled, *["Null"] * (8 - len(filled)))
        assert race_codes.issuperset(filled)
        assert len(set(filled)) == len(filled)


def test_people_are_many_and_varied_enough(demo):
    people = demo.people
    counts = Counter(len(race_codes_of(person)) for person in people)
    assert 0.09 <= 1 - counts[1] / len(people) <= 0.12
    assert set(counts) == {1, 2, 3, 4, 5, 6, 7, 8}
    assert {person[8] for person in people} == race_codes_of_the_lists(demo.lists())
    ages = Counter(int(person[0]) for person in people)
    assert 10 <= sum(count for age, count in ages.items() if age >= 100) <= 400
    assert min(ages[age] for age in range(80)) > 500
    assert 0.49 <= sum(person[1] == "2" for person in people) / len(people) <= 0.52
    assert not any(person[2] == "True" and int(person[0]) < 18 for person in people)


def test_puerto_rico_has_its_share_and_ethnicity_varies_by_state(demo):
    people = demo.people
    state = Counter(person[3] for person in people)
    hispanic = Counter(person[3] for person in people if person[16] != "9950")
    assert 0.05 <= state["72"] / len(people) <= 0.08
    assert hispanic["72"] / state["72"] > 0.95
    assert 0.35 <= hispanic["35"] / state["35"] <= 0.5
    assert hispanic["50"] / state["50"] < 0.05


def test_tracts_and_blocks_have_plausible_sizes(demo):
    people = Counter(tuple(person[3:6]) for person in demo.people)
    blocks = Counter(tuple(row[:3]) for row in demo.parts("GRF-C"))
    assert set(people) == set(blocks)
    assert 700 <= min(people.values()) <= max(people.values()) <= 8_000
    assert blocks.total() == 30 * len(blocks)
    assert 5 <= min(blocks.values()) <= max(blocks.values()) <= 100


def test_some_blocks_are_in_no_place_and_most_in_no_aiannh_area(demo):
    rows = demo.parts("GRF-C")
    assert 0.3 <= sum(row[4] == "99999" for row in rows) / len(rows) <= 0.6
    assert 0.8 <= sum(row[5] == "9999" for row in rows) / len(rows) <= 0.99
    assert {row[0] for row in rows if row[5] == NAVAJO_NATION} == {"35", "49"}


@pytest.mark.parametrize("people", [1_000, 200_000])
def test_every_entity_has_a_name_and_every_name_an_entity(demo, tmp_path, people):
    written = demo
    if people < 200_000:
        write_demo_census(tmp_path, people)
        written = Written(tmp_path)
    named = [(level, region) for level, region, _ in written.rows("data/geography-names.txt")]
    assert len(set(named)) == len(named)
    assert set(named) == set(_entities(written))


def _entities(written: Written) -> Iterator[tuple[str, str]]:
    geography = read_geography(written.data).require()
    states_of = {US_PASS: STATES[:-1], PR_PASS: STATES[-1:]}
    for level in US.area_levels:
        inside = geography.of_parts(map(int, states_of[level.tabulation_pass]))
        for entity in inside.entities(level.kind).tolist():
            yield level.label, level.kind.ids.text(entity)


def test_groups_gather(demo):
    people = demo.people
    block_area = {tuple(row[:4]): row[5] for row in demo.parts("GRF-C")}
    in_navajo_nation = [person for person in people if block_area[tuple(person[3:7])] == NAVAJO_NATION]
    assert 0.5 < sum(person[8] == "5110" for person in in_navajo_nation) / len(in_navajo_nation) < 0.65
    native_hawaiian = [person for person in people if "7010" in person[8:16]]
    assert sum(person[3] == "15" for person in native_hawaiian) / len(native_hawaiian) > 0.9
    hmong = Counter(tuple(person[3:6]) for person in people if "4430" in person[8:16])
    assert sum(count for _, count in hmong.most_common(3)) / hmong.total() > 0.5


def test_frequencies_have_a_long_tail(demo):
    codes = Counter(person[8] for person in demo.people)
    assert max(codes.values()) > 20_000
    assert sum(count < 200 for count in codes.values()) >= 8


def test_in_one_county_each_table_goes_to_several_detailed_groups(demo):
    thresholds = _thresholds(demo, "(COUNTY, 2)")
    iterations = iteration_map_of(demo.lists(), DETAILED, US.kind("county"), most_answers=8)
    groups = _group_sizes(demo, iterations.iterations_of, PROVIDENCE)
    tables = Counter(_shape(size, thresholds) for size in groups.values())
    assert all(tables[table] >= 4 for table in PERSONS.shapes)


@pytest.mark.parametrize(
    ("level", "key", "state"),
    [(DETAILED, "(STATE, 2)", "44"), (REGIONAL, "(STATE, 1)", "15")],
)
def test_in_one_state_each_table_goes_to_several_groups(demo, level, key, state):
    iterations = iteration_map_of(demo.lists(), level, US.kind("state"), most_answers=8)
    groups = _group_sizes(demo, iterations.iterations_of, state)
    tables = Counter(_shape(size, _thresholds(demo, key)) for size in groups.values())
    assert all(tables[table] >= 2 for table in PERSONS.shapes), tables


def test_a_total_only_group_falls_among_the_others_below_state(demo):
    lists = demo.lists()
    names = {iteration.code: iteration.name for iteration in lists.iterations}
    livonian = (("1140",), "9950")
    at_state, below = (iteration_map_of(lists, DETAILED, kind, most_answers=8) for kind in US.grains)
    assert {names[code] for code in at_state.iterations_of(*livonian)} == {
        "Livonian alone",
        "Livonian alone or in any combination",
    }
    assert {names[code] for code in below.iterations_of(*livonian)} == {
        "Other European alone",
        "Other European alone or in any combination",
    }


def test_the_lists_have_every_kind_of_iteration(demo):
    lists = demo.lists()
    assert 60 <= len(lists.code_names) <= 90
    assert lists.code_names["9950"] == "Not Hispanic (checkbox)"
    for kind in US.group_kinds:
        levels = Counter(iteration.level for iteration in lists.iterations if iteration.kind == kind)
        assert all(levels[level] >= 2 for level in US.group_levels)
        assert any(iteration.is_total_only for iteration in lists.iterations if iteration.kind == kind)


def _thresholds(written: Written, key: str) -> Thresholds:
    config = json.loads((written.parameters / "config.json").read_text())
    return Thresholds(tuple(config["thresholds_p"][key]))


def _group_sizes(written: Written, iterations_of, entity: str) -> Counter[str]:
    """How many people of an entity are in each iteration, one person at a time but for equal ones."""
    alike = Counter(
        (race_codes_of(person), person[16])
        for person in written.people
        if "".join(person[3:5]).startswith(entity)
    )  # fmt: skip
    sizes: Counter[str] = Counter()
    for (race_codes, ethnicity), people in alike.items():
        for iteration in iterations_of(race_codes, ethnicity):
            sizes[iteration] += people
    return sizes


def test_nothing_is_written_where_something_is(tmp_path):
    (tmp_path / "data").mkdir()
    with pytest.raises(FileExistsError, match="data already exists"):
        write_demo_census(tmp_path, people=1_000)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert not list((tmp_path / "data").iterdir())


def test_too_few_people_are_refused(tmp_path):
    with pytest.raises(ValueError, match="999 people are too few"):
        write_demo_census(tmp_path, people=999)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("codes", "cenrace"),
    [
        (["1000"], 1),
        (["1060", "1070"], 1),
        (["8000"], 6),
        (["1000", "3000"], 7),
        (["3000", "1000", "3110"], 7),
        (["1000", "8000"], 11),
        (["7010", "8000"], 21),
        (["1000", "3000", "5000"], 22),
        (["1000", "3000", "5000", "4000", "7000", "8000"], 63),
    ],
)
def test_cenrace_numbers_the_major_races(codes, cenrace):
    mix = demo_plan(people=1_000, seed=1).mix
    races = [mix.codes.index(code) for code in codes] + [-1] * (8 - len(codes))
    one, race = np.ones(1, dtype=np.int64), np.array(races[:1], dtype=np.uint16)
    several = FurtherCodes(np.zeros(1, dtype=np.int64), np.array([races], dtype=np.int32))
    chunk = PeopleChunk(one, one, one.astype(np.uint16), race, race, several)
    assert cenrace_of_chunk(chunk, mix).tolist() == [cenrace]


def test_the_description_is_whole():
    """Everything in it lies in a county, every county in a state, and every code has a weight for each state."""
    description = tomllib.loads((files("safetab.synthetic") / "demo.toml").read_text("utf-8"))
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
    blocks = [row for row in demo.parts("GRF-C") if row[0] + row[1] == PROVIDENCE]
    places = [row[4] for row in blocks if row[4] != "99999"]
    assert list(dict.fromkeys(places)) == ["14140", "19180", "22960", "54640", "59000", "80780"]
    assert 0.25 <= places.count("59000") / len(blocks) <= 0.31  # 36 to 66 percent, less its holes


def _shape(size: int, thresholds: Thresholds) -> Shape:
    """What a group of this size gets without noise."""
    return PERSONS.shapes[int(chosen_shapes(np.array([size]), thresholds)[0])]
