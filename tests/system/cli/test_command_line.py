import faulthandler
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import safetab
from tests.cases import cases_of
from tests.commands import cli, done, invalid, raising, refused
from tests.conftest import SHARED, SMALL_EXAMPLE
from tests.inside import plan_of_files, public_files_module
from tests.worlds.people import no_budgets_but, write_random_world
from tests.worlds.world import World

SMALL = World.of(SMALL_EXAMPLE)
FEW = {"run_pr": False, **no_budgets_but("2_state", "2_county")}
SAFETAB = [sys.executable, "-c", "from safetab.cli.start import main; main()"]


SHOWN = """
805 population groups at 19 levels
 United States                4.85      9.7      25.0701      38.4783
 rho                           0.01            2           0.01            0.2
 Sex by Age(4)           from 5,000     from 500     from 5,000     from 1,000
   +/- total                     83            9             83             28
 +/- total-only group             -            3              -              -
 T                                -            -             55             19
 stability                        4            9              4              9
 sigma, stage 1              44.721       4.7434         44.721             15
 USA Detailed               1          19           2      21      21.00  0.00
 all levels                                               805     112.04  0.00
   with T                                                 693       0.04  0.00
Not tabulated, for a budget of 0: (AIANNH, Regional).
"""


def test_plan_shows_every_level_and_the_totals():
    result = cli("plan", *SMALL)
    assert (result.exit_code, result.stderr) == (0, "")
    for row in SHOWN.strip("\n").split("\n"):
        assert row in result.stdout
    assert "…" not in result.stdout  # no number is cut short


def test_plan_of_pure_dp_has_scales_and_no_delta(world):
    world.configure(privacy_defn="puredp")
    shown = done("plan", *world)
    assert [word in shown for word in ("two-sided geometric noise", "scale", "delta")] == [True, True, False]


def test_validate_plan_and_run_warn_of_the_same_losses_and_choices(tmp_path):
    """A level with over 1,000 times the budget of the costliest level of 2020, a suppression chance of 0, low thresholds."""
    world = write_random_world(tmp_path, 2, budget=1, privacy_defn="zcdp", zero_suppression_chance=0, **FEW)
    world.configure(privacy_budget_p_level_2_state=2000)
    losses = json.loads(cli("plan", *world, "--json").stdout)["privacy_warnings"]
    choices = [finding.message for finding in plan_of_files(*world).warnings]
    assert any(warning.startswith("(STATE, Detailed): The loss of this level, rho 2,000") for warning in losses)
    assert "A suppression chance of 0 publishes every empty group." in choices
    assert any("lies within the noise of stage 1" in warning for warning in choices)
    for command in (["validate", *world], ["plan", *world], ["run", *world, tmp_path / "out"]):
        result = cli(*command)
        told = " ".join(result.stderr.split())
        assert [warning for warning in choices if warning not in told] == [], command
        if command[0] == "plan":
            told = " ".join(result.stdout.split())
        assert [warning for warning in losses if warning not in told] == [], command


def test_plan_for_programs_is_json_alone():
    plan = json.loads(cli("plan", *SMALL, "--json").stdout)
    assert plan["loss"]["whole_run"]["unbounded_rho"] == "4.85"
    levels = {(one["geography_level"], one["iteration_level"]): one for one in plan["levels"]}
    county = levels["COUNTY", "Detailed"]
    assert county["margins_of_error"]["sex_age_4"] == {"cell": 10, "sex_marginal": 20, "total": 28}
    stage = county["stages"]["stage_2"]
    assert (stage["budget"], stage["mechanism"], stage["sigma_squared"]) == ("0.18", "discrete_gaussian", "25")
    assert county["suppression_threshold"] == 19


def test_plan_opens_no_person_file(world):
    os.mkfifo(world.data / "person-records.txt")  # whoever opens it to read waits for ever
    faulthandler.dump_traceback_later(600, exit=True)
    done("plan", *world)
    faulthandler.cancel_dump_traceback_later()


def test_help_is_quick_and_names_what_is_needed():
    """And it loads no large library."""
    loaded = (
        "import atexit, sys; atexit.register(lambda: print({'numpy', 'pyarrow', 'flint', 'duckdb'} & {*sys.modules}))"
    )
    before = os.times().children_user
    shown = subprocess.check_output([*SAFETAB[:2], f"{loaded}; {SAFETAB[2]}", "--help"], text=True)
    assert os.times().children_user - before < 5
    for word in ("PARAMETERS", "DATA", "plan", "validate", "Exit codes"):
        assert word in shown
    assert shown.endswith("\nset()\n")


@pytest.mark.parametrize("arguments", ["plan", f"plan {SMALL.parameters}", "nothing", "plan a b c", "plan a b --xml"])
def test_wrong_usage_is_exit_2(arguments):
    refused(*arguments.split(), code=2)


def test_ctrl_c_is_exit_130(monkeypatch):
    monkeypatch.setattr(public_files_module, "plan_of_files", raising(KeyboardInterrupt))
    refused("plan", *SMALL, code=130)


def test_output_that_cannot_be_written_is_exit_3_and_a_reader_who_left_is_no_error():
    reader, left = os.pipe()
    os.close(reader)
    full = os.open("/dev/full", os.O_WRONLY)
    of_full, of_left = (
        subprocess.run([*SAFETAB, "--help"], stdout=stream, stderr=subprocess.PIPE, text=True, check=False)
        for stream in (full, left)
    )
    os.close(full)
    os.close(left)
    assert (of_full.returncode, "Traceback" in of_full.stderr) == (3, False)
    assert of_left.stderr == ""


def test_the_version_is_told():
    assert done("--version").startswith("safetab 1.")


def test_a_file_without_permission_is_told(world, monkeypatch):
    monkeypatch.setattr(Path, "read_bytes", raising(PermissionError(13, "Permission denied", "a file")))
    assert "may not be read. Check its permissions." in refused("plan", *world)


@pytest.mark.slow
@pytest.mark.needs_2020_files
def test_the_2020_plan_runs_from_the_terminal(tmp_path):
    world = World(tmp_path / "parameters", SHARED / "cases" / "two-states-20k" / "data")
    shutil.copytree(SHARED / "spec-2020", world.parameters, copy_function=shutil.copyfile)
    world.configure(reader="csv")
    result = cli("plan", *world)
    assert result.exit_code == 0
    assert "no block of state 01, 02, 04, 05, 08 and 44 more" in result.stderr
    assert "141,426 population groups" in result.stdout


@cache
def help_of(*words):
    return done(*words, "--help")


@pytest.mark.parametrize("words", ["", "run", "tune", "tune levels", "cef blocks", "selftest"])
def test_every_command_shows_its_help_for_h(words):
    shown = done(*words.split(), "-h")
    assert shown == help_of(*words.split())
    assert shown.startswith("Usage:")


def test_the_help_lists_commands_by_task_and_no_earlier_name():
    shown = help_of().splitlines()
    headings = [line for line in shown if line.endswith(":") and not line.startswith(" ")]
    assert " ".join(headings) == ("Options: Start: Run a census: Use a release: Choose parameters: Check the program:")
    listed = {line.split()[0] for line in shown if line.startswith("  ") and not line.startswith("   ")}
    assert {"run", "cef", "tune", "audit", "rerelease"} <= listed
    for earlier in ["coterminous", "convert", "blocks-with-units", "selftest"]:
        assert earlier not in listed
        help_of(earlier)
    for command, hidden in (("run", "--spark-master"), ("show", "--county"), ("show", "--nation")):
        assert hidden not in help_of(command)


@pytest.mark.parametrize(
    ("words", "suggested"),
    cases_of(
        """
        validate --jsno | --json
        site --jam |
        run --confidnce 0.9 | --confidence
        run --overwite | --overwrite
        """
    ),
)
def test_an_option_is_suggested_only_if_it_is_similar(words, suggested):
    told = refused(*words.split(), *SMALL, code=2)
    assert f"No such option: {words.split()[1]}" in told
    assert re.findall(r"\(Possible options: (.*?)\)", told) == suggested.split()


@pytest.mark.parametrize(
    ("words", "message"),
    cases_of(
        """
        synthesize x --people ten | '--people': must be a whole number.
        validate a b --threads 0 | '--threads': must be at least 1
        export a b --form x | '--form': 'x' is not one of 'tidy', 'census'.
        """
    ),
)
def test_a_value_of_the_wrong_kind_is_answered_in_plain_words(words, message):
    assert message in refused(*words.split(), code=2)


def test_a_quiet_run_prints_its_result_alone(releases, out):
    world = releases.people(2, budget=1, **FEW).world
    result = cli("run", *world, out, "--quiet")
    assert (result.exit_code, "done in" in result.stderr) == (0, False)
    begins = [line[:7] for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert begins == ["Wrote /", "Privacy", "Status:"]
    assert "Checking the person records: done in" in cli("validate", *world).stderr
    for command in ("validate", "plan"):
        assert "done in" not in cli(command, *world, "-q").stderr


def commands_of(*words):
    """Every command below these words that the help lists."""
    shown = help_of(*words).partition("\nOptions:")[2].partition(":\n")[2]
    names = re.findall(r"(?m)^  ([a-z][a-z-]*) ", shown)
    return [found for name in names for found in commands_of(*words, name)] or [words]


def test_every_command_takes_quiet():
    commands = commands_of()
    assert len(commands) > 20
    assert {("tune", "budget"), ("cef", "blocks"), ("site",), ("spend",)} <= {*commands}
    assert [words for words in commands if "-q, --quiet" not in help_of(*words)] == []


@pytest.mark.parametrize("words", ["report OUT -o", "export OUT", "site OUT", "rerelease OUT", "new"])
def test_a_quiet_command_that_writes_prints_nothing(words, releases, new):
    out = releases.people(2, budget=1, **FEW).out
    assert done(*words.replace("OUT", str(out)).split(), new, "--quiet") == ""
    assert new.exists()


@pytest.mark.parametrize(
    "words", ["lists {}", "explore --parameters {}", "tune levels --parameters {}", "plan {}", "run {} {} {}-out"]
)
def test_data_in_the_place_of_parameters_is_told_once(words, tmp_path):
    (tmp_path / "person-records.txt").touch()
    assert refused(*words.replace("{}", str(tmp_path)).split()) == (
        f"the command has 1 problem: PARAMETERS: {tmp_path} looks like DATA: it has person-records. "
        "Give the directory of config.json."
    )


@pytest.mark.parametrize("command", ["convert", "blocks"])
def test_a_folder_in_the_place_of_the_ini_file_is_told(command, tmp_path):
    told = refused("cef", command, tmp_path, f"{tmp_path}-x")
    assert "READER.INI is the .ini file of a CEF." in told
    assert "config.json" not in told


def test_records_of_another_census_are_told_once(tmp_path):
    done("new", tmp_path / "mine")
    data = tmp_path / "data"
    data.mkdir()
    (data / "person-records.txt").touch()
    has = f"{data} has the person-records of SafeTab-P"
    told = refused("validate", tmp_path / "mine", data, "-q")
    assert told == f"census.toml describes other records: {has}. Give the DATA of this census."


@pytest.mark.parametrize("command", ["validate", "plan", "run", "accuracy"])
@pytest.mark.parametrize("kind", ["config.json", "census.toml"])
def test_swapped_folders_are_told_once_with_the_command_to_type(command, kind, tmp_path):
    parameters, data = World.of(tmp_path)
    parameters.mkdir()
    data.mkdir()
    (parameters / kind).write_text("{}")
    others = [tmp_path / "out"] if command in {"run", "accuracy"} else []
    assert refused(command, data, parameters, *others) == (
        f"the command has 1 problem: PARAMETERS and DATA look swapped: {kind} is in {parameters}, not in {data}. "
        f"Type: safetab {' '.join(map(str, [command, parameters, data, *others]))}"
    )
    assert "look swapped" in invalid(safetab.plan, data, parameters)
