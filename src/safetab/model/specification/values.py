"""The content of a specification, as values.

Texts are as the file spells them, numbers are exact, and nothing is compiled. A field declares the
key of the file that fills it: reader, writer, JSON Schema and documentation are made from this and
from meanings.toml.
"""

# fmt: off
# isort: off
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from safetab.model.privacy_definition import SPELLINGS
from safetab.model.specification.keys import (
    ANY_TEXT, CHARACTER, DETAIL, FIELD, FILE, FILLED, INTEGER, NAME, NO_CODES, NO_ROWS, POSITIVE,
    PRODUCT_NAME, TEXT, TEXTS, VALUES, KeyColumn, KeyColumnText, Keyed, declaring, keyed, referring,
    table_of,
)
from safetab.model.specification.kinds import (
    Boolean, Key, ListOf, MapOf, Number, Pattern, Table, Text, Value, Whole,
)

SPECIFICATION_FILE = "census.toml"
PRIVACY_FILE = "privacy.toml"
INHERITED = ("areas", "classifications", "groups")
"""The sections that `like` takes from another specification."""
_STRANGERS_NOISE = 15
"""The product number in noise addresses if `about.noise` is absent.

It is also the highest number that there is.
"""
_MOST_UNIT_RECORDS = 1_000_000
MOST_CODE_BYTES = 64
_TRUTH_VALUES = ("true", "false")
COMMON = "common"
"""The list of groups that are on no other list."""
EVERYWHERE = "all"
_BUDGET = Number(
    "a number above 0", above=0, advice=" To leave these levels out, delete the entry.")
_HIGHEST_THRESHOLD = 2**62
MOST_COLUMNS = 8


class Reference(Keyed):
    """A published loss to compare with."""

    name: str = keyed(TEXT)
    rho: Fraction | None = keyed(POSITIVE, default=None)
    epsilon: Fraction | None = keyed(POSITIVE, default=None)

    @property
    def loss(self) -> Fraction:
        """Rho under zCDP, epsilon under pure DP."""
        return self.rho or self.epsilon or Fraction(0)


class About(Keyed):
    """The public words of a census: the owner of the numbers, and names of records and groups."""

    name: str = keyed(PRODUCT_NAME)
    title: str = keyed(TEXT)
    agency: str = keyed(TEXT)
    record: str = keyed(TEXT)
    records: str = keyed(TEXT)
    group: str = keyed(TEXT)
    groups: str = keyed(TEXT)
    year: str = keyed(Value(), default="")
    source: str = keyed(TEXT, default="")
    contact: str = keyed(TEXT, default="")
    url: str = keyed(TEXT, default="")
    licence: str = keyed(TEXT, default="")
    cite: str = keyed(TEXT, default="")
    holds: str = keyed(TEXT, default="")
    noise: int = keyed(Whole(0, _STRANGERS_NOISE), default=_STRANGERS_NOISE)
    reference: Reference | None = keyed(table_of(Reference), default=None)


class Category(Keyed):
    """A value of a field, and what tables call it."""

    value: str = keyed(Value())
    label: str = keyed(TEXT)


class RecordField(Keyed):
    """A column of the records, as a Frictionless field describes it."""

    name: str = keyed(Text(declares="field"))
    type: str = keyed(Text(choices=("string", "integer", "boolean", "list")))
    title: str = keyed(TEXT, default="")
    attribute: str = keyed(NAME, default="")
    unit_name: str = keyed(TEXT, default="")
    delimiter: str = keyed(CHARACTER, default="")
    minimum: int | None = keyed(INTEGER, default=None, at="constraints.minimum")
    maximum: int | None = keyed(INTEGER, default=None, at="constraints.maximum")
    pattern: str | None = keyed(Pattern(), default=None, at="constraints.pattern")
    enum: tuple[str, ...] = keyed(ListOf(Value(), distinct=True), default=(), at="constraints.enum")
    categories: tuple[Category, ...] = keyed(ListOf(table_of(Category)), default=())
    other: str | None = keyed(Value(), default=None)

    @property
    def called(self) -> str:
        """The field's name in tables."""
        return self.attribute or self.name

    @property
    def listed(self) -> tuple[str, ...]:
        """The texts of its values, in the order of tables, if they are listed one by one."""
        if self.categories:
            return tuple(category.value for category in self.categories)
        return self.enum or (_TRUTH_VALUES if self.type == "boolean" else ())

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
            raise ValueError(
                f"{self.name}: tables need a list of its values, or a minimum and a maximum.")
        return tuple(map(str, range(self.minimum, self.maximum + 1)))


class Unit(Keyed):
    """Whose presence is protected, if it may have several records."""

    name: str = keyed(TEXT)
    column: str = keyed(FIELD)
    most_records: int = keyed(Whole(1, _MOST_UNIT_RECORDS))


class ConfidentialRecords(Keyed):
    """The file of the records and its fields."""

    file: str = keyed(FILE)
    fields: tuple[RecordField, ...] = keyed(ListOf(table_of(RecordField, "constraints")))
    separator: str | None = keyed(CHARACTER, default=None)
    missing: tuple[str, ...] = keyed(ListOf(ANY_TEXT, may_be_empty=True), default=("",))
    where: Mapping[str, tuple[str, ...]] = keyed(MapOf(VALUES, FIELD), default={})
    unit: Unit | None = keyed(table_of(Unit), default=None)

    def named(self, name: str) -> RecordField:
        """The field with this name. Raises KeyError."""
        return {each.name: each for each in self.fields}[name]


class LevelOfAreas(Keyed):
    """A column of the table of areas, or several put together; or everything."""

    name: str = keyed(declaring("level of areas"))
    noun: str = keyed(TEXT)
    nouns: str = keyed(TEXT, default="")
    title: str = keyed(TEXT, default="")
    whole: str | None = keyed(TEXT, default=None)
    id: tuple[str, ...] = keyed(TEXTS, default=())
    nowhere: tuple[str, ...] = keyed(ListOf(ANY_TEXT, or_one=True), default=())
    names: str | None = keyed(TEXT, default=None)
    boundary: str = keyed(TEXT, default="")


class PassOfAreas(Keyed):
    """A part of the territory with budgets of its own."""

    name: str = keyed(declaring("pass"))
    title: str = keyed(TEXT)
    where: Mapping[str, tuple[str, ...]] = keyed(MapOf(VALUES, TEXT, NO_ROWS))
    levels: Mapping[str, str] = keyed(
        MapOf(declaring("label of areas"), referring("level of areas"), NO_ROWS))


class TableOfAreas(Keyed):
    """The public table of the smallest areas."""

    file: str = keyed(FILE)
    key: tuple[KeyColumn, ...] = keyed(ListOf(KeyColumnText()))
    levels: tuple[LevelOfAreas, ...] = keyed(ListOf(table_of(LevelOfAreas)))
    passes: tuple[PassOfAreas, ...] = keyed(ListOf(table_of(PassOfAreas)), default=())
    other: tuple[str, ...] | None = keyed(ListOf(ANY_TEXT, or_one=True), default=None)


class CodeList(Keyed):
    """A classification: its file, and the columns of the records that hold its codes."""

    name: str
    file: str = keyed(FILE)
    columns: tuple[str, ...] = keyed(ListOf(FIELD, distinct=True), required=False)
    column: str | None = keyed(FIELD, default=None)
    separator: str | None = keyed(CHARACTER, default=None)
    pattern: str | None = keyed(Pattern(), default=None)
    first: int | None = keyed(Whole(1, MOST_CODE_BYTES), default=None)
    residual: tuple[str, ...] = keyed(VALUES, default=())
    required: bool = keyed(Boolean(), default=True)
    gaps: str = keyed(Text(choices=("error", "skipped")), default="error")


class LevelOfGroups(Keyed):
    """A level of groups; if groups are made from a column of a code list, which."""

    name: str = keyed(declaring("level of groups"))
    title: str = keyed(TEXT)
    of: str | None = keyed(referring("classification"), default=None)
    column: str | None = keyed(TEXT, default=None)
    names: str | None = keyed(TEXT, default=None)
    members: tuple[str, ...] = keyed(
        ListOf(Text(choices=("any", "only")), distinct=True), default=())
    code_prefix: str = keyed(TEXT, default="")


class ListOfGroups(Keyed):
    """The areas where the groups of a list are tabulated: None is everywhere."""

    name: str
    areas: tuple[str, ...] | None = keyed(ListOf(NAME, or_one=True), default=None)
    tables: str | None = keyed(Text(choices=("total",)), default=None)

    @property
    def total_only(self) -> bool:
        """Whether its groups get the lone total."""
        return self.tables is not None


class Groups(Keyed):
    """The groups: from two files, or from columns of code lists."""

    levels: tuple[LevelOfGroups, ...] = keyed(ListOf(table_of(LevelOfGroups)))
    file: str | None = keyed(FILE, default=None)
    codes: str | None = keyed(FILE, default=None)
    any_words: str = keyed(FILLED, default="{name}", at="words.any")
    only_words: str = keyed(FILLED, default="{name} only", at="words.only")
    lists: tuple[ListOfGroups, ...] = keyed(
        MapOf(table_of(ListOfGroups), declaring("list of groups")), default=(ListOfGroups(COMMON),))


class LineOfValues(Keyed):
    """A line of a family of lines: a set of the attribute's values."""

    label: str = keyed(TEXT)
    values: tuple[str, ...] = keyed(ListOf(Value(), distinct=True))
    stub: str = keyed(TEXT)
    words: str = keyed(ANY_TEXT)


class TableShape(Keyed):
    """A rung of a family: the lone total, a crossing of attributes, or lines by their labels."""

    id: str = keyed(declaring("table"))
    label: str = keyed(declaring("label of tables"))
    title: str = keyed(TEXT)
    by: tuple[str, ...] = keyed(TEXTS, default=())
    breaks: Mapping[str, tuple[int, ...]] = keyed(MapOf(ListOf(INTEGER)), default={})
    lines: tuple[str, ...] = keyed(TEXTS, default=())


class Family(Keyed):
    """A ladder of tables."""

    name: str = keyed(declaring("family of tables"))
    detail: str = keyed(DETAIL)
    shapes: tuple[TableShape, ...] = keyed(ListOf(table_of(TableShape)))
    of: str | None = keyed(TEXT, default=None)
    lines: tuple[LineOfValues, ...] = keyed(ListOf(table_of(LineOfValues)), default=())
    stubs: Mapping[str, Mapping[str, str]] = keyed(MapOf(MapOf(TEXT)), default={})
    repeat_total: bool = keyed(Boolean(), default=False)

    @property
    def crossed(self) -> tuple[str, ...]:
        """The attributes that its tables are by, those of its finest table first."""
        return tuple(dict.fromkeys(name for shape in reversed(self.shapes) for name in shape.by))


class Choice(Keyed):
    """An entry of `privacy.levels`: a budget and thresholds for every triple that it names."""

    tables: tuple[str, ...] = keyed(
        ListOf(referring("family of tables"), or_one=True), required=False)
    groups: tuple[str, ...] = keyed(ListOf(referring("level of groups"), or_one=True))
    areas: tuple[str, ...] = keyed(ListOf(referring("label of areas"), or_one=True))
    budget: Fraction = keyed(_BUDGET)
    thresholds: tuple[int, ...] = keyed(
        ListOf(Whole(0, _HIGHEST_THRESHOLD), may_be_empty=True), required=False)


class Privacy(Keyed):
    """The choices of a committee."""

    definition: str = keyed(Text(choices=SPELLINGS))
    selector: str = keyed(Text(choices=("stage 1", "published totals", "none")))
    levels: tuple[Choice, ...] = keyed(ListOf(table_of(Choice)))
    stage_1: Fraction | None = keyed(
        Number("a number strictly between 0 and 1", above=0, below=1), default=None)
    suppress_chance: Fraction = keyed(
        Number("a number of at least 0 and below 1", at_least=0, below=1), default=Fraction(0),
        required=True, at="suppress.chance")
    suppress_areas: tuple[str, ...] = keyed(
        ListOf(referring("level of areas"), or_one=True),
        default=(), required=True, at="suppress.areas")
    negatives: str = keyed(Text(choices=("kept", "withheld", "zero")), default="kept")
    totals: str | None = keyed(FILE, default=None)
    use: Mapping[str, int] = keyed(
        MapOf(Whole(1, MOST_COLUMNS), Text(refers_to="classification")), default={})


PRIVACY = table_of(Privacy, "suppress")


class Specification(Keyed):
    """A whole specification."""

    about: About = keyed(table_of(About))
    records: ConfidentialRecords = keyed(table_of(ConfidentialRecords))
    areas: TableOfAreas = keyed(table_of(TableOfAreas))
    classifications: tuple[CodeList, ...] = keyed(
        MapOf(table_of(CodeList), declaring("classification"), NO_CODES))
    groups: Groups = keyed(table_of(Groups, "words"))
    tables: tuple[Family, ...] = keyed(ListOf(table_of(Family)))
    privacy: Privacy = keyed(PRIVACY)

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
        """The number of columns, or answers of a list, that count; None: every answer of a list."""
        most = None if classification.separator is not None else len(classification.columns)
        return self.privacy.use.get(classification.name, most)


SPECIFICATION = Table((
    Key("census", Whole(1, 1), "The version of this language.", "census = 1", required=True),
    Key("like", TEXT, "The path of another census.toml, inside the folder or in one beside it,"
        " whose areas, classifications and groups are taken.", 'like = "../safetab-p/census.toml"'),
    *table_of(Specification).keys,
), Specification)
