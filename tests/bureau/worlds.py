"""Writes the worlds of the cases: lists, geography, records, published totals and config.json, changed as a case says."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.worlds.world import World

DATA = Path(__file__).parent / "data"
ABSENT = "__absent__"
NO_NOISE = 1_000_000  # rho or epsilon: the chance that any number is not exact is below 10^-1000
US = ("USA", "STATE", "COUNTY", "TRACT", "PLACE", "AIANNH")
PUERTO_RICO = ("PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE")
BLOCK = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")
RECORDS = ("person-records.txt", "household-records.txt")
TOTALS = "pop-group-totals.txt"
TOTALS_COLUMNS = ["REGION_ID", "REGION_TYPE", "ITERATION_CODE", "COUNT"]

Row = dict[str, str]
Case = dict[str, Any]


@dataclass(frozen=True)
class Written:
    """A world as it was written."""

    world: World
    config: dict[str, Any]
    files: dict[str, Any]  # texts, or bytes where a case recodes one

    @property
    def is_of_persons(self):
        return RECORDS[0] in self.files


def read_json(*names):
    return [json.loads((DATA / name).read_text(encoding="utf-8")) for name in names]


def all_cases():
    return [case for cases in read_json("cases.json", "more.json") for case in cases]


def all_worlds():
    first, more = read_json("worlds.json", "more-worlds.json")
    return first | more


def rows_of(text):
    lines = [line.rstrip("\r").split("|") for line in text.split("\n") if line.strip()]
    return [dict(zip(lines[0], line, strict=False)) for line in lines[1:]]


def header_of(text):
    return text.partition("\n")[0].strip().split("|")


def text_of(table, header):
    lines = [header, *([row[name] for name in header] for row in table)]
    return "".join("|".join(line) + "\n" for line in lines)


def block_of(row):
    return tuple(row[name] for name in BLOCK)


def regions_of(block):
    """The id of the region of each kind that a block is in."""
    state, county, tract = block["TABBLKST"], block["TABBLKCOU"], block["TABTRACTCE"]
    found = {"STATE": state, "COUNTY": state + county, "TRACT": state + county + tract}
    if block["PLACEFP"] != "99999":
        found["PLACE"] = state + block["PLACEFP"]
    if state == "72":
        return {f"PR-{kind}": region for kind, region in found.items()}
    if block["AIANNHCE"] != "9999":
        found["AIANNH"] = block["AIANNHCE"]
    return {"USA": "1", **found}


def write_case(case, worlds, folder):
    """Write the world of a case, with its changes, into two new folders."""
    world = worlds[case["world"]]
    files = {**world["lists"], **world["data"]}
    if case.get("fix") == "h":
        drop_outside(files)
    for change in case.get("ops", ()):
        apply(change, files)
    if case.get("fix") in {"p", "h-regions"}:
        drop_outside(files)
    config = case["whole_config"] if "whole_config" in case else config_of(case, world)
    written = Written(World.of(folder), config, files)
    for each in written.world:
        each.mkdir(parents=True)
    written.world.write_config(config)
    for name, content in files.items():
        is_public = name in world["lists"] or "short-form" in name
        path = written.world[not is_public] / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (written.world.data / "SYNTHETIC").touch()
    return written


def config_of(case, world):
    """The configuration of a world, with the thresholds, the budgets and the keys of a case."""
    config = json.loads(json.dumps(world["config"]))
    levels = case.get("thresholds")
    if levels is not None:
        keys = [f"({kind}, {number})" for kind in US + PUERTO_RICO for number in (1, 2)]
        if "thresholds_p" in config:
            config["thresholds_p"] = dict.fromkeys(keys, levels)
        else:
            config["thresholds_h_t3"] = dict.fromkeys(keys, levels[0])
            config["thresholds_h_t4"] = dict.fromkeys(keys, levels[1])
    if "budgets" in case:
        budgets = [key for key in config if key.startswith("privacy_budget_") and "fraction" not in key]
        config |= dict.fromkeys(budgets, NO_NOISE if case["budgets"] == "without noise" else case["budgets"])
    config |= case.get("config", {})
    return {key: value for key, value in config.items() if value != ABSENT}


def drop_outside(files):
    """Leave out records in blocks, and published totals of regions, that the GRF-C lacks."""
    geography = rows_of(files["GRF-C.txt"])
    blocks = {block_of(block) for block in geography}
    regions = {pair for block in geography for pair in regions_of(block).items()}
    for name in RECORDS:
        if name in files:
            kept = [row for row in rows_of(files[name]) if block_of(row) in blocks]
            files[name] = text_of(kept, header_of(files[name]))
    if TOTALS in files:
        kept = [row for row in rows_of(files[TOTALS]) if (row["REGION_TYPE"], row["REGION_ID"]) in regions]
        files[TOTALS] = text_of(kept, TOTALS_COLUMNS)


def apply(change, files):
    """Change one file: the kind of change, the file, and what the kind needs."""
    kind, name, *values = change
    match kind:
        case "write":
            files[name] = values[0]
        case "append":
            files[name] = files[name].rstrip("\n") + "\n" + values[0] + "\n"
        case "remove":
            del files[name]
        case "recode":
            files[name] = files[name].encode(values[0])
        case _:
            files[name] = changed_table(kind, files[name], values)


def changed_table(kind, text, values):
    header, table = header_of(text), rows_of(text)
    if kind == "set":
        row, column, value = values
        table[row][column] = value
    elif kind == "drop_column":
        header.remove(values[0])
    else:
        assert kind == "add_column"
        header.append(values[0])
        for each in table:
            each[values[0]] = values[1]
    return text_of(table, header)
