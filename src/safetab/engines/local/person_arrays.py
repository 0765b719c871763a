"""What the loops over persons do, as arithmetic on whole arrays: for a few people, who are not worth a compiler.

Each function takes what the loop of its name in `person_loops` or `counting_loops` takes, and writes the same numbers;
integers alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.engines.local.counting_loops import RunsOfPersons
from safetab.engines.local.person_loops import (
    LEFT_OUT,
    NOT_DIGITS,
    NOT_LISTED,
    PAIR_FACTOR,
    Attributes,
    Int16s,
    Int32s,
    Int64s,
)

_CODE_END = np.int16(32_767)
"""Above every code: sorts what is none behind them."""


def atoms_of_rows(  # noqa: PLR0913, PLR0917 - what the loop takes
    positions: tuple[Int32s, ...], numbers: tuple[Int32s, ...], widths: Int64s, is_of_pass: NDArray[np.bool_],
    first_of_state: Int64s, blocks: Int64s, atom_of_block: Int32s, atoms: Int32s,  # noqa: ARG001
) -> None:  # fmt: skip
    parts = np.stack([of_part[at] for of_part, at in zip(numbers, positions, strict=True)])
    block = parts[0].astype(np.int64)
    for part in range(1, 4):
        block = block * widths[part] + parts[part]
    is_number = parts.min(axis=0) >= 0
    atoms[:] = NOT_LISTED
    if len(blocks):
        found = np.minimum(np.searchsorted(blocks, block), len(blocks) - 1)
        np.copyto(atoms, atom_of_block[found], where=blocks[found] == block)
    atoms[~is_of_pass[np.where(is_number, parts[0], 0)]] = LEFT_OUT
    atoms[~is_number] = NOT_DIGITS


def remembered_patterns(  # noqa: PLR0913, PLR0917
    positions: tuple[Int32s, ...], numbers: tuple[Int16s, ...], no_code: Int32s, recent: Int32s,
    pattern_codes: Int16s, shared_number: Int32s, patterns: Int32s,
) -> None:  # fmt: skip
    only, ethnicity = (numbers[at][positions[at]].astype(np.int64) for at in (0, 8))
    number = recent[(only * PAIR_FACTOR + ethnicity) & (len(recent) - 1)]
    is_remembered = (number >= 0) & (pattern_codes[number, 0] == only) & (pattern_codes[number, 8] == ethnicity)
    for at in range(1, 8):
        is_remembered &= positions[at] == no_code[at]
    patterns[:] = shared_number[np.where(is_remembered, number, -1) + 1]


def codes_of_rows(positions: tuple[Int32s, ...], numbers: tuple[Int16s, ...], rows: Int64s, codes: Int16s) -> None:
    for of_column, at, written in zip(numbers, positions, codes, strict=True):
        written[:] = of_column[at[rows]]


def add_numbers(positions: Int32s, numbers: NDArray[np.signedinteger], sums: NDArray[np.signedinteger]) -> None:
    sums += numbers[positions]


def order_codes(codes: Int16s, most_codes: int, ordered: Int16s) -> None:
    races = codes[:8].T
    has_ended = np.logical_or.accumulate(races == 0, axis=1)
    is_right = (races[:, 0] > 0) & (codes[8] > 0) & ~((races < 0) | (has_ended & (races != 0))).any(axis=1)
    kept = np.where(races == 0, _CODE_END, races)
    kept[:, most_codes:] = _CODE_END
    kept.sort(axis=1)
    kept[:, 1:][kept[:, 1:] == kept[:, :-1]] = _CODE_END
    kept.sort(axis=1)
    ordered[:, :8] = np.where(kept == _CODE_END, 0, kept)
    ordered[:, 8] = codes[8]
    ordered[~is_right, 0] = -1


def number_patterns(  # noqa: PLR0913, PLR0917
    ordered: Int16s, first_row: int, slots: Int32s, pattern_codes: Int16s, known: int, recent: Int32s,  # noqa: ARG001
    patterns: Int32s,
) -> tuple[int, int]:  # fmt: skip
    """The loop's hash table, which each different row is looked for in once; nothing need be remembered as recent."""
    rows, mask = ordered[first_row:], len(slots) - 1
    firsts, which = _different_rows(rows)
    different = rows[firsts]
    numbers = np.full(len(firsts), -1, dtype=np.int32)
    hashes = (_hashes(different) & mask).tolist()
    for at in np.flatnonzero(different[:, 0] >= 0).tolist():
        if known >= len(pattern_codes):
            reached = firsts[at]
            patterns[first_row : first_row + reached] = numbers[which[:reached]]
            return first_row + int(reached), known
        slot, row = hashes[at], different[at].tobytes()
        while slots[slot] >= 0 and pattern_codes[slots[slot]].tobytes() != row:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            pattern_codes[known], slots[slot] = different[at], known
            known += 1
        numbers[at] = slots[slot]
    patterns[first_row:] = numbers[which]
    return len(patterns), known


def _different_rows(rows: Int16s) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    words = np.zeros((len(rows), 12), dtype=np.int16)
    words[:, :9] = rows
    return _different(words.view(np.int64).T)


def _different(keys: Int64s) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each different column is first met, in this order; and for every column which of them it is."""
    columns = keys.shape[1]
    order = np.lexsort(keys)  # stable: equal ones stay in their order
    is_first = np.ones(columns, dtype=np.bool_)
    is_first[1:] = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    firsts = order[is_first]
    by_appearance = np.argsort(firsts)
    which = np.empty(columns, dtype=np.intp)
    which[order] = _inverse(by_appearance)[np.cumsum(is_first) - 1]
    return firsts[by_appearance], which


def _inverse(order: NDArray[np.intp]) -> NDArray[np.intp]:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _hashes(rows: Int16s) -> Int64s:
    """Those of the loop, before it cuts them to the size of the table."""
    hashes = np.zeros(len(rows), dtype=np.int64)
    for position in range(9):
        hashes = ((hashes ^ rows[:, position]) * 0x5BD1E995) & 0x7FFFFFFFFFFF
        hashes = (hashes ^ (hashes >> 29)) & 0x7FFFFFFF
    return hashes ^ (hashes >> 15)


def iterations_of_patterns(
    pattern_codes: Int16s, alone: Int32s, in_combination: Int32s, ethnicity: Int32s, starts: Int64s, found: Int32s
) -> None:
    columns = [
        column
        for of_map in zip(alone, in_combination, ethnicity, strict=True)
        for column in _iterations_of_map(pattern_codes, *of_map)
    ]
    by_pattern = np.stack(columns, axis=1)
    is_new = by_pattern >= 0
    for step in range(1, len(columns)):
        is_new[:, step] &= ~(by_pattern[:, :step] == by_pattern[:, step, None]).any(axis=1)
    starts[0] = 0
    np.cumsum(is_new.sum(axis=1), out=starts[1:])
    found[: starts[-1]] = by_pattern[is_new]


def _iterations_of_map(codes: Int16s, alone: Int32s, in_combination: Int32s, ethnicity: Int32s) -> list[Int32s]:
    """For each pattern: eight in combination, one alone, one ethnicity; -1 for none."""
    races = codes[:, :8]
    is_code = races > 0
    combined = np.where(is_code, in_combination[races], np.int32(-1))
    around = alone[races[:, 0]]
    is_alone = (~is_code | (alone[races] == around[:, None])).all(axis=1)
    return [*combined.T, np.where(is_alone, around, np.int32(-1)), ethnicity[codes[:, 8]]]


def sort_by_atom(
    atoms: Int32s, patterns: Int32s, attributes: Attributes, starts: Int64s, sorted_patterns: Int32s,
    sorted_attributes: Attributes,
) -> None:  # fmt: skip
    order = np.argsort(atoms, kind="stable")
    starts[:] = np.searchsorted(atoms[order], np.arange(len(starts)))
    sorted_patterns[:] = patterns[order]
    sorted_attributes[:] = attributes[order]


def group_by_pattern(  # noqa: PLR0913, PLR0917
    starts: Int64s, patterns: Int32s, attributes: Attributes, run_of_pattern: Int32s, run_starts: Int64s,  # noqa: ARG001
    run_patterns: Int32s, run_people: Int32s, grouped: Attributes,
) -> None:  # fmt: skip
    of_atom = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    firsts, run = _different(np.stack([of_atom, patterns.astype(np.int64)]))
    run_patterns[: len(firsts)] = patterns[firsts]
    run_people[: len(firsts)] = np.bincount(run, minlength=len(firsts))
    run_starts[:] = np.searchsorted(of_atom[firsts], np.arange(len(starts)))
    grouped[:] = attributes[np.argsort(run, kind="stable")]


def memberships(run_patterns: Int32s, list_starts: Int64s) -> int:
    return int((list_starts[run_patterns + 1] - list_starts[run_patterns]).sum())


def count_atoms(  # noqa: PLR0913, PLR0917
    persons: RunsOfPersons, list_starts: Int64s, lists: Int32s, counted_starts: Int64s, iterations: Int32s,
    counts: Int32s, counted_at: Int64s,
) -> None:  # fmt: skip
    _, run_starts, run_patterns, run_people, _ = persons
    of_atom, width = np.repeat(np.arange(len(run_starts) - 1), np.diff(run_starts)), len(counted_at)
    run, position = _spread(list_starts[run_patterns], list_starts[run_patterns + 1])
    members = of_atom[run] * width + lists[position]
    order = np.argsort(members)
    members = members[order]
    firsts = np.flatnonzero(np.append(True, members[1:] != members[:-1])) if len(members) else np.empty(0, np.intp)
    found = members[firsts]
    iterations[: len(found)] = found % width
    counts[: len(found)] = np.add.reduceat(run_people[run][order], firsts) if len(found) else 0
    counted_starts[:] = np.searchsorted(found, np.arange(len(run_starts)) * width)


def count_attributes(
    persons: RunsOfPersons, list_starts: Int64s, lists: Int32s, by_pattern: Int32s,  # noqa: ARG001
    by_attribute: Int32s,
) -> None:  # fmt: skip
    """Each person is added to their iterations at once; nothing is counted by pattern before."""
    _, _, run_patterns, run_people, attributes = persons
    patterns = np.repeat(run_patterns, run_people)
    person, position = _spread(list_starts[patterns], list_starts[patterns + 1])
    np.add.at(by_attribute, (lists[position], attributes[person]), 1)


def _spread(begins: Int64s, ends: Int64s) -> tuple[Int64s, Int64s]:
    """All numbers from each begin up to its end, and before them which of the ranges each is of."""
    lengths = ends - begins
    of_range = np.repeat(np.arange(len(begins)), lengths)
    before = np.cumsum(lengths) - lengths
    return of_range, np.arange(len(of_range)) + (begins - before)[of_range]


def add_atoms_to_entities(
    starts: Int64s, iterations: Int32s, counts: Int32s, entity_of_atom: Int64s, position_of_iteration: Int64s,
    totals: Int64s,
) -> None:  # fmt: skip
    entity = np.repeat(entity_of_atom, np.diff(starts))
    position = position_of_iteration[iterations]
    is_there = (entity >= 0) & (position >= 0)
    np.add.at(totals, (entity[is_there], position[is_there]), counts[is_there])


def totals_of_atoms(
    starts: Int64s, iterations: Int32s, counts: Int32s, entity_of_atom: Int64s, position_of_iteration: Int64s,
    width: int,
) -> tuple[Int64s, Int64s]:  # fmt: skip
    """What `add_atoms_to_entities` adds, and to which group: its entity times `width`, and its position there."""
    entity = np.repeat(entity_of_atom, np.diff(starts))
    position = position_of_iteration[iterations]
    is_there = (entity >= 0) & (position >= 0)
    return entity[is_there] * width + position[is_there], counts[is_there].astype(np.int64)


def summed(groups: Int64s, counts: Int64s) -> tuple[Int64s, Int64s]:
    """Each group once, rising, with the sum of its counts."""
    if not len(groups):
        return groups, counts
    order = np.argsort(groups)
    firsts = np.flatnonzero(np.append(True, np.diff(groups[order]) != 0))
    return groups[order][firsts], np.add.reduceat(counts[order], firsts)


def add_cells(  # noqa: PLR0913, PLR0917
    row_starts: Int64s, iteration_of_row: Int64s, begins: Int64s, ends: Int64s, atoms: Int64s, persons: RunsOfPersons,
    list_starts: Int64s, lists: Int32s, first_cell: Int64s, shape_of_row: Int64s, cell_of: Int32s,
    row_of_iteration: Int64s, cells: Int64s,
) -> None:  # fmt: skip
    starts, _, run_patterns, run_people, attributes = persons
    patterns = np.repeat(run_patterns, run_people)
    of_row, row = _spread(row_starts[:-1], row_starts[1:])
    width = len(row_of_iteration)
    groups = of_row * width + iteration_of_row[row]
    order = np.argsort(groups)
    of_atom, position = _spread(begins, ends)
    of_person, person = _spread(starts[atoms[position]], starts[atoms[position] + 1])
    of_member, listed = _spread(list_starts[patterns[person]], list_starts[patterns[person] + 1])
    members = of_atom[of_person][of_member] * width + lists[listed]
    at = np.searchsorted(groups[order], members)
    is_there = np.append(groups[order], -1)[at] == members
    found = row[order][at[is_there]]
    attribute = attributes[person][of_member[is_there]]
    np.add.at(cells, first_cell[found] + cell_of[shape_of_row[found], attribute], 1)
