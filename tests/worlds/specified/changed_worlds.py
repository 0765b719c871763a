"""Random worlds with another selector, families of one table, or odd texts: valid or not, a run must end well."""

import csv
import io
import tomllib
from decimal import Decimal

from tests.cases import cases_of
from tests.inside import INHERITED, SPECIFICATION, ListOf, MapOf, Table, Text, plan_of, read_public_files
from tests.worlds.specified.small_world import PEOPLE, nz_keys, write_specification
from tests.worlds.specified.toml_text import csv_of, toml_of
from tests.worlds.world import World

SELECTORS = ("stage 1", "published totals", "none")
_NOT_PRINTABLE = [*"\u00a0\u3000\u2028\u00ad\u200b\u202e\ufeff\x00\x1b\t\n"]
_PRINTABLE = [*" '\",=|/", "..", *"\\%{[]", "<b>", *"&#;:*\u0558"]
_WORDS = ["e\u0301", "🏝️", "日本", "\U00020000", "x" * 70, "y" * 300, "-only", "alone", "total", "-1"]
_ODD = [*_NOT_PRINTABLE, "\r\n", *_PRINTABLE, *_WORDS]
_FREE = {
    *cases_of("title | agency | record | records | group | groups | noun | nouns | detail | stub | words | label")[0],
    *cases_of("whole | nowhere | residual | missing | code_prefix | only | any | unit_name")[0],
}
"""Keys whose texts are free: one that names something else is refused as soon as it differs."""
_NAMING = {"level", "classification", "members", "list", "area_level", "count"}
"""Columns of lists whose cells name something, or count."""


def keys_of(parameters):
    """The keys of census.toml and privacy.toml, with numbers as they are spelled."""
    files = [path for path in (parameters / "census.toml", parameters / "privacy.toml") if path.exists()]
    keys = {}
    for path in files:
        keys |= tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
    return keys


def write_keys(parameters, keys):
    """Write census.toml, which then has the privacy section too."""
    (parameters / "privacy.toml").unlink(missing_ok=True)
    (parameters / "census.toml").write_text(toml_of(keys), "utf-8")


def other_keys(definition):
    """The keys of a small specification with those that no random world has, but for `like`."""
    keys = nz_keys()
    keys["about"] |= {
        **{key: f"a {key}" for key in ("source", "contact", "licence", "cite")},
        "year": 2031,
        "url": "https://example.org",
        "holds": "people",
        "noise": 9,
        "reference": {"name": "the last one", "rho" if definition == "zcdp" else "epsilon": 3},
    }
    keys["records"]["fields"][2]["title"] = "Age"
    keys["records"]["fields"][4:] = [{"name": "ETH", "type": "string"}]
    ethnicity = keys["classifications"]["ethnicity"]
    del ethnicity["columns"]
    ethnicity |= {"column": "ETH", "separator": ";", "gaps": "error"}
    keys["areas"]["levels"][1]["boundary"] = "REGC"
    keys["tables"][0]["stubs"] = {"age": {"0-14": "Children"}}
    keys["privacy"] |= {"negatives": "kept", "definition": definition}
    return keys


def write_other_keys(folder, definition):
    """A specification with these keys that is like another one, and its records."""
    keys = other_keys(definition)
    people = [line.split(",") for line in PEOPLE.splitlines()[1:]]
    answers = [",".join([*person[:4], ";".join(filter(None, person[4:]))]) for person in people]
    lender, data = write_specification(folder, keys, "\n".join(["SA1,RESIDENT,AGE,GENDER,ETH", *answers, ""]))
    own = {name: each for name, each in keys.items() if name not in INHERITED}
    parameters = folder / "borrower"
    parameters.mkdir()
    write_keys(parameters, {"like": f"../{lender.name}/census.toml"} | own)
    return World(parameters, data)


def declared_paths(kind=SPECIFICATION, path=""):
    """Every key of the language with its path, and every choice of a word."""
    match kind:
        case Table(keys=keys):
            for key in keys:
                yield f"{path}.{key.name}"
                yield from declared_paths(key.kind, f"{path}.{key.name}")
        case ListOf(of=of) | MapOf(of=of):
            yield from declared_paths(of, path)
        case Text(choices=choices):
            yield from (f"{path} = {choice}" for choice in choices)


def used_paths(value, kind=SPECIFICATION, path=""):
    """The same of what a specification says."""
    match kind:
        case Table(keys=keys):
            for key in keys:
                if key.name in value:
                    yield f"{path}.{key.name}"
                    yield from used_paths(value[key.name], key.kind, f"{path}.{key.name}")
        case ListOf(of=of):
            for one in value if isinstance(value, list) else [value]:
                yield from used_paths(one, of, path)
        case MapOf(of=of):
            for one in value.values():
                yield from used_paths(one, of, path)
        case Text(choices=choices) if choices:
            yield f"{path} = {value}"


def with_one_table(world, families):
    """Leave only the total of the first so many families, in every budget."""
    keys = keys_of(world.parameters)
    cut = {family["name"] for family in keys["tables"][:families]}
    for family in keys["tables"]:
        if family["name"] in cut:
            family["shapes"] = family["shapes"][:1]
            family.pop("stubs", None)
    only = keys["tables"][0]["name"]
    for entry in keys["privacy"]["levels"]:
        if entry.get("tables", only) in cut:
            entry["thresholds"] = []
    write_keys(world.parameters, keys)


def with_selector(world, selector, choose):
    """Let something else choose tables: a world that is written has selector "stage 1"."""
    if selector == "stage 1":
        return
    keys = keys_of(world.parameters)
    if selector == "published totals":
        text = csv_of("area_level,area,group,count", _totals(world, choose))
        (world.parameters / "totals.csv").write_text(text, "utf-8")
        keys["privacy"]["totals"] = "totals.csv"
    keys["privacy"] |= {"selector": selector}
    for key in ("stage_1", "suppress"):
        keys["privacy"].pop(key, None)
    write_keys(world.parameters, keys)


def _totals(world, choose):
    """Totals of about half of the groups that the plan measures, the first of each level among them."""
    plan = plan_of(read_public_files(*world).require()).require()
    for universe in {level.level: level.universe for level in plan.levels}.values():
        label, ids = universe.level.geography.label, universe.level.geography.kind.ids
        for place, entity in enumerate(universe.entities.tolist()):
            for number, group in enumerate(universe.iterations):
                if choose.quietly(0.5) or place == number == 0:
                    yield label, ids.text(entity), group.code, choose.between(0, 80)


def with_odd_texts(world, choose):
    """Put odd characters into one or two texts, everywhere where they stand."""
    for _ in range(choose.between(1, 2)):
        if choose.quietly(0.35):
            _change_key(world.parameters, choose)
        else:
            _change_cell(world, choose)


def _odd(text, choose):
    odd, place = choose.one(_ODD), choose.between(0, len(text))
    return choose.one([text[:place] + odd + text[place:], text + odd, odd + text, odd])


def _change_key(parameters, choose):
    keys = keys_of(parameters)
    table, key = choose.one([*_texts(keys, is_free=False)])
    table[key] = _odd(table[key], choose)
    write_keys(parameters, keys)


def _texts(value, *, is_free):
    """Where the free texts of a specification are: in which table or list, and under which key or at which place."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        is_inner_free = is_free if isinstance(value, list) else key in _FREE
        if isinstance(inner, str) and is_inner_free:
            yield value, key
        yield from _texts(inner, is_free=is_inner_free)


def _change_cell(world, choose):
    """Change a text of a list wherever it is a whole cell of a list, and in plain records."""
    lists = sorted(world.parameters.glob("*.csv"))
    rows_of = {path: list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""))) for path in lists}
    rows = rows_of[choose.one(lists)]
    place = choose.one([place for place, name in enumerate(rows[0]) if name not in _NAMING])
    old = choose.one(rows[1:])[place]
    new = _odd(old, choose)
    for path, all_rows in rows_of.items():
        changed = ([new if cell == old else cell for cell in row] for row in all_rows[1:])
        path.write_bytes(csv_of(",".join(all_rows[0]), changed, lineterminator="\r\n").encode())
    for path in [*world.data.glob("*.csv"), *world.data.glob("*.txt")]:
        separator = keys_of(world.parameters)["records"].get("separator", "," if path.suffix == ".csv" else "|")
        text = path.read_bytes().decode("utf-8-sig")
        lines = [[new if cell == old else cell for cell in line.split(separator)] for line in text.split("\n")]
        path.write_bytes("\n".join(map(separator.join, lines)).encode())
