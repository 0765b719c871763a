"""Released numbers computed again, from the measurements.

Without these, they are computed from the cells that the release shows. A number has the margin, the
interval, the noise and the words that follow from its group and the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from safetab.core.algorithm.run_plan import chosen_shapes
from safetab.core.privacy.calibration import Stage
from safetab.foundation.arrays import Integers, Truths
from safetab.foundation.locked_folder import scratch_folder
from safetab.foundation.parquet_facts import opened_parquet
from safetab.model.census.area_levels import Pass
from safetab.model.products.product import Selector
from safetab.release.files.census_file import ENTITIES_FILE
from safetab.release.files.checks.table_checks import Breaches
from safetab.release.files.coterminous import CoterminousSet
from safetab.release.files.numbers import level_numbers
from safetab.release.files.numbers.level_numbers import (
    NO_INTERVAL,
    NO_RULE,
    RULES,
    UNKNOWN_RULE,
    NumberKinds,
    Numbers,
)
from safetab.release.files.numbers.number_files import (
    FORMAT_OF_INTERVALS,
    INTERVAL,
    RELEASE_FOLDER,
    STATUSES,
    WITHHELD,
    NumberColumns,
    NumberFile,
    numbers_file,
)
from safetab.release.files.numbers.read_numbers import UNKNOWN, NumberBatch
from safetab.release.files.official.numbers import ReadColumns, ReadNumbers
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_options import ReleaseRule
from safetab.release.files.release_universe import ReleaseLevel
from safetab.release.files.universe_files import COTERMINOUS_FILE, UNIVERSE_FILES, write_universe
from safetab.release.files.write_release import NumbersWriter

SCRATCH = "safetab-verify-"  # what the names of folders for tables written again begin with
_ROWS_AT_ONCE = 1 << 17
_AS_NEAR_AS = 1e-9  # two computations of a variance


def check_against_plan(
    folder: ReleaseFolder, level: ReleaseLevel, kinds: NumberKinds, name: str, breaches: Breaches
) -> int:
    """Check the rows of a level without its measurements; returns how many there are."""
    checks = _PlanChecks(folder, level, kinds, name, breaches)
    reader = folder.open_numbers(level)
    for rows in () if reader is None else reader.whole_groups(None, strict=False):
        checks.check(rows)
    if reader is not None:
        checks.check_that_no_group_is_missing()
    return checks.rows_before


class _PlanChecks:
    """The checks of one level's rows by what its plan says of them."""

    def __init__(
        self,
        folder: ReleaseFolder,
        level: ReleaseLevel,
        kinds: NumberKinds,
        name: str,
        breaches: Breaches,
    ) -> None:
        self._universe, self._options, self._level = folder.universe, folder.facts.options, level
        self._kinds = kinds
        self._is_read = folder.facts.origin is not None
        self._columns = (ReadColumns if self._is_read else NumberColumns)(
            self._universe, level, self._kinds
        )
        self._name, self._breaches, self._format = name, breaches, folder.format
        self.rows_before = 0
        self._last_place = -1
        self._tabulated_groups = 0

    def check(self, rows: NumberBatch) -> None:
        """Check some whole groups."""
        line, measured_at = rows.line_positions(rows.shape), rows.measured_at
        is_total_only = self._level.is_total_only[rows.iteration]
        first = self._kinds.firsts(measured_at, is_total_only, rows.shape)
        unknown = (
            (rows.entity == UNKNOWN) | (rows.iteration == UNKNOWN) | (line == UNKNOWN) | (first < 0)
        )
        unknown |= (rows.shape == UNKNOWN) | (measured_at < 0)
        self._add("has a table or a line that its level doesn't measure", np.flatnonzero(unknown))
        at = np.flatnonzero(~unknown)
        rows = rows.take(~unknown) if unknown.any() else rows
        numbers = self._numbers(rows, (first + line)[at])
        if self._is_read:  # otherwise, groups are whole
            self._check_order(numbers.indices, rows.shape, line[at], at)
        self._tabulated_groups += int(
            (rows.is_total & self._level.is_tabulated[rows.iteration]).sum()
        )
        expected = _in_format(self._format, self._columns.table(numbers), numbers)
        for column, differs in _differences(rows.table, expected):
            self._add(f"{column} is not what the plan and the group's numbers give", at[differs])
        self._check_choices(rows, numbers, measured_at[at], is_total_only[at], at)
        self.rows_before += len(unknown)

    def check_that_no_group_is_missing(self) -> None:
        """After the last rows: a level that suppresses nothing has every group of every area."""
        design, product = self._level.design, self._universe.product
        is_whole = (
            design.suppression_threshold is None
            and product.selector is not Selector.PUBLISHED_TOTALS
        )
        groups = len(self._universe.entities[self._level.geography]) * int(
            self._level.is_tabulated.sum()
        )
        if design.stages and is_whole and not self._is_read and self._tabulated_groups < groups:
            self._breaches.add(self._name, "lacks groups, and nothing is suppressed at its level")

    def _add(self, rule: str, rows: Integers) -> None:
        self._breaches.add_rows(self._name, rule, rows, self.rows_before)

    def _check_order(
        self, indices: Integers, shapes: Integers, line: Integers, at: Integers
    ) -> None:
        """Check that groups rise, and lines in each."""
        lines = [len(shape.lines) for shape in self._level.family.shapes]
        places = (indices * len(lines) + shapes) * max(lines) + line
        is_late = np.diff(places, prepend=self._last_place) <= 0
        self._add("a number appears twice or out of order", at[is_late])
        self._last_place = max(self._last_place, int(places.max(initial=-1)))

    def _numbers(self, rows: NumberBatch, kinds: Integers) -> Numbers:
        """The numbers that the rows tell, with intervals of their totals."""
        unclamped, rules = rows.integers("unclamped_count"), rows.rule.astype(np.int8)
        rules[(rules == NO_RULE) & (rows.status == STATUSES.index(WITHHELD))] = UNKNOWN_RULE
        counts = unclamped.copy()
        if (
            not self._universe.allow_negative_counts
        ):  # sums of clamped cells are checked where all cells are
            counts = np.where(
                self._kinds.draws[kinds] > 1, rows.integers("count"), np.maximum(unclamped, 0)
            )
        counts[rules == RULES.index(ReleaseRule.CLAMP_NEGATIVES)] = 0
        totals = unclamped, rows.measured_at, rows.is_selected
        low, high = level_numbers.intervals_of(self._universe, self._options.confidence, *totals)
        indices = self._level.index.index_of(rows.entity, rows.iteration)
        stage_1, donors = rows.integers("stage_1_total"), rows.donor
        made = (
            indices,
            kinds.astype(np.int32),
            counts,
            unclamped,
            stage_1,
            low,
            high,
            rules,
            donors,
        )
        return ReadNumbers(*made, ~rows.table_is_known) if self._is_read else Numbers(*made)

    def _check_choices(
        self,
        rows: NumberBatch,
        numbers: Numbers,
        measured_at: Integers,
        is_total_only: Truths,
        at: Integers,
    ) -> None:
        """Check what the noisy totals decided: tables, suppression, and what a rule withholds."""
        is_total = rows.shape == self._level.family.number_of(self._level.family.total)
        is_lone = is_total & ~is_total_only & rows.has("unclamped_count")
        for number in np.unique(measured_at).tolist():
            design, own = self._universe.levels[number].design, measured_at == number
            if Stage.STAGE_1 in design.stages:
                chosen = chosen_shapes(numbers.stage_1_totals, design.thresholds)
                is_other = own & rows.has("stage_1_total") & (chosen != rows.shape)
                self._add("the table is not the one that stage_1_total chooses", at[is_other])
            if design.suppression_threshold is not None:
                is_small = own & is_lone & (numbers.unclamped <= design.suppression_threshold)
                self._add("a total is not above the suppression threshold", at[is_small])
        is_clamped = numbers.rules == RULES.index(ReleaseRule.CLAMP_NEGATIVES)
        self._add(
            "a number that is not negative was raised to 0",
            at[is_clamped & (numbers.unclamped >= 0)],
        )
        if ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER in self._options.rules:
            shown = np.flatnonzero(~numbers.is_withheld)
            of_level = level_numbers.NumbersOfLevel(
                self._universe, self._level, self._kinds, self._options
            )
            is_above = of_level.is_above_partner(numbers.take(shown))
            self._add("a rule withholds this number, and it is shown", at[shown[is_above]])


def check_against_measurements(
    folder: ReleaseFolder, output: Path, tabulation_pass: Pass, breaches: Breaches
) -> None:
    """Make the numbers of a pass again from the measurements in `output`, and compare each row."""
    sets = None if folder.facts.options.coterminous is None else _sets_of(folder, tabulation_pass)
    _ComparedNumbers(folder, output, breaches).write_levels(tabulation_pass, sets, None)


def _sets_of(folder: ReleaseFolder, tabulation_pass: Pass) -> list[CoterminousSet]:
    """The coterminous sets of a pass, as the release lists them."""
    levels = {
        level.label: level
        for level in folder.universe.entities
        if level.tabulation_pass == tabulation_pass
    }
    sets: dict[int, list[tuple[object, int]]] = {}
    for row in opened_parquet(folder.path / COTERMINOUS_FILE).read().to_pylist():
        if row["geography_level"] in levels:
            entities = folder.universe.entities[levels[row["geography_level"]]]
            entity = int(entities.ids[entities.region_ids.index(row["region_id"])])
            sets.setdefault(row["set"], []).append((levels[row["geography_level"]].kind, entity))
    return [tuple(members) for members in sets.values()]  # type: ignore[arg-type]


class _ComparedNumbers(NumbersWriter):
    """Compares numbers with those of a release where a writer would write them."""

    def __init__(self, folder: ReleaseFolder, output: Path, breaches: Breaches) -> None:
        super().__init__(output, folder.universe, folder.facts.options)
        self._folder, self._breaches = folder, breaches

    def file_of(self, level: ReleaseLevel, columns: NumberColumns) -> NumberFile:
        return _ComparedFile(self._folder, level, columns, self._breaches)


class _ComparedFile(NumberFile):
    """Takes the numbers that a file must have, and reads the file beside them."""

    def __init__(
        self, folder: ReleaseFolder, level: ReleaseLevel, columns: NumberColumns, breaches: Breaches
    ) -> None:
        name = numbers_file(level.design, folder.format)
        self._columns, self._breaches, self._name = columns, breaches, f"release/{name}"
        self._format = folder.format
        self._file = opened_parquet(folder.path / name)
        self._batches = self._file.iter_batches(_ROWS_AT_ONCE)
        self._waiting_rows = self._file.schema_arrow.empty_table()
        self.rows = 0

    def write(self, numbers: Numbers) -> None:
        """Compare with the next rows of the file."""
        expected = _in_format(self._format, self._columns.table(numbers), numbers)
        found = self._next(len(expected))
        for column, differs in _differences(found, expected.slice(0, len(found))):
            rule = f"{column} is not what the measurements give"
            self._breaches.add_rows(self._name, rule, np.flatnonzero(differs), self.rows)
        if len(found) < len(expected):
            self._breaches.add(self._name, "lacks rows that the measurements give")
        self.rows += len(found)

    def close(self) -> None:
        """Add a file with more rows than the measurements give."""
        if len(self._next(1)):
            self._breaches.add(self._name, "has rows that the measurements don't give")
        self._file.close()

    def _next(self, rows: int) -> pa.Table:
        while len(self._waiting_rows) < rows and (batch := next(self._batches, None)) is not None:
            self._waiting_rows = pa.concat_tables(
                [self._waiting_rows, pa.Table.from_batches([batch])]
            )
        taken = self._waiting_rows.slice(0, rows)
        self._waiting_rows = self._waiting_rows.slice(rows)
        return taken


def _in_format(of_format: int, expected: pa.Table, numbers: Numbers) -> pa.Table:
    """The table as a format has it.

    Before FORMAT_OF_INTERVALS only selected totals had an interval.
    """
    if of_format < FORMAT_OF_INTERVALS:
        is_plain = pa.array(numbers.low == NO_INTERVAL)
        for name in INTERVAL:
            ends = pc.if_else(is_plain, pa.scalar(None, pa.int64()), expected[name])
            expected = expected.set_column(expected.column_names.index(name), name, ends)
    return expected


def _differences(found: pa.Table, expected: pa.Table) -> Iterator[tuple[str, Truths]]:
    """Each column that both tables have and that differs, with the rows where it does."""
    for field in expected.schema:
        if field.name not in found.column_names:
            continue
        plain = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        one, other = found[field.name].cast(plain), expected[field.name].cast(plain)
        if pa.types.is_floating(plain):
            near = pc.less_equal(
                pc.abs(pc.subtract(one, other)), pc.multiply(pc.abs(other), _AS_NEAR_AS)
            )
            far = pc.invert(near)  # NaN is near to nothing
        else:
            far = pc.not_equal(one, other)
        differs = np.asarray(
            pc.or_(far.fill_null(False), pc.not_equal(one.is_null(), other.is_null()))
        )
        if differs.any():
            yield field.name, differs


def check_universe(folder: ReleaseFolder, breaches: Breaches) -> None:
    """Check that the lists of the universe are as they would be written again.

    Areas rise in theirs.
    """
    universe = folder.universe
    with scratch_folder(SCRATCH) as again:
        write_universe(again, universe, None)
        for name in UNIVERSE_FILES:
            found, expected = (
                opened_parquet(place / name).read() for place in (folder.path, again)
            )
            if found.column_names == expected.column_names and not found.equals(expected):
                breaches.add(
                    f"{RELEASE_FOLDER}/{name}",
                    "has rows that contradict each other, or are out of order",
                )
    for entities in universe.entities.values():
        if (np.diff(entities.ids) <= 0).any():
            breaches.add(f"{RELEASE_FOLDER}/{ENTITIES_FILE}", "lists an area twice or out of order")
