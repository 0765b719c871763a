"""The judge: counts person by person in plain Python, close to the paper's words. For tests and small worlds."""

import gzip
import hashlib
from collections import Counter
from collections.abc import Mapping
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from tests.inside import (
    BLOCK_COLUMNS,
    BLOCK_DIGITS,
    BLOCKS,
    GZIPPED_TEXT,
    HEADER_RULE,
    NATION,
    NO_CODE,
    NO_ENTITY,
    PARQUET,
    US,
    UTF8_RULE,
    BrokenRules,
    ExactCounts,
    FindingsOf,
    MiscountedRecords,
    Pass,
    RecordFingerprint,
    after_no_code_rule,
    area_form_rule,
    area_listed_rule,
    code_rule,
    iteration_map_of,
    part_rule,
    report_passes,
    rule_of,
    shape_rule,
    text_of_value,
)

Person = Mapping[str, str | None]


def index_in(universe, entity, code):
    """The index of a group, by its definition: entities by id and, within one, iterations by code. Raises KeyError."""
    entities, iterations = _positions(universe)
    return entities[entity] * len(iterations) + iterations[code]


@cache
def _positions(universe):
    iterations = {iteration.code: position for position, iteration in enumerate(universe.iterations)}
    return {entity: position for position, entity in enumerate(universe.entities.tolist())}, iterations


class PlainEngine:
    """Keeps to the contract of `CountingEngine`, one person at a time."""

    def __init__(self, persons, files):
        self._persons = persons
        self._files = files
        self._record = files.config.product.record
        self._people = dict.fromkeys(files.config.passes, 0)
        self._in_no_pass = 0
        self._of_pass: dict[Pass, list[Person]] = {}
        self._entity_of_block = {
            tabulation_pass: {
                kind: dict(zip(areas.smallest.tolist(), areas.number_of_area(kind).tolist(), strict=True))
                for kind in US.kinds
            }
            for tabulation_pass, areas in files.geography_of_pass.items()
        }

    def check(self, rows_done=lambda _: None):
        findings = FindingsOf(self._persons.label)
        broken = BrokenRules("row" if self._persons.form is PARQUET else "line")
        for part, number, row in self._rows():
            for rule in self._broken_rules(row):
                broken.add(rule, part, [number])
            rows_done(1)
        broken.report(findings)
        if not findings.has_errors:
            report_passes(self._people, self._in_no_pass, self._record, findings)
        return findings.findings

    def _broken_rules(self, row):
        if isinstance(row, tuple):
            yield row
            return
        for column in self._record.ruled:
            if column.number_of(row[column.column]) is None:
                yield rule_of(column)
        yield from self._broken_code_rules(row)
        yield from self._broken_block_rules(row)

    def _broken_code_rules(self, person):
        has_ended = False
        broken = {}
        for column, of_column in self._record.code_columns:
            code = person[column]
            is_listed = code in self._files.lists.code_names and of_column.classification.may_hold(code or "")
            if code == NO_CODE and self._record.may_be_absent(column):
                has_ended = True
            elif not is_listed:
                broken[code_rule(of_column, column)] = None
            elif has_ended and self._record.may_be_absent(column):
                broken[after_no_code_rule(of_column)] = None
        return iter(broken)

    def _broken_block_rules(self, person):
        parts = [person[column] or "" for column in BLOCK_COLUMNS]
        if not all(
            len(part) == BLOCK_DIGITS[column] and part.isascii() and part.isdigit()
            for column, part in zip(BLOCK_COLUMNS, parts, strict=True)
        ):
            yield area_form_rule(self._record)
            return
        if int(parts[0]) not in US.parts_there:
            yield part_rule(self._record, BLOCKS)
            return
        if not any(parts[0] in self._files.config.parts_of(tabulation_pass) for tabulation_pass in self._people):
            self._in_no_pass += 1
        for tabulation_pass in self._people:
            if parts[0] in self._files.config.parts_of(tabulation_pass):
                self._people[tabulation_pass] += 1
                if int("".join(parts)) not in self._entity_of_block[tabulation_pass][NATION]:
                    yield area_listed_rule(self._record)

    def prepare(self):
        everyone = list(self._read())
        for tabulation_pass in self._files.config.passes:
            states = self._files.config.parts_of(tabulation_pass)
            self._of_pass[tabulation_pass] = [person for person in everyone if person["TABBLKST"] in states]
        counted = {tabulation_pass: len(people) for tabulation_pass, people in self._of_pass.items()}
        if counted != self._people:
            raise MiscountedRecords("the engine did not count every person once.")
        return counted

    def totals(self, level):
        counts = Counter()
        for person in self._of_pass[level.level.geography.tabulation_pass]:
            counts.update(self._groups_of(person, level))
        indices = np.array(sorted(counts), dtype=np.int64)
        return ExactCounts(
            indices, np.array([[counts[group]] for group in indices.tolist()], dtype=np.int64).reshape(-1, 1)
        )

    def cells(self, level, groups_of):
        return {shape: self._cells_of(level, shape, indices) for shape, indices in groups_of.items()}

    def _cells_of(self, level, shape, indices):
        row_of = {group: row for row, group in enumerate(indices.tolist())}
        cells = np.zeros((len(indices), shape.cells), dtype=np.int64)
        for person in self._of_pass[level.level.geography.tabulation_pass]:
            numbers = (part.number_of(person[part.column]) or 0 for part in self._record.attribute)
            factors = self._record.attribute_factors
            attribute = sum(number * factor for number, factor in zip(numbers, factors, strict=True))
            cell = shape.cell_of_value[attribute]
            for group in self._groups_of(person, level):
                if group in row_of:
                    cells[row_of[group], cell] += 1
        return ExactCounts(indices, cells)

    def fingerprint(self, secret):
        sums = (plain_sums(secret, person) for person in self._read())
        return RecordFingerprint(secret, "TABBLKST").of_passes(sums, US.pass_of_part)

    def require_intact(self):
        """Nothing is stored."""

    def close(self):
        self._of_pass.clear()

    def _groups_of(self, person, level):
        """The paper's g: the population groups of a level that a person is in."""
        geography = level.level.geography
        block = int("".join(person[column] or "" for column in BLOCK_COLUMNS))
        entity = self._entity_of_block[geography.tabulation_pass][geography.kind][block]
        if entity == NO_ENTITY:
            return []
        races = [code for column in self._record.several.columns if (code := person[column] or NO_CODE) != NO_CODE]
        iteration_map = self._iteration_map(level.level.iterations, geography.kind)
        codes = iteration_map.iterations_of(races, person[self._record.single.columns[0]] or "")
        return [index_in(level.universe, entity, code) for code in codes]

    @cache  # noqa: B019 - a judge lives as long as its test
    def _iteration_map(self, level, kind):
        maximum = self._files.config.most_answers
        return iteration_map_of(self._files.lists, level, kind, most_answers=maximum)

    def _read(self):
        """Once `check` found no error."""
        return (row for _, _, row in self._rows() if not isinstance(row, tuple))

    def _rows(self):
        """The file, the number and the person of each row; instead of a person, the rule that a line breaks."""
        for path in self._persons.parts:
            if self._persons.form is PARQUET:
                table = pa.parquet.ParquetFile(path).read(list(self._record.columns))
                for number, row in enumerate(table.to_pylist(), start=1):
                    yield (
                        path.name,
                        number,
                        {column: text_of_value(self._record, column, value) for column, value in row.items()},
                    )
                continue
            content = path.read_bytes()
            text = gzip.decompress(content) if self._persons.form is GZIPPED_TEXT else content
            first, *lines = (line.removesuffix(b"\r") for line in text.split(b"\n"))
            header = tuple(first.decode("utf-8-sig").split("|"))
            for number, line in enumerate(lines, start=2):
                if line:
                    yield path.name, number, _person_of_line(line, header, self._record)


def plain_sums(secret, person):
    """What one checked record adds to the sums of its state: docs/decisions/0010-spend-log.md in plain integers."""

    def number(purpose, end):
        return int.from_bytes(hashlib.blake2b(purpose.encode(), key=secret, digest_size=16).digest()) % end

    names = {"True": 1, "False": 0, NO_CODE: 0}
    numbers = {column: names[text] if text in names else int(text or "") for column, text in person.items()}
    z = sum(value * number(column, 2**40) for column, value in numbers.items())
    sums = []
    for prime in (2**31 - 1, 2**31 - 19):
        cubic, square, linear = (number(f"{prime} {power}", prime) for power in (3, 2, 1))
        sums.append((z**4 + cubic * z**3 + square * z**2 + linear * z) % prime)
    return int(person["TABBLKST"] or ""), 1, sums[0], sums[1]


def _person_of_line(line, header, record):
    try:
        fields = line.decode("utf-8").split("|")
    except UnicodeDecodeError:
        return UTF8_RULE
    if len(fields) != len(record.columns):
        return shape_rule(record)
    if tuple(fields) == header:
        return HEADER_RULE
    return dict(zip(header, fields, strict=True))
