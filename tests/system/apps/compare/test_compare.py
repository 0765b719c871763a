"""`safetab compare`: what it writes, what it refuses, and that the same seed gives the same bytes."""

import csv

import pytest

import safetab
from tests.cases import cases_of
from tests.commands import cli, done, invalid, refused
from tests.inside import list_text, world_module
from tests.releases import files_of, json_of, lines_of
from tests.worlds.world import World

FEW = ["none", "round:base=5", "safetab"]


@pytest.mark.parametrize(
    ("more", "code", "said"),
    cases_of(
        """
        --protection rownd:base=5 | 2 | Did you mean "round"
        --protection round:base=0 | 2 | base
        --protection round:base=5+swap:rate=0.1 | 2 | Give swap first
        --protection none --protection safetab:/ | 1 | /config.json does not exist
        --preset asia | 2 | --preset: must be one of agencies
        --runs 0 | 2 | --runs: must be from 1
        --tables all | 2 | --tables: must be as-released or every-group
        --attack none --attack 44007 | 2 | --attack: none stands alone
        --time-limit 0 | 2 | --time-limit: must be more than 0
        --time-limit nan | 2 | --time-limit: must be more than 0
        --protection none --protection swap:rate=0.1 | 1 | swap needs to know who lives with whom
        """
    ),
)
def test_a_wrong_option_is_answered_before_anything_is_read(more, code, said, demo_census, out):
    told = refused("compare", *World.of(demo_census), out, *more.split(), code=int(code))
    assert said in told
    assert "Checking the" not in told
    assert not out.exists()


def test_people_who_may_be_real_are_refused(releases, out, tmp_path):
    world = releases.people(2, people=60, budget=1).world.copy(tmp_path)
    (world.data / "SYNTHETIC").unlink()
    assert "has no file SYNTHETIC, so its people may be real" in refused("compare", *world, out)
    assert not out.exists()


def test_without_its_three_folders_the_command_says_what_it_takes():
    assert "give PARAMETERS, DATA and OUT; or --list, or --explain NAME." in refused("compare", code=2)


def test_the_list_and_an_explanation_need_no_census():
    assert done("compare", "--list") == list_text() + "\n"
    assert "zero" in done("compare", "--explain", "cell-key").casefold()
    assert cli("compare", "--explain", "magic").stdout == ""
    refused("compare", "--explain", "magic", code=2)


@pytest.mark.slow
def test_a_comparison_is_a_function_of_inputs_and_seed(tmp_path):
    census = World.of(tmp_path / "census")
    size = "--people 9000 --states 1 --counties 2 --tracts 8 --iterations 200 --households"
    done("synthesize", tmp_path / "census", *size.split())
    more = [f"--protection={one}" for one in (*FEW, "cell-key:D=2,V=0.9", "swap:rate=0.1,geography=0/1/0")]
    found = []
    for threads in ("1", "2"):
        done("compare", *census, tmp_path / threads, *more, "--runs", 2, "--threads", threads)
        found.append(files_of(tmp_path / threads))
    assert found[0] == found[1]
    files = "README.txt committee.csv compare.html exposure.csv exposure.parquet protections.json utility.csv utility.parquet"
    assert " ".join(sorted(found[0])) == files
    out = tmp_path / "1"
    assert {path.stat().st_mode & 0o777 for path in out.iterdir()} == {0o600}
    rows = list(csv.DictReader(lines_of(out / "committee.csv")))
    assert [row["protection"] for row in rows][:3] == FEW
    assert float(rows[0]["proven"]) == float(rows[0]["uniques"]) > 0, "without protection everybody is exposed"
    facts = json_of(out / "protections.json")
    assert facts["for_release"] is False
    assert all(control["holds"] for control in facts["controls"])
    opened = safetab.open_comparison(out)
    assert opened.table().num_rows == len(rows)
    assert set(opened.exposure("none")["protection"].to_pylist()) == {"none"}
    assert "was not compared" in invalid(opened.utility, "round:base=10")


@pytest.mark.slow
def test_any_census_can_be_compared(tmp_path):
    """A specification knows no households: a preset leaves swapping out and says so; asked for, it is refused."""
    census, data = tmp_path / "census", tmp_path / "census-data"
    done("new", census)
    done("synthesize", census, "--people", 3000)
    summary = safetab.compare(census, data, tmp_path / "out", runs=1, attack=["none"])
    [sentence] = [sentence for sentence in summary.not_finished if "who lives with whom" in sentence]
    assert sentence.startswith("left out: swap:"), "all that lack the same are named once"
    assert sentence.count("swap:rate=") == 2
    asked = {"runs": 1, "attack": ["none"], "protections": ["swap:rate=0.1"]}
    assert "who lives with whom" in invalid(safetab.compare, census, data, tmp_path / "other", **asked)
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_an_area_that_does_not_exist_or_is_too_large_is_refused(demo_census, out, monkeypatch):
    monkeypatch.setattr(world_module, "_MOST_PEOPLE", 1_000)
    given = ("compare", *World.of(demo_census), out, "--protection", "none")
    told = refused(*given, "--attack", "Atlantis")
    assert "there is no area 'Atlantis' among the counties, states, nation that have" in told
    assert "records. An attack takes up to 1,000: give a smaller area, or none." in refused(*given)
    assert not out.exists()
