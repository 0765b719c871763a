"""What Python on the executors does, without Spark: tasks are called one after the other."""

import pickle
import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.metadata import packages_distributions
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from tests.conftest import PROJECT
from tests.engine_inputs import engine_inputs, plain_engine
from tests.inside import (
    MISFIT,
    NEEDED_PACKAGES,
    NO_PIECE,
    PERSON_RECORD,
    PERSONS,
    Encoding,
    PartAtoms,
    PieceCells,
    RecordFingerprint,
    TaskInputs,
    count_cells,
    count_pieces,
    count_units,
    encode_records,
    pieces_of,
    read_pieces,
    read_rows,
    sum_records,
    unpacked,
)
from tests.person_forms import people_of
from tests.specified.agreement import engine_of, inputs_of
from tests.worlds.specified.random_world import write_foreign_world
from tools.supply_chain.locks import SHIPPED, pins_of


@pytest.fixture(scope="module")
def world(releases):
    return releases.people(2, people=60, budget=1).world


@pytest.fixture(scope="module")
def inputs(world):
    return engine_inputs(world)


@pytest.fixture(scope="module")
def encoding(inputs):
    return Encoding(inputs.files)


def sent_to_tasks(given):
    return SimpleNamespace(value=pickle.loads(pickle.dumps(given)))


@pytest.fixture(scope="module")
def sent(encoding):
    return sent_to_tasks(TaskInputs.of_encoding(encoding, range(7)))


SECRET = SimpleNamespace(value=bytes(range(32)))


def sums_of(batches):
    return [each for batch in batches for each in unpacked(batch.column(0)[0].as_py())]


def rows_of(batches):
    return [row for batch in batches for row in batch.to_pylist()]


def batch_of(rows, misfit=0):
    columns = zip(*(row.split("|") for row in rows), strict=True)
    arrays = {name: pa.array(column) for name, column in zip(PERSON_RECORD.columns, columns, strict=True)}
    return pa.RecordBatch.from_pydict(arrays | {MISFIT: pa.array([misfit] * len(rows), pa.int32())})


def counted_in(sent, *tasks):
    """Rows of COUNTED for records that so many tasks encode, and one counts."""
    encoded = [batch for rows in tasks for batch in encode_records(sent, read_rows, [batch_of(rows)] if rows else [])]
    return rows_of(count_pieces(sent, encoded))


def counts_of_pieces(rows):
    return {row["piece"]: unpacked(row["counts"]) for row in rows if row["piece"] != NO_PIECE}


def by_atom(rows, sent):
    found = Counter()
    for piece, counted in counts_of_pieces(rows).items():
        atoms = np.repeat(np.arange(len(counted.starts) - 1), np.diff(counted.starts))
        atoms += sent.value.pieces[piece].first_atom
        for *key, count in zip(atoms.tolist(), counted.iterations.tolist(), counted.counts.tolist(), strict=True):
            found[tuple(key)] += count
    return found


def test_counts_do_not_depend_on_which_task_reads_whom(sent, world):
    people = people_of(world)
    at_once, apart = counted_in(sent, people), counted_in(sent, people[:50], [], people[:49:-1])
    inside = sum(row.split("|")[3] in {"01", "44", "72"} for row in people)
    for rows in at_once, apart:
        assert sum(counts.records for counts in counts_of_pieces(rows).values()) == inside
        assert len(counts_of_pieces(rows)) > 1
    assert by_atom(at_once, sent) == by_atom(apart, sent)
    assert sum(unpacked(row["counts"]).rows for row in apart if row["piece"] == NO_PIECE) == len(people)


def test_cells_are_those_that_the_judge_counts(sent, world, inputs, encoding, tmp_path):
    rows = [row for row in counted_in(sent, people_of(world)) if row["piece"] != NO_PIECE]
    judge, shape = plain_engine(inputs, tmp_path), PERSONS.finer[-1]
    judge.check()
    judge.prepare()
    cells = np.asarray(shape.cell_of_value)
    for level in (one for one in inputs.plan.levels if one.level.geography.kind.suppresses):
        groups = np.arange(0, level.universe.size, 2)
        selected = PieceCells(level, groups, encoding, sent.value.pieces)
        met = [pa.RecordBatch.from_pylist([row]) for row in rows if row["piece"] in selected.pieces_met]
        for found in count_cells(sent_to_tasks(selected), met):
            selected.add(*unpacked(found.column(0)[0].as_py()))
        (by_value,) = selected.counts().values()
        judged = judge.cells(level, {shape: groups})[shape].confidential_counts
        summed = [by_value.confidential_counts[:, cells == cell].sum(axis=1) for cell in range(shape.cells)]
        assert np.array_equal(np.transpose(summed), judged)
        assert by_value.confidential_counts.sum() == judged.sum()


def test_the_sums_of_tasks_give_the_fingerprint_that_the_judge_gives(sent, world, inputs, encoding, tmp_path):
    people = people_of(world)
    sums = [
        each
        for some in (people[50:], people[:50])
        for each in sums_of(sum_records(sent, SECRET, read_rows, [batch_of(some)]))
    ]
    found = RecordFingerprint(SECRET.value, PERSON_RECORD.part_column).of_passes(sums, encoding.pass_of_part)
    assert found == plain_engine(inputs, tmp_path).fingerprint(SECRET.value)


@pytest.mark.parametrize("wrong", ["a rule", "a misfit", "no text"])
def test_one_wrong_row_makes_the_verdict(sent, world, wrong):
    people = people_of(world)
    batch = batch_of(people, misfit=int(wrong == "a misfit"))
    if wrong != "a misfit":
        value = pa.array([b"116" if wrong == "a rule" else b"\xff"]).view(pa.string())
        ages = pa.concat_arrays([batch.column("QAGE")[1:], value])
        batch = batch.set_column(0, "QAGE", ages)
    *_, last = encode_records(sent, read_rows, [batch_of(people), batch])
    assert not unpacked(last.to_pylist()[0]["result"]).are_right


def test_tasks_read_a_specifications_records_as_the_local_engine_does(tmp_path):
    foreign = write_foreign_world(tmp_path / "world", 46)
    assert foreign.features >= {"parquet", "unit", "list<string>", "areas in no pass", "other value"}
    (temporary := tmp_path / "temporary").mkdir()
    read = inputs_of(foreign.parameters, foreign.data)
    engine, encoding = engine_of(read, temporary), Encoding(read.files)
    assert not [finding for finding in engine.check() if finding.is_error]
    given = sent_to_tasks(TaskInputs.of_encoding(encoding, range(7)))
    record = given.value.record
    pieces = [pa.RecordBatch.from_pylist([{"path": str(path), "piece": 0}]) for path in read.records.parts]
    encoded = [row for piece in pieces for row in encode_records(given, read_pieces, [piece])]
    counted = counts_of_pieces(rows_of(count_pieces(given, encoded))).values()
    assert sum(counts.records for counts in counted) == sum(engine.prepare().values()) > 0
    units = rows_of(count_units(given, record.unit, pieces))
    assert sum(row["rows"] for row in units) == read.records.rows
    assert None not in {row["unit"] for row in units}
    sums = sums_of(sum_records(given, SECRET, read_pieces, pieces))
    found = RecordFingerprint(SECRET.value, record.part_column).of_passes(sums, encoding.pass_of_part)
    assert found == engine.fingerprint(SECRET.value)
    engine.close()


def test_every_atom_is_in_one_piece_and_no_piece_in_two_parts(encoding):
    for wanted in 1, 7, 40:
        pieces = pieces_of(encoding.parts, wanted)
        assert [piece.first_atom for piece in pieces[1:]] == [piece.end_atom for piece in pieces[:-1]]
        assert (pieces[0].first_atom, pieces[-1].end_atom) == (0, encoding.atom_count)
        assert {part.first_atom for part in encoding.parts} <= {piece.first_atom for piece in pieces}
    assert pieces_of([PartAtoms(encoding.passes[0], 0, 10), PartAtoms(encoding.passes[0], 10, 12)], 4) == (
        *(PartAtoms(encoding.passes[0], first, end) for first, end in ((0, 3), (3, 6), (6, 10), (10, 12))),
    )


IMPORTS = """
import sys
before = set(sys.modules)
import safetab.counting.spark.counter, safetab.counting.spark.executor, safetab.counting.spark.rules
print(*{name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names))
"""


def test_the_extra_names_whatever_executors_import():
    """So that `pip install 'safetab[spark]'` is all that an executor needs."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    requirements = *project["dependencies"], *project["optional-dependencies"]["spark"]
    named = {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}
    brought = {pin.name for lock in SHIPPED for pin in pins_of(lock)}
    assert {*NEEDED_PACKAGES, "pyspark"} <= named & brought
    listed = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    imported = set(listed.stdout.split())
    assert {"numpy", "pyarrow", "safetab"} < imported
    assert "pyspark" not in imported  # tasks are functions of Arrow's batches
    packages = packages_distributions()
    assert {one.lower() for name in imported for one in packages.get(name, ())} - {"safetab"} <= brought
