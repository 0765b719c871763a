"""The GRF-C of one state, with all 76 columns; those that no program here reads are empty."""

from __future__ import annotations

import numpy as np

from safetab.readers.delimited import SEPARATOR
from safetab.synthetic.cef.fixed_lines import Texts, digits_of
from safetab.synthetic.cef.record_widths import GRF_COLUMNS
from safetab.synthetic.cef.unit_ids import block_oids
from safetab.synthetic.files.block_numbers import GEOGRAPHY_DIGITS, block_numbers
from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.seeded_bits import Integers

_STATES_OF_DIVISIONS = {
    ("1", "1"): "09 23 25 33 44 50", ("1", "2"): "34 36 42",
    ("2", "3"): "17 18 26 39 55", ("2", "4"): "19 20 27 29 31 38 46",
    ("3", "5"): "10 11 12 13 24 37 45 51 54", ("3", "6"): "01 21 28 47", ("3", "7"): "05 22 40 48",
    ("4", "8"): "04 08 16 30 32 35 49 56", ("4", "9"): "02 06 15 41 53",
    ("9", "0"): "72",
}  # fmt: skip
_DIVISION_OF_STATE = {state: division for division, states in _STATES_OF_DIVISIONS.items() for state in states.split()}


def grf_text(geography: StateGeography) -> bytes:
    """The file: a header and a line a block. Every value has one width, so that the lines are an array."""
    columns = _columns(geography)
    pieces: list[tuple[str, Texts | bytes]] = []
    for number, name in enumerate(GRF_COLUMNS):
        if name in columns:
            pieces.append((name, columns[name]))
        pieces.append((f"after {name}", b"\n" if number == len(GRF_COLUMNS) - 1 else SEPARATOR.encode()))
    layout = np.dtype([(name, texts.dtype if isinstance(texts, np.ndarray) else "S1") for name, texts in pieces])
    lines = np.empty(len(geography.tract_of_block), dtype=layout)
    for name, texts in pieces:
        lines[name] = texts
    return SEPARATOR.join(GRF_COLUMNS).encode() + b"\n" + lines.tobytes()


def _columns(geography: StateGeography) -> dict[str, Texts]:
    numbers = block_numbers(geography)
    columns = {name: _with_zeros(numbers[name], width) for name, width in GEOGRAPHY_DIGITS.items()}
    group = _with_zeros(numbers["TABBLK"] // 1000, 1)
    region, division = (np.full(len(group), text.encode()) for text in _DIVISION_OF_STATE[geography.share.state.code])
    oid = block_oids(geography.state, np.arange(len(group)))
    current = {"CURSTATE": "TABBLKST", "CURCOUNTY": "TABBLKCOU", "CURTRACTCE": "TABTRACTCE"}
    return (
        columns
        | {name: columns[same] for name, same in current.items()}
        | {"TABBLKGRPCE": group, "CURBLKGRPCE": group, "REGIONCE": region, "DIVISIONCE": division}
        | {"OIDTABBLK": digits_of(oid, len(str(int(oid[0]))))}
    )


def _with_zeros(numbers: Integers, width: int) -> Texts:
    """A leading digit that is cut off again keeps the zeros."""
    digits = digits_of(numbers + 10**width, width + 1).view(np.uint8).reshape(len(numbers), width + 1)
    return np.ascontiguousarray(digits[:, 1:]).view(f"S{width}").ravel()
