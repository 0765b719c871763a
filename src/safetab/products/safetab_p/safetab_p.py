"""SafeTab-P as a value: the Detailed DHC-A of the 2020 Census."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.products.product import FamilyKeys, LabelColumn, Product, PublishedReference, Selector, TableFileLayout
from safetab.products.production import LevelValues, Production
from safetab.products.safetab_p.line_question import SexAndAges
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.products.safetab_p.tables import BOTH_SEXES, OLDEST_AGE, PERSONS, SEXES

_REGIONAL_THRESHOLDS = (4_971, 19_971, 149_971)
_PRODUCTION = Production(
    by_kind=MappingProxyType(
        {
            (IterationLevel.REGIONAL, False): LevelValues("0.008", _REGIONAL_THRESHOLDS),
            (IterationLevel.REGIONAL, True): LevelValues("0.008", _REGIONAL_THRESHOLDS),
            (IterationLevel.DETAILED, False): LevelValues("2.134", (471, 971, 6_971)),
            (IterationLevel.DETAILED, True): LevelValues("0.159", (971, 4_971, 19_971)),
        }
    ),
    exceptions=MappingProxyType(
        {(GeographyLevel.AIANNH, IterationLevel.REGIONAL): LevelValues("0", _REGIONAL_THRESHOLDS)}
    ),
    stage_1_fraction="0.1",
    suppression_chance="0.9999",
)

SAFETAB_P = Product(
    number=0,
    name="SafeTab-P",
    source="SafeTab-P (Haney et al. 2024)",
    record=PERSON_RECORD,
    families=(PERSONS,),
    family_keys=MappingProxyType({PERSONS.name: FamilyKeys("privacy_budget_p", "thresholds_p")}),
    selector=Selector.NOISY_STAGE_1,
    stage_1_key="privacy_budget_p_stage_1_fraction",
    suppression_key="zero_suppression_chance",
    label_columns=(
        LabelColumn("sex", "string", "int8", "Who is counted.", values=(BOTH_SEXES, *SEXES)),
        LabelColumn("age_start", "int8", "int16", "First age that is counted, in years."),
        LabelColumn("age_end", "int8", "int16", f"Last age that is counted, in years; {OLDEST_AGE} is the oldest."),
    ),
    files=(TableFileLayout("t1", ()), TableFileLayout("t2", ("AGESTART", "AGEEND", "SEX"))),
    line_question=SexAndAges(),
    reference=PublishedReference(
        "2020 Detailed DHC-A",
        Fraction("4.944"),
        Fraction("2.134"),
        "Published for the 2020 Detailed DHC-A is rho 19.776, 4 times 4.944: group privacy, the generic rule for a"
        " changed record, we infer. The direct proof gives 9.888 (docs/privacy.md#reference).",
    ),
    production=_PRODUCTION,
    counts="how many people there are, in all, and for larger groups by sex and age",
    adding_up="Don't add a table's total to its parts: lines that hold others (Total, Male, Female) are rows too. The"
    " total in T01001 and that in the first line of a sex-by-age table are one number, not two.",
)
