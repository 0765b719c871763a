"""A random table of areas: levels that nest, cross, leave areas out or put columns together; passes."""

from dataclasses import dataclass, field
from typing import Any

_NAMES = ["Ōtara", "Side by side", "Saint-Élie", "北区", 'The "Old" Town', "North, South", "Zürich"]


@dataclass
class WorldAreas:
    """The rows of the table, the keys of the specification, and the record's columns of an area's key."""

    rows: list[dict[str, str]]
    keys: dict[str, Any]
    record_columns: list[str] = field(default_factory=list)
    table_columns: list[str] = field(default_factory=list)

    def key_of(self, row):
        return [row[column] for column in self.table_columns]


def make_areas(choose):
    """A table of 6 to 40 smallest areas with 2 to 12 levels."""
    parts = choose.between(1, 3)
    choose.features.add(f"key of {parts}")
    spelled = choose.named(digits="{:0{w}d}", nine="E{:0{w}d}", long="CRS3035 {:0{w}d}", unicode="ö {:0{w}d} ñ")
    rows = _smallest(choose, parts, spelled, choose.between(7, 11) if parts == 1 and choose.quietly(0.7) else 2)
    table = [f"K{place}" for place in range(parts)]
    renames = choose.chance("RECORD = TABLE", 0.4)
    record = [f"rec {column}" if renames and choose.quietly(0.7) else column for column in table]
    key = [column if column == said else f"{said} = {column}" for said, column in zip(record, table, strict=True)]
    keys = {"file": "", "key": key, "levels": []}
    areas = WorldAreas(choose.shuffled(rows), keys, record, table)
    _add_levels(choose, areas, choose.between(2, 12))
    if choose.chance("other area", 0.3):
        keys["other"] = areas.key_of(choose.one(rows))
    if choose.chance("passes", 0.35):
        _add_passes(choose, areas)
    keys["file"] = choose.named(areas_csv="areas.csv", areas_parquet="table of areas.parquet")
    return areas


def _smallest(choose, parts, spelled, width):
    number = choose.between(6, 40)
    found = {}
    while len(found) < number:
        limits = [choose.between(0, 3) for _ in range(parts - 1)] + [choose.between(0, 10**width - 1)]
        texts = tuple(spelled.format(limit, w=width) for limit in limits)
        found[texts] = {f"K{place}": text for place, text in enumerate(texts)}
    return list(found.values())


def _add_levels(choose, areas, number):
    choose.features.add("many levels" if number > 8 else "few levels")
    makers = [_crossing, _crossing, _nested, _together, _of_key]
    levels = areas.keys["levels"]
    if choose.chance("whole", 0.7):
        levels.append({"name": "Whole", "whole": choose.one(["NZ", "everything there is", "0"]), "noun": "nation"})
    while len(levels) < number:
        place = len(levels)
        made = choose.one(makers)(choose, areas, f"c{place}")
        name = f"{choose.one(['ward', 'Area.', 'level-'])}{place}"
        levels.append({"name": name, **made, "noun": f"unit {place}", "nouns": f"units {place}"})
        if choose.quietly(0.4):
            _add_names(choose, areas, levels[-1])
    areas.keys["levels"] = choose.shuffled(levels) if choose.quietly(0.5) else levels
    if choose.quietly(0.3):
        areas.keys["levels"][0]["title"] = "All of it"


def _crossing(choose, areas, column):
    """A column that has nothing to do with the others."""
    choose.features.add("crossing")
    style = choose.one(["{}", "{:02d}", "{:09d}", "x{} y", "é{}"])
    texts = [style.format(number) for number in choose.random.sample(range(1, 120), choose.between(1, 9))]
    for row in areas.rows:
        row[column] = choose.one(texts)
    return _with_nowhere(choose, areas, column)


def _nested(choose, areas, column):
    """A coarser division of another column, if one is there."""
    inner = choose.one(list(areas.rows[0]))
    outer = {text: f"n{choose.between(1, 4)}" for text in sorted({row[inner] for row in areas.rows})}
    for row in areas.rows:
        row[column] = outer[row[inner]]
    return _with_nowhere(choose, areas, column)


def _with_nowhere(choose, areas, column):
    made = {"id": [column]}
    if choose.chance("nowhere", 0.5):
        marks = choose.one([[""], ["99999"], ["none", "abroad"], ["", "0"]])
        for row in areas.rows[1:]:  # one area stays somewhere
            row[column] = choose.one(marks) if choose.quietly(0.3) else row[column]
        made["nowhere"] = marks if len(marks) > 1 or choose.quietly(0.5) else marks[0]
    return made


def _together(choose, areas, column):
    """Two columns put together; all texts of the first are equally long, so ids stay apart."""
    choose.features.add("put together")
    for row in areas.rows:
        row[f"{column}a"] = f"{choose.between(1, 3):02d}"
    return _crossing(choose, areas, column) | {"id": [f"{column}a", column]}


def _of_key(choose, areas, _):
    """The first columns of the key, or all: then the smallest areas themselves are a level."""
    size = choose.between(1, len(areas.table_columns))
    choose.features.add("smallest areas" if size == len(areas.table_columns) else "part of the key")
    return {"id": areas.table_columns[:size]}


def _add_names(choose, areas, level):
    column = f"name of {level['name']}"
    level["names"] = column
    names = {}
    for row in areas.rows:
        row[column] = names.setdefault(tuple(row[part] for part in level["id"]), choose.one(_NAMES))


def _add_passes(choose, areas):
    """Two or three parts of the territory; sometimes some areas are in none."""
    values = ["north", "south", "isles"]
    for place, row in enumerate(areas.rows):
        row["PART"] = values[place] if place < 3 else choose.one(values)
        row["KIND"] = "land" if place < 3 else choose.one(["land", "land", "sea"])
    named = [["north"], ["south", "isles"]] if choose.quietly(0.5) else [["north"], ["south"], ["isles"]]
    if choose.chance("areas in no pass", 0.5):
        named = [named[0], ["isles"]] if len(named) == 3 or choose.quietly(0.5) else named[:1]
    levels, passes = areas.keys["levels"], []
    most = 16 // len(named)
    for number, parts in enumerate(named):
        where = {"PART": parts if len(parts) > 1 or choose.quietly(0.5) else parts[0]}
        if choose.chance("pass by two columns", 0.3):
            where["KIND"] = "land"
        kinds = [where["KIND"]] if "KIND" in where else ["land", "sea"]
        rows = [row for row in areas.rows if row["PART"] in parts and row["KIND"] in kinds]
        there = [level for level in levels if _has_entity(level, rows)]
        if not there:
            continue
        chosen = choose.some(there, 1, most)
        labels = {level["name"]: f"P{number} {level['name']}" for level in choose.shuffled(chosen)}
        passes.append({"name": f"pass-{number}", "title": f"Part {number}", "where": where, "levels": labels})
    if passes:
        areas.keys["passes"] = passes


def _has_entity(level, rows):
    if "whole" in level:
        return True
    nowhere = level.get("nowhere", [])
    return any(row[level["id"][-1]] not in ([nowhere] if isinstance(nowhere, str) else nowhere) for row in rows)
