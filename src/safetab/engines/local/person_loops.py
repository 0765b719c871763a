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
PAIR_FACTOR = 40_503  # spreads race codes: pairs of codes that are close to each other are remembered apart
LEFT_OUT, NOT_DIGITS, NOT_LISTED = -1, -2, -3
"""Instead of an atom: a state that no pass has, a block that is no number, a block that the geography doesn't list."""


def atoms_of_rows(  # noqa: PLR0913, PLR0917 - a loop to be compiled takes plain arrays
    positions: tuple[Int32s, ...], numbers: tuple[Int32s, ...], widths: Int64s, is_of_pass: NDArray[np.bool_],
    first_of_state: Int64s, blocks: Int64s, atom_of_block: Int32s, atoms: Int32s,
) -> None:  # fmt: skip
    """Writes the atom of each row, whose block is four numbers: state, county, tract, block.

    `positions` says for each row where its numbers are in `numbers`.
    """
    at_state, at_county, at_tract, at_block = positions
    last_block, last_atom, low = np.int64(-1), np.int32(NOT_LISTED), np.int64(0)
    for row in range(len(atoms)):
        if row > 0 and (
            at_block[row] == at_block[row - 1] and at_tract[row] == at_tract[row - 1]
            and at_county[row] == at_county[row - 1] and at_state[row] == at_state[row - 1]
        ):  # fmt: skip
            atoms[row] = atoms[row - 1]
            continue
        state, county = np.int64(numbers[0][at_state[row]]), numbers[1][at_county[row]]
        tract, number = numbers[2][at_tract[row]], numbers[3][at_block[row]]
        if min(state, county, tract, number) < 0:
            atoms[row] = NOT_DIGITS
            continue
        block = ((state * widths[1] + county) * widths[2] + tract) * widths[3] + number
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


def remembered_patterns(  # noqa: PLR0913, PLR0917
    positions: tuple[Int32s, ...], numbers: tuple[Int16s, ...], no_code: Int32s, recent: Int32s,
    pattern_codes: Int16s, shared_number: Int32s, patterns: Int32s,
) -> None:  # fmt: skip
    """Writes the pattern of each row that has one race code and is remembered; -1 for all others.

    `positions` says where in `numbers` the codes of a row are, eight of race and one of ethnicity; `no_code` where a
    column has what is none. `recent` is that of `number_patterns`, `shared_number` has -1 and then what to write for
    each pattern. Most people have one race code, and few combinations of it with an ethnicity.
    """
    first, second, third, fourth, fifth, sixth, seventh, eighth, last = positions
    races, ethnicities, mask = numbers[0], numbers[8], len(recent) - 1
    no_2, no_3, no_4, no_5, no_6, no_7, no_8 = (
        no_code[1], no_code[2], no_code[3], no_code[4], no_code[5], no_code[6], no_code[7],
    )  # fmt: skip
    for row in range(len(patterns)):
        others = (second[row] ^ no_2) | (third[row] ^ no_3) | (fourth[row] ^ no_4) | (fifth[row] ^ no_5)
        others |= (sixth[row] ^ no_6) | (seventh[row] ^ no_7) | (eighth[row] ^ no_8)
        only, ethnicity = np.int64(races[first[row]]), np.int64(ethnicities[last[row]])
        number = recent[(only * PAIR_FACTOR + ethnicity) & mask]
        if others or number < 0 or pattern_codes[number, 0] != only or pattern_codes[number, 8] != ethnicity:
            number = np.int32(-1)
        patterns[row] = shared_number[number + 1]


def codes_of_rows(positions: tuple[Int32s, ...], numbers: tuple[Int16s, ...], rows: Int64s, codes: Int16s) -> None:
    """Writes a column of codes for each of these rows; `positions` says where its codes are in `numbers`.

    The arrays of `positions` are of one type, and none or all of them may be written to.
    """
    for column in range(len(codes)):
        at, of_column = positions[column], numbers[column]
        for place in range(len(rows)):
            codes[column, place] = of_column[at[rows[place]]]


def add_numbers(positions: Int32s, numbers: NDArray[np.signedinteger], sums: NDArray[np.signedinteger]) -> None:
    """Adds to each row's sum the number at its position."""
    for row in range(len(sums)):
        sums[row] += numbers[positions[row]]


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
        pair = (only * PAIR_FACTOR + ethnicity) & recent_mask
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
