"""SafeTab-P: its specification, compiled, and what only the Census Bureau has.

Records are counted by sex and age. HOUSEHOLDER and CENRACE are only checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from safetab.model.products.attributes import Attribute
from safetab.model.products.bureau_columns import (
    SETS_OF_RACES,
    bureau_record,
    shipped_specification,
)
from safetab.model.products.product import FileRow, PublishedReference, Shape, TableFileLayout
from safetab.model.products.shipped_product import FamilyKeys, Production, ShippedProduct
from safetab.model.products.specified import product_of

OLDEST_AGE = 115
SEX_MARGINAL = "sex_marginal"
_ALL_AGES = "*"  # in t2

_SPECIFICATION = shipped_specification("safetab_p")
PERSON_RECORD = bureau_record(
    _SPECIFICATION,
    {
        "QSEX": ("[12]", "must be 1 or 2"),
        "QAGE": ("[0-9]{1,9}", f"must be an age from 0 to {OLDEST_AGE}"),
        "HOUSEHOLDER": ("True|False", "must be True or False"),
        "CENRACE": SETS_OF_RACES,
    },
)
_AGE = Attribute(_SPECIFICATION.records.named("QAGE"), asked_as="ages", unit="", one="aged {}")
_COMPILED = product_of(_SPECIFICATION, PERSON_RECORD, _AGE)


def _with_file_rows(shape: Shape) -> Shape:
    rows = {"t1": (FileRow((), 0, shape.cells),)} | (
        {"t2": tuple(_t2_rows(shape))} if shape.divisions else {}
    )
    return replace(shape, file_rows=MappingProxyType(rows))


def _t2_rows(shape: Shape) -> Iterator[FileRow]:
    """The ages of each sex, followed by all ages of that sex."""
    for cell, (sex, first, last) in enumerate(shape.cell_labels):
        yield FileRow((str(first), str(last), str(sex)), cell, 1)
        if last == OLDEST_AGE:
            yield FileRow(
                (_ALL_AGES, _ALL_AGES, str(sex)), cell + 1 - shape.divisions, shape.divisions
            )


(_FAMILY,) = _COMPILED.families
PERSONS = replace(
    _FAMILY, shapes=tuple(map(_with_file_rows, _FAMILY.shapes)), is_unnamed_in_format_0=True
)
TOTAL, *_FINER = PERSONS.shapes
SEX_BY_AGE_4, SEX_BY_AGE_9, SEX_BY_AGE_23 = SEX_BY_AGE = tuple(_FINER)

_SEX, _FIRST_AGE, _LAST_AGE = _COMPILED.label_columns
_OLDEST = f"Last age that is counted, in years; {OLDEST_AGE} is the oldest."

SAFETAB_P = replace(
    _COMPILED,
    families=(PERSONS,),
    label_columns=(
        replace(_SEX, description="Who is counted."),
        _FIRST_AGE,
        replace(_LAST_AGE, description=_OLDEST),
    ),
    files=(TableFileLayout("t1", ()), TableFileLayout("t2", ("AGESTART", "AGEEND", "SEX"))),
    reference=PublishedReference(
        "2020 Detailed DHC-A",
        Fraction("4.944"),
        Fraction("2.134"),
        "The figure published for the 2020 Detailed DHC-A is rho 19.776, 4 times 4.944."
        " We infer that it comes from group privacy, the generic rule for a changed record."
        " The direct proof gives 9.888 (`safetab docs privacy#reference`).",
    ),
)

PERSONS_AS_SHIPPED = ShippedProduct(
    production=Production(_SPECIFICATION.privacy, untabulated=(4_971, 19_971, 149_971)),
    family_keys={PERSONS.name: FamilyKeys("privacy_budget_p", "thresholds_p")},
    stage_1_key="privacy_budget_p_stage_1_fraction",
    suppression_key="zero_suppression_chance",
)
