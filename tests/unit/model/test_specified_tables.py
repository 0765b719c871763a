"""Products of any specification: parts, cells, lines, columns, words and questions."""

from dataclasses import replace
from fractions import Fraction
from itertools import product as combinations_of
from math import prod
from types import SimpleNamespace

import pyarrow as pa
import pytest

from tests.cases import cases_of, values_of
from tests.conftest import SHARED
from tests.inside import (
    PRODUCTS,
    TAKEN_COLUMNS,
    US,
    About,
    Attribute,
    Category,
    ConfidentialRecords,
    Family,
    Groups,
    LineOfValues,
    Privacy,
    PrivacyDefinition,
    RecordField,
    Reference,
    Refusal,
    Selector,
    Specification,
    TableOfAreas,
    TableShape,
    WantedCells,
    level_far_above,
    number_columns,
    plural_of,
    presets,
    product_of,
    read_specification,
    reference_words,
    reported_references,
    schema_of,
    total_far_above,
)

GENDER = RecordField(
    "GENDER",
    "string",
    attribute="gender",
    categories=(Category("1", "male"), Category("2", "female"), Category("X", "another gender")),
)
AGE = RecordField("AGE", "integer", attribute="age", unit_name="years", minimum=0, maximum=99)
ROOMS = RecordField("ROOMS", "integer", attribute="rooms", minimum=1, maximum=9)
WORKS = RecordField("works", "boolean")
BREAKS = {"age": (0, 15, 65), "rooms": (1, 2, 5)}


def by(label, *names):
    breaks = {name: BREAKS[name] for name in names if name in BREAKS}
    return TableShape(f"T-{label}", label, label.title(), by=names, breaks=breaks)


def specification(*families, selector="stage 1", **about):
    return Specification(
        About("Example", "An example", "example", "person", "people", "group", "groups", **about),
        ConfidentialRecords("people", (AGE, GENDER, ROOMS, WORKS)),
        TableOfAreas("areas.csv", (), ()),
        (),
        Groups(()),
        families,
        Privacy("zcdp", selector, ()),
    )


def compiled(spec):
    values = prod(len(field.values) for field in spec.divided)
    return product_of(spec, SimpleNamespace(attribute_values=values, noun="person", nouns="people", protected="person"))


def product_with(*families, **more):
    return compiled(specification(*families, **more))


def ladder(*shapes, name="all tables", **more):
    return Family(name, "gender by age", (by(f"{name} total"), *shapes), **more)


GENDER_BY_AGE = specification(ladder(by("age", "age"), by("gender age", "gender", "age")))


def records_in(spec, shape):
    """The values that each cell counts, by a plain walk through all records that there could be."""
    found = {}
    every = combinations_of(*(field.values for field in spec.divided))
    for values, cell in zip(every, shape.cell_of_value, strict=True):
        found.setdefault(cell, set()).add(values)
    return found


def kinds_of(shape):
    return [(kind.name, kind.draws, kind.parts) for kind in shape.kinds]


def stubs_of(lines):
    return ", ".join(line.stub for line in lines)


def test_the_attribute_has_the_fields_in_the_order_in_which_tables_name_them():
    assert GENDER_BY_AGE.divided == (AGE, GENDER)
    lines = (LineOfValues("all", ("true", "false"), "Total", ""),)
    with_lines = specification(Family("work", "work", (by("w"),), of="works", lines=lines), *GENDER_BY_AGE.tables)
    assert with_lines.divided == (WORKS, AGE, GENDER)
    assert WORKS.values == ("true", "false")
    with pytest.raises(ValueError, match="ETH1: tables need"):
        _ = RecordField("ETH1", "string").values


def test_lines_of_one_and_of_two_attributes():
    total, age, gender_by_age = compiled(GENDER_BY_AGE).families[0].shapes
    assert [(line.stub, line.labels, line.run) for line in total.lines] == [("Total", ("all", 0, 99), (0,))]
    assert [[line.number, line.stub, line.words, line.labels, line.run] for line in age.lines] == values_of("""
        1 | "Total" | "" | ("all", 0, 99) | (0, 1, 2)
        2 | "Under 15 years" | "0 to 14 years" | ("all", 0, 14) | (0,)
        3 | "15 to 64 years" | "15 to 64 years" | ("all", 15, 64) | (1,)
        4 | "65 years and over" | "65 years and over" | ("all", 65, 99) | (2,)
    """)
    assert [line.number for line in gender_by_age.lines] == [*range(1, 14)]
    ages = "Under 15 years, 15 to 64 years, 65 years and over"
    assert stubs_of(gender_by_age.lines) == f"Total, Male, {ages}, Female, {ages}, Another gender, {ages}"
    women = gender_by_age.lines[5]
    assert women.words == "female"
    assert women.labels == ("female", 0, 99)
    assert women.run == (3, 4, 5)
    assert gender_by_age.lines[-1].words == "another gender 65 years and over"
    assert gender_by_age.cell_labels[3:5] == (("female", 0, 14), ("female", 15, 64))
    assert age.cell_labels[0] == (None, 0, 14)
    assert kinds_of(gender_by_age) == [("cell", 1, 9), ("gender_marginal", 3, 3), ("total", 9, 1)]
    assert [shape.words for shape in (total, age, gender_by_age)] == ["a total", "3 ages", "gender by 3 ages"]


def test_three_attributes_nest():
    shape = product_with(ladder(by("fine", "works", "rooms", "gender"))).families[0].finest
    assert shape.cells == 2 * 3 * 3
    assert stubs_of(shape.lines[:8]) == "Total, True, 1, Male, Female, Another gender, 2 to 4, Male"
    marginals = [("works_by_rooms_marginal", 3, 6), ("works_marginal", 9, 2)]
    assert kinds_of(shape) == [("cell", 1, 18), *marginals, ("total", 18, 1)]
    assert {kind.draws for kind in shape.kinds} == {line.cells for line in shape.lines}
    assert [line.run for line in shape.lines if line.stub == "False"] == [tuple(range(9, 18))]


def test_every_line_counts_exactly_the_records_that_its_labels_name():
    spec = specification(
        ladder(by("age", "age"), by("fine", "gender", "age", "works")), ladder(by("rooms", "rooms"), name="rooms")
    )
    product = compiled(spec)
    columns = [column.name for column in product.label_columns]
    assert columns == ["gender", "age_start", "age_end", "works", "rooms_start", "rooms_end"]
    label_of = dict(zip(GENDER.values, ("male", "female", "another gender"), strict=True))
    for shape in (shape for family in product.families for shape in family.shapes):
        cells = records_in(spec, shape)
        everybody = set().union(*cells.values())
        for line in shape.lines:
            labels = dict(zip(columns, line.labels, strict=True))
            counted = {
                (age, gender, works, rooms)
                for age, gender, works, rooms in everybody
                if labels["gender"] in {"all", label_of[gender]}
                and labels["works"] in {"both", works}
                and labels["age_start"] <= int(age) <= labels["age_end"]
                and labels["rooms_start"] <= int(rooms) <= labels["rooms_end"]
            }
            assert set().union(*(cells[cell] for cell in line.run)) == counted


@pytest.mark.parametrize(
    ("field", "breaks", "stubs"),
    [
        (AGE, (0, 20, 21, 85), "Under 20 years, 20 years, 21 to 84 years, 85 years and over"),
        (ROOMS, (1, 2, 3, 8), "1, 2, 3 to 7, 8 and over"),
        (AGE, (0,), "All ages"),
        (replace(ROOMS, unit_name="rooms", minimum=0), (0, 1), "0 rooms, 1 rooms and over"),
        (replace(ROOMS, unit_name="rooms", minimum=2), (2, 5), "2 to 4 rooms, 5 rooms and over"),
    ],
)
def test_ranges_in_words(field, breaks, stubs):
    assert stubs_of(Attribute(field).parts(breaks, {})) == stubs


def test_stubs_are_exceptions():
    given = {"0-17": "Children", "65+": "Old", "18": "Eighteen", "female": "Women", "X": "Others"}
    assert stubs_of(Attribute(AGE).parts((0, 18, 19, 65), given)) == "Children, Eighteen, 19 to 64 years, Old"
    assert stubs_of(Attribute(GENDER).parts((), given)) == "Male, Women, Others"


def test_the_total_is_repeated_only_if_the_specification_says_so():
    (plain,) = compiled(GENDER_BY_AGE).families
    assert [[line.is_total for line in shape.lines][:2] for shape in plain.finer] == [[True, False]] * 2
    (repeated,) = product_with(ladder(by("age", "age"), repeat_total=True)).families
    lines = repeated.finer[0].lines[:2]
    assert [[line.table_id, line.number, line.is_total, line.run] for line in lines] == values_of("""
        "T-all tables total" | 1 | True | (0, 1, 2)
        "T-age" | 1 | False | (0, 1, 2)
    """)


@pytest.mark.parametrize(
    ("shapes", "grains"),
    [
        ((by("a", "age"), by("b", "gender", "rooms")), "3 / 9 cells"),
        ((by("a", "gender"), by("b", "gender", "age")), "3 / 9 cells"),
        ((by("a", "age"), by("b", "gender", "age")), "3 / 9 cells"),  # both have 3 ages
        ((by("b", "gender", "age"),), "3 ages"),
    ],
)
def test_what_a_finer_table_has_more_of(shapes, grains):
    (family,) = product_with(ladder(*shapes)).families
    assert family.grains == grains
    assert grains.endswith(family.divided_into)
    assert " / ".join(str(shape.divisions) for shape in family.finer) in grains
    assert family.total.divisions == 0


def named(**lines):
    return tuple(LineOfValues(label, tuple(values), label.capitalize(), label) for label, values in lines.items())


SIZES = named(everyone="123456789", small="123", one="1", two="2", three="3", large="456789")


def sizes(labels="everyone small one two three large", lines=SIZES):
    fine = TableShape("S2", "s2", "Sizes (fine)", lines=tuple(labels.split()))
    return Family("sizes", "size", (TableShape("S1", "s1", "Total"), fine), of="rooms", lines=lines)


def test_cells_of_named_lines_are_those_that_no_other_divides():
    product = product_with(sizes(), *GENDER_BY_AGE.tables)
    total, shape = product.families[0].shapes
    assert [[*line.run] for line in shape.lines] == values_of("0 | 1 | 2 | 3\n 0 | 1 | 2\n 0\n 1\n 2\n 3")
    assert total.lines[0].labels == shape.lines[0].labels == ("all", 0, 99, "everyone")
    assert shape.lines[-1].labels == ("all", 0, 99, "large")
    assert shape.cell_labels == tuple((None, None, None, label) for label in ("one", "two", "three", "large"))
    assert [(kind.name, kind.draws) for kind in shape.kinds] == [("cell", 1), ("sum_of_3", 3), ("total", 4)]
    assert shape.words == "size in 4 cells"
    question = product.line_question
    assert question.arguments == ("gender", "age", "category")
    assert question.cells_of(shape) == WantedCells((0, 1, 2, 3), "everyone")
    assert question.cells_of(shape, category=" SMALL ") == WantedCells((0, 1, 2), "small")
    by_age = product.families[1].finer[0]
    assert 'Tables of sizes have it: give the family, "sizes".' in str(question.cells_of(by_age, category="small"))
    other = question.cells_of(shape, gender="female")
    told = 'this table has no numbers by gender. Tables of all tables have it: give the family, "all tables".'
    assert other == Refusal("gender", told)


@pytest.mark.parametrize(
    ("labels", "lines"),
    [
        ("everyone small one large two three", SIZES),
        ("everyone small one two large", SIZES),
        ("everyone small large more", (*SIZES, *named(more="3456789"))),
        ("everyone a b c", named(everyone="123456789", a="12", b="345", c="56789")),
        ("everyone a b c", named(everyone="123456789", a="1", b="23456789", c="12")),
    ],
    ids=["not neighbours", "in no cell", "in two cells", "overlapping", "part of a cell"],
)
def test_lines_that_are_no_runs_of_cells_are_refused(labels, lines):
    with pytest.raises(ValueError, match="s2: "):
        product_with(sizes(labels, lines))


@pytest.mark.parametrize(
    ("label", "more"),
    values_of("""
        "all" | ["b", "c"]
        "Both" | ["b"]
    """),
)
def test_no_category_has_the_label_of_all(label, more):
    categories = tuple(Category(one[0], one) for one in (label, *more))
    with pytest.raises(ValueError, match=f'can\'t be labelled "{label.lower()}"'):
        _ = Attribute(RecordField("f", "string", categories=categories)).whole


def test_columns_never_have_the_name_of_another_column():
    for product in PRODUCTS:
        own = {column.name for column in product.label_columns}
        others = {column.name for column in number_columns(product, US)} | set(schema_of(product).names)
        of_csv = {"geo_id", "donor_geo_id", "iteration_id"}
        assert others - own == TAKEN_COLUMNS - {"area_level", "area", "group"} - of_csv  # of plain files
    (column,) = Attribute(RecordField("status", "string", enum=("a", "b", "c"))).columns
    assert column.name == "record_status"
    assert column.values == ("all", "a", "b", "c")
    arguments = [Attribute(RecordField(name, "boolean")).argument for name in ("class", "5 or more")]
    assert arguments == ["class_", "_5_or_more"]
    spec = specification(sizes(), ladder(by("c", "category")))
    fields = (ROOMS, replace(WORKS, attribute="category"))
    with pytest.raises(ValueError, match="columns of one name"):
        compiled(replace(spec, records=replace(spec.records, fields=fields)))


@pytest.mark.parametrize(
    ("minimum", "maximum", "types"),
    values_of("""
        0 | 127 | ("int8", "int16")
        0 | 128 | ("int16", "int16")
        -40_000 | 5 | ("int32", "int32")
    """),
)
def test_a_column_holds_its_integers(minimum, maximum, types):
    for column in Attribute(RecordField("n", "integer", minimum=minimum, maximum=maximum)).columns:
        assert (column.line_type, column.cell_type) == types


@pytest.mark.parametrize(
    ("noun", "plural"),
    cases_of("""
        sex | sexes
        age | ages
        country | countries
        day | days
        class | classes
    """),
)
def test_plurals(noun, plural):
    assert plural_of(noun) == plural


def test_questions_of_any_census():
    product = compiled(GENDER_BY_AGE)
    shapes, asked = product.families[0].shapes, product.line_question
    assert asked.arguments == ("gender", "age")
    assert asked.everything == "all genders and ages"
    for shape, gender, ages, cells, words in values_of("""
        2 | "female" | "15+" | (4, 5) | "female 15 years and over"
        2 | "Female" | "15+" | (4, 5) | "female 15 years and over"
        2 | "2" | "15+" | (4, 5) | "female 15 years and over"
        2 | "x" | (0, 99) | (6, 7, 8) | "another gender all ages"
        2 | "all" | (0, 64) | (0, 1, 3, 4, 6, 7) | "0 to 64 years"
        1 | "all" | "0-14" | (0,) | "0 to 14 years"
        1 | "all" | (0, 99) | (0, 1, 2) | "all ages"
    """):
        assert asked.cells_of(shapes[shape], gender, ages) == WantedCells(cells, words)
    for shape, name, value, told in values_of("""
        1 | "gender" | "male" | "this table has no numbers by gender."
        0 | "gender" | "male" | "the group has a total alone, with no numbers by gender."
        0 | "gender" | "men" | 'must be all, male, female or another gender, not "men".'
        2 | "age" | "young" | "must be like 0-17 or 65+."
    """):
        assert asked.cells_of(shapes[shape], **{name: value}) == Refusal(name, told)
    assert asked.parsed({"gender": "all", "age": "15+"}) == {"age": (15, 99)}
    for wrong in {"gander": "male"}, {"gender": 1}, {"age": 5}:
        with pytest.raises(TypeError):
            asked.cells_of(shapes[2], **wrong)
    assert (
        "; ".join(map(asked.name_of, shapes[2].lines[:3]))
        == "all genders, all ages; male, all ages; male, 0 to 14 years"
    )


def test_only_two_categories_are_drawn_on_two_sides():
    product = compiled(GENDER_BY_AGE)
    assert product.line_question.bar_of(product.families[0].finest.lines[2]) == (None, "male, 0 to 14 years")
    shapes = (by("works", "works"), by("fine", "works", "age"), by("finest", "works", "age", "gender"))
    two = product_with(ladder(*shapes))
    alone, fine, finest = two.families[0].finer
    bar_of = two.line_question.bar_of
    assert bar_of(alone.lines[1]) == (None, "True")
    assert [bar_of(line) for line in fine.lines[:3]] == [(None, "Total"), ("true", "True"), ("true", "Under 15 years")]
    assert bar_of(finest.lines[3]) == ("true", "0 to 14 years, male")


@pytest.mark.parametrize(
    ("selector", "of_product", "counts"),
    [
        ("stage 1", Selector.NOISY_STAGE_1, "in all, and for larger groups by gender and age and by rooms"),
        ("none", Selector.NONE, "in all, and by gender and age and by rooms"),
    ],
)
def test_sentences(selector, of_product, counts):
    rooms = Family("rooms", "rooms", (by("r"), by("rooms", "rooms")))
    product = product_with(ladder(by("gender age", "gender", "age"), repeat_total=True), rooms, selector=selector)
    assert product.counts == f"how many people there are, {counts}"
    for part in (
        "lines that hold others (Total, Male, Female, Another gender) are rows too.",
        "that in the first line of a gender-by-age table are one number, not two.",
        "The totals of all tables and of rooms count the same people, each with noise of its own: they differ,",
        "and safetab's open_release gives their best mean.",
    ):
        assert part in product.adding_up
    assert [family.file_word for family in product.families] == ["gender-by-age", "rooms"]
    assert product.selector == of_product
    assert product.number == 15


def test_families_with_one_detail_have_files_of_their_own():
    for first, second, words in values_of("""
        "all tables" | "Other Tables" | ["all-tables", "other-tables"]
        "a b" | "a-b" | ["1-a-b", "2-a-b"]
    """):
        product = product_with(ladder(by("a", "age"), name=first), ladder(by("b", "gender"), name=second))
        assert [family.file_word for family in product.families] == words
        assert [layout.folder for layout in product.files] == [f"tables/{word}" for word in words]
    (other,) = product_with(Family("年", "年齢", (by("t"), by("a", "age")))).families
    assert other.file_word == "1"


def test_files_and_columns_hold_more_than_127_lines():
    spec = specification(ladder(replace(by("fine", "gender", "rooms"), breaks={})))
    product = compiled(replace(spec, records=replace(spec.records, fields=(GENDER, replace(ROOMS, maximum=42)))))
    assert [line.number for line in product.families[0].finest.lines] == [*range(1, 1 + 1 + 3 + 3 * 42)]
    types = {column.name: column.type for column in number_columns(product, US)}
    assert types["line"] == pa.int16()
    assert types["noise_draws"] == pa.int8()
    assert {str(column.type) for column in number_columns(PRODUCTS[0], US) if column.name == "line"} == {"int8"}


ZCDP = PrivacyDefinition.ZCDP


def test_without_a_reference_nothing_is_compared():
    product = compiled(GENDER_BY_AGE)
    assert product.reference is None
    assert presets(product) == {}
    assert reported_references(product) == {}
    assert reference_words(product, ZCDP) == []
    for far_above in total_far_above, level_far_above:
        assert far_above(product, ZCDP, Fraction(1000)) is None


def test_a_reference_is_compared_with_the_whole_run_alone():
    product = product_with(*GENDER_BY_AGE.tables, reference=Reference("last census", Fraction(2)))
    assert reference_words(product, ZCDP)[0].startswith("For comparison, the last census: rho 2 ")
    assert "last census" in total_far_above(product, ZCDP, Fraction(5))
    assert level_far_above(product, ZCDP, Fraction(1000)) is None


@pytest.mark.needs_2020_files
@pytest.mark.parametrize(
    ("name", "arguments", "cells"),
    values_of("""
        "nz-ethnicity" | ("gender", "age") | {"gender and age": [1, 4, 18, 54]}
        "ons-ethnic-group" | ("sex", "age") | {"sex and age": [1, 2, 8, 22]}
        "hospital-admissions" | ("sex", "age", "mode") | {"age and sex": [1, 3, 15], "mode": [1, 2]}
    """),
)
def test_the_example_specifications(name, arguments, cells):
    folder = SHARED / "census" / name
    if not folder.exists():
        pytest.skip("the examples are not there")
    product = compiled(read_specification(folder).require())
    assert product.line_question.arguments == arguments
    assert {family.name: [shape.cells for shape in family.shapes] for family in product.families} == cells
    for shape in (shape for family in product.families for shape in family.shapes):
        assert shape.lines[0].is_total
        assert {kind.draws for kind in shape.kinds} == {line.cells for line in shape.lines}
