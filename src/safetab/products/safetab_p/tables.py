"""T01001 and T02001 to T02003: a total, and sex by age over 4, 9 and 23 ranges, as in the paper."""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType

from safetab.products.product import FileRow, Line, LineKind, Shape, TableFamily

OLDEST_AGE = 115
AGES = OLDEST_AGE + 1
SEXES = ("male", "female")
BOTH_SEXES = "both"

CELL, SEX_MARGINAL, TOTAL_LINE = "cell", "sex_marginal", "total"

AGE_STARTS = {
    "sex_age_4": (0, 18, 45, 65),
    "sex_age_9": (0, 5, 18, 25, 35, 45, 55, 65, 75),
    "sex_age_23": (0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85),
}
_TOTAL_TABLE_ID = "T01001"
_TABLE_IDS = {"sex_age_4": "T02001", "sex_age_9": "T02002", "sex_age_23": "T02003"}
_WITH_AND = {(18, 19), (65, 66)}  # the tables spell these two-year ranges with "and", and 60 to 61 with "to"
_ALL_AGES = "*"  # in t2


def ages_in_words(first: int, last: int) -> str:
    """The ages as people say them: "all ages", "65 and over", "0 to 17", "aged 20"."""
    if (first, last) == (0, OLDEST_AGE):
        return "all ages"
    if last == OLDEST_AGE:
        return f"{first} and over"
    return f"{first} to {last}" if first != last else f"aged {first}"


def words_of(sex: str, first: int, last: int) -> str:
    """The people that a line counts, or an empty text if it counts everybody."""
    ages = "" if (first, last) == (0, OLDEST_AGE) else ages_in_words(first, last)
    return f"{'' if sex == BOTH_SEXES else sex} {ages}".strip()


def _stub(start: int, end: int) -> str:
    if start == 0:
        return f"Under {end + 1} years"
    if end == OLDEST_AGE:
        return f"{start} years and over"
    if start == end:
        return f"{start} years"
    return f"{start} {'and' if (start, end) in _WITH_AND else 'to'} {end} years"


def _line(where: tuple[str, int], stub: str, who: tuple[str, int, int], run: tuple[int, int]) -> Line:
    is_total = where[0] == _TOTAL_TABLE_ID
    return Line(*where, stub, words_of(*who), who, *run, is_total)


def _total_line(table_id: str, cells: int) -> Line:
    return _line((table_id, 1), "Total", (BOTH_SEXES, 0, OLDEST_AGE), (0, cells))


TOTAL = Shape(
    label="total",
    title="Total Population",
    words="a total",
    cell_of_value=(0,) * (len(SEXES) * AGES),
    cell_labels=((None, None, None),),
    lines=(_total_line(_TOTAL_TABLE_ID, 1),),
    kinds=(LineKind(TOTAL_LINE, draws=1, parts=1),),
    file_rows=MappingProxyType({"t1": (FileRow((), 0, 1),)}),
)


def _sex_by_age(label: str) -> Shape:
    """A table of males by age and then females by age, so that every line is a run of cells."""
    starts, table_id = AGE_STARTS[label], _TABLE_IDS[label]
    ages = [(start, end - 1) for start, end in pairwise((*starts, AGES))]
    cells, lines, rows = len(SEXES) * len(ages), list[Line](), list[FileRow]()
    for position, sex in enumerate(SEXES):
        first, number = position * len(ages), 2 + position * (len(ages) + 1)
        lines.append(_line((table_id, number), sex.capitalize(), (sex, 0, OLDEST_AGE), (first, len(ages))))
        for n, (start, end) in enumerate(ages):
            lines.append(_line((table_id, number + 1 + n), _stub(start, end), (sex, start, end), (first + n, 1)))
            rows.append(FileRow((str(start), str(end), str(position + 1)), first + n, 1))
        rows.append(FileRow((_ALL_AGES, _ALL_AGES, str(position + 1)), first, len(ages)))
    return Shape(
        label=label,
        title=f"Sex by Age({len(ages)})",
        words=f"sex by {len(ages)} ages",
        cell_of_value=tuple(
            position * len(ages) + sum(age >= start for start in starts) - 1
            for position in range(len(SEXES))
            for age in range(AGES)
        ),
        cell_labels=tuple((position + 1, *bounds) for position in range(len(SEXES)) for bounds in ages),
        lines=(_total_line(_TOTAL_TABLE_ID, cells), _total_line(table_id, cells), *lines),
        kinds=(
            LineKind(CELL, draws=1, parts=cells),
            LineKind(SEX_MARGINAL, draws=len(ages), parts=len(SEXES)),
            LineKind(TOTAL_LINE, draws=cells, parts=1),
        ),
        file_rows=MappingProxyType({"t1": (FileRow((), 0, cells),), "t2": tuple(rows)}),
        divisions=len(ages),
    )


SEX_BY_AGE_4, SEX_BY_AGE_9, SEX_BY_AGE_23 = SEX_BY_AGE = tuple(_sex_by_age(label) for label in AGE_STARTS)
PERSONS = TableFamily(
    number=0,
    name="persons",
    file_word="sex-by-age",
    shapes=(TOTAL, *SEX_BY_AGE),
    divided_into="ages",
    detail="sex by age",
    grains=f"{' / '.join(str(len(starts)) for starts in AGE_STARTS.values())} ages",
    is_unnamed_in_format_0=True,
)
