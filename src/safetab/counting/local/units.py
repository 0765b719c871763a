"""Counts the records of each unit, exactly: texts are compared, and never their hashes alone."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from safetab.counting.local.records import ValueBatch
from safetab.foundation.findings import FindingsOf
from safetab.inputs.records.record_rules import report_units
from safetab.model.products.record import RecordLayout
from safetab.model.specification.values import Unit


class UnitCounts:
    """The number of rows of each unit, over all added rows, whether or not they are counted."""

    def __init__(self, record: RecordLayout, most_waiting: int) -> None:
        self._record = record
        self._most_waiting = most_waiting
        self._tables: list[pa.Table] = []

    def add(self, batch: ValueBatch) -> None:
        """Add the rows of a batch, unless the record names no unit."""
        if self._record.unit is None:
            return
        self._tables.append(rows_of_units(batch, self._record, self._record.unit))
        if sum(map(len, self._tables)) > 2 * len(self._tables[0]) + self._most_waiting:
            self._tables = [self._added_up()]

    def _added_up(self) -> pa.Table:
        added = pa.concat_tables(self._tables).group_by("unit").aggregate([("rows", "sum")])
        return added.rename_columns({"rows_sum": "rows"})

    def report(self, findings: FindingsOf, others: Iterable[UnitCounts] = ()) -> None:
        """Add errors about the rows that this and other threads counted."""
        for each in others:
            self._tables += each._tables
        unit = self._record.unit
        if unit is not None and self._tables:
            added = self._added_up()
            is_named = pc.is_valid(added["unit"])
            missing = pc.sum(added["rows"].filter(pc.invert(is_named))).as_py() or 0
            is_above = pc.and_(is_named, pc.greater(added["rows"], unit.most_records))
            report_units(unit, missing, pc.sum(is_above).as_py() or 0, findings)


def rows_of_units(batch: ValueBatch, record: RecordLayout, unit: Unit) -> pa.Table:
    """The number of a batch's rows of each unit, by the bytes of its text; null stands for none."""
    column = batch[unit.column]
    texts, of_nobody = (
        column.as_bytes(),
        pa.array([text.encode() for text in record.missing], pa.binary()),
    )
    named = pc.if_else(pc.is_in(texts, of_nobody), pa.scalar(None, pa.binary()), texts)
    units = pa.chunked_array([named, pa.nulls(1, pa.binary())])
    counted = pa.table({"unit": units, "rows": column.rows_of_values()})
    return counted.filter(pc.greater(counted["rows"], 0))
