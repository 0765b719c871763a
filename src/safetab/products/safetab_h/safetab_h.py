"""SafeTab-H: the household record, the questions people ask, and the product.

Records are counted by household type and tenure. The householder's race, HHRACE, is only checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from safetab.foundation.argument_types import checks_arguments
from safetab.products import product
from safetab.products.bureau_columns import BLOCK_COLUMNS, BLOCKS, CODE_COLUMNS, ETHNICITY_CODES, RACE_CODES
from safetab.products.product import LevelValues
from safetab.products.record import AttributePart, CheckedColumn, RecordLayout
from safetab.products.safetab_h.tables import ALL, FILES, HOUSEHOLD_TYPE, HOUSEHOLD_TYPES, TENURE, TENURES

HOUSEHOLD_RECORD = RecordLayout(
    table="household-records",
    noun="household",
    nouns="households",
    columns=(*BLOCK_COLUMNS, "HHRACE", *CODE_COLUMNS, "HOUSEHOLD_TYPE", "TEN"),
    attribute=(
        AttributePart("HOUSEHOLD_TYPE", 1, HOUSEHOLD_TYPES, "must be 1 to 5", leading_zeros=False),
        AttributePart("TEN", 1, TENURES, "must be 1 to 4", leading_zeros=False),
    ),
    checked=(CheckedColumn("HHRACE", tuple(f"{code:02d}" for code in range(1, 64)), "must be 01 to 63", digits=2),),
    area=BLOCKS,
    several=RACE_CODES,
    single=ETHNICITY_CODES,
    holds_people=True,
)


class Category:
    """Questions by category: a line of the table, such as family, living alone or rented."""

    arguments = ("category",)
    everything = "all households"

    def name_of(self, line: product.Line) -> str:
        return str(line.labels[0])

    def bar_of(self, line: product.Line) -> tuple[str | None, str]:
        return None, line.stub

    @checks_arguments
    def cells_of(self, shape: product.Shape, category: str = ALL) -> product.WantedCells | product.Refusal:
        """The cells of the line with this label or stub."""
        wanted = category.strip().casefold()
        for line in shape.lines:
            if _is_called(line, wanted):
                return product.WantedCells(line.run, line.words)
        names = ", ".join(f'"{line.labels[0]}"' for line in shape.lines)
        hint = ""
        for family in (HOUSEHOLD_TYPE, TENURE):
            lines = [line for other in family.shapes for line in other.lines]
            if shape not in family.shapes and any(_is_called(line, wanted) for line in lines):
                hint += f' Tables of {family.name} have it: give the family, "{family.name}".'
        return product.Refusal("category", f'"{category}" is not in this table ({shape.title}). It has {names}.{hint}')

    def parsed(self, texts: Mapping[str, str]) -> Mapping[str, object] | product.Refusal:
        return {} if texts.get("category", ALL) == ALL else {"category": texts["category"]}


def _is_called(line: product.Line, wanted: str) -> bool:
    return wanted in {str(line.labels[0]).casefold(), line.stub.casefold()}


_SUBSTATE_THRESHOLDS = (971, 4_971, 19_971)
_PRODUCTION = product.Production(
    by_kind={
        ("Regional", False): LevelValues("0.006915", (4_971, 19_971, 149_971)),
        ("Regional", True): LevelValues("0.006915", (4_971, 19_971, 149_970)),
        ("Detailed", False): LevelValues("1.9208", (471, 971, 6_971)),
        ("Detailed", True): LevelValues("0.142869", _SUBSTATE_THRESHOLDS),
    },
    exceptions={("AIANNH", "Regional"): LevelValues("0", _SUBSTATE_THRESHOLDS)},
)

SAFETAB_H = product.Product(
    number=1,
    name="SafeTab-H",
    source="SafeTab-H (the public program of the 2020 Detailed DHC-B)",
    record=HOUSEHOLD_RECORD,
    families=(HOUSEHOLD_TYPE, TENURE),
    family_keys={
        HOUSEHOLD_TYPE.name: product.FamilyKeys("privacy_budget_h_t3", "thresholds_h_t3"),
        TENURE.name: product.FamilyKeys("privacy_budget_h_t4", "thresholds_h_t4"),
    },
    selector=product.Selector.PUBLISHED_TOTALS,
    stage_1_key=None,
    suppression_key=None,
    totals_table="pop-group-totals",
    label_columns=(product.LabelColumn("category", "string", "string", "Which households are counted."),),
    files=tuple(product.TableFileLayout(folder, (f"{folder[:2].upper()}_DATA_CELL",)) for folder in FILES),
    line_question=Category(),
    reference=product.PublishedReference(
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
