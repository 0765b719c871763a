"""A census shaped like New Zealand's that a person can count, and ways to change it. Lists are made up."""

import gzip
import tomllib
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from tests.worlds.specified.toml_text import toml_of
from tests.worlds.world import World

Row = dict[str, str]

CODES = """code,name,level1,level1_name,level2,level2_name
11111,New Zealand European,1,European,11,New Zealand European
12411,Polish,1,European,12,Other European
21111,Māori,2,Māori,21,Māori
31111,Samoan,3,Pacific Peoples,31,Samoan
33111,Tongan,3,Pacific Peoples,33,Tongan
94444,Don't know,,,,
99999,Not stated,,,,
"""
AREAS = """SA1,SA2,TA,REGC
7000001,s1,t1,01
7000002,s1,t2,01
7000003,s2,t2,02
7000004,s3,none,02
"""
PEOPLE = """SA1,RESIDENT,AGE,GENDER,ETH1,ETH2,ETH3
7000001,1,34,1,11111,,
7000001,1,+07,2,11111,21111,
7000001,1,70,3,31111,33111,
7000002,1,015,1,12411,11111,12411
7000003,1,64,2,21111,94444,
7000003,0,64,2,21111,,
7000004,1,65,1,31111,11111,21111
7000004,1,0,2,99999,,
"""
SMALL_LISTS = {"ethnicity.csv": CODES, "areas.csv": AREAS}
NZ = """census = 1

[about]
name = "Small NZ"
title = "Ethnic groups"
agency = "example"
record = "person"
records = "people"
group = "ethnic group"
groups = "ethnic groups"

[records]
file = "people"
where = { RESIDENT = "1" }
fields = [
  { name = "SA1", type = "string" },
  { name = "RESIDENT", type = "string", constraints = { enum = ["0", "1"] } },
  { name = "AGE", attribute = "age", unit_name = "years", type = "integer", constraints = { minimum = 0, maximum = 120 } },
  { name = "GENDER", attribute = "gender", type = "string", categories = [
    { value = "1", label = "male" }, { value = "2", label = "female" }, { value = "3", label = "another gender" }] },
  { name = "ETH1", type = "string" }, { name = "ETH2", type = "string" }, { name = "ETH3", type = "string" },
]

[areas]
file = "areas.csv"
key = ["SA1"]
levels = [
  { name = "nation", whole = "NZ", noun = "nation" },
  { name = "region", id = ["REGC"], noun = "region", nouns = "regions" },
  { name = "ta", id = ["TA"], nowhere = "none", noun = "authority", nouns = "authorities" },
  { name = "sa2", id = ["SA2"], noun = "area", nouns = "areas" },
]

[classifications.ethnicity]
file = "ethnicity.csv"
columns = ["ETH1", "ETH2", "ETH3"]
residual = ["94444", "99999"]

[groups]
levels = [
  { name = "level 1", title = "Level 1", column = "level1", names = "level1_name", of = "ethnicity", members = ["any", "only"] },
  { name = "level 2", title = "Level 2", column = "level2", names = "level2_name", of = "ethnicity", members = ["any"] },
]

[[tables]]
name = "gender and age"
detail = "gender by age"
shapes = [
  { id = "E1", label = "total", title = "Total" },
  { id = "E2", label = "gender_age", title = "Gender by age", by = ["gender", "age"], breaks = { age = [0, 15, 65] } },
]

[privacy]
definition = "zcdp"
selector = "stage 1"
stage_1 = 0.1
suppress = { chance = 0.9999, areas = ["ta", "sa2"] }
[[privacy.levels]]
groups = ["level 1", "level 2"]
areas = ["nation", "region", "ta", "sa2"]
budget = 1
thresholds = [300]
"""


def nz_keys(more=""):
    """The keys of the specification, to be changed freely, with more of them, given as TOML."""
    return _added(*(tomllib.loads(text, parse_float=Decimal) for text in (NZ, more)))


def _added(keys, more):
    """Sections get more keys, lists of sections more of these; other values are replaced."""
    for name, given in more.items():
        if isinstance(given, dict):
            _added(keys.setdefault(name, {}), given)
        elif isinstance(given, list) and isinstance(given[0], dict):
            keys[name] = keys.get(name, []) + given
        else:
            keys[name] = given
    return keys


def of_units(column, most_records):
    """The keys of the small census, if a patient named in one more column may have several records."""
    return nz_keys(f'''
        records.unit = {{ name = "patient", column = "{column}", most_records = {most_records} }}
        records.fields = [{{ name = "{column}", type = "string" }}]
    ''')


def of_lists(**of_codes):
    """The keys of the small census with all answers in one column, ETH."""
    keys = nz_keys()
    keys["records"]["fields"][4:] = [{"name": "ETH", "type": "list", "delimiter": ";"}]
    del keys["classifications"]["ethnicity"]["columns"]
    keys["classifications"]["ethnicity"] |= {"column": "ETH", **of_codes}
    return keys


def row_of(**texts):
    """The first of the people, with other texts."""
    header, first, *_ = PEOPLE.splitlines()
    return dict(zip(header.split(","), first.split(","), strict=True)) | texts


def write_specification(folder, keys, people=PEOPLE, files=SMALL_LISTS):
    """A census from its keys or its text, with records unless they are None; lists that aren't given are the small ones."""
    world = World.of(folder)
    for each in world:
        each.mkdir(parents=True)
    text = keys if isinstance(keys, str) else toml_of(keys)
    for name, each in {"census.toml": text, **SMALL_LISTS, **files}.items():
        (world.parameters / name).write_bytes(each.encode())
    if people is not None:
        (world.data / "people.csv").write_bytes(people.encode())
    return world


def write_rows(data, rows, ending=".csv", separator=None, table="people"):
    """These records alone, in one of the forms; in Parquet every other missing text is null, in text columns are reversed."""
    data.mkdir(parents=True, exist_ok=True)
    names = list(rows[0])
    if ending == ".parquet":
        columns = {name: [row[name] if row[name] or n % 2 else None for n, row in enumerate(rows)] for name in names}
        schema = pa.schema([(name, pa.string()) for name in names])
        pq.write_table(pa.table(columns, schema), data / f"{table}.parquet", row_group_size=200)
        return
    separator = separator or ("," if ".csv" in ending else "|")
    lines = [names[::-1], *([row[name] for name in names[::-1]] for row in rows)]
    text = "\ufeff" + "".join(f"{separator.join(line)}\r\n" for line in lines) + "\r\n"
    (data / f"{table}{ending}").write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())


def census_of(folder, rows, keys=None, ending=".csv", **files):
    """A census of these records; `areas` and `ethnicity` are texts of its lists."""
    world = write_specification(folder, keys or nz_keys(), None, {f"{name}.csv": text for name, text in files.items()})
    write_rows(world.data, rows, ending)
    return world
