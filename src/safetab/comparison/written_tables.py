"""The tables that `safetab compare` writes, and how programs open them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from safetab.comparison.request import FACTS_FILE
from safetab.comparison.results import Claims, Compared, Exposure
from safetab.foundation.findings import InvalidInput
from safetab.foundation.parquet_facts import opened_parquet

_BASELINE = "baseline"
_EXPOSURE = pa.schema(
    [("protection", pa.string()), ("measure", pa.string()), ("value", pa.float64()), ("of", pa.float64())]
)


def exposure_table(compared: Iterable[Compared], baseline: Exposure | None) -> pa.Table:
    """The measures of every protection, then of the baseline. `of` is what the value is a part of."""
    exposures = [*((each.protection.spec, each.exposure) for each in compared), (_BASELINE, baseline)]
    rows = [(spec, *row) for spec, exposure in exposures if exposure is not None for row in _measures(exposure)]
    return pa.Table.from_pylist([dict(zip(_EXPOSURE.names, row, strict=True)) for row in rows], _EXPOSURE)


def _measures(exposure: Exposure) -> Iterator[tuple[str, float | None, float | None]]:
    yield "uniques", exposure.uniques, None
    for name in ("proven", "named", "presence"):
        claims: Claims | None = getattr(exposure, name)
        yield (name, None, None) if claims is None else (name, claims.right, claims.claims)
    for cells, right in exposure.ranked.items():
        yield f"ranked among {cells}", right, cells
    yield "membership advantage", exposure.membership, None
    yield "membership bound of the guarantee", exposure.membership_bound, None
    for splits, share in exposure.averaging.items():
        yield f"totals exact after {splits} splits", share, None
    if exposure.differencing is not None:
        slivers, people = exposure.differencing
        yield "people in slivers that follow", people, slivers
    yield "r-hat", exposure.r_hat, None


@dataclass(frozen=True, slots=True)
class OpenedComparison:
    """The tables of a comparison; rows of one protection are found by its spec."""

    folder: Path

    def table(self) -> pa.Table:
        """The committee's table."""
        with (self.folder / "committee.csv").open("rb") as file:
            return pa.csv.read_csv(file)

    def utility(self, protection: str | None = None) -> pa.Table:
        """What users lose, by level, size class and sort of number; of one protection, or of all."""
        return self._of("utility", protection)

    def exposure(self, protection: str | None = None) -> pa.Table:
        """People exposed in the area under attack; of one protection, or of all."""
        return self._of("exposure", protection)

    def _of(self, name: str, protection: str | None) -> pa.Table:
        with opened_parquet(self.folder / f"{name}.parquet") as file:
            table = file.read()
        if protection is None:
            return table
        known = table["protection"].unique().to_pylist()
        if protection not in known:
            raise InvalidInput.about("protection", f"{protection!r} was not compared. Compared: {', '.join(known)}.")
        return table.filter(pc.equal(table["protection"], protection))


def open_comparison(path: Path) -> OpenedComparison:
    """Open OUT of `safetab compare`. Raises InvalidInput if it is something else."""
    if not (path / FACTS_FILE).is_file():
        raise InvalidInput.about(str(path), f"is not a comparison: it has no {FACTS_FILE}.")
    return OpenedComparison(path)
