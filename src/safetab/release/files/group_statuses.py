"""Why each group of a release has a number or not.

Absent is not zero: the universe says for each group that has no number why it has none.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from safetab.foundation.arrays import Integers
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.groups import CharacteristicIteration
from safetab.model.products.product import Product, Selector, TableFamily
from safetab.release.files.checksums import damage_as_invalid_input
from safetab.release.files.documents import Origin
from safetab.release.files.numbers.level_numbers import RULES
from safetab.release.files.numbers.number_files import COPIED, PUBLISHED, WITHHELD
from safetab.release.files.numbers.published_groups import NO_DONOR
from safetab.release.files.numbers.read_numbers import UNKNOWN, NumberBatch, NumbersReader
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_universe import Entities
from safetab.release.files.universe_files import FAMILY
from safetab.release.outputs.pass_files import texts

SUPPRESSED = "suppressed"
NOT_SELECTED = "no published total"
NOT_IN_FILES = "not in the files"
NOT_TABULATED = "not tabulated"
_STATUSES_OF_GROUPS = (
    PUBLISHED,
    COPIED,
    WITHHELD,
    SUPPRESSED,
    NOT_SELECTED,
    NOT_IN_FILES,
    NOT_TABULATED,
)

_ABSENT = {
    Selector.NOISY_STAGE_1: SUPPRESSED,
    Selector.PUBLISHED_TOTALS: NOT_SELECTED,
    Selector.NONE: NOT_TABULATED,  # every group that is tabulated has a number
}


def absent_status(product: Product, origin: Origin | None = None) -> str:
    """Why a group that is tabulated has no number; files that are not whole tables don't tell."""
    if origin is not None and not origin.is_complete:
        return NOT_IN_FILES
    return _ABSENT[product.selector]


_GROUPS_AT_ONCE = 1 << 20
_READ = (
    "region_id", "iteration_code", "table", "table_id", "line", "status", "rule",
    "donor_geography_level", "donor_region_id",
)  # fmt: skip
_COLUMNS = (
    "geography_level", "region_id", "region_name", "iteration_code", "iteration_name", "status",
    "table", "reason", "donor_geography_level", "donor_region_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slice:
    """Which groups are asked for; nothing means all."""

    levels: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    iterations: tuple[str, ...] = ()


def statuses(release: ReleaseFolder, wanted: Slice) -> Iterator[pa.RecordBatch]:
    """A row for each group of a slice of the universe.

    Entities come by rising id, each with its iterations by code. `reason` is the rule of a withheld
    total, or why the group isn't tabulated. A group with a total may still lack numbers of its
    table that a rule withheld: their own rows say so. If the product has several table families, a
    level comes once for each, and a column names the family. Nothing is stored for absent groups:
    their reason follows from the universe. Raises InvalidInput, before any row, if the universe
    lacks a level, a region or an iteration of the slice.
    """
    geographies = _geographies(release, wanted)
    return (
        batch
        for geography in geographies
        for family in release.universe.product.families
        for batch in _of_geography(release, geography, family, wanted)
    )


def status_schema(product: Product) -> pa.Schema:
    """The columns of `statuses`, all of them texts; the family is a column if there are several."""
    names = (*_COLUMNS, FAMILY) if product.has_several_families else _COLUMNS
    return pa.schema([(name, pa.string()) for name in names])


def _geographies(release: ReleaseFolder, wanted: Slice) -> tuple[AreaLevel, ...]:
    """The geography levels that a slice asks for.

    Raises InvalidInput if the release lacks anything in it.
    """
    universe = release.universe
    known = {level.label: level for level in universe.entities}
    geographies = tuple(
        level for label, level in known.items() if not wanted.levels or label in wanted.levels
    )
    regions = {
        region
        for level in geographies
        if wanted.regions
        for region in universe.entities[level].region_ids
    }
    codes = {iteration.code for iteration in universe.lists.iterations}
    asked_for: list[tuple[str, tuple[str, ...], Container[str], str]] = [
        ("--level", wanted.levels, known, f"is not in this release. It has {', '.join(known)}."),
        (
            "--region",
            wanted.regions,
            regions,
            "is not an entity of these levels. Ids have their leading zeros.",
        ),
        ("--iteration", wanted.iterations, codes, "is not an iteration code of this release."),
    ]
    findings = FindingsOf(str(release.path))
    for option, names, listed, message in asked_for:
        for name in names:
            if name not in listed:
                findings.error(option, f'"{name}" {message}')
    if findings.has_errors:
        raise InvalidInput(findings.findings)
    return geographies


def _of_geography(
    release: ReleaseFolder, geography: AreaLevel, family: TableFamily, wanted: Slice
) -> Iterator[pa.RecordBatch]:
    """Batches of whole entities of one geography level."""
    entities = release.universe.entities[geography]
    ids = entities.region_ids
    chosen = np.flatnonzero(np.isin(ids, wanted.regions)) if wanted.regions else np.arange(len(ids))
    listed = release.universe.lists.iterations
    iterations = [
        each for each in listed if not wanted.iterations or each.code in wanted.iterations
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
    positions: Integers


def _batch(
    release: ReleaseFolder,
    geography: AreaLevel,
    part: _Part,
    iterations: Sequence[CharacteristicIteration],
) -> pa.RecordBatch:
    """The statuses of all groups of some entities, as one batch of rows."""
    entity, iteration = np.divmod(
        np.arange(len(part.ids) * len(iterations)), max(len(iterations), 1)
    )
    universe = release.universe
    absent = [universe.why_not_tabulated(geography, each, part.family) for each in iterations]
    if_absent = absent_status(universe.product, release.facts.origin)
    status = np.array(
        [_STATUSES_OF_GROUPS.index(if_absent if why is None else NOT_TABULATED) for why in absent]
    )
    reason = np.array([-1 if why is None else universe.reasons.index(why) for why in absent])
    row_status, row_reason = status[iteration], reason[iteration]
    shape, donor_level, donor = np.full((3, len(entity)), UNKNOWN, dtype=np.int64)
    for level in universe.levels:
        is_asked_for = level.geography == geography and level.family is part.family
        file = release.open_numbers(level) if is_asked_for else None
        if file is None:
            continue
        with damage_as_invalid_input(file.path):
            for rows, found in _published_totals(file, part, iterations):
                # STATUSES_OF_GROUPS begin with the statuses of numbers.
                row_status[rows] = found.status
                row_reason[rows] = np.where(
                    found.rule == UNKNOWN, -1, found.rule + len(universe.reasons)
                )
                shape[rows] = np.where(found.table_is_known, found.shape, UNKNOWN)
                donor_level[rows] = found.donor_level
                donor[rows] = found.donor
    copied = np.flatnonzero(donor != NO_DONOR)
    of_copied = zip(donor[copied].tolist(), donor_level[copied].tolist(), strict=True)
    levels = universe.census.area_levels
    donors = [levels[level].kind.ids.text(entity_id) for entity_id, level in of_copied]
    donor[copied] = np.arange(len(copied))
    columns = {
        "geography_level": texts([geography.label], np.zeros_like(entity)),
        "region_id": texts(part.ids, entity),
        "region_name": texts(
            [part.entities.names[position] for position in part.positions], entity
        ),
        "iteration_code": texts([each.code for each in iterations], iteration),
        "iteration_name": texts([each.name for each in iterations], iteration),
        "status": texts(_STATUSES_OF_GROUPS, row_status),
        "reason": texts([*universe.reasons, *(rule.value for rule in RULES)], row_reason),
        "table": texts([each.label for each in part.family.shapes], shape),
        "donor_geography_level": texts([each.label for each in levels], donor_level),
        "donor_region_id": texts(donors, donor),
        FAMILY: texts([part.family.name], np.zeros_like(entity)),
    }
    schema = status_schema(universe.product)
    return pa.record_batch(
        [columns[name].cast(pa.string()) for name in schema.names], schema=schema
    )


def _published_totals(
    file: NumbersReader, part: _Part, iterations: Sequence[CharacteristicIteration]
) -> Iterator[tuple[Integers, NumberBatch]]:
    """The totals of groups that have one, with the rows of these groups in the batch."""
    number_of_code = {iteration.code: number for number, iteration in enumerate(iterations)}
    numbers = [number_of_code.get(iteration.code, UNKNOWN) for iteration in file.level.iterations]
    number_of_iteration = np.array(numbers, dtype=np.int64)
    number_of_entity = np.full(len(part.entities), UNKNOWN, dtype=np.int64)
    number_of_entity[part.positions] = np.arange(len(part.positions))
    for batch in file.batches(_READ, part.ids):
        entity = number_of_entity[batch.entity]
        iteration = number_of_iteration[batch.iteration]
        is_wanted = batch.is_total & (entity != UNKNOWN) & (iteration != UNKNOWN)
        yield (entity * len(iterations) + iteration)[is_wanted], batch.take(is_wanted)
