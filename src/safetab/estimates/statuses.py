"""Why groups have a number or none, as a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import pyarrow as pa

from safetab.estimates.html import HtmlTable, listed
from safetab.estimates.tabular import Tabular
from safetab.release.group_status import Slice, status_schema, statuses
from safetab.release.release_folder import ReleaseFolder

_MOST_SHOWN = 20


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

    def html_table(self) -> HtmlTable:
        rows = self.table.slice(0, _MOST_SHOWN).to_pylist()
        more = len(self) - len(rows)
        shown = listed(f"{len(self):,} groups", self.table.column_names, rows, _MOST_SHOWN)
        return replace(shown, sentences=[f"and {more:,} more"]) if more else shown

    def __str__(self) -> str:
        counts = Counter(self.table["status"].to_pylist())
        return "\n".join([f"{len(self):,} groups", *(f"  {status}: {count:,}" for status, count in counts.items())])


def statuses_of(folder: ReleaseFolder, wanted: Slice) -> Statuses:
    schema = status_schema(folder.universe.product)
    return Statuses(pa.Table.from_batches(statuses(folder, wanted), schema=schema))
