"""What all runs on a data set spent is on the disk before noise is drawn, and none of it is in an output."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import Result

import safetab
from tests.commands import cli
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
from tests.spend_logs import earlier_header
from tests.worlds.people import write_random_world
from tests.worlds.world import World

pytestmark = pytest.mark.slow

SAFETAB = [sys.executable, "-c", "from safetab.cli.start import main; main()"]
KEY = bytes(range(32)).hex()
FINGERPRINT, TABULATING = "Taking the fingerprint of the person records", "Tabulating the levels"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Every level costs 1, so that the sums of the passes are whole numbers."""
    return write_random_world(tmp_path / "world", 5, people=300, budget=1, privacy_defn="zcdp", max_race_codes=8)


def costs(world: World) -> dict[str, Fraction]:
    plan = safetab.plan(*world)
    return {each.name: plan.loss_of(each).unbounded for each in US.passes}


def run(world: World, out: Path, *options: str) -> Result:
    return cli("run", *world, out, *options)


def accounts(tmp_path: Path, name: str = "census") -> list[str]:
    return ["--dataset", name, "--spend-log", str(tmp_path / "spend.log")]


def lines_of(tmp_path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (tmp_path / "spend.log").read_text().splitlines()[1:]]


def states_of(tmp_path: Path) -> list[str]:
    return [line["state"] for line in lines_of(tmp_path)]


def test_the_next_run_says_what_was_spent(world, tmp_path):
    cost = costs(world)
    first = run(world, tmp_path / "one", *accounts(tmp_path))
    assert first.exit_code == 0
    assert 'Spent before on "census", US pass: nothing.' in first.stderr
    assert states_of(tmp_path) == ["begun", "begun", "released"]
    assert {line["pass"]: Fraction(line["budget"]) for line in lines_of(tmp_path)[:2]} == cost
    second = run(world, tmp_path / "two", *accounts(tmp_path))
    log = (tmp_path / "two.confidential.log").read_text()
    for which in ("us", "pr"):
        told = f'Spent before on "census", {which.upper()} pass: rho {cost[which]} in 1 run.'
        assert told in second.stderr
        assert told in log
    third = run(world, tmp_path / "three", *accounts(tmp_path, "other-people"))
    assert 'Spent before on "other-people", US pass: nothing.' in third.stderr


def test_over_the_limit_a_run_is_refused_before_persons_are_read(world, tmp_path):
    cost = costs(world)
    limit = ["--spend-limit", str(2 * max(cost.values()))]
    for name in ("one", "two"):
        assert run(world, tmp_path / name, *accounts(tmp_path), *limit).exit_code == 0
    before = (tmp_path / "spend.log").read_bytes()
    result = run(world, tmp_path / "three", *accounts(tmp_path), *limit)
    assert result.exit_code == 1
    assert f"would make rho {3 * max(cost.values())}, more than the limit of rho {limit[1]}." in result.stderr
    assert f"safetab spend {tmp_path}/spend.log --dataset census --set-limit X" in result.stderr
    assert "Checking the person records" not in result.stderr
    assert not (tmp_path / "three").exists()
    assert (tmp_path / "spend.log").read_bytes() == before


def test_a_limit_is_kept_to_the_last_digit(world, tmp_path):
    """0.1 + 0.2 is 0.3; in floating point it would be more."""
    for name, budget, code in (("one", 0.1, 0), ("two", 0.2, 0), ("three", 0.0000001, 1)):
        zeros = {key: 0 for key in world.config() if key.startswith("privacy_budget_p_level")}
        levels = {f"privacy_budget_p_level_2_{level}": budget for level in ("state", "pr_state")}
        world.configure(**(zeros | levels))
        assert run(world, tmp_path / name, *accounts(tmp_path), "--spend-limit", "0.3").exit_code == code


def test_definitions_are_not_mixed_up(world, tmp_path):
    rho = costs(world)["us"]
    assert run(world, tmp_path / "one", *accounts(tmp_path)).exit_code == 0
    world.configure(privacy_defn="puredp")
    refused = run(world, tmp_path / "two", *accounts(tmp_path), "--spend-limit", "1000000")
    assert refused.exit_code == 1
    assert "zCDP implies no pure epsilon" in refused.stderr
    assert run(world, tmp_path / "two", *accounts(tmp_path)).exit_code == 0
    world.configure(privacy_defn="zcdp")
    third = run(world, tmp_path / "three", *accounts(tmp_path), "--spend-limit", "1000000")
    assert third.exit_code == 0
    together = rho + rho**2 / 2
    assert Fraction(third.stderr.split("together rho ")[1].split()[0]) == together


def test_none_of_it_is_in_the_output(world, tmp_path):
    run(world, tmp_path / "without", "--test-key", KEY)
    result = run(world, tmp_path / "with", "--test-key", KEY, *accounts(tmp_path, "a-telling-name"))
    assert result.exit_code == 0

    def released(out: Path) -> dict[str, bytes]:
        return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}

    assert released(tmp_path / "with") == released(tmp_path / "without")


def test_noise_is_drawn_after_begun_is_written_and_warnings_are_told(world, tmp_path, monkeypatch):
    run(world, tmp_path / "one", *accounts(tmp_path))
    path = world.data / "person-records.txt"
    path.write_text(path.read_text() + people_of(world)[0] + "\n")
    seen: list[list[str]] = []
    original = safetab_module.tabulate_level

    def watched(*arguments: object):
        seen.append(states_of(tmp_path))
        assert "were on different records" in (tmp_path / "two.confidential.log").read_text()
        return original(*arguments)

    monkeypatch.setattr(safetab_module, "tabulate_level", watched)
    assert run(world, tmp_path / "two", *accounts(tmp_path)).exit_code == 0
    assert seen[0] == seen[-1] == ["begun", "begun", "released", "begun", "begun"]
    assert states_of(tmp_path)[-1] == "released"


def test_a_run_whose_input_is_invalid_spends_nothing(world, tmp_path):
    path = world.data / "person-records.txt"
    good = path.read_text()
    path.write_text(good.replace("|1|", "|7|", 1).replace("|2|", "|7|", 1))
    assert run(world, tmp_path / "out", *accounts(tmp_path)).exit_code == 1
    assert not (tmp_path / "spend.log").exists()


def test_a_run_that_fails_after_it_has_begun_counts(world, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(run_module, "write_manifest", full)
        assert run(world, tmp_path / "out", *accounts(tmp_path)).exit_code == 3
    assert states_of(tmp_path) == ["begun", "begun", "failed"]
    cost = costs(world)["us"]
    assert f"US pass: rho {cost} in 1 run." in run(world, tmp_path / "out", *accounts(tmp_path)).stderr


def test_an_output_stays_if_released_can_not_be_noted(world, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RunSpending, "_append_end", full)
    result = run(world, tmp_path / "out", *accounts(tmp_path))
    assert result.exit_code == 0
    assert "could not be recorded. The run counts anyway." in " ".join(result.stderr.split())
    assert (tmp_path / "out" / "manifest.json").exists()
    assert states_of(tmp_path) == ["begun", "begun"]


def test_a_log_that_is_replaced_during_the_run_stops_it(world, tmp_path):
    run(world, tmp_path / "one", *accounts(tmp_path))
    spending = spending_of(world, tmp_path, None)

    def replaced(_: bytes) -> dict[str, str]:
        content = (tmp_path / "spend.log").read_bytes()
        (tmp_path / "spend.log").unlink()
        (tmp_path / "spend.log").write_bytes(content)
        return dict.fromkeys(("us", "pr"), "0" * 32)

    with pytest.raises(InvalidInput, match="moved or replaced"), spending.recorded(replaced):
        raise AssertionError


# Names and people


def test_other_people_under_the_same_name_are_warned_about(world, tmp_path):
    run(world, tmp_path / "one", *accounts(tmp_path))
    rows = people_of(world)
    number = next(number for number, row in enumerate(rows) if row.split("|")[3] == "72")
    path = world.data / "person-records.txt"
    path.write_text(path.read_text() + rows[number] + "\n")
    result = run(world, tmp_path / "two", *accounts(tmp_path))
    assert result.exit_code == 0
    assert 'PR pass: 1 of 1 earlier runs on "census" were on different records.' in result.stderr
    assert "US pass: 1 of" not in result.stderr
    assert result.stderr.index("different records") < result.stderr.index(TABULATING)


def test_the_same_records_under_another_name_are_refused_unless_the_accounts_are_added(world, tmp_path):
    cost = costs(world)
    first_limit = str(3 * max(cost.values()))
    run(world, tmp_path / "one", *accounts(tmp_path, "first-name"), "--spend-limit", first_limit)
    rows = people_of(world)
    (world.data / "person-records.txt").unlink()
    parquet_of_integers(world.data, rows)
    before = (tmp_path / "spend.log").read_bytes()
    second = accounts(tmp_path, "second-name")
    refused = run(world, tmp_path / "two", *second)
    assert refused.exit_code == 1
    for which in ("us", "pr"):
        told = f'the same records were run under the name "first-name" (rho {cost[which]} in 1 run).'
        assert f"{which.upper()} pass: {told}" in refused.stderr
    assert TABULATING not in refused.stderr
    assert not (tmp_path / "two").exists()
    assert (tmp_path / "spend.log").read_bytes() == before
    confirmed = run(world, tmp_path / "two", *second, "--same-people-as", "first-name")
    assert confirmed.exit_code == 0
    assert states_of(tmp_path)[-4:] == ["same-people", "begun", "begun", "released"]
    third = run(world, tmp_path / "three", *second)  # what was confirmed stays so
    assert third.exit_code == 0
    assert f'on "second-name" and "first-name", US pass: rho {2 * cost["us"]} in 2 runs.' in third.stderr
    for name in ("first-name", "second-name"):  # the limit of the first name binds both, over the sum of both
        full = run(world, tmp_path / "four", *accounts(tmp_path, name))
        assert full.exit_code == 1
        assert f"would make rho {4 * max(cost.values())}, more than the limit of rho {first_limit}." in full.stderr


def test_people_whose_records_changed_can_be_said_to_be_the_same(world, tmp_path):
    limit = str(max(costs(world).values()))
    run(world, tmp_path / "one", *accounts(tmp_path, "first-name"), "--spend-limit", limit)
    path = world.data / "person-records.txt"
    path.write_text(path.read_text() + people_of(world)[0] + "\n")
    refused = run(world, tmp_path / "two", *accounts(tmp_path, "second-name"), "--same-people-as", "first-name")
    assert refused.exit_code == 1
    assert f"more than the limit of rho {limit}." in refused.stderr
    unknown = run(world, tmp_path / "two", *accounts(tmp_path, "second-name"), "--same-people-as", "nobody")
    assert unknown.exit_code == 1
    assert '--same-people-as: the log has no data set "nobody".' in unknown.stderr


# Moved and merged


def test_a_moved_log_works_where_it_is(world, tmp_path):
    run(world, tmp_path / "one", *accounts(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "spend.log").rename(tmp_path / "elsewhere" / "spend.log")
    again = run(world, tmp_path / "two", *accounts(tmp_path / "elsewhere"))
    assert again.exit_code == 0
    assert f'Spent before on "census", US pass: rho {costs(world)["us"]} in 1 run.' in again.stderr
    assert "different records" not in again.stderr
    other_name = run(world, tmp_path / "three", *accounts(tmp_path / "elsewhere", "other"))
    assert 'the same records were run under the name "census"' in other_name.stderr


def test_a_merged_log_knows_the_records_of_both_logs(world, tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        run(world, tmp_path / f"of-{name}", *accounts(tmp_path / name, name))
    logs = [str(tmp_path / name / "spend.log") for name in ("here", "there")]
    merged = cli("spend", logs[0], "--merge", logs[1], "-o", tmp_path / "spend.log")
    assert "here: fingerprints of different logs can't be compared" in " ".join(merged.stderr.split())
    refused = run(world, tmp_path / "three", *accounts(tmp_path, "here"))
    assert (refused.exit_code, (tmp_path / "three").exists()) == (1, False)
    assert 'the same records were run under the name "there"' in refused.stderr
    third_name = run(world, tmp_path / "three", *accounts(tmp_path, "third"))
    assert {f'under the name "{name}"' in third_name.stderr for name in ("here", "there")} == {True}
    confirmed = run(world, tmp_path / "three", *accounts(tmp_path, "here"), "--same-people-as", "there")
    assert confirmed.exit_code == 0
    assert "different records" not in confirmed.stderr
    us = json.loads(spend(tmp_path, "--json", "--dataset", "there").stdout)["accounts"][0]
    assert us["spent"]["rho"] == str(3 * costs(world)["us"])


# The limit of a data set


def spend(tmp_path: Path, *options: str) -> Result:
    return cli("spend", tmp_path / "spend.log", *options)


def test_a_limit_set_once_binds_every_later_run_until_it_is_changed(world, tmp_path):
    cost = max(costs(world).values())
    assert run(world, tmp_path / "one", *accounts(tmp_path), "--spend-limit", str(cost)).exit_code == 0
    assert states_of(tmp_path) == ["limit", "begun", "begun", "released"]
    refused = run(world, tmp_path / "two", *accounts(tmp_path))
    assert refused.exit_code == 1
    assert f"more than the limit of rho {cost}." in refused.stderr
    higher = run(world, tmp_path / "two", *accounts(tmp_path), "--spend-limit", str(3 * cost))
    assert higher.exit_code == 1
    command = f"safetab spend {tmp_path}/spend.log --dataset census --set-limit"
    assert f'--spend-limit: asks for rho {3 * cost}, but the limit of "census" is rho {cost}.' in higher.stderr
    assert f"change the limit first: `{command} X`" in higher.stderr
    before = (tmp_path / "spend.log").read_bytes()
    assert spend(tmp_path, *command.split()[3:], str(2 * cost)).exit_code == 0
    assert (tmp_path / "spend.log").read_bytes().startswith(before)
    assert states_of(tmp_path)[-1] == "limit"
    assert run(world, tmp_path / "two", *accounts(tmp_path), "--spend-limit", f"{2 * cost}.0").exit_code == 0
    assert states_of(tmp_path).count("limit") == 2


def test_a_refused_run_sets_no_limit(world, tmp_path):
    assert run(world, tmp_path / "one", *accounts(tmp_path), "--spend-limit", "0.5").exit_code == 1
    assert not (tmp_path / "spend.log").exists() or states_of(tmp_path) == []


def test_the_accounts_are_shown(world, tmp_path):
    cost = costs(world)
    run(world, tmp_path / "one", *accounts(tmp_path), "--spend-limit", "99.5")
    with (tmp_path / "spend.log").open("a") as file:
        file.write('{"state": "begun", "run": "01')
    shown = spend(tmp_path)
    assert shown.exit_code == 0
    rows = [line.split() for line in shown.stdout.splitlines()]
    for which in ("us", "pr"):
        left = f"{99 - cost[which]}.5"
        expected = ["census", which.upper(), "zcdp", "rho", str(cost[which]), "rho", "99.5", "rho", left, "1"]
        assert expected in rows
    assert "last line: was cut short" in shown.stderr
    us, pr = json.loads(spend(tmp_path, "--json", "--dataset", "census").stdout)["accounts"]
    assert (us["datasets"], us["pass"], us["definitions"], us["runs"]) == (["census"], "us", ["zcdp"], 1)
    assert us["spent"] == {"rho": str(cost["us"]), "epsilon": None}
    assert (us["limit"], pr["pass"]) == ({"rho": "99.5"}, "pr")
    assert Fraction(us["left"]["rho"]) == Fraction("99.5") - cost["us"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--dataset", "nobody"], 'the log has no data set "nobody". It has: census.'),
        (["--set-limit", "9"], "--set-limit: needs --dataset"),
        (["--dataset", "census", "--unit", "rho"], "--unit: needs --set-limit"),
        (["--dataset", "census", "--set-limit", "9", "--unit", "epsilon"], "zCDP implies no pure epsilon"),
        (["--dataset", "census", "--set-limit", "a lot"], "--set-limit: must be a decimal"),
    ],
)
def test_questions_to_the_accounts_that_make_no_sense_are_findings(options, words, tmp_path):
    line = begun_line(Spend("0" * 16, utc_now(), "census", "us", PrivacyDefinition.ZCDP, Fraction(1), "a" * 32))
    (tmp_path / "spend.log").touch(mode=0o600)
    (tmp_path / "spend.log").write_text(earlier_header(bytes(32)) + line)
    result = spend(tmp_path, *options)
    assert (result.exit_code, result.stdout) == (1 if words.startswith("the log has") else 2, "")
    assert words in result.stderr
    assert states_of(tmp_path) == ["begun"]


def test_a_log_with_passes_of_another_census_is_shown_counted_and_extended(world, tmp_path):
    cost, log = costs(world), tmp_path / "spend.log"
    other = Spend("0" * 16, utc_now(), "census", "all", PrivacyDefinition.ZCDP, Fraction(5), "a" * 32, "Languages 2031")
    log.touch(mode=0o600)
    log.write_text(earlier_header(bytes(32)) + begun_line(other))
    before, limit = log.read_text(), max(cost.values()) + 5
    refused = run(world, tmp_path / "out", *accounts(tmp_path), "--spend-limit", str(limit - 1))
    assert refused.exit_code == 1
    assert f"would make rho {limit}, more than the limit of rho {limit - 1}." in refused.stderr
    assert log.read_text() == before
    assert run(world, tmp_path / "out", *accounts(tmp_path), "--spend-limit", str(limit)).exit_code == 0
    assert log.read_text().startswith(before)
    shown = json.loads(spend(tmp_path, "--json").stdout)["accounts"]
    spent = {each["pass"]: Fraction(each["spent"]["rho"]) for each in shown}
    assert spent == {"us": cost["us"] + 5, "pr": cost["pr"] + 5, "all": limit}


def test_without_a_log_there_are_no_accounts(tmp_path):
    result = spend(tmp_path)
    assert result.exit_code == 1
    assert "does not exist. A run with --spend-log creates it" in result.stderr
    assert not (tmp_path / "spend.log").exists()


def test_the_same_name_and_people_give_no_warning(world, tmp_path):
    for name in ("one", "two"):
        result = run(world, tmp_path / name, *accounts(tmp_path))
    assert result.exit_code == 0
    assert not [option for option in ("--dataset", "--spend-log", "--same-people-as") if option in result.stderr]


# Refused options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--dataset", "a"], "--dataset: needs --spend-log"),
        (["--spend-log", "{}/log"], "--spend-log: needs --dataset"),
        (["--spend-limit", "1"], "--spend-limit: needs --spend-log and --dataset"),
        (["--spend-limit", "1", "--dataset", "a"], "--spend-limit: needs --spend-log and --dataset"),
        (["--same-people-as", "b"], "--same-people-as: needs --spend-log and --dataset"),
        (["--spend-log", "{}/log", "--dataset", ""], "--dataset: must be 1 to 100"),
        (["--spend-log", "{}/log", "--dataset", "a b"], "--dataset: must be 1 to 100"),
        (["--spend-log", "{}/log", "--dataset", "a\n"], "--dataset: must be 1 to 100"),
        (["--spend-log", "{}/log", "--dataset", "a", "--spend-limit", "-1"], "--spend-limit: must be a decimal"),
        (["--spend-log", "{}/log", "--dataset", "a", "--spend-limit", "1e3"], "--spend-limit: must be a decimal"),
        (["--spend-log", "{}/log", "--dataset", "a", "--spend-limit", "nan"], "--spend-limit: must be a decimal"),
        (["--spend-log", "{}/world/data/log", "--dataset", "a"], "can't lie inside PARAMETERS, DATA or OUT"),
        (["--spend-log", "{}/world/parameters/log", "--dataset", "a"], "can't lie inside PARAMETERS, DATA or OUT"),
        (["--spend-log", "{}/out/log", "--dataset", "a"], "can't lie inside PARAMETERS, DATA or OUT"),
        (["--spend-log", "{}/out.confidential.log", "--dataset", "a"], "must not be the confidential log"),
        (["--spend-log", "{}/world", "--dataset", "a"], "is not a regular file"),
        (["--spend-log", "{}/no/log", "--dataset", "a"], "can't be created"),
    ],
)
def test_options_that_make_no_sense_are_findings(options, words, world, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    result = run(world, tmp_path / "out", *(option.format(tmp_path) for option in options))
    is_of_the_place = words.startswith(("can't", "is not a"))
    assert result.exit_code == (1 if is_of_the_place else 2)
    assert words in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_log_in_data_behind_a_link_is_refused(world, tmp_path):
    (tmp_path / "elsewhere").symlink_to(world.data)
    result = run(world, tmp_path / "out", "--dataset", "a", "--spend-log", str(tmp_path / "elsewhere" / "log"))
    assert result.exit_code == 1
    assert "can't lie inside PARAMETERS, DATA or OUT" in result.stderr


def test_a_malformed_log_is_told_by_line_and_nothing_is_drawn(world, tmp_path):
    run(world, tmp_path / "one", *accounts(tmp_path))
    path = tmp_path / "spend.log"
    path.write_text(path.read_text().replace('"pass": "us"', '"pass": "Mars|"'))
    result = run(world, tmp_path / "two", *accounts(tmp_path))
    assert result.exit_code == 1
    assert "line 2: pass is not as a run writes it." in result.stderr
    assert not (tmp_path / "two").exists()


def test_a_torn_last_line_is_warned_about(world, tmp_path):
    run(world, tmp_path / "one", *accounts(tmp_path))
    with (tmp_path / "spend.log").open("a") as file:
        file.write('{"state": "begun", "run": "01')
    result = run(world, tmp_path / "two", *accounts(tmp_path))
    assert result.exit_code == 0
    assert "last line: was cut short" in result.stderr
    assert run(world, tmp_path / "three", *accounts(tmp_path)).exit_code == 0


def test_python_takes_the_same_options(world, tmp_path, caplog):
    def again(out: str, name: str, **options: object) -> safetab.pipeline.run.RunSummary:
        log = str(tmp_path / "spend.log")
        return safetab.run(*world, tmp_path / out, dataset=name, spend_log=log, **options)

    of_choices = again("one", "census").warnings
    assert {each.file for each in of_choices} == {"config.json", "person-records.txt"}
    assert 'Spent before on "census", US pass: nothing.' in caplog.messages
    with pytest.raises(InvalidInput, match='under the name "census"'):
        again("two", "other")
    assert again("two", "other", same_people_as=["census"]).warnings == of_choices
    with pytest.raises(InvalidInput, match=r"more than the limit of rho 1\."):
        again("three", "census", spend_limit=1)


# Two at once, kills and Ctrl-C


def spending_of(world: World, tmp_path: Path, limit: Fraction | None) -> RunSpending:
    plan = read_inputs(*world).require().plan
    return RunSpending(SpendRequest("census", tmp_path / "spend.log", limit), plan, lambda _: None)


def test_the_second_of_two_that_looked_at_the_same_time_is_refused(world, tmp_path):
    one, two = (spending_of(world, tmp_path, max(costs(world).values())) for _ in range(2))
    one.look()
    two.look()

    def fingerprints(_: bytes) -> dict[str, str]:
        return dict.fromkeys(("us", "pr"), "0" * 32)

    refused = pytest.raises(InvalidInput, match="more than the limit")
    with one.recorded(fingerprints), refused, two.recorded(fingerprints):
        raise AssertionError
    assert states_of(tmp_path) == ["limit", "begun", "begun", "released"]


@pytest.mark.parametrize("is_specified", [False, True])
def test_a_specification_under_a_new_name_is_warned_that_fingerprints_can_not_be_compared(
    is_specified, world, tmp_path, monkeypatch
):
    with spending_of(world, tmp_path, None).recorded(lambda _: {"us": "0" * 32, "pr": "0" * 32}) as warnings:
        assert warnings == ()  # the log has no other name
    monkeypatch.setattr(run_spending_module, "is_specified", lambda _: is_specified)
    plan = safetab.plan(*world)
    told: list[list[str]] = []
    for _ in range(2):
        spending = RunSpending(SpendRequest("others", tmp_path / "spend.log"), plan, lambda _: None)
        with spending.recorded(lambda _: {"us": "1" * 32, "pr": "1" * 32}) as warnings:
            told.append([each.message for each in warnings])
    assert told[1] == []  # the name is known by then
    assert len(told[0]) == is_specified
    assert all("the log has census too" in message and "--same-people-as NAME" in message for message in told[0])


def command(world: World, out: Path, *options: str) -> list[str]:
    return [*SAFETAB, "run", str(world.parameters), str(world.data), str(out), *options]


def racing_runs(world: World, tmp_path: Path, held: Path, options: list[list[str]]) -> tuple[list[int], list[str]]:
    """The exit codes, sorted, and errors of processes that start while somebody holds the lock of a file."""
    with held.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        racing = [
            subprocess.Popen(
                command(world, tmp_path / f"out-{number}", *accounts(tmp_path), *given),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for number, given in enumerate(options)
        ]
        time.sleep(3)  # with a log there is, all come to wait for its lock and go on together
    errors = [process.communicate(timeout=300)[1] for process in racing]
    return sorted(process.returncode for process in racing), errors


def test_of_two_processes_that_race_for_the_room_of_one_only_one_runs(world, tmp_path):
    """Neither gives a limit: the log has it."""
    limit = str(max(costs(world).values()))
    assert spend(tmp_path, "--dataset", "census", "--set-limit", limit, "--unit", "rho").exit_code == 0
    codes, errors = racing_runs(world, tmp_path, tmp_path / "spend.log", [[], []])
    assert codes == [0, 1], errors
    assert sum("more than the limit" in error for error in errors) == 1
    assert sorted(states_of(tmp_path)) == ["begun", "begun", "limit", "released"]
    assert len(list(tmp_path.glob("out-?"))) == 1


def test_of_two_processes_that_race_to_set_different_limits_only_one_runs(world, tmp_path):
    SpendLogFile(tmp_path / "spend.log", may_create=True).close()
    limits = [["--spend-limit", str(factor * max(costs(world).values()))] for factor in (5, 6)]
    codes, errors = racing_runs(world, tmp_path, tmp_path / "spend.log", limits)
    assert codes == [0, 1], errors
    assert sum("change the limit first" in error for error in errors) == 1
    assert states_of(tmp_path) == ["limit", "begun", "begun", "released"]


@pytest.mark.slow
@pytest.mark.parametrize("is_new", [True, False])
def test_of_processes_that_race_under_a_limit_as_many_run_as_it_admits(is_new, world, tmp_path):
    limit = ["--spend-limit", str(2 * max(costs(world).values()))]
    held = tmp_path / ("unused" if is_new else "spend.log")
    SpendLogFile(held, may_create=True).close()
    codes, errors = racing_runs(world, tmp_path, held, [limit] * 4)
    assert codes == [0, 0, 1, 1], errors
    assert sum("more than the limit" in error for error in errors) == 2
    assert states_of(tmp_path).count("begun") == 4
    assert len(list(tmp_path.glob("out-?"))) == 2


def stopped_at(step: str, how: signal.Signals, arguments: list[str]) -> int:
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith(step):
                break
        process.send_signal(how)
        assert "Traceback" not in process.stderr.read()
        return process.wait(timeout=20)


def test_a_run_killed_after_it_has_begun_counts(tmp_path):
    world = write_random_world(tmp_path / "world", 11, people=3000, budget=1, privacy_defn="zcdp")
    cost = costs(world)
    assert stopped_at(TABULATING, signal.SIGKILL, command(world, tmp_path / "out", *accounts(tmp_path))) == -9
    assert states_of(tmp_path) == ["begun", "begun"]
    assert not (tmp_path / "out").exists()
    result = run(world, tmp_path / "out", *accounts(tmp_path), "--spend-limit", str(max(cost.values())))
    assert result.exit_code == 1
    assert f"US pass: rho {cost['us']} in 1 run." in result.stderr


def test_a_run_killed_before_it_has_begun_does_not_count(world, tmp_path):
    for step in ("Checking the person records", "Counting the persons of each state"):
        stopped_at(step, signal.SIGKILL, command(world, tmp_path / "out", *accounts(tmp_path)))
    assert not (tmp_path / "spend.log").exists() or states_of(tmp_path) == []


def test_ctrl_c_after_a_run_has_begun_counts_and_is_noted(tmp_path):
    world = write_random_world(tmp_path / "world", 11, people=3000, budget=1, privacy_defn="zcdp")
    assert stopped_at(TABULATING, signal.SIGINT, command(world, tmp_path / "out", *accounts(tmp_path))) == 130
    assert states_of(tmp_path) == ["begun", "begun", "failed"]
    assert os.stat(tmp_path / "spend.log").st_mode & 0o777 == 0o600  # noqa: PTH116
    assert run(world, tmp_path / "out", *accounts(tmp_path)).exit_code == 0
