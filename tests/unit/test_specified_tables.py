"""Products of any specification: parts, cells, lines, columns, words and questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product as combinations_of
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

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
    Product,
    RecordField,
    RecordLayout,
    Reference,
    Refusal,
    Selector,
    Shape,
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
BREAKS: Mapping[str, tuple[int, ...]] = {"age": (0, 15, 65), "rooms": (1, 2, 5)}


def by(label: str, *names: str) -> TableShape:
    breaks = {name: BREAKS[name] for name in names if name in BREAKS}
    return TableShape(f"T-{label}", label, label.title(), by=names, breaks=breaks)


def specification(*families: Family, selector: str = "stage 1", **about: Any) -> Specification:
    return Specification(
        About("Example", "An example", "example", "person", "people", "group", "groups", **about),
        ConfidentialRecords("people", (AGE, GENDER, ROOMS, WORKS)),
        TableOfAreas("areas.csv", (), ()),
        (),
        Groups(()),
        families,
        Privacy("zcdp", selector, ()),
    )


def compiled(spec: Specification) -> Product:
    values = prod(len(field.values) for field in spec.divided)
    return product_of(
        spec,
        cast(
            "RecordLayout", SimpleNamespace(attribute_values=values, noun="person", nouns="people", protected="person")
        ),
    )


def ladder(*shapes: TableShape, name: str = "all tables", **more: Any) -> Family:
    return Family(name, "gender by age", (by(f"{name} total"), *shapes), **more)


GENDER_BY_AGE = specification(ladder(by("age", "age"), by("gender age", "gender", "age")))


def records_in(spec: Specification, shape: Shape) -> dict[int, set[tuple[str, ...]]]:
    """The values that each cell counts, by a plain walk through all records that there could be."""
    found: dict[int, set[tuple[str, ...]]] = {}
    every = combinations_of(*(field.values for field in spec.divided))
    for values, cell in zip(every, shape.cell_of_value, strict=True):
        found.setdefault(cell, set()).add(values)
    return found


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
    assert [(line.number, line.stub, line.words, line.labels, line.run) for line in age.lines] == [
        (1, "Total", "", ("all", 0, 99), (0, 1, 2)),
        (2, "Under 15 years", "0 to 14 years", ("all", 0, 14), (0,)),
        (3, "15 to 64 years", "15 to 64 years", ("all", 15, 64), (1,)),
        (4, "65 years and over", "65 years and over", ("all", 65, 99), (2,)),
    ]
    assert [line.number for line in gender_by_age.lines] == [*range(1, 14)]
    ages = ["Under 15 years", "15 to 64 years", "65 years and over"]
    assert [line.stub for line in gender_by_age.lines] == [
        "Total", "Male", *ages, "Female", *ages, "Another gender", *ages,
    ]  # fmt: skip
    women = gender_by_age.lines[5]
    assert (women.words, women.labels, women.run) == ("female", ("female", 0, 99), (3, 4, 5))
    assert gender_by_age.lines[-1].words == "another gender 65 years and over"
    assert gender_by_age.cell_labels[3:5] == (("female", 0, 14), ("female", 15, 64))
    assert age.cell_labels[0] == (None, 0, 14)
    assert [(kind.name, kind.draws, kind.parts) for kind in gender_by_age.kinds] == [
        ("cell", 1, 9), ("gender_marginal", 3, 3), ("total", 9, 1),
    ]  # fmt: skip
    assert [shape.words for shape in (total, age, gender_by_age)] == ["a total", "3 ages", "gender by 3 ages"]


def test_three_attributes_nest():
    spec = specification(ladder(by("fine", "works", "rooms", "gender")))
    (family,) = compiled(spec).families
    (shape,) = family.finer
    assert shape.cells == 2 * 3 * 3
    assert [line.stub for line in shape.lines[:8]] == ["Total", "True", "1", "Male", "Female", "Another gender", "2 to 4",
                                                       "Male"]  # fmt: skip
    assert [(kind.name, kind.draws, kind.parts) for kind in shape.kinds] == [
        ("cell", 1, 18), ("works_by_rooms_marginal", 3, 6), ("works_marginal", 9, 2), ("total", 18, 1),
    ]  # fmt: skip
    assert {kind.draws for kind in shape.kinds} == {line.cells for line in shape.lines}
    assert [line.run for line in shape.lines if line.stub == "False"] == [tuple(range(9, 18))]


def test_every_line_counts_exactly_the_records_that_its_labels_name():
    spec = specification(
        ladder(by("age", "age"), by("fine", "gender", "age", "works")), ladder(by("rooms", "rooms"), name="rooms")
    )
    product = compiled(spec)
    columns = [column.name for column in product.label_columns]
    assert columns == ["gender", "age_start", "age_end", "works", "rooms_start", "rooms_end"]
    values = {name: number for number, name in enumerate(["age", "gender", "works", "rooms"])}
    label_of = dict(zip(GENDER.values, ("male", "female", "another gender"), strict=True))
    for shape in (shape for family in product.families for shape in family.shapes):
        cells = records_in(spec, shape)
        everybody = set().union(*cells.values())
        for line in shape.lines:
            labels = dict(zip(columns, line.labels, strict=True))
            counted = {
                record
                for record in everybody
                if labels["gender"] in {"all", label_of[record[values["gender"]]]}
                and labels["works"] in {"both", record[values["works"]]}
                and labels["age_start"] <= int(record[values["age"]]) <= labels["age_end"]
                and labels["rooms_start"] <= int(record[values["rooms"]]) <= labels["rooms_end"]
            }
            assert set().union(*(cells[cell] for cell in line.run)) == counted


@pytest.mark.parametrize(
    ("field", "breaks", "stubs"),
    [
        (AGE, (0, 20, 21, 85), ["Under 20 years", "20 years", "21 to 84 years", "85 years and over"]),
        (ROOMS, (1, 2, 3, 8), ["1", "2", "3 to 7", "8 and over"]),
        (AGE, (0,), ["All ages"]),
        (RecordField("n", "integer", unit_name="rooms", minimum=0, maximum=3), (0, 1), ["0 rooms", "1 rooms and over"]),
        (RecordField("n", "integer", unit_name="rooms", minimum=2, maximum=9), (2, 5), ["2 to 4 rooms", "5 rooms and over"]),
    ],
)  # fmt: skip
def test_ranges_in_words(field, breaks, stubs):
    assert [part.stub for part in Attribute(field).parts(breaks, {})] == stubs


def test_stubs_are_exceptions():
    given = {"0-17": "Children", "65+": "Old", "18": "Eighteen", "female": "Women", "X": "Others"}
    assert [part.stub for part in Attribute(AGE).parts((0, 18, 19, 65), given)] == [
        "Children", "Eighteen", "19 to 64 years", "Old",
    ]  # fmt: skip
    assert [part.stub for part in Attribute(GENDER).parts((), given)] == ["Male", "Women", "Others"]


def test_the_total_is_repeated_only_if_the_specification_says_so():
    (plain,) = compiled(GENDER_BY_AGE).families
    assert [[line.is_total for line in shape.lines][:2] for shape in plain.finer] == [[True, False]] * 2
    (repeated,) = compiled(specification(ladder(by("age", "age"), repeat_total=True))).families
    first, second, *_ = repeated.finer[0].lines
    assert (first.table_id, first.number, first.is_total, first.run) == ("T-all tables total", 1, True, (0, 1, 2))
    assert (second.table_id, second.number, second.is_total, second.run) == ("T-age", 1, False, (0, 1, 2))


@pytest.mark.parametrize(
    ("shapes", "divided_into", "divisions"),
    [
        ((by("a", "age"), by("b", "gender", "rooms")), "cells", [3, 9]),
        ((by("a", "gender"), by("b", "gender", "age")), "cells", [3, 9]),
        ((by("a", "age"), by("b", "gender", "age")), "cells", [3, 9]),  # both have 3 ages
        ((by("b", "gender", "age"),), "ages", [3]),
    ],
)
def test_what_a_finer_table_has_more_of(shapes, divided_into, divisions):
    (family,) = compiled(specification(ladder(*shapes))).families
    assert (family.divided_into, [shape.divisions for shape in family.finer]) == (divided_into, divisions)
    assert family.grains == f"{' / '.join(map(str, divisions))} {divided_into}"
    assert family.total.divisions == 0


def named(*lines: tuple[str, str]) -> tuple[LineOfValues, ...]:
    return tuple(LineOfValues(label, tuple(values), label.capitalize(), label) for label, values in lines)


SIZES = named(
    ("everyone", "123456789"), ("small", "123"), ("one", "1"), ("two", "2"), ("three", "3"), ("large", "456789")
)


def sizes(*labels: str, lines: tuple[LineOfValues, ...] = SIZES) -> Family:
    shapes = (TableShape("S1", "s1", "Total"), TableShape("S2", "s2", "Sizes (fine)", lines=labels))
    return Family("sizes", "size", shapes, of="rooms", lines=lines)


def test_cells_of_named_lines_are_those_that_no_other_divides():
    product = compiled(specification(sizes("everyone", "small", "one", "two", "three", "large"), *GENDER_BY_AGE.tables))
    total, shape = product.families[0].shapes
    assert [line.run for line in shape.lines] == [(0, 1, 2, 3), (0, 1, 2), (0,), (1,), (2,), (3,)]
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
    hint = 'Tables of sizes have it: give the family, "sizes".'
    assert hint in str(question.cells_of(by_age, category="small"))
    other = question.cells_of(shape, gender="female")
    assert other == Refusal(
        "gender", 'this table has no numbers by gender. Tables of all tables have it: give the family, "all tables".'
    )


@pytest.mark.parametrize(
    ("labels", "lines"),
    [
        (("everyone", "small", "one", "large", "two", "three"), SIZES),
        (("everyone", "small", "one", "two", "large"), SIZES),
        (("everyone", "small", "large", "more"), (*SIZES, *named(("more", "3456789")))),
        (("everyone", "a", "b", "c"), named(("everyone", "123456789"), ("a", "12"), ("b", "345"), ("c", "6789"))[:3]
         + named(("c", "56789"))),
        (("everyone", "a", "b", "c"), named(("everyone", "123456789"), ("a", "1"), ("b", "23456789"), ("c", "12"))),
    ],
    ids=["not neighbours", "in no cell", "in two cells", "overlapping", "part of a cell"],
)  # fmt: skip
def test_lines_that_are_no_runs_of_cells_are_refused(labels, lines):
    with pytest.raises(ValueError, match="s2: "):
        compiled(specification(sizes(*labels, lines=lines)))


@pytest.mark.parametrize("label", ["all", "Both"])
def test_no_category_has_the_label_of_all(label):
    categories = (Category("a", label), Category("b", "b"), Category("c", "c"))[: 3 if label == "all" else 2]
    field = RecordField("f", "string", categories=categories)
    with pytest.raises(ValueError, match=f'can\'t be labelled "{label.lower()}"'):
        _ = Attribute(field).whole


def test_columns_never_have_the_name_of_another_column():
    for product in PRODUCTS:
        own = {column.name for column in product.label_columns}
        others = {column.name for column in number_columns(product, US)} | set(schema_of(product).names)
        of_csv = {"geo_id", "donor_geo_id", "iteration_id"}
        assert others - own == TAKEN_COLUMNS - {"area_level", "area", "group"} - of_csv  # of plain files
    taken = RecordField("status", "string", enum=("a", "b", "c"))
    (column,) = Attribute(taken).columns
    assert (column.name, column.values) == ("record_status", ("all", "a", "b", "c"))
    assert Attribute(RecordField("class", "boolean")).argument == "class_"
    assert Attribute(RecordField("5 or more", "boolean")).argument == "_5_or_more"
    spec = specification(sizes("everyone", "small", "one", "two", "three", "large"), ladder(by("c", "category")))
    fields = (ROOMS, replace(WORKS, attribute="category"))
    with pytest.raises(ValueError, match="columns of one name"):
        compiled(replace(spec, records=replace(spec.records, fields=fields)))


@pytest.mark.parametrize(
    ("values", "types"),
    [((0, 127), ("int8", "int16")), ((0, 128), ("int16", "int16")), ((-40_000, 5), ("int32", "int32"))],
)
def test_a_column_holds_its_integers(values, types):
    start, end = Attribute(RecordField("n", "integer", minimum=values[0], maximum=values[1])).columns
    assert (start.line_type, start.cell_type) == (end.line_type, end.cell_type) == types


@pytest.mark.parametrize(
    ("noun", "plural"),
    [("sex", "sexes"), ("age", "ages"), ("country", "countries"), ("day", "days"), ("class", "classes")],
)
def test_plurals(noun, plural):
    assert plural_of(noun) == plural


def test_questions_of_any_census():
    product = compiled(GENDER_BY_AGE)
    total, age, fine = product.families[0].shapes
    asked = product.line_question
    assert (asked.arguments, asked.everything) == (("gender", "age"), "all genders and ages")
    for female in ("female", "Female", "2"):
        assert asked.cells_of(fine, female, "15+") == WantedCells((4, 5), "female 15 years and over")
    assert asked.cells_of(fine, gender="x") == WantedCells((6, 7, 8), "another gender all ages")
    assert asked.cells_of(fine, age=(0, 64)) == WantedCells((0, 1, 3, 4, 6, 7), "0 to 64 years")
    assert asked.cells_of(age, age="0-14") == WantedCells((0,), "0 to 14 years")
    assert asked.cells_of(age, "all", (0, 99)) == WantedCells((0, 1, 2), "all ages")
    assert asked.cells_of(age, "male") == Refusal("gender", "this table has no numbers by gender.")
    assert asked.cells_of(total, "male") == Refusal("gender", "the group has a total alone, with no numbers by gender.")
    assert asked.cells_of(total, "men") == Refusal("gender", 'must be all, male, female or another gender, not "men".')
    assert asked.cells_of(fine, age="young") == Refusal("age", "must be like 0-17 or 65+.")
    assert asked.parsed({"gender": "all", "age": "15+"}) == {"age": (15, 99)}
    for wrong in ({"gander": "male"}, {"gender": 1}, {"age": 5}):
        with pytest.raises(TypeError):
            asked.cells_of(fine, **wrong)
    assert [asked.name_of(line) for line in fine.lines[:3]] == [
        "all genders, all ages", "male, all ages", "male, 0 to 14 years",
    ]  # fmt: skip


def test_only_two_categories_are_drawn_on_two_sides():
    product = compiled(GENDER_BY_AGE)
    fine = product.families[0].shapes[-1]
    assert product.line_question.bar_of(fine.lines[2]) == (None, "male, 0 to 14 years")
    two = compiled(
        specification(ladder(by("works", "works"), by("fine", "works", "age"), by("finest", "works", "age", "gender")))
    )
    _, alone, fine, finest = two.families[0].shapes
    bar_of = two.line_question.bar_of
    assert bar_of(alone.lines[1]) == (None, "True")
    assert [bar_of(line) for line in fine.lines[:3]] == [(None, "Total"), ("true", "True"), ("true", "Under 15 years")]
    assert bar_of(finest.lines[3]) == ("true", "0 to 14 years, male")


@pytest.mark.parametrize(
    ("selector", "counts"),
    [
        ("stage 1", "how many people there are, in all, and for larger groups by gender and age and by rooms"),
        ("none", "how many people there are, in all, and by gender and age and by rooms"),
    ],
)
def test_sentences(selector, counts):
    spec = specification(
        ladder(by("gender age", "gender", "age"), repeat_total=True),
        Family("rooms", "rooms", (by("r"), by("rooms", "rooms"))),
        selector=selector,
    )
    product = compiled(spec)
    assert product.counts == counts
    assert product.adding_up == (
        "Don't add a table's total to its parts: lines that hold others (Total, Male, Female, Another gender) are rows"
        " too. The total in T-all tables total and that in the first line of a gender-by-age table are one number, not"
        " two. The totals of all tables and of rooms count the same people, each with noise of its own: they differ,"
        " and safetab's open_release gives their best mean."
    )
    assert [family.file_word for family in product.families] == ["gender-by-age", "rooms"]
    assert product.selector is {"stage 1": Selector.NOISY_STAGE_1, "none": Selector.NONE}[selector]
    assert product.number == 15


def test_families_with_one_detail_have_files_of_their_own():
    product = compiled(specification(ladder(by("a", "age")), ladder(by("b", "gender"), name="Other Tables")))
    assert [family.file_word for family in product.families] == ["all-tables", "other-tables"]
    alike = compiled(specification(ladder(by("a", "age"), name="a b"), ladder(by("b", "gender"), name="a-b")))
    assert [family.file_word for family in alike.families] == ["1-a-b", "2-a-b"]
    assert [layout.folder for layout in alike.files] == ["tables/1-a-b", "tables/2-a-b"]
    other = Family("年", "年齢", (by("t"), by("a", "age")))
    assert [family.file_word for family in compiled(specification(other)).families] == ["1"]


def test_files_and_columns_hold_more_than_127_lines():
    rooms = replace(ROOMS, maximum=42)
    spec = specification(ladder(by("fine", "gender", "rooms")))
    spec = replace(spec, records=replace(spec.records, fields=(GENDER, rooms)))
    shapes = (spec.tables[0].shapes[0], replace(spec.tables[0].shapes[1], breaks={}))
    product = compiled(replace(spec, tables=(replace(spec.tables[0], shapes=shapes),)))
    assert [line.number for line in product.families[0].finest.lines] == [*range(1, 1 + 1 + 3 + 3 * 42)]
    types = {column.name: column.type for column in number_columns(product, US)}
    assert (types["line"], types["noise_draws"]) == (pa.int16(), pa.int8())
    assert {str(column.type) for column in number_columns(PRODUCTS[0], US) if column.name == "line"} == {"int8"}


def test_without_a_reference_nothing_is_compared():
    product = compiled(GENDER_BY_AGE)
    assert product.reference is None
    assert (presets(product), reported_references(product)) == ({}, {})
    assert reference_words(product, PrivacyDefinition.ZCDP) == []
    assert total_far_above(product, PrivacyDefinition.ZCDP, Fraction(1000)) is None
    assert level_far_above(product, PrivacyDefinition.ZCDP, Fraction(1000)) is None


def test_a_reference_is_compared_with_the_whole_run_alone():
    product = compiled(specification(*GENDER_BY_AGE.tables, reference=Reference("last census", Fraction(2))))
    assert reference_words(product, PrivacyDefinition.ZCDP)[0].startswith("For comparison, the last census: rho 2 ")
    assert "last census" in (total_far_above(product, PrivacyDefinition.ZCDP, Fraction(5)) or "")
    assert level_far_above(product, PrivacyDefinition.ZCDP, Fraction(1000)) is None


EXAMPLES = {
    "nz-ethnicity": (("gender", "age"), {"gender and age": [1, 4, 18, 54]}),
    "ons-ethnic-group": (("sex", "age"), {"sex and age": [1, 2, 8, 22]}),
    "hospital-admissions": (("sex", "age", "mode"), {"age and sex": [1, 3, 15], "mode": [1, 2]}),
}


@pytest.mark.needs_2020_files
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_specifications(name):
    folder = Path(SHARED / "census" / name)
    if not folder.exists():
        pytest.skip("the examples are not there")
    product, (arguments, cells) = compiled(read_specification(folder).require()), EXAMPLES[name]
    assert product.line_question.arguments == arguments
    assert {family.name: [shape.cells for shape in family.shapes] for family in product.families} == cells
    for shape in (shape for family in product.families for shape in family.shapes):
        assert shape.lines[0].is_total
        assert {kind.draws for kind in shape.kinds} == {line.cells for line in shape.lines}
