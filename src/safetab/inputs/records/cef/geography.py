"""The full GRF-C of each state: the public geography, and the OIDs by which units name blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from safetab.foundation.arrays import Columns
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.foundation.findings import Checked, Finding, FindingsOf
from safetab.inputs.bureau import grfc
from safetab.inputs.bureau.cef.layout import OID_DIGITS
from safetab.inputs.readers.digit_columns import Digits
from safetab.inputs.readers.forms.all_forms import TEXT
from safetab.inputs.records.cef.lines import Int32s, Int64s, find_oids, long_numbers, spread_fields
from safetab.model.census.areas import Areas
from safetab.model.us.block_areas import Blocks, areas_of_blocks

_OID = "OIDTABBLK"
_OID_HIGH = "OIDTABBLK in front"
_OID_RULE = {_OID: f"must be a number of up to {OID_DIGITS} digits"}


@dataclass(frozen=True, slots=True, eq=False)
class BlockOids(Columns):
    """The OIDs of blocks in rising order.

    Each is two numbers: its last 18 digits, and those in front.
    """

    highs: Int32s
    lows: Int64s
    blocks: Int64s  # the block of each OID

    def positions_of(self, highs: Int32s, lows: Int64s) -> Int32s:
        """The position of each OID in the list, or a negative number."""
        found = np.empty(len(lows), dtype=np.int32)
        compiled_if_worthwhile(find_oids, len(lows))(highs, lows, self.highs, self.lows, found)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class CefGeography:
    """The geography of some states, and the OIDs of its blocks."""

    geography: Areas
    oids: BlockOids


def read_cef_geography(paths: Iterable[Path], states: Iterable[str]) -> Checked[CefGeography]:
    """The geography of some states, and every finding about its files.

    The files are those of `ReaderFile.geography_of`.

    Rows of other states are left out. There is no value if there is a finding.
    """
    findings = FindingsOf(grfc.GEOGRAPHY_TABLE)
    of_files = list[Finding]()
    parts = list[Blocks]()
    oids = list[BlockOids]()
    wanted = [int(state) for state in states]
    for path in paths:
        file_findings = FindingsOf(path.name)
        for digits in grfc.digits_of_file(
            path, TEXT, grfc.GEOGRAPHY_DIGITS, file_findings, _OID_RULE, _oid_numbers
        ):
            chosen = np.isin(digits["TABBLKST"], wanted)
            kept = {name: numbers[chosen] for name, numbers in digits.items()}
            parts.append(grfc.geography_of(kept))
            oids.append(BlockOids(kept[_OID_HIGH].astype(np.int32), kept[_OID], parts[-1].block))
        of_files += file_findings.findings
    blocks = grfc.joined(parts)
    grfc.check_blocks(blocks, findings, may_be_empty=bool(of_files))
    all_oids = _joined_oids(oids, findings)
    found = (*of_files, *findings.findings)
    return Checked(None if found else CefGeography(areas_of_blocks(blocks), all_oids), found)


def _joined_oids(parts: list[BlockOids], findings: FindingsOf) -> BlockOids:
    """The OIDs of all parts in rising order. Repeated OIDs are reported."""
    oids = BlockOids.concat(parts)
    oids = oids.take(np.lexsort((oids.lows, oids.highs)))
    repeated = int(np.count_nonzero((np.diff(oids.lows) == 0) & (np.diff(oids.highs) == 0)))
    if repeated:
        rows = "row has" if repeated == 1 else "rows have"
        findings.error(
            _OID, f"{repeated:,} {rows} the OID of another block. Give each block its own."
        )
    return oids


def _oid_numbers(batch: pa.RecordBatch) -> Digits:
    """The two numbers of each OID, both NOT_DIGITS if it is wrong.

    Blanks around it and leading zeros mean nothing.
    """
    column = batch.column(_OID)
    offsets = np.frombuffer(column.buffers()[1], dtype=np.int32)[column.offset :][
        : len(column) + 1
    ].astype(np.int64)
    text = np.frombuffer(column.buffers()[2] or b"", dtype=np.uint8)
    characters = np.empty((len(column), OID_DIGITS), dtype=np.uint8)
    places = np.array([0, OID_DIGITS])
    is_shaped = np.empty(len(column), dtype=np.bool_)
    loop = compiled_if_worthwhile(spread_fields, len(column))
    loop(text.copy(), offsets[:-1], offsets[1:], places[:1], places[1:], characters, is_shaped)
    highs, lows = long_numbers(characters, 0, OID_DIGITS)
    return {_OID: lows, _OID_HIGH: highs.astype(np.int64)}
