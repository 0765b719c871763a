"""SafeTab-H as a value: the Detailed DHC-B of the 2020 Census."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.products.product import FamilyKeys, LabelColumn, Product, PublishedReference, Selector, TableFileLayout
from safetab.products.production import LevelValues, Production
from safetab.products.safetab_h.line_question import Category
from safetab.products.safetab_h.record import HOUSEHOLD_RECORD
from safetab.products.safetab_h.tables import FILES, HOUSEHOLD_TYPE, TENURE

_SUBSTATE_THRESHOLDS = (971, 4_971, 19_971)
_PRODUCTION = Production(
    by_kind=MappingProxyType(
        {
            (IterationLevel.REGIONAL, False): LevelValues("0.006915", (4_971, 19_971, 149_971)),
            (IterationLevel.REGIONAL, True): LevelValues("0.006915", (4_971, 19_971, 149_970)),
            (IterationLevel.DETAILED, False): LevelValues("1.9208", (471, 971, 6_971)),
            (IterationLevel.DETAILED, True): LevelValues("0.142869", _SUBSTATE_THRESHOLDS),
        }
    ),
    exceptions=MappingProxyType(
        {(GeographyLevel.AIANNH, IterationLevel.REGIONAL): LevelValues("0", _SUBSTATE_THRESHOLDS)}
    ),
)

SAFETAB_H = Product(
    number=1,
    name="SafeTab-H",
    source="SafeTab-H (the public program of the 2020 Detailed DHC-B)",
    record=HOUSEHOLD_RECORD,
    families=(HOUSEHOLD_TYPE, TENURE),
    family_keys=MappingProxyType(
        {
            HOUSEHOLD_TYPE.name: FamilyKeys("privacy_budget_h_t3", "thresholds_h_t3"),
            TENURE.name: FamilyKeys("privacy_budget_h_t4", "thresholds_h_t4"),
        }
    ),
    selector=Selector.PUBLISHED_TOTALS,
    stage_1_key=None,
    suppression_key=None,
    totals_table="pop-group-totals",
    label_columns=(LabelColumn("category", "string", "string", "Which households are counted."),),
    files=tuple(TableFileLayout(folder, (f"{folder[:2].upper()}_DATA_CELL",)) for folder in FILES),
    line_question=Category(),
    reference=PublishedReference(
        "2020 Detailed DHC-B",
        Fraction("8.895302"),
        Fraction("1.9208"),
        "Published for the 2020 Detailed DHC-B is rho 17.79, for a changed record: twice 8.895302"
        " (docs/privacy.md#reference).",
    ),
    production=_PRODUCTION,
    counts="how many households there are whose householder is in the group, and, for groups with more people, by"
    " household type and by tenure",
    adding_up="Don't add a table's total to its parts: lines that hold others (Total, Family households, Nonfamily"
    " households, Other family) are rows too. The totals of household type and of tenure count the same households,"
    " each with noise of its own: they differ, and safetab's open_release gives their best mean.",
)
