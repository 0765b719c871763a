"""What Python on the executors does, without Spark: tasks are called one after the other."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from tests.engine_inputs import engine_inputs, plain_engine
from tests.person_forms import people_of
from tests.random_worlds import write_random_world

from safetab.engines.encoding import Encoding, StateAtoms
from safetab.engines.spark.executor_tasks import MISFIT, count_cells, count_parts, encode_rows
from safetab.engines.spark.sent_cells import SentCells
from safetab.engines.spark.sent_lists import SentLists, parts_of
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.products.safetab_p.tables import PERSONS


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory):
    return write_random_world(tmp_path_factory.mktemp("tasks") / "world", 3, 120)


@pytest.fixture(scope="module")
def inputs(world):
    return engine_inputs(world)


@pytest.fixture(scope="module")
def encoding(inputs) -> Encoding:
    return Encoding(inputs.files)


@pytest.fixture(scope="module")
def sent(inputs, encoding: Encoding):
    config = inputs.files.config
    states = {which: [int(state) for state in config.states_of(which)] for which in encoding.passes}
    lists = SentLists.of_encoding(encoding, inputs.files.lists.code_names, states, range(7))
    return SimpleNamespace(value=pickle.loads(pickle.dumps(lists)))


def batch_of(rows: list[str], misfit: int = 0) -> pa.RecordBatch:
    columns = zip(*(row.split("|") for row in rows), strict=True)
    arrays = {name: pa.array(column) for name, column in zip(PERSON_RECORD.columns, columns, strict=True)}
    return pa.RecordBatch.from_pydict(arrays | {MISFIT: pa.array([misfit] * len(rows), pa.int32())})


def counted_in(sent, *tasks: list[str]) -> list[dict]:
    """Rows that so many tasks encode, and one counts."""
    encoded = [batch for rows in tasks for batch in encode_rows(sent, [batch_of(rows)] if rows else [])]
    return [row for batch in count_parts(sent, encoded) for row in batch.to_pylist()]


def by_atom(rows: list[dict], sent) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for row in rows:
        if row["verdict"] is None:
            starts = np.frombuffer(row["counted_starts"], dtype=np.int64)
            atoms = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) + sent.value.parts[row["part"]].first_atom
            iterations, counts = (np.frombuffer(row[name], dtype=np.int32) for name in ("iterations", "counts"))
            for key in zip(atoms.tolist(), iterations.tolist(), counts.tolist(), strict=True):
                found[key[:2]] += key[2]
    return found


def test_counts_do_not_depend_on_which_task_reads_whom(sent, world) -> None:
    people = people_of(world)
    at_once, apart = counted_in(sent, people), counted_in(sent, people[:50], [], people[:49:-1])
    inside = sum(row.split("|")[3] in {"01", "44", "72"} for row in people)
    for rows in (at_once, apart):
        assert sum(row["people"] for row in rows if row["verdict"] is None) == inside
        assert len({row["part"] for row in rows if row["verdict"] is None}) > 1
    assert by_atom(at_once, sent) == by_atom(apart, sent)
    assert sum(np.frombuffer(row["verdict"], dtype=np.int64)[1] for row in apart if row["verdict"]) == len(people)


def test_cells_are_those_that_the_judge_counts(sent, world, inputs, encoding: Encoding, tmp_path: Path) -> None:
    rows = [row for row in counted_in(sent, people_of(world)) if row["verdict"] is None]
    judge = plain_engine(inputs, tmp_path)
    judge.check()
    judge.prepare()
    shape = PERSONS.finer[-1]
    for level in (one for one in inputs.plan.levels if one.level.geography.entity_kind.is_substate):
        groups = np.arange(0, level.universe.size, 2)
        selected = SentCells(level, groups, encoding, sent.value.parts)
        met = [row for row in rows if row["part"] in selected.parts_met]
        here = SimpleNamespace(value=pickle.loads(pickle.dumps(selected)))
        for found in count_cells(here, [pa.RecordBatch.from_pylist([row]) for row in met]):
            (row,) = found.to_pylist()
            selected.add(*(np.frombuffer(row[name], dtype=np.int64) for name in ("cells", "counts")))
        (by_value,) = selected.counts().values()
        judged = judge.cells(level, {shape: groups})[shape].confidential_counts
        assert by_value.confidential_counts.sum(axis=1).tolist() == judged.sum(axis=1).tolist()
        for cell in range(shape.cells):
            values = np.flatnonzero(np.asarray(shape.cell_of_value) == cell)
            assert by_value.confidential_counts[:, values].sum(axis=1).tolist() == judged[:, cell].tolist()


@pytest.mark.parametrize("wrong", ["a rule", "a misfit", "no text"])
def test_one_wrong_row_makes_the_verdict(sent, world, wrong: str) -> None:
    people = people_of(world)
    batch = batch_of(people, misfit=int(wrong == "a misfit"))
    if wrong != "a misfit":
        value = pa.array([b"116" if wrong == "a rule" else b"\xff"]).view(pa.string())
        ages = pa.concat_arrays([batch.column("QAGE")[1:], value])
        batch = batch.set_column(0, "QAGE", ages)
    *_, last = encode_rows(sent, [batch_of(people), batch])
    assert np.frombuffer(last.to_pylist()[0]["verdict"], dtype=np.int64)[0] == 0


def test_every_atom_is_in_one_part_and_no_part_in_two_states(encoding: Encoding) -> None:
    for wanted in (1, 7, 40):
        parts = parts_of(encoding.states, wanted)
        assert [part.first_atom for part in parts[1:]] == [part.end_atom for part in parts[:-1]]
        assert (parts[0].first_atom, parts[-1].end_atom) == (0, encoding.atom_count)
        assert {state.first_atom for state in encoding.states} <= {part.first_atom for part in parts}
    assert parts_of([StateAtoms(encoding.passes[0], 0, 10), StateAtoms(encoding.passes[0], 10, 12)], 4) == (
        *(StateAtoms(encoding.passes[0], first, end) for first, end in ((0, 3), (3, 6), (6, 10), (10, 12))),
    )
