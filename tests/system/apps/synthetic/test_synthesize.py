"""The command `synthesize`, from its options to files that a run reads."""

import errno
import hashlib
import json
import shutil
from collections import Counter, namedtuple
from functools import cache

import pyarrow.parquet as pq
import pytest

import safetab
from tests.cases import cases_of
from tests.commands import done, refused, refusing
from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    PR_PASS,
    PUERTO_RICO_STATE,
    US,
    US_PASS,
    CensusFormat,
    CensusRequest,
    NoProgress,
    SizeRequest,
    bytes_needed,
    census_files_module,
    iteration_map_of,
    read_geography,
    read_public_lists,
    synthesize_module,
    write_census,
)
from tests.releases import files_of, json_of
from tests.worlds.world import World

pytestmark = pytest.mark.slow

SMALL = "--states 2 --counties 6 --tracts 40 --iterations 120"
KEY = "ab" * 32


def made(out, words):
    done("synthesize", out, *f"--people {words}".split())
    return out


def text_people(out):
    parts = sorted((out / "data" / "person-records").iterdir())
    return [line.split("|") for part in parts for line in part.read_text().splitlines()[1:]]


@pytest.fixture(scope="module")
def text_census(tmp_path_factory):
    return made(tmp_path_factory.mktemp("census") / "text", f"30000 {SMALL} --format text --seed 11")


@pytest.fixture(scope="module")
def parquet_census(tmp_path_factory):
    return made(tmp_path_factory.mktemp("census") / "parquet", f"30000 {SMALL} --seed 11")


def test_it_says_where_things_lie_and_what_to_do_next(tmp_path):
    out = tmp_path / "census"
    said = done("synthesize", out, *f"--people 5000 {SMALL}".split())
    assert "Making 5,000 synthetic people in 2 states and Puerto Rico" in said
    assert f"safetab run {out}/parameters {out}/data {out}-output" in said
    assert "COUNTY Detailed" in said
    assert [path.name for path in tmp_path.iterdir()] == ["census"]
    assert (out / "data" / "SYNTHETIC").is_file()
    parts = {path.name for path in (out / "data" / "person-records").iterdir()}
    assert parts == {"06.parquet", "48.parquet", "72.parquet"}


def test_the_census_is_valid_and_runs(parquet_census, tmp_path):
    world = World.of(parquet_census)
    assert "Everything is valid." in done("validate", *world)
    summary = safetab.run(*world, tmp_path / "output", test_key=KEY)
    assert summary.warnings == ()
    assert summary.rows["t1/us.csv"] > 1_000
    assert summary.rows["t1/pr.csv"] > 10


def test_text_and_parquet_hold_the_same(text_census, parquet_census, tmp_path):
    tables = [pq.read_table(part) for part in sorted((parquet_census / "data" / "person-records").iterdir())]
    rows = [["Null" if value is None else value for value in row.values()] for one in tables for row in one.to_pylist()]
    assert rows == text_people(text_census)
    assert {str(kind) for table in tables for kind in table.schema.types} == {"string"}
    of_text, of_parquet = (read_geography(census / "data").require() for census in (text_census, parquet_census))
    assert (of_text.smallest == of_parquet.smallest).all()
    for kind in US.kinds:
        assert (of_text.number_of_area(kind) == of_parquet.number_of_area(kind)).all()
    outs = [World.of(census).run(tmp_path / census.name) for census in (text_census, parquet_census)]
    assert len({(out / "t1" / "us.csv").read_bytes() for out in outs}) == 1


@pytest.mark.parametrize("form", ["parquet", "text"])
def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(tmp_path, form):
    options = f"300000 --states 4 --tracts 60 --format {form} --seed"
    first = files_of(made(tmp_path / "first", f"{options} 5 --threads 1"))
    again = files_of(made(tmp_path / "again", f"{options} 5 --threads 3"))
    other = files_of(made(tmp_path / "other", f"{options} 6"))
    assert first == again
    for table in ("person-records", "GRF-C"):
        name = f"data/{table}/06.{'txt' if form == 'text' else form}"
        assert first[name] != other.get(name)


def test_the_bytes_are_the_same_on_every_machine(text_census):
    """Renew the digest when the synthesizer changes; if it changes without that, a dependency's stream has."""
    digest = hashlib.sha256(b"".join(content for _, content in sorted(files_of(text_census).items()))).hexdigest()
    assert digest == "f069ced9fbcf70641d272bce6264885079c304a7e8ff966e663ff77df50227b4"


def test_every_person_is_inside_the_domains(text_census):
    lists = read_public_lists(text_census / "parameters").require()
    people = text_people(text_census)
    assert len(people) == 30_000
    columns = [set(values) for values in zip(*people, strict=True)]
    assert len(columns) == 17
    assert columns[0] <= {str(age) for age in range(116)}
    assert columns[1:4] == [{"1", "2"}, {"True", "False"}, {"06", "48", "72"}]
    assert columns[7] <= {f"{number:02d}" for number in range(1, 64)}
    assert columns[16] <= set(lists.code_names)
    for reported in {tuple(person[8:16]) for person in people}:
        filled = [code for code in reported if code != "Null"]
        assert filled
        assert reported == (*filled, *["Null"] * (8 - len(filled)))
        assert all(code in lists.code_names and code <= "8999" for code in filled)


def test_shares_of_people_are_as_they_should_be(text_census):
    people = text_people(text_census)
    of_state = Counter(person[3] for person in people)
    assert of_state["72"] == round(30_000 * 3_285_874 / 334_735_155)
    assert of_state["06"] / of_state["48"] == pytest.approx(39_538_223 / 29_145_505, rel=0.01)
    assert 0.08 <= sum(person[9] != "Null" for person in people) / len(people) <= 0.12
    hispanic = Counter(person[3] == "72" for person in people if person[16] != "9950")
    assert hispanic[True] / of_state["72"] > 0.95
    assert 0.05 <= hispanic[False] / (len(people) - of_state["72"]) <= 0.4


def test_every_entity_has_a_name_and_every_name_an_entity(text_census):
    lines = (text_census / "data" / "geography-names.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "REGION_TYPE|REGION_ID|NAME"
    named = [tuple(line.split("|")[:2]) for line in lines[1:]]
    assert all(line.count("|") == 2 and line.split("|")[2].strip() for line in lines)
    geography = read_geography(text_census / "data").require()
    states = {US_PASS: ["06", "48"], PR_PASS: [PUERTO_RICO_STATE]}
    entities = [
        (level.label, level.kind.ids.text(entity))
        for level in US.area_levels
        for entity in geography.of_parts(map(int, states[level.tabulation_pass])).entities(level.kind).tolist()
    ]
    assert sorted(named) == sorted(entities)
    names = Counter(line.split("|")[2] for line in lines[1:] if line.startswith(("PLACE", "COUNTY", "PR-")))
    assert set(names.values()) == {1}


@pytest.mark.parametrize("max_race_codes", [8, 2, 1])
def test_non_empty_groups_are_those_of_a_count_person_by_person(tmp_path, max_race_codes):
    parameters = made(tmp_path / "given", "500 --tracts 3 --iterations 400") / "parameters"
    config = json_of(parameters / "config.json") | {"max_race_codes": max_race_codes}
    (parameters / "config.json").write_text(json.dumps(config))
    request = CensusRequest(
        SizeRequest(4_000, states=3, counties=4, tracts=12), parameters, form=CensusFormat.TEXT, seed=4
    )  # fmt: skip
    (tmp_path / "out").mkdir()
    told = write_census(tmp_path / "out", request.checked().require(), NoProgress(), parameters)
    expected = _non_empty_by_hand(tmp_path / "out", max_race_codes)
    assert {one.level: one.non_empty for one in told} == {level: len(expected.get(level, ())) for level in US.levels}
    assert sum(one.non_empty for one in told) > 1_000


def _non_empty_by_hand(out, max_race_codes):
    lists = read_public_lists(out / "parameters").require()

    @cache
    def map_of(iterations, kind):
        return iteration_map_of(lists, iterations, kind, most_answers=max_race_codes)

    rows = [
        line.split("|") for part in (out / "data" / "GRF-C").iterdir() for line in part.read_text().splitlines()[1:]
    ]
    places = {tuple(row[:4]): (row[4], row[5]) for row in rows}
    found: dict[object, set[tuple[str, str]]] = {}
    for person in text_people(out):
        state, county, tract, _ = block = tuple(person[3:7])
        place, area = places[block]
        entity = {"USA": "1", "STATE": state, "COUNTY": state + county, "TRACT": state + county + tract}
        entity |= {"PLACE": state + place} if place != "99999" else {}
        entity |= {"AIANNH": area} if area != "9999" else {}
        races = [code for code in person[8:16] if code != "Null"]
        for level in US.levels:
            is_there = (level.geography.tabulation_pass == PR_PASS) == (state == "72")
            kind = level.geography.label.removeprefix("PR-")
            if is_there and kind in entity:
                iterations = map_of(level.iterations, level.geography.kind).iterations_of(races, person[16])
                found.setdefault(level, set()).update((entity[kind], iteration) for iteration in iterations)
    return found


# Parameters that are given


def test_given_lists_are_copied_and_the_configuration_is_made_fit(world, tmp_path):
    world.configure(reader="cef", state_filter_us=["44", "50"], privacy_budget_p_level_2_tract="EXACT")
    parameters, exact = world.parameters, "0.12500000000000000000001"
    world.edit("config.json", '"EXACT"', exact)
    spelled = world.config()
    out = made(tmp_path / "out", f"3000 --states 2 --tracts 10 --parameters {parameters}")
    for path in parameters.glob("*.txt"):
        assert (out / "parameters" / path.name).read_bytes() == path.read_bytes()
    written = (out / "parameters" / "config.json").read_text()
    assert f'"privacy_budget_p_level_2_tract": {exact}' in written
    assert json.loads(written) == spelled | {"reader": "csv", "state_filter_us": ["06", "48"]}
    done("validate", out / "parameters", out / "data")


@pytest.mark.needs_2020_files
def test_the_lists_of_2020_work(tmp_path, spec_2020):
    out = made(tmp_path / "out", f"20000 --states 2 --counties 10 --tracts 100 --parameters {spec_2020}")
    summary = safetab.run(out / "parameters", out / "data", tmp_path / "output", test_key=KEY)
    assert summary.plan.config.parts_of(US_PASS) == ("06", "48")
    assert summary.rows["t1/us.csv"] > 1_000


# What is refused


def refusal(folder, words, code=1):
    """What is said of a census that can't be made, of which nothing is written."""
    out = folder / "out"
    said = refused("synthesize", out, *f"--people {words}".split(), code=code)
    assert not out.exists()
    return said


def test_every_mistake_in_the_options_is_told_at_once(tmp_path):
    said = refusal(tmp_path, "0 --states 60 --tracts 0 --iterations 3 --seed -1 --threads 0", code=2)
    for (words,) in cases_of("""
        --people: must be from 102 to 2,000,000,000.
        --states: must be from 1 to 51.
        --tracts: must be from 1 to 200,000.
        --iterations: must be from 40 to 8,000.
        --seed: must be 0 or above.
        --threads: must be from 1 to 1024.
    """):
        assert words in said


@pytest.mark.parametrize(
    ("options", "message"),
    cases_of(f"""
        --states 5 --counties 4 | --counties: 4 are too few for 5 states
        --counties 40 --tracts 39 | --tracts: 39 are too few for 40 counties
        --iterations 100 --parameters {SMALL_EXAMPLE}/parameters | --iterations: can't be used together with --parameters
        --parameters /nowhere | /nowhere does not exist.
    """),
)
def test_options_that_do_not_fit_are_told(tmp_path, options, message):
    code = 2 if message.startswith("--") else 1
    assert message in refusal(tmp_path, f"1000 {options}", code=code)


def test_findings_about_given_parameters_come_all_at_once(world, tmp_path):
    world.configure(max_race_codes=9)
    (world.parameters / "race-and-ethnicity-codes.txt").unlink()
    said = refusal(tmp_path, f"10 --parameters {world.parameters}", code=2)
    for words in ("--people", "max_race_codes", "does not exist"):
        assert words in said


def test_only_a_synthetic_census_is_replaced_and_only_if_asked(tmp_path):
    out = made(tmp_path / "out", f"1000 {SMALL}")
    before = files_of(out)
    again = ("synthesize", out, *f"--people 2000 {SMALL}".split())
    assert "already exists. Choose another folder, or add --overwrite." in refused(*again)
    assert files_of(out) == before
    done(*again, "--overwrite")
    assert files_of(out) != before
    own = f"--people 1000 --tracts 20 --parameters {out}/parameters --overwrite"
    assert "contains files that this command reads" in refused("synthesize", out, *own.split())
    (out / "notes.txt").write_text("mine")
    assert "holds what safetab didn't write there: notes.txt" in refused(*again, "--overwrite")
    assert (out / "notes.txt").read_text() == "mine"


def test_too_small_a_disk_is_told_before_anything_is_written(tmp_path, monkeypatch):
    disk = namedtuple("disk", "total used free")(10**12, 10**12 - 10**6, 10**6)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: disk)
    said = refusal(tmp_path, "334735155 --us", code=3)
    assert f"{tmp_path} has 1 MB free, and 1.6 GB are needed" in said


@pytest.mark.parametrize("form", CensusFormat)
def test_the_disk_that_is_told_is_enough_and_not_much_more(tmp_path, form):
    request = CensusRequest(SizeRequest(400_000, states=2, tracts=100), form=form)
    plan = request.checked().require()
    (tmp_path / "out").mkdir()
    write_census(tmp_path / "out", plan, NoProgress())
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert written < bytes_needed(plan) < 1.3 * written + 25_000_000


class _Interrupted(NoProgress):
    """Somebody presses Ctrl-C after the first part."""

    def __init__(self, **_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def advance(self, _=1):
        raise KeyboardInterrupt


def test_ctrl_c_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(synthesize_module, "TerminalProgress", _Interrupted)
    refusal(tmp_path, f"600000 {SMALL}", code=130)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(census_files_module, "write_names", refusing(errno.ENOSPC))
    said = refusal(tmp_path, f"1000 {SMALL}", code=3)
    assert f"can't write to {tmp_path / 'out'}: No space left on device. Nothing was written." in said
    assert not list(tmp_path.iterdir())
