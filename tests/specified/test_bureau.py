"""SafeTab-P and SafeTab-H as specifications: the same bytes as config.json, case by case."""

import json
import shutil
import tomllib
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import safetab
from tests.inside import ReadingPublication
from tests.worlds.households import write_household_world
from tests.worlds.people import write_random_world
from tests.worlds.specified.of_bureau import as_specification

SHARED = Path(__file__).parents[3] / "shared"
KEY = bytes(range(32)).hex()
CASES = {
    **{name: f"cases/{name}" for name in ("toy", "tricky-8-codes", "tricky-3-codes", "two-states-20k")},
    "households, tricky": "households/case-tricky",
}
ABOUT_KEYS = {field.name for field in fields(ReadingPublication)}
LEVELS = "release/universe/levels.parquet"
CODES = "release/universe/iteration-codes.parquet"
FIRST_ETHNICITY_CODE = "9"
"""Groups of race may list codes that no race column can hold; in a specification this is an error."""


def files_of(folder):
    """The files of an output, without the manifest: it names the parameter files and the time."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.name != "manifest.json"}


def assert_same_bytes(parameters, data, folder):
    specification = as_specification(parameters, folder / "specification")
    config = shutil.copytree(parameters, folder / "config")
    (config / "about.toml").write_text(about_of(specification))
    safetab.run(config, data, folder / "of_config", test_key=KEY)
    safetab.run(specification, data, folder / "of_specification", test_key=KEY)
    expected, found = files_of(folder / "of_config"), files_of(folder / "of_specification")
    assert expected.keys() == found.keys()
    differing = {LEVELS, CODES, "release/SHA256SUMS", "log.txt"}  # the log names the files that were read
    assert {name for name in expected if expected[name] != found[name]} <= differing
    assert len(expected) > 10
    assert levels_of(folder / "of_config") == levels_of(folder / "of_specification")
    listed, kept = (pq.read_table(folder / each / CODES).to_pylist() for each in ("of_config", "of_specification"))
    assert [row for row in listed if row not in kept and row["code"] < FIRST_ETHNICITY_CODE] == []
    assert [row for row in kept if row not in listed] == []


def about_of(specification):
    """What a specification says of whose numbers these are, as an about.toml."""
    about = tomllib.loads((specification / "census.toml").read_text())["about"]
    return "\n".join(["[about]", *(f"{key} = {json.dumps(about[key])}" for key in about if key in ABOUT_KEYS)])


def levels_of(output):
    """The levels of a release. Those without a budget have no thresholds in a specification."""
    rows = pq.read_table(output / LEVELS).to_pylist()
    for row in rows:
        if Fraction(row["budget"]) == 0:
            row.update(dict.fromkeys((name for name in row if name.startswith("threshold_")), None))
    return rows


@pytest.mark.parametrize(
    "case", ["toy", *(pytest.param(case, marks=pytest.mark.slow) for case in CASES if case != "toy")]
)
@pytest.mark.needs_2020_files
def test_a_case_has_the_same_bytes(case, tmp_path):
    folder = SHARED / CASES[case]
    assert_same_bytes(folder / "parameters", folder / "data", tmp_path)


@pytest.mark.parametrize("definition", ["input_dir_zcdp", "input_dir_puredp"])
@pytest.mark.needs_2020_files
def test_the_bureaus_toy_is_refused_alike(definition, tmp_path):
    """Its totals name places without their state."""
    data = SHARED / "households" / "case-toy-of-the-bureau"
    refusals = []
    for folder in (data / definition, as_specification(data / definition, tmp_path)):
        with pytest.raises(safetab.InvalidInput) as refused:
            safetab.validate(folder, data)
        refusals.append([finding for finding in refused.value.findings if finding.is_error])
    assert refusals[0] == refusals[1] != []


@pytest.mark.slow
@pytest.mark.parametrize("codes", [1, 3, 8])
def test_a_random_world_has_the_same_bytes(codes, tmp_path):
    world = write_random_world(tmp_path / "world", seed=17, people=80, budget=2, max_race_codes=codes)
    assert_same_bytes(*world, tmp_path / "runs")


def test_households_of_a_random_world_have_the_same_bytes(tmp_path):
    """Of states alone: the toy and the cases of the night have the other levels."""
    world = write_household_world(tmp_path / "world", seed=17, budget=2, people=80)
    others = (key for key in world.config() if "_level_" in key and not key.endswith("_state"))
    world.configure(**dict.fromkeys(others, 0))
    assert_same_bytes(*world, tmp_path / "runs")
