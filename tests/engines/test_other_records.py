"""Engines know a record by its layout alone: a made-up one with other columns, rules and attribute is counted too."""

from dataclasses import replace

import numpy as np
import pytest

from tests.brute_force import BruteForce
from tests.cases import values_of
from tests.engine_inputs import engine_inputs
from tests.inside import (
    BLOCK_COLUMNS,
    BLOCKS,
    CODE_COLUMNS,
    ETHNICITY_CODES,
    PERSONS,
    RACE,
    RACE_CODES,
    SAFETAB_P,
    Classification,
    CodeColumns,
    Product,
    RecordField,
    RecordLayout,
    RuledColumn,
)
from tests.person_forms import people_of
from tests.plain_engine import PlainEngine
from tests.worlds.people import problems_with, write_random_world

DWELLINGS = RecordLayout(
    table="dwelling-records",
    noun="dwelling",
    nouns="dwellings",
    columns=(*BLOCK_COLUMNS, "LIT", *CODE_COLUMNS, "FLOOR", "ROOMS"),
    attribute=(
        RuledColumn(
            RecordField("FLOOR", "integer", minimum=1, maximum=4, pattern="[1-4]"),
            own_rule="must be a floor from 1 to 4",
        ),
        RuledColumn(
            RecordField("ROOMS", "integer", minimum=10, maximum=125, pattern="[0-9]{1,9}"),
            own_rule="must be 10 to 125 rooms",
        ),
    ),
    checked=(RuledColumn(RecordField("LIT", "boolean", pattern="True|False"), own_rule="must be True or False"),),
    area=BLOCKS,
    several=RACE_CODES,
    single=ETHNICITY_CODES,
)
# males and females of an age become dwellings of a floor: 4 x 116 values, more than a byte holds
BY_FLOOR = replace(
    PERSONS.finer[0],
    label="floor",
    cell_of_value=tuple(floor * 2 + (rooms >= 40) for floor in range(4) for rooms in range(116)),
    cell_labels=tuple((floor, None, None) for floor in range(8)),
)
NUMBER_OF_DWELLINGS = replace(PERSONS.total, cell_of_value=(0,) * 464)
FAMILY = replace(PERSONS, shapes=(NUMBER_OF_DWELLINGS, BY_FLOOR))
PRODUCT: Product = replace(SAFETAB_P, record=DWELLINGS, families=(FAMILY,))


def dwelling_of(row):
    age, sex, householder, *rest = row.split("|")
    block, races = rest[:4], rest[5:]
    return "|".join([*block, householder, *races, str(_floor(int(sex), int(age))), f"0{int(age) + 10}"])


def _floor(sex, age):
    return sex + 2 * (age % 2)


def write_dwellings(world):
    rows = [dwelling_of(row) for row in people_of(world)]
    (world.data / "dwelling-records.txt").write_text("\n".join(["|".join(DWELLINGS.columns), *rows]) + "\n")
    return rows


def test_another_record_is_counted_by_its_own_attribute(engine_of, tmp_path):
    world = write_random_world(tmp_path / "world", 11, people=120, max_race_codes=3)
    write_dwellings(world)
    inputs, people = engine_inputs(world, PRODUCT), BruteForce(*world).people_of_groups()
    engine = engine_of(inputs)
    assert problems_with(engine.check()) == ()
    engine.prepare()
    judge = PlainEngine(inputs.persons, inputs.files)
    assert engine.fingerprint(bytes(32)) == judge.fingerprint(bytes(32))
    counted = 0
    for level in inputs.plan.levels:
        indices = np.arange(level.universe.size)
        (cells,) = engine.cells(level, {BY_FLOOR: indices}).values()
        for index, found in zip(indices.tolist(), cells.confidential_counts.tolist(), strict=True):
            group = level.universe.group_at(index)
            of_group = people[level.level.geography.label, group.region_id, group.iteration.code]
            assert found == _cells(of_group, BY_FLOOR)
            counted += sum(found)
    assert counted > 100


@pytest.mark.parametrize("digits", [4, None])
def test_codes_are_read_from_the_columns_that_the_layout_names(engine_of, digits, tmp_path):
    world = write_random_world(tmp_path / "world", 12, people=120, max_race_codes=3)
    origins = Classification("origin", ("FIRST", "SECOND", "THIRD"), RACE.pattern)
    layout = replace(
        DWELLINGS,
        columns=(*BLOCK_COLUMNS, "LIT", *origins.columns, "LANGUAGE", "FLOOR", "ROOMS"),
        several=CodeColumns(origins, "an origin", digits),
        single=CodeColumns(Classification("language", ("LANGUAGE",)), "a language", digits),
    )
    rows = [dwelling_of(row).split("|") for row in people_of(world)]
    lines = [layout.columns, *([*row[:8], *row[13:]] for row in rows)]  # QRACE4 to QRACE8 don't count
    (world.data / "dwelling-records.txt").write_text("".join("|".join(line) + "\n" for line in lines))
    inputs = engine_inputs(world, replace(PRODUCT, record=layout))
    people, counted = BruteForce(*world).people_of_groups(), 0
    engine = engine_of(inputs)
    assert problems_with(engine.check()) == ()
    engine.prepare()
    for level in inputs.plan.levels:
        totals = engine.totals(level)
        for index, (found,) in zip(totals.indices.tolist(), totals.confidential_counts.tolist(), strict=True):
            group = level.universe.group_at(index)
            assert found == people[level.level.geography.label, group.region_id, group.iteration.code].total()
            counted += found
    assert counted > 100
    wrong = [("FIRST", "Null", "an origin"), ("SECOND", "x", "an origin, or Null"), ("LANGUAGE", "Null", "a language")]
    for row, (column, value, _) in enumerate(wrong, start=1):
        lines[row][layout.columns.index(column)] = value
    (world.data / "dwelling-records.txt").write_text("".join("|".join(line) + "\n" for line in lines))
    findings = engine_of(inputs).check()
    assert {(one.where, one.message) for one in findings} >= {
        (column, f"must be {rule}. 1 row breaks this rule.") for column, _, rule in wrong
    }


def _cells(people, shape):
    cells = [0] * shape.cells
    for (sex, age), count in people.items():
        cells[(_floor(sex, age) - 1) * 2 + (age >= 40)] += count
    return cells


@pytest.mark.parametrize(
    ("column", "values", "rule"),
    values_of("""
        "FLOOR" | ["0", "5", "01", ""] | "must be a floor from 1 to 4"
        "ROOMS" | ["9", "126", "x", "1000000000"] | "must be 10 to 125 rooms"
        "LIT" | ["true", "1"] | "must be True or False"
    """),
)
def test_the_rules_of_another_record_are_checked(engine_of, column, values, rule, tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    rows = write_dwellings(world)
    for number, value in enumerate(values):
        fields = rows[number].split("|")
        fields[DWELLINGS.columns.index(column)] = value
        rows[number] = "|".join(fields)
    (world.data / "dwelling-records.txt").write_text("\n".join(["|".join(DWELLINGS.columns), *rows, "1|2"]) + "\n")
    findings = engine_of(engine_inputs(world, PRODUCT)).check()
    assert [(one.where, one.message) for one in findings] == [
        ("", "a row must have 16 fields. 1 row breaks this rule."),
        (column, f"{rule}. {len(values)} rows break this rule."),
    ]
