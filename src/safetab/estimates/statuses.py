"""Why groups have a number or none, as a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

from safetab.estimates.tabular import Tabular
from safetab.release.group_status import Slice, status_schema, statuses
from safetab.release.release_folder import ReleaseFolder


@dataclass(frozen=True, eq=False, repr=False)
class Statuses(Tabular):
    """A row for each group that was asked about: published, copied, withheld, suppressed or not tabulated, and why."""

    table: pa.Table

    def __len__(self) -> int:
        return len(self.table)

    def rows(self) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = self.table.to_pylist()
        return rows

    def to_arrow(self) -> pa.Table:
        return self.table

    def __str__(self) -> str:
        counts = Counter(self.table["status"].to_pylist())
        return "\n".join([f"{len(self):,} groups", *(f"  {status}: {count:,}" for status, count in counts.items())])


def statuses_of(folder: ReleaseFolder, wanted: Slice) -> Statuses:
    schema = status_schema(folder.universe.product)
    return Statuses(pa.Table.from_batches(statuses(folder, wanted), schema=schema))
