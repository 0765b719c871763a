"""SafeTab-H: its specification, compiled, and what only the Census Bureau has.

Records are counted by household type and tenure. The householder's race, HHRACE, is only checked.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from safetab.model.products.bureau_columns import (
    SETS_OF_RACES,
    bureau_record,
    shipped_specification,
)
from safetab.model.products.product import FileRow, PublishedReference, TableFamily, TableFileLayout
from safetab.model.products.shipped_product import FamilyKeys, Production, ShippedProduct
from safetab.model.products.specified import product_of

HOUSEHOLD_TYPES = 5
TENURES = 4

_SPECIFICATION = shipped_specification("safetab_h")
HOUSEHOLD_RECORD = bureau_record(
    _SPECIFICATION,
    {
        "HOUSEHOLD_TYPE": (f"[1-{HOUSEHOLD_TYPES}]", f"must be 1 to {HOUSEHOLD_TYPES}"),
        "TEN": (f"[1-{TENURES}]", f"must be 1 to {TENURES}"),
        "HHRACE": SETS_OF_RACES,
    },
)
_COMPILED = product_of(_SPECIFICATION, HOUSEHOLD_RECORD)


def _with_file_rows(family: TableFamily, folder: str) -> TableFamily:
    """The family with a file for each table.

    The Bureau numbers the lines of all of them together, from 0.
    """
    lines = _SPECIFICATION.tables[family.number].lines
    numbers = {line.label: str(number) for number, line in enumerate(lines)}
    shapes = []
    for shape in family.shapes:
        rows = (
            FileRow((numbers[str(line.labels[0])],), line.first_cell, line.cells)
            for line in shape.lines
        )
        shapes.append(
            replace(shape, file_rows=MappingProxyType({f"{folder}/{shape.table_id}": tuple(rows)}))
        )
    return replace(family, shapes=tuple(shapes))


HOUSEHOLD_TYPE, TENURE = _FAMILIES = tuple(map(_with_file_rows, _COMPILED.families, ("t3", "t4")))
_FOLDERS = (folder for family in _FAMILIES for folder in family.folders)

SAFETAB_H = replace(
    _COMPILED,
    families=_FAMILIES,
    files=tuple(
        TableFileLayout(folder, (f"{folder[:2].upper()}_DATA_CELL",)) for folder in _FOLDERS
    ),
    reference=PublishedReference(
        "2020 Detailed DHC-B",
        Fraction("8.895302"),
        Fraction("1.9208"),
        "The figure published for the 2020 Detailed DHC-B is rho 17.79, for a changed record:"
        " twice 8.895302 (`safetab docs privacy#reference`).",
    ),
    counts="how many households there are whose householder is in the group, and,"
    " for groups with more people, by household type and by tenure",
)

HOUSEHOLDS_AS_SHIPPED = ShippedProduct(
    production=Production(_SPECIFICATION.privacy, untabulated=(971, 4_971, 19_971)),
    family_keys={
        HOUSEHOLD_TYPE.name: FamilyKeys("privacy_budget_h_t3", "thresholds_h_t3"),
        TENURE.name: FamilyKeys("privacy_budget_h_t4", "thresholds_h_t4"),
    },
)
