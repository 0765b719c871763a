"""The people of a synthetic census as a CEF, and what a run from it costs.

The cost stands beside that of a run from pipe-delimited text. Householders begin a unit; the others
of their block live with one of them, or in group quarters where there is none.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from safetab.inputs.bureau.cef.layout import COUNTS, PERSON, UNIT, LineLayout
from tools.benchmarks.censuses import Census
from tools.benchmarks.commands import measured_program
from tools.benchmarks.runs import BenchmarkRun, run_of

MOST_CPU = 1.5
"""Times that of the same people as text."""

_FIRST_MAFID = 100_000_001
_FIRST_OID = 27_659_836_000_000
_BLOCK_COLUMNS = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")
_CODES = (*(f"QRACE{n}" for n in range(1, 9)), "QSPAN")
_INI = "\n".join([
    "[paths]", "per_dir = .", "unit_dir = .", "grfc_dir = .", "per_file_format = CEF20_PER_%%s.txt",
    "unit_file_format = CEF20_UNIT_%%s.txt", "geo_file_format = grfc_tab20_%%s.txt", "",
])  # fmt: skip

Numbers = NDArray[np.int64]


def cef_lines(text: BenchmarkRun, folder: Path) -> str:
    """The sentence of `python -m tools.benchmarks.small`; the census of `text` must be of text."""
    census = Census(text.census.people).made_in(folder)
    cef = folder / f"{census.name}-as-cef"
    if not cef.exists():
        print(f"making {cef.name}", flush=True)
        measured_program("cef", census, cef)
    print(f"running {cef.name}", flush=True)
    cost, shares = run_of(cef / "parameters", cef / "data" / "reader.ini", folder / "output")
    ratio = cost.cpu_seconds / text.cost.cpu_seconds
    read, read_text = (one["read, check, encode"] for one in (shares, text.shares))
    verdict = "kept" if ratio <= MOST_CPU else "BROKEN"
    return (
        f"{text.census.people:,} people from a CEF: {cost.cpu_seconds:.1f} CPU seconds,"
        f" {ratio:.2f} times the run from pipe-delimited text ({text.cost.cpu_seconds:.1f};"
        f" at most {MOST_CPU}: {verdict}); reading, checking and encoding {read:.1f} beside"
        f" {read_text:.1f}; peak {cost.peak_bytes / 2**20:,.0f} MB beside"
        f" {text.cost.peak_bytes / 2**20:,.0f}."
    )


def write_cef(census: Path, out: Path) -> None:
    """The census, whose tables are Parquet, as a CEF."""
    partial = out.with_name(f".{out.name}")
    shutil.rmtree(partial, ignore_errors=True)
    data = partial / "data"
    data.mkdir(parents=True)
    shutil.copytree(census / "parameters", partial / "parameters")
    config = partial / "parameters" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"reader": "cef"}))
    (data / "reader.ini").write_text(_INI)
    (data / "SYNTHETIC").write_text("The people in this folder do not exist.\n")
    shutil.copy(census / "data" / "geography-names.txt", data)
    geography = (
        pq.read_table(census / "data" / "GRF-C.parquet")
        if _is_one(census)
        else _parts(census, "GRF-C")
    )
    blocks = np.sort(_block_of(geography))
    for state in np.unique(blocks // 10**13).tolist():
        of_state = geography.filter(pa.array(_numbers(geography, "TABBLKST") == state))
        _write_geography(of_state, blocks, data / f"grfc_tab20_{state:02d}.txt")
        path = census / "data" / "person-records" / f"{state:02d}.parquet"
        if path.exists():
            write_state(_people(pq.read_table(path), blocks), state, data)
    partial.rename(out)


def write_state(people: dict[str, Numbers], state: int, folder: Path) -> None:
    """Files of a state from columns of numbers; `block` is a position in the list of blocks."""
    order = np.lexsort((-people["HOUSEHOLDER"], people["block"]))
    people = {name: column[order] for name, column in people.items()}
    unit_of, units = _units(people)
    in_quarters = units["RTYPE"][unit_of] == 4
    rank = np.zeros(len(unit_of), dtype=np.int64)
    persons = {
        **{name: people[name] for name in (*_CODES, "QSEX", "QAGE", "CENRACE")},
        "RTYPE": np.where(in_quarters, 5, 3), "MAFID": units["MAFID"][unit_of], "CUF_PNC": rank + 1,
        "BCUSTATEFP": rank + state, "VERSION": rank + 1, "QDB": rank + 19870105,
        "QDOB_MONTH": rank + 1, "QDOB_DAY": rank + 5, "QDOB_YEAR": rank + 1987, "QSPANX": rank + 1,
        "CENHISP": rank + 1, "QRACEX": rank + 1, "RACE2010": rank + 1,
        "QGQTYP": np.where(in_quarters, 501, 0), "LIVE_ALONE": rank,
        "RELSHIP": np.where(people["HOUSEHOLDER"] == 1, 20, np.where(in_quarters, 38, 36)),
    }  # fmt: skip
    _write(folder / f"CEF20_PER_{state:02d}.txt", [persons], PERSON)
    _write(
        folder / f"CEF20_UNIT_{state:02d}.txt",
        [units | {"BCUSTATEFP": units["VERSION"] * 0 + state}],
        UNIT,
    )
    kinds = {"UNIT": units["RTYPE"] == 2, "PER": ~in_quarters}
    counts = {"BCUSTATEFP": state, "VERSION": 1}
    for kind, is_housing in kinds.items():
        counts[f"COUNT_{kind}"] = len(is_housing)
        counts[f"COUNT_{kind}_HU"], counts[f"COUNT_{kind}_GQ"] = (
            int(is_housing.sum()),
            int((~is_housing).sum()),
        )
    _write(
        folder / f"CEF20_CNT_{state:02d}.txt",
        [{name: np.array([one]) for name, one in counts.items()}],
        COUNTS,
    )


def _units(people: dict[str, Numbers]) -> tuple[Numbers, dict[str, Numbers]]:
    """The unit of each person, and the units; people are sorted by block, householders first."""
    _, block_of, sizes = np.unique(people["block"], return_inverse=True, return_counts=True)
    householders = np.bincount(block_of, weights=people["HOUSEHOLDER"]).astype(np.int64)
    units_of_block = np.maximum(householders, 1)
    first_unit, first_person = np.cumsum(units_of_block) - units_of_block, np.cumsum(sizes) - sizes
    unit_of = (
        first_unit[block_of]
        + (np.arange(len(block_of)) - first_person[block_of]) % units_of_block[block_of]
    )
    number = int(units_of_block.sum())
    rtype = np.full(number, 2)
    rtype[first_unit[householders == 0]] = 4
    population = np.bincount(unit_of, minlength=number)
    race, block = np.zeros(number, dtype=np.int64), np.empty(number, dtype=np.int64)
    is_householder = people["HOUSEHOLDER"] == 1
    race[unit_of[is_householder]] = people["CENRACE"][is_householder]
    block[unit_of] = people["block"]
    zero = np.zeros(number, dtype=np.int64)
    given = {
        "RTYPE": rtype, "MAFID": _FIRST_MAFID + 37 * np.random.default_rng(1).permutation(number),
        "VERSION": zero + 1, "FINAL_POP": population, "HHRACE": race, "TEN": (rtype == 2) * 1,
        "HHT": np.where(rtype == 4, 0, np.where(population == 1, 4, 7)),
        "QGQTYP": np.where(rtype == 4, 501, 0), "OIDTB": _FIRST_OID + block,
    }  # fmt: skip
    return unit_of, {name: given.get(name, zero) for name in UNIT.names}


def _write(path: Path, parts: Iterable[dict[str, Numbers]], layout: LineLayout) -> None:
    with path.open("ab") as file:
        for part in parts:
            lines = np.full(
                (len(next(iter(part.values()))), layout.width + 1), ord(" "), dtype=np.uint8
            )
            lines[:, -1] = ord("\n")
            for field in layout.fields:
                _put(
                    part[field.name], lines, field.first, field.end, may_be_blank=field.may_be_blank
                )
            file.write(lines.tobytes())


def _put(
    numbers: Numbers, lines: NDArray[np.uint8], first: int, end: int, *, may_be_blank: bool
) -> None:
    """Digits on the right, blanks in front; blanks alone for no number."""
    rest = numbers.copy()
    for place in range(end - 1, first - 1, -1):
        is_there = (rest > 0) | (False if may_be_blank else place == end - 1)
        lines[:, place] = np.where(is_there, ord("0") + rest % 10, ord(" "))
        rest //= 10


def _write_geography(of_state: pa.Table, blocks: Numbers, path: Path) -> None:
    oids = _FIRST_OID + np.searchsorted(blocks, _block_of(of_state))
    columns = [
        _numbers(of_state, name).tolist() for name in (*_BLOCK_COLUMNS, "PLACEFP", "AIANNHCE")
    ]
    header = "|".join(
        [*_BLOCK_COLUMNS, *(f"OTHER{n}" for n in range(69)), "PLACEFP", "AIANNHCE", "OIDTABBLK"]
    )
    others = "|" * 70
    with path.open("w") as file:
        file.write(header + "\n")
        for row in zip(*columns, oids.tolist(), strict=True):
            state, county, tract, block, place, aiannh, oid = row
            file.write(
                f"{state:02d}|{county:03d}|{tract:06d}|{block:04d}{others}{place:05d}|{aiannh:04d}|{oid}\n"
            )


def _people(table: pa.Table, blocks: Numbers) -> dict[str, Numbers]:
    columns = {name: _numbers(table, name) for name in (*_CODES, "QSEX", "QAGE", "CENRACE")}
    columns["QSPAN"] = np.where(columns["QSPAN"] > 8999, 9950, columns["QSPAN"])
    columns["HOUSEHOLDER"] = np.array(
        [value == "True" for value in table["HOUSEHOLDER"].to_pylist()]
    ).astype(np.int64)
    columns["block"] = np.searchsorted(blocks, _block_of(table))
    return columns


def _block_of(table: pa.Table) -> Numbers:
    block = np.zeros(len(table), dtype=np.int64)
    for name, digits in zip(_BLOCK_COLUMNS, (2, 3, 6, 4), strict=True):
        block = block * 10**digits + _numbers(table, name)
    return block


def _numbers(table: pa.Table, name: str) -> Numbers:
    return table[name].cast(pa.int64()).fill_null(0).to_numpy()


def _is_one(census: Path) -> bool:
    return (census / "data" / "GRF-C.parquet").is_file()


def _parts(census: Path, table: str) -> pa.Table:
    return pa.concat_tables(
        [pq.read_table(path) for path in sorted((census / "data" / table).glob("*.parquet"))]
    )


if __name__ == "__main__":
    import sys

    write_cef(Path(sys.argv[1]), Path(sys.argv[2]))
