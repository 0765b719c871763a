"""Absent is not zero: for any population group of the universe why its number is there, or why it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import CharacteristicIteration, IterationLevel
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.foundation.parquet_facts import text_range
from safetab.outputs.text_columns import texts
from safetab.products.product import TOTAL_LINE, Product, Selector, Shape, TableFamily
from safetab.release.damage import damage_told
from safetab.release.numbers.number_columns import COPIED, PUBLISHED, WITHHELD
from safetab.release.origin import LEAST_MARGIN, Origin
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import Entities, NotTabulated
from safetab.release.universe_files import FAMILY

SUPPRESSED = "suppressed"
NOT_SELECTED = "no published total"
NOT_IN_FILES = "not in the files"
NOT_TABULATED = "not tabulated"
STATUSES_OF_GROUPS = (PUBLISHED, COPIED, WITHHELD, SUPPRESSED, NOT_SELECTED, NOT_IN_FILES, NOT_TABULATED)


def absent_status(product: Product, origin: Origin | None = None) -> str:
    """Why a group that is tabulated has no number; files that are not whole tables don't tell."""
    if origin is not None and not origin.is_complete:
        return NOT_IN_FILES
    return SUPPRESSED if product.selector is Selector.NOISY_STAGE_1 else NOT_SELECTED


_GROUPS_AT_ONCE = 1 << 20
_READ_SCHEMA = pa.schema(
    [
        (name, pa.string())
        for name in (
            "region_id", "iteration_code", "table", "status", "rule", "donor_geography_level", "donor_region_id",
        )
    ]
)  # fmt: skip
_SCHEMA = pa.schema(
    [
        (name, pa.string())
        for name in (
            "geography_level", "region_id", "region_name", "iteration_code", "iteration_name", "status", "table",
            "reason", "donor_geography_level", "donor_region_id",
        )
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """Why a group's total is there or not.

    `reason` is the rule of a withheld total, or why the group isn't tabulated. A group with a total may still lack
    numbers of its table that a rule withheld: their own rows say so.
    """

    status: str
    shape: Shape | None = None
    reason: str | None = None
    donor: tuple[GeographyLevel, str] | None = None

    def __str__(self) -> str:
        if self.status == NOT_TABULATED:
            return f"not tabulated at this level: {self.reason}"
        if self.status == SUPPRESSED:
            return "suppressed: its noisy total is too small to be shown. It is not known to be zero."
        if self.status == NOT_SELECTED:
            return "no total of its people was published, so nothing else is. It is not known to be zero."
        if self.status == NOT_IN_FILES:
            return "not in the files that were read: published elsewhere, or suppressed. It is not known to be zero."
        table = f" ({self.shape.label})" if self.shape else ""
        donor = f" from {self.donor[0].label} {self.donor[1]}" if self.donor else ""
        if self.status == WITHHELD:
            return f"withheld {f'by the rule {self.reason}' if self.reason else 'in the files that were read'}{table}"
        return f"{self.status}{donor}{table}"


@dataclass(frozen=True, slots=True)
class Slice:
    """Which groups are asked for; nothing means all."""

    levels: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    iterations: tuple[str, ...] = ()


def status_of(release: ReleaseFolder, level: str, region: str, iteration: str) -> GroupStatus:
    """Why a group of the universe has a number, or none. Raises InvalidInput if the universe doesn't have the group."""
    rows = pa.Table.from_batches(statuses(release, Slice((level,), (region,), (iteration,)))).to_pylist()
    row = rows[0]  # of the first family, if there are several
    donor = None
    if row["donor_region_id"] is not None:
        donor = next(one for one in GeographyLevel if one.label == row["donor_geography_level"]), row["donor_region_id"]
    shape = None if row["table"] is None else release.universe.product.shape(row["table"])
    return GroupStatus(row["status"], shape, row["reason"], donor)


def statuses(release: ReleaseFolder, wanted: Slice) -> Iterator[pa.RecordBatch]:
    """A row for each group of a slice of the universe: entities by rising id, each with its iterations by code.

    If the product has several table families, a level comes once for each, and a column names the family.
    Nothing is stored for absent groups: their reason follows from the universe. Raises InvalidInput at once if a level,
    a region or an iteration that is asked for is not in the universe.
    """
    geographies = _geographies(release, wanted)
    return (
        batch
        for geography in geographies
        for family in release.universe.product.families
        for batch in _of_geography(release, geography, family, wanted)
    )


def status_schema(product: Product) -> pa.Schema:
    return _SCHEMA.append(pa.field(FAMILY, pa.string())) if product.has_several_families else _SCHEMA


def _geographies(release: ReleaseFolder, wanted: Slice) -> tuple[GeographyLevel, ...]:
    universe, findings = release.universe, FindingsOf(str(release.path))
    known = {level.label: level for level in universe.entities}
    for label in wanted.levels:
        if label not in known:
            findings.error("--level", f'"{label}" is not in this release. It has {", ".join(known)}.')
    geographies = tuple(level for label, level in known.items() if not wanted.levels or label in wanted.levels)
    regions = {region for level in geographies if wanted.regions for region in universe.entities[level].region_ids}
    for region in wanted.regions:
        if region not in regions:
            findings.error(
                "--region", f'"{region}" is no entity of the levels asked for. Ids have their leading zeros.'
            )
    codes = {iteration.code for iteration in universe.lists.iterations}
    for code in wanted.iterations:
        if code not in codes:
            findings.error("--iteration", f'"{code}" is no iteration code of this release.')
    if findings.has_errors:
        raise InvalidInput(findings.findings)
    return geographies


def _of_geography(
    release: ReleaseFolder, geography: GeographyLevel, family: TableFamily, wanted: Slice
) -> Iterator[pa.RecordBatch]:
    """Batches of whole entities of one geography level."""
    entities = release.universe.entities[geography]
    ids = entities.region_ids
    chosen = np.flatnonzero(np.isin(ids, wanted.regions)) if wanted.regions else np.arange(len(ids))
    iterations = [
        iteration
        for iteration in release.universe.lists.iterations
        if not wanted.iterations or iteration.code in wanted.iterations
    ]
    at_once = max(_GROUPS_AT_ONCE // max(len(iterations), 1), 1)
    for first in range(0, len(chosen), at_once):
        some = chosen[first : first + at_once]
        part = _Part(family, entities, [ids[position] for position in some], some)
        yield _batch(release, geography, part, iterations)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Some entities of a level, in one table family: their ids, rising, and their positions."""

    family: TableFamily
    entities: Entities
    ids: list[str]
    positions: NDArray[np.int64]


def _batch(
    release: ReleaseFolder, geography: GeographyLevel, part: _Part, iterations: Sequence[CharacteristicIteration]
) -> pa.RecordBatch:
    entity, iteration = np.divmod(np.arange(len(part.ids) * len(iterations)), max(len(iterations), 1))
    one_of_list = {(one.level, one.listed): one for one in iterations}  # of a list all have the same fate
    why_absent = {of: _if_absent(release, geography, part.family, one) for of, one in one_of_list.items()}
    absent = [why_absent[one.level, one.listed] for one in iterations]
    reasons = [*(reason.value for reason in NotTabulated)]
    if_absent = absent_status(release.universe.product, release.facts.origin)
    status = np.array([STATUSES_OF_GROUPS.index(if_absent if why is None else NOT_TABULATED) for why in absent])
    reason = np.array([-1 if why is None else reasons.index(why.value) for why in absent])
    row_status, row_reason = status[iteration], reason[iteration]
    rows, shown = _published_rows(release, geography, part, iterations)
    row_status[rows] = _positions(shown["status"], STATUSES_OF_GROUPS)
    all_reasons = [*reasons, *_values(shown["rule"])]
    row_reason[rows] = _positions(shown["rule"], all_reasons)
    columns = {
        "geography_level": texts([geography.label], np.zeros_like(entity)),
        "region_id": texts(part.ids, entity),
        "region_name": texts([part.entities.names[position] for position in part.positions], entity),
        "iteration_code": texts([one.code for one in iterations], iteration),
        "iteration_name": texts([one.name for one in iterations], iteration),
        "status": texts(STATUSES_OF_GROUPS, row_status),
        "reason": texts(all_reasons, row_reason),
    }
    for name in ("table", "donor_geography_level", "donor_region_id"):
        values = _values(shown[name])
        position = np.full(len(entity), -1, dtype=np.int64)
        position[rows] = _positions(shown[name], values)
        columns[name] = texts(values, position)
    columns[FAMILY] = texts([part.family.name], np.zeros_like(entity))
    schema = status_schema(release.universe.product)
    return pa.record_batch([columns[name].cast(pa.string()) for name in schema.names], schema=schema)


def _if_absent(
    release: ReleaseFolder, geography: GeographyLevel, family: TableFamily, iteration: CharacteristicIteration
) -> NotTabulated | None:
    """Why groups of the iteration can't have a number there; none if they are suppressed when absent."""
    if iteration.level is IterationLevel.MAJOR:
        return NotTabulated.MAJOR_GROUP
    return release.universe.level_of(geography, iteration.level, family).why_not_tabulated(iteration)


def _published_rows(
    release: ReleaseFolder, geography: GeographyLevel, part: _Part, iterations: Sequence[CharacteristicIteration]
) -> tuple[NDArray[np.int64], pa.Table]:
    """The groups of these entities that have rows: where they stand in the batch, and what their totals say."""
    totals = release.universe.product.total_table_ids
    more = [] if release.facts.origin is None else [LEAST_MARGIN]
    found = [_read(path, part, iterations, totals, more) for path in _files(release, geography, part.family)]
    table = pa.concat_tables([_READ_SCHEMA.empty_table(), *found])
    entity = pc.index_in(table["region_id"], pa.array(part.ids, pa.string()))
    iteration = pc.index_in(table["iteration_code"], pa.array([one.code for one in iterations], pa.string()))
    return np.asarray(entity).astype(np.int64) * len(iterations) + np.asarray(iteration), table


def _files(release: ReleaseFolder, geography: GeographyLevel, family: TableFamily) -> list[Path]:
    levels = [one for one in release.universe.levels if one.geography is geography and one.family is family]
    return [path for level in levels if (path := release.numbers_of(level)) is not None]


def _read(
    path: Path,
    part: _Part,
    iterations: Sequence[CharacteristicIteration],
    total_ids: Sequence[str],
    more: Sequence[str],
) -> pa.Table:
    """Ids in a file rise, so that row groups outside the range are not read."""
    condition = pc.field("table_id").isin(total_ids) & (pc.field("line") == TOTAL_LINE)
    condition &= pc.field("region_id").isin(part.ids)
    condition &= pc.field("iteration_code").isin([one.code for one in iterations])
    with damage_told(path), pa.parquet.ParquetFile(path) as file:
        columns = [*_READ_SCHEMA.names, *more]
        found = [
            file.read_row_group(number, [*columns, "table_id", "line"]).filter(condition).select(columns)
            for number in range(file.num_row_groups)
            if _may_hold(text_range(file, number, "region_id"), part.ids)
        ]
        none = file.schema_arrow.empty_table().select(columns)
        return _without_unknown_tables(pa.concat_tables([none, *found])).cast(_READ_SCHEMA)


def _may_hold(regions: tuple[str, str] | None, wanted: Sequence[str]) -> bool:
    return regions is None or (regions[0] <= wanted[-1] and regions[1] >= wanted[0])


def _without_unknown_tables(table: pa.Table) -> pa.Table:
    """No table where it is not known, which the margin of error then tells."""
    if LEAST_MARGIN not in table.column_names:
        return table
    known = pc.if_else(table[LEAST_MARGIN].is_null(), table["table"], pa.scalar(None, pa.string()))
    return table.set_column(table.schema.get_field_index("table"), "table", known).drop_columns([LEAST_MARGIN])


def _values(column: pa.ChunkedArray) -> list[str]:
    return sorted(value for value in pc.unique(column).to_pylist() if value is not None)


def _positions(column: pa.ChunkedArray, values: Sequence[str]) -> NDArray[np.int64]:
    found = pc.index_in(column, pa.array(values, pa.string())).cast(pa.int64()).fill_null(-1)
    return np.asarray(found)
