"""`safetab compare`: what it writes, what it refuses, and that the same seed gives the same bytes."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

import safetab
from tests.commands import cli
from tests.inside import list_text, world_module

FEW = ["none", "round:base=5", "safetab"]


def compared(census: Path, out: Path, *more: str) -> tuple[int, str]:
    words = ["compare", str(census / "parameters"), str(census / "data"), str(out), *more]
    result = cli(*words, env={"COLUMNS": "1000"})
    return result.exit_code, result.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--protection", "rownd:base=5"], 'Did you mean "round"'),
        (["--protection", "round:base=0"], "base"),
        (["--protection", "round:base=5+swap:rate=0.1"], "Give swap first"),
        (["--protection", "none", "--protection", "safetab:/"], "/config.json does not exist"),
        (["--preset", "asia"], "--preset: must be one of agencies"),
        (["--runs", "0"], "--runs: must be from 1"),
        (["--tables", "all"], "--tables: must be as-released or every-group"),
        (["--attack", "none", "--attack", "44007"], "--attack: none stands alone"),
        (["--time-limit", "0"], "--time-limit: must be more than 0"),
        (["--time-limit", "nan"], "--time-limit: must be more than 0"),
        (["--protection", "none", "--protection", "swap:rate=0.1"], "swap needs to know who lives with whom"),
    ],
)
def test_a_wrong_option_is_answered_before_anything_is_read(more, said, demo_census, tmp_path):
    code, errors = compared(demo_census, tmp_path / "out", *more)
    is_of_a_file = "does not exist" in said or "lives with whom" in said
    assert (code, said in errors) == (1 if is_of_a_file else 2, True), errors
    assert "Checking the" not in errors
    assert not (tmp_path / "out").exists()


def test_people_who_may_be_real_are_refused(demo_census, tmp_path):
    shutil.copytree(demo_census / "data", tmp_path / "data", ignore=shutil.ignore_patterns("SYNTHETIC"))
    (tmp_path / "parameters").symlink_to(demo_census / "parameters")
    code, errors = compared(tmp_path, tmp_path / "out")
    assert code == 1
    assert "has no file SYNTHETIC, so its people may be real" in errors
    assert not (tmp_path / "out").exists()


def test_without_its_three_folders_the_command_says_what_it_takes():
    result = cli("compare")
    assert result.exit_code == 2
    assert "give PARAMETERS, DATA and OUT; or --list, or --explain NAME." in result.stderr.replace("\n", " ")


def test_the_list_and_an_explanation_need_no_census():
    assert cli("compare", "--list").stdout == list_text() + "\n"
    explained = cli("compare", "--explain", "cell-key")
    assert (explained.exit_code, "zero" in explained.stdout.casefold()) == (0, True)
    unknown = cli("compare", "--explain", "magic")
    assert (unknown.exit_code, unknown.stdout) == (2, "")


@pytest.mark.slow
def test_a_comparison_is_a_function_of_inputs_and_seed(tmp_path):
    census = tmp_path / "census"
    made = ["synthesize", str(census), "--people", "9000", "--states", "1", "--counties", "2", "--tracts", "8"]
    assert cli(*made, "--iterations", "200", "--households").exit_code == 0
    more = [
        word
        for spec in (*FEW, "cell-key:D=2,V=0.9", "swap:rate=0.1,geography=0/1/0")
        for word in ("--protection", spec)
    ]
    for threads in ("1", "2"):
        assert compared(census, tmp_path / threads, *more, "--runs", "2", "--threads", threads, "-q") == (0, "")
    one, two = (
        {path.name: path.read_bytes() for path in sorted((tmp_path / threads).iterdir())} for threads in ("1", "2")
    )
    assert set(one) == {
        "README.txt", "committee.csv", "compare.html", "exposure.csv", "exposure.parquet", "protections.json",
        "utility.csv", "utility.parquet",
    }  # fmt: skip
    assert [name for name in one if one[name] != two[name]] == []
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "1").iterdir()} == {0o600}
    rows = list(csv.DictReader((tmp_path / "1" / "committee.csv").read_text().splitlines()))
    assert [row["protection"] for row in rows][:3] == FEW
    assert float(rows[0]["proven"]) == float(rows[0]["uniques"]) > 0, "without protection everybody is exposed"
    facts = json.loads((tmp_path / "1" / "protections.json").read_text())
    assert facts["for_release"] is False
    assert all(control["holds"] for control in facts["controls"])
    opened = safetab.open_comparison(tmp_path / "1")
    assert opened.table().num_rows == len(rows)
    assert set(opened.exposure("none")["protection"].to_pylist()) == {"none"}
    with pytest.raises(safetab.InvalidInput, match="was not compared"):
        opened.utility("round:base=10")


@pytest.mark.slow
def test_any_census_can_be_compared(tmp_path):
    """A specification knows no households: a preset leaves swapping out and says so; asked for, it is refused."""
    for words in (["new", str(tmp_path / "census")], ["synthesize", str(tmp_path / "census"), "--people", "3000"]):
        result = cli(*words)
        assert result.exit_code == 0, result.output
    census, data = tmp_path / "census", tmp_path / "census-data"
    summary = safetab.compare(census, data, tmp_path / "out", runs=1, attack=["none"])
    [sentence] = [sentence for sentence in summary.not_finished if "who lives with whom" in sentence]
    assert sentence.startswith("left out: swap:"), "all that lack the same are named once"
    assert sentence.count("swap:rate=") == 2
    with pytest.raises(safetab.InvalidInput, match="who lives with whom"):
        safetab.compare(census, data, tmp_path / "other", runs=1, attack=["none"], protections=["swap:rate=0.1"])
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_an_area_that_does_not_exist_or_is_too_large_is_refused(demo_census, tmp_path, monkeypatch):
    code, errors = compared(demo_census, tmp_path / "out", "--attack", "Atlantis", "--protection", "none")
    assert code == 1
    assert "there is no area 'Atlantis' among the counties, states, nation that have" in errors
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(world_module, "_MOST_PEOPLE", 1_000)
    code, errors = compared(demo_census, tmp_path / "out", "--protection", "none")
    assert code == 1
    assert "records. An attack takes up to 1,000: give a smaller area, or none." in errors
    assert not (tmp_path / "out").exists()
