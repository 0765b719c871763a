"""What people wait for: the help, a plan, and runs so small that nothing of them is people."""

from __future__ import annotations

from pathlib import Path

from tools import PROJECT
from tools.benchmarks.censuses import Census
from tools.benchmarks.commands import measured_safetab

_SHARED = PROJECT.parent / "shared"
SMALL_JOBS = (
    (
        "a state of 10,000 people with the lists of 2020",
        _SHARED / "cost" / "one-state-10k",
        1.0,
        217,
    ),
    ("the tricky households", _SHARED / "households" / "case-tricky", 1.56, 312),
)
"""Timed if they lie beside the project.

Each has its target, and CPU seconds of the Bureau's programs, on another machine.
"""
_MOST_PLANS = 2
TOY = ("--people", 10_000, "--states", 1, "--counties", 5, "--tracts", 50, "--iterations", 100)


def start_up_lines(folder: Path) -> list[str]:
    """CPU seconds after first use; what is above its target says so."""
    folder.mkdir(parents=True, exist_ok=True)
    toy = folder / "toy"
    measured_safetab("synthesize", toy, *TOY, "--overwrite")
    run = (
        "run",
        toy / "parameters",
        toy / "data",
        folder / "toy-output",
        "--overwrite",
        "--temp",
        folder,
    )
    measured_safetab(*run)
    lines = [
        _line("`safetab --help`", _least_cpu_seconds("--help"), 0.15),
        _line("a toy run (10,000 people, 51 tracts)", _least_cpu_seconds(*run), 0.8),
    ]
    for what, files, target, of_the_bureau in SMALL_JOBS:
        if files.is_dir():
            out = (folder / "small-job", "--overwrite", "--temp", folder)
            seconds = _least_cpu_seconds("run", files / "parameters", files / "data", *out)
            line = _line(what, seconds, target)
            lines.append(
                f"{line}; the Bureau's {of_the_bureau} are {of_the_bureau / seconds:.0f} times as"
                " many"
            )
    return [*lines, *_lines_of_the_nation(folder)]


def _lines_of_the_nation(folder: Path) -> list[str]:
    """A plan at the nation's geography, and a run there with almost nobody.

    The run is given as a multiple of the plan.
    """
    made = Census(100_000).made_in(folder)
    files = (made / "parameters", made / "data")
    plan = min(measured_safetab("plan", *files).cost.cpu_seconds for _ in range(3))
    run = ("run", *files, folder / "small-nation", "--overwrite", "--temp", folder)
    ratio = min(measured_safetab(*run).cost.cpu_seconds for _ in range(2)) / plan
    missed = "" if ratio <= _MOST_PLANS else ": MISSED"
    return [
        _line("`safetab plan` at the nation's geography", plan, 2.4),
        (
            f"- 100,000 people at the nation's geography: {ratio:.1f} times that plan (target"
            f" {_MOST_PLANS}{missed})"
        ),
    ]


def _least_cpu_seconds(*arguments: str | Path | int) -> float:
    """The least of five, since others may use the machine.

    That adds to what a command takes and never subtracts.
    """
    return min(measured_safetab(*arguments).cost.cpu_seconds for _ in range(5))


def _line(what: str, cpu_seconds: float, target: float) -> str:
    missed = "" if cpu_seconds <= target else ": MISSED"
    return f"- {what}: {cpu_seconds:.2f} CPU seconds (target {target}{missed})"
