"""Array arithmetic for a few people writes what the loops for many write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from safetab.engines.local import counting_loops, person_arrays, person_loops
from safetab.engines.pattern_table import PatternTable, ThreadPatterns
from safetab.foundation import compiled

BOTH = (person_loops, person_arrays)
BOTH_COUNTING = (counting_loops, person_arrays)
SEEDS = pytest.mark.parametrize("seed", range(3))


@SEEDS
def test_rows_have_the_same_atoms(seed: int) -> None:
    source = np.random.default_rng(seed)
    parts = source.integers(-1, 4, (4, 400)).astype(np.int32)
    parts[0] = np.where(parts[0] < 0, -1, 10 + parts[0])
    widths = np.array([100, 10, 10, 10])
    all_blocks = 10_000 + np.flatnonzero(source.random(4_000) < 0.3)
    blocks = all_blocks[all_blocks % 10 < 4]
    is_of_pass = np.zeros(100, dtype=np.bool_)
    is_of_pass[[10, 11, 13]] = True
    first_of_state = np.searchsorted(blocks, np.arange(101) * 1_000)
    atom_of_block = source.permutation(len(blocks)).astype(np.int32)
    positions = tuple(source.permutation(400).astype(np.int32) for _ in parts)
    found = []
    for module in BOTH:
        atoms = np.empty(400, dtype=np.int32)
        module.atoms_of_rows(positions, tuple(parts), widths, is_of_pass, first_of_state, blocks, atom_of_block, atoms)
        found.append(atoms.tolist())
    assert found[0] == found[1]
    assert {-3, -2, -1} < set(found[0])  # each kind of row was there


def _codes(source: np.random.Generator, rows: int, codes: int) -> NDArray[np.int16]:
    """Mostly right: some are not valid, and some follow none."""
    drawn = source.integers(1, codes, (9, rows))
    ends = source.integers(1, 9, rows)
    drawn[:8][np.arange(8)[:, None] >= ends] = 0
    drawn[source.integers(0, 9, rows // 10), source.integers(0, rows, rows // 10)] = -1
    drawn[source.integers(0, 9, rows // 10), source.integers(0, rows, rows // 10)] = 0
    return drawn.astype(np.int16)


def _by_position(codes: NDArray[np.int16]) -> tuple[tuple[NDArray[np.int32], ...], tuple[NDArray[np.int16], ...]]:
    """Each column's different codes, and where those of each row are."""
    both = [np.unique(of_column, return_inverse=True) for of_column in codes]
    return tuple(at.astype(np.int32) for _, at in both), tuple(numbers for numbers, _ in both)


@SEEDS
@pytest.mark.parametrize("most_codes", [1, 3, 8])
def test_codes_have_the_same_order(seed: int, most_codes: int) -> None:
    codes = _codes(np.random.default_rng(seed), 500, 6)
    of_loop, of_arrays = (np.empty((500, 9), dtype=np.int16) for _ in BOTH)
    person_loops.order_codes(codes, most_codes, of_loop)
    person_arrays.order_codes(codes, most_codes, of_arrays)
    is_right = of_loop[:, 0] > 0
    assert 100 < is_right.sum() < 500
    assert np.array_equal(is_right, of_arrays[:, 0] > 0)
    assert np.array_equal(of_loop[is_right], of_arrays[is_right])


@SEEDS
def test_patterns_have_the_same_numbers_however_they_are_found(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = _codes(np.random.default_rng(seed), 3_000, 40)
    parts = np.array_split(codes, 3, axis=1)
    both = [PatternTable(8) for _ in BOTH]
    asked = [ThreadPatterns(one) for one in both]
    for number, part in enumerate(parts):
        monkeypatch.setattr(compiled, "_MUCH_FOR_ARRAYS", 1 << 40)
        by_arrays = asked[0].numbers_of_positions(*_by_position(part))
        assert np.array_equal(asked[0].numbers_of(part), by_arrays)
        assert (by_arrays < 0).any()
        if number == 1:  # the other goes on with what the loop left
            monkeypatch.setattr(compiled, "_MUCH_FOR_ARRAYS", 0)
            monkeypatch.setattr(compiled, "compiled", lambda loop: loop)
        assert np.array_equal(asked[1].numbers_of_positions(*_by_position(part)), by_arrays)
    assert both[0].count > 1_024  # room was made
    assert np.array_equal(both[0].codes, both[1].codes)


@SEEDS
def test_patterns_have_the_same_iterations(seed: int) -> None:
    source = np.random.default_rng(seed)
    patterns = np.sort(source.integers(0, 12, (200, 9)), axis=1)[:, ::-1].astype(np.int16).copy()
    patterns[:, 0] = np.maximum(patterns[:, 0], 1)
    maps = source.integers(-1, 3, (3, 4, 12)).astype(np.int32)
    found = []
    for module in BOTH:
        starts, lists = np.empty(201, dtype=np.int64), np.empty(200 * 40, dtype=np.int32)
        module.iterations_of_patterns(patterns, *maps, starts, lists)
        found.append((starts.tolist(), lists[: starts[-1]].tolist()))
    assert found[0] == found[1]


class People:
    """Of four atoms, three patterns with lists of up to five of six iterations, and seven attributes."""

    def __init__(self, seed: int, people: int) -> None:
        self.source = np.random.default_rng(seed)
        self.atoms = self.source.choice([0, 1, 3], people).astype(np.int32)  # nobody is in atom 2
        self.patterns = self.source.integers(0, 3, people).astype(np.int32)
        self.attributes = self.source.integers(0, 7, people).astype(np.uint8)
        lists = [np.sort(self.source.permutation(6)[:length]) for length in (0, 2, 5)]
        self.list_starts = np.array([0, 0, 2, 7])
        self.lists = np.concatenate(lists).astype(np.int32)

    def in_runs(self, module: Any) -> tuple[NDArray[Any], ...]:
        starts = np.zeros(5, dtype=np.int64)
        patterns, attributes = np.empty_like(self.patterns), np.empty_like(self.attributes)
        module.sort_by_atom(self.atoms, self.patterns, self.attributes, starts, patterns, attributes)
        run_starts, grouped = np.empty_like(starts), np.empty_like(attributes)
        run_patterns, run_people = np.empty_like(patterns), np.empty_like(patterns)
        no_run = np.full(3, -1, dtype=np.int32)
        module.group_by_pattern(starts, patterns, attributes, no_run, run_starts, run_patterns, run_people, grouped)
        runs = slice(int(run_starts[-1]))
        return starts, run_starts, run_patterns[runs], run_people[runs], grouped


@SEEDS
@pytest.mark.parametrize("people", [0, 1, 60])
def test_atoms_have_the_same_persons_and_counts(seed: int, people: int) -> None:
    world = People(seed, people)
    of_modules = []
    for module in BOTH_COUNTING:
        persons = world.in_runs(module)
        most = module.memberships(persons[2], world.list_starts)
        by_attribute, starts = np.zeros((6, 7), dtype=np.int32), np.empty(5, dtype=np.int64)
        counted = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        lists, no_place = (world.list_starts, world.lists), np.full(6, -1, dtype=np.int64)
        module.count_atoms(persons, *lists, starts, *counted, no_place)
        module.count_attributes(persons, *lists, np.zeros((2, 7), dtype=np.int32), by_attribute)
        counted = counted[0][: starts[-1]], counted[1][: starts[-1]]
        totals = np.zeros((2, 3), dtype=np.int64)
        entities, positions = np.array([1, -1, 0, 1]), np.array([0, -1, 1, 2, -1, -1])
        module.add_atoms_to_entities(starts, *counted, entities, positions, totals)
        added = person_arrays.totals_of_atoms(starts, *counted, entities, positions, 3)
        dense = np.zeros(6, dtype=np.int64)
        groups, sums = person_arrays.summed(*added)
        dense[groups] = sums
        assert dense.reshape(2, 3).tolist() == totals.tolist()
        assert groups.tolist() == np.flatnonzero(totals).tolist()
        by_atom = [
            sorted(zip(*(of[starts[atom] : starts[atom + 1]].tolist() for of in counted), strict=True))
            for atom in range(4)
        ]
        of_modules.append((*map(np.ndarray.tolist, persons), most, by_attribute.tolist(), by_atom, totals.tolist()))
    assert of_modules[0] == of_modules[1]
    assert people < 60 or np.array(of_modules[0][-1]).sum() > 20


@SEEDS
def test_remembered_patterns_are_the_same(seed: int) -> None:
    source = np.random.default_rng(seed)
    codes, others = np.array([1, 0, 2, -1, 4, 3], dtype=np.int16), np.array([7, 0], dtype=np.int16)
    positions = tuple(source.integers(0, 6 if at in {0, 8} else 2, 300).astype(np.int32) for at in range(9))
    for at in range(1, 8):
        positions[at][source.random(300) < 0.97] = 1
    pattern_codes = np.zeros((4, 9), dtype=np.int16)
    pattern_codes[:, 0], pattern_codes[:, 8] = (1, 2, 3, 4), (1, 2, 3, 1)
    recent, factor = np.full(64, -1, dtype=np.int32), person_loops.PAIR_FACTOR
    recent[[(code * factor + code) & 63 for code in (1, 2, 3)]] = (0, 1, 3)  # the last is of another pattern
    numbers, no_code = (codes, *[others] * 7, codes), np.array([-1, *[1] * 7, -1], dtype=np.int32)
    shared_number, found = np.array([-1, 5, 9, 7, 2], dtype=np.int32), []
    for module in BOTH:
        patterns = np.empty(300, dtype=np.int32)
        module.remembered_patterns(positions, numbers, no_code, recent, pattern_codes, shared_number, patterns)
        found.append(patterns.tolist())
    assert found[0] == found[1]
    assert set(found[0]) == {5, 9, -1}


@SEEDS
def test_rows_have_the_same_codes_and_sums(seed: int) -> None:
    source = np.random.default_rng(seed)
    positions, numbers = _by_position(_codes(source, 300, 40))
    rows = np.flatnonzero(source.random(300) < 0.3)
    found = []
    for module in BOTH:
        codes, sums = np.empty((9, len(rows)), dtype=np.int16), np.arange(300, dtype=np.int16)
        module.codes_of_rows(positions, numbers, rows, codes)
        for at, of_column in zip(positions, numbers, strict=True):
            module.add_numbers(at, of_column, sums)
        found.append((codes.tolist(), sums.tolist()))
    assert found[0] == found[1]
    assert found[0][0] == [of_column[at[rows]].tolist() for at, of_column in zip(positions, numbers, strict=True)]


@SEEDS
def test_selected_groups_have_the_same_cells(seed: int) -> None:
    world = People(seed, 80)
    persons = world.in_runs(counting_loops)
    # three entities: atoms 1 and 3, none, atom 0; rows 2 to 7 are theirs, of two shapes
    row_starts, iteration_of_row = np.array([2, 4, 5, 7]), np.array([0, 0, 5, 1, 2, 0, 3, 1])
    begins, ends, atoms = np.array([1, 3, 3]), np.array([3, 3, 4]), np.array([2, 1, 3, 0])
    shape_of_row = np.array([0, 0, 0, 1, 0, 1, 0, 1])
    cell_of = np.array([[0, 0, 1, 1, 2, 2, 2], [0, 0, 0, 0, 0, 0, 0]], dtype=np.int32)
    sizes = np.array([3, 1])[shape_of_row]
    found = []
    for module in BOTH_COUNTING:
        cells, free = np.zeros(sizes.sum(), dtype=np.int64), np.full(6, -1, dtype=np.int64)
        module.add_cells(
            row_starts, iteration_of_row, begins, ends, atoms, persons, world.list_starts, world.lists,
            np.cumsum(sizes) - sizes, shape_of_row, cell_of, free, cells,
        )  # fmt: skip
        found.append(cells.tolist())
        assert (free == -1).all()
    assert found[0] == found[1]
    assert sum(found[0]) > 10
