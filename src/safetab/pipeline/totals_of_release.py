"""The totals of a release that choose the tables of another product: `--totals OUT` instead of a file in DATA."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from safetab.census.geography_levels import GeographyLevel
from safetab.census.published_totals import PublishedTotals, TotalsOfLevel
from safetab.foundation.findings import Checked, Finding, FindingsOf, InvalidInput, Severity
from safetab.planning.planner import GivenTotals
from safetab.products.product import TOTAL_LINE
from safetab.readers.synthetic_marker import is_synthetic
from safetab.release.damage import damage_told
from safetab.release.documents import DATAPACKAGE_FILE
from safetab.release.release_folder import ReleaseFolder, open_release_folder

_COUNT = "unclamped_count"
_COLUMNS = ["region_id", "iteration_code", _COUNT]
_WHERE = "--totals"


def given_totals(path: Path | None, data: Path) -> GivenTotals | None:
    """The totals of a release, as they stand after its coterminous step, with every finding about it."""
    if path is None:
        return None
    try:
        release = open_release_folder(path)
    except InvalidInput as invalid:
        return GivenTotals(Checked(None, invalid.findings))
    findings = FindingsOf(str(path))
    _check(release, data, findings)
    if findings.has_errors:
        return GivenTotals(Checked(None, findings.findings))
    try:
        with damage_told(path):
            rows = _rows(release)
            of_level = {geography: _of_level(of_geography) for geography, of_geography in rows.items()}
    except InvalidInput as invalid:
        return GivenTotals(Checked(None, invalid.findings))
    if any(of_geography[_COUNT].null_count for of_geography in rows.values()):
        withheld = Finding(
            Severity.ERROR, str(path), _WHERE, "totals are withheld in it. Give a release without rules."
        )
        return GivenTotals(Checked(None, (withheld,)))
    numbers = [one for level in release.universe.levels if (one := release.numbers_of(level)) is not None]
    files = {f"totals/{one.relative_to(release.path).as_posix()}": one for one in numbers}
    files |= {f"totals/{DATAPACKAGE_FILE}": release.path / DATAPACKAGE_FILE}
    return GivenTotals(Checked(PublishedTotals(of_level), findings.findings), files)


def _check(release: ReleaseFolder, data: Path, findings: FindingsOf) -> None:
    """Totals that choose tables must be public, and what was measured."""
    status, options = release.facts.status, release.facts.options
    if release.universe.product.totals_table is not None:
        findings.error(_WHERE, f"is a release of {release.universe.product.name}, whose tables were chosen like these.")
    if not status.is_for_release and not is_synthetic(data):  # no such status is about people who exist
        findings.error(_WHERE, f"its totals are not public. {status.line}")
    if not release.universe.allow_negative_counts:
        findings.error(_WHERE, "its totals below 0 were raised to 0 (allow_negative_counts is false).")
    if options.rules:
        names = ", ".join(rule.value for rule in options.rules)
        findings.error(_WHERE, f"rules changed or withheld totals: {names}. Give a release without rules.")
    if release.facts.origin is not None and not release.facts.origin.is_complete:
        findings.error(
            _WHERE, "it was read from files that need not be whole tables. Read whole ones, with --complete."
        )
    if options.coterminous is None:
        findings.warning(_WHERE, "it is without the coterminous step. The 2020 Census took totals after that step.")


def _rows(release: ReleaseFolder) -> dict[GeographyLevel, pa.Table]:
    parts: dict[GeographyLevel, list[pa.Table]] = {}
    total = pc.field("table_id").isin(release.universe.product.total_table_ids) & (pc.field("line") == TOTAL_LINE)
    for level in release.universe.levels:
        path = release.numbers_of(level)
        if path is not None:
            rows = pa.parquet.read_table(path, columns=_COLUMNS, filters=total, partitioning=None)
            parts.setdefault(level.geography, []).append(rows)
    return {geography: pa.concat_tables(tables) for geography, tables in parts.items()}


def _of_level(rows: pa.Table) -> TotalsOfLevel:
    entity, code = (rows[name].cast(pa.string()).cast(pa.int64()).to_numpy() for name in _COLUMNS[:2])
    return TotalsOfLevel(entity, code, np.asarray(rows[_COUNT].to_numpy()))
