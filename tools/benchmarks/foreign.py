"""A census of texts beside a U.S. census of as many people, areas and groups, in one run.

Nothing is decided here: a verdict is one of this machine in this hour. Turns are interleaved, and
the least counts.
"""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from safetab.foundation.findings import VERSION
from tools.benchmarks.censuses import THREADS
from tools.benchmarks.commands import Cost, measured_safetab
from tools.benchmarks.machine import described_commit, described_machine
from tools.benchmarks.runs import MEMORY

PEOPLE = 5_000_000
TURNS = 3
US = ("--states", 9, "--counties", 320, "--tracts", 1_850, "--iterations", 300)
"""About 180,000 blocks, 3,400 sets of blocks and 690,000 population groups."""
AUTHORITIES, MIDDLE_AREAS, SMALLEST_AREAS = 300, 1_500, 180_000
"""Two wards of each authority cross its five middle areas.

That gives 3,000 sets of areas and 724,000 population groups.
"""
BROAD, GROUPS, CODES = 5, 19, 276
MOST_OF_US, MOST_OF_PARQUET, MOST_GIGABYTES = 1.15, 1.6, 1.2


def main() -> None:
    """Make the censuses that aren't there, run each in turns, and print the ratios."""
    folder = Path(os.environ.get("BENCH_FOLDER", "build/bench")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    us, foreign = _us(folder), _foreign(folder)
    parameters = foreign / "parameters"
    inputs = {
        "U.S.": (us / "parameters", us / "data"),
        "foreign": (parameters, foreign / "parquet"),
        "foreign, text": (parameters, foreign / "text"),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in inputs}
    for turn in range(TURNS + 1):
        for name, (of_parameters, data) in inputs.items():
            limits = ("--overwrite", "--threads", THREADS, "--memory", MEMORY, "--temp", folder)
            cost = measured_safetab("run", of_parameters, data, folder / "output", *limits).cost
            if turn:  # the first compiles, and counts for nothing
                costs[name].append(cost)
    own, peer, text = (_least(costs[name]) for name in ("foreign", "U.S.", "foreign, text"))
    gigabytes = max(each.peak_bytes for each in costs["foreign"]) / 1e9
    lines = ["", *described_machine(), described_commit()]
    lines += [
        f"- {name}: {', '.join(f'{each.cpu_seconds:.2f}' for each in of)} CPU s"
        for name, of in costs.items()
    ]
    lines.append(_line("Parquet beside the U.S.", own / peer, MOST_OF_US))
    lines.append(_line("text beside Parquet", text / own, MOST_OF_PARQUET))
    lines.append(_line("gigabytes from Parquet", gigabytes, MOST_GIGABYTES))
    print("\n".join(lines))


def _us(folder: Path) -> Path:
    census = folder / f"census-{VERSION}-{PEOPLE}-people-beside-foreign"
    if not census.exists():
        measured_safetab("synthesize", census, "--people", PEOPLE, "--threads", THREADS, *US)
    return census


def _foreign(folder: Path) -> Path:
    """The folder of the foreign census: parameters, and its people as Parquet and as text."""
    census = folder / f"census-{VERSION}-{PEOPLE}-people-foreign"
    if census.exists():
        return census
    made = census.with_name(f"{census.name}-unfinished")
    shutil.rmtree(made, ignore_errors=True)
    parameters = made / "parameters"
    parameters.mkdir(parents=True)
    shipped = files("safetab.apps.synthetic.specified") / "ons" / "census.toml"
    (parameters / "census.toml").write_bytes(shipped.read_bytes())
    for name, rows in (("oa-lookup.csv", _areas()), ("ethnic-group.csv", _codes())):
        with (parameters / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    for form in ("parquet", "text"):
        measured_safetab("synthesize", parameters, "--people", PEOPLE, "--format", form)
        (made / "parameters-data").rename(made / form)
    made.rename(census)
    return census


def _areas() -> Iterator[tuple[str, ...]]:
    """Smallest areas with ids of nine characters, in six levels.

    A tenth of them is in no region.
    """
    yield (
        "OA21CD", "MSOA21CD", "MSOA21NM", "LAD22CD", "LAD22NM", "RGN22CD", "RGN22NM", "CTRY22CD",
        "CTRY22NM", "WD22CD", "WD22NM",
    )  # fmt: skip
    for area in range(SMALLEST_AREAS):
        middle = area * MIDDLE_AREAS // SMALLEST_AREAS
        authority, region, ward = (
            area * AUTHORITIES // SMALLEST_AREAS,
            area * 10 // SMALLEST_AREAS,
            area % 2,
        )
        country = "W" if region == 9 else "E"
        of_region = (
            ("W99999999", "") if country == "W" else (f"E12{region:06d}", f"Region {region}")
        )
        yield (
            f"{country}00{area:06d}",
            *(f"{country}02{middle:06d}", f"Middle area {middle}"),
            *(f"{country}06{authority:06d}", f"Authority {authority}"),
            *(*of_region, f"{country}92000001", f"Country {country}"),
            *(f"{country}05{2 * authority + ward:06d}", f"Ward {ward} of authority {authority}"),
        )


def _codes() -> Iterator[tuple[str, ...]]:
    """Codes in groups, which are in broad groups."""
    yield ("code", "name", "broad", "broad_name", "group", "group_name")
    for code in range(1, CODES + 1):
        group = code % GROUPS
        broad = group % BROAD
        yield (
            str(code),
            f"Code {code}",
            f"b{broad}",
            f"Broad group {broad}",
            f"g{group}",
            f"Group {group}",
        )


def _least(costs: list[Cost]) -> float:
    return min(cost.cpu_seconds for cost in costs)


def _line(what: str, number: float, most: float) -> str:
    return f"- {what}: {number:.2f} (at most {most}{'' if number <= most else ': MISSED'})"


if __name__ == "__main__":
    main()
