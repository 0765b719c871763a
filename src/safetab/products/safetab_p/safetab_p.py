"""SafeTab-P: the person record, the questions people ask, and the product.

Records are counted by sex and age. HOUSEHOLDER and CENRACE are only checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from safetab.foundation.argument_types import checks_arguments
from safetab.products import product
from safetab.products.bureau_columns import BLOCK_COLUMNS, BLOCKS, CODE_COLUMNS, ETHNICITY_CODES, RACE_CODES
from safetab.products.product import LevelValues
from safetab.products.record import AttributePart, CheckedColumn, RecordLayout
from safetab.products.safetab_p.tables import BOTH_SEXES, OLDEST_AGE, PERSONS, SEXES, ages_in_words

PERSON_RECORD = RecordLayout(
    table="person-records",
    noun="person",
    nouns="people",
    columns=("QAGE", "QSEX", "HOUSEHOLDER", *BLOCK_COLUMNS, "CENRACE", *CODE_COLUMNS),
    attribute=(
        AttributePart("QSEX", 1, len(SEXES), "must be 1 or 2", leading_zeros=False),
        AttributePart("QAGE", 0, OLDEST_AGE, f"must be an age from 0 to {OLDEST_AGE}", leading_zeros=True),
    ),
    checked=(
        CheckedColumn("HOUSEHOLDER", ("False", "True"), "must be True or False", digits=None),
        CheckedColumn("CENRACE", tuple(f"{code:02d}" for code in range(1, 64)), "must be 01 to 63", digits=2),
    ),
    area=BLOCKS,
    several=RACE_CODES,
    single=ETHNICITY_CODES,
)


_AGES = re.compile(r"(\d{1,3})(?:-(\d{1,3})|\+)")


class SexAndAges:
    """Questions by sex (both, male or female) and ages (the first and the last, both included)."""

    arguments = ("sex", "ages")
    everything = "all sexes and ages"

    def name_of(self, line: product.Line) -> str:
        sex, first, last = line.labels
        return f"{sex}, {ages_in_words(int(first), int(last))}"

    def bar_of(self, line: product.Line) -> tuple[str | None, str]:
        sex = str(line.labels[0])
        return (None if sex == BOTH_SEXES else sex), line.stub

    @checks_arguments
    def cells_of(
        self, shape: product.Shape, sex: str = BOTH_SEXES, ages: tuple[int, int] = (0, OLDEST_AGE)
    ) -> product.WantedCells | product.Refusal:
        """The cells of some ages and sexes. The ages must be a range that the shape has."""
        wanted = sex.strip().casefold()
        if wanted not in {BOTH_SEXES, *SEXES}:
            return product.Refusal("sex", f'must be both, male or female, not "{sex}".')
        first, last = ages[0], min(ages[1], OLDEST_AGE)
        cells = _cells(shape)
        starts = list(dict.fromkeys(start for _, _, start, _ in cells))
        bounds, has_ages = {*starts, OLDEST_AGE + 1}, shape.cells > 1
        if first not in bounds or last + 1 not in bounds or first > last:
            ranges = f"its ages begin at {', '.join(map(str, starts))}." if has_ages else "the group has a total alone."
            return product.Refusal("ages", f"{first} to {last} is not a range of this table: {ranges}")
        if wanted != BOTH_SEXES and not has_ages:
            return product.Refusal("sex", "the group has a total alone, with no numbers by sex.")
        of_ages = ((cell, of_sex) for cell, of_sex, start, end in cells if first <= start and end <= last)
        inside = (cell for cell, of_sex in of_ages if wanted in {of_sex, BOTH_SEXES})
        words = ages_in_words(first, last)
        return product.WantedCells(tuple(inside), words if wanted == BOTH_SEXES else f"{wanted} {words}")

    def parsed(self, texts: Mapping[str, str]) -> Mapping[str, object] | product.Refusal:
        wanted: dict[str, object] = {}
        if texts.get("sex", BOTH_SEXES) != BOTH_SEXES:
            wanted["sex"] = texts["sex"]
        if "ages" in texts:
            ages = _AGES.fullmatch(texts["ages"].replace(" ", ""))
            if ages is None:
                return product.Refusal("ages", "must be like 0-17 or 65+.")
            wanted["ages"] = (int(ages[1]), int(ages[2] or OLDEST_AGE))
        return wanted


def _cells(shape: product.Shape) -> list[tuple[int, str, int, int]]:
    """Each cell with its sex, first age and last age."""
    lines = [line for line in shape.lines if line.cells == 1]
    return [(line.first_cell, str(sex), int(first), int(last)) for line in lines for sex, first, last in [line.labels]]


_REGIONAL_THRESHOLDS = (4_971, 19_971, 149_971)
_PRODUCTION = product.Production(
    by_kind={
        ("Regional", False): LevelValues("0.008", _REGIONAL_THRESHOLDS),
        ("Regional", True): LevelValues("0.008", _REGIONAL_THRESHOLDS),
        ("Detailed", False): LevelValues("2.134", (471, 971, 6_971)),
        ("Detailed", True): LevelValues("0.159", (971, 4_971, 19_971)),
    },
    exceptions={("AIANNH", "Regional"): LevelValues("0", _REGIONAL_THRESHOLDS)},
    stage_1_fraction="0.1",
    suppression_chance="0.9999",
)

SAFETAB_P = product.Product(
    number=0,
    name="SafeTab-P",
    source="SafeTab-P (Haney et al. 2024)",
    record=PERSON_RECORD,
    families=(PERSONS,),
    family_keys={PERSONS.name: product.FamilyKeys("privacy_budget_p", "thresholds_p")},
    selector=product.Selector.NOISY_STAGE_1,
    stage_1_key="privacy_budget_p_stage_1_fraction",
    suppression_key="zero_suppression_chance",
    label_columns=(
        product.LabelColumn("sex", "string", "int8", "Who is counted.", values=(BOTH_SEXES, *SEXES)),
        product.LabelColumn("age_start", "int8", "int16", "First age that is counted, in years."),
        product.LabelColumn(
            "age_end", "int8", "int16", f"Last age that is counted, in years; {OLDEST_AGE} is the oldest."
        ),
    ),
    files=(product.TableFileLayout("t1", ()), product.TableFileLayout("t2", ("AGESTART", "AGEEND", "SEX"))),
    line_question=SexAndAges(),
    reference=product.PublishedReference(
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
