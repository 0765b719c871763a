"""One status of an output: decided once, and the same on the terminal and in every file."""

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

import safetab
from tests.commands import cli, done, invalid, refused
from tests.inside import (
    OutputStatus,
    RunOptions,
    SparkOptions,
    refused_plan,
    spending_warnings,
    status_as_json,
    status_of_json,
    status_of_run,
    write_checksums,
)
from tests.releases import json_of
from tests.report_pages import ReportPage
from tests.worlds.people import no_budgets_but, write_random_world

KEY = "00" * 32
FEW = {"privacy_defn": "zcdp", "run_pr": False, **no_budgets_but("2_state")}
MARK = "NOT-FOR-RELEASE"
OF_RUNS = [status for status in OutputStatus if status is not OutputStatus.OFFICIAL]  # no run makes that one


def words(text):
    return " ".join(text.split())


def page_of(out):
    return ReportPage((out / "report.html").read_text())


class Ended(NamedTuple):
    out: Path
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """An output of each status, and what the terminal said."""
    folder = tmp_path_factory.mktemp("status")
    protected = write_random_world(folder / "protected", 2, budget=0.1, **FEW)
    exact = write_random_world(folder / "exact", 2, **FEW)
    real = protected.copy(folder / "real")
    (real.data / "SYNTHETIC").unlink()
    given = {
        OutputStatus.FOR_RELEASE: (real,),
        OutputStatus.SYNTHETIC: (protected,),
        OutputStatus.TEST_KEY: (protected, "--test-key", KEY),
        OutputStatus.NO_PROTECTION: (exact, "--test-key", KEY),
    }
    made = {}
    for status, (world, *options) in given.items():
        result = cli("run", *world, folder / status.name, *options)
        assert result.exit_code == 0, result.output
        made[status] = Ended(folder / status.name, result.stdout, result.stderr)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("status", OF_RUNS)
def test_every_place_shows_the_same_status(status, runs, tmp_path):
    out, terminal, _ = runs[status]
    line = f"Status: {status.value}. {status.sentence}"
    done("export", out, tmp_path / "csv")
    assert line in terminal
    for file in ("log.txt", "release/README.txt"):
        assert line in words((out / file).read_text()), file
    assert line in (tmp_path / "csv" / "README.txt").read_text().replace("\n", " ")
    assert page_of(out).text.strip().startswith(line), "before anything else"
    entries = {"status": status.value, "status_sentence": status.sentence, "for_release": status.is_for_release}
    manifest = json_of(out / "manifest.json")
    for written in (
        manifest,
        json_of(out / "release" / "datapackage.json")["safetab"],
        json_of(out / "release" / "privacy.json"),
        json_of(tmp_path / "csv" / "datapackage.json")["safetab"],
    ):
        assert entries.items() <= written.items()
    assert OutputStatus(manifest["status"]) is status
    assert safetab.open_release(out).output_status is status
    assert done("show", out, "--nation").startswith(f"{line}\n")
    assert line in done("report", out, "-o", tmp_path / "report.html")
    assert line in done("status", out, "--level", "STATE", "-o", tmp_path / "status.csv")
    for marked in (out, tmp_path / "csv"):
        assert (marked / MARK).exists() != status.is_for_release
        assert status.is_for_release or (marked / MARK).read_text() == f"{line}\n"


def test_only_a_release_speaks_of_a_release(runs):
    for status, (out, terminal, _) in runs.items():
        page = page_of(out)
        assert json_of(out / "manifest.json")["for_release"] == status.is_for_release
        assert (out / MARK).exists() != status.is_for_release
        assert ("This output may be released." in terminal) == status.is_for_release
        assert ("Released " in page.text) == status.is_for_release
        is_marked = status in {OutputStatus.TEST_KEY, OutputStatus.NO_PROTECTION}
        assert ("These people are synthetic" in words(page.text + terminal)) == is_marked
        assert ("do not exist" in page.text) == (not status.is_for_release)
        assert ("This is not for release" in page.concerns) == (not status.is_for_release)
    assert "test key" in (runs[OutputStatus.TEST_KEY].out / "log.txt").read_text()


def test_a_report_without_protection_begins_with_stop_and_names_the_levels(runs):
    page, protected = (page_of(runs[status].out) for status in (OutputStatus.NO_PROTECTION, OutputStatus.SYNTHETIC))
    assert page.text.strip().startswith("Status: no protection. STOP.")
    assert any(one.endswith("without protection") for one in page.concerns)
    assert not any(one.endswith("without protection") for one in protected.concerns)


UNPROTECTED = "No protection at 1 level: (COUNTY, Detailed)."


@pytest.fixture
def without_protection(tmp_path):
    """One level alone is without protection, and nobody says that the people do not exist."""
    world = write_random_world(tmp_path, 2, budget=0.1, **FEW | {"privacy_budget_p_level_2_county": 10**9})
    (world.data / "SYNTHETIC").unlink()
    return world


@pytest.mark.parametrize("command", ["run", "validate"])
def test_real_people_are_never_tabulated_without_protection(command, without_protection, tmp_path):
    told = refused(command, *without_protection, *([tmp_path / "out"] if command == "run" else []))
    assert UNPROTECTED in told
    assert "make them smaller" in told
    assert not (tmp_path / "out").exists()


NOBODY, AGAIN = "Nobody counts what runs on these people cost", "they are charged again"
WITH_LOG = RunOptions(dataset="census", spend_log=Path("spend.log"))


@pytest.mark.parametrize(
    ("options", "replaces", "told"),
    [
        (RunOptions(), False, [NOBODY]),
        (RunOptions(), True, [AGAIN, "nobody adds it up"]),
        (WITH_LOG, False, []),
        (WITH_LOG, True, [AGAIN]),
    ],
)
def test_the_curator_of_real_people_is_told_what_nobody_counts(options, replaces, told, tmp_path):
    (tmp_path / "out").mkdir()
    if replaces:
        (tmp_path / "out" / "manifest.json").touch()
    warnings = spending_warnings(tmp_path, tmp_path / "out", options)
    assert len(warnings) == bool(told)
    assert all(words in warnings[0].message for words in told)
    assert not any(warning.is_error for warning in warnings)
    (tmp_path / "SYNTHETIC").touch()
    assert spending_warnings(tmp_path, tmp_path / "out", options) == ()


def test_a_run_on_real_people_without_a_spend_log_says_that_nobody_counts_it(runs):
    out, _, told = runs[OutputStatus.FOR_RELEASE]
    before, _, after = words(told).partition("Counting the persons")
    assert NOBODY in before
    assert NOBODY in after
    assert NOBODY in (out.parent / f"{out.name}.confidential.log").read_text()


def test_python_refuses_it_too(without_protection, tmp_path):
    assert UNPROTECTED in invalid(safetab.run, *without_protection, tmp_path / "out")


def test_validate_and_plan_say_what_is_without_protection(without_protection):
    assert f"STOP. {UNPROTECTED}" in done("plan", *without_protection)
    (without_protection.data / "SYNTHETIC").touch()
    assert UNPROTECTED in words(done("validate", *without_protection))
    shown = done("plan", *without_protection)
    assert f"STOP. {UNPROTECTED}" in shown
    assert "`safetab run` refuses such budgets" in shown
    plan = json.loads(cli("plan", *without_protection, "--json").stdout)
    assert plan["levels_without_protection"] == [{"geography_level": "COUNTY", "iteration_level": "Detailed"}]
    assert plan["no_protection"].startswith(UNPROTECTED)
    without_protection.configure(privacy_budget_p_level_2_county=0.1)
    for command in ("validate", "plan"):
        told = done(command, *without_protection)
        assert "No protection" not in told
        assert "STOP" not in told
    plan = json.loads(cli("plan", *without_protection, "--json").stdout)
    assert (plan["levels_without_protection"], plan["no_protection"]) == ([], None)


def test_the_marker_says_nothing_of_people_who_lie_elsewhere(without_protection):
    data = without_protection.data
    (data / "SYNTHETIC").touch()
    plan = safetab.plan(*without_protection)
    elsewhere = RunOptions(spark=SparkOptions(persons="table:persons"))
    assert [finding.file for finding in refused_plan(plan, data, elsewhere)] == ["config.json"]
    assert refused_plan(plan, data, RunOptions()) == ()
    assert status_of_run(plan, data, RunOptions()) is OutputStatus.NO_PROTECTION
    without_protection.configure(privacy_budget_p_level_2_county=0.1)
    plan = safetab.plan(*without_protection)
    assert status_of_run(plan, data, elsewhere) is OutputStatus.FOR_RELEASE
    assert status_of_run(plan, data, RunOptions()) is OutputStatus.SYNTHETIC


@pytest.mark.parametrize(("for_release", "status"), [(True, OutputStatus.FOR_RELEASE), (False, OutputStatus.TEST_KEY)])
def test_an_older_release_without_a_status_opens(for_release, status, runs, tmp_path):
    release = shutil.copytree(runs[OutputStatus.SYNTHETIC].out / "release", tmp_path / "release")
    package = json_of(release / "datapackage.json")
    del package["safetab"]["status"], package["safetab"]["status_sentence"]
    package["safetab"]["for_release"] = for_release
    (release / "datapackage.json").write_text(json.dumps(package))
    write_checksums(release)
    assert safetab.open_release(release).output_status is status


def test_a_status_that_contradicts_itself_is_no_status():
    for status in OutputStatus:
        assert status_of_json(status_as_json(status)) is status
        with pytest.raises(ValueError, match="contradict"):
            status_of_json({"status": status.value, "for_release": not status.is_for_release})
    with pytest.raises(ValueError, match="unheard of"):
        status_of_json({"status": "unheard of", "for_release": True})


def test_a_level_that_was_never_charged_is_not_said_to_have_spent(tmp_path):
    world = write_random_world(tmp_path, 2, budget=0.1, **FEW | {"privacy_budget_p_level_2_aiannh": 0.1})
    geography = world.data / "GRF-C.txt"
    assert "|AIANNHCE\n" in geography.read_text()
    geography.write_text(re.sub(r"\|\d{4}$", "|9999", geography.read_text(), flags=re.MULTILINE))
    safetab.run(*world, tmp_path / "out")
    charged = json_of(tmp_path / "out" / "manifest.json")["charged"]
    assert "AIANNH" not in {event["geography_level"] for event in charged}
    page = page_of(tmp_path / "out")
    assert "1 level with a budget but nothing to measure" in page.concerns
    assert "counts towards the stated loss, but it was not spent" in page.text
    paid = page.text.partition("with a budget but no published group")[2].partition("Check")[0]
    assert "AIANNH" not in paid
