"""A run that is interrupted or fails says what it cost, on the terminal and in the confidential log."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys

import pytest

from tests.conftest import SMALL_EXAMPLE
from tests.faults.commands import code_of_command, started
from tests.inside import (
    ArrayEngine,
    OutputChecks,
    PassFiles,
    RunFailed,
    RunOptions,
    SpendLogFile,
    output_folder_module,
    people_accounts_module,
    planner_module,
    run_files,
    run_module,
)
from tests.worlds.world import World

SMALL = [SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data"]
BEFORE_THE_CHARGE = (ArrayEngine, "prepare")
WHILE_IT_IS_CHARGED = (SpendLogFile, "append")
WHILE_NOISE_IS_DRAWN = (run_module, "safetab")
WHILE_IT_IS_WRITTEN = (output_folder_module, "_settle")
IN_A_WORKER = (PassFiles, "write")
OF_A_CHECK = (OutputChecks, "of_remaining_files")
CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
SIGNALS = ["SIGINT", *(pytest.param(name, marks=pytest.mark.slow) for name in ("SIGTERM", "SIGHUP"))]
SPENT = r"rho [0-9.]+ \(US pass\) and rho [0-9.]+ \(PR pass\) count as spent \(run ([0-9a-f]{16})\)\."


@pytest.fixture(scope="module")
def world(releases):
    """Its release is made first, so that forks of this process find everything loaded."""
    return releases.people(2, people=60, budget=1).world


def sent(name):
    return lambda: signal.raise_signal(signal.Signals[name])


def failing(error):
    def fail():
        raise error

    return fail


def in_a_fork(moment, fault, *given):
    """How a command ends in a fork of this process, with a fault before what happens at this moment, or after all noise."""

    def work():
        sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
        place, name = moment
        original = getattr(place, name)

        def before(*arguments):
            fault()
            return original(*arguments)

        def after_all(*arguments):
            yield from original(*arguments)
            fault()

        setattr(place, name, after_all if moment is WHILE_NOISE_IS_DRAWN else before)
        return code_of_command(given)

    done = started(work).ended(seconds=600)
    assert "Traceback" not in done.stderr
    return done


def run(world, folder, moment, fault, *more, code=3):
    """What the terminal shows as one line, and the confidential log."""
    (folder / "temp").mkdir()
    given = ("run", *world, folder / "out", "--temp", folder / "temp", "--threads", "2", *more)
    done = in_a_fork(moment, fault, *given)
    assert done.code == code, done.stderr
    assert not (folder / "out").exists()
    assert list((folder / "temp").iterdir()) == []
    return done.words, (folder / "out.confidential.log").read_text()


def kept_in(folder):
    return "--dataset", "these-people", "--spend-log", folder / "spend.log"


def runs_in(log):
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return {line["run"] for line in lines if "run" in line}


def assert_told(pattern, folder, shown, log):
    """That terminal, confidential log and spend log say the same of a run that was charged."""
    told = re.search(f"{pattern} {SPENT}$", shown)
    assert told is not None, shown
    assert runs_in(folder / "spend.log") == {told[1]}
    assert log.endswith(f" {told[0]}\n")


@pytest.mark.parametrize("name", SIGNALS)
def test_an_interrupt_before_the_charge_says_that_nothing_was_spent(name, world, tmp_path):
    shown, log = run(world, tmp_path, BEFORE_THE_CHARGE, sent(name), *kept_in(tmp_path), code=CODES[name])
    assert shown.endswith("Interrupted. Nothing was released. Nothing was spent.")
    assert log.endswith(" Interrupted. Nothing was released. Nothing was spent.\n")
    assert runs_in(tmp_path / "spend.log") == set()


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("moment", [WHILE_IT_IS_CHARGED, WHILE_NOISE_IS_DRAWN, WHILE_IT_IS_WRITTEN])
def test_an_interrupt_after_the_charge_says_what_was_spent(moment, name, world, tmp_path):
    told = run(world, tmp_path, moment, sent(name), *kept_in(tmp_path), code=CODES[name])
    assert_told("Interrupted. Nothing was released.", tmp_path, *told)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["Checking the person records", "Tabulating the levels", "Writing and checking"])
def test_a_signal_at_any_moment_is_told_as_the_spend_log_has_it(step, world, tmp_path):
    given = [*world, tmp_path / "out", "--threads", "2", *kept_in(tmp_path)]
    command = [sys.executable, "-m", "safetab", "run", *map(str, given)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        next(line for line in process.stderr if line.startswith(step))
        process.send_signal(signal.SIGTERM)
        shown = " ".join(process.stderr.read().split())
    if process.returncode == 0:  # it was published by then
        assert (tmp_path / "out" / "manifest.json").exists()
        return
    assert process.returncode == 143
    told = re.search(f"Interrupted. Nothing was released. (?:Nothing was spent.|{SPENT})$", shown)
    assert told is not None, shown
    assert runs_in(tmp_path / "spend.log") == ({told[1]} if told[1] else set())


FAULTS = {
    "is full": OSError(28, "No space left on device"),
    "Input/output error": OSError(5, "Input/output error"),
    "out of memory": MemoryError(),
    "an error of the program itself (LookupError)": LookupError("a value"),
}


@pytest.mark.slow
@pytest.mark.parametrize("words", FAULTS)
@pytest.mark.parametrize("moment", [WHILE_NOISE_IS_DRAWN, WHILE_IT_IS_WRITTEN, IN_A_WORKER, OF_A_CHECK])
def test_a_failure_after_the_charge_says_what_was_spent(moment, words, world, tmp_path):
    shown, log = run(world, tmp_path, moment, failing(FAULTS[words]), *kept_in(tmp_path))
    assert_told(f"The run failed: .*{re.escape(words)}.*", tmp_path, shown, log)
    assert "a value" not in shown


def test_a_failed_check_of_the_output_says_what_was_spent(world, tmp_path):
    told = run(world, tmp_path, OF_A_CHECK, failing(RunFailed("the output breaks a rule.")), *kept_in(tmp_path))
    assert_told(r"The run failed: the output breaks a rule\.", tmp_path, *told)


def test_a_failure_before_the_charge_says_that_nothing_was_spent(world, tmp_path):
    for said in run(world, tmp_path, BEFORE_THE_CHARGE, failing(FAULTS["Input/output error"]), *kept_in(tmp_path)):
        assert said.rstrip("\n").endswith("Nothing was written. Nothing was spent.")


def test_a_charge_that_could_not_be_written_points_at_the_spend_log(world, tmp_path):
    shown, _ = run(world, tmp_path, WHILE_IT_IS_CHARGED, failing(FAULTS["is full"]), *kept_in(tmp_path))
    asked = f"`safetab spend {tmp_path}/spend.log` shows whether run "
    assert re.search(rf"{re.escape(asked)}[0-9a-f]{{16}} counts as spent\.$", shown)


@pytest.mark.parametrize(
    ("fault", "code"), [(sent("SIGINT"), 130), pytest.param(failing(MemoryError()), 3, marks=pytest.mark.slow)]
)
def test_without_a_spend_log_the_loss_of_a_finished_run_is_told(fault, code, world, tmp_path):
    data = shutil.copytree(world.data, tmp_path / "data", ignore=shutil.ignore_patterns("SYNTHETIC"))
    shown, log = run(World(world.parameters, data), tmp_path, WHILE_NOISE_IS_DRAWN, fault, code=code)
    losses = r"rho [0-9.]+ \(US pass\) and rho [0-9.]+ \(PR pass\)"
    told = re.search(rf"This run has no spend log\. It would have cost {losses}\.$", shown)
    assert told is not None, shown
    assert log.endswith(f"{told[0]}\n")


def test_synthetic_people_spend_nothing_without_a_spend_log(world, tmp_path):
    shown, _ = run(world, tmp_path, WHILE_NOISE_IS_DRAWN, sent("SIGINT"), code=130)
    assert shown.endswith("Interrupted. Nothing was released. Nothing was spent: the records are synthetic.")


@pytest.mark.parametrize("name", CODES)
def test_a_command_that_only_reads_says_no_more_than_that_it_was_interrupted(name):
    done = in_a_fork((planner_module, "plan_of_files"), sent(name), "plan", *SMALL)
    assert (done.code, done.stdout, done.stderr) == (CODES[name], "", "Interrupted.\n")


@pytest.mark.parametrize(
    "moment", ["safetab.cli.progress", pytest.param("safetab.pipeline.run", marks=pytest.mark.slow)]
)
def test_an_interrupt_before_a_run_reads_anything_says_what_every_run_says(moment, tmp_path):
    """Its parts are still being loaded, in a process of its own."""
    program = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class InterruptedAt:
    def find_spec(self, name, *_):
        if name == {moment!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, InterruptedAt())
from safetab.cli.start import main; main()
"""
    command = [sys.executable, "-c", program, "run", *map(str, SMALL), tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "Interrupted. Nothing was released. Nothing was spent.\n"


def test_python_is_told_too(world, tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "safetab", lambda *_: failing(KeyboardInterrupt())())
    options = RunOptions(dataset="these-people", spend_log=tmp_path / "spend.log")
    with pytest.raises(KeyboardInterrupt, match=f"^Nothing was released. {SPENT}$"):
        run_files(*world, tmp_path / "out", options)


def test_the_tour_has_written_nothing(tmp_path):
    done = in_a_fork(WHILE_NOISE_IS_DRAWN, sent("SIGINT"), "demo", tmp_path / "tour")
    assert done.code == 130
    assert done.stderr.endswith("\nInterrupted. Nothing was written.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_limit_that_was_set_is_not_said_to_be_unwritten(tmp_path):
    """Once it is in the log, an interrupt has nothing to stop."""
    given = ("spend", tmp_path / "spend.log", "--dataset", "a", "--set-limit", "4", "--unit", "rho")
    done = in_a_fork((people_accounts_module, "_warnings"), sent("SIGINT"), *given)
    assert done.code == 0, done.stderr
    assert "Interrupted" not in done.stderr
    assert '"limit"' in (tmp_path / "spend.log").read_text()
