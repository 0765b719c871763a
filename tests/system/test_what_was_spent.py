"""A run that is interrupted or fails says what it cost, on the terminal and in the confidential log."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SMALL_EXAMPLE
from tests.inside import RunOptions, run_files, run_module
from tests.worlds.people import write_random_world
from tests.worlds.world import World

SMALL = [str(SMALL_EXAMPLE / "parameters"), str(SMALL_EXAMPLE / "data")]
MAIN = "\nfrom safetab.cli.start import main; main()"
AS_USUAL = """
import signal
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # as outside of nohup
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
BEFORE_THE_CHARGE = """
from safetab.engines.local.engine import ArrayEngine
prepare = ArrayEngine.prepare
def prepared(engine):
    {fault}
    return prepare(engine)
ArrayEngine.prepare = prepared
"""
WHILE_IT_IS_CHARGED = """
from safetab.pipeline.spend_log.log_file import SpendLogFile
append = SpendLogFile.append
def appended(*given):
    {fault}
    append(*given)
SpendLogFile.append = appended
"""
WHILE_NOISE_IS_DRAWN = """
from safetab.pipeline import run as pipeline_run
safetab = pipeline_run.safetab
def drawn(*given):
    yield from safetab(*given)
    {fault}
pipeline_run.safetab = drawn
"""
WHILE_IT_IS_WRITTEN = """
from safetab.outputs import output_folder
settle = output_folder._settle
def settled(*given):
    {fault}
    settle(*given)
output_folder._settle = settled
"""
IN_A_WORKER = """
from safetab.outputs.pass_files import PassFiles
def write(*_):
    {fault}
PassFiles.write = write
"""
OF_A_CHECK = """
from safetab.release.checks.output_checks import OutputChecks
from safetab.foundation.failures import RunFailed
def check(_):
    {fault}
OutputChecks.of_remaining_files = check
"""
SIGNALS = [
    ("SIGINT", 130),
    pytest.param("SIGTERM", 143, marks=pytest.mark.slow),
    pytest.param("SIGHUP", 129, marks=pytest.mark.slow),
]
SPENT = r"rho [0-9.]+ \(US pass\) and rho [0-9.]+ \(PR pass\) count as spent \(run ([0-9a-f]{16})\)\."


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_random_world(tmp_path_factory.mktemp("spent"), 3, people=60, budget=1)


def run(world: World, folder: Path, patch: str, *more: str) -> tuple[int, str, str]:
    """The exit code, what the terminal shows as one line, and the confidential log."""
    (folder / "temp").mkdir()
    given = ["run", world.parameters, world.data, folder / "out", "--temp", folder / "temp", "--threads", "2", *more]
    command = [sys.executable, "-c", AS_USUAL + patch + MAIN, *map(str, given)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr
    assert not (folder / "out").exists()
    assert list((folder / "temp").iterdir()) == []
    return ended.returncode, " ".join(ended.stderr.split()), (folder / "out.confidential.log").read_text()


def kept_in(folder: Path) -> tuple[str, ...]:
    return ("--dataset", "these-people", "--spend-log", str(folder / "spend.log"))


def runs_in(log: Path) -> set[str]:
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return {line["run"] for line in lines if "run" in line}


def sent(name: str) -> str:
    return f"signal.raise_signal(signal.{name})"


@pytest.mark.parametrize(("name", "code"), SIGNALS)
def test_an_interrupt_before_the_charge_says_that_nothing_was_spent(name, code, world, tmp_path):
    patch = BEFORE_THE_CHARGE.format(fault=sent(name))
    ended, shown, log = run(world, tmp_path, patch, *kept_in(tmp_path))
    assert ended == code
    assert shown.endswith("Interrupted. Nothing was released. Nothing was spent.")
    assert log.endswith(" Interrupted. Nothing was released. Nothing was spent.\n")
    assert runs_in(tmp_path / "spend.log") == set()


@pytest.mark.parametrize(("name", "code"), SIGNALS)
@pytest.mark.parametrize("moment", [WHILE_IT_IS_CHARGED, WHILE_NOISE_IS_DRAWN, WHILE_IT_IS_WRITTEN])
def test_an_interrupt_after_the_charge_says_what_was_spent(moment, name, code, world, tmp_path):
    ended, shown, log = run(world, tmp_path, moment.format(fault=sent(name)), *kept_in(tmp_path))
    assert ended == code
    told = re.search(f"Interrupted. Nothing was released. {SPENT}$", shown)
    assert told is not None, shown
    assert runs_in(tmp_path / "spend.log") == {told[1]}
    assert log.endswith(f" {told[0]}\n")


@pytest.mark.slow
@pytest.mark.parametrize("step", ["Checking the person records", "Tabulating the levels", "Writing and checking"])
def test_a_signal_at_any_moment_is_told_as_the_spend_log_has_it(step, world, tmp_path):
    given = [world.parameters, world.data, tmp_path / "out", "--threads", "2", *kept_in(tmp_path)]
    command = [sys.executable, "-c", AS_USUAL + MAIN, "run", *map(str, given)]
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
    "raise OSError(28, 'No space left on device')": "is full",
    "raise OSError(5, 'Input/output error')": "Input/output error",
    "raise MemoryError": "out of memory",
    "raise LookupError('a value')": "an error of the program itself (LookupError)",
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("moment", [WHILE_NOISE_IS_DRAWN, WHILE_IT_IS_WRITTEN, IN_A_WORKER, OF_A_CHECK])
def test_a_failure_after_the_charge_says_what_was_spent(moment, fault, world, tmp_path):
    ended, shown, log = run(world, tmp_path, moment.format(fault=fault), *kept_in(tmp_path))
    assert ended == 3
    told = re.search(f"The run failed: .*{re.escape(FAULTS[fault])}.* {SPENT}$", shown)
    assert told is not None, shown
    assert "a value" not in shown
    assert runs_in(tmp_path / "spend.log") == {told[1]}
    assert log.endswith(f" {told[0]}\n")


def test_a_failed_check_of_the_output_says_what_was_spent(world, tmp_path):
    patch = OF_A_CHECK.format(fault="raise RunFailed('the output breaks a rule.')")
    ended, shown, log = run(world, tmp_path, patch, *kept_in(tmp_path))
    assert ended == 3
    assert re.search(f"The run failed: the output breaks a rule. {SPENT}$", shown)
    assert re.search(f"The run failed: the output breaks a rule. {SPENT}\n$", log)


def test_a_failure_before_the_charge_says_that_nothing_was_spent(world, tmp_path):
    patch = BEFORE_THE_CHARGE.format(fault="raise OSError(5, 'Input/output error')")
    ended, shown, log = run(world, tmp_path, patch, *kept_in(tmp_path))
    assert ended == 3
    assert shown.endswith("Nothing was written. Nothing was spent.")
    assert log.endswith("Nothing was written. Nothing was spent.\n")


def test_a_charge_that_could_not_be_written_points_at_the_spend_log(world, tmp_path):
    patch = WHILE_IT_IS_CHARGED.format(fault="raise OSError(28, 'No space left on device')")
    ended, shown, _ = run(world, tmp_path, patch, *kept_in(tmp_path))
    assert ended == 3
    assert re.search(
        rf"`safetab spend {tmp_path}/spend.log` shows whether run [0-9a-f]{{16}} counts as spent\.$", shown
    )


@pytest.mark.parametrize("fault", [sent("SIGINT"), pytest.param("raise MemoryError", marks=pytest.mark.slow)])
def test_without_a_spend_log_the_loss_of_a_finished_run_is_told(fault, world, tmp_path):
    data = shutil.copytree(world.data, tmp_path / "data", ignore=shutil.ignore_patterns("SYNTHETIC"))
    as_if_real = World(world.parameters, Path(data))
    _, shown, log = run(as_if_real, tmp_path, WHILE_NOISE_IS_DRAWN.format(fault=fault))
    losses = r"rho [0-9.]+ \(US pass\) and rho [0-9.]+ \(PR pass\)"
    told = re.search(rf"This run has no spend log\. It would have cost {losses}\.$", shown)
    assert told is not None, shown
    assert log.endswith(f"{told[0]}\n")


def test_synthetic_people_spend_nothing_without_a_spend_log(world, tmp_path):
    _, shown, _ = run(world, tmp_path, WHILE_NOISE_IS_DRAWN.format(fault=sent("SIGINT")))
    assert shown.endswith("Interrupted. Nothing was released. Nothing was spent: the records are synthetic.")


@pytest.mark.parametrize(("name", "code"), SIGNALS)
def test_a_command_that_only_reads_says_no_more_than_that_it_was_interrupted(name, code):
    patch = f"""{AS_USUAL}
from safetab.planning import planner
planner.plan_of_files = lambda *_: {sent(name)}
"""
    ended = subprocess.run(
        [sys.executable, "-c", patch + MAIN, "plan", *SMALL], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr == "Interrupted.\n"


@pytest.mark.parametrize("moment", ["safetab.cli.progress", "safetab.pipeline.run"])
def test_an_interrupt_before_a_run_reads_anything_says_what_every_run_says(moment, tmp_path):
    """Its parts are still being loaded."""
    patch = f"""{AS_USUAL}
import sys
class InterruptedAt:
    def find_spec(self, name, *_):
        if name == {moment!r}:
            {sent("SIGINT")}
sys.meta_path.insert(0, InterruptedAt())
"""
    command = [sys.executable, "-c", patch + MAIN, "run", *SMALL, str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr == "Interrupted. Nothing was released. Nothing was spent.\n"


def test_python_is_told_too(world, tmp_path, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "safetab", interrupted)
    options = RunOptions(dataset="these-people", spend_log=tmp_path / "spend.log")
    with pytest.raises(KeyboardInterrupt, match=f"^Nothing was released. {SPENT}$"):
        run_files(*world, tmp_path / "out", options)


def test_the_tour_has_written_nothing(tmp_path):
    patch = WHILE_NOISE_IS_DRAWN.format(fault=sent("SIGINT"))
    command = [sys.executable, "-c", AS_USUAL + patch + MAIN, "demo", str(tmp_path / "tour")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stderr.endswith("\nInterrupted. Nothing was written.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_limit_that_was_set_is_not_said_to_be_unwritten(tmp_path):
    """Once it is in the log, an interrupt has nothing to stop."""
    patch = """
from safetab.pipeline.spend_log import people_accounts
warnings = people_accounts._warnings
def interrupted(*given):
    signal.raise_signal(signal.SIGINT)
    return warnings(*given)
people_accounts._warnings = interrupted
"""
    given = ["spend", tmp_path / "spend.log", "--dataset", "a", "--set-limit", "4", "--unit", "rho"]
    command = [sys.executable, "-c", AS_USUAL + patch + MAIN, *map(str, given)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "Interrupted" not in ended.stderr
    assert '"limit"' in (tmp_path / "spend.log").read_text()
