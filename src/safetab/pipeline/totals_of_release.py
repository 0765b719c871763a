"""The totals of a release that choose the tables of another product: `--totals OUT` instead of a file in DATA."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
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
_TEXTS = ("region_id", "iteration_code", "table_id")
_ROWS_AT_ONCE = 1 << 17  # as many as a row group has
_WHERE = "--totals"


class _WithheldError(Exception):
    """A total is not in the release."""


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
            of_level = _totals_by_geography(release)
    except InvalidInput as invalid:
        return GivenTotals(Checked(None, invalid.findings))
    except _WithheldError:
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


def _totals_by_geography(release: ReleaseFolder) -> dict[GeographyLevel, TotalsOfLevel]:
    parts: dict[GeographyLevel, list[TotalsOfLevel]] = {}
    for level in release.universe.levels:
        path = release.numbers_of(level)
        if path is None:
            continue
        with pa.parquet.ParquetFile(path, read_dictionary=list(_TEXTS)) as file:
            batches = file.iter_batches(_ROWS_AT_ONCE, columns=[*_TEXTS, "line", _COUNT])
            parts.setdefault(level.geography, []).extend(_totals(batch, release) for batch in batches)
    return {geography: _joined(of_geography) for geography, of_geography in parts.items()}


def _totals(batch: pa.RecordBatch, release: ReleaseFolder) -> TotalsOfLevel:
    """The totals among the rows; a number is read from its digits once for all rows that have it."""
    tables, own = batch["table_id"], release.universe.product.total_table_ids
    is_total_table = np.array([one in own for one in tables.dictionary.to_pylist()], dtype=np.bool_)
    is_total = is_total_table[tables.indices.to_numpy()] & (batch["line"].to_numpy() == TOTAL_LINE)
    rows = np.flatnonzero(is_total)
    entity, code = (
        batch[name].dictionary.cast(pa.int64()).to_numpy()[batch[name].indices.to_numpy()[rows]] for name in _TEXTS[:2]
    )
    counts = batch[_COUNT].take(pa.array(rows))
    if counts.null_count:
        raise _WithheldError
    return TotalsOfLevel(entity, code, counts.to_numpy())


def _joined(parts: list[TotalsOfLevel]) -> TotalsOfLevel:
    none = np.empty(0, dtype=np.int64)
    columns = ([none, *(getattr(part, name) for part in parts)] for name in TotalsOfLevel.__slots__)
    return TotalsOfLevel(*(np.concatenate(column) for column in columns))
