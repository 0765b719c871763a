"""The page about the language of specifications: every key with its meaning and an example."""

from __future__ import annotations

from collections.abc import Iterator

from safetab.model.specification.checks import MOST_CLASSIFICATIONS, MOST_GROUP_LEVELS, MOST_LABELS
from safetab.model.specification.keys import DETAIL, NAME, TEXT
from safetab.model.specification.kinds import (
    MOST_DIGITS,
    MOST_PATTERN,
    Key,
    Kind,
    ListOf,
    MapOf,
    Table,
    Text,
    in_sentence,
)
from safetab.model.specification.table_checks import (
    MOST_CELLS,
    MOST_FAMILIES,
    MOST_SHAPES,
    MOST_VALUES,
)
from safetab.model.specification.values import MOST_CODE_BYTES, MOST_COLUMNS, SPECIFICATION

_PLURALS = {
    "a text of one line": "texts",
    "a name": "names",
    "a table": "tables",
    "a text or a whole number": "texts or whole numbers",
}
EXAMPLE = """census = 1

[about]                          # whose numbers these are, and the words for them
name    = "Languages 2023"
title   = "Languages spoken at home"
agency  = "Stats Example"
record  = "person"
records = "people"
group   = "language"
groups  = "languages"

[records]
file   = "people"                # people.csv, people.txt or people.parquet in DATA
fields = [
  { name = "AREA", type = "string" },
  { name = "SEX", attribute = "sex", type = "string", categories = [
    { value = "1", label = "female" },
    { value = "2", label = "male" },
  ] },
  { name = "LANG", type = "string" },
]

[areas]
file   = "areas.csv"             # AREA,REGION,REGION_NAME
key    = ["AREA"]
levels = [
  { name = "nation", whole = "all", noun = "nation", title = "The whole country" },
  { name = "region", id = ["REGION"], names = "REGION_NAME", noun = "region" },
]

[classifications.language]
file    = "languages.csv"        # code,name
columns = ["LANG"]

[[groups.levels]]
name    = "language"
title   = "Languages"
of      = "language"             # the classification
column  = "code"                 # a group for each value of this column
names   = "name"
members = ["any"]

[[tables]]
name   = "sex"
detail = "sex"
shapes = [
  { id = "T1", label = "total", title = "Total" },
  { id = "T2", label = "by_sex", title = "Sex", by = ["sex"] },
]

[privacy]
definition = "zcdp"
selector   = "stage 1"
stage_1    = 0.1
[[privacy.levels]]
groups     = "language"
areas      = ["nation", "region"]
budget     = 0.1
thresholds = [500]               # a language with a noisy total of 500 or more is shown by sex
"""
_START = f"""# Specification

A specification describes a census in one file, `census.toml`: its records, areas, classifications, groups, tables
and budgets. Everything in it is public. [A census of your own](tutorial/own-census.md) starts one with `safetab new` and
ends with a published site. This page explains the words, shows a whole specification and lists every key. It is made by
`python -m tools.docs.generated` from the declarations that the program reads with.

## Words

| word | meaning |
|---|---|
| **record** | One row of the confidential file, such as a person or a hospital admission. |
| **unit** | What is protected, if it can have several records: a patient with up to three admissions. Without a unit, one record is protected. |
| **area** | A row of a public table of the smallest areas. Each **level of areas** is a column of that table, so levels may cross. |
| **pass** | A part of the country with budgets of its own. No area is in two passes. Without `passes` the whole country is one pass. |
| **label** | What budgets call a level of areas in one pass, such as N-REGION for the regions of the North. Without `passes` it is the name of the level. |
| **classification** | A list of codes, and the columns in which a record gives one or several of them. |
| **group** | A set of codes of one classification. A record is in it if any of its codes is in the set or, for `only`, if all of its codes are. The groups of one **level of groups** share a budget. |
| **attribute** | A field that tables divide by, such as age. |
| **family** | A ladder of tables from the total to the finest. Each of them is a **shape**, and a larger group gets a finer one. |
| **budget** | What one family may cost in privacy for one level of groups in one label of areas. The [plan](how-to/run-a-census.md) adds them up. |

## A whole specification

This census asks people for one language. It publishes the speakers of each language, in the country and in its
regions, and by sex where there are enough of them.

```toml
{EXAMPLE}```

## Mistakes, and your editor
"""
_HEAD = """
`safetab validate` reports all mistakes of a specification at once, each with the path of its key: `areas.levels[2].id`
is the key `id` of the second entry of `levels` in `[areas]`. An unknown key is an error that names the nearest known
key. The lists are checked as far as the sections that name them are right.

An editor that knows TOML and JSON Schema completes keys and shows mistakes while you type. `safetab new` copies
`census.schema.json` beside census.toml and begins census.toml with the line that the extension Even Better TOML reads:

```toml
#:schema census.schema.json
```
"""
_RULES = f"""
## Rules

**Files.** A file is named by its plain name, with its ending, and lies in the folder of the specification that names
it; a path or a link that leads out of the folder is an error. Lists are CSV files with commas, in which a text may
stand in quotes. Records have no quotes: there, a quote is a character. A byte-order mark and Windows line ends are
accepted. Lists are UTF-8. Texts are equal if their bytes are: "1 " is not "1". Where blanks alone make a value of a
record wrong, the finding says so.

**Ids and codes** of areas, of code lists and of groups have printable characters only, and no blank before the first
or after the last.

**Two files.** The table `[privacy]` may lie in `privacy.toml` beside `census.toml`; in both files it is an error. A
folder with both `census.toml` and `config.json` is an error.

**Like.** With `like = "../other/census.toml"` the sections areas, classifications and groups, and the files that they
name, are those of the other folder, which may be inside the folder or beside it. Nothing else is inherited. Repeating
one of the three is an error, and so is a `like` in the other file.

**Names** of levels, labels, passes, lists, families, shapes and classifications differ by more than case. A name is
{NAME.words.partition("(")[2].removesuffix(")")}.

**Numbers** are exact: `0.1` is one tenth. They have at most {MOST_DIGITS} digits and an exponent within ±{MOST_DIGITS}.

**Values** of fields may be written as texts, whole numbers or booleans and are compared as texts: `1` is `"1"`.

**Patterns** are regular expressions of Python, have at most {MOST_PATTERN} characters and must match the whole text.

**Warnings** don't stop a command; everything else does. They are: a field that nothing reads; a list of groups that
nothing uses; a budget for which there is no group or no area; a privacy loss far above that of `about.reference` or
beyond any protection, and noise that is mostly 0 if the people are synthetic; thresholds within the noise or not above
T, and no `suppress` or a chance of one half or less; a public file inside DATA; published totals that are not used; a
pass without a record; and records that are in no pass. `validate` ends with the number of warnings.

## Limits

| what | at most |
|---|---:|
| labels of areas, over all passes | {MOST_LABELS} |
| classifications | {MOST_CLASSIFICATIONS} |
| columns of a classification; of two classifications one has a single column | {MOST_COLUMNS} |
| levels of groups | {MOST_GROUP_LEVELS} |
| families of tables | {MOST_FAMILIES} |
| shapes of a family | {MOST_SHAPES} |
| cells of a shape | {MOST_CELLS} |
| values of all attributes of tables, multiplied | {MOST_VALUES:,} |
| bytes of a code or an id | {MOST_CODE_BYTES} |
| characters of a text, or of a name in a list | {TEXT.most:,} |
| characters of `detail`, of which names of files are made | {DETAIL.most} |

For a third classification or a ninth column, run two specifications on the same records; the spend log adds them up.
"""


def specification_page() -> str:
    """The text of docs/specification.md."""
    sections = "\n".join(_section(path, table) for path, table in tables_of("", SPECIFICATION))
    return f"{_START}{_HEAD}\n{sections}{_RULES}"


def tables_of(path: str, kind: Kind) -> Iterator[tuple[str, Table]]:
    """Every table of the language with its path, outer ones first."""
    match kind:
        case Table(keys=keys):
            yield path, kind
            for key in keys:
                yield from tables_of(f"{path}.{key.name}" if path else key.name, key.kind)
        case ListOf(of=of):
            yield from tables_of(f"{path}[ ]", of)
        case MapOf(of=of):
            yield from tables_of(f"{path}.NAME", of)


def _section(path: str, table: Table) -> str:
    title = f"## `{path}`" if path else "## The file"
    rows = "\n".join(_row(key) for key in table.keys)
    return f"{title}\n\n| key | value | meaning | example |\n|---|---|---|---|\n{rows}\n"


def _row(key: Key) -> str:
    needed = "" if key.required else ", optional"
    return f"| `{key.name}` | {_cell(_value(key.kind))}{needed} | {_cell(key.meaning)} | `{_cell(key.example)}` |"


def _value(kind: Kind) -> str:
    """What a value may be; the rules of the page say what a name is."""
    match kind:
        case Text(choices=choices) if choices:
            return in_sentence([f'"{choice}"' for choice in choices], "or")
        case ListOf(of=of, or_one=or_one):
            one = _value(of)
            several = f"a list of {_PLURALS[one]}" if one in _PLURALS else f"a list, each {one}"
            return f"{one}, or {several}" if or_one else several
        case MapOf(of=of):
            return f"a table, each value {_value(of)}"
    return kind.words.partition(" (")[0]


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
