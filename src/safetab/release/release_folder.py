"""A release folder, opened: its facts, its universe, and why a group's number is there or not.

Absent is not zero: the universe says for each group that has no number why it has none.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.geography import region_id
from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.census.iterations import CharacteristicIteration, IterationLevel
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import resolved
from safetab.foundation.findings import (
    FORMAT,
    OUTPUT_FORMAT,
    FindingsOf,
    InvalidInput,
    readable_format,
    shortened,
)
from safetab.outputs.pass_files import texts
from safetab.privacy.calibration import PrivacyDefinition
from safetab.privacy.output_status import status_of_json
from safetab.products.all_products import product_named
from safetab.products.product import Product, Selector, Shape, TableFamily
from safetab.release.checksums import CHECKSUMS, CHECKSUMS_FILE, check_files, damage_as_invalid_input, invalid
from safetab.release.documents import DATAPACKAGE_FILE, PRIVACY_FILE, Origin, ReleaseFacts
from safetab.release.numbers.level_numbers import RULES
from safetab.release.numbers.number_files import (
    COPIED,
    PUBLISHED,
    RELEASE_FOLDER,
    WITHHELD,
    Column,
    number_columns,
    numbers_file,
)
from safetab.release.numbers.published_groups import NO_DONOR
from safetab.release.numbers.read_numbers import GEOGRAPHIES, UNKNOWN, NumberBatch, NumbersReader
from safetab.release.release_options import KIND_NAMES, CoterminousOptions, ReleaseOptions, ReleaseRule, confidence_of
from safetab.release.release_universe import Entities, NotTabulated, ReleaseLevel, Universe
from safetab.release.universe_files import FAMILY, ReleasedRun, read_universe

EXPORTED_ENTITIES = "universe/entities.csv"
"""An export as CSV files has it, and no release."""


@dataclass(frozen=True, slots=True)
class ReleaseFolder:
    """Needs nothing but the folder itself."""

    path: Path
    facts: ReleaseFacts
    universe: Universe
    format: int = OUTPUT_FORMAT

    def refuse_inside(self, file: Path) -> None:
        """Raises InvalidInput for a new file in the folder: it would no longer hold what was released."""
        if resolved(self.path) in resolved(file).parents:
            raise invalid(file, "is inside the release, which must not change. Choose another place.")

    def numbers_of(self, level: ReleaseLevel) -> Path | None:
        """The file of a level's numbers, if it has any. Raises InvalidInput if it has not the columns of numbers."""
        path = self.path / numbers_file(level.design, self.format)
        if not path.is_file():
            return None
        wrong = _wrong_columns(path, number_columns(self.universe.product))
        if wrong:
            raise invalid(path, f"has missing or wrong columns: {shortened(wrong)}. Get the release again.")
        return path

    def open_numbers(self, level: ReleaseLevel) -> NumbersReader | None:
        """The reader of a level's numbers, if the level has any. Raises InvalidInput if its file is damaged."""
        path = self.numbers_of(level)
        if path is None:
            return None
        with damage_as_invalid_input(path):
            return NumbersReader(path, self.universe, level)


def open_release_folder(path: Path) -> ReleaseFolder:
    """Open OUT/release, or OUT. Raises InvalidInput if there is no release, or a damaged one."""
    try:
        return _opened(path)
    except OSError as error:
        raise_if_the_machine_failed(error)
        raise invalid(path, f"can't be read: {error.strerror or 'unknown error'}.") from None


def _opened(path: Path) -> ReleaseFolder:
    """Open a release. Raises InvalidInput if a document is missing or damaged."""
    if not path.exists():
        raise invalid(path, "does not exist. Give OUT or OUT/release.")
    folder = path / RELEASE_FOLDER if (path / RELEASE_FOLDER / DATAPACKAGE_FILE).is_file() else path
    if not (folder / DATAPACKAGE_FILE).is_file():
        raise invalid(path, f"is no release: it has no {DATAPACKAGE_FILE}. Give OUT or OUT/release.")
    if (folder / EXPORTED_ENTITIES).is_file():
        raise invalid(path, "holds CSV files that were made of a release. Give the release itself.")
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        _require_known_format(folder)
    has_checksums = (folder / CHECKSUMS_FILE).exists()
    if has_checksums:
        check_files(folder)
    with damage_as_invalid_input(folder, "is a release that is damaged, or of another version."):
        written_in = _require_known_format(folder)
        facts = _json_of(folder / DATAPACKAGE_FILE)["safetab"]
        if CHECKSUMS in facts and not has_checksums:  # older releases have none
            raise invalid(folder, f"its {CHECKSUMS_FILE} is missing. Get the release again.")
        definition = next(one for one in PrivacyDefinition if one.spelling == facts["privacy_definition"])
        states = {TabulationPass(name): tuple(listed) for name, listed in facts["states"].items()}
        run = ReleasedRun(product_named(facts.get("product")), definition, states, bool(facts["allow_negative_counts"]))
        universe = read_universe(folder, run)
        return ReleaseFolder(folder, _facts(facts), universe, written_in)


def _require_known_format(folder: Path) -> int:
    """The format of a release. Raises InvalidInput if a document of it says that a newer version wrote it."""
    written_in = readable_format(folder, _json_of(folder / DATAPACKAGE_FILE)["safetab"].get(FORMAT, 0))
    privacy = folder / PRIVACY_FILE
    if privacy.is_file():  # a release of official files has none
        readable_format(privacy, _json_of(privacy).get(FORMAT, 0))
    return written_in


def _json_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def _wrong_columns(path: Path, expected: tuple[Column, ...]) -> list[str]:
    """Columns that are missing or of another type, and whether any is there twice."""
    with damage_as_invalid_input(path):
        found = pa.parquet.read_schema(path)
    types = {field.name: field.type for field in found}
    twice = ["a duplicate column"] if len(types) < len(found) else []
    needed = [column for column in expected if column.name in types or not column.may_be_absent]
    return twice + [column.name for column in needed if types.get(column.name) != column.type]


def _facts(facts: dict[str, Any]) -> ReleaseFacts:
    """The facts of a release from datapackage.json."""
    findings = FindingsOf(DATAPACKAGE_FILE)
    confidence = confidence_of(str(facts["confidence"]), findings)
    if findings.has_errors:
        raise ValueError("confidence")
    coterminous = facts["coterminous"]
    if coterminous is not None:
        order = tuple(KIND_NAMES[name] for name in coterminous["order"])
        coterminous = CoterminousOptions(order, bool(coterminous["copy_all"]))
    rules = tuple(ReleaseRule(name) for name in facts["rules"])
    options = ReleaseOptions(confidence, rules, coterminous, bool(facts.get("csv", False)))
    date = datetime.date.fromisoformat(str(facts["date"]))
    origin = None if facts.get("origin") is None else Origin(bool(facts["origin"]["complete"]))
    return ReleaseFacts(str(facts["version"]), date, status_of_json(facts), options, origin)


SUPPRESSED = "suppressed"
NOT_SELECTED = "no published total"
NOT_IN_FILES = "not in the files"
NOT_TABULATED = "not tabulated"
_ABSENT = {
    SUPPRESSED: "suppressed: its noisy total is too small to be shown",
    NOT_SELECTED: "no total of its people was published, so nothing else is",
    NOT_IN_FILES: "not in the files that were read: published elsewhere, or suppressed",
}
STATUSES_OF_GROUPS = (PUBLISHED, COPIED, WITHHELD, SUPPRESSED, NOT_SELECTED, NOT_IN_FILES, NOT_TABULATED)


def absent_status(product: Product, origin: Origin | None = None) -> str:
    """Why a group that is tabulated has no number; files that are not whole tables don't tell."""
    if origin is not None and not origin.is_complete:
        return NOT_IN_FILES
    return SUPPRESSED if product.selector is Selector.NOISY_STAGE_1 else NOT_SELECTED


_GROUPS_AT_ONCE = 1 << 20
_READ = (
    "region_id", "iteration_code", "table", "table_id", "line", "status", "rule", "donor_geography_level",
    "donor_region_id",
)  # fmt: skip
_COLUMNS = (
    "geography_level", "region_id", "region_name", "iteration_code", "iteration_name", "status", "table",
    "reason", "donor_geography_level", "donor_region_id",
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
        if self.status in _ABSENT:
            return f"{_ABSENT[self.status]}. This does not mean zero."
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
    wanted = statuses(release, Slice((level,), (region,), (iteration,)))
    row = pa.Table.from_batches(wanted).to_pylist()[0]  # of the first family, if there are several
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
    """The columns of `statuses`, all of them texts; the family is a column if there are several."""
    names = (*_COLUMNS, FAMILY) if product.has_several_families else _COLUMNS
    return pa.schema([(name, pa.string()) for name in names])


def _geographies(release: ReleaseFolder, wanted: Slice) -> tuple[GeographyLevel, ...]:
    """The geography levels that a slice asks for. Raises InvalidInput if one is unknown."""
    universe, findings = release.universe, FindingsOf(str(release.path))
    known = {level.label: level for level in universe.entities}
    for label in wanted.levels:
        if label not in known:
            findings.error("--level", f'"{label}" is not in this release. It has {", ".join(known)}.')
    geographies = tuple(level for label, level in known.items() if not wanted.levels or label in wanted.levels)
    regions = {region for level in geographies if wanted.regions for region in universe.entities[level].region_ids}
    for region in wanted.regions:
        if region not in regions:
            message = f'"{region}" is no entity of the levels asked for. Ids have their leading zeros.'
            findings.error("--region", message)
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
    listed = release.universe.lists.iterations
    iterations = [one for one in listed if not wanted.iterations or one.code in wanted.iterations]
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
    """The statuses of all groups of some entities, as one batch of rows."""
    entity, iteration = np.divmod(np.arange(len(part.ids) * len(iterations)), max(len(iterations), 1))
    one_of_list = {(one.level, one.listed): one for one in iterations}  # of a list all have the same fate
    why_absent = {of: _if_absent(release, geography, part.family, one) for of, one in one_of_list.items()}
    absent = [why_absent[one.level, one.listed] for one in iterations]
    reasons = [reason.value for reason in NotTabulated]
    if_absent = absent_status(release.universe.product, release.facts.origin)
    status = np.array([STATUSES_OF_GROUPS.index(if_absent if why is None else NOT_TABULATED) for why in absent])
    reason = np.array([-1 if why is None else reasons.index(why.value) for why in absent])
    row_status, row_reason = status[iteration], reason[iteration]
    shape, donor_level, donor = np.full((3, len(entity)), UNKNOWN, dtype=np.int64)
    levels = [one for one in release.universe.levels if one.geography is geography and one.family is part.family]
    for file in map(release.open_numbers, levels):
        if file is None:
            continue
        with damage_as_invalid_input(file.path):
            for rows, found in _published_totals(file, part, iterations):
                row_status[rows] = found.status  # STATUSES_OF_GROUPS begin with the statuses of numbers
                row_reason[rows] = np.where(found.rule == UNKNOWN, -1, found.rule + len(reasons))
                shape[rows] = np.where(found.table_is_known, found.shape, UNKNOWN)
                donor_level[rows] = found.donor_level
                donor[rows] = found.donor
    copied = np.flatnonzero(donor != NO_DONOR)
    of_copied = zip(donor[copied].tolist(), donor_level[copied].tolist(), strict=True)
    donors = [region_id(one, GEOGRAPHIES[level].entity_kind) for one, level in of_copied]
    donor[copied] = np.arange(len(copied))
    columns = {
        "geography_level": texts([geography.label], np.zeros_like(entity)),
        "region_id": texts(part.ids, entity),
        "region_name": texts([part.entities.names[position] for position in part.positions], entity),
        "iteration_code": texts([one.code for one in iterations], iteration),
        "iteration_name": texts([one.name for one in iterations], iteration),
        "status": texts(STATUSES_OF_GROUPS, row_status),
        "reason": texts([*reasons, *(rule.value for rule in RULES)], row_reason),
        "table": texts([one.label for one in part.family.shapes], shape),
        "donor_geography_level": texts([one.label for one in GEOGRAPHIES], donor_level),
        "donor_region_id": texts(donors, donor),
        FAMILY: texts([part.family.name], np.zeros_like(entity)),
    }
    schema = status_schema(release.universe.product)
    return pa.record_batch([columns[name].cast(pa.string()) for name in schema.names], schema=schema)


def _if_absent(
    release: ReleaseFolder, geography: GeographyLevel, family: TableFamily, iteration: CharacteristicIteration
) -> NotTabulated | None:
    """Why groups of the iteration can't have a number there; none if they are suppressed when absent."""
    if iteration.level is IterationLevel.MAJOR:
        return NotTabulated.MAJOR_GROUP
    return release.universe.level_of(geography, iteration.level, family).why_not_tabulated(iteration)


def _published_totals(
    file: NumbersReader, part: _Part, iterations: Sequence[CharacteristicIteration]
) -> Iterator[tuple[NDArray[np.int64], NumberBatch]]:
    """The totals of groups that have one, with the rows of these groups in the batch."""
    number_of_code = {iteration.code: number for number, iteration in enumerate(iterations)}
    numbers = [number_of_code.get(iteration.code, UNKNOWN) for iteration in file.level.iterations]
    number_of_iteration = np.array(numbers, dtype=np.int64)
    number_of_entity = np.full(len(part.entities.ids), UNKNOWN, dtype=np.int64)
    number_of_entity[part.positions] = np.arange(len(part.positions))
    for batch in file.batches(_READ, part.ids):
        entity = number_of_entity[batch.entity]
        iteration = number_of_iteration[batch.iteration]
        is_wanted = batch.is_total & (entity != UNKNOWN) & (iteration != UNKNOWN)
        yield (entity * len(iterations) + iteration)[is_wanted], batch.take(is_wanted)
