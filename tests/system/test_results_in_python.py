"""Every result of a public function: a line at the prompt, a table in print and in a notebook, and Arrow."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import PROJECT
from tests.system.test_in_notebooks import Cells

import safetab
from safetab.foundation.result_tables import Result
from safetab.pipeline.options import RunOptions

EXAMPLE = PROJECT / "examples" / "small" / "parameters"


@pytest.fixture(scope="module")
def results(demo_census: Path, demo_out: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """What the functions give for the demo census; those of a comparison and an audit have tests of their own."""
    new = tmp_path_factory.mktemp("results")
    parameters, data = demo_census / "parameters", demo_census / "data"
    log, tuning = new / "spend.log", safetab.tuning.tuning_of().require()
    level = next(iter(tuning.levels.values()))
    release = safetab.open_release(demo_out)
    of_functions = {
        "validate": safetab.validate(parameters, data),
        "plan": safetab.plan(parameters, data),
        "run": safetab.run(parameters, data, new / "out", dataset="demo", spend_log=log, spend_limit=9),
        "spend": safetab.spend(log),
        "rerelease": safetab.rerelease(demo_out, new / "again", rules=["clamp-negatives"]),
        "accuracy": safetab.accuracy(parameters, data, new / "accuracy", runs=1),
        "status": safetab.status(demo_out, level="county"),
        "explore": safetab.explore(new / "explorer.html"),
        "verify": safetab.verify(demo_out),
        "diff": safetab.diff(parameters, EXAMPLE),
        "tuning": tuning,
        "level": level,
        "noises": safetab.tuning.compare_noises(tuning, Fraction(1, 10**10)),
        "totals": release.totals(group="Dominican", level="county"),
        "total": release.total("Providence County", "Dominican"),
        "table": release.table("Providence County", "Dominican"),
        "areas": release.areas("county"),
        "groups": release.groups(),
        "found": release.find("Providence"),
    }
    assert all(isinstance(each, Result) for each in of_functions.values())
    return {name: each for name, each in of_functions.items() if isinstance(each, Result)}


def test_at_the_prompt_a_result_is_short(results: dict[str, Result], demo_out: Path) -> None:
    lengths = {name: len(repr(each)) for name, each in results.items()}
    lengths["release"] = len(repr(safetab.open_release(demo_out)).replace(str(demo_out), ""))
    assert not {name: length for name, length in lengths.items() if length > 200}


def test_what_a_run_wrote_is_a_line_with_its_status(results: dict[str, Result]) -> None:
    assert re.fullmatch(r"<run: [\d,]+ rows in \d+ files, synthetic>", repr(results["run"]))
    assert re.fullmatch(r"<rerelease: [\d,]+ rows in \d+ files, test key>", repr(results["rerelease"]))
    assert repr(results["verify"]) == "<verified: test key, not signed>"
    assert results["verify"].to_arrow().column_names == ["severity", "file", "where", "message"]
    assert "Not for release" in str(results["run"])


def test_in_a_notebook_a_result_is_a_table(results: dict[str, Result]) -> None:
    texts = {"found", "validate", "explore", "verify"}  # lists of different things, or nothing
    rows = {name: Cells(each._repr_html_()).rows for name, each in results.items()}
    assert all(len(rows[name]) > 1 for name in results if name not in texts)
    assert rows["plan"][0][:4] == ["geography_level", "iteration_level", "family", "groups"]
    assert all("<table" in each._repr_html_() for name, each in results.items() if name not in texts)


def test_in_print_a_plan_is_a_table(results: dict[str, Result]) -> None:
    title, head, first, *_ = str(results["plan"]).splitlines()
    assert title.startswith("Plan of a run of SafeTab-P: ")
    assert head.split()[:3] == ["geography_level", "iteration_level", "family"]
    assert first.split()[:3] == ["USA", "Regional", "persons"]


def test_every_result_gives_arrow(results: dict[str, Result]) -> None:
    tables = {name: each.to_arrow() for name, each in results.items()}
    assert tables["plan"]["budget"].to_pylist()[:2] == [0.008, 2.134]
    assert tables["run"].column_names == ["file", "rows"]
    assert tables["spend"]["limit_rho"].to_pylist() == [9.0, 9.0]
    assert tables["spend"].select(["data_set", "pass", "runs"]).to_pylist()[0] == {
        "data_set": "demo", "pass": "us", "runs": 1,
    }  # fmt: skip
    assert tables["validate"].num_rows == 0
    assert tables["noises"]["margin"].null_count == 0
    assert results["plan"].to_pandas().shape == (tables["plan"].num_rows, tables["plan"].num_columns)


def test_a_plan_and_a_run_say_what_each_pass_costs(results: dict[str, Result]) -> None:
    plan, run, accuracy = results["plan"], results["run"], results["accuracy"]
    assert isinstance(plan, safetab.RunPlan)
    assert isinstance(run, safetab.RunSummary)
    assert isinstance(accuracy, safetab.AccuracySummary)
    losses = plan.losses()
    assert losses.equals(run.losses())
    assert losses["pass"].to_pylist() == ["us", "pr", "whole run"]
    assert losses["unit"].to_pylist() == ["rho"] * 3
    assert losses["unbounded"].to_pylist()[0] == pytest.approx(4.944)
    assert accuracy.table().num_rows == accuracy.rows["accuracy"]


def test_the_functions_do_what_the_commands_do(demo_census: Path, demo_out: Path, tmp_path: Path) -> None:
    assert safetab.report(demo_out, tmp_path / "report.html").read_text().startswith("<!")
    site = safetab.site(demo_out, tmp_path / "site")
    assert (tmp_path / "site" / "index.html").is_file()
    assert site.numbers > 1000
    short = tmp_path / "short.txt"
    assert safetab.lists(demo_census / "parameters", short=short) == ()
    assert len(short.read_text().splitlines()) == 178  # a row for each iteration, and the head
    with pytest.raises(safetab.InvalidInput, match="already exists"):
        safetab.report(demo_out, tmp_path / "report.html")


def test_the_accounts_are_a_statement_are_checked_and_are_merged(results: dict[str, Result], tmp_path: Path) -> None:
    accounts = results["spend"]
    assert isinstance(accounts, safetab.AccountsOfLog)
    rows = accounts.statement().to_pylist()
    assert [(row["dataset"], row["pass"], row["ended"], row["limit_rho"]) for row in rows] == [
        ("demo", "us", "released", "9"), ("demo", "pr", "released", "9"),
    ]  # fmt: skip
    log = next(tmp_path.parent.glob("results*/spend.log"))
    assert safetab.check_spend_log(log) == ()
    other = tmp_path / "other.log"
    other.write_bytes(log.read_bytes())
    other.chmod(0o600)
    assert safetab.merge_spend_logs([log, other], tmp_path / "all.log") == ()
    assert safetab.spend(tmp_path / "all.log", "demo").statement().to_pylist() == rows
    changed = safetab.spend(tmp_path / "all.log", "demo", set_limit=1e-7).to_arrow()
    assert changed["limit_rho"].to_pylist() == [1e-7] * 2
    assert RunOptions.of(spend_log=log, dataset="demo", spend_limit=np.float64(2.5e-7)).spend_limit == "0.00000025"
    with pytest.raises(safetab.InvalidInput, match="logs: must be two or more spend logs"):
        safetab.merge_spend_logs([log], tmp_path / "one.log")
    other.write_text("no log")
    (found,) = safetab.check_spend_log(other)
    assert found.is_error


def test_a_census_of_ones_own_is_made_in_four_lines(tmp_path: Path) -> None:
    census = safetab.new(tmp_path / "mine")
    made = safetab.synthesize(census.parent, 2000)
    assert safetab.validate(made.parameters, made.data) == made.warnings == ()
    run = safetab.run(made.parameters, made.data, tmp_path / "out")
    assert run.status.value == "synthetic"
    with pytest.raises(safetab.InvalidInput, match=r"`safetab.new\(.*\)` starts one; to make .* there, add `us`"):
        safetab.synthesize(tmp_path / "nothing", 2000)


def test_a_summary_of_a_comparison_and_of_an_audit_is_a_table() -> None:
    from safetab.auditing.verdicts import AuditReport, Part, verdict  # noqa: PLC0415
    from safetab.comparison.compare import ComparisonSummary  # noqa: PLC0415

    compared = ComparisonSummary((), ("round:base=5", "safetab"), ())
    assert Cells(compared._repr_html_()).rows == [["protection"], ["round:base=5"], ["safetab"]]
    part = Part("Nothing is lost.", "counts", 1, 1, lambda *_: iter(()))
    found = ((part, verdict("sums", (), "10 sums were equal")),)
    report = AuditReport(found, is_quick=True, date=datetime.date(2026, 11, 18))
    assert str(report).splitlines()[0].startswith("1 check: 1 passed, 0 failed, 0 not shown.")
    assert report.to_arrow()["result"].to_pylist() == ["passed"]
