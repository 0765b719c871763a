"""Results as tables: Arrow always, pandas and Polars where they are installed."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

import pyarrow as pa

from safetab.estimates.html import HtmlTable
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
        """The columns and their types, if they are the same whatever the numbers."""
        return None

    def rows(self) -> list[dict[str, object]]:
        """A dictionary for each row of the table."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """The table for Arrow, which needs nothing more."""
        return pa.Table.from_pylist(self.rows(), schema=self.schema)

    def to_pandas(self) -> Any:
        """The table for pandas, if that is installed."""
        _library("pandas", "use to_arrow(), which needs nothing more")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The table for Polars, if that is installed."""
        return _library("polars", "use to_arrow(), which needs nothing more").from_arrow(self.to_arrow())

    def html_table(self) -> HtmlTable:
        """What a notebook shows."""
        first, *rest = str(self).splitlines()
        return HtmlTable(first, (), (), [line.strip() for line in rest])

    def _repr_html_(self) -> str:
        return str(self.html_table())

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


def _library(name: str, otherwise: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        message = f"{name} is not installed: `pip install {name}`, or {otherwise}."
        raise ModuleNotFoundError(message, name=name) from None
