"""What all runs on a data set spent is on the disk before noise is drawn, and none of it is in an output."""

import errno
import fcntl
import json
import shlex
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

import safetab
from tests.cases import cases_of, values_of
from tests.commands import cli, done, refused, refusing
from tests.inside import (
    US,
    InvalidInput,
    PrivacyDefinition,
    RunSpending,
    Spend,
    SpendLogFile,
    SpendRequest,
    begun_line,
    read_inputs,
    run_module,
    run_spending_module,
    safetab_module,
    utc_now,
)
from tests.person_forms import parquet_of_integers, people_of
from tests.releases import files_of
from tests.spend_logs import earlier_header
from tests.worlds.people import write_random_world
from tests.worlds.world import KEY, World

pytestmark = pytest.mark.slow

SAFETAB = [sys.executable, "-c", "from safetab.cli.start import main; main()"]
TABULATING = "Tabulating the levels"
CUT_SHORT = '{"state": "begun", "run": "01'


class Runs(NamedTuple):
    """Runs on a world, with the accounts of a folder."""

    world: World
    folder: Path

    def __call__(self, out, *options, name="census", code=0):
        """What a run says beside its results."""
        result = cli("run", *self.world, self.folder / out, *self.accounts(name), *options)
        assert result.exit_code == code, result.output
        return result.stderr

    def accounts(self, name="census"):
        return ["--dataset", name, "--spend-log", str(self.log)]

    @property
    def log(self):
        return self.folder / "spend.log"

    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()[1:]]

    def states(self):
        return [line["state"] for line in self.lines()] if self.log.exists() else []

    def cost(self):
        plan = safetab.plan(*self.world)
        return {each.name: plan.loss_of(each).unbounded for each in US.passes}

    def most(self):
        return max(self.cost().values())

    def known(self, *options):
        return json.loads(cli("spend", self.log, "--json", *options).stdout)["accounts"]

    def add_person(self, at=0):
        self.world.append("person-records.txt", people_of(self.world)[at])

    def spending(self, limit=None):
        plan = read_inputs(*self.world).require().plan
        return RunSpending(SpendRequest("census", self.log, limit), plan, lambda _: None)

    def command(self, out, *options):
        return [*SAFETAB, "run", *map(str, (*self.world, self.folder / out)), *self.accounts(), *options]


@pytest.fixture
def run(tmp_path):
    """Every level costs 1, so that the sums of the passes are whole numbers."""
    world = write_random_world(tmp_path / "world", 5, people=300, budget=1, privacy_defn="zcdp", max_race_codes=8)
    return Runs(world, tmp_path)


def fingerprints(_):
    return dict.fromkeys(("us", "pr"), "0" * 32)


def test_the_next_run_says_what_was_spent(run, tmp_path):
    cost = run.cost()
    assert 'Spent before on "census", US pass: nothing.' in run("one")
    assert run.states() == ["begun", "begun", "released"]
    assert {line["pass"]: Fraction(line["budget"]) for line in run.lines()[:2]} == cost
    second = run("two")
    for which in ("us", "pr"):
        told = f'Spent before on "census", {which.upper()} pass: rho {cost[which]} in 1 run.'
        assert told in second
        assert told in (tmp_path / "two.confidential.log").read_text()
    assert not [option for option in ("--dataset", "--spend-log", "--same-people-as") if option in second]
    assert 'Spent before on "other-people", US pass: nothing.' in run("three", name="other-people", code=1)


def test_over_the_limit_a_run_is_refused_before_persons_are_read(run, tmp_path):
    limit = ["--spend-limit", 2 * run.most()]
    for name in ("one", "two"):
        run(name, *limit)
    before = run.log.read_bytes()
    told = run("three", *limit, code=1)
    assert f"would make rho {3 * run.most()}, more than the limit of rho {limit[1]}." in told
    assert f"safetab spend {run.log} --dataset census --set-limit X" in told
    assert "Checking the person records" not in told
    assert not (tmp_path / "three").exists()
    assert run.log.read_bytes() == before


def test_a_limit_is_kept_to_the_last_digit(run):
    """0.1 + 0.2 is 0.3; in floating point it would be more."""
    zeros = {key: 0 for key in run.world.config() if key.startswith("privacy_budget_p_level")}
    for name, budget, code in values_of("""
        "one" | 0.1 | 0
        "two" | 0.2 | 0
        "three" | 0.0000001 | 1
    """):
        levels = dict.fromkeys(("privacy_budget_p_level_2_state", "privacy_budget_p_level_2_pr_state"), budget)
        run.world.configure(**zeros | levels)
        run(name, "--spend-limit", "0.3", code=code)


def test_definitions_are_not_mixed_up(run):
    rho, limit = run.cost()["us"], ["--spend-limit", 1000000]
    run("one")
    run.world.configure(privacy_defn="puredp")
    assert "zCDP implies no pure epsilon" in run("two", *limit, code=1)
    run("two")
    run.world.configure(privacy_defn="zcdp")
    third = run("three", *limit)
    assert Fraction(third.split("together rho ")[1].split()[0]) == rho + rho**2 / 2


def test_none_of_it_is_in_the_output(run, tmp_path):
    without = files_of(run.world.run(tmp_path / "without"))
    run("with", "--test-key", KEY, name="a-telling-name")
    assert without == files_of(tmp_path / "with")


def test_noise_is_drawn_after_begun_is_written_and_warnings_are_told(run, tmp_path, monkeypatch):
    run("one")
    run.add_person()
    seen, original = [], safetab_module.tabulate_level

    def watched(*arguments):
        seen.append(run.states())
        assert "were on different records" in (tmp_path / "two.confidential.log").read_text()
        return original(*arguments)

    monkeypatch.setattr(safetab_module, "tabulate_level", watched)
    run("two")
    assert seen[0] == seen[-1] == ["begun", "begun", "released", "begun", "begun"]
    assert run.states()[-1] == "released"


def test_a_run_whose_input_is_invalid_spends_nothing(run):
    run.world.edit("person-records.txt", "|1|", "|7|")
    run("out", code=1)
    assert not run.log.exists()


full = refusing(errno.ENOSPC)


def test_a_run_that_fails_after_it_has_begun_counts(run, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(run_module, "write_manifest", full)
        run("out", code=3)
    assert run.states() == ["begun", "begun", "failed"]
    assert f"US pass: rho {run.cost()['us']} in 1 run." in run("out")


def test_an_output_stays_if_released_can_not_be_noted(run, tmp_path, monkeypatch):
    monkeypatch.setattr(RunSpending, "_append_end", full)
    assert "could not be recorded. The run counts anyway." in " ".join(run("out").split())
    assert (tmp_path / "out" / "manifest.json").exists()
    assert run.states() == ["begun", "begun"]


def test_a_log_that_is_replaced_during_the_run_stops_it(run):
    run("one")
    spending = run.spending()

    def replaced(given):
        content = run.log.read_bytes()
        run.log.unlink()
        run.log.write_bytes(content)
        return fingerprints(given)

    with pytest.raises(InvalidInput, match="moved or replaced"), spending.recorded(replaced):
        raise AssertionError


# Names and people


def test_other_people_under_the_same_name_are_warned_about(run):
    run("one")
    run.add_person(next(number for number, row in enumerate(people_of(run.world)) if row.split("|")[3] == "72"))
    told = run("two")
    assert 'PR pass: 1 of 1 earlier runs on "census" were on different records.' in told
    assert "US pass: 1 of" not in told
    assert told.index("different records") < told.index(TABULATING)


def test_the_same_records_under_another_name_are_refused_unless_the_accounts_are_added(run, tmp_path):
    cost, limit = run.cost(), 3 * run.most()
    run("one", "--spend-limit", limit, name="first-name")
    rows = people_of(run.world)
    (run.world.data / "person-records.txt").unlink()
    parquet_of_integers(run.world.data, rows)
    before = run.log.read_bytes()
    told = run("two", name="second-name", code=1)
    for which in ("us", "pr"):
        known = f'the same records were run under the name "first-name" (rho {cost[which]} in 1 run).'
        assert f"{which.upper()} pass: {known}" in told
    assert TABULATING not in told
    assert not (tmp_path / "two").exists()
    assert run.log.read_bytes() == before
    run("two", "--same-people-as", "first-name", name="second-name")
    assert run.states()[-4:] == ["same-people", "begun", "begun", "released"]
    third = run("three", name="second-name")  # what was confirmed stays so
    assert f'on "second-name" and "first-name", US pass: rho {2 * cost["us"]} in 2 runs.' in third
    for name in ("first-name", "second-name"):  # the limit of the first name binds both, over the sum of both
        told = run("four", name=name, code=1)
        assert f"would make rho {4 * run.most()}, more than the limit of rho {limit}." in told


def test_people_whose_records_changed_can_be_said_to_be_the_same(run):
    run("one", "--spend-limit", run.most(), name="first-name")
    run.add_person()
    for same, words in [
        ("first-name", f"more than the limit of rho {run.most()}."),
        ("nobody", '--same-people-as: the log has no data set "nobody".'),
    ]:
        assert words in run("two", "--same-people-as", same, name="second-name", code=1)


# Moved and merged


def test_a_moved_log_works_where_it_is(run, tmp_path):
    run("one")
    there = run._replace(folder=tmp_path / "elsewhere")
    there.folder.mkdir()
    run.log.rename(there.log)
    again = there("two")
    assert f'Spent before on "census", US pass: rho {run.cost()["us"]} in 1 run.' in again
    assert "different records" not in again
    assert 'the same records were run under the name "census"' in there("three", name="other", code=1)


def test_a_merged_log_knows_the_records_of_both_logs(run, tmp_path):
    here, there = (run._replace(folder=tmp_path / name) for name in ("here", "there"))
    for one in (here, there):
        one.folder.mkdir()
        one("out", name=one.folder.name)
    merged = cli("spend", here.log, "--merge", there.log, "-o", run.log)
    assert "here: fingerprints of different logs can't be compared" in " ".join(merged.stderr.split())
    assert 'the same records were run under the name "there"' in run("three", name="here", code=1)
    assert not (tmp_path / "three").exists()
    third_name = run("three", name="third", code=1)
    assert all(f'under the name "{name}"' in third_name for name in ("here", "there"))
    assert "different records" not in run("three", "--same-people-as", "there", name="here")
    assert run.known("--dataset", "there")[0]["spent"]["rho"] == str(3 * run.cost()["us"])


# The limit of a data set


def test_a_limit_set_once_binds_every_later_run_until_it_is_changed(run):
    cost, limit = run.most(), ["spend", run.log, "--dataset", "census", "--set-limit"]
    run("one", "--spend-limit", cost)
    assert run.states() == ["limit", "begun", "begun", "released"]
    assert f"more than the limit of rho {cost}." in run("two", code=1)
    told = run("two", "--spend-limit", 3 * cost, code=1)
    assert f'--spend-limit: asks for rho {3 * cost}, but the limit of "census" is rho {cost}.' in told
    assert f"change the limit first: `safetab {' '.join(map(str, limit))} X`" in told
    before = run.log.read_bytes()
    done(*limit, 2 * cost)
    assert run.log.read_bytes().startswith(before)
    assert run.states()[-1] == "limit"
    run("two", "--spend-limit", f"{2 * cost}.0")
    assert run.states().count("limit") == 2


def test_a_refused_run_sets_no_limit(run):
    run("one", "--spend-limit", "0.5", code=1)
    assert run.states() == []


def test_the_accounts_are_shown(run):
    cost = run.cost()
    run("one", "--spend-limit", "99.5")
    with run.log.open("a") as file:
        file.write(CUT_SHORT)
    shown = cli("spend", run.log)
    assert shown.exit_code == 0
    rows = [line.split() for line in shown.stdout.splitlines()]
    for which in ("us", "pr"):
        left = f"{99 - cost[which]}.5"
        assert f"census {which.upper()} zcdp rho {cost[which]} rho 99.5 rho {left} 1".split() in rows
    assert "last line: was cut short" in shown.stderr
    us, pr = run.known("--dataset", "census")
    assert (us["datasets"], us["pass"], us["definitions"], us["runs"]) == (["census"], "us", ["zcdp"], 1)
    assert us["spent"] == {"rho": str(cost["us"]), "epsilon": None}
    assert (us["limit"], pr["pass"]) == ({"rho": "99.5"}, "pr")
    assert Fraction(us["left"]["rho"]) == Fraction("99.5") - cost["us"]


def write_log(run, which, budget, *census):
    """A log of before there was a chain, with one pass."""
    spend = Spend("0" * 16, utc_now(), "census", which, PrivacyDefinition.ZCDP, Fraction(budget), "a" * 32, *census)
    run.log.touch(mode=0o600)
    run.log.write_text(earlier_header(bytes(32)) + begun_line(spend))


def test_questions_to_the_accounts_that_make_no_sense_are_findings(run):
    write_log(run, "us", 1)
    for options, words in cases_of("""
        --dataset nobody | the log has no data set "nobody". It has: census.
        --set-limit 9 | --set-limit: needs --dataset
        --dataset census --unit rho | --unit: needs --set-limit
        --dataset census --set-limit 9 --unit epsilon | zCDP implies no pure epsilon
        --dataset census --set-limit 'a lot' | --set-limit: must be a decimal
    """):
        result = cli("spend", run.log, *shlex.split(options))
        assert (result.exit_code, result.stdout) == (1 if "nobody" in options else 2, "")
        assert words in result.stderr
    assert run.states() == ["begun"]


def test_a_log_with_passes_of_another_census_is_shown_counted_and_extended(run):
    cost, limit = run.cost(), run.most() + 5
    write_log(run, "all", 5, "Languages 2031")
    before = run.log.read_text()
    told = run("out", "--spend-limit", limit - 1, code=1)
    assert f"would make rho {limit}, more than the limit of rho {limit - 1}." in told
    assert run.log.read_text() == before
    run("out", "--spend-limit", limit)
    assert run.log.read_text().startswith(before)
    spent = {each["pass"]: Fraction(each["spent"]["rho"]) for each in run.known()}
    assert spent == {"us": cost["us"] + 5, "pr": cost["pr"] + 5, "all": limit}


def test_without_a_log_there_are_no_accounts(run):
    assert "does not exist. A run with --spend-log creates it" in refused("spend", run.log)
    assert not run.log.exists()


# Refused options


def test_options_that_make_no_sense_are_findings(run, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    for options, words in cases_of("""
        --dataset a | --dataset: needs --spend-log
        --spend-log {}/log | --spend-log: needs --dataset
        --spend-limit 1 | --spend-limit: needs --spend-log and --dataset
        --spend-limit 1 --dataset a | --spend-limit: needs --spend-log and --dataset
        --same-people-as b | --same-people-as: needs --spend-log and --dataset
        --spend-log {}/log --dataset '' | --dataset: must be 1 to 100
        --spend-log {}/log --dataset 'a b' | --dataset: must be 1 to 100
        --spend-log {}/log --dataset 'a{line}' | --dataset: must be 1 to 100
        --spend-log {}/log --dataset a --spend-limit -1 | --spend-limit: must be a decimal
        --spend-log {}/log --dataset a --spend-limit 1e3 | --spend-limit: must be a decimal
        --spend-log {}/log --dataset a --spend-limit nan | --spend-limit: must be a decimal
        --spend-log {}/world/data/log --dataset a | can't lie inside PARAMETERS, DATA or OUT
        --spend-log {}/world/parameters/log --dataset a | can't lie inside PARAMETERS, DATA or OUT
        --spend-log {}/out/log --dataset a | can't lie inside PARAMETERS, DATA or OUT
        --spend-log {}/out.confidential.log --dataset a | must not be the confidential log
        --spend-log {}/world --dataset a | is not a regular file
        --spend-log {}/no/log --dataset a | can't be created
    """):
        result = cli("run", *run.world, tmp_path / "out", *shlex.split(options.format(tmp_path, line="\n")))
        assert result.exit_code == (1 if words.startswith(("can't", "is not a")) else 2), options
        assert words in result.stderr, options
        assert sorted(tmp_path.rglob("*")) == before


def test_a_log_in_data_behind_a_link_is_refused(run, tmp_path):
    (tmp_path / "elsewhere").symlink_to(run.world.data)
    behind = run._replace(folder=tmp_path / "elsewhere")
    words = refused("run", *run.world, tmp_path / "out", *behind.accounts())
    assert "can't lie inside PARAMETERS, DATA or OUT" in words


def test_a_malformed_log_is_told_by_line_and_nothing_is_drawn(run, tmp_path):
    run("one")
    run.log.write_text(run.log.read_text().replace('"pass": "us"', '"pass": "Mars|"'))
    assert "line 2: pass is not as a run writes it." in run("two", code=1)
    assert not (tmp_path / "two").exists()


def test_a_torn_last_line_is_warned_about(run):
    run("one")
    with run.log.open("a") as file:
        file.write(CUT_SHORT)
    assert "last line: was cut short" in run("two")
    run("three")


def test_python_takes_the_same_options(run, tmp_path, caplog):
    def again(out, name, **options):
        return safetab.run(*run.world, tmp_path / out, dataset=name, spend_log=str(run.log), **options).warnings

    of_choices = again("one", "census")
    assert {each.file for each in of_choices} == {"config.json", "person-records.txt"}
    assert 'Spent before on "census", US pass: nothing.' in caplog.messages
    with pytest.raises(InvalidInput, match='under the name "census"'):
        again("two", "other")
    assert again("two", "other", same_people_as=["census"]) == of_choices
    with pytest.raises(InvalidInput, match=r"more than the limit of rho 1\."):
        again("three", "census", spend_limit=1)


# Two at once, kills and Ctrl-C


def test_the_second_of_two_that_looked_at_the_same_time_is_refused(run):
    one, two = run.spending(run.most()), run.spending(run.most())
    one.look()
    two.look()
    limited = pytest.raises(InvalidInput, match="more than the limit")
    with one.recorded(fingerprints), limited, two.recorded(fingerprints):
        raise AssertionError
    assert run.states() == ["limit", "begun", "begun", "released"]


@pytest.mark.parametrize("is_specified", [False, True])
def test_a_specification_under_a_new_name_is_warned_that_fingerprints_can_not_be_compared(
    is_specified, run, monkeypatch
):
    with run.spending().recorded(fingerprints) as warnings:
        assert warnings == ()  # the log has no other name
    monkeypatch.setattr(run_spending_module, "is_specified", lambda _: is_specified)
    told = []
    for _ in range(2):
        spending = RunSpending(SpendRequest("others", run.log), safetab.plan(*run.world), lambda _: None)
        with spending.recorded(lambda _: {"us": "1" * 32, "pr": "1" * 32}) as warnings:
            told.append([each.message for each in warnings])
    assert told[1] == []  # the name is known by then
    assert len(told[0]) == is_specified
    assert all("the log has census too" in message and "--same-people-as NAME" in message for message in told[0])


def racing_runs(run, held, *options):
    """The exit codes, sorted, and errors of processes that start while somebody holds the lock of a file."""
    with held.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        racing = [
            subprocess.Popen(
                run.command(f"out-{number}", *given), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            for number, given in enumerate(options)
        ]
        time.sleep(3)  # with a log there is, all come to wait for its lock and go on together
    errors = [process.communicate(timeout=300)[1] for process in racing]
    return sorted(process.returncode for process in racing), errors


def test_of_two_processes_that_race_for_the_room_of_one_only_one_runs(run, tmp_path):
    """Neither gives a limit: the log has it."""
    done("spend", run.log, "--dataset", "census", "--set-limit", run.most(), "--unit", "rho")
    codes, errors = racing_runs(run, run.log, [], [])
    assert codes == [0, 1], errors
    assert sum("more than the limit" in error for error in errors) == 1
    assert sorted(run.states()) == ["begun", "begun", "limit", "released"]
    assert len(list(tmp_path.glob("out-?"))) == 1


def test_of_two_processes_that_race_to_set_different_limits_only_one_runs(run):
    SpendLogFile(run.log, may_create=True).close()
    codes, errors = racing_runs(run, run.log, *(["--spend-limit", str(factor * run.most())] for factor in (5, 6)))
    assert codes == [0, 1], errors
    assert sum("change the limit first" in error for error in errors) == 1
    assert run.states() == ["limit", "begun", "begun", "released"]


@pytest.mark.parametrize("is_new", [True, False])
def test_of_processes_that_race_under_a_limit_as_many_run_as_it_admits(is_new, run, tmp_path):
    held = tmp_path / "unused" if is_new else run.log
    SpendLogFile(held, may_create=True).close()
    codes, errors = racing_runs(run, held, *[["--spend-limit", str(2 * run.most())]] * 4)
    assert codes == [0, 0, 1, 1], errors
    assert sum("more than the limit" in error for error in errors) == 2
    assert run.states().count("begun") == 4
    assert len(list(tmp_path.glob("out-?"))) == 2


def stopped_at(step, how, command):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith(step):
                break
        process.send_signal(how)
        assert "Traceback" not in process.stderr.read()
        return process.wait(timeout=20)


@pytest.mark.parametrize(
    ("how", "code", "states"),
    [(signal.SIGKILL, -9, ["begun", "begun"]), (signal.SIGINT, 130, ["begun", "begun", "failed"])],
)
def test_a_run_killed_after_it_has_begun_counts_and_ctrl_c_is_noted(how, code, states, tmp_path):
    world = write_random_world(tmp_path / "world", 11, people=3000, budget=1, privacy_defn="zcdp")
    run = Runs(world, tmp_path)
    assert stopped_at(TABULATING, how, run.command("out")) == code
    assert run.states() == states
    assert not (tmp_path / "out").exists()
    assert run.log.stat().st_mode & 0o777 == 0o600
    limited = run("out", "--spend-limit", run.most(), code=1)
    assert f"US pass: rho {run.cost()['us']} in 1 run." in limited
    run("out")


def test_a_run_killed_before_it_has_begun_does_not_count(run):
    for step in ("Checking the person records", "Counting the persons of each state"):
        stopped_at(step, signal.SIGKILL, run.command("out"))
    assert run.states() == []
