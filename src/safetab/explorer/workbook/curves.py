"""The sheet of curves over the true size of a group, for a level that the reader chooses."""

from __future__ import annotations

from collections.abc import Sequence

from xlsxwriter import Workbook
from xlsxwriter.chart import Chart

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.explorer.workbook.inputs import Inputs, level_name
from safetab.explorer.workbook.live import Live, greater, of, one_of, or_nothing, position_of, range_of, rounded, when
from safetab.explorer.workbook.noise import LiveNoise
from safetab.explorer.workbook.results import LevelResults
from safetab.explorer.workbook.sheets import Sheet, Styles

CURVES = "Curves"
FIRST_ROW = 13
STEPS = 40
"""From nobody to twice T."""
TABLE_STEPS = 60
"""From half of the lowest threshold to twice the highest."""
_TABLES_COLUMN = 7
_CHARTS_COLUMN = 13


def first_choice(results: Sequence[LevelResults]) -> int:
    """Where the level stands that the sheet opens with: counties in detail if there, else one with a T."""
    levels = [one.inputs.level for one in results]
    counties = PopulationGroupLevel(GeographyLevel.COUNTY, IterationLevel.DETAILED)
    usual = levels.index(counties) if counties in levels else 0
    with_curves = [number for number, one in enumerate(results) if one.stage_2.value != ""]
    with_threshold = [number for number in with_curves if results[number].suppression_threshold.value != ""]
    return usual if usual in with_threshold else next(iter([*with_threshold, *with_curves]), 0)


def write_curves(workbook: Workbook, inputs: Inputs, results: Sequence[LevelResults], styles: Styles) -> None:
    sheet = Sheet(workbook, CURVES, (26, 20, 13, 13, 13, 3, 3, 12, 13, 13, 13, 13, 3))
    sheet.put(0, 0, "Curves over the true size of a group", styles.title)
    sheet.put(2, 0, "level (choose)", styles.text)
    levels = [one.inputs for one in results]
    name = level_name(levels[first_choice(results)].level)
    choice = sheet.put(2, 1, name, styles.input)
    names = [one.name for one in levels]
    sheet.worksheet.data_validation(2, 1, 2, 1, {"validate": "list", "source": f"={range_of(names)}"})
    place = sheet.put(3, 1, position_of(choice, names), styles.whole)
    chosen = {
        "sigma or scale, stage 1": [one.stage_1 for one in results],
        "sigma or scale, stage 2": [one.stage_2 for one in results],
        "T": [one.suppression_threshold for one in results],
        **{
            f"threshold: sex by {ages} ages": [one.thresholds[number] for one in levels]
            for number, ages in enumerate((4, 9, 23))
        },
    }
    sheet.put(3, 0, "its row", styles.text)
    found = []
    for row, (what, column) in enumerate(chosen.items(), start=4):
        sheet.put(row, 0, what, styles.text)
        found.append(sheet.put(row, 1, one_of(column, place), styles.number if row < 6 else styles.whole))
    stage_1, stage_2, threshold, *thresholds = found
    noises = LiveNoise(inputs.is_zcdp, stage_1), LiveNoise(inputs.is_zcdp, stage_2)
    _write_suppression(sheet, noises, threshold, thresholds[0], styles)
    _write_tables(sheet, noises[0], thresholds, styles)
    _draw(workbook, sheet)
    sheet.print_broken_at(_CHARTS_COLUMN, 60)


def _write_suppression(
    sheet: Sheet, noises: tuple[LiveNoise, LiveNoise], threshold: Live, lowest: Live, styles: Styles
) -> None:
    """The paper's Figures 1 and 2."""
    stage_1, stage_2 = noises
    heads = ("true size", "over T", "chance of suppression", "bias if published, persons", "bias over T")
    sheet.put(FIRST_ROW - 2, 0, "Suppression and bias (a level without T shows its noise instead)", styles.section)
    sheet.put_heads(FIRST_ROW - 1, heads, styles)
    for step in range(STEPS + 1):
        row = FIRST_ROW + step
        scale = when(threshold.is_word(""), 4 * stage_2.parameter, greater(threshold, 1))
        size = sheet.put(row, 0, _if_number(stage_2.parameter, rounded(scale * (2 * step) / STEPS)), styles.whole)
        ratio = _if_number(threshold, size / greater(threshold, 1))
        sheet.put(row, 1, ratio, styles.number)
        alone = 1 - stage_1.at_least(lowest - size)
        suppressed = when(threshold.is_word(""), 0, alone * (1 - stage_2.at_least(threshold + 1 - size)))
        sheet.put(row, 2, _if_number(stage_2.parameter, suppressed), styles.percent)
        bias = when(threshold.is_word(""), 0, stage_2.mean_given_at_least(threshold + 1 - size))
        bias_cell = sheet.put(row, 3, or_nothing(_if_number(stage_2.parameter, bias)), styles.number)
        sheet.put(row, 4, or_nothing(_if_number(threshold, bias_cell / greater(threshold, 1))), styles.number)


def _write_tables(sheet: Sheet, stage_1: LiveNoise, thresholds: Sequence[Live], styles: Styles) -> None:
    heads = ("true size", "total alone", "sex by 4 ages", "sex by 9 ages", "sex by 23 ages")
    sheet.put(FIRST_ROW - 2, _TABLES_COLUMN, "Which table a group gets", styles.section)
    sheet.put_heads(FIRST_ROW - 1, heads, styles, _TABLES_COLUMN)
    lowest, highest = greater(thresholds[0], 1) / 2, greater(thresholds[2], 1) * 2
    for step in range(TABLE_STEPS + 1):
        row = FIRST_ROW + step
        grown = lowest * (highest / lowest).to_the(of(step) / TABLE_STEPS)
        size = sheet.put(row, _TABLES_COLUMN, rounded(grown), styles.whole)
        least = [stage_1.at_least(threshold - size) for threshold in thresholds]
        chances = (1 - least[0], least[0] - least[1], least[1] - least[2], least[2])
        for number, chance in enumerate(chances, start=1):
            sheet.put(row, _TABLES_COLUMN + number, _if_number(stage_1.parameter, chance), styles.percent)


def _if_number(cell: Live, formula: Live) -> Live:
    """Empty where the cell is."""
    return when(cell.is_word(""), "", formula)


def _draw(workbook: Workbook, sheet: Sheet) -> None:
    last, last_table = FIRST_ROW + STEPS, FIRST_ROW + TABLE_STEPS
    curves = (
        ("Chance of suppression", "true size, persons", "chance", ((2, "suppressed"),)),
        ("Bias of a published total", "true size, persons", "persons", ((3, "bias"),)),
    )
    for number, (title, across, up, series) in enumerate(curves):
        chart = workbook.add_chart({"type": "scatter", "subtype": "straight"})
        for column, name in series:
            chart.add_series(_series(0, column, last, name, "#1f5f99"))
        _dress(chart, title, across, up)
        sheet.worksheet.insert_chart(1, _CHARTS_COLUMN + 8 * number, chart, {"object_position": 3})
    chart = workbook.add_chart({"type": "scatter", "subtype": "straight"})
    colours = ("#6b7785", "#1f5f99", "#c05a00", "#2e7d32")
    for number, (name, colour) in enumerate(zip(("total alone", "4 ages", "9 ages", "23 ages"), colours, strict=True)):
        chart.add_series(_series(_TABLES_COLUMN, _TABLES_COLUMN + 1 + number, last_table, name, colour))
    _dress(chart, "Which table a group gets", "true size, persons (logarithmic)", "chance", log_base=10)
    chart.set_legend({"position": "bottom"})
    sheet.worksheet.insert_chart(18, _CHARTS_COLUMN, chart, {"object_position": 3})


def _series(across: int, column: int, last: int, name: str, colour: str) -> dict[str, object]:
    return {
        "name": name,
        "categories": [CURVES, FIRST_ROW, across, last, across],
        "values": [CURVES, FIRST_ROW, column, last, column],
        "line": {"color": colour, "width": 2},
    }


def _dress(chart: Chart, title: str, across: str, up: str, **x_axis: object) -> None:
    grid = {"visible": True, "line": {"color": "#d5dbe3"}}
    chart.set_title({"name": title, "name_font": {"size": 12}})
    chart.set_x_axis({"name": across, "num_format": "#,##0", "major_gridlines": grid, **x_axis})
    chart.set_y_axis({"name": up, "major_gridlines": grid, "min": 0, **({"max": 1} if up == "chance" else {})})
    chart.set_legend({"none": True})
    chart.set_size({"width": 500, "height": 330})
