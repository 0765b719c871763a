"""Writes a release from measurements and the public universe, level by level, in bounded memory.

Where steps change numbers, the product's tables are written again as they are after the steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow as pa

from safetab.core.privacy.calibration import Stage
from safetab.foundation.batch_sizes import USUAL_SIZES
from safetab.foundation.failures import closing_without_masking
from safetab.foundation.in_threads import SecondThread
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import Areas
from safetab.model.census.population_groups import ReleaseIndex
from safetab.model.products.product import TableFileLayout
from safetab.release.files.coterminous import Copies, CoterminousSet, sets_of_passes
from safetab.release.files.data_dictionary import CSV_FOLDER, write_csv_tables
from safetab.release.files.documents import README_TEXTS, ReleaseFacts, write_datapackage
from safetab.release.files.numbers import published_groups
from safetab.release.files.numbers.level_numbers import NumberKinds, Numbers, NumbersOfLevel
from safetab.release.files.numbers.number_files import (
    RELEASE_FOLDER,
    NumberColumns,
    NumberFile,
    numbers_file,
)
from safetab.release.files.numbers.published_groups import PublishedGroups, merged
from safetab.release.files.release_options import ReleaseOptions
from safetab.release.files.release_universe import ReleaseLevel, Universe
from safetab.release.files.universe_files import write_universe
from safetab.release.outputs.pass_files import TableFile

_ADAPTIVE, _TOTAL_ONLY = frozenset({Stage.STAGE_1, Stage.STAGE_2}), frozenset({Stage.TOTAL_ONLY})


class NumbersWriter:
    """Writes the numbers of passes into a release and remembers the rows of each file.

    Where steps change numbers, the tables are written again as they are after the steps.
    """

    def __init__(
        self,
        output: Path,
        universe: Universe,
        options: ReleaseOptions,
        rows_of_a_group: int = USUAL_SIZES.numbers,
    ) -> None:
        self._output = output
        self._universe = universe
        self._options = options
        self._rows_of_a_group = rows_of_a_group
        self._kinds = NumberKinds(universe, options.confidence)
        self.rows: dict[str, int] = {}  # by the path inside the release
        self.rows_after_steps: dict[str, int] = {}  # by the path inside the output

    def write_pass(self, tabulation_pass: Pass, sets: Sequence[CoterminousSet] | None) -> None:
        """Write the numbers of one pass, with copies inside the coterminous sets, if any."""
        if not self._options.change_numbers:
            self.write_levels(tabulation_pass, sets, None)
            return
        tables = _AfterStepsTables(self._output, tabulation_pass, self._universe, self._kinds)
        with closing_without_masking(tables) as after_steps:
            self.write_levels(tabulation_pass, sets, after_steps)
        self.rows_after_steps |= after_steps.rows

    def write_levels(
        self,
        tabulation_pass: Pass,
        sets: Sequence[CoterminousSet] | None,
        after_steps: _AfterStepsTables | None,
    ) -> None:
        """Write every level that has groups: its own, and copies from coterminous sets."""
        path = self._output / "measurements" / f"{tabulation_pass.name}.parquet"
        measured_in = partial(published_groups.groups_by_level, path, self._universe)
        copies = None
        if sets is not None and self._options.coterminous is not None:
            published = chain(measured_in(_ADAPTIVE), measured_in(_TOTAL_ONLY))
            copies = Copies(
                self._universe, tabulation_pass, sets, self._options.coterminous, published
            )
        # total-only groups are few: only large areas have them
        total_only = published_groups.joined_by_level(measured_in(_TOTAL_ONLY))
        adaptive = groupby(measured_in(_ADAPTIVE), itemgetter(0))
        waiting = next(adaptive, None)
        for number, level in enumerate(self._universe.levels):
            if level.geography.tabulation_pass != tabulation_pass:
                continue
            own: Iterator[PublishedGroups] = iter(())
            if waiting is not None and waiting[0] == number:
                own = (groups for _, groups in waiting[1])
            none = published_groups.no_groups(level.design.family)
            copied = none if copies is None else copies.to_level(number)
            if level.is_tabulated.any() or len(copied):
                more = merged(total_only.get(number, none), copied)
                self._write_level(number, own, more, after_steps)
            if waiting is not None and waiting[0] == number:
                waiting = next(adaptive, None)

    def file_of(self, level: ReleaseLevel, columns: NumberColumns) -> NumberFile:
        """The file that takes the numbers of a level."""
        path = self._output / RELEASE_FOLDER / numbers_file(level.design)
        return NumberFile(path, columns, self._rows_of_a_group)

    def _write_level(
        self,
        number: int,
        own: Iterator[PublishedGroups],
        more: PublishedGroups,
        after_steps: _AfterStepsTables | None,
    ) -> None:
        """Write the numbers of one level, and its tables if steps change them."""
        level = self._universe.levels[number]
        numbers = NumbersOfLevel(self._universe, level, self._kinds, self._options)
        name = numbers_file(level.design)
        file = self.file_of(level, NumberColumns(self._universe, level, self._kinds))
        with closing_without_masking(file), SecondThread(pa.cpu_count()) as writing:
            for groups in _with_more(own, more, level.index):
                made = numbers.of(groups)
                writing.do(partial(file.write, made), len(made))
                if after_steps is not None:
                    after_steps.write(level, made)
        self.rows[name] = file.rows


def _with_more(
    own: Iterator[PublishedGroups], more: PublishedGroups, index: ReleaseIndex
) -> Iterator[PublishedGroups]:
    """Parts with whole entities, with added or replaced groups in order."""
    done = 0
    for part in own:
        end = int(
            np.searchsorted(
                index.entity_of(more.indices), index.entity_of(part.indices[-1]), side="right"
            )
        )
        yield merged(part, more.part(done, end))
        done = end
    if done < len(more):
        yield more.part(done, len(more))


def write_release(
    output: Path,
    universe: Universe,
    facts: ReleaseFacts,
    populated: Mapping[Pass, Areas],
    rows_of_a_group: int = USUAL_SIZES.numbers,
) -> dict[str, int]:
    """Write the release of the measurements in `output` and return the rows of each file.

    `populated` is the geography of the blocks that may hold people, which the coterminous step
    compares.
    """
    release = output / RELEASE_FOLDER
    coterminous = facts.options.coterminous
    found = None if coterminous is None else sets_of_passes(populated, coterminous, universe.census)
    rows = write_universe(release, universe, found)
    numbers = NumbersWriter(output, universe, facts.options, rows_of_a_group)
    for tabulation_pass in universe.passes:
        numbers.write_pass(tabulation_pass, None if found is None else found.get(tabulation_pass))
    rows |= numbers.rows
    if facts.options.csv:
        written = write_csv_tables(release, universe, release / CSV_FOLDER)
        rows |= {f"{CSV_FOLDER}/{name}": count for name, count in written.items()}
    write_datapackage(release, universe, facts, rows)
    return {
        f"{RELEASE_FOLDER}/{name}": count for name, count in rows.items()
    } | numbers.rows_after_steps


AFTER_STEPS_FOLDER = "after-steps"
AFTER_STEPS_README = "README.txt"
_NOT_THERE = -1


class _AfterStepsTables:
    """The table files of one pass, written level by level."""

    def __init__(
        self, output: Path, tabulation_pass: Pass, universe: Universe, kinds: NumberKinds
    ) -> None:
        folder = output / AFTER_STEPS_FOLDER
        folder.mkdir(exist_ok=True)
        folders = list(
            dict.fromkeys(layout.folder.partition("/")[0] for layout in universe.product.files)
        )
        own = " and ".join(f"../{name}" for name in folders)
        readme = README_TEXTS["after_steps"].format(
            folders=" and ".join(folders), own=own, product=universe.product.name
        )
        (folder / AFTER_STEPS_README).write_text(readme, encoding="utf-8")
        self._universe = universe
        self._tables = {}
        for layout in universe.product.files:
            name = f"{AFTER_STEPS_FOLDER}/{layout.folder}/{tabulation_pass.name}.csv"
            self._tables[name] = _TableOfNumbers(output / name, layout, kinds)

    @property
    def rows(self) -> dict[str, int]:
        """The rows of each file so far, by its path inside the output."""
        return {name: table.file.rows for name, table in self._tables.items()}

    def write(self, level: ReleaseLevel, numbers: Numbers) -> None:
        """Append a level's numbers to the files that show them.

        They come by ascending index, in the order of a group's rows.
        """
        regions, _ = self._universe.entities[level.geography].columns
        codes = self._universe.iteration_columns[level.level.iterations].codes
        for table in self._tables.values():
            order = table.order[numbers.kinds]
            shown = np.flatnonzero(~numbers.is_withheld & (order != _NOT_THERE))
            rows = shown[np.lexsort((order[shown], numbers.indices[shown]))]
            indices = numbers.indices[rows]
            kinds = pa.array(numbers.kinds[rows])
            table.file.append(
                regions.take(pa.array(level.index.entity_of(indices))),
                pa.repeat(pa.scalar(level.geography.label), len(rows)),
                codes.take(pa.array(level.index.iteration_of(indices))),
                {name: column.take(kinds) for name, column in table.texts.items()},
                pa.array(numbers.counts[rows]),
            )

    def close(self) -> None:
        """Close all files."""
        for table in self._tables.values():
            table.file.close()


class _TableOfNumbers:
    """One table file, with the place and the texts of each kind of number in a group's rows."""

    def __init__(self, path: Path, layout: TableFileLayout, kinds: NumberKinds) -> None:
        self.file = TableFile(path, layout)
        order, texts = [], []
        for kind in kinds.kinds:
            row = kind.shape.file_row_of_lines(layout.folder)[kind.shape.lines.index(kind.line)]
            nothing = ("",) * len(layout.label_columns)
            order.append(row)
            texts.append(
                nothing if row == _NOT_THERE else kind.shape.file_rows[layout.folder][row].texts
            )
        self.order = np.array(order, dtype=np.int64)
        self.texts = {  # also of no number at all
            name: pa.array([of_number[place] for of_number in texts], pa.string())
            for place, name in enumerate(layout.label_columns)
        }
