"""The four tables a population group can get, and the stages in which noise is drawn for them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

OLDEST_AGE = 115


class Table(Enum):
    """A total, or sex by age over ranges that begin at the given ages; the label is what files call it."""

    TOTAL = ("total", ())
    SEX_BY_AGE_4 = ("sex_age_4", (0, 18, 45, 65))
    SEX_BY_AGE_9 = ("sex_age_9", (0, 5, 18, 25, 35, 45, 55, 65, 75))
    SEX_BY_AGE_23 = (
        "sex_age_23",
        (0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85),
    )

    def __init__(self, label: str, age_starts: tuple[int, ...]) -> None:
        self.label = label
        self.age_starts = age_starts

    @property
    def cells_of_a_sex(self) -> int:
        """How many noisy numbers a sex marginal sums; none in a total."""
        return len(self.age_starts)

    @property
    def cells(self) -> int:
        """How many noisy numbers are drawn, and how many the total of this table sums."""
        return 2 * self.cells_of_a_sex or 1

    @property
    def t2_rows(self) -> int:
        """Rows in t2: the cells and a marginal for each sex."""
        return self.cells + 2 if self.age_starts else 0


SEX_BY_AGE_TABLES = (Table.SEX_BY_AGE_4, Table.SEX_BY_AGE_9, Table.SEX_BY_AGE_23)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The noisy totals, in persons, from which on a group gets sex by 4, by 9 and by 23 ages: the paper's Theta."""

    sex_by_age_4: int
    sex_by_age_9: int
    sex_by_age_23: int

    def table_of(self, noisy_total: int) -> Table:
        if noisy_total < self.sex_by_age_4:
            return Table.TOTAL
        if noisy_total < self.sex_by_age_9:
            return Table.SEX_BY_AGE_4
        if noisy_total < self.sex_by_age_23:
            return Table.SEX_BY_AGE_9
        return Table.SEX_BY_AGE_23

    def least_total_of(self, table: Table) -> int:
        """The noisy total from which on a group gets this sex-by-age table or a finer one."""
        return dict(zip(SEX_BY_AGE_TABLES, self.as_tuple, strict=True))[table]

    @property
    def as_tuple(self) -> tuple[int, int, int]:
        return (self.sex_by_age_4, self.sex_by_age_9, self.sex_by_age_23)


class Stage(IntEnum):
    """When noise is drawn; the numbers are those of the measurement file."""

    TOTAL_ONLY = 0
    STAGE_1 = 1
    STAGE_2 = 2
