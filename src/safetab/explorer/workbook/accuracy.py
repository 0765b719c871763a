"""The sheet that says which formulas are exact, which are not, and how far off these are at most."""

from __future__ import annotations

from xlsxwriter import Workbook

from safetab.explorer.workbook.results import LEAST_SIGMA
from safetab.explorer.workbook.sheets import Sheet, Styles

ACCURACY = "What is exact"
_FLOATS = "exact, but for the 15 digits of a spreadsheet"
_ROWS = (
    ("shares", "sums and products", _FLOATS),
    (
        "totals, bounded loss",
        "sums and products, rounded up to 6 decimals",
        f"never too small, {_FLOATS[len('exact, ') :]}",
    ),
    ("sigma and scale of the stages", "√(stability / (2 rho share)); stability / (epsilon share)", _FLOATS),
    (
        "rho by the paper's formula",
        "1.9208 stability / margin² / (1 - gamma)",
        f"{_FLOATS}; the formula itself asks for more than is needed",
    ),
    ("margin of one draw, T; puredp", "closed form with LN", "exact: equal to the true one at all settings tried"),
    ("chances and bias; puredp", "closed form with EXP", _FLOATS),
    (
        "margin of one draw or a sum; zcdp",
        "normal distribution of variance sigma² - 1/12, rounded to whole persons",
        "from sigma 3 on equal to the true one at all settings tried; from 0.7 on at most 1 person off, at fewer than 1"
        " setting in 100; below 0.7 not to be used",
    ),
    (
        "T; zcdp",
        "the same distribution",
        "for a suppression chance from 0.9 to 0.999999: from sigma 3 on equal to the true one at all settings tried;"
        " from 0.7 on at most 1 person off, at fewer than 1 setting in 30",
    ),
    (
        "margin of a sum; puredp",
        "normal distribution of the sum's variance - 1/12, rounded",
        "approximate: at 95 % and from scale 1 on at most 1 person or 4 % off",
    ),
    (
        "chance of suppression and of tables; zcdp",
        "the same distribution as for the margin",
        "from sigma 1.5 on within 0.0001; from 5 on within 0.000001",
    ),
    (
        "bias if published; zcdp",
        "mean of the cut normal distribution, times sigma² / (sigma² - 1/12)",
        "up to twice T: from sigma 1.5 on within 0.05 persons; from 5 on within 0.001",
    ),
    (
        "published if all were empty; zcdp",
        "groups times a chance far out in the tail",
        "at a suppression chance of 0.9999: from sigma 1.5 on within 2 %, from 5 on within 0.02 %",
    ),
    (
        "least rho, by rounded normal",
        "stability / (2 (1 - gamma) (((margin + 0.5) / 1.96)² + 1/12)), times 1.000001 + 0.0021 / margin³",
        "keeps the margin that was asked for; at most 0.1 % above the least rho that does",
    ),
    (
        "epsilon; zcdp",
        "the bound at its best order, found in 8 steps: the sheet Epsilon",
        "rounded up to 4 decimals; the page's and the package's at all settings tried, and never below",
    ),
)


def write_accuracy(workbook: Workbook, styles: Styles) -> None:
    sheet = Sheet(workbook, ACCURACY, (38, 58, 78))
    sheet.put(0, 0, "Which formulas are exact, and how far off the others are", styles.title)
    lines = (
        "A spreadsheet has no exact discrete Gaussian. The sheet Exact has the exact numbers of the configuration as"
        " it was loaded; for another, write it to a config.json and make the workbook again, or use `safetab tune`.",
        f"The distances below were measured against exact values, and a test measures them again. sigma is that of"
        f" stage 2; where it is below {LEAST_SIGMA}, the sheet Results says so.",
    )
    for row, line in enumerate(lines, start=1):
        sheet.worksheet.merge_range(row, 0, row, 2, "", styles.wrapped)
        sheet.put(row, 0, line, styles.wrapped)
        sheet.worksheet.set_row(row, 32)
    sheet.put_texts(4, ("what", "formula", "how exact"), styles.head)
    for row, cells in enumerate(_ROWS, start=5):
        sheet.put_texts(row, cells, styles.wrapped)
        sheet.worksheet.set_row(row, 34)
