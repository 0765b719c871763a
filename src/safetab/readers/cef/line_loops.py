"""The loops over bytes of lines: run as they stand for a few lines, compiled for many.

Every character is looked at once; what is no digit and no blank makes its field wrong, whatever it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]

BLANK, DIGIT_0, DIGIT_9, SEPARATOR, NO_DIGIT = 32, 48, 57, 124, 63
LOW_DIGITS = 10**17
NO_NUMBER, NOT_FOUND = -1, -1


def read_fields(  # noqa: C901, PLR0913, PLR0917 - a loop to be compiled takes plain arrays
    lines: Bytes, firsts: Int64s, ends: Int64s, may_be_blank: Flags, range_starts: Int64s, lows: Int64s,
    highs: Int64s, column_of: Int64s, numbers: Int64s, broken: Int64s,
) -> None:  # fmt: skip
    """Writes the number of each field that has a column, 0 for blanks, and sets bit f of `broken` if field f is wrong.

    Field f has the ranges at range_starts[f] up to range_starts[f + 1].
    """
    for row in range(len(lines)):
        wrong = np.int64(0)
        for field in range(len(firsts)):
            number, has_digits, has_ended, is_right = np.int64(0), False, False, True
            for at in range(firsts[field], ends[field]):
                character = lines[row, at]
                if character == BLANK:
                    has_ended = has_digits
                elif character < DIGIT_0 or character > DIGIT_9 or has_ended:
                    is_right = False
                else:
                    number = number * 10 + np.int64(character) - DIGIT_0
                    has_digits = True
            if is_right and has_digits:
                is_right = False
                for position in range(range_starts[field], range_starts[field + 1]):
                    if lows[position] <= number <= highs[position]:
                        is_right = True
            elif not has_digits and not may_be_blank[field]:
                is_right = False
            if not is_right:
                wrong |= np.int64(1) << field
            if column_of[field] >= 0:
                numbers[column_of[field], row] = number
        broken[row] = wrong


def read_long_numbers(lines: Bytes, first: int, end: int, highs: Int32s, lows: Int64s) -> None:
    """Writes a number of up to 22 digits as its last 18 and those in front; NO_NUMBER for what is none."""
    for row in range(len(lines)):
        high, low, has_digits, has_ended, is_right = np.int64(0), np.int64(0), False, False, True
        for at in range(first, end):
            character = lines[row, at]
            if character == BLANK:
                has_ended = has_digits
            elif character < DIGIT_0 or character > DIGIT_9 or has_ended:
                is_right = False
            else:
                high = high * 10 + low // LOW_DIGITS
                low = (low % LOW_DIGITS) * 10 + np.int64(character) - DIGIT_0
                has_digits = True
        is_number = is_right and has_digits
        highs[row] = high if is_number else NO_NUMBER
        lows[row] = low if is_number else NO_NUMBER


def spread_fields(  # noqa: C901, PLR0913, PLR0917
    text: Bytes, starts: Int64s, stops: Int64s, firsts: Int64s, ends: Int64s, lines: Bytes, is_shaped: Flags
) -> None:
    """Writes separated fields to their positions; a field that is too long becomes what no field may hold.

    A line with another number of fields is not shaped, and what is written of it means nothing.
    """
    for row in range(len(starts)):
        field, at = 0, starts[row]
        is_shaped[row] = True
        while at <= stops[row]:
            begin = at
            while at < stops[row] and text[at] != SEPARATOR:
                at += 1
            stop = at
            at += 1
            if field >= len(firsts):
                is_shaped[row] = False
                break
            while begin < stop and text[begin] == BLANK:
                begin += 1
            while stop > begin and text[stop - 1] == BLANK:
                stop -= 1
            width = ends[field] - firsts[field]
            length = stop - begin
            for position in range(width):
                from_end = width - position
                character = np.uint8(BLANK)
                if length > width:
                    character = np.uint8(NO_DIGIT)
                elif from_end <= length:
                    character = text[stop - from_end]
                lines[row, firsts[field] + position] = character
            field += 1
        if field != len(firsts):
            is_shaped[row] = False


def find_oids(highs: Int32s, lows: Int64s, listed_highs: Int32s, listed_lows: Int64s, found: Int32s) -> None:
    """Writes where each number is in the rising list, or NOT_FOUND."""
    for row in range(len(lows)):
        begin, end = np.int64(0), np.int64(len(listed_lows))
        while begin < end:
            middle = (begin + end) // 2
            is_below = listed_highs[middle] < highs[row] or (
                listed_highs[middle] == highs[row] and listed_lows[middle] < lows[row]
            )
            if is_below:
                begin = middle + 1
            else:
                end = middle
        is_there = begin < len(listed_lows) and listed_highs[begin] == highs[row] and listed_lows[begin] == lows[row]
        found[row] = begin if is_there else NOT_FOUND


def find_units(  # noqa: PLR0913, PLR0917
    mafids: Int64s, is_householder: Flags, shift: int, bucket_starts: Int64s, unit_mafids: Int32s, found: Int32s,
    persons: Int32s, householders: Int32s,
) -> None:  # fmt: skip
    """Writes the unit of each person, or NOT_FOUND, and counts the persons and householders of each unit.

    Units rise by MAFID; those whose MAFID, shifted, is b are at bucket_starts[b] up to bucket_starts[b + 1].
    """
    for row in range(len(mafids)):
        bucket = mafids[row] >> shift
        begin, end = bucket_starts[bucket], bucket_starts[bucket + 1]
        stop = end
        while begin < end:
            middle = (begin + end) // 2
            if unit_mafids[middle] < mafids[row]:
                begin = middle + 1
            else:
                end = middle
        if begin < stop and unit_mafids[begin] == mafids[row]:
            found[row] = begin
            persons[begin] += 1
            householders[begin] += is_householder[row]
        else:
            found[row] = NOT_FOUND
