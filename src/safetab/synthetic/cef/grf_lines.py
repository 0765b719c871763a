"""The GRF-C of one state, with all 76 columns; those that no program here reads are empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import numpy as np

from safetab.readers.delimited import SEPARATOR
from safetab.synthetic.cef.fixed_lines import Lines, Texts, digits_of, layout_of, lines_of
from safetab.synthetic.cef.record_widths import GRF_COLUMNS
from safetab.synthetic.cef.unit_ids import OID_DIGITS, block_oids
from safetab.synthetic.files.block_numbers import GEOGRAPHY_DIGITS, block_numbers
from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.seeded_bits import Integers

_BLOCKS_AT_ONCE = 100_000
_SEPARATORS = tuple(f"after {name}" for name in GRF_COLUMNS[:-1])
_STATES_OF_DIVISIONS = {
    ("1", "1"): "09 23 25 33 44 50", ("1", "2"): "34 36 42",
    ("2", "3"): "17 18 26 39 55", ("2", "4"): "19 20 27 29 31 38 46",
    ("3", "5"): "10 11 12 13 24 37 45 51 54", ("3", "6"): "01 21 28 47", ("3", "7"): "05 22 40 48",
    ("4", "8"): "04 08 16 30 32 35 49 56", ("4", "9"): "02 06 15 41 53",
    ("9", "0"): "72",
}  # fmt: skip
_DIVISION_OF_STATE = {state: division for division, states in _STATES_OF_DIVISIONS.items() for state in states.split()}


def grf_header() -> bytes:
    return SEPARATOR.join(GRF_COLUMNS).encode() + b"\n"


def grf_lines(geography: StateGeography) -> Iterator[Lines]:
    """The lines below the header, some at a time. Every value has one width, so that lines are an array."""
    numbers = block_numbers(geography)
    for first in range(0, geography.share.blocks, _BLOCKS_AT_ONCE):
        blocks = slice(first, first + _BLOCKS_AT_ONCE)
        some = {name: of_blocks[blocks] for name, of_blocks in numbers.items()}
        columns = _columns(some, geography, block_oids(geography.state, first + np.arange(len(some["TABBLK"]))))
        yield lines_of(_layout(columns), len(some["TABBLK"]), columns | dict.fromkeys(_SEPARATORS, SEPARATOR.encode()))


def _layout(columns: Mapping[str, Texts | bytes]) -> np.dtype[Any]:
    """The columns that have values, with separators after all but the last of the 76."""
    widths: dict[str, int] = {}
    for name, separator in zip_longest(GRF_COLUMNS, _SEPARATORS):
        if name in columns:
            texts = columns[name]
            widths[name] = len(texts) if isinstance(texts, bytes) else texts.dtype.itemsize
        if separator is not None:
            widths[separator] = 1
    return layout_of(widths)


def _columns(numbers: Mapping[str, Integers], geography: StateGeography, oid: Integers) -> dict[str, Texts | bytes]:
    columns = {name: digits_of(numbers[name], digits) for name, digits in GEOGRAPHY_DIGITS.items()}
    group = digits_of(numbers["TABBLK"] // 1000, 1)
    region, division = _DIVISION_OF_STATE[geography.share.state.code]
    current = {"CURSTATE": "TABBLKST", "CURCOUNTY": "TABBLKCOU", "CURTRACTCE": "TABTRACTCE"}
    return {
        **columns,
        **{name: columns[same] for name, same in current.items()},
        "TABBLKGRPCE": group,
        "CURBLKGRPCE": group,
        "REGIONCE": region.encode(),
        "DIVISIONCE": division.encode(),
        "OIDTABBLK": digits_of(oid, OID_DIGITS),
    }
