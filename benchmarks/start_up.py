"""What the smallest jobs cost: the help, and runs of ten thousand people."""

from __future__ import annotations

from pathlib import Path

from benchmarks.commands import measured_safetab

SMALL_JOB = Path(__file__).parents[2] / "shared" / "cost" / "one-state-10k"
"""Timed if it lies beside the project: the Bureau's program took 217 CPU seconds for it, on another machine."""
TOY = ("--people", 10_000, "--states", 1, "--counties", 5, "--tracts", 50, "--iterations", 100)


def start_up_lines(folder: Path) -> list[str]:
    """CPU seconds after first use; what is above its target says so."""
    folder.mkdir(parents=True, exist_ok=True)
    toy = folder / "toy"
    measured_safetab("synthesize", toy, *TOY, "--overwrite")
    run = ("run", toy / "parameters", toy / "data", folder / "toy-output", "--overwrite", "--temp", folder)
    measured_safetab(*run)
    lines = [
        _line("`safetab --help`", _least_cpu_seconds("--help"), 0.15),
        _line("a toy run (10,000 people, 51 tracts)", _least_cpu_seconds(*run), 0.8),
    ]
    if SMALL_JOB.is_dir():
        files = (SMALL_JOB / "parameters", SMALL_JOB / "data", folder / "small-job")
        seconds = _least_cpu_seconds("run", *files, "--overwrite", "--temp", folder)
        lines.append(_line("a state of 10,000 people with the lists of 2020", seconds, 1.0))
    return lines


def _least_cpu_seconds(*arguments: str | Path | int) -> float:
    """Of five: others may use the machine, which adds to what a command takes and never subtracts."""
    return min(measured_safetab(*arguments).cost.cpu_seconds for _ in range(5))


def _line(what: str, cpu_seconds: float, target: float) -> str:
    missed = "" if cpu_seconds <= target else ": MISSED"
    return f"- {what}: {cpu_seconds:.2f} CPU seconds (target {target}{missed})"
