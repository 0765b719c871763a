"""What outputs say in words, where a review once found them too confident."""

import pytest

import safetab
from tests.commands import refused
from tests.releases import json_of
from tests.worlds.people import no_budgets_but, write_random_world
from tests.worlds.world import KEY

FEW = {"run_pr": False, **no_budgets_but("2_state")}


@pytest.fixture(scope="module")
def unprotected(releases):
    return releases.people(3, budget=100, **FEW)


def words_of(path):
    return " ".join(path.read_text().split())


def test_an_output_without_protection_claims_none_in_its_body(unprotected):
    readme, report = words_of(unprotected.out / "release" / "README.txt"), words_of(unprotected.out / "report.html")
    assert "It protects nobody." in readme
    assert "Nobody is protected at levels" in report
    for claim in ("To protect the people", "differentially private: whatever"):
        assert claim not in readme
    assert "almost the same with or" not in report


def test_a_test_key_is_named_even_where_something_graver_is_wrong(unprotected):
    manifest = json_of(unprotected.out / "manifest.json")
    assert (manifest["status"], manifest["test_key"]) == ("no protection", True)
    assert "the noise was drawn with a test key" in (unprotected.out / "log.txt").read_text()


def test_the_accuracy_page_has_the_status_that_a_run_would_have(unprotected, tmp_path):
    safetab.accuracy(*unprotected.world, tmp_path / "accuracy", runs=1, test_key=KEY)
    assert "Status: no protection. STOP." in (tmp_path / "accuracy" / "accuracy.html").read_text()
    assert json_of(tmp_path / "accuracy" / "accuracy.json")["status"] == "no protection"


def test_refused_budgets_hide_no_bad_row(tmp_path):
    world = write_random_world(tmp_path, seed=3)
    (world.data / "SYNTHETIC").unlink()
    header, first, *rest = (world.data / "person-records.txt").read_text().splitlines()
    older = "116|" + first.split("|", 1)[1]
    (world.data / "person-records.txt").write_text("\n".join([header, older, *rest]) + "\n")
    said = refused("validate", *world)
    assert "No protection at" in said
    assert "1 row breaks this rule" in said


def test_the_readme_of_a_release_calls_no_sum_of_selected_totals_95_percent(both_products):
    readme = words_of(both_products / "people" / "release" / "README.txt")
    assert "To protect the people who were counted" in readme
    assert "their sum is too large on average, and this is no 95 % interval" in readme


def test_a_ratio_whose_coverage_is_measured_and_not_proved_says_about(tmp_path):
    world = write_random_world(tmp_path, seed=3, people=400, budget=50, zero_suppression_chance=0, **FEW)
    release = safetab.open_release(world.run(tmp_path / "out"))
    largest = release.totals(area=release.area("01", "state")).largest(2)
    ratio = release.ratio(largest[1], largest[0])
    assert "(about 95 %:" in str(ratio)
    assert ratio.rows()[0]["holds_confidence"] is True
