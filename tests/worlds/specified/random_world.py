"""Random censuses of agencies that don't exist: specification, public lists and records, all valid, from a seed."""

import csv

import pyarrow as pa
import pyarrow.parquet as pq

from tests.worlds.specified.areas import make_areas
from tests.worlds.specified.choices import Choices
from tests.worlds.specified.codes import make_classifications, make_groups
from tests.worlds.specified.people import DELIMITER, make_records, write_records
from tests.worlds.specified.tables import make_attributes, make_families, make_privacy
from tests.worlds.specified.toml_text import csv_of, toml_of
from tests.worlds.world import World

_ABOUT = {
    "title": "A census of nowhere",
    "agency": "nobody",
    "record": "person",
    "records": "people",
    "group": "group",
    "groups": "groups",
}


class ForeignWorld(World):
    """`features` names what is special about a world."""

    features: frozenset[str] = frozenset()


def write_foreign_world(folder, seed):
    """Write a world into an empty folder."""
    choose = Choices(seed)
    world = ForeignWorld.of(folder)
    parameters, data = world
    parameters.mkdir(parents=True)
    data.mkdir()
    areas, codes = make_areas(choose), make_classifications(choose)
    groups, files = make_groups(choose, codes, [level["name"] for level in areas.keys["levels"]])
    attributes = make_attributes(choose)
    keys = {
        "census": 1,
        "about": {"name": f"World {seed}", **_ABOUT},
        "records": _records(choose, areas, codes, attributes),
        "areas": areas.keys,
        "classifications": {each.name: each.keys for each in codes},
        "groups": groups,
        "tables": make_families(choose, attributes),
    }
    privacy = make_privacy(choose, keys, {each.name: None if each.is_list else len(each.columns) for each in codes})
    write_records(choose, keys["records"], make_records(choose, keys, areas, codes), data)
    _write_areas(choose, areas, parameters)
    for each in codes:
        files[each.keys["file"]] = each.rows
    for name, rows in files.items():
        (parameters / name).write_bytes(_csv(choose, rows))
    if choose.chance("privacy.toml", 0.3):
        (parameters / "privacy.toml").write_text(toml_of({"privacy": privacy}), "utf-8")
    else:
        keys["privacy"] = privacy
    (parameters / "census.toml").write_text(toml_of(keys), "utf-8")
    world.features = frozenset(choose.features)
    return world


def _records(choose, areas, codes, attributes):
    fields = [{"name": column, "type": "string"} for column in areas.record_columns]
    fields += attributes
    for each in codes:
        kind = {"type": "list", "delimiter": DELIMITER} if each.is_list else {"type": "string"}
        fields += [{"name": column, **kind} for column in each.columns]
    keys = {"file": choose.one(["people", "Usual residents", "census-2031"])}
    if choose.chance("missing", 0.5):
        keys["missing"] = choose.one([["", "-"], ["NA"], ["NA", "", "not said at all"]])
    if choose.chance("where", 0.35):
        kind = choose.one(["string", "integer"])
        allowed = ["0", "1", "2"] if kind == "string" else [0, 1, 2]
        fields.append({"name": "RESIDENT", "type": kind, "constraints": {"enum": allowed}})
        keys["where"] = {"RESIDENT": choose.one([allowed[1], allowed[1:]])}
    if choose.chance("unread field", 0.3):
        fields.append({"name": "note", "type": "string", "constraints": {"pattern": "x[0-9]"}})
    if choose.chance("unit", 0.2):
        fields.append({"name": "PID", "type": "string"})
        keys["unit"] = {"name": "patient", "column": "PID", "most_records": choose.between(2, 3)}
    return keys | {"fields": list({field["name"]: field for field in choose.shuffled(fields)}.values())}


def _write_areas(choose, areas, parameters):
    path = parameters / areas.keys["file"]
    if path.suffix == ".csv":
        path.write_bytes(_csv(choose, areas.rows))
    else:
        pq.write_table(pa.Table.from_pylist(areas.rows), path)


def _csv(choose, rows):
    form = {"lineterminator": choose.one(["\n", "\r\n"]), "quoting": choose.one([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])}
    header = choose.shuffled(list(rows[0]))
    text = csv_of(",".join(header), ([row[name] for name in header] for row in rows), **form)
    return (choose.one(["", "", "\ufeff"]) + text).encode()
