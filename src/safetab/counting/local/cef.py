"""The engine for a Census Edited File (CEF): bytes become encoded records without a parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from safetab.counting.contract import EngineSettings, MiscountedRecords
from safetab.counting.fingerprint import PartSums, RecordFingerprint
from safetab.counting.local.code_numbers import CodeNumbers
from safetab.counting.local.engine import ArrayEngine, Log
from safetab.counting.patterns import ThreadPatterns
from safetab.foundation.arrays import find_sorted
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Finding, FindingsOf
from safetab.inputs.bureau.cef.reader_file import CefFiles
from safetab.inputs.known_lists import KnownLists
from safetab.inputs.planner import PublicFiles
from safetab.inputs.records.cef.geography import BlockOids
from safetab.inputs.records.cef.state_records import CefRecords, CefRules, StateReader, records_of
from safetab.inputs.records.record_rules import report_passes
from safetab.model.census.area_levels import Pass
from safetab.model.products.bureau_columns import BLOCK_DIGITS, CODE_COLUMNS


class CefEngine(ArrayEngine):
    """A `CountingEngine` that reads the states one after the other."""

    def __init__(
        self, records: CefFiles, files: PublicFiles, settings: EngineSettings, log: Log
    ) -> None:
        super().__init__(files, settings)
        if files.oids is None:
            raise TypeError("a CEF comes with the ids of its blocks")
        self._files = records
        self._oids = files.oids
        self._log = log
        self._record = self._encoding.record
        self._patterns = ThreadPatterns(self._encoding.patterns)
        self._codes = CodeNumbers(self._record.single, self._encoding.numbers_of_codes[1])
        self._rules = CefRules(
            files.lists.code_names, files.oids, for_households=self._record.holds_people
        )
        _, _, blocks, atom_of_block = self._encoding.area_lookup
        positions, is_listed = find_sorted(blocks, files.oids.blocks)
        self._atom_of_place = np.full(len(positions), -1, dtype=np.int32)
        self._atom_of_place[is_listed] = atom_of_block[positions[is_listed]]
        self._bounds = {
            which: (min(part.first_atom for part in parts), max(part.end_atom for part in parts))
            for which in self._encoding.passes
            if (parts := [part for part in self._encoding.parts if part.tabulation_pass == which])
        }

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """Check, encode and store every record. Raises MiscountedRecords unless all are encoded."""
        counts, found = dict.fromkeys(self._encoding.passes, 0), list[Finding]()
        for files in self._files.states:
            reader, encoded = StateReader(files, self._rules), 0
            for joined in reader.joined_persons(rows_done):
                encoded += self._add(records_of(joined, self._record), counts)
            found += reader.findings
            self._log(
                f"state {files.state}: {reader.persons_read:,} persons read,"
                f" {reader.persons_joined:,} joined to a unit, {encoded:,} {self._record.noun}s"
                " encoded"
            )
            are_all = reader.persons_read == reader.persons_joined and encoded == reader.records(
                self._record
            )
            if not are_all and not any(finding.is_error for finding in reader.findings):
                raise MiscountedRecords(
                    "not everybody who was read was joined to a unit and encoded."
                )
        findings = FindingsOf(self._files.label)
        if not any(finding.is_error for finding in found):
            report_passes(counts, 0, self._record, findings)
            self._record_count = counts
        return (*found, *findings.findings)

    def fingerprint(self, secret: bytes) -> Mapping[str, str]:
        """Read the records again for each pass's fingerprint. Raises RunFailed if files changed."""
        fingerprint = RecordFingerprint(secret, self._record.part_column)
        return fingerprint.of_passes(self._sums(fingerprint), self._encoding.pass_of_part)

    def _sums(self, fingerprint: RecordFingerprint) -> Iterator[PartSums]:
        for files in self._files.states:
            reader = StateReader(files, self._rules)
            for joined in reader.joined_persons():
                records = records_of(joined, self._record)
                yield from fingerprint.sums_of_columns(whole_columns(records, self._oids))
            if any(finding.is_error for finding in reader.findings):
                raise RunFailed(
                    "the files of a state changed while they were read. Nothing was written."
                )

    def _add(self, records: CefRecords, counts: dict[Pass, int]) -> int:
        """Store the records, add them to the counts of the passes, and return their number."""
        atoms = self._atom_of_place[records.places]
        digits = np.stack([records.columns[name] for name in CODE_COLUMNS])
        codes = np.where(digits == 0, np.int16(0), self._codes.of_digits(digits))
        patterns = self._patterns.numbers_of(codes)
        if (atoms < 0).any() or (patterns < 0).any():
            raise MiscountedRecords(
                "records that break no rule of the files break one of the engine."
            )
        self._stored.add(atoms, patterns, self._attributes(records))
        for which, (first, end) in self._bounds.items():
            counts[which] += int(np.count_nonzero((atoms >= first) & (atoms < end)))
        return len(records)

    def _attributes(self, records: CefRecords) -> NDArray[np.unsignedinteger]:
        attributes = np.zeros(len(records), dtype=np.int64)
        for part, factor in zip(
            self._record.attribute, self._record.attribute_factors, strict=True
        ):
            attributes += (records.columns[part.column].astype(np.int64) - part.bounds[0]) * factor
        return attributes.astype(self._stored.attribute_type)


def judge_cef(
    known: KnownLists, files: CefFiles, rows_done: Callable[[int], None]
) -> tuple[Finding, ...]:
    """The faults of the lines of a CEF, as far as the known lists tell."""
    rules = CefRules(known.codes, known.oids, for_households=known.record.holds_people)
    found = list[Finding]()
    for of_state in files.states:
        reader = StateReader(of_state, rules)
        for _ in reader.joined_persons(rows_done):
            pass
        found += reader.findings
    return tuple(found)


def whole_columns(records: CefRecords, oids: BlockOids) -> dict[str, NDArray[np.integer]]:
    """The columns of the delimited record as numbers: the CEF's, and the block in its parts."""
    rest, columns = oids.blocks[records.places], dict(records.columns)
    for column, width in reversed(BLOCK_DIGITS.items()):
        columns[column] = rest % 10**width
        rest = rest // 10**width
    return columns
