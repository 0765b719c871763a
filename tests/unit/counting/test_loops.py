"""The loops over records write what plain Python, record by record, says they must."""

from collections import Counter

import numpy as np
import pytest

from tests.cases import digits_in, values_of
from tests.inside import (
    US_PASS,
    PatternTable,
    SortedRecords,
    ThreadPatterns,
    counter_module,
    encoder_module,
    part_records_module,
    patterns_module,
)

SEEDS = pytest.mark.parametrize("seed", range(3))


@SEEDS
def test_every_row_has_the_atom_of_its_block(seed):
    source = np.random.default_rng(seed)
    parts = source.integers(-1, 4, (4, 400)).astype("int32")
    parts[0] = np.where(parts[0] < 0, -1, 10 + parts[0])
    all_blocks = 10_000 + np.flatnonzero(source.random(4_000) < 0.3)
    blocks = all_blocks[all_blocks % 10 < 4]
    is_of_pass = np.zeros(100, bool)
    is_of_pass[[10, 11, 13]] = True
    first_of_state = np.searchsorted(blocks, np.arange(101) * 1_000)
    atom_of_block = source.permutation(len(blocks)).astype("int32")
    positions = tuple(source.permutation(400).astype("int32") for _ in parts)
    lookup = np.array([100, 10, 10, 10]), is_of_pass, first_of_state, blocks, atom_of_block
    atoms = np.empty(400, "int32")
    encoder_module.atoms_of_rows(positions, tuple(parts), *lookup, atoms)
    atom_of = dict(zip(blocks.tolist(), atom_of_block.tolist(), strict=True))

    def expected(row):
        state, county, tract, block = (int(part[at[row]]) for part, at in zip(parts, positions, strict=True))
        if min(state, county, tract, block) < 0:
            return encoder_module.NOT_DIGITS
        number = ((state * 10 + county) * 10 + tract) * 10 + block
        return atom_of.get(number, encoder_module.NOT_LISTED) if state in {10, 11, 13} else encoder_module.LEFT_OUT

    assert atoms.tolist() == [expected(row) for row in range(400)]
    assert {-3, -2, -1} < set(atoms.tolist())  # each kind of row was there


def _codes(source, rows, codes):
    """Mostly right: some are not valid, and some follow an absent one."""
    drawn = source.integers(1, codes, (9, rows))
    drawn[:8][np.arange(8)[:, None] >= source.integers(1, 9, rows)] = 0
    drawn[source.integers(0, 9, rows // 10), source.integers(0, rows, rows // 10)] = -1
    drawn[source.integers(0, 9, rows // 10), source.integers(0, rows, rows // 10)] = 0
    return drawn.astype("int16")


def _pattern_of(codes, most_codes):
    """The ordered codes of one record, or None if they break a rule."""
    *races, ethnicity = codes
    given = [code for code in races if code]
    if ethnicity <= 0 or not races[0] or min(codes) < 0 or races[: len(given)] != given:
        return None
    kept = sorted(set(races[:most_codes]) - {0})
    return *kept, *[0] * (8 - len(kept)), ethnicity


def _by_position(codes):
    """Each column's different codes, and where those of each row are."""
    both = [np.unique(of_column, return_inverse=True) for of_column in codes]
    return tuple(at.astype("int32") for _, at in both), tuple(numbers for numbers, _ in both)


@SEEDS
@pytest.mark.parametrize("most_codes", [1, 3, 8])
def test_codes_are_ordered_as_a_set(seed, most_codes):
    codes = _codes(np.random.default_rng(seed), 500, 6)
    ordered = np.empty((500, 9), "int16")
    patterns_module.order_codes(codes, most_codes, ordered)
    found = [tuple(row) if row[0] > 0 else None for row in ordered.tolist()]
    assert found == [_pattern_of(row, most_codes) for row in codes.T.tolist()]
    assert 100 < sum(one is not None for one in found) < 500


@SEEDS
def test_patterns_are_numbered_as_they_are_met_in_whatever_thread(seed):
    codes = _codes(np.random.default_rng(seed), 3_000, 40)
    shared = PatternTable(8)
    threads = [ThreadPatterns(shared) for _ in range(2)]
    number_of = {}
    for turn, part in enumerate(np.array_split(codes, 6, axis=1)):
        found = threads[turn % 2].numbers_of_positions(*_by_position(part))
        assert np.array_equal(threads[turn % 2].numbers_of(part), found)  # remembered ones, too
        for number, row in zip(found.tolist(), part.T.tolist(), strict=True):
            pattern = _pattern_of(row, 8)
            assert number == (-1 if pattern is None else number_of.setdefault(pattern, number))
            assert pattern is None or tuple(shared.codes[number].tolist()) == pattern
    assert len(set(number_of.values())) == len(number_of) == shared.count > 1_024  # room was made


@SEEDS
def test_a_pattern_has_each_iteration_of_its_codes_once(seed):
    source = np.random.default_rng(seed)
    codes = np.sort(source.integers(0, 12, (200, 9)), axis=1)[:, ::-1].astype("int16").copy()
    codes[:, 0] = np.maximum(codes[:, 0], 1)
    alone, in_combination, ethnicity = source.integers(-1, 3, (3, 4, 12)).astype("int32")
    starts, lists = np.empty(201, int), np.empty(200 * 40, "int32")
    patterns_module.iterations_of_patterns(codes, alone, in_combination, ethnicity, starts, lists)
    for number, (*races, ethnic) in enumerate(codes.tolist()):
        expected = set()
        for level in range(4):
            expected |= {int(in_combination[level, code]) for code in races if code}
            around = {int(alone[level, code]) for code in races if code}
            expected |= around if len(around) == 1 else set()
            expected.add(int(ethnicity[level, ethnic]))
        assert sorted(lists[starts[number] : starts[number + 1]].tolist()) == sorted(expected - {-1})


class World:
    """Records of four atoms, three patterns with lists of up to five of six iterations, and seven attributes."""

    def __init__(self, seed, records):
        source = np.random.default_rng(seed)
        self.atoms = source.choice([0, 1, 3], records).astype("int32")  # atom 2 has no record
        self.patterns = source.integers(0, 3, records).astype("int32")
        self.attributes = source.integers(0, 7, records).astype("uint8")
        lists = [np.sort(source.permutation(6)[:length]) for length in (0, 2, 5)]
        self.lists = patterns_module.IterationLists(np.array([0, 0, 2, 7]), np.concatenate(lists).astype("int32"))
        self.rows = list(zip(self.atoms.tolist(), self.patterns.tolist(), self.attributes.tolist(), strict=True))
        self.memberships = [
            (atom, one, attribute) for atom, pattern, attribute in self.rows for one in lists[pattern].tolist()
        ]
        """Atom, iteration and attribute, for each iteration that a record is in."""

    def sorted(self):
        starts = np.zeros(5, int)
        of_atoms, attributes = np.empty_like(self.patterns), np.empty_like(self.attributes)
        part_records_module.sort_by_atom(self.atoms, self.patterns, self.attributes, starts, of_atoms, attributes)
        run_starts, run_patterns, run_sizes, grouped = map(np.empty_like, (starts, of_atoms, of_atoms, attributes))
        runs = np.full(3, -1, "int32"), run_starts, run_patterns, run_sizes, grouped
        part_records_module.group_by_pattern(starts, of_atoms, attributes, *runs)
        end = int(run_starts[-1])
        return SortedRecords(starts, run_starts, run_patterns[:end], run_sizes[:end], grouped)


@SEEDS
@pytest.mark.parametrize("records", [0, 1, 60])
def test_sorted_records_are_the_same_records(seed, records):
    world = World(seed, records)
    made, found = world.sorted(), []
    for atom in range(4):
        at, runs = made.starts[atom], slice(made.run_starts[atom], made.run_starts[atom + 1])
        patterns = made.run_patterns[runs].tolist()
        assert len({*patterns}) == len(patterns)
        for pattern, size in zip(patterns, made.run_sizes[runs].tolist(), strict=True):
            found += [(atom, pattern, attribute) for attribute in made.attributes[at : at + size].tolist()]
            at += size
        assert at == made.starts[atom + 1]
    assert sorted(found) == sorted(world.rows)


@SEEDS
@pytest.mark.parametrize("records", [0, 1, 60])
def test_every_record_is_counted_in_each_of_its_iterations(seed, records):
    world = World(seed, records)
    made, members = world.sorted(), world.memberships
    by_attribute, starts = np.zeros((6, 7), "int32"), np.empty(5, int)
    iterations, counts = (np.empty(len(members), "int32") for _ in range(2))
    counter_module.count_atoms(made, world.lists, starts, iterations, counts, np.full(6, -1, int))
    counter_module.count_attributes(made, world.lists, np.zeros((2, 7), "int32"), by_attribute)
    atoms, found = np.repeat(np.arange(4), np.diff(starts)), Counter()
    for atom, iteration, count in zip(atoms.tolist(), iterations[: starts[-1]].tolist(), counts.tolist(), strict=False):
        found[atom, iteration] += count
    assert found == Counter((atom, iteration) for atom, iteration, _ in members)
    expected = np.zeros_like(by_attribute)
    for _, iteration, attribute in members:
        expected[iteration, attribute] += 1
    assert by_attribute.tolist() == expected.tolist()
    _compare_totals(made, (starts, iterations[: starts[-1]], counts[: starts[-1]]), members)


def _compare_totals(made, counted, members):
    """The dense and the sparse way to add up atoms to entities."""
    entities, positions = np.array([1, -1, 0, 1]), np.array([0, -1, 1, 2, -1, -1])
    expected, totals = np.zeros((2, 2, 3), int)
    for atom, iteration, _ in members:
        if entities[atom] >= 0 and positions[iteration] >= 0:
            expected[entities[atom], positions[iteration]] += 1
    counter_module.add_atoms_to_entities(*counted, entities, positions, totals)
    assert totals.tolist() == expected.tolist()
    state = counter_module.CountedPart(US_PASS, slice(0, 4), made, *counted, np.zeros((6, 7), "int32"))
    groups, sums = counter_module._summed(*counter_module._groups_of_atoms(state, entities, positions, 3))
    assert groups.tolist() == np.flatnonzero(expected).tolist()
    assert sums.tolist() == expected[expected > 0].tolist()


@SEEDS
def test_selected_groups_have_the_cells_of_their_records(seed):
    world = World(seed, 80)
    # three entities: atoms 1 and 3, none, atom 0; rows 2 to 6 are theirs, of two shapes
    row_starts, iteration_of_row, shape_of_row = map(np.array, digits_in("2457 00512031 00010101"))
    begins, ends, atoms = map(np.array, digits_in("133 334 2130"))
    cell_of = np.int32(digits_in("0011222 0000000"))
    sizes = np.array([3, 1])[shape_of_row]
    first_cell = np.cumsum(sizes) - sizes
    expected, cells = np.zeros((2, sizes.sum()), int)
    free = np.full(6, -1, int)
    counter_module.add_cells(
        row_starts, iteration_of_row, begins, ends, atoms, world.sorted(), world.lists, first_cell, shape_of_row,
        cell_of, free, cells,
    )  # fmt: skip
    row_of = dict(
        values_of(
            """
            (1, 5) | 2
            (3, 5) | 2
            (1, 1) | 3
            (3, 1) | 3
            (0, 0) | 5
            (0, 3) | 6
            """
        )
    )
    for *group, attribute in world.memberships:
        if tuple(group) in row_of:
            row = row_of[tuple(group)]
            expected[first_cell[row] + cell_of[shape_of_row[row], attribute]] += 1
    assert cells.tolist() == expected.tolist()
    assert cells.sum() > 10
    assert (free == -1).all()
