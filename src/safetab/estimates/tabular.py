"""Results as tables: Arrow always, pandas and Polars where they are installed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

import pyarrow as pa

NUMBER_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in (
            "what", "geography_level", "region_id", "region_name", "iteration_code", "iteration_name", "sex")),
        ("age_start", pa.int64()),
        ("age_end", pa.int64()),
        ("status", pa.string()),
        *((name, pa.float64()) for name in (
            "estimate", "margin_of_error", "interval_low", "interval_high", "variance", "combined_total",
            "combined_margin_of_error")),
        ("notes", pa.string()),
    ]
)  # fmt: skip
"""The columns of numbers and absences; combined totals have a column of their own."""


class Tabular:
    """A result that prints readably and converts to a table with a row for each number."""

    schema: ClassVar[pa.Schema | None] = None

    def rows(self) -> list[dict[str, object]]:
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows(), schema=self.schema)

    def to_pandas(self) -> Any:
        _library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        return _library("polars").from_arrow(self.to_arrow())

    def __repr__(self) -> str:
        return str(self)


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        message = f"{name} is not installed: `pip install {name}`, or use to_arrow(), which needs nothing more."
        raise ModuleNotFoundError(message, name=name) from None
