"""Whether somebody is there decides about no release: an empty pass is zeros plus noise."""

import re

import pytest

from tests.commands import cli, done
from tests.person_forms import as_text, header_only, people_of
from tests.releases import files_of, lines_of
from tests.worlds.households import write_household_world
from tests.worlds.people import write_random_world

NOBODY = "no record is in a state of the {} pass: its counts are 0 before noise."


def emptied(world, write):
    rows = people_of(world)
    (world.data / "person-records.txt").unlink()
    write(world.data, rows)
    return world


def run(world, out, *options):
    return done("run", *world, out, "--test-key", "00" * 32, *options)


def test_a_run_on_nobody_releases_noise_and_warns_the_curator_alone(out, tmp_path):
    world = emptied(write_random_world(tmp_path / "world", 3, budget=1, zero_suppression_chance=0), header_only)
    told = run(world, out)
    assert 0 < told.index("it has no record.") < told.index(NOBODY.format("US")) < told.index(NOBODY.format("PR"))
    assert NOBODY.format("PR") in (tmp_path / "out.confidential.log").read_text()
    for content in files_of(out).values():
        assert b"has no record" not in content
        assert b"obody is in" not in content
    totals = lines_of(out / "t1" / "pr.csv")[1:]
    assert len({line.rpartition("|")[2] for line in totals}) > 1  # zeros plus noise are not all alike


@pytest.mark.slow
def test_an_empty_pass_is_released_like_the_other(tmp_path):
    """The same files, whoever is there; what differs is in those of the pass."""
    world = write_random_world(tmp_path / "world", 3, budget=1, zero_suppression_chance=0)
    run(world, tmp_path / "somebody")
    emptied(world, lambda folder, rows: as_text(folder, [row for row in rows if row.split("|")[3] != "72"]))
    told = run(world, tmp_path / "nobody")
    assert NOBODY.format("US") not in told
    assert "it has no record." not in told
    somebody, nobody = files_of(tmp_path / "somebody"), files_of(tmp_path / "nobody")
    assert somebody.keys() == nobody.keys()
    assert somebody["t1/us.csv"] == nobody["t1/us.csv"]
    assert somebody["t1/pr.csv"] != nobody["t1/pr.csv"]


@pytest.mark.slow
def test_accuracy_and_accounts_work_without_anybody(tmp_path):
    world = emptied(write_random_world(tmp_path / "world", 3, budget=1), header_only)
    assert NOBODY.format("US") in done("accuracy", *world, tmp_path / "accuracy", "--runs", "2")
    run(world, tmp_path / "out", "--dataset", "nobody", "--spend-log", tmp_path / "spend.log")


def test_that_no_household_is_in_a_selected_group_is_told_to_the_confidential_log_alone(tmp_path):
    """With totals of one state, households of that state, and then of another alone: only the log differs."""
    world = write_household_world(tmp_path / "world", 21, people=250)
    world.configure(run_pr=False)
    records, totals = world.data / "household-records.txt", world.data / "pop-group-totals.txt"
    header, *households = lines_of(records)
    first, *rows = lines_of(totals)
    states = sorted({row[:2] for row in households if row[:2] != "72"})[:2]
    totals.write_text("\n".join([first, *(row for row in rows if row.startswith(f"{states[0]}|STATE|"))]) + "\n")
    told, logged = set(), []
    for state in states:
        records.write_text("\n".join([header, *(row for row in households if row.startswith(state))]) + "\n")
        log = tmp_path / f"{state}.log"
        result = cli("validate", *world, "--confidential-log", log)
        told.add((result.exit_code, result.stdout, re.sub(r"[\d.]+ s", "", result.stderr)))
        logged.append("none of the households of the US pass is in any group with a published total" in log.read_text())
    ((code, stdout, _),) = told
    assert (code, stdout) == (0, "Everything is valid.\n")
    assert logged == [False, True]
