"""The products that there are."""

from __future__ import annotations

from collections.abc import Iterable

from safetab.products.product import Product
from safetab.products.safetab_h.safetab_h import SAFETAB_H
from safetab.products.safetab_p.safetab_p import SAFETAB_P

PRODUCTS = (SAFETAB_P, SAFETAB_H)


def product_named(name: str | None) -> Product:
    """KeyError if there is none of that name; the first where none is named, as older files don't."""
    return PRODUCTS[0] if name is None else {product.name: product for product in PRODUCTS}[name]


def product_of_keys(keys: Iterable[str]) -> Product:
    """The product that a configuration asks for: whose budgets it names; the first if it names none."""
    given = tuple(keys)
    return max(PRODUCTS, key=lambda product: len(budget_keys_of(product, given)))


def budget_keys_of(product: Product, keys: Iterable[str]) -> tuple[str, ...]:
    """Those of the keys that are budgets of the product."""
    prefixes = tuple(f"{one.budget_prefix}_level_" for one in product.family_keys.values())
    return tuple(key for key in keys if key.startswith(prefixes))
