"""The first sheet: two questions in plain words, and their answers.

It says where to type, and has a picture of all margins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from xlsxwriter import Workbook

from safetab.apps.explorer.workbook import live
from safetab.apps.explorer.workbook.inputs import BAD_BUDGET, Inputs, level_name
from safetab.apps.explorer.workbook.live import Live, Sheet, Styles
from safetab.apps.explorer.workbook.results import HEADS, LevelResults, Results
from safetab.core.guarantees.losses import reported_references
from safetab.foundation.templates import template_texts
from safetab.model.products.safetab_p.safetab_p import SAFETAB_P

_NAME = "Start"
_CELL_MARGIN, _LONE_MARGIN = "cell, lone total: ± at 95 %", "total-only: ± at 95 %"
_FIRST_MARGIN = 33
_GRID = {"visible": True, "line": {"color": "#d5dbe3"}}
_TEXTS = template_texts("workbook/texts.toml")


def start_sheet(workbook: Workbook) -> Sheet:
    """The empty first sheet."""
    return Sheet(workbook, _NAME, (40, 28, 16, 62))


def write_start(
    workbook: Workbook,
    sheet: Sheet,
    inputs: Inputs,
    results: Results,
    opens_with: int,
    styles: Styles,
) -> None:
    """Write the questions, the answers that follow the inputs, and the margins of all levels."""
    sheet.put(0, 0, "How precise, and at what cost to privacy?", styles.title)
    for row, line in enumerate(_TEXTS["start"], start=1):
        sheet.put(row, 0, line, styles.text)
    margins = _write_margins(sheet, results.levels, styles)
    chosen = _write_precision(sheet, inputs, margins, opens_with, styles)
    _write_cost(sheet, inputs, results, chosen, styles)
    _write_sheets(sheet, styles)
    _draw(workbook, sheet, len(margins))
    sheet.worksheet.activate()
    sheet.worksheet.fit_to_pages(1, 1)
    sheet.worksheet.set_portrait()


def _margin_of(result: LevelResults) -> Live:
    """The margin at 95 % of one published number of a level."""
    return result.cells[HEADS.index(_CELL_MARGIN if result.inputs.adaptive else _LONE_MARGIN)]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The chosen level: its pass, its budget, and the smallest budget for the wanted margin."""

    tabulation_pass: Live
    budget: Live
    enough: Live


def _write_precision(
    sheet: Sheet, inputs: Inputs, margins: Sequence[Live], opens_with: int, styles: Styles
) -> _Chosen:
    """Write the first question and its answer."""
    levels = inputs.levels
    sheet.put(5, 0, "1. How precise should the counts of one level be?", styles.section)
    sheet.put(6, 0, "level (choose)", styles.text)
    choice = sheet.put(6, 1, level_name(levels[opens_with].level), styles.input)
    names = [one.name for one in levels]
    sheet.worksheet.data_validation(
        6, 1, 6, 1, {"validate": "list", "source": f"={live.range_of(names)}"}
    )
    sheet.put(6, 3, "a kind of area with a kind of group", styles.note)
    place = live.position_of(choice, names)
    sheet.put(7, 0, "margin of error now, ± persons at 95 %", styles.text)
    now = sheet.put(7, 1, live.one_of(margins, place), styles.whole)
    sheet.put(7, 3, "of a total published alone, or of one cell of a table", styles.note)
    sheet.put(8, 0, "margin of error wanted, ± persons at 95 %", styles.text)
    wanted = sheet.put(
        8, 1, live.as_number(levels[opens_with].wanted_margin).value or 1, styles.input_whole
    )
    rule = {"validate": "integer", "criteria": ">=", "value": 1, "error_title": "Not possible"}
    message = {"error_message": "Enter a whole number of persons, 1 or above."}
    sheet.worksheet.data_validation(8, 1, 8, 1, rule | message)
    sheet.put(9, 0, "budget of the level now", styles.text)
    budget = sheet.put(9, 1, live.one_of([one.budget for one in levels], place), styles.budget)
    sheet.put(9, 3, "rho, or epsilon under pure DP", styles.note)
    sheet.put(10, 0, "smallest budget for the wanted margin", styles.text)
    stability = live.one_of([one.stability for one in levels], place)
    has_tables = live.one_of([one.adaptive_iterations for one in levels], place).is_above(0)
    share = live.when(has_tables, 1 - inputs.gamma, 1)
    least = live.rounded_up(live.least_rho(wanted, live.of(0.95), stability, share), 6)
    enough = sheet.put(10, 1, live.when(inputs.is_zcdp, least, "zcdp only"), styles.budget)
    sheet.put(10, 3, "type it into the column of budgets on the sheet Inputs", styles.note)
    said = live.joined_texts(
        choice, live.of(": counts are within "), live.number_text(live.as_number(now)),
        live.of(" persons of the true count 95 of 100 times."),
    )  # fmt: skip
    _write_answer(
        sheet,
        11,
        live.when(now.is_word(""), "This level is not published with these budgets.", said),
        styles,
    )
    return _Chosen(live.one_of([one.pass_name for one in levels], place), budget, enough)


def _write_cost(
    sheet: Sheet, inputs: Inputs, results: Results, chosen: _Chosen, styles: Styles
) -> None:
    """Write the second question: the loss of anyone now and with the wanted margin.

    That of 2020 stands beside it.
    """
    assert SAFETAB_P.reference is not None
    known = float(reported_references(SAFETAB_P)[SAFETAB_P.reference.name].unbounded)
    sheet.put(13, 0, "2. How much privacy does that cost, compared with 2020?", styles.section)
    sheet.put_row(14, 1, ("loss", "times 2020"), styles.number_head)
    rows = {
        "all tables now": results.loss,
        "all tables with the wanted margin": _loss_with(results, chosen),
        "2020": live.of(known),
    }
    of_levels = [live.squares_of(inputs.budgets_of(one)) / 2 for one in results.losses]
    multiples = []
    for row, (name, loss) in enumerate(rows.items(), start=15):
        sheet.put(row, 0, name, styles.text)
        cell = sheet.put(row, 1, loss, styles.budget)
        rho = (
            cell
            if name == "2020"
            else live.when(inputs.is_zcdp, cell, reduce(live.greater, of_levels))
        )
        multiples.append(sheet.put(row, 2, live.if_number(cell, rho / known), styles.times))
    sheet.put(15, 3, "the largest of the passes: nobody is in two of them", styles.note)
    sheet.put(16, 3, "if the other budgets stay as they are", styles.note)
    note = (
        f"{SAFETAB_P.reference.name}, rho. The epsilon of each level counts as rho = epsilon"
        " squared / 2 at most"
    )
    sheet.put(17, 3, note, styles.note)
    near = live.number_text(live.rounded(100 * multiples[0]) / 100)
    cost = live.when(
        inputs.is_zcdp, "All tables together cost ", "All tables together cost at most "
    )
    said = live.joined_texts(cost, near, live.of(" times as much privacy as 2020."))
    same = live.joined_texts(cost, live.of("about as much privacy as 2020."))
    _write_answer(
        sheet, 18, live.if_number(results.loss, live.when(near.is_word("1"), same, said)), styles
    )
    rule = {"type": "cell", "criteria": "==", "value": f'"{BAD_BUDGET}"', "format": styles.alarm}
    sheet.worksheet.conditional_format(15, 0, 18, 2, rule)


def _loss_with(results: Results, chosen: _Chosen) -> Live:
    """The loss of anyone if the chosen level had the smallest budget for its wanted margin."""
    more = chosen.enough - chosen.budget
    losses = [
        total + live.when(chosen.tabulation_pass.is_word(one.name.upper()), more, 0)
        for one, total in results.losses.items()
    ]
    return live.if_number(results.loss, live.if_number(chosen.enough, reduce(live.greater, losses)))


def _write_answer(sheet: Sheet, row: int, answer: Live, styles: Styles) -> None:
    sheet.put(row, 0, answer, styles.answer)
    sheet.worksheet.set_row(row, 24)


def _write_sheets(sheet: Sheet, styles: Styles) -> None:
    """Write which sheet has what, with links."""
    sheet.put(20, 0, "Where to find the rest", styles.section)
    for row, (name, content) in enumerate(_TEXTS["sheets"].items(), start=21):
        sheet.worksheet.write_url(row, 0, f"internal:'{name}'!A1", styles.link, name)
        sheet.put(row, 1, content, styles.text)


def _write_margins(sheet: Sheet, levels: Sequence[LevelResults], styles: Styles) -> list[Live]:
    """Write the margins of all levels now and as loaded, and return those of now."""
    sheet.put(_FIRST_MARGIN - 2, 0, "Margins of all levels, ± persons at 95 %", styles.section)
    sheet.put_heads(_FIRST_MARGIN - 1, ("level", "now", "as loaded"), styles)
    sheet.worksheet.set_row(_FIRST_MARGIN - 1, 18)
    margins = []
    for row, one in enumerate(levels, start=_FIRST_MARGIN):
        sheet.put(row, 0, one.inputs.name, styles.text)
        margins.append(sheet.put(row, 1, _margin_of(one), styles.whole))
        sheet.put(row, 2, margins[-1].value, styles.whole)
    return margins


def _draw(workbook: Workbook, sheet: Sheet, levels: int) -> None:
    """Add the picture of the margins beside their table."""
    chart = workbook.add_chart({"type": "bar"})
    last = _FIRST_MARGIN + levels - 1
    for column, name, colour in ((2, "as loaded", "#c3cedb"), (1, "now", "#1f5f99")):
        values = [_NAME, _FIRST_MARGIN, column, last, column]
        categories = [_NAME, _FIRST_MARGIN, 0, last, 0]
        chart.add_series(
            {"name": name, "categories": categories, "values": values, "fill": {"color": colour}}
        )
    chart.set_title({"name": "Margin of error at 95 %, ± persons", "name_font": {"size": 12}})
    chart.set_y_axis({"reverse": True})
    chart.set_x_axis({"log_base": 10, "min": 1, "num_format": "#,##0", "major_gridlines": _GRID})
    chart.set_legend({"position": "bottom"})
    chart.set_size({"width": 450, "height": 22 * (levels + 2)})
    sheet.worksheet.insert_chart(
        _FIRST_MARGIN - 1, 3, chart, {"object_position": 3, "x_offset": 12}
    )
