"""The sheet with the config.json of the inputs: one cell holds the whole text, to copy.

In one line: spreadsheets put a text with line ends into quotes when it is copied, and double its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from xlsxwriter import Workbook

from safetab.config.config_file import budget_key, threshold_key
from safetab.explorer.workbook.inputs import BAD_BUDGET, Inputs
from safetab.explorer.workbook.live import Live, a_space, followed_by, listed_with_commas, number_text, of, when
from safetab.explorer.workbook.sheets import Sheet, Styles
from safetab.products.safetab_p.safetab_p import SAFETAB_P

CONFIG = "Config"
WHOLE_TEXT_ROW = 3
_FIRST_ROW = 8
_FAMILY = SAFETAB_P.families[0]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the file: a text, what the inputs say, a text. Texts of a given file are never part of a formula."""

    before: str
    value: Live | None = None
    after: str = ""


def write_config(workbook: Workbook, inputs: Inputs, base: str, styles: Styles) -> None:
    """`base` is the text of a valid config.json; what the inputs say takes the place of its values."""
    sheet = Sheet(workbook, CONFIG, (72, 34, 6, 70))
    sheet.put(0, 0, "The inputs as config.json", styles.title)
    sheet.put(1, 0, "Copy the framed cell into a file config.json; it follows the inputs.", styles.text)
    heads = ("text", "from the inputs", "text", "the file up to this line")
    sheet.put_heads(_FIRST_ROW - 1, heads, styles)
    whole = of("")
    for row, line in enumerate(_lines(inputs, json.loads(base)), start=_FIRST_ROW):
        before = sheet.put(row, 0, line.before, styles.code)
        value = sheet.put(row, 1, line.value if line.value is not None else "", styles.code)
        after = sheet.put(row, 2, line.after, styles.code)
        whole = sheet.put(row, 3, followed_by(whole, before, value, after, a_space()), styles.code)
    sheet.worksheet.merge_range(WHOLE_TEXT_ROW, 0, WHOLE_TEXT_ROW, 2, "", styles.code_framed)
    refused = f"{BAD_BUDGET}: every budget must be 0 or a positive number"
    sheet.put(WHOLE_TEXT_ROW, 0, when(inputs.are_budgets_right, whole, refused), styles.code_framed)
    sheet.worksheet.set_row(WHOLE_TEXT_ROW, 220)
    sheet.worksheet.print_area(0, 0, WHOLE_TEXT_ROW, 2)  # the rows below only make it up


def _lines(inputs: Inputs, base: dict[str, object]) -> Iterator[_Line]:
    values, thresholds_key = _values(inputs), SAFETAB_P.family_keys[_FAMILY.name].thresholds
    keys = list(base | dict.fromkeys(values))
    yield _Line("{")
    for number, key in enumerate(keys):
        comma = "," if number < len(keys) - 1 else ""
        if key == thresholds_key:
            yield from _threshold_lines(inputs, key, base[key], comma)
        elif key in values:
            quote = '"' if key == "privacy_defn" else ""
            yield _Line(f"  {json.dumps(key)}: {quote}", values[key], f"{quote}{comma}")
        else:
            yield _Line(f"  {json.dumps(key)}: {json.dumps(base[key])}{comma}")
    yield _Line("}")


def _values(inputs: Inputs) -> dict[str, Live]:
    assert SAFETAB_P.stage_1_key is not None
    assert SAFETAB_P.suppression_key is not None
    return {
        "privacy_defn": inputs.definition,
        "max_race_codes": number_text(inputs.race_codes),
        SAFETAB_P.stage_1_key: number_text(inputs.gamma),
        SAFETAB_P.suppression_key: number_text(inputs.suppression_chance),
        **{budget_key(SAFETAB_P, _FAMILY, one.level): number_text(one.budget) for one in inputs.levels},
    }


def _threshold_lines(inputs: Inputs, key: str, given: object, comma: str) -> Iterator[_Line]:
    assert isinstance(given, dict)
    of_level = {threshold_key(one.level): listed_with_commas(one.thresholds) for one in inputs.levels}
    names = list(given | dict.fromkeys(of_level))
    yield _Line(f"  {json.dumps(key)}: {{")
    for number, name in enumerate(names):
        end = "," if number < len(names) - 1 else ""
        if name in of_level:
            yield _Line(f"    {json.dumps(name)}: [", of_level[name], f"]{end}")
        else:
            yield _Line(f"    {json.dumps(name)}: {json.dumps(given[name])}{end}")
    yield _Line(f"  }}{comma}")
