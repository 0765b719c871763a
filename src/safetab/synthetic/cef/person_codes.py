"""What the person record says of codes, sexes, ages and dates of birth, as tables of texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from safetab.products.safetab_p.tables import OLDEST_AGE
from safetab.synthetic.cef.fixed_lines import Texts, numbers_up_to, texts_of
from safetab.synthetic.people.cenrace import MAJOR_RACE_COUNT, cenrace_of_bits
from safetab.synthetic.people.code_mix import CodeMix
from safetab.synthetic.seeded_bits import Integers

DAYS = 12 * 28  # of birth: the first 28 of each month
_CENSUS_DAY = (4, 1)
_CENSUS_YEAR = 2020

AGES = numbers_up_to(OLDEST_AGE, 3)
SEXES = texts_of((1, 2), 1)
CENRACES = numbers_up_to(63, 2, zeros=True)


@dataclass(frozen=True, slots=True, eq=False)
class CodeTexts:
    """One element per code of the mix, and a blank one at the end, where position -1 points."""

    code: Texts
    is_hispanic: Integers
    major: Texts  # QRACEX; of races alone

    @classmethod
    def of(cls, mix: CodeMix) -> CodeTexts:
        is_hispanic = (np.arange(len(mix.codes)) != mix.not_hispanic).astype(np.int64)
        major = np.minimum(mix.race_major, MAJOR_RACE_COUNT - 1) + 1
        return cls(texts_of((*mix.codes, ""), 4), is_hispanic, texts_of(major.tolist(), 1))


def birth_dates(age: Integers, day: Integers) -> dict[str, Texts]:
    """The fields of the date of birth: `day` is one of DAYS, and the age is that of census day."""
    dates, is_after = _dates_of_days()
    year = _CENSUS_YEAR - age - is_after[day]
    whole = np.empty(len(age), dtype=[("year", "S4"), ("month and day", "S4")])
    years = numbers_up_to(_CENSUS_YEAR, 4)[year]
    whole["year"], whole["month and day"] = years, dates["month and day"][day]
    return {
        "QDB": whole.view("S8"),
        "QDOB_MONTH": dates["month"][day],
        "QDOB_DAY": dates["day"][day],
        "QDOB_YEAR": years,
    }


@cache
def _dates_of_days() -> tuple[dict[str, Texts], Integers]:
    """The texts of each day, and 1 for those after census day."""
    days = [(month, day) for month in range(1, 13) for day in range(1, 29)]
    texts = {
        "month and day": texts_of((f"{month:02d}{day:02d}" for month, day in days), 4),
        "month": texts_of((month for month, _ in days), 2),
        "day": texts_of((day for _, day in days), 2),
    }
    return texts, np.array([day > _CENSUS_DAY for day in days], dtype=np.int64)


@cache
def race_2010_of_cenrace() -> Texts:
    """RACE2010 for each CENRACE: some other race doesn't count, and whoever reports nothing else is put to White."""
    majors = range(MAJOR_RACE_COUNT - 1)
    sets = (chosen for size in range(1, MAJOR_RACE_COUNT) for chosen in combinations(majors, size))
    number = {sum(1 << major for major in chosen): place for place, chosen in enumerate(sets, start=1)}
    of_cenrace = np.zeros(64, dtype=np.int64)
    for bits, cenrace in enumerate(cenrace_of_bits().tolist()):
        of_cenrace[cenrace] = number.get(bits & ((1 << (MAJOR_RACE_COUNT - 1)) - 1), 1)
    return numbers_up_to(31, 2, zeros=True)[of_cenrace]
