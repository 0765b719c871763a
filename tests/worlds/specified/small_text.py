"""A small specification that is right, for tests that change it."""

SMALL = """
census = 1

[about]
name    = "Small census"
title   = "Origins in three towns"
agency  = "example"
record  = "person"
records = "people"
group   = "origin"
groups  = "origins"

[records]
file  = "people"
where = { RESIDENT = "1" }
unit  = { name = "family", column = "FAMILY", most_records = 4 }
fields = [
  { name = "AREA", type = "string" },
  { name = "RESIDENT", type = "string", constraints = { enum = ["0", "1"] } },
  { name = "FAMILY", type = "string" },
  { name = "AGE", attribute = "age", unit_name = "years", type = "integer", constraints = { minimum = 0, maximum = 99 } },
  { name = "SEX", attribute = "sex", type = "string", categories = [{ value = "F", label = "female" }, { value = "M", label = "male" }, { value = "U", label = "not stated" }], other = "U" },
  { name = "TENURE", attribute = "tenure", type = "integer", constraints = { minimum = 1, maximum = 4 } },
  { name = "ORIGIN1", type = "string", constraints = { pattern = "[0-9]{3}" } },
  { name = "ORIGIN2", type = "string" },
  { name = "TONGUES", type = "list", delimiter = ";" },
  { name = "FAITH", type = "string" },
]

[areas]
file   = "areas.csv"
key    = ["AREA = AREA_ID"]
other  = ["X9"]
levels = [
  { name = "nation", whole = "all", noun = "nation", title = "The nation" },
  { name = "region", id = ["REGION"], names = "REGION_NAME", noun = "region", nouns = "regions" },
  { name = "town", id = ["REGION", "TOWN"], nowhere = "-", noun = "town", nouns = "towns" },
]
[[areas.passes]]
name   = "main"
title  = "Mainland"
where  = { ISLAND = "no" }
levels = { nation = "M-NATION", region = "M-REGION", town = "M-TOWN" }
[[areas.passes]]
name   = "isles"
title  = "Islands"
where  = { ISLAND = ["yes", "far"] }
levels = { region = "I-REGION" }

[classifications.origin]
file    = "origins.csv"
columns = ["ORIGIN1", "ORIGIN2"]
residual = [999]
gaps    = "skipped"
[classifications.faith]
file    = "faiths.csv"
columns = ["FAITH"]
first   = 2

[groups]
levels = [
  { name = "broad", title = "Broad", of = "origin", column = "broad", names = "broad_name", members = ["any", "only"] },
  { name = "faith", title = "Faith", of = "faith", column = "code", members = ["any"], code_prefix = "f" },
]
words = { only = "only {name}" }
lists = { common = { areas = ["nation", "region"] } }

[[tables]]
name   = "sex and age"
detail = "sex by age"
stubs  = { age = { "18-64" = "of working age" } }
shapes = [
  { id = "S1", label = "total", title = "Total" },
  { id = "S2", label = "sex", title = "Sex", by = ["sex"] },
  { id = "S3", label = "sex_age", title = "Sex by age", by = ["sex", "age"], breaks = { age = [0, 18, 65] } },
]
[[tables]]
name   = "tenure"
detail = "tenure"
of     = "tenure"
lines  = [
  { label = "all", values = [1, 2, 3, 4], stub = "Total", words = "" },
  { label = "owned", values = [1, 2], stub = "Owned", words = "owned" },
  { label = "mortgage", values = [1], stub = "Mortgage", words = "with a mortgage" },
  { label = "free", values = [2], stub = "Free and clear", words = "free and clear" },
  { label = "rented", values = [3, 4], stub = "Rented", words = "rented" },
]
shapes = [
  { id = "T1", label = "tenure_total", title = "Total", lines = ["all"] },
  { id = "T2", label = "tenure_2", title = "Tenure (2)", lines = ["all", "owned", "rented"] },
  { id = "T3", label = "tenure_3", title = "Tenure (3)", lines = ["all", "owned", "mortgage", "free", "rented"] },
]

[privacy]
definition = "zcdp"
selector   = "stage 1"
stage_1    = 0.1
suppress   = { chance = 0.99, areas = "town" }
use        = { origin = 1 }
[[privacy.levels]]
tables = "sex and age"
groups = ["broad", "faith"]
areas = ["M-NATION", "M-REGION", "I-REGION"]
budget = 0.30000000000000000000000000001
thresholds = [10, 100]
[[privacy.levels]]
tables = ["sex and age", "tenure"]
groups = "broad"
areas = "M-TOWN"
budget = 2
thresholds = [10, 10]
"""


def write_specification(folder, text=SMALL):
    """A parameters folder with this specification."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "census.toml").write_text(text, encoding="utf-8")
    return folder
