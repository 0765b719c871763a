"""The cost of comparing the utility of twelve protections.

Run it as `python -m tools.benchmarks.comparison [PEOPLE]`. Each is counted, protected and measured
at every level, without an attack. Beside it, in the same minutes, stands `safetab accuracy --runs
1` of the same census; the target is 3 times its CPU seconds. A county of about 100,000 people is
compared with the preset `agencies`, with the attack; the target is 10 minutes of CPU time and 4 GB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tools.benchmarks.commands import Cost, measured_safetab

NATION = 334_735_155
COUNTY = (
    "--people",
    105_000,
    "--states",
    1,
    "--counties",
    1,
    "--tracts",
    25,
    "--households",
    "--shared-codes",
    "0.9",
)
PROTECTIONS = (
    *(
        "none",
        "safetab",
        "round:base=5",
        "round:ladder=drb",
        "round:rule=10-5",
        "round-random:base=3",
    ),
    *("round-random:base=5", "suppress:below=3", "suppress:rule=1980", "cell-key:D=2,V=0.9"),
    *("cell-key:D=5,V=3,js=2", "threshold:people=100"),
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("people", type=int, nargs="?", default=NATION)
    people = parser.parse_args().people
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        inputs = _census(folder / "nation", "--people", people)
        accuracy = measured_safetab("accuracy", *inputs, folder / "accuracy", "--runs", 1).cost
        _print(f"accuracy of one run, {people:,} people", accuracy)
        specs = (word for spec in PROTECTIONS for word in ("--protection", spec))
        utility = measured_safetab(
            "compare", *inputs, folder / "utility", "--attack", "none", "--runs", 1, *specs
        ).cost
        ratio = utility.cpu_seconds / accuracy.cpu_seconds
        _print(
            f"utility of {len(PROTECTIONS)} protections",
            utility,
            f": {ratio:.2f} times the CPU (target 3)",
        )
        county = _census(folder / "county", *COUNTY)
        attacked = measured_safetab("compare", *county, folder / "attacked").cost
        _print("a county under attack, preset agencies", attacked, " (targets 600 CPU s, 4 GB)")


def _census(folder: Path, *options: str | int) -> tuple[Path, Path]:
    """The parameters and the data of a synthetic U.S. census."""
    measured_safetab("synthesize", folder, "--us", *options)
    return folder / "parameters", folder / "data"


def _print(what: str, cost: Cost, target: str = "") -> None:
    sys.stdout.write(
        f"{what}: {cost.cpu_seconds:.1f} CPU s, {cost.peak_bytes / 1e9:.2f} GB{target}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
