import datetime
import hashlib
import json
import time
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
import pytest

import safetab
from tests.inside import (
    SAFETAB_P,
    SEX_BY_AGE_4,
    RunOptions,
    Stage,
    Thresholds,
    chosen_shapes,
    line_sums,
    pass_files_module,
    passes_suppression,
    run_files,
    schema_of,
)
from tests.worlds.people import PERSON_HEADER, write_random_world

CELLS_4 = np.array([[1, 2, 3, 4, 10, 20, 30, -40]])


def test_a_total_is_the_sum_of_the_cells():
    total, marginals = SEX_BY_AGE_4.file_rows["t1"], SEX_BY_AGE_4.file_rows["t2"][4::5]
    assert line_sums(CELLS_4, total).tolist() == [[30]]
    assert line_sums(CELLS_4, marginals).tolist() == [[10, 20]]


def test_counts_below_zero_are_clamped_before_they_are_summed():
    total, rows = SEX_BY_AGE_4.file_rows["t1"], SEX_BY_AGE_4.file_rows["t2"]
    assert line_sums(CELLS_4, total, allow_negative=False).tolist() == [[70]]
    assert line_sums(CELLS_4, rows, allow_negative=False).tolist() == [[1, 2, 3, 4, 10, 10, 20, 30, 0, 60]]


def test_a_total_that_equals_the_suppression_threshold_is_not_published():
    assert passes_suppression(np.array([20, 21, 22]), 21).tolist() == [False, False, True]
    assert passes_suppression(np.array([-5, 0]), None).tolist() == [True, True]


def test_a_noisy_total_that_equals_a_threshold_moves_up():
    chosen = chosen_shapes(np.array([-1, 99, 100, 499, 500, 1999, 2000]), Thresholds((100, 500, 2000)))
    assert chosen.tolist() == [0, 0, 1, 1, 2, 2, 3]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_random_world(
        tmp_path_factory.mktemp("outputs"),
        2,
        people=150,
        budget=1,
        zero_suppression_chance=0.99,
        allow_negative_counts=True,
    )


@pytest.fixture(scope="module")
def out(world, tmp_path_factory):
    out = tmp_path_factory.mktemp("outputs") / "out"
    safetab.run(*world, out)
    return out


def rows_of(path):
    header, *lines = path.read_text().splitlines()
    return [dict(zip(header.split("|"), line.split("|"), strict=True)) for line in lines]


def test_measurements_t1_and_t2_tell_the_same_story(out):
    for name in ("us", "pr"):
        measurements = pq.read_table(out / "measurements" / f"{name}.parquet")
        assert measurements.schema.equals(schema_of(SAFETAB_P))
        stage_2 = {}
        for row in measurements.to_pylist():
            if row["stage"] != 1:
                key = (row["region_id"], row["geography_level"], row["iteration_code"])
                stage_2.setdefault(key, []).append(row)
        totals = {
            (r["REGION_ID"], r["REGION_TYPE"], r["ITERATION_CODE"]): int(r["COUNT"])
            for r in rows_of(out / "t1" / f"{name}.csv")
        }
        assert totals == {key: sum(row["value"] for row in rows) for key, rows in stage_2.items()}
        cells = {
            (r["REGION_ID"], r["REGION_TYPE"], r["ITERATION_CODE"], r["AGESTART"], r["AGEEND"], r["SEX"]): int(
                r["COUNT"]
            )
            for r in rows_of(out / "t2" / f"{name}.csv")
        }
        for key, rows in stage_2.items():
            if rows[0]["table"] == "total":
                assert not any(cell[:3] == key for cell in cells)
                continue
            for row in rows:
                assert cells[(*key, str(row["age_start"]), str(row["age_end"]), str(row["sex"]))] == row["value"]
            for sex in (1, 2):
                assert cells[(*key, "*", "*", str(sex))] == sum(row["value"] for row in rows if row["sex"] == sex)


def test_every_published_adaptive_group_has_its_stage_1_total_and_no_suppressed_group_is_there(out):
    measurements = pq.read_table(out / "measurements" / "us.parquet").to_pylist()
    published = {(r["REGION_ID"], r["REGION_TYPE"], r["ITERATION_CODE"]) for r in rows_of(out / "t1" / "us.csv")}
    keys = {(row["region_id"], row["geography_level"], row["iteration_code"]) for row in measurements}
    assert keys == published
    of_stage = {
        stage: {
            (r["region_id"], r["geography_level"], r["iteration_code"]) for r in measurements if r["stage"] == stage
        }
        for stage in (0, 1, 2)
    }
    assert of_stage[1] == of_stage[2]
    assert not of_stage[0] & of_stage[1]
    assert of_stage[0]


def test_each_stage_has_its_own_noise(out, world):
    plan = safetab.plan(*world)
    level_of = {
        (level.level.geography.label, iteration.code): level
        for level in plan.levels
        for iteration in level.universe.iterations
    }
    for row in pq.read_table(out / "measurements" / "us.parquet").to_pylist():
        noise = level_of[row["geography_level"], row["iteration_code"]].design.stages[Stage(row["stage"])].noise
        parameter = Fraction(int(row["parameter_numerator"]), int(row["parameter_denominator"]))
        assert parameter in (getattr(noise, "sigma_squared", None), getattr(noise, "scale", None))


def test_the_manifest_says_what_ran_and_nothing_of_the_persons(out, world):
    text = (out / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["program"] == "safetab"
    assert datetime.date.fromisoformat(manifest["date"])
    assert set(manifest["public_files"]) == {path.name for path in world.parameters.iterdir()} | {"GRF-C.txt"}
    assert "person" not in text
    assert str(world.data) not in text
    charged = {
        (event["geography_level"], event["iteration_level"], event["stage"]): Fraction(event["cost"])
        for event in manifest["charged"]
    }
    for level in safetab.plan(*world).levels:
        for stage, stage_plan in level.design.stages.items():
            assert charged[level.level.geography.label, level.level.iterations.name, int(stage)] == stage_plan.budget
    assert manifest["outputs"]["t1/us.csv"]["rows"] == len(rows_of(out / "t1" / "us.csv"))


def test_the_log_beside_the_tables_says_what_was_written(out):
    log = (out / "log.txt").read_text().splitlines()
    assert log[2] == "validation passed"
    assert f"wrote t1/us.csv: {len(rows_of(out / 't1' / 'us.csv'))} rows" in log
    assert log[-1].startswith(("rho ", "epsilon "))


def test_no_byte_that_leaves_tells_of_the_person_file(tmp_path):
    world = write_random_world(tmp_path / "recognisable-folder", 2, people=31_337, budget=1)
    persons = world.data / "person-records.txt"
    content = persons.read_bytes()
    safetab.run(*world, tmp_path / "out", temp=str(tmp_path), test_key="00" * 32)
    traces = [
        b"recognisable-folder",
        b"person-records",
        b"31337",
        b"31,337",
        str(len(content)).encode(),
        str(int(persons.stat().st_mtime)).encode(),
        *(hashlib.new(name, content).hexdigest().encode() for name in ("md5", "sha1", "sha256")),
        hashlib.sha256(content).digest(),
    ]
    released = {str(path): path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert len(released) == len(manifest["outputs"]) + len(manifest["documents"]) + 1 > 30
    for name in [name for name in released if name.endswith(".parquet")]:  # what lies compressed in it
        released[name] += str(pq.read_table(name, partitioning=None).to_pydict()).encode()
    for trace in traces:
        assert not [name for name, written in released.items() if trace in written], trace


def test_true_counts_that_one_would_recognise_appear_nowhere(tmp_path):
    """Everybody has the same codes, age and sex and one block, so every group's true count is 70,707 or 0.

    The noise of a number is 0 with a chance of 1 in 500 or less, and the key is fixed.
    """
    world = write_random_world(tmp_path / "world", 3, people=2, budget=0.0001, run_pr=False)
    person = next(line for line in (world.data / "person-records.txt").read_text().splitlines() if "|44|" in line)
    (world.data / "person-records.txt").write_text("\n".join([PERSON_HEADER, *[person] * 70_707]) + "\n")
    safetab.run(*world, tmp_path / "out", test_key="01" * 32)
    seen = [
        value
        for name in ("t1", "t2")
        for value in [
            int(row.split("|")[-1]) for row in (tmp_path / "out" / name / "us.csv").read_text().splitlines()[1:]
        ]
    ]
    seen += pq.read_table(tmp_path / "out" / "measurements" / "us.parquet")["value"].to_pylist()
    assert len([value for value in seen if abs(value - 70_707) < 5_000]) > 20
    assert 70_707 not in seen
    printed = "".join(path.read_text() for path in (tmp_path / "out").glob("*.*"))
    assert "70707" not in printed.replace(",", "")


def test_all_files_have_one_time_which_is_later_than_that_of_every_input(world, out):
    """A scheduler that goes by file times does not run again; no file says how long its numbers took."""
    times = {path.stat().st_mtime_ns for path in [out, *out.rglob("*")]}
    assert len(times) == 1
    read = [*world.parameters.rglob("*"), *world.data.rglob("*")]
    assert max(path.stat().st_mtime_ns for path in read) < times.pop() < time.time_ns()


@pytest.mark.slow
def test_row_groups_have_a_fixed_size_whatever_the_chunks(world, tmp_path, monkeypatch):
    monkeypatch.setattr(pass_files_module, "_ROWS_OF_A_GROUP", 50)
    sizes = []
    for number, groups_at_once in enumerate((13, 10**6)):
        options = RunOptions(test_key=bytes(32), groups_at_once=groups_at_once)
        run_files(*world, tmp_path / str(number), options)
        file = pq.ParquetFile(tmp_path / str(number) / "measurements" / "us.parquet")
        sizes.append([file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)])
    assert sizes[0] == sizes[1]
    assert set(sizes[0][:-1]) == {50}
