import csv
import datetime
import hashlib
import json
import time
from fractions import Fraction
from operator import itemgetter

import numpy as np
import pyarrow.parquet as pq
import pytest

import safetab
from tests.inside import (
    SAFETAB_P,
    SEX_BY_AGE_4,
    BatchSizes,
    RunOptions,
    Stage,
    Thresholds,
    chosen_shapes,
    line_sums,
    passes_suppression,
    run_files,
    schema_of,
)
from tests.worlds.people import PERSON_HEADER, write_random_world


def test_a_total_is_the_sum_of_the_cells_and_counts_below_zero_are_clamped_before():
    cells, total, lines = np.array([[1, 2, 3, 4, 10, 20, 30, -40]]), *map(SEX_BY_AGE_4.file_rows.get, ("t1", "t2"))
    assert line_sums(cells, total).tolist() == [[30]]
    assert line_sums(cells, lines[4::5]).tolist() == [[10, 20]]
    assert line_sums(cells, total, allow_negative=False).tolist() == [[70]]
    assert line_sums(cells, lines, allow_negative=False).tolist() == [[1, 2, 3, 4, 10, 10, 20, 30, 0, 60]]


def test_a_total_that_equals_the_suppression_threshold_is_not_published_and_one_at_a_threshold_moves_up():
    assert passes_suppression(np.array([20, 21, 22]), 21).tolist() == [False, False, True]
    assert passes_suppression(np.array([-5, 0]), None).tolist() == [True, True]
    chosen = chosen_shapes(np.array([-1, 99, 100, 499, 500, 1999, 2000]), Thresholds((100, 500, 2000)))
    assert chosen.tolist() == [0, 0, 1, 1, 2, 2, 3]


@pytest.fixture(scope="module")
def released(releases):
    return releases.people(2, people=60, budget=1, zero_suppression_chance=0.99, allow_negative_counts=True)


@pytest.fixture(scope="module")
def out(released):
    return released.out


@pytest.fixture(scope="module")
def plan(released):
    return safetab.plan(*released.world)


KEYS = itemgetter("REGION_ID", "REGION_TYPE", "ITERATION_CODE")


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file, delimiter="|"))


def measured(out, name="us"):
    """By region, level and iteration, the measurements."""
    found = {}
    for row in pq.read_table(out / "measurements" / f"{name}.parquet").to_pylist():
        found.setdefault((row["region_id"], row["geography_level"], row["iteration_code"]), []).append(row)
    return found


@pytest.mark.parametrize("name", ["us", "pr"])
def test_measurements_t1_and_t2_tell_the_same_story(out, name):
    assert pq.read_schema(out / "measurements" / f"{name}.parquet").equals(schema_of(SAFETAB_P))
    totals = {KEYS(row): int(row["COUNT"]) for row in rows_of(out / "t1" / f"{name}.csv")}
    cells = {}
    for row in rows_of(out / "t2" / f"{name}.csv"):
        cells.setdefault(KEYS(row), {})[row["AGESTART"], row["AGEEND"], row["SEX"]] = int(row["COUNT"])
    assert cells
    of_groups = measured(out, name)
    assert totals.keys() == of_groups.keys()
    for key, rows in of_groups.items():
        of_stage_2 = [row for row in rows if row["stage"] != 1]
        assert totals[key] == sum(row["value"] for row in of_stage_2)
        if of_stage_2[0]["table"] == "total":
            assert key not in cells
            continue
        for row in of_stage_2:
            assert cells[key][str(row["age_start"]), str(row["age_end"]), str(row["sex"])] == row["value"]
        for sex in (1, 2):
            assert cells[key]["*", "*", str(sex)] == sum(row["value"] for row in of_stage_2 if row["sex"] == sex)


def test_every_published_adaptive_group_has_its_stage_1_total_and_no_suppressed_group_is_there(out):
    of_groups = measured(out)
    assert of_groups.keys() == {KEYS(row) for row in rows_of(out / "t1" / "us.csv")}
    stages = {frozenset(row["stage"] for row in rows) for rows in of_groups.values()}
    assert stages == {frozenset({0}), frozenset({1, 2})}


def test_each_stage_has_its_own_noise(out, plan):
    design_of = {
        (level.level.geography.label, iteration.code): level.design
        for level in plan.levels
        for iteration in level.universe.iterations
    }
    for (_, level, iteration), rows in measured(out).items():
        for row in rows:
            parameter = Fraction(int(row["parameter_numerator"]), int(row["parameter_denominator"]))
            assert parameter == design_of[level, iteration].noise(Stage(row["stage"])).parameter


def test_the_manifest_and_the_log_say_what_ran_and_nothing_of_the_persons(out, released, plan):
    text, log = ((out / name).read_text() for name in ("manifest.json", "log.txt"))
    manifest = json.loads(text)
    assert manifest["program"] == "safetab"
    assert datetime.date.fromisoformat(manifest["date"])
    assert set(manifest["public_files"]) == {path.name for path in released.world.parameters.iterdir()} | {"GRF-C.txt"}
    assert "person" not in text
    assert str(released.world.data) not in text
    names = ("geography_level", "iteration_level", "stage")
    charged = {tuple(event[name] for name in names): Fraction(event["cost"]) for event in manifest["charged"]}
    for level in plan.levels:
        for stage, stage_plan in level.design.stages.items():
            assert charged[level.level.geography.label, level.level.iterations.name, int(stage)] == stage_plan.budget
    rows = len(rows_of(out / "t1" / "us.csv"))
    assert manifest["outputs"]["t1/us.csv"]["rows"] == rows
    assert "\nvalidation passed\n" in log
    assert f"wrote t1/us.csv: {rows} rows\n" in log
    assert log.splitlines()[-1].startswith(("rho ", "epsilon "))


def test_no_byte_that_leaves_tells_of_the_person_file(tmp_path):
    world = write_random_world(tmp_path / "recognisable-folder", 2, people=13_337, budget=1)
    persons = world.data / "person-records.txt"
    content = persons.read_bytes()
    out = world.run(tmp_path / "out", temp=str(tmp_path))
    times = str(len(content)), str(int(persons.stat().st_mtime))
    hashes = [hashlib.new(name, content) for name in ("md5", "sha1", "sha256")]
    words = ("recognisable-folder", "person-records", "13337", "13,337", *times, *(each.hexdigest() for each in hashes))
    released = {str(path): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    manifest = json.loads((out / "manifest.json").read_text())
    assert len(released) == len(manifest["outputs"]) + len(manifest["documents"]) + 1 > 30
    for name in [name for name in released if name.endswith(".parquet")]:  # what lies compressed in it
        released[name] += str(pq.read_table(name, partitioning=None).to_pydict()).encode()
    for trace in (*map(str.encode, words), hashes[-1].digest()):
        assert not [name for name, written in released.items() if trace in written], trace


def test_true_counts_that_one_would_recognise_appear_nowhere(tmp_path):
    """Everybody has the same codes, age and sex and one block, so every group's true count is 70,707 or 0.

    The noise of a number is 0 with a chance of 1 in 500 or less, and the key is fixed.
    """
    world = write_random_world(tmp_path / "world", 3, people=2, budget=0.0001, run_pr=False)
    records = world.data / "person-records.txt"
    person = next(line for line in records.read_text().splitlines() if "|44|" in line)
    records.write_text("\n".join([PERSON_HEADER, *[person] * 70_707]) + "\n")
    out = world.run(tmp_path / "out", test_key="01" * 32)
    seen = [int(row["COUNT"]) for name in ("t1", "t2") for row in rows_of(out / name / "us.csv")]
    seen += pq.read_table(out / "measurements" / "us.parquet")["value"].to_pylist()
    assert len([value for value in seen if abs(value - 70_707) < 5_000]) > 20
    assert 70_707 not in seen
    assert not [path for path in out.glob("*.*") if "70707" in path.read_text().replace(",", "")]


def test_all_files_have_one_time_which_is_later_than_that_of_every_input(released):
    """A scheduler that goes by file times does not run again; no file says how long its numbers took."""
    out, (parameters, data) = released.out, released.world
    (time_of_output,) = {path.stat().st_mtime_ns for path in [out, *out.rglob("*")]}
    read = [*parameters.rglob("*"), *data.rglob("*")]
    assert max(path.stat().st_mtime_ns for path in read) < time_of_output < time.time_ns()


@pytest.mark.slow
def test_row_groups_have_a_fixed_size_whatever_the_chunks(released, tmp_path):
    sizes = []
    for number, groups_at_once in enumerate((13, 10**6)):
        out = tmp_path / str(number)
        chunks = {"groups_at_once": groups_at_once, "sizes": BatchSizes(measurements=50)}
        run_files(*released.world, out, RunOptions(test_key=bytes(32), **chunks))
        file = pq.ParquetFile(out / "measurements" / "us.parquet")
        sizes.append([file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)])
    assert sizes[0] == sizes[1]
    assert set(sizes[0][:-1]) == {50}
