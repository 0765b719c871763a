"""What the smallest jobs cost: the help, and a run of ten thousand people."""

from __future__ import annotations

from pathlib import Path

from benchmarks.commands import measured_safetab

TOY = ("--people", 10_000, "--states", 1, "--counties", 5, "--tracts", 50, "--iterations", 100)


def start_up_lines(folder: Path) -> list[str]:
    """CPU seconds after first use; what is above its target says so."""
    folder.mkdir(parents=True, exist_ok=True)
    toy = folder / "toy"
    measured_safetab("synthesize", toy, *TOY, "--overwrite")
    run = ("run", toy / "parameters", toy / "data", folder / "toy-output", "--overwrite", "--temp", folder)
    measured_safetab(*run)
    return [
        _line("`safetab --help`", measured_safetab("--help").cost.cpu_seconds, 0.4),
        _line("a toy run (10,000 people, 51 tracts)", measured_safetab(*run).cost.cpu_seconds, 3.0),
    ]


def _line(what: str, cpu_seconds: float, target: float) -> str:
    missed = "" if cpu_seconds <= target else ": MISSED"
    return f"- {what}: {cpu_seconds:.2f} CPU seconds (target {target}{missed})"
