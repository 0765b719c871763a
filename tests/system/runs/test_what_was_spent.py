"""A run that is interrupted or fails says what it cost, on the terminal and in the confidential log."""

import json
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from importlib import import_module

import pytest

from tests.commands import done, raising, ran
from tests.conftest import SMALL_EXAMPLE
from tests.faults.commands import code_of_command, ended
from tests.inside import (
    ArrayEngine,
    OutputChecks,
    PassFiles,
    RunFailed,
    RunOptions,
    SpendLogFile,
    functions_demo_module,
    output_folder_module,
    people_accounts_module,
    public_files_module,
    run_files,
    run_module,
    write_demo_census,
)
from tests.worlds.people import no_budgets_but, write_random_world

SMALL = [SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data"]
MOMENTS = {
    "before the charge": (ArrayEngine, "prepare"),
    "while it is charged": (SpendLogFile, "append"),
    "after all noise": (run_module, "safetab"),
    "while it is written": (output_folder_module, "_settle"),
    "in a worker": (PassFiles, "write"),
    "of a check": (OutputChecks, "of_remaining_files"),
    "while it plans": (public_files_module, "plan_of_files"),
    "once a limit is set": (people_accounts_module, "_warnings"),
}
FAULTS = {
    "is full": OSError(28, "No space left on device"),
    "Input/output error": OSError(5, "Input/output error"),
    "out of memory": MemoryError(),
    "an error of the program itself (LookupError)": LookupError("a value"),
    "the output breaks a rule.": RunFailed("the output breaks a rule."),
}
"""By what is told of them."""
CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
SIGNALS = ["SIGINT", *(pytest.param(name, marks=pytest.mark.slow) for name in ("SIGTERM", "SIGHUP"))]
LOADED_LATE = ("safetab.cli.plan_tables", "safetab.cli.progress", "safetab.cli.summaries", "pyarrow.dataset")
SPENT = r"rho [0-9.]+ \(US pass\) and rho [0-9.]+ \(PR pass\) count as spent \(run ([0-9a-f]{16})\)\."


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Each pass has one level."""
    return write_random_world(tmp_path_factory.mktemp("spent"), 3, budget=1, **no_budgets_but("2_state", "2_pr_state"))


@pytest.fixture(scope="module")
def server():
    """A process that has loaded everything and has no threads: what it forks costs what the command itself costs."""
    command = [sys.executable, "-c", f"from {__name__} import serve; serve()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


def serve():
    done("plan", "--help")
    for late in LOADED_LATE:
        import_module(late)
    for line in sys.stdin:
        ending = ended(partial(faulty_command, *json.loads(line)))
        print(json.dumps([ending.code, ending.stdout, ending.stderr]), flush=True)  # noqa: T201


def faulty_command(moment, fault, *given):
    """A command with a fault before what happens at this moment, or after all noise."""
    place, name = MOMENTS[moment]
    original = getattr(place, name)

    def fail():
        if fault in FAULTS:
            raise FAULTS[fault]
        signal.raise_signal(signal.Signals[fault])

    def before(*arguments):
        fail()
        return original(*arguments)

    def after_all(*arguments):
        yield from original(*arguments)
        fail()

    setattr(place, name, after_all if moment == "after all noise" else before)
    return code_of_command(given)


def ending_of(server, *asked):
    """Exit code, output and errors of a command with a fault."""
    server.stdin.write(json.dumps([*map(str, asked)]) + "\n")
    server.stdin.flush()
    code, stdout, stderr = json.loads(server.stdout.readline())
    assert "Traceback" not in stderr
    return code, stdout, stderr


@pytest.fixture
def run(server, world, tmp_path):
    """Gives what the terminal shows as one line, and the confidential log."""

    def run(moment, fault, *more, data=world.data):
        out, temporary = tmp_path / "out", tmp_path / "temp"
        temporary.mkdir()
        given = (world.parameters, data, out, "--temp", temporary, "--threads", 2, *more)
        code, _, stderr = ending_of(server, moment, fault, "run", *given)
        assert code == CODES.get(fault, 3), stderr
        assert not out.exists()
        assert list(temporary.iterdir()) == []
        return " ".join(stderr.split()), (tmp_path / "out.confidential.log").read_text()

    return run


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
def test_an_interrupt_before_the_charge_says_that_nothing_was_spent(name, run, tmp_path):
    shown, log = run("before the charge", name, *kept_in(tmp_path))
    assert shown.endswith("Interrupted. Nothing was released. Nothing was spent.")
    assert log.endswith(" Interrupted. Nothing was released. Nothing was spent.\n")
    assert runs_in(tmp_path / "spend.log") == set()


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("moment", ["while it is charged", "after all noise", "while it is written"])
def test_an_interrupt_after_the_charge_says_what_was_spent(moment, name, run, tmp_path):
    assert_told("Interrupted. Nothing was released.", tmp_path, *run(moment, name, *kept_in(tmp_path)))


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


@pytest.mark.parametrize(
    ("moment", "fault"),
    [
        ("of a check", "the output breaks a rule."),
        *(
            pytest.param(moment, fault, marks=pytest.mark.slow)
            for moment in ("after all noise", "while it is written", "in a worker", "of a check")
            for fault in FAULTS
        ),
    ],
)
def test_a_failure_after_the_charge_says_what_was_spent(moment, fault, run, tmp_path):
    shown, log = run(moment, fault, *kept_in(tmp_path))
    assert_told(f"The run failed: .*{re.escape(fault)}.*", tmp_path, shown, log)
    assert "a value" not in shown


def test_a_failure_before_the_charge_says_that_nothing_was_spent(run, tmp_path):
    for said in run("before the charge", "Input/output error", *kept_in(tmp_path)):
        assert said.rstrip("\n").endswith("Nothing was written. Nothing was spent.")


def test_a_charge_that_could_not_be_written_points_at_the_spend_log(run, tmp_path):
    shown, _ = run("while it is charged", "is full", *kept_in(tmp_path))
    asked = re.escape(f"`safetab spend {tmp_path}/spend.log` shows whether run ")
    assert re.search(rf"{asked}[0-9a-f]{{16}} counts as spent\.$", shown)


@pytest.mark.parametrize("fault", ["SIGINT", pytest.param("out of memory", marks=pytest.mark.slow)])
def test_without_a_spend_log_the_loss_of_a_finished_run_is_told(fault, run, world, tmp_path):
    data = shutil.copytree(world.data, tmp_path / "data", ignore=shutil.ignore_patterns("SYNTHETIC"))
    shown, log = run("after all noise", fault, data=data)
    losses = r"rho [0-9.]+ \(US pass\) and rho [0-9.]+ \(PR pass\)"
    told = re.search(rf"This run has no spend log\. It would have cost {losses}\.$", shown)
    assert told is not None, shown
    assert log.endswith(f"{told[0]}\n")


def test_synthetic_people_spend_nothing_without_a_spend_log(run):
    shown, _ = run("after all noise", "SIGINT")
    assert shown.endswith("Interrupted. Nothing was released. Nothing was spent: the records are synthetic.")


@pytest.mark.parametrize("name", CODES)
def test_a_command_that_only_reads_says_no_more_than_that_it_was_interrupted(name, server):
    assert ending_of(server, "while it plans", name, "plan", *SMALL) == (CODES[name], "", "Interrupted.\n")


@pytest.mark.parametrize("moment", ["safetab.cli.progress", pytest.param("safetab.runs.run", marks=pytest.mark.slow)])
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
    ending = ran(program, "run", *SMALL, tmp_path / "out")
    assert (ending.returncode, ending.stdout) == (130, "")
    assert ending.stderr == "Interrupted. Nothing was released. Nothing was spent.\n"


def test_python_is_told_too(world, tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "safetab", raising(KeyboardInterrupt))
    options = RunOptions(dataset="these-people", spend_log=tmp_path / "spend.log")
    with pytest.raises(KeyboardInterrupt, match=f"^Nothing was released. {SPENT}$"):
        run_files(*world, tmp_path / "out", options)


def small_tour(out):
    """A tour of few people that is interrupted after all noise."""
    functions_demo_module.write_demo_census = partial(write_demo_census, people=1_000)
    return faulty_command("after all noise", "SIGINT", "demo", out)


def test_the_tour_has_written_nothing(tmp_path):
    """In a process of its own: threads that read its Parquet files hang in a fork."""
    program = f"import sys; from {__name__} import small_tour; sys.exit(small_tour(sys.argv[1]))"
    ending = ran(program, tmp_path / "tour")
    assert ending.returncode == 130
    assert ending.stderr.endswith("\nInterrupted. Nothing was written.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_limit_that_was_set_is_not_said_to_be_unwritten(server, tmp_path):
    """Once it is in the log, an interrupt has nothing to stop."""
    log = tmp_path / "spend.log"
    given = f"spend {log} --dataset a --set-limit 4 --unit rho".split()
    code, _, stderr = ending_of(server, "once a limit is set", "SIGINT", *given)
    assert code == 0, stderr
    assert "Interrupted" not in stderr
    assert '"limit"' in log.read_text()
