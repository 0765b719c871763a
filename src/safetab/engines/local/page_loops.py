"""The loops that read pages of a Parquet file, compiled. No byte is read outside of what they are given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.engines.local.person_loops import Int32s, Int64s

Bytes = NDArray[np.uint8]

PAGE_KIND, UNCOMPRESSED_BYTES, COMPRESSED_BYTES, CHECKSUM, ROWS, ENCODING, LEVEL_ENCODING, FIRST_BYTE = range(8)
PAGE_FACTS = 8
NOT_SAID = -1 << 40
"""Instead of a fact that a page's header doesn't state."""

_DEEPEST = 8


def page_headers(chunk: Bytes, pages: Int64s) -> int:  # noqa: C901, PLR0911, PLR0912, PLR0915 - compiled whole
    """Writes the facts of each page of a column chunk; gives how many there are, or -1 if it can't be told.

    A header is a struct of Thrift's compact protocol: each field is a byte of type and step of its number, then its
    value. Facts of the page are fields of the struct itself, or of the one within it that tells about the page's kind.
    """
    at, count, end = np.int64(0), 0, len(chunk)
    fields = np.zeros(_DEEPEST, dtype=np.int64)
    while at < end:
        if count == len(pages):
            return -1
        page, depth = pages[count], 0
        page[:] = NOT_SAID
        fields[0] = 0
        while depth >= 0:
            if at >= end:
                return -1
            head = np.int64(chunk[at])
            at += 1
            if head == 0:
                depth -= 1
                continue
            kind, step = head & 15, head >> 4
            if step == 0 or kind == 0:
                return -1  # fields that are far apart: no page has them
            fields[depth] += step
            if kind < 4 or kind == 7:  # true or false, which the type says itself; a byte; eight bytes
                at += 8 if kind == 7 else kind // 3
                continue
            if kind == 12 and depth + 1 < _DEEPEST:
                depth += 1
                fields[depth] = 0
                continue
            if kind > 8:
                return -1
            number, shift, byte = np.int64(0), 0, np.int64(128)
            while byte >= 128:
                if at >= end or shift > 28:
                    return -1
                byte = np.int64(chunk[at])
                at += 1
                number |= (byte & 127) << shift
                shift += 7
            if kind == 8:
                at += number
                continue
            number = (number >> 1) ^ -(number & 1)
            if depth == 0 and fields[0] <= 4:
                page[fields[0] - 1] = number
            elif depth == 1 and (fields[0] - 6) ** 2 == 1 and fields[1] <= 3:  # a page of data, or a dictionary
                page[ROWS + fields[1] - 1] = number
        page[FIRST_BYTE] = at
        if page[COMPRESSED_BYTES] < 0 or page[COMPRESSED_BYTES] > end - at:
            return -1
        at += page[COMPRESSED_BYTES]
        count += 1
    return count


def numbers_of_runs(pages: Bytes, parts: Int64s, numbers: Int32s) -> int:  # noqa: C901, PLR0912, PLR0915 - see above
    """Writes numbers from Parquet's runs and packed bits; gives the greatest, -1 if they aren't there.

    Each part has its first byte and the one after its last, how many bits a number of it takes, and how many there are.
    """
    done, greatest = np.int64(0), np.int32(0)
    for part in range(len(parts)):
        at, end, width, count = parts[part, 0], parts[part, 1], parts[part, 2], done + parts[part, 3]
        if count > len(numbers):
            return -1
        mask = np.uint64((np.int64(1) << width) - 1)
        together = 8 if width <= 8 else 4 if width <= 15 else 2  # so many packed numbers are taken out of eight bytes
        bits = np.int64(together * width)
        while done < count:
            header, shift, byte = np.int64(0), 0, np.int64(128)
            while byte >= 128:
                if at >= end or shift > 28:
                    return -1
                byte = np.int64(pages[at])
                at += 1
                header |= (byte & 127) << shift
                shift += 7
            length = header >> 1
            if header & 1:  # so many times eight numbers, their bits one after the other
                if length * width > end - at:
                    return -1
                following, stop = at + length * width, min(done + 8 * length, count)
                packed = pages[at:following]
                pieces = (stop - done) // together
                for piece in range(pieces):
                    bit, word = piece * bits, np.uint64(0)
                    for place in range(((bit & 7) + bits + 7) >> 3):
                        word |= np.uint64(packed[np.uint64((bit >> 3) + place)]) << np.uint64(8 * place)
                    word >>= np.uint64(bit & 7)
                    for number in range(together):
                        found = np.int32(word & mask)
                        word >>= np.uint64(width)
                        greatest = max(greatest, found)
                        numbers[done + piece * together + number] = found
                for number in range(pieces * together, stop - done):
                    held = np.int64(0)
                    for place in range(width):
                        bit_at = number * width + place
                        held |= ((np.int64(packed[bit_at >> 3]) >> (bit_at & 7)) & 1) << place
                    greatest = max(greatest, np.int32(held))
                    numbers[done + number] = held
                done = stop
                at = following
            else:  # one number, so many times
                value = np.int64(0)
                for place in range((width + 7) // 8):
                    if at >= end:
                        return -1
                    value |= np.int64(pages[at]) << (8 * place)
                    at += 1
                greatest, stop = max(greatest, np.int32(value)), min(done + length, count)
                numbers[done:stop] = value
                done = stop
    return int(greatest)


def ones_of_parts(levels: Int32s, parts: Int64s, ones: Int64s) -> None:
    """Adds up the levels of each part, which are 0 or 1; its last column says how many it has."""
    first = np.int64(0)
    for part in range(len(parts)):
        end = first + parts[part, 3]
        ones[part] = levels[first:end].sum()
        first = end


def spread(present: Int32s, absent: int, positions: Int32s) -> None:
    """Where `positions` says 1 it gets the next of those `present`; where it says 0, `absent`."""
    following = 0
    for row in range(len(positions)):
        if positions[row]:
            positions[row] = present[following]
            following += 1
        else:
            positions[row] = absent


def offsets_of_texts(page: Bytes, offsets: Int32s, characters: Bytes) -> int:
    """Writes where texts begin, and their characters; gives how many bytes they have, or -1 if they aren't there.

    Each lies in the page after its length, which takes four bytes.
    """
    at, used = np.int64(0), np.int64(0)
    for text in range(len(offsets) - 1):
        offsets[text] = used
        if at + 4 > len(page):
            return -1
        length = (
            np.int64(page[at]) | np.int64(page[at + 1]) << 8 | np.int64(page[at + 2]) << 16
            | np.int64(page[at + 3]) << 24
        )  # fmt: skip
        at += 4
        if length > len(page) - at:
            return -1
        characters[used : used + length] = page[at : at + length]
        at += length
        used += length
    offsets[len(offsets) - 1] = used
    return int(used)
