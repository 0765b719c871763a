"""The loops over persons, on plain integer arrays, compiled for many people; `person_arrays` is for a few.

They know nothing of rules or files; every number that goes in was looked up before, and -1 means "not valid".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Attributes = NDArray[np.unsignedinteger]

NEAR = 16
LEFT_OUT, NOT_DIGITS, NOT_LISTED = -1, -2, -3
"""Instead of an atom: a state that no pass has, a block that is no number, a block that the geography doesn't list."""


def atoms_of_rows(  # noqa: PLR0913, PLR0917 - a loop to be compiled takes plain arrays
    parts: Int32s, widths: Int64s, is_of_pass: NDArray[np.bool_], first_of_state: Int64s, blocks: Int64s,
    atom_of_block: Int32s, atoms: Int32s,
) -> None:  # fmt: skip
    """Writes the atom of each row, whose block is given by its four numbers: state, county, tract, block."""
    last_block, last_atom, low = np.int64(-1), np.int32(NOT_LISTED), np.int64(0)
    for row in range(len(atoms)):
        state = np.int64(parts[0, row])
        block = ((state * widths[1] + parts[1, row]) * widths[2] + parts[2, row]) * widths[3] + parts[3, row]
        if min(state, parts[1, row], parts[2, row], parts[3, row]) < 0:
            atoms[row] = NOT_DIGITS
            continue
        if block == last_block:
            atoms[row] = last_atom
            continue
        found, end = np.int32(LEFT_OUT), first_of_state[state + 1]
        if not is_of_pass[state]:
            low = first_of_state[state]
        else:
            if last_block < block and low < end:  # a file in the order of blocks: it is one of the next
                high = min(low + NEAR, end)
                if blocks[high - 1] < block:
                    low, high = high, end
            else:
                low, high = first_of_state[state], end
            while low < high:
                middle = (low + high) // 2
                if blocks[middle] < block:
                    low = middle + 1
                else:
                    high = middle
            found = atom_of_block[low] if low < end and blocks[low] == block else np.int32(NOT_LISTED)
        atoms[row] = found
        last_block, last_atom = block, found


def order_codes(codes: Int16s, most_codes: int, ordered: Int16s) -> None:
    """Writes what matters of each column of codes, as a row of its own.

    That is the set of the first `most_codes` race codes, rising, then zeros, and at the end the ethnicity code. The
    first number is -1 if the codes break a rule: one is not valid (-1), the first is 0, or one follows a 0, which is
    none.
    """
    for row in range(len(ordered)):
        ordered[row, :] = 0
        count, has_ended = 0, False
        is_right = bool(codes[0, row] > 0 and codes[8, row] > 0)
        for position in range(8):
            code = codes[position, row]
            if code == 0:
                has_ended = True
                continue
            if code < 0 or has_ended:
                is_right = False
            slot = count
            while slot > 0 and ordered[row, slot - 1] > code:
                slot -= 1
            if position >= most_codes or (slot > 0 and ordered[row, slot - 1] == code):
                continue
            for moved in range(count, slot, -1):
                ordered[row, moved] = ordered[row, moved - 1]
            ordered[row, slot] = code
            count += 1
        ordered[row, 8] = codes[8, row]
        if not is_right:
            ordered[row, 0] = -1


def number_patterns(  # noqa: C901, PLR0913, PLR0917
    ordered: Int16s, first_row: int, slots: Int32s, pattern_codes: Int16s, known: int, recent: Int32s,
    patterns: Int32s,
) -> tuple[int, int]:  # fmt: skip
    """Writes the pattern of each row of ordered codes from `first_row` on, or -1 if the first of them is negative.

    New patterns are numbered from `known` on and kept in `pattern_codes`; `slots` is a hash table of their numbers, -1
    where it is free. `recent` remembers patterns of one race code by their two codes, -1 where it remembers none.
    Returns the first row that was not reached for want of room, and the number of patterns.
    """
    mask, recent_mask = len(slots) - 1, len(recent) - 1
    for row in range(first_row, len(patterns)):
        if known >= len(pattern_codes):
            return row, known
        only, ethnicity = np.int64(ordered[row, 0]), np.int64(ordered[row, 8])
        if only < 0:
            patterns[row] = -1
            continue
        pair = (only * 37 + ethnicity) & recent_mask
        if ordered[row, 1] == 0:
            number = recent[pair]
            if number >= 0 and pattern_codes[number, 0] == only and pattern_codes[number, 8] == ethnicity:
                patterns[row] = number
                continue
        slot = np.int64(0)
        for position in range(9):
            slot = ((slot ^ np.int64(ordered[row, position])) * 0x5BD1E995) & 0x7FFFFFFFFFFF
            slot = (slot ^ (slot >> 29)) & 0x7FFFFFFF
        slot = (slot ^ (slot >> 15)) & mask
        is_found = False
        while not is_found and slots[slot] >= 0:
            is_found = True
            for position in range(9):
                if pattern_codes[slots[slot], position] != ordered[row, position]:
                    is_found = False
            if not is_found:
                slot = (slot + 1) & mask
        if not is_found:
            pattern_codes[known] = ordered[row]
            slots[slot] = known
            known += 1
        patterns[row] = slots[slot]
        if ordered[row, 1] == 0:
            recent[pair] = slots[slot]
    return len(patterns), known


def iterations_of_patterns(  # noqa: C901
    pattern_codes: Int16s, alone: Int32s, in_combination: Int32s, ethnicity: Int32s, starts: Int64s, found: Int32s
) -> None:
    """Writes the iterations of each pattern one after the other, and where each pattern's begin.

    Each row of a map is for one level and grain, and has for every code an iteration, or -1. Alone: all codes of the
    pattern lie in one and the same iteration.
    """
    count = 0
    for pattern in range(len(pattern_codes)):
        starts[pattern] = count
        for one_map in range(len(alone)):
            around = alone[one_map, pattern_codes[pattern, 0]]
            for step in range(10):  # eight race codes, then alone, then ethnicity
                iteration = np.int32(-1)
                if step < 8:
                    code = pattern_codes[pattern, step]
                    if code > 0:
                        iteration = in_combination[one_map, code]
                        if alone[one_map, code] != around:
                            around = np.int32(-1)
                elif step == 8:
                    iteration = around
                else:
                    iteration = ethnicity[one_map, pattern_codes[pattern, 8]]
                is_new = bool(iteration >= 0)
                for earlier in range(starts[pattern], count):
                    if found[earlier] == iteration:
                        is_new = False
                if is_new:
                    found[count] = iteration
                    count += 1
    starts[len(pattern_codes)] = count


def sort_by_atom(
    atoms: Int32s, patterns: Int32s, attributes: Attributes, starts: Int64s, sorted_patterns: Int32s,
    sorted_attributes: Attributes,
) -> None:  # fmt: skip
    """Puts the persons of each atom together: those of atom a are at starts[a] up to starts[a + 1]."""
    for person in range(len(atoms)):
        starts[atoms[person] + 1] += 1
    for atom in range(len(starts) - 1):
        starts[atom + 1] += starts[atom]
    for person in range(len(atoms) - 1, -1, -1):
        atom = atoms[person]
        starts[atom + 1] -= 1
        sorted_patterns[starts[atom + 1]] = patterns[person]
        sorted_attributes[starts[atom + 1]] = attributes[person]
    for atom in range(1, len(starts) - 1):
        starts[atom] = starts[atom + 1]
    starts[len(starts) - 1] = len(atoms)


def memberships(patterns: Int32s, list_starts: Int64s) -> int:
    """How many iterations all persons have together."""
    count = 0
    for person in range(len(patterns)):
        count += list_starts[patterns[person] + 1] - list_starts[patterns[person]]
    return count


def count_atoms(  # noqa: PLR0913, PLR0917
    starts: Int64s, patterns: Int32s, attributes: Attributes, list_starts: Int64s, lists: Int32s,
    by_attribute: Int32s, counted_starts: Int64s, iterations: Int32s, counts: Int32s,
) -> None:  # fmt: skip
    """Adds every person to each of their iterations: at their atom, and in the whole state by attribute.

    Atom a has the iterations and counts at counted_starts[a] up to counted_starts[a + 1], in no order.
    """
    found = 0
    counted_at = np.full(len(by_attribute), -1, dtype=np.int64)
    for atom in range(len(starts) - 1):
        counted_starts[atom] = found
        for person in range(starts[atom], starts[atom + 1]):
            pattern, attribute = patterns[person], attributes[person]
            for position in range(list_starts[pattern], list_starts[pattern + 1]):
                iteration = lists[position]
                by_attribute[iteration, attribute] += 1
                if counted_at[iteration] < counted_starts[atom]:
                    counted_at[iteration] = found
                    iterations[found] = iteration
                    counts[found] = 0
                    found += 1
                counts[counted_at[iteration]] += 1
    counted_starts[len(starts) - 1] = found


def add_atoms_to_entities(
    starts: Int64s, iterations: Int32s, counts: Int32s, entity_of_atom: Int64s, position_of_iteration: Int64s,
    totals: Int64s,
) -> None:  # fmt: skip
    """Adds the counts of atoms to those of their entities, for the iterations that a level has."""
    for atom in range(len(starts) - 1):
        entity = entity_of_atom[atom]
        if entity < 0:
            continue
        for counted in range(starts[atom], starts[atom + 1]):
            position = position_of_iteration[iterations[counted]]
            if position >= 0:
                totals[entity, position] += counts[counted]


def add_cells(  # noqa: PLR0913, PLR0917
    row_starts: Int64s, iteration_of_row: Int64s, begins: Int64s, ends: Int64s, atoms: Int64s, starts: Int64s,
    patterns: Int32s, attributes: Attributes, list_starts: Int64s, lists: Int32s, first_cell: Int64s,
    shape_of_row: Int64s, cell_of: Int32s, row_of_iteration: Int64s, cells: Int64s,
) -> None:  # fmt: skip
    """Adds the persons of some entities to the cells of those of their groups that have a row.

    Entity e has the rows row_starts[e] up to row_starts[e + 1] and the atoms at begins[e] up to ends[e]. A row's cells
    begin at first_cell[row]; cell_of its shape says which of them each attribute value is. `row_of_iteration` is -1
    everywhere, and is so again afterwards.
    """
    for entity in range(len(begins)):
        for row in range(row_starts[entity], row_starts[entity + 1]):
            row_of_iteration[iteration_of_row[row]] = row
        for position in range(begins[entity], ends[entity]):
            atom = atoms[position]
            for person in range(starts[atom], starts[atom + 1]):
                pattern = patterns[person]
                for listed in range(list_starts[pattern], list_starts[pattern + 1]):
                    row = row_of_iteration[lists[listed]]
                    if row >= 0:
                        cells[first_cell[row] + cell_of[shape_of_row[row], attributes[person]]] += 1
        for row in range(row_starts[entity], row_starts[entity + 1]):
            row_of_iteration[iteration_of_row[row]] = -1
