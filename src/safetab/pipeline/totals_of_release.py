"""The totals of a release that choose the tables of another product: `--totals OUT` instead of a file in DATA."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from safetab.census.area_levels import AreaLevel
from safetab.census.population_groups import PublishedTotals, TotalsOfLevel
from safetab.dialects.own_records import is_synthetic
from safetab.foundation.findings import Checked, FindingsOf, InvalidInput
from safetab.planning.planner import GivenTotals
from safetab.release.checksums import damage_as_invalid_input
from safetab.release.documents import DATAPACKAGE_FILE
from safetab.release.numbers.read_numbers import NumberBatch
from safetab.release.release_folder import ReleaseFolder, open_release_folder

_COUNT = "unclamped_count"
_COLUMNS = ("region_id", "iteration_code", "table_id", "line", _COUNT)
_WHERE = "--totals"


def given_totals(path: Path | None, data: Path) -> GivenTotals | None:
    """The totals of a release, as they are after its coterminous step, with every finding about it."""
    try:
        return None if path is None else _totals_of(path, data)
    except InvalidInput as invalid:
        return GivenTotals(Checked(None, invalid.findings))


def _totals_of(path: Path, data: Path) -> GivenTotals:
    """Raises InvalidInput if the release can't be read or its totals can't choose tables."""
    release = open_release_folder(path)
    findings = FindingsOf(str(path))
    _check(release, data, findings)
    findings.require_no_errors()
    with damage_as_invalid_input(path):
        of_level = _totals_by_geography(release, path)
    paths = [*map(release.numbers_of, release.universe.levels), release.path / DATAPACKAGE_FILE]
    files = {f"totals/{path.relative_to(release.path).as_posix()}": path for path in paths if path is not None}
    codes = tuple(iteration.code for iteration in release.universe.lists.iterations)
    return GivenTotals(Checked(PublishedTotals(codes, of_level), findings.findings), files)


def _check(release: ReleaseFolder, data: Path, findings: FindingsOf) -> None:
    """Totals that choose tables must be public, and what was measured."""
    status, options = release.facts.status, release.facts.options
    if release.universe.product.totals_table is not None:
        findings.error(_WHERE, f"is a release of {release.universe.product.name}, whose tables were chosen like these.")
    if not status.is_for_release and not is_synthetic(data):  # these totals count synthetic people
        findings.error(_WHERE, f"its totals are not public. {status.line}")
    if not release.universe.allow_negative_counts:
        findings.error(_WHERE, "its totals below 0 were raised to 0 (allow_negative_counts is false).")
    if options.rules:
        names = ", ".join(rule.value for rule in options.rules)
        findings.error(_WHERE, f"rules changed or withheld totals: {names}. Give a release without rules.")
    if release.facts.origin is not None and not release.facts.origin.is_complete:
        message = "it was read from files that need not be whole tables. Read whole ones, with --complete."
        findings.error(_WHERE, message)
    if options.coterminous is None:
        findings.warning(_WHERE, "it is without the coterminous step. The 2020 Census took totals after that step.")


def _totals_by_geography(release: ReleaseFolder, path: Path) -> dict[AreaLevel, TotalsOfLevel]:
    """Raises InvalidInput about the path if a total is withheld."""
    parts: dict[AreaLevel, list[TotalsOfLevel]] = {}
    for level in release.universe.levels:
        file = release.open_numbers(level)
        if file is not None:
            found = [_totals(batch, path) for batch in file.batches(_COLUMNS)]
            parts.setdefault(level.geography, []).extend(found)
    return {geography: TotalsOfLevel.concat(found) for geography, found in parts.items()}


def _totals(batch: NumberBatch, path: Path) -> TotalsOfLevel:
    """The totals among some rows."""
    is_total = batch.is_total
    if (is_total & ~batch.has(_COUNT)).any():
        raise InvalidInput.about(path, "totals are withheld in it. Give a release without rules.", _WHERE)
    position_of = {iteration.code: position for position, iteration in enumerate(batch.universe.lists.iterations)}
    codes = np.array([position_of[iteration.code] for iteration in batch.level.iterations], dtype=np.int64)
    ids = batch.universe.entities[batch.level.geography].ids
    rows = TotalsOfLevel(ids[batch.entity], codes[batch.iteration], batch.integers(_COUNT))
    return rows.take(is_total)
