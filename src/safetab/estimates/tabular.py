"""Results as tables: Arrow always, pandas and Polars where they are installed."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

import pyarrow as pa

from safetab.products.product import Product

_GROUP = ("what", "geography_level", "region_id", "region_name", "iteration_code", "iteration_name")
_NUMBERS = (
    "estimate", "margin_of_error", "interval_low", "interval_high", "variance", "combined_total",
    "combined_margin_of_error",
)  # fmt: skip


class Tabular:
    """A result that prints readably and converts to a table with a row for each number."""

    @property
    def schema(self) -> pa.Schema | None:
        return None

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


@dataclass(frozen=True, eq=False, repr=False)
class ProductTabular(Tabular):
    """Numbers and absences of a product; combined totals have a column of their own."""

    product: Product = field(kw_only=True)

    @property
    def schema(self) -> pa.Schema:
        labels = self.product.label_columns
        return pa.schema(
            [
                *((name, pa.string()) for name in _GROUP),
                *((one.name, pa.string() if one.line_type == "string" else pa.int64()) for one in labels),
                ("status", pa.string()),
                *((name, pa.float64()) for name in _NUMBERS),
                ("notes", pa.string()),
            ]
        )


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        message = f"{name} is not installed: `pip install {name}`, or use to_arrow(), which needs nothing more."
        raise ModuleNotFoundError(message, name=name) from None
