"""The answer of `safetab status`: a reason for every missing number; CSV for programs."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.csv
import typer

from safetab.cli.messages import say, terminal_width
from safetab.cli.standard_streams import is_unread
from safetab.foundation.files import printable
from safetab.foundation.findings import Finding, InvalidInput
from safetab.foundation.new_files import write_new_file
from safetab.foundation.safe_csv import safe_texts
from safetab.model.census.census import Census
from safetab.model.census.groups import CharacteristicIteration
from safetab.release.estimates.reading.lookup import Lookup
from safetab.release.files import group_statuses
from safetab.release.files.data_dictionary import with_ids
from safetab.release.files.group_statuses import SUPPRESSED, Slice, statuses
from safetab.release.files.numbers.number_files import COPIED, PUBLISHED, WITHHELD
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_universe import Universe
from safetab.release.files.universe_files import FAMILY

_T = TypeVar("_T")
_REASON_OF_STATUS = {
    PUBLISHED: "measured here",
    COPIED: "from an area of the same {smallest_areas}",
    SUPPRESSED: "the noisy total is too small to be shown",
    group_statuses.NOT_SELECTED: "no total of its people was published",
    group_statuses.NOT_IN_FILES: "published elsewhere, or not at all",
    WITHHELD: "the files show X in its place",  # by a rule that they don't name
}
_UNKNOWN_TABLE = "table not known (the files have its total alone)"
_GAP = 2
_LEAST_REASON_WIDTH = 26
_LEAST_WIDTH = 20
_COUNT_WIDTH = 11


def slice_of(
    release: ReleaseFolder,
    level_names: Sequence[str],
    area_names: Sequence[str],
    group_names: Sequence[str],
) -> Slice:
    """The part of a release that the names mean; no name of a kind means all of it.

    A group's name may mean several kinds. Raises InvalidInput, with every name that means nothing
    or too much.
    """
    lookup = Lookup(release.universe, str(release.path))
    findings: list[Finding] = []
    levels = _found(lookup.geographies_of, level_names, findings)
    level = level_names[0] if len(level_names) == 1 and levels else None
    areas = _found(partial(lookup.entity, level=level), area_names, findings)
    groups = _found(lookup.groups, group_names, findings)
    if findings:
        raise InvalidInput(findings)
    chosen = dict.fromkeys([area.geography for area in areas] or chain.from_iterable(levels))
    regions = dict.fromkeys(area.region_id for area in areas)
    codes = dict.fromkeys(group.code for group in chain.from_iterable(groups))
    return Slice(tuple(geography.label for geography in chosen), tuple(regions), tuple(codes))


def _found(find: Callable[[str], _T], names: Iterable[str], findings: list[Finding]) -> list[_T]:
    """The meanings of the names; findings about the others are appended."""
    found = []
    for name in names:
        try:
            found.append(find(name))
        except InvalidInput as refused:
            findings += refused.findings
    return found


def print_statuses(batches: Iterable[pa.RecordBatch], census: Census) -> None:
    """Print CSV rows on standard output, until its reader leaves.

    Names come from files, so control characters in them are replaced.
    """
    for number, batch in enumerate(batches):
        if is_unread():
            return
        sys.stdout.write(printable(_csv(batch, census, is_first=number == 0).decode()))


def write_statuses(batches: Iterable[pa.RecordBatch], census: Census, path: Path) -> int:
    """Write a new CSV file, whole or not at all, and return its number of rows."""
    rows = 0

    def write(unfinished: Path) -> None:
        nonlocal rows
        with unfinished.open("wb") as file:
            for batch in batches:
                file.write(_csv(batch, census, is_first=rows == 0))
                rows += len(batch)

    write_new_file(path, write)
    return rows


def _csv(batch: pa.RecordBatch, census: Census, *, is_first: bool) -> bytes:
    """The rows as CSV, the first batch with a header.

    Ids keep their zeros, and no cell can be read as a formula.
    """
    options = pa.csv.WriteOptions(include_header=is_first, quoting_style="needed")
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(safe_texts(with_ids(pa.Table.from_batches([batch]), census)), sink, options)
    return bytes(sink.getvalue())


def show_statuses(release: ReleaseFolder, wanted: Slice) -> None:
    """Print each group if an area or a group was named, else counts of each level."""
    if_absent = group_statuses.absent_status(release.universe.product, release.facts.origin)
    status_width = max(len(group_statuses.NOT_TABULATED), len(if_absent))
    batches = statuses(release, wanted)
    if wanted.regions or wanted.iterations:
        _show_each(
            release.universe, batches, status_width, is_one_group=len(wanted.iterations) == 1
        )
    else:
        _show_counts(release.universe, batches, status_width)
    say(
        f"{'Suppressed: nobody, or few people. ' if if_absent == SUPPRESSED else ''}Absent is not"
        " zero."
    )


def _show_each(
    universe: Universe, batches: Iterable[pa.RecordBatch], status_width: int, *, is_one_group: bool
) -> None:
    """A heading for each area and a line for each group; for one group, a line for each area."""
    iterations = {iteration.code: iteration for iteration in universe.lists.iterations}
    reason_width = max(terminal_width() // 3, _LEAST_REASON_WIDTH)
    widths = (_width_left(status_width + reason_width), status_width, reason_width)
    heading = None
    for row in (row for batch in batches for row in batch.to_pylist()):
        level = universe.census.area_level(row["geography_level"])
        area = f"{row['region_name']} ({level.kind.noun} {row['region_id']})"
        group = f"{row['iteration_name']} ({row['iteration_code']})"
        above, label = (group, area) if is_one_group else (area, group)
        above += f", {row[FAMILY]}" if FAMILY in row else ""
        if above != heading:
            say(above if heading is None else f"\n{above}")
            typer.echo(
                _line(("area" if is_one_group else "group", "status", "table, or why not"), widths)
            )
            heading = above
        typer.echo(_line((label, row["status"], _reason(universe, iterations, row)), widths))


def _show_counts(universe: Universe, batches: Iterable[pa.RecordBatch], status_width: int) -> None:
    """The number of groups of each level by status and reason."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for batch in batches:
        level = str(batch["geography_level"][0])
        if FAMILY in batch.schema.names:
            level += f", {batch[FAMILY][0]}"
        counted = pa.Table.from_batches([batch]).group_by(["status", "reason"])
        for row in counted.aggregate([([], "count_all")]).to_pylist():
            reason = row["reason"] or _usual_reason(universe, row["status"])
            counts.setdefault(level, Counter())[row["status"], reason] += row["count_all"]
    widths = (_COUNT_WIDTH, status_width, _width_left(_COUNT_WIDTH + status_width))
    for level, of_level in counts.items():
        say(f"{level}: {sum(of_level.values()):,} groups")
        for (status, reason), count in of_level.most_common():
            typer.echo(_line((f"{count:>{_COUNT_WIDTH},}", status, reason), widths))
    say("To see each group, add --area NAME or --group NAME; --csv is for programs.")


def _reason(
    universe: Universe, iterations: Mapping[str, CharacteristicIteration], row: Mapping[str, Any]
) -> str:
    """The table of a published number, or the reason why it is missing."""
    status, product = str(row["status"]), universe.product
    if status in {PUBLISHED, COPIED}:
        donor = (
            f"from {row['donor_geography_level']} {row['donor_region_id']}: "
            if status == COPIED
            else ""
        )
        return donor + (
            _UNKNOWN_TABLE if row["table"] is None else product.shape(row["table"]).words
        )
    if status != SUPPRESSED:
        return row["reason"] or _usual_reason(universe, status)
    family = next(each for each in product.families if each.name == row.get(FAMILY, each.name))
    area_level = universe.census.area_level(row["geography_level"])
    level = universe.level_of(area_level, iterations[row["iteration_code"]].level, family)
    return f"noisy total not above {level.design.suppression_threshold}"


def _usual_reason(universe: Universe, status: str) -> str:
    """The reason for a status, if a row has none of its own."""
    return _REASON_OF_STATUS[status].format(smallest_areas=universe.census.words.smallest_areas)


def _width_left(width: int) -> int:
    """The width of one of three columns if the two others take `width` together."""
    return max(terminal_width() - 2 - 2 * _GAP - width, _LEAST_WIDTH)


def _line(cells: tuple[str, str, str], widths: tuple[int, int, int]) -> str:
    """Three columns; a text too long for its column continues below, indented."""
    columns = []
    for text, width in zip(map(printable, cells), widths, strict=True):
        wrapper = textwrap.TextWrapper(
            width, "", "  ", break_on_hyphens=False, break_long_words=False
        )
        columns.append([text] if len(text) <= width else wrapper.wrap(text))
    lines = []
    for texts in zip_longest(*columns, fillvalue=""):
        padded = [f"{text:{width}}" for text, width in zip(texts, widths, strict=True)]
        lines.append(f"  {(' ' * _GAP).join(padded)}".rstrip())
    return "\n".join(lines)
