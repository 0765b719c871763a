"""What a specification says, as values: texts as the file spells them, numbers exact, nothing compiled.

A field declares the key of the file that fills it: reader, writer, JSON Schema and documentation are made from this.
"""

# fmt: off
# isort: off
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from safetab.specification.keys import (
    ANY_TEXT, CHARACTER, CONSTRAINTS, FIELD, FILE, FILLED, INTEGER, NAME, NO_CODES, NO_ROWS, POSITIVE,
    PRODUCT_NAME, TEXT, TEXTS, VALUES, WORDS, KeyColumn, KeyColumnText, Keyed, declaring, keyed,
    referring, table_of,
)
from safetab.specification.committee import PRIVACY, Privacy
from safetab.specification.kinds import Boolean, Key, ListOf, MapOf, Pattern, Table, Text, Value, Whole

SPECIFICATION_FILE = "census.toml"
PRIVACY_FILE = "privacy.toml"
INHERITED = ("areas", "classifications", "groups")
"""The sections that `like` takes from another specification."""
STRANGERS_NOISE = 15
"""The product number in noise addresses if `about.noise` is absent, and the highest that there is."""
MOST_UNIT_RECORDS = 1_000_000
MOST_CODE_BYTES = 64
TRUTH_VALUES = ("true", "false")
COMMON = "common"
"""The list of groups that are on no other list."""
EVERYWHERE = "all"


class Reference(Keyed):
    """A published loss to compare with."""

    name: str = keyed(TEXT, "What the published loss is called.", '"the census before"')
    rho: Fraction | None = keyed(POSITIVE, "The loss, if the definition is zCDP.", "4.96", default=None)
    epsilon: Fraction | None = keyed(POSITIVE, "The loss, if the definition is pure DP.", "10", default=None)

    @property
    def loss(self) -> Fraction:
        """Rho under zCDP, epsilon under pure DP."""
        return self.rho or self.epsilon or Fraction(0)


class About(Keyed):
    """The public words of a census: whose numbers these are, and what a record and a group are called."""

    name: str = keyed(
        PRODUCT_NAME, "The name of the product, which the manifest and the accounts use.", '"Languages 2023"')
    title: str = keyed(
        TEXT, "The headline of the release, the report and the site.", '"Languages of the country, 2023"')
    agency: str = keyed(TEXT, "Whose numbers these are.", '"Stats Example"')
    record: str = keyed(TEXT, "The noun for one record.", '"person"')
    records: str = keyed(TEXT, "The noun for several records.", '"people"')
    group: str = keyed(TEXT, "The noun for one group.", '"language"')
    groups: str = keyed(TEXT, "The noun for several groups.", '"languages"')
    year: str = keyed(Value(), "The year that the numbers are about.", "2023", default="")
    source: str = keyed(
        TEXT, "The publication or method that the specification follows.", '"Haney et al. 2024"', default="")
    contact: str = keyed(TEXT, "Where readers can send questions.", '"census@example.org"', default="")
    url: str = keyed(
        TEXT, "The address where the release is published.", '"https://example.org/census"', default="")
    licence: str = keyed(TEXT, "The licence of the release.", '"CC-BY-4.0"', default="")
    cite: str = keyed(TEXT, "How readers should cite the release; if absent, this is made of the other keys.",
        '"Stats Example (2023): Languages."', default="")
    holds: str = keyed(
        TEXT, 'If a record stands for several people, their noun ("people"); the spend log then charges the'
        ' bounded loss.', '"people"', default="")
    noise: int = keyed(Whole(0, STRANGERS_NOISE),
        "The product's number in the addresses of noise: 15 if absent; numbers below 8 belong to the shipped"
        " products.", "15", default=STRANGERS_NOISE)
    reference: Reference | None = keyed(table_of(Reference), "A published loss to compare with.",
        '{ name = "the census before", rho = 4.96 }', default=None)


class Category(Keyed):
    """A value of a field, and what tables call it."""

    value: str = keyed(Value(), "The value as the records spell it.", '"1"')
    label: str = keyed(TEXT, "What tables call the value.", '"male"')


class RecordField(Keyed):
    """A column of the records, as a Frictionless field describes it."""

    name: str = keyed(Text(declares="field"), "The name of the column.", '"AGE"')
    type: str = keyed(Text(choices=("string", "integer", "boolean", "list")),
        "What the column holds; a list is several codes in one column.", '"integer"')
    title: str = keyed(
        TEXT, "What readers of the documentation see.", '"Age at the last birthday"', default="")
    attribute: str = keyed(NAME, "What tables call the field, if not by its name.", '"age"', default="")
    unit_name: str = keyed(TEXT, "The unit of the numbers, for the words of ranges.", '"years"', default="")
    delimiter: str = keyed(CHARACTER, "The character between the codes of a list.", '";"', default="")
    minimum: int | None = keyed(
        INTEGER, "The least value of an integer field.", "0", default=None, at="constraints.minimum")
    maximum: int | None = keyed(
        INTEGER, "The greatest value of an integer field.", "120", default=None, at="constraints.maximum")
    pattern: str | None = keyed(
        Pattern(), "A regular expression that the whole text of a string field must match.",
        '"[EW]00[0-9]{6}"', default=None, at="constraints.pattern")
    enum: tuple[str, ...] = keyed(ListOf(Value(), distinct=True), "The values that the field may have.",
        '["0", "1"]', default=(), at="constraints.enum")
    categories: tuple[Category, ...] = keyed(
        ListOf(table_of(Category)), "The values of the field, in the order of tables, and their labels.",
        '[{ value = "1", label = "male" }, { value = "2", label = "female" }]', default=())
    other: str | None = keyed(
        Value(), "The value that any other text, or a missing one, counts as; without it, an error.", '"U"',
        default=None)

    @property
    def called(self) -> str:
        """What tables call the field."""
        return self.attribute or self.name

    @property
    def listed(self) -> tuple[str, ...]:
        """The texts of its values, in the order of tables, if they are listed one by one."""
        if self.categories:
            return tuple(category.value for category in self.categories)
        return self.enum or (TRUTH_VALUES if self.type == "boolean" else ())

    @property
    def is_range(self) -> bool:
        """Whether tables divide its integers into ranges; otherwise its values are categories."""
        return self.type == "integer" and not self.listed

    @property
    def values(self) -> tuple[str, ...]:
        """The texts of all its values, in order. Raises ValueError if they have no end."""
        if self.listed:
            return self.listed
        if self.type != "integer" or self.minimum is None or self.maximum is None:
            raise ValueError(f"{self.name}: tables need a list of its values, or a minimum and a maximum.")
        return tuple(map(str, range(self.minimum, self.maximum + 1)))


class Unit(Keyed):
    """Whose presence is protected, if it may have several records."""

    name: str = keyed(TEXT, "The noun for whose presence is protected.", '"patient"')
    column: str = keyed(FIELD, "The field that holds the id that the unit's records share.", '"PATIENT"')
    most_records: int = keyed(
        Whole(1, MOST_UNIT_RECORDS), "How many records a unit may have; more is an error of validation.", "3")


class ConfidentialRecords(Keyed):
    """The file of the records and its fields."""

    file: str = keyed(FILE, "The name of the confidential file in DATA, without its ending.", '"people"')
    fields: tuple[RecordField, ...] = keyed(ListOf(table_of(RecordField, constraints=CONSTRAINTS)),
        "The columns of the records, as Frictionless describes fields.",
        '[{ name = "AREA", type = "string" }]')
    separator: str | None = keyed(CHARACTER,
        "The character between the columns of a text file; if absent, a comma for .csv and | for .txt.",
        '"|"', default=None)
    missing: tuple[str, ...] = keyed(ListOf(ANY_TEXT, may_be_empty=True),
        'The texts that mean "no value"; [""] if absent.', '["", "-"]', default=("",))
    where: Mapping[str, tuple[str, ...]] = keyed(
        MapOf(VALUES, FIELD), "Only records with these values are counted. A record must match every field.",
        '{ RESIDENT = "1" }', default={})
    unit: Unit | None = keyed(table_of(Unit), "Whose presence is protected, if it may have several records.",
        '{ name = "patient", column = "PATIENT", most_records = 3 }', default=None)

    def named(self, name: str) -> RecordField:
        """The field with this name. Raises KeyError."""
        return {each.name: each for each in self.fields}[name]


class LevelOfAreas(Keyed):
    """A column of the table of areas, or several put together; or everything."""

    name: str = keyed(declaring("level of areas"), "The name of the level.", '"region"')
    noun: str = keyed(TEXT, "The noun for one area of the level.", '"region"')
    nouns: str = keyed(TEXT, "The noun for several areas of the level.", '"regions"', default="")
    title: str = keyed(
        TEXT, "The headline of the level; for the whole, the name of its only area.", '"Regions"', default="")
    whole: str | None = keyed(TEXT, "The id of everything: the level has one area.", '"NZ"', default=None)
    id: tuple[str, ...] = keyed(
        TEXTS, "The columns of the table that are joined to make the id of an area.", '["REGC"]', default=())
    nowhere: tuple[str, ...] = keyed(ListOf(ANY_TEXT, or_one=True),
        'Values of the last column of id that mean "in no area of this level".', '"99999"', default=())
    names: str | None = keyed(
        TEXT, "The column that holds the names of the areas.", '"REGC_NAME"', default=None)
    boundary: str = keyed(
        TEXT, "The property of a GeoJSON file that holds the id.", '"REGC2023_V1_00"', default="")


class PassOfAreas(Keyed):
    """A part of the territory with budgets of its own."""

    name: str = keyed(declaring("pass"), "The name of the part of the territory.", '"north"')
    title: str = keyed(TEXT, "Its headline.", '"North Island"')
    where: Mapping[str, tuple[str, ...]] = keyed(MapOf(VALUES, TEXT, NO_ROWS),
        "The values of columns of the table of areas that belong to it; several columns mean and.",
        '{ ISLAND = "N" }')
    levels: Mapping[str, str] = keyed(
        MapOf(declaring("label of areas"), referring("level of areas"), NO_ROWS),
        "The levels that it tabulates, each with the label that budgets name.", '{ region = "N-REGION" }')


class TableOfAreas(Keyed):
    """The public table of the smallest areas."""

    file: str = keyed(
        FILE, "The public table with one row for each smallest area: CSV or Parquet.", '"areas.csv"')
    key: tuple[KeyColumn, ...] = keyed(ListOf(KeyColumnText()),
        "The record's column with the area's id; if the table calls it otherwise, \"RECORD'S = TABLE'S\".",
        '["oa = OA21CD"]')
    levels: tuple[LevelOfAreas, ...] = keyed(
        ListOf(table_of(LevelOfAreas)),
        "The levels of areas. Don't change the order after a release: noise depends on it.",
        '[{ name = "nation", whole = "NZ", noun = "nation" }]')
    passes: tuple[PassOfAreas, ...] = keyed(ListOf(table_of(PassOfAreas)),
        "Parts of the territory that share nobody and have budgets of their own.",
        '[{ name = "north", title = "North", where = { ISLAND = "N" }, levels = { region = "N-REGION" } }]',
        default=())
    other: tuple[str, ...] | None = keyed(ListOf(ANY_TEXT, or_one=True),
        "The key of the area that unknown ids count in; without it these are errors.", '["9999"]',
        default=None)


class CodeList(Keyed):
    """A classification: its file, and the columns of the records that hold its codes."""

    name: str
    file: str = keyed(
        FILE, "The public code list: a CSV file with code, name and further columns.", '"languages.csv"')
    columns: tuple[str, ...] = keyed(
        ListOf(FIELD, distinct=True), "The fields that hold the codes, in the order of answers.",
        '["LANGUAGE1", "LANGUAGE2"]', required=False)
    column: str | None = keyed(
        FIELD, "The one field that holds several codes.", '"NATIONALITIES"', default=None)
    separator: str | None = keyed(CHARACTER,
        "The character between the codes of the one column, if its type is not list.", '";"', default=None)
    pattern: str | None = keyed(
        Pattern(), "A regular expression: only the codes that match it wholly belong to the classification.",
        '"[1-8][0-9]{3}"', default=None)
    first: int | None = keyed(
        Whole(1, MOST_CODE_BYTES), "How many characters of what a record says count.", "3", default=None)
    residual: tuple[str, ...] = keyed(
        VALUES, 'Codes that mean "not stated" and count as missing.', '["999"]', default=())
    required: bool = keyed(
        Boolean(), "Whether the first answer must be given; true if absent.", "false", default=True)
    gaps: str = keyed(Text(choices=("error", "skipped")),
        'What a code after a missing one is; "error" if absent.', '"skipped"', default="error")


class LevelOfGroups(Keyed):
    """A level of groups; if groups are made from a column of a code list, which."""

    name: str = keyed(declaring("level of groups"), "The name of the level.", '"level 1"')
    title: str = keyed(TEXT, "Its headline.", '"Level 1"')
    of: str | None = keyed(referring("classification"), "The classification whose codes make the groups.",
        '"language"', default=None)
    column: str | None = keyed(
        TEXT, "The column of the code list whose values are the groups.", '"level1"', default=None)
    names: str | None = keyed(TEXT, "The column of the code list that holds the names of the groups.",
        '"level1_name"', default=None)
    members: tuple[str, ...] = keyed(ListOf(Text(choices=("any", "only")), distinct=True),
        "Who is in a group: records with any of its codes, or with only its codes; with both there are two"
        " groups.", '["any", "only"]', default=())
    code_prefix: str = keyed(TEXT, "What the codes of the groups begin with.", '"any-"', default="")


class ListOfGroups(Keyed):
    """Where the groups of a list are tabulated: None is everywhere."""

    name: str
    areas: tuple[str, ...] | None = keyed(ListOf(NAME, or_one=True),
        'The levels of areas where its groups are tabulated, or "all".', '["nation", "region"]', default=None)
    tables: str | None = keyed(Text(choices=("total",)),
        'With "total" its groups get the lone total with the whole budget.', '"total"', default=None)

    @property
    def total_only(self) -> bool:
        """Whether its groups get the lone total."""
        return self.tables is not None


class Groups(Keyed):
    """The groups: from two files, or from columns of code lists."""

    levels: tuple[LevelOfGroups, ...] = keyed(
        ListOf(table_of(LevelOfGroups)),
        "The levels of groups. Don't change the order after a release: noise depends on it.",
        '[{ name = "level 1", title = "Level 1", of = "language", column = "level1", members = ["any"] }]')
    file: str | None = keyed(
        FILE, "A public CSV file of groups: group, name, level, classification, members, list.",
        '"groups.csv"', default=None)
    codes: str | None = keyed(
        FILE, "A public CSV file of the codes of groups: group, code.", '"group-codes.csv"', default=None)
    any_words: str = keyed(
        FILLED, "The name of a group of any.", '"{name}"', default="{name}", at="words.any")
    only_words: str = keyed(
        FILLED, "The name of a group of only.", '"{name} only"', default="{name} only", at="words.only")
    lists: tuple[ListOfGroups, ...] = keyed(MapOf(table_of(ListOfGroups), declaring("list of groups")),
        "Where the groups of each list are tabulated; one list, common, if absent.",
        '{ common = { areas = "all" } }', default=(ListOfGroups(COMMON),))


class LineOfValues(Keyed):
    """A line of a family of lines: a set of the attribute's values."""

    label: str = keyed(TEXT, "What shapes and questions call the line.", '"family"')
    values: tuple[str, ...] = keyed(
        ListOf(Value(), distinct=True), "The values of the attribute that the line counts.", "[1, 2, 3]")
    stub: str = keyed(TEXT, "What the line is called in a table.", '"Family households"')
    words: str = keyed(
        ANY_TEXT, "What the line is called in a sentence; empty for the line of all.", '"family"')


class TableShape(Keyed):
    """A rung of a family: the lone total, a crossing of attributes, or lines by their labels."""

    id: str = keyed(declaring("table"), "The number of the table.", '"E2"')
    label: str = keyed(declaring("label of tables"), "What columns of the release call the table.", '"age_4"')
    title: str = keyed(TEXT, "The headline of the table.", '"Age (4 groups)"')
    by: tuple[str, ...] = keyed(
        TEXTS, "The attributes that the table divides by.", '["gender", "age"]', default=())
    breaks: Mapping[str, tuple[int, ...]] = keyed(MapOf(ListOf(INTEGER)),
        "The first value of each range of an attribute.", "{ age = [0, 15, 30, 65] }", default={})
    lines: tuple[str, ...] = keyed(
        TEXTS, "The labels of the lines of the table, in a family of lines.", '["all", "family"]', default=())


class Family(Keyed):
    """A ladder of tables."""

    name: str = keyed(declaring("family of tables"), "The name of the family.", '"gender and age"')
    detail: str = keyed(TEXT, "What its finer tables add to a total.", '"gender by age"')
    shapes: tuple[TableShape, ...] = keyed(ListOf(table_of(TableShape)),
        "The tables from the lone total to the finest.", '[{ id = "E1", label = "total", title = "Total" }]')
    of: str | None = keyed(
        TEXT, "The attribute whose values the lines name, in a family of lines.", '"dwelling"', default=None)
    lines: tuple[LineOfValues, ...] = keyed(ListOf(table_of(LineOfValues)),
        "The named sets of values of that attribute; the first is the set of all.",
        '[{ label = "all", values = [1, 2], stub = "Total", words = "" }]', default=())
    stubs: Mapping[str, Mapping[str, str]] = keyed(MapOf(MapOf(TEXT)),
        "Exceptions to the usual words of ranges.", '{ age = { "18-19" = "18 and 19" } }', default={})
    repeat_total: bool = keyed(Boolean(),
        "Whether finer tables repeat the line of the lone total; false if absent.", "true", default=False)

    @property
    def crossed(self) -> tuple[str, ...]:
        """The attributes that its tables are by, those of its finest table first."""
        return tuple(dict.fromkeys(name for shape in reversed(self.shapes) for name in shape.by))


class Specification(Keyed):
    """A whole specification."""

    about: About = keyed(table_of(About),
        "The public words: whose numbers these are, and what a record and a group are called.", "[about]")
    records: ConfidentialRecords = keyed(
        table_of(ConfidentialRecords), "The confidential records: one row each.", "[records]")
    areas: TableOfAreas = keyed(table_of(TableOfAreas),
        "The public table of the smallest areas, and the levels of areas that are its columns.", "[areas]")
    classifications: tuple[CodeList, ...] = keyed(
        MapOf(table_of(CodeList), declaring("classification"), NO_CODES),
        "Code lists by name, at most two, and the fields that hold their codes.",
        "[classifications.language]")
    groups: Groups = keyed(
        table_of(Groups, words=WORDS), "The groups: sets of codes of one classification.", "[groups]")
    tables: tuple[Family, ...] = keyed(ListOf(table_of(Family)),
        "Families of tables, each a ladder from the total to the finest table.", "[[tables]]")
    privacy: Privacy = keyed(
        PRIVACY, "The choices of a committee; may stand in privacy.toml instead.", "[privacy]")

    def classification(self, name: str) -> CodeList:
        """The classification with this name. Raises KeyError."""
        return {each.name: each for each in self.classifications}[name]

    @property
    def divided(self) -> tuple[RecordField, ...]:
        """The fields that some table uses, in the order in which tables first name them.

        Raises KeyError for a name that no field has.
        """
        by_name = {each.called: each for each in self.records.fields}
        names = dict[str, None]()
        for family in self.tables:
            names |= dict.fromkeys([family.of] if family.of is not None else [])
            names |= dict.fromkeys(name for shape in family.shapes for name in shape.by)
        return tuple(by_name[name] for name in names)

    def use_of(self, classification: CodeList) -> int | None:
        """How many columns, or answers of a list, count; None: every answer of a list."""
        most = None if classification.separator is not None else len(classification.columns)
        return self.privacy.use.get(classification.name, most)


SPECIFICATION = Table((
    Key("census", Whole(1, 1), "The version of this language.", "census = 1", required=True),
    Key("like", TEXT, "The path of another census.toml, inside the folder or in one beside it, whose areas,"
        " classifications and groups are taken.", 'like = "../safetab-p/census.toml"'),
    *table_of(Specification).keys,
), Specification)
