from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.conftest import SHARED, SMALL_EXAMPLE, World
from tests.random_worlds import write_random_world
from typer.testing import CliRunner

from safetab.cli.main import app

SMALL = [str(SMALL_EXAMPLE / "parameters"), str(SMALL_EXAMPLE / "data")]
SAFETAB = [sys.executable, "-c", "from safetab.cli.start import main; main()"]


def test_plan_shows_every_level_and_the_totals() -> None:
    result = CliRunner().invoke(app, ["plan", *SMALL])
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


def test_plan_of_pure_dp_has_scales_and_no_delta(world: World) -> None:
    world.configure(privacy_defn="puredp")
    result = CliRunner().invoke(app, ["plan", str(world.parameters), str(world.data)])
    assert result.exit_code == 0
    assert "two-sided geometric noise" in result.stdout
    assert "scale" in result.stdout
    assert "delta" not in result.stdout


def test_validate_plan_and_run_warn_of_the_same_losses(tmp_path: Path) -> None:
    """A level with more than 1,000 times the budget of the costliest level of 2020."""
    world = write_random_world(tmp_path / "world", 2, budget=1)
    world.configure(privacy_defn="zcdp", privacy_budget_p_level_2_state=2000)
    given = [str(world.parameters), str(world.data)]
    told = {
        "validate": CliRunner().invoke(app, ["validate", *given]).stderr,
        "plan": CliRunner().invoke(app, ["plan", *given]).stdout,
        "run": CliRunner().invoke(app, ["run", *given, str(tmp_path / "out")]).stderr,
    }
    warnings = json.loads(CliRunner().invoke(app, ["plan", *given, "--json"]).stdout)["privacy_warnings"]
    assert any(warning.startswith("(STATE, Detailed): The loss of this level, rho 2,000") for warning in warnings)
    for command, text in told.items():
        assert all(warning in " ".join(text.split()) for warning in warnings), command


def test_plan_for_programs_is_json_alone() -> None:
    result = CliRunner().invoke(app, ["plan", *SMALL, "--json"])
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


def test_plan_opens_no_person_file(world: World) -> None:
    os.mkfifo(world.data / "person-records.txt")  # whoever opens it to read waits for ever
    subprocess.run([*SAFETAB, "plan", str(world.parameters), str(world.data)], check=True, timeout=60)


def test_help_is_quick_and_names_what_is_needed() -> None:
    started = time.perf_counter()
    result = subprocess.run([*SAFETAB, "--help"], capture_output=True, text=True, check=True)
    assert time.perf_counter() - started < 5  # a hang, not a benchmark
    for word in ("PARAMETERS", "DATA", "plan", "validate", "Exit codes"):
        assert word in result.stdout
    loaded = "import sys, safetab.cli.main; print(sorted({'numpy', 'pyarrow', 'flint', 'duckdb'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True).strip() == "[]"


@pytest.mark.parametrize(
    "arguments", [["plan"], ["plan", "one"], ["nothing"], ["plan", "a", "b", "c"], ["plan", *SMALL, "--xml"]]
)
def test_wrong_usage_is_exit_2(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_ctrl_c_is_exit_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("safetab.planning.planner.plan_of_files", interrupted)
    result = CliRunner().invoke(app, ["plan", *SMALL])
    assert result.exit_code == 130


def test_output_that_cannot_be_written_is_exit_3() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*SAFETAB, "plan", *SMALL], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 3
    assert "Traceback" not in result.stderr


def test_a_reader_who_leaves_early_is_no_error() -> None:
    command = f"{' '.join(map(shlex.quote, [*SAFETAB, 'plan', *SMALL, '--json']))} | head -1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("{\n", "")


def test_the_version_is_told() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout.startswith("safetab 0.")


def test_a_file_without_permission_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    result = CliRunner().invoke(app, ["plan", str(world.parameters), str(world.data)])
    assert result.exit_code == 1
    assert "may not be read. Check its permissions." in result.stderr


@pytest.mark.needs_2020_files
def test_the_2020_plan_runs_from_the_terminal(tmp_path: Path) -> None:
    data, parameters = SHARED / "cases" / "two-states-20k" / "data", tmp_path / "parameters"
    shutil.copytree(SHARED / "spec-2020", parameters, copy_function=shutil.copyfile)
    config = (parameters / "config.json").read_text()
    (parameters / "config.json").write_text(config.replace('"reader": "cef"', '"reader": "csv"'))
    result = subprocess.run([*SAFETAB, "plan", str(parameters), str(data)], capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert "no block of state 01, 02, 04, 05, 08 and 44 more" in result.stderr
    assert "141,426 population groups" in result.stdout
