from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import safetab
from tests.commands import cli
from tests.conftest import SHARED, SMALL_EXAMPLE
from tests.inside import plan_of_files, planner_module
from tests.worlds.people import write_random_world

SMALL = [str(SMALL_EXAMPLE / "parameters"), str(SMALL_EXAMPLE / "data")]
SAFETAB = [sys.executable, "-c", "from safetab.cli.start import main; main()"]


def test_plan_shows_every_level_and_the_totals():
    result = cli("plan", *SMALL)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "805 population groups at 19 levels" in result.stdout
    for row in [
        " United States                4.85      9.7      25.0701      38.4783",
        " rho                           0.01            2           0.01            0.2",
        " Sex by Age(4)           from 5,000     from 500     from 5,000     from 1,000",
        "   +/- total                     83            9             83             28",
        " +/- total-only group             -            3              -              -",
        " T                                -            -             55             19",
        " stability                        4            9              4              9",
        " sigma, stage 1              44.721       4.7434         44.721             15",
        " USA Detailed               1          19           2      21      21.00  0.00",
        " all levels                                               805     112.04  0.00",
        "   with T                                                 693       0.04  0.00",
        "Not tabulated, for a budget of 0: (AIANNH, Regional).",
    ]:
        assert row in result.stdout
    assert "…" not in result.stdout  # no number is cut short


def test_plan_of_pure_dp_has_scales_and_no_delta(world):
    world.configure(privacy_defn="puredp")
    result = cli("plan", *world)
    assert result.exit_code == 0
    assert "two-sided geometric noise" in result.stdout
    assert "scale" in result.stdout
    assert "delta" not in result.stdout


def test_validate_plan_and_run_warn_of_the_same_losses(tmp_path):
    """A level with more than 1,000 times the budget of the costliest level of 2020."""
    world = write_random_world(tmp_path / "world", 2, budget=1)
    world.configure(privacy_defn="zcdp", privacy_budget_p_level_2_state=2000)
    given = [str(world.parameters), str(world.data)]
    told = {
        "validate": cli("validate", *given).stderr,
        "plan": cli("plan", *given).stdout,
        "run": cli("run", *given, tmp_path / "out").stderr,
    }
    warnings = json.loads(cli("plan", *given, "--json").stdout)["privacy_warnings"]
    assert any(warning.startswith("(STATE, Detailed): The loss of this level, rho 2,000") for warning in warnings)
    for command, text in told.items():
        assert all(warning in " ".join(text.split()) for warning in warnings), command


def test_validate_plan_and_run_warn_of_the_same_choices(tmp_path):
    """Of a suppression chance of 0, and of thresholds within the noise."""
    world = write_random_world(tmp_path / "world", 2, budget=1)
    world.configure(privacy_defn="zcdp", zero_suppression_chance=0)
    given = [str(world.parameters), str(world.data)]
    warnings = [finding.message for finding in plan_of_files(*world).warnings]
    assert "A suppression chance of 0 publishes every empty group." in warnings
    assert any("lies within the noise of stage 1" in warning for warning in warnings)
    for words in (["validate", *given], ["plan", *given], ["run", *given, str(tmp_path / "out")]):
        told = " ".join(cli(*words).stderr.split())
        assert all(warning in told for warning in warnings), words


def test_plan_for_programs_is_json_alone():
    result = cli("plan", *SMALL, "--json")
    plan = json.loads(result.stdout)
    assert plan["loss"]["whole_run"]["unbounded_rho"] == "4.85"
    (county,) = (
        level
        for level in plan["levels"]
        if (level["geography_level"], level["iteration_level"]) == ("COUNTY", "Detailed")
    )
    assert county["margins_of_error"]["sex_age_4"] == {"cell": 10, "sex_marginal": 20, "total": 28}
    assert county["stages"]["stage_2"] == {
        "budget": "0.18",
        "mechanism": "discrete_gaussian",
        "sigma_squared": "25",
        "sigma": 5.0,
    }
    assert county["suppression_threshold"] == 19


def test_plan_opens_no_person_file(world):
    os.mkfifo(world.data / "person-records.txt")  # whoever opens it to read waits for ever
    subprocess.run([*SAFETAB, "plan", str(world.parameters), str(world.data)], check=True, timeout=60)


def test_help_is_quick_and_names_what_is_needed():
    started = time.perf_counter()
    result = subprocess.run([*SAFETAB, "--help"], capture_output=True, text=True, check=True)
    assert time.perf_counter() - started < 5  # a hang, not a benchmark
    for word in ("PARAMETERS", "DATA", "plan", "validate", "Exit codes"):
        assert word in result.stdout
    loaded = "import sys, safetab.cli.main; print(sorted({'numpy', 'pyarrow', 'flint', 'duckdb'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True).strip() == "[]"


@pytest.mark.parametrize(
    "arguments", [["plan"], ["plan", SMALL[0]], ["nothing"], ["plan", "a", "b", "c"], ["plan", *SMALL, "--xml"]]
)
def test_wrong_usage_is_exit_2(arguments):
    result = cli(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_ctrl_c_is_exit_130(monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(planner_module, "plan_of_files", interrupted)
    result = cli("plan", *SMALL)
    assert result.exit_code == 130


def test_output_that_cannot_be_written_is_exit_3():
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*SAFETAB, "plan", *SMALL], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 3
    assert "Traceback" not in result.stderr


def test_a_reader_who_leaves_early_is_no_error():
    command = f"{' '.join(map(shlex.quote, [*SAFETAB, 'plan', *SMALL, '--json']))} | head -1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("{\n", "")


def test_the_version_is_told():
    assert cli("--version").stdout.startswith("safetab 1.")


def test_a_file_without_permission_is_told(world, monkeypatch):
    def forbidden(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    result = cli("plan", *world)
    assert result.exit_code == 1
    assert "may not be read. Check its permissions." in result.stderr


@pytest.mark.needs_2020_files
def test_the_2020_plan_runs_from_the_terminal(tmp_path):
    data, parameters = SHARED / "cases" / "two-states-20k" / "data", tmp_path / "parameters"
    shutil.copytree(SHARED / "spec-2020", parameters, copy_function=shutil.copyfile)
    config = (parameters / "config.json").read_text()
    (parameters / "config.json").write_text(config.replace('"reader": "cef"', '"reader": "csv"'))
    result = subprocess.run([*SAFETAB, "plan", str(parameters), str(data)], capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert "no block of state 01, 02, 04, 05, 08 and 44 more" in result.stderr
    assert "141,426 population groups" in result.stdout


def described(words: list[str]) -> str:
    return cli(*words).output


@pytest.mark.parametrize("words", [[], ["run"], ["tune"], ["tune", "levels"], ["cef", "blocks"], ["selftest"]])
def test_every_command_shows_its_help_for_h(words):
    assert described([*words, "-h"]) == described([*words, "--help"])
    assert described([*words, "-h"]).startswith("Usage:")


def test_the_help_lists_commands_by_task_and_no_earlier_name():
    shown = described(["--help"]).splitlines()
    headings = [line for line in shown if line.endswith(":") and not line.startswith(" ")]
    assert headings == [
        "Options:", "Start:", "Run a census:", "Use a release:", "Choose parameters:", "Check the program:",
    ]  # fmt: skip
    listed = {line.split()[0] for line in shown if line.startswith("  ") and not line.startswith("   ")}
    assert {"run", "cef", "tune", "audit", "rerelease"} <= listed
    for earlier in ("coterminous", "convert", "blocks-with-units", "selftest"):
        assert earlier not in listed
        assert cli(earlier, "--help").exit_code == 0
    for command, hidden in (("run", "--spark-master"), ("show", "--county"), ("show", "--nation")):
        assert hidden not in described([command, "--help"])


@pytest.mark.parametrize(
    ("words", "suggested"),
    [
        (["validate", "--jsno", *SMALL], "--json"),
        (["site", "--jam", *SMALL], None),
        (["run", "--confidnce", "0.9", *SMALL, "out"], "--confidence"),
        (["run", "--overwite", *SMALL, "out"], "--overwrite"),
    ],
)
def test_an_option_is_suggested_only_if_it_is_similar(words, suggested):
    result = cli(*words)
    assert result.exit_code == 2
    assert f"No such option: {words[1]}" in result.stderr
    assert ("Possible options" in result.stderr) == (suggested is not None)
    assert suggested is None or f"(Possible options: {suggested})" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["synthesize", "x", "--people", "ten"], "'--people': must be a whole number."),
        (["validate", *SMALL, "--threads", "0"], "'--threads': must be at least 1"),
        (["export", "a", "b", "--form", "x"], "'--form': 'x' is not one of 'tidy', 'census'."),
    ],
)
def test_a_value_of_the_wrong_kind_is_answered_in_plain_words(words, message):
    result = cli(*words)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_a_quiet_run_prints_its_result_alone(tmp_path):
    world = write_random_world(tmp_path / "world", 3, people=60, budget=1)
    given = [str(world.parameters), str(world.data), str(tmp_path / "out")]
    result = cli("run", *given, "--quiet")
    assert (result.exit_code, "done in" in result.stderr) == (0, False)
    begins = [line[:7] for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert begins == ["Wrote /", "Privacy", "Status:"]
    shown = cli("run", *given, "--overwrite")
    assert "Checking the person records: done in" in shown.stderr
    for words in (["validate", *given[:2]], ["plan", *given[:2]]):
        assert "done in" not in cli(*words, "-q").stderr


def commands_of(words: list[str]) -> Iterator[list[str]]:
    """Every command below these words that the help lists."""
    shown = described([*words, "--help"]).partition("\nOptions:")[2].partition(":\n")[2]
    names = re.findall(r"(?m)^  ([a-z][a-z-]*) ", shown)
    if not names:
        yield words
    for name in names:
        yield from commands_of([*words, name])


def test_every_command_takes_quiet():
    commands = [*commands_of([])]
    assert len(commands) > 20
    assert {("tune", "budget"), ("cef", "blocks"), ("site",), ("spend",)} <= {*map(tuple, commands)}
    for words in commands:
        assert "-q, --quiet" in described([*words, "--help"]), words


def test_a_quiet_command_that_writes_prints_nothing(tmp_path):
    world = write_random_world(tmp_path / "world", 3, people=60, budget=1)
    out = str(tmp_path / "out")
    assert cli("run", *world, out, "-q").exit_code == 0
    for words in (["report", out, "-o"], ["export", out], ["site", out], ["rerelease", out], ["new"]):
        result = cli(*words, tmp_path / words[0], "--quiet")
        assert (result.exit_code, result.output) == (0, ""), words
        assert (tmp_path / words[0]).exists()


@pytest.mark.parametrize(
    "words",
    [
        ["lists", "{}"],
        ["explore", "--parameters", "{}"],
        ["tune", "levels", "--parameters", "{}"],
        ["plan", "{}"],
        ["run", "{}", "{}", "{}-out"],
    ],
)
def test_data_in_the_place_of_parameters_is_told_once(words, tmp_path):
    (tmp_path / "person-records.txt").touch()
    result = cli(*[word.format(tmp_path) for word in words], env={"COLUMNS": "1000"})
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"the command has 1 problem:\n  PARAMETERS: {tmp_path} looks like DATA: it has person-records. "
        "Give the directory of config.json.\n"
    )


@pytest.mark.parametrize("words", [["cef", "convert", "{}", "{}-x"], ["cef", "blocks", "{}", "{}-x"]])
def test_a_folder_in_the_place_of_the_ini_file_is_told(words, tmp_path):
    given = [word.format(tmp_path) for word in words]
    result = cli(*given, env={"COLUMNS": "1000"})
    assert "READER.INI is the .ini file of a CEF." in result.stderr
    assert "config.json" not in result.stderr


def test_records_of_another_census_are_told_once(tmp_path):
    assert cli("new", tmp_path / "mine", "-q").exit_code == 0
    data = tmp_path / "data"
    data.mkdir()
    (data / "person-records.txt").touch()
    given = ["validate", str(tmp_path / "mine"), str(data), "-q"]
    result = cli(*given, env={"COLUMNS": "1000"})
    has = f"{data} has the person-records of SafeTab-P"
    assert result.stderr == f"census.toml describes other records: {has}. Give the DATA of this census.\n"


@pytest.mark.parametrize("command", ["validate", "plan", "run", "accuracy"])
@pytest.mark.parametrize("kind", ["config.json", "census.toml"])
def test_swapped_folders_are_told_once_with_the_command_to_type(command, kind, tmp_path):
    parameters, data, out = tmp_path / "parameters", tmp_path / "data", tmp_path / "out"
    for folder in (parameters, data):
        folder.mkdir()
    (parameters / kind).write_text("{}")
    others = [str(out)] if command in {"run", "accuracy"} else []
    result = cli(command, data, parameters, *others, env={"COLUMNS": "1000"})
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        "the command has 1 problem:",
        f"  PARAMETERS and DATA look swapped: {kind} is in {parameters}, not in {data}.",
        f"Type: safetab {command} {' '.join([str(parameters), str(data), *others])}",
    ]
    with pytest.raises(safetab.InvalidInput, match="look swapped"):
        safetab.plan(data, parameters)
