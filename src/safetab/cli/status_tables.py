"""What `safetab status` shows people: a reason for every number that is absent."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar

import pyarrow as pa
import typer

from safetab.census.geography_levels import GeographyLevel
from safetab.cli.messages import say
from safetab.cli.wrapping import terminal_width
from safetab.estimates.reading.lookup import Lookup
from safetab.foundation.findings import Finding, InvalidInput
from safetab.foundation.text_files import printable
from safetab.release.group_status import (
    NOT_IN_FILES,
    NOT_SELECTED,
    NOT_TABULATED,
    SUPPRESSED,
    Slice,
    absent_status,
    statuses,
)
from safetab.release.numbers.number_columns import COPIED, PUBLISHED, WITHHELD
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import Universe
from safetab.release.universe_files import FAMILY

T = TypeVar("T")

_COUNTED = ("status", "reason")
_WHY = {
    PUBLISHED: "measured here",
    COPIED: "from an area of the same blocks",
    SUPPRESSED: "the noisy total is too small to be shown",
    NOT_SELECTED: "no total of its people was published",
    NOT_IN_FILES: "published elsewhere, or not at all",
    WITHHELD: "the files show X in its place",  # by a rule that they don't name
}
_UNKNOWN_TABLE = "table not known (the files have its total alone)"
_LEVELS = {level.label: level for level in GeographyLevel}
_LEGEND = {
    SUPPRESSED: "Suppressed: nobody, or few people. Absent is not zero.",
    NOT_SELECTED: "Absent is not zero.",
    NOT_IN_FILES: "Absent is not zero.",
}
_GAP, _LEAST_REASON, _LEAST_WIDTH, _COUNT_WIDTH = 2, 26, 20, 11


@dataclass(frozen=True, slots=True)
class WantedStatuses:
    """Levels, areas and groups as they were named; nothing means all."""

    levels: tuple[str, ...]
    areas: tuple[str, ...]
    groups: tuple[str, ...]

    def slice_of(self, release: ReleaseFolder) -> Slice:
        """What the names mean in a release; a group's name may mean several kinds. Raises InvalidInput, with all."""
        lookup, findings = Lookup(release.universe, str(release.path)), list[Finding]()
        levels = _found(lookup.geographies_of, self.levels, findings)
        level = self.levels[0] if len(self.levels) == 1 and levels else None
        areas = _found(partial(lookup.entity, level=level), self.areas, findings)
        codes = [one.code for groups in _found(lookup.groups, self.groups, findings) for one in groups]
        if findings:
            raise InvalidInput(findings)
        chosen = [one.geography for one in areas] or [one for of_word in levels for one in of_word]
        return Slice(
            tuple(dict.fromkeys(one.label for one in chosen)),
            tuple(dict.fromkeys(one.region_id for one in areas)),
            tuple(dict.fromkeys(codes)),
        )


def _found(find: Callable[[str], T], names: Iterable[str], findings: list[Finding]) -> list[T]:
    """What the names mean; of those that mean nothing, or too much, the findings."""
    found = []
    for name in names:
        try:
            found.append(find(name))
        except InvalidInput as refused:
            findings += refused.findings
    return found


def show_statuses(release: ReleaseFolder, wanted: Slice) -> None:
    """Each group if an area or a group was named; else how many groups of each level are there, or absent and why."""
    if_absent = absent_status(release.universe.product, release.facts.origin)
    of_status = max(len(NOT_TABULATED), len(if_absent))
    batches = statuses(release, wanted)
    if wanted.regions or wanted.iterations:
        _show_each(release.universe, batches, of_status, is_one_group=len(wanted.iterations) == 1)
    else:
        _show_counts(batches, of_status)
    say(_LEGEND[if_absent])


def _show_each(universe: Universe, batches: Iterable[pa.RecordBatch], of_status: int, *, is_one_group: bool) -> None:
    """A heading for each area and a line for each group; of one group alone, a line for each area."""
    reasons, heading = _Reasons(universe), None
    of_reason = max(terminal_width() // 3, _LEAST_REASON)
    widths = (_what_is_left(of_status + of_reason), of_status, of_reason)
    for row in (row for batch in batches for row in batch.to_pylist()):
        level = _LEVELS[row["geography_level"]]
        area = f"{row['region_name']} ({level.entity_kind.noun} {row['region_id']})"
        group = f"{row['iteration_name']} ({row['iteration_code']})"
        above, label = (group, area) if is_one_group else (area, group)
        above += f", {row[FAMILY]}" if FAMILY in row else ""
        if above != heading:
            say(f"{'' if heading is None else chr(10)}{above}")
            typer.echo(_line(("area" if is_one_group else "group", "status", "table, or why not"), widths))
            heading = above
        typer.echo(_line((label, row["status"], reasons.of(row)), widths))


def _show_counts(batches: Iterable[pa.RecordBatch], of_status: int) -> None:
    """For each level how many groups have which status, and why."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for batch in batches:
        rows = pa.Table.from_batches([batch]).group_by(list(_COUNTED)).aggregate([([], "count_all")]).to_pylist()
        for row in rows:
            family = batch[FAMILY][0].as_py() if FAMILY in batch.schema.names else ""
            level = f"{batch['geography_level'][0]}{f', {family}' if family else ''}"
            why = row["reason"] or _WHY[row["status"]]
            counts.setdefault(level, Counter())[row["status"], why] += row["count_all"]
    widths = (_COUNT_WIDTH, of_status, _what_is_left(_COUNT_WIDTH + of_status))
    for level, of_level in counts.items():
        say(f"{level}: {sum(of_level.values()):,} groups")
        for (status, why), count in of_level.most_common():
            typer.echo(_line((f"{count:>{_COUNT_WIDTH},}", status, why), widths))
    say("Name an area or a group to see each; --csv is for programs.")


class _Reasons:
    """Why groups have the status that they have."""

    def __init__(self, universe: Universe) -> None:
        self._universe = universe
        self._iterations = {one.code: one for one in universe.lists.iterations}
        self._families = {one.name: one for one in universe.product.families}

    def of(self, row: Mapping[str, Any]) -> str:
        status = str(row["status"])
        if status in {PUBLISHED, COPIED}:
            donor = f"from {row['donor_geography_level']} {row['donor_region_id']}: " if status == COPIED else ""
            table = row["table"]
            return donor + (_UNKNOWN_TABLE if table is None else self._universe.product.shape(table).words)
        if status != SUPPRESSED:
            return row["reason"] or _WHY[status]
        return self._threshold(row)

    def _threshold(self, row: Mapping[str, Any]) -> str:
        family = self._families[row[FAMILY]] if FAMILY in row else self._universe.product.families[0]
        iteration = self._iterations[row["iteration_code"]]
        level = self._universe.level_of(_LEVELS[row["geography_level"]], iteration.level, family)
        return f"noisy total not above {level.design.suppression_threshold}"


def _what_is_left(width: int) -> int:
    """For one of three columns, if the others take so much."""
    return max(terminal_width() - 2 - 2 * _GAP - width, _LEAST_WIDTH)


def _line(cells: tuple[str, str, str], widths: tuple[int, int, int]) -> str:
    """Three columns; what is too long for its column goes on below, indented."""
    parts = [_lines_of(printable(cell), width) for cell, width in zip(cells, widths, strict=True)]
    between = " " * _GAP
    return "\n".join(
        f"  {between.join(f'{cell:{width}}' for cell, width in zip(texts, widths, strict=True))}".rstrip()
        for texts in zip_longest(*parts, fillvalue="")
    )


def _lines_of(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
