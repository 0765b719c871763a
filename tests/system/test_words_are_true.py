"""What outputs say in words, where a review once found them too confident."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import safetab
from tests.commands import cli
from tests.worlds.people import write_random_world
from tests.worlds.world import World

KEY = "5a" * 32


@pytest.fixture(scope="module")
def unprotected(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Path]:
    folder = tmp_path_factory.mktemp("unprotected")
    world = write_random_world(folder, seed=3, budget=100)
    safetab.run(*world, folder / "out", test_key=KEY)
    return world, folder / "out"


def test_an_output_without_protection_claims_none_in_its_body(unprotected):
    _, out = unprotected
    readme, report = (out / "release" / "README.txt").read_text(), (out / "report.html").read_text()
    assert "It protects nobody." in " ".join(readme.split())
    for claim in ("To protect the people", "differentially private: whatever"):
        assert claim not in " ".join(readme.split())
    assert "Nobody is protected at levels" in report
    assert "almost the same with or" not in report


def test_a_test_key_is_named_even_where_something_graver_is_wrong(unprotected):
    _, out = unprotected
    assert json.loads((out / "manifest.json").read_text())["status"] == "no protection"
    assert json.loads((out / "manifest.json").read_text())["test_key"] is True
    assert "the noise was drawn with a test key" in (out / "log.txt").read_text()


def test_the_accuracy_page_has_the_status_that_a_run_would_have(unprotected, tmp_path):
    world, _ = unprotected
    safetab.accuracy(*world, tmp_path / "accuracy", runs=1, test_key=KEY)
    assert "Status: no protection. STOP." in (tmp_path / "accuracy" / "accuracy.html").read_text()
    assert json.loads((tmp_path / "accuracy" / "accuracy.json").read_text())["status"] == "no protection"


def test_refused_budgets_hide_no_bad_row(tmp_path):
    world = write_random_world(tmp_path, seed=3, budget=10**9)
    (world.data / "SYNTHETIC").unlink()
    persons = world.data / "person-records.txt"
    header, first, *rest = persons.read_text().splitlines()
    persons.write_text("\n".join([header, "116|" + first.split("|", 1)[1], *rest]) + "\n")
    result = cli("validate", *world)
    assert result.exit_code == 1
    assert "No protection at" in result.stderr
    assert "1 row breaks this rule" in result.stderr


def test_the_readme_of_a_release_calls_no_sum_of_selected_totals_95_percent(tmp_path):
    world = write_random_world(tmp_path, seed=3, budget=1)
    safetab.run(*world, tmp_path / "out")
    readme = " ".join((tmp_path / "out" / "release" / "README.txt").read_text().split())
    assert "To protect the people who were counted" in readme
    assert "their sum is too large on average, and this is no 95 % interval" in readme


def test_a_ratio_whose_coverage_is_measured_and_not_proved_says_about(tmp_path):
    world = write_random_world(tmp_path, seed=3, people=400, budget=50, zero_suppression_chance=0)
    safetab.run(*world, tmp_path / "out")
    release = safetab.open_release(tmp_path / "out")
    largest = release.totals(area=release.area("01", "state")).largest(2)
    ratio = release.ratio(largest[1], largest[0])
    assert "(about 95 %:" in str(ratio)
    assert ratio.rows()[0]["holds_confidence"] is True
