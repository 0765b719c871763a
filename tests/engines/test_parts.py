"""Engines count right whatever the parts are, and however the ids of their entities lie between each other."""

import random
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from tests.engine_inputs import assert_counts_as, engine_inputs, local_engine, plain_engine
from tests.inside import (
    AIANNH,
    COUNTY,
    NATION,
    NO_ENTITY,
    PERSONS,
    PLACE,
    STATE,
    TRACT,
    US_PASS,
    Areas,
    RecordCounter,
    counter_module,
)
from tests.worlds.people import problems_with, write_random_world


def other_areas(areas, seed):
    """Six parts, the world's tracts; smaller areas with shuffled ids; regions of several whole parts."""
    rng = random.Random(seed)
    state, tract = (areas.number_of_area(kind) for kind in (STATE, TRACT))
    parts, part_of_area = np.unique(tract, return_inverse=True)
    shuffled = rng.sample(range(1000), len(parts))
    small = rng.sample(range(100_000), len(tract))
    number_of = {
        NATION: np.ones_like(tract),
        STATE: state,
        COUNTY: np.array(shuffled)[part_of_area],
        TRACT: np.array(small),
        PLACE: state * 10 + np.array([rng.choice([1, 2]) for _ in parts])[part_of_area],
        AIANNH: np.array(rng.sample([7, 7, 4, 4, 4, NO_ENTITY], len(parts)))[part_of_area],
    }
    if seed % 2:  # one of them is no longer whole
        number_of[AIANNH][rng.randrange(len(tract))] = NO_ENTITY
    return Areas.of_numbers(areas.smallest, number_of, COUNTY)


def inputs_with(inputs, areas):
    files = replace(inputs.files, geography_of_pass={**inputs.files.geography_of_pass, US_PASS: areas})
    return replace(inputs, files=files)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_any_parts_and_ids_are_counted_as_the_judge_counts(engine_of, seed, tmp_path):
    inputs = engine_inputs(write_random_world(tmp_path / "world", seed, people=150))
    inputs = inputs_with(inputs, other_areas(inputs.files.geography_of_pass[US_PASS], seed))
    assert_counts_as(plain_engine(inputs, tmp_path), engine_of(inputs), inputs)


def two_parts(areas):
    """One area after the other in two counties, the parts. Places and reservations lie in both."""
    number = np.arange(len(areas.number_of_area(TRACT)))
    one, in_both = np.ones_like(number), number // 2 % 3
    whole = {NATION: one, STATE: one, COUNTY: number % 2, TRACT: number}
    return Areas.of_numbers(areas.smallest, {**whole, PLACE: in_both, AIANNH: in_both}, COUNTY)


def do_at_once(_, pieces):
    """Do pieces as threads do at worst: each reads every cell before another one writes."""
    if not pieces:
        return
    cells = pieces[0].args[-1]
    before, after = cells.copy(), cells.copy()
    for piece in pieces:
        cells[:] = before
        piece()
        is_written = cells != before
        after[is_written] = cells[is_written]
    cells[:] = after
    pieces.clear()


def test_work_that_is_done_at_the_same_time_adds_to_different_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(counter_module, "_MANY_RECORDS", 0)  # a part is several pieces
    monkeypatch.setattr(RecordCounter, "_do", do_at_once)
    inputs = engine_inputs(write_random_world(tmp_path / "world", 0, people=150))
    inputs = inputs_with(inputs, two_parts(inputs.files.geography_of_pass[US_PASS]))
    judge = plain_engine(inputs, tmp_path)
    with closing(local_engine(inputs, tmp_path)) as engine:
        for each in (engine, judge):
            assert problems_with(each.check()) == ()
            each.prepare()
        for level in inputs.plan.levels:
            wanted = {PERSONS.finest: np.arange(level.universe.size)}
            cells, judged = (each.cells(level, wanted)[PERSONS.finest].confidential_counts for each in (engine, judge))
            assert cells.tolist() == judged.tolist(), level
