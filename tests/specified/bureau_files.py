"""The files of a SafeTab-P run, rewritten as the lists of a specification."""

from __future__ import annotations

import csv
import json
import shutil
import tomllib
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.brute_force import rows_of
from tests.conftest import SHARED
from tests.worlds.specified.toml_text import toml_of

SAFETAB_P = SHARED / "census" / "safetab-p" / "census.toml"
_LEVELS = {"0": "major", "1": "regional", "2": "detailed"}


def write_as_specification(parameters: Path, data: Path, folder: Path) -> tuple[Path, Path]:
    """The folders of the parameters and of the data of the same run in the language of specifications."""
    written = folder / "parameters"
    written.mkdir()
    keys = tomllib.loads(SAFETAB_P.read_text(encoding="utf-8"), parse_float=Decimal)
    config = json.loads((parameters / "config.json").read_text())
    keys["areas"]["file"] = "areas.csv"
    keys["areas"]["passes"][0]["where"]["TABBLKST"] = config["state_filter_us"]
    keys["areas"]["passes"] = [
        each for each in keys["areas"]["passes"] if config["run_us" if each["name"] == "us" else "run_pr"]
    ]
    keys["privacy"]["use"] = {"race": config["max_race_codes"]}
    (written / "census.toml").write_text(toml_of(keys), encoding="utf-8")
    _write(written / "areas.csv", rows_of(data / "GRF-C.txt"))
    codes = rows_of(parameters / "race-and-ethnicity-codes.txt")
    _write(written / "codes.csv", [{"code": row["RACE_ETH_CODE"], "name": row["RACE_ETH_NAME"]} for row in codes])
    inside = rows_of(parameters / "race-and-ethnicity-code-to-iteration.txt")
    _write(
        written / "group-codes.csv", [{"group": row["ITERATION_CODE"], "code": row["RACE_ETH_CODE"]} for row in inside]
    )
    race, ethnicity = (
        rows_of(parameters / f"{which}-characteristic-iterations.txt") for which in ("race", "ethnicity")
    )
    groups = [_group(row, "race", "only" if row["ALONE"] == "True" else "any") for row in race]
    groups += [_group(row, "hispanic-origin", "any") for row in ethnicity]
    _write(written / "groups.csv", groups)
    (folder / "data").mkdir()
    shutil.copy(data / "person-records.txt", folder / "data")
    return written, folder / "data"


def _group(row: dict[str, str], classification: str, members: str) -> dict[str, str]:
    is_total_only, is_substate = row["DETAILED_ONLY"] == "True", row["COARSE_ONLY"] == "True"
    listed = "total-only" if is_total_only else "substate" if is_substate else "common"
    names = {"group": row["ITERATION_CODE"], "name": row["ITERATION_NAME"], "level": _LEVELS[row["LEVEL"]]}
    return names | {"classification": classification, "members": members, "list": listed}


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    rows = list(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
