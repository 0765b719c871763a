"""The products that exist, and the names that the Census Bureau gives their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from safetab.model.products.product import Line, Product
from safetab.model.products.safetab_h.safetab_h import HOUSEHOLDS_AS_SHIPPED, SAFETAB_H
from safetab.model.products.safetab_p.safetab_p import PERSONS_AS_SHIPPED, SAFETAB_P
from safetab.model.products.shipped_product import ShippedProduct

PRODUCTS = (SAFETAB_P, SAFETAB_H)
_AS_SHIPPED = {SAFETAB_P: PERSONS_AS_SHIPPED, SAFETAB_H: HOUSEHOLDS_AS_SHIPPED}
_NOTHING = ShippedProduct()


def as_shipped(product: Product) -> ShippedProduct:
    """The extras of a shipped product beside its specification; none, if it is not shipped."""
    return _AS_SHIPPED.get(product, _NOTHING)


def product_named(name: str | None) -> Product:
    """The product with this name; without a name, as in older files, the first. Raises KeyError."""
    return PRODUCTS[0] if name is None else {product.name: product for product in PRODUCTS}[name]


def product_of_keys(keys: Iterable[str], otherwise: Product = PRODUCTS[0]) -> Product:
    """The product that most keys of a configuration are of.

    It is `otherwise` if no key is of one product.
    """
    given = tuple(keys)
    most = max(PRODUCTS, key=lambda product: len(_keys_of(product, given)))
    return most if _keys_of(most, given) else otherwise


def _keys_of(product: Product, keys: Iterable[str]) -> tuple[str, ...]:
    """The keys that only configurations of this product have."""
    shipped = as_shipped(product)
    own = {shipped.stage_1_key, shipped.suppression_key}
    own |= {of_family.thresholds for of_family in shipped.family_keys.values()}
    given = tuple(keys)
    return budget_keys_of(product, given) + tuple(key for key in given if key in own)


def budget_keys_of(product: Product, keys: Iterable[str]) -> tuple[str, ...]:
    """The keys that are budgets of the product."""
    prefixes = tuple(
        f"{of_family.budget_prefix}_level_"
        for of_family in as_shipped(product).family_keys.values()
    )
    return tuple(key for key in keys if key.startswith(prefixes))


_VARIABLE = re.compile(r"(T\d{5})_(\d{3})N", re.ASCII)


def variable_of(line: Line) -> str:
    """The Bureau's name of a line's number, such as T01001_001N."""
    return f"{line.table_id}_{line.number:03d}N"


def margin_variable_of(line: Line) -> str:
    """The name of a line's margin of error. It is ours: the Bureau's tables have no margins."""
    return f"{line.table_id}_{line.number:03d}M"


def annotation_of(variable: str) -> str:
    """The column that says why a number is missing, in downloads of whole tables."""
    return f"{variable}A"


def line_named(variable: str) -> tuple[str, int] | None:
    """The table and line of a column, or None if its name is not that of a number."""
    found = _VARIABLE.fullmatch(variable)
    return None if found is None else (found[1], int(found[2]))


def lines_of_tables(product: Product) -> Mapping[str, tuple[Line, ...]]:
    """The lines of each published table, sorted by number."""
    tables: dict[str, dict[int, Line]] = {table_id: {} for table_id in product.table_ids}
    for line in product.lines:
        tables[line.table_id].setdefault(line.number, line)
    return {
        table_id: tuple(lines[number] for number in sorted(lines))
        for table_id, lines in tables.items()
    }
