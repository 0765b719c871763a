"""The workbook: live formulas, curves by the true size of a group, and exact values.

It also says how exact the formulas are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from io import BytesIO
from pathlib import Path

from xlsxwriter import Workbook
from xlsxwriter.chart import Chart

from safetab.apps.explorer.workbook import live
from safetab.apps.explorer.workbook.inputs import Inputs, level_name, write_config, write_inputs
from safetab.apps.explorer.workbook.live import Live, LiveNoise, Sheet, Styles
from safetab.apps.explorer.workbook.results import (
    CONFIDENCES,
    HEADS,
    LEAST_SIGMA,
    WANTED_HEAD,
    LevelResults,
    write_results,
)
from safetab.apps.explorer.workbook.start import start_sheet, write_start
from safetab.core.algorithm.level_design import CONFIDENCE, LevelDesign
from safetab.core.guarantees.losses import DELTA, reported_loss
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.reference import loss_text
from safetab.foundation.templates import template_texts
from safetab.inputs.tuning.questions import least_budget
from safetab.inputs.tuning.tuned_level import TunedLevel
from safetab.inputs.tuning.tuning import PRODUCTION, Tuning, presets
from safetab.model.census.census import Census
from safetab.model.products.safetab_p.safetab_p import SEX_BY_AGE, SEX_MARGINAL, TOTAL
from safetab.model.products.tables import TOTAL_KIND as TOTAL_LINE

_CURVES = "Curves"
_FIRST_ROW = 13
_STEPS = 40
"""From size 0 to twice T."""
_TABLE_STEPS = 60
"""From half of the lowest threshold to twice the highest one."""
_TABLES_COLUMN = 7
_CHARTS_COLUMN = 13


def _first_choice(census: Census, results: Sequence[LevelResults]) -> int:
    """The position of the level that the sheet opens with.

    That is the census's example if possible, or a level with a T.
    """
    levels = [result.inputs.level for result in results]
    example = None if census.example_level is None else census.level(*census.example_level)
    usual = levels.index(example) if example is not None and example in levels else 0
    with_curves = [number for number, result in enumerate(results) if result.stage_2.value != ""]
    with_threshold = [
        number for number in with_curves if results[number].suppression_threshold.value != ""
    ]
    return usual if usual in with_threshold else next(iter([*with_threshold, *with_curves]), 0)


def _write_curves(
    workbook: Workbook,
    inputs: Inputs,
    results: Sequence[LevelResults],
    opens_with: int,
    styles: Styles,
) -> None:
    """Write the curves of the chosen level, with charts.

    The level at `opens_with` is chosen first.
    """
    sheet = Sheet(workbook, _CURVES, (26, 28, 13, 13, 13, 3, 3, 12, 13, 13, 13, 13, 3))
    sheet.put(0, 0, "Curves by the true size of a group", styles.title)
    sheet.put(2, 0, "level (choose)", styles.text)
    levels = [one.inputs for one in results]
    name = level_name(levels[opens_with].level)
    choice = sheet.put(2, 1, name, styles.input)
    names = [one.name for one in levels]
    sheet.worksheet.data_validation(
        2, 1, 2, 1, {"validate": "list", "source": f"={live.range_of(names)}"}
    )
    place = sheet.put(3, 1, live.position_of(choice, names), styles.whole)
    chosen = {
        "sigma or scale, stage 1": [one.stage_1 for one in results],
        "sigma or scale, stage 2": [one.stage_2 for one in results],
        "T": [one.suppression_threshold for one in results],
    }
    for number, ages in enumerate((4, 9, 23)):
        chosen[f"threshold: sex by {ages} ages"] = [one.thresholds[number] for one in levels]
    sheet.put(3, 0, "its row", styles.text)
    found = []
    for row, (what, column) in enumerate(chosen.items(), start=4):
        sheet.put(row, 0, what, styles.text)
        found.append(
            sheet.put(
                row, 1, live.one_of(column, place), styles.number if row < 6 else styles.whole
            )
        )
    stage_1, stage_2, threshold, *thresholds = found
    noises = LiveNoise(inputs.is_zcdp, stage_1), LiveNoise(inputs.is_zcdp, stage_2)
    _write_suppression(sheet, noises, threshold, thresholds[0], styles)
    _write_tables(sheet, noises[0], thresholds, styles)
    _draw(workbook, sheet)
    sheet.worksheet.fit_to_pages(0, 0)
    sheet.worksheet.set_print_scale(60)
    sheet.worksheet.set_v_pagebreaks([_CHARTS_COLUMN])  # charts are on sheets of paper of their own
    sheet.worksheet.print_across()


def _write_suppression(
    sheet: Sheet, stages: Sequence[LiveNoise], threshold: Live, lowest: Live, styles: Styles
) -> None:
    """The paper's Figures 1 and 2."""
    stage_1, stage_2 = stages
    heads = (
        "true size",
        "over T",
        "chance of suppression",
        "bias if published, persons",
        "bias over T",
    )
    sheet.put(
        _FIRST_ROW - 2, 0, "Suppression and bias (for a level without T: its noise)", styles.section
    )
    sheet.put_heads(_FIRST_ROW - 1, heads, styles)
    for step in range(_STEPS + 1):
        row = _FIRST_ROW + step
        scale = live.when(threshold.is_word(""), 4 * stage_2.parameter, live.greater(threshold, 1))
        size = sheet.put(
            row,
            0,
            _if_number(stage_2.parameter, live.rounded(scale * (2 * step) / _STEPS)),
            styles.whole,
        )
        ratio = _if_number(threshold, size / live.greater(threshold, 1))
        sheet.put(row, 1, ratio, styles.number)
        alone = 1 - stage_1.at_least(lowest - size)
        suppressed = live.when(
            threshold.is_word(""), 0, alone * (1 - stage_2.at_least(threshold + 1 - size))
        )
        sheet.put(row, 2, _if_number(stage_2.parameter, suppressed), styles.percent)
        bias = live.when(
            threshold.is_word(""), 0, stage_2.mean_given_at_least(threshold + 1 - size)
        )
        bias_cell = sheet.put(
            row, 3, live.or_nothing(_if_number(stage_2.parameter, bias)), styles.number
        )
        sheet.put(
            row,
            4,
            live.or_nothing(_if_number(threshold, bias_cell / live.greater(threshold, 1))),
            styles.number,
        )


def _write_tables(
    sheet: Sheet, stage_1: LiveNoise, thresholds: Sequence[Live], styles: Styles
) -> None:
    """The chance of each table by true size, for sizes on a logarithmic scale."""
    heads = ("true size", "total alone", "sex by 4 ages", "sex by 9 ages", "sex by 23 ages")
    sheet.put(_FIRST_ROW - 2, _TABLES_COLUMN, "Which table a group gets", styles.section)
    sheet.put_heads(_FIRST_ROW - 1, heads, styles, _TABLES_COLUMN)
    lowest, highest = live.greater(thresholds[0], 1) / 2, live.greater(thresholds[2], 1) * 2
    for step in range(_TABLE_STEPS + 1):
        row = _FIRST_ROW + step
        grown = lowest * (highest / lowest).to_the(live.of(step) / _TABLE_STEPS)
        size = sheet.put(row, _TABLES_COLUMN, live.rounded(grown), styles.whole)
        least = [stage_1.at_least(threshold - size) for threshold in thresholds]
        chances = (1 - least[0], least[0] - least[1], least[1] - least[2], least[2])
        shown = [_if_number(stage_1.parameter, chance) for chance in chances]
        sheet.put_row(row, _TABLES_COLUMN + 1, shown, styles.percent)


def _if_number(cell: Live, formula: Live) -> Live:
    """The formula, or an empty cell if the given cell is empty."""
    return live.when(cell.is_word(""), "", formula)


def _draw(workbook: Workbook, sheet: Sheet) -> None:
    """Add the three charts to the right of the numbers."""
    last, last_table = _FIRST_ROW + _STEPS, _FIRST_ROW + _TABLE_STEPS
    curves = (
        ("Chance of suppression", "chance", "suppressed"),
        ("Bias of a published total", "persons", "bias"),
    )
    for number, (title, up, name) in enumerate(curves):
        chart = workbook.add_chart({"type": "scatter", "subtype": "straight"})
        chart.add_series(_series(0, 2 + number, last, name, "#1f5f99"))
        _dress(chart, title, "true size, persons", up)
        sheet.worksheet.insert_chart(1, _CHARTS_COLUMN + 8 * number, chart, {"object_position": 3})
    chart = workbook.add_chart({"type": "scatter", "subtype": "straight"})
    colours = ("#6b7785", "#1f5f99", "#c05a00", "#2e7d32")
    for number, (name, colour) in enumerate(
        zip(("total alone", "4 ages", "9 ages", "23 ages"), colours, strict=True)
    ):
        chart.add_series(
            _series(_TABLES_COLUMN, _TABLES_COLUMN + 1 + number, last_table, name, colour)
        )
    _dress(
        chart, "Which table a group gets", "true size, persons (logarithmic)", "chance", log_base=10
    )
    chart.set_legend({"position": "bottom"})
    sheet.worksheet.insert_chart(18, _CHARTS_COLUMN, chart, {"object_position": 3})


def _series(across: int, column: int, last: int, name: str, colour: str) -> dict[str, object]:
    """One line of a chart, as xlsxwriter describes it."""
    return {
        "name": name,
        "categories": [_CURVES, _FIRST_ROW, across, last, across],
        "values": [_CURVES, _FIRST_ROW, column, last, column],
        "line": {"color": colour, "width": 2},
    }


def _dress(chart: Chart, title: str, across: str, up: str, **x_axis: object) -> None:
    """Give a chart its title, axes and size. A vertical axis of chances ends at 1."""
    grid = {"visible": True, "line": {"color": "#d5dbe3"}}
    chart.set_title({"name": title, "name_font": {"size": 12}})
    chart.set_x_axis({"name": across, "num_format": "#,##0", "major_gridlines": grid, **x_axis})
    chart.set_y_axis(
        {"name": up, "major_gridlines": grid, "min": 0, **({"max": 1} if up == "chance" else {})}
    )
    chart.set_legend({"none": True})
    chart.set_size({"width": 500, "height": 330})


_FIRST_EXACT_LEVEL = 10
_EXACT_HEADS = (
    *HEADS[: HEADS.index(WANTED_HEAD)],
    "smallest budget for that cell margin: ± at 95 %",
)
_CURVE_STEPS = 20
_TEXTS = template_texts("workbook/texts.toml")


def _write_exact(
    workbook: Workbook, tuning: Tuning, curve_of: TunedLevel | None, styles: Styles
) -> None:
    """Write the sheet of exact values, which does not follow changes of the inputs.

    `curve_of` is the level whose curves are written too, if there is one.
    """
    sheet = Sheet(workbook, "Exact", (28, 12, 12, 14, 14, 8, *[9] * 11, 12, 14))
    sheet.put(0, 0, "Exact values", styles.title)
    sheet.put(
        1,
        1,
        "For the loaded configuration, computed by safetab with certified arithmetic.",
        styles.text,
    )
    sheet.put(2, 1, "These are numbers, not formulas: they don't follow the inputs.", styles.text)
    _write_losses(sheet, tuning, styles)
    sheet.put_heads(_FIRST_EXACT_LEVEL - 1, _EXACT_HEADS, styles)
    for row, tuned in enumerate(tuning.levels.values(), start=_FIRST_EXACT_LEVEL):
        _write_level(sheet, row, tuning, tuned, styles)
    end = _FIRST_EXACT_LEVEL + len(tuning.levels)
    if curve_of is not None:
        _write_curve(sheet, end + 2, curve_of, styles)
    sheet.worksheet.freeze_panes(_FIRST_EXACT_LEVEL, 1)
    sheet.print_two_wide()
    sheet.worksheet.print_area(0, 0, end - 1, len(_EXACT_HEADS) - 1)  # without the curve


def _write_losses(sheet: Sheet, tuning: Tuning, styles: Styles) -> None:
    """Write the loss of each pass and of anyone, as texts that are exact or rounded up."""
    at = f"at delta {float(DELTA):g}, rounded up"
    heads = (
        "people",
        "unbounded",
        "bounded",
        f"epsilon, unbounded, {at}",
        f"epsilon, bounded, {at}",
    )
    sheet.put_heads(3, heads, styles)
    losses = {f"{run.name.upper()} pass": tuning.loss_of(run) for run in tuning.config.passes}
    for row, (people, loss) in enumerate([*losses.items(), ("anyone", tuning.loss)], start=4):
        reported = reported_loss(tuning.config.privacy_definition, loss)
        sheet.put(row, 0, people, styles.text)
        amounts = (
            reported.unbounded,
            reported.bounded,
            reported.unbounded_epsilon,
            reported.bounded_epsilon,
        )
        sheet.put_row(row, 1, map(loss_text, amounts), styles.loss)


def _write_level(sheet: Sheet, row: int, tuning: Tuning, tuned: TunedLevel, styles: Styles) -> None:
    """Write the row of a level, or a note if its noise can't be drawn."""
    sheet.put(row, 0, level_name(tuned.facts.level), styles.text)
    design = tuned.design
    if not design.stages or not design.can_be_drawn:
        sheet.put(row, 1, "this noise can't be drawn", styles.text)
        return
    sheet.put(row, 1, float(tuning.share(tuned.facts.level)), styles.percent)
    for column, stage in enumerate((Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY), start=2):
        if stage in design.stages:
            sheet.put(row, column, design.noise(stage).width, styles.number)
    numbers = [design.suppression_threshold, *margins(design)]
    for column, number in enumerate(numbers, start=5):
        if number is not None:
            sheet.put(row, column, number, styles.whole)
    sheet.put(row, 5 + len(numbers), tuned.empty_groups_published, styles.average)
    assert tuned.main_stage is not None
    least = least_budget(tuned, design.noise(tuned.main_stage).margin_of_error(CONFIDENCE))
    if least is not None:
        sheet.put(row, 6 + len(numbers), loss_text(least.budget), styles.loss)


def margins(design: LevelDesign) -> list[int | None]:
    """The margins of a level in the order of the columns.

    None stands where the level has no such number.
    """
    columns = [(TOTAL.kind(TOTAL_LINE), Fraction(str(confidence))) for confidence in CONFIDENCES]
    columns += [
        (shape.kind(name), CONFIDENCE)
        for name in (SEX_MARGINAL, TOTAL_LINE)
        for shape in SEX_BY_AGE
    ]
    adaptive = [
        design.margin(*column) if Stage.STAGE_2 in design.stages else None for column in columns
    ]
    usual = design.margins()
    return [*adaptive, usual.total_only, usual.stage_1_total]


def _write_curve(sheet: Sheet, row: int, tuned: TunedLevel, styles: Styles) -> None:
    """Write exact chances and biases of a level, near T and near its thresholds."""
    sheet.put(row, 0, f"Curves of {level_name(tuned.facts.level)}, exact", styles.section)
    design = tuned.design
    tables = ("total alone", *(f"sex by {shape.divisions} ages" for shape in SEX_BY_AGE))
    heads = ("true size", "chance of suppression", "bias if published, persons", *tables)
    sheet.put_heads(row + 1, heads, styles)
    most = 2 * (design.suppression_threshold or 0)
    near_t = {most * step // _CURVE_STEPS for step in range(_CURVE_STEPS + 1)}
    near_thresholds = {
        size * part // 100 for size in design.thresholds.totals for part in (98, 99, 100, 101, 102)
    }
    for line, size in enumerate(sorted(near_t | near_thresholds), start=row + 2):
        sheet.put(line, 0, size, styles.whole)
        sheet.put(line, 1, float(design.suppression_chance(size).mid()), styles.percent)
        sheet.put(line, 2, float(design.bias(size).mid()), styles.number)
        sheet.put_row(
            line,
            3,
            [float(chance.mid()) for chance in design.shape_chances(size).values()],
            styles.percent,
        )


def _write_accuracy(workbook: Workbook, styles: Styles) -> None:
    """Write the sheet that says which formulas are exact.

    It says how far off the others are at most.
    """
    sheet = Sheet(workbook, "What is exact", (38, 58, 78))
    sheet.put(0, 0, "Which formulas are exact, and how far off the others are", styles.title)
    for row, line in enumerate(_TEXTS["exact"], start=1):
        sheet.worksheet.merge_range(row, 0, row, 2, "", styles.wrapped)
        sheet.put(row, 0, line.format(least_sigma=LEAST_SIGMA), styles.wrapped)
        sheet.worksheet.set_row(row, 32)
    sheet.put_row(4, 0, ("what", "formula", "how exact"), styles.head)
    sheet.worksheet.freeze_panes(5, 0)
    for row, (name, cells) in enumerate(_TEXTS["accuracy"].items(), start=5):
        sheet.put_row(row, 0, (name, *cells), styles.wrapped)
        sheet.worksheet.set_row(row, 34)


_OPTIONS = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "in_memory": True,
}


def write_workbook(tuning: Tuning, path: Path, loaded_config: str | None = None) -> None:
    """Write the workbook to a path, replacing what is there.

    Sheets are in the order of these calls. `loaded_config` is the text of the configuration, or
    None if it is that of production, changed or not.
    """
    content = BytesIO()
    workbook = Workbook(content, _OPTIONS)
    styles = Styles(workbook)
    start = start_sheet(workbook)
    inputs = write_inputs(workbook, tuning, styles)
    results = write_results(workbook, inputs, styles)
    write_config(workbook, inputs, loaded_config or presets()[PRODUCTION], styles)
    opens_with = _first_choice(tuning.config.census, results.levels)
    _write_curves(workbook, inputs, results.levels, opens_with, styles)
    write_start(workbook, start, inputs, results, opens_with, styles)
    curve_of = tuning.levels.get(results.levels[opens_with].inputs.level)
    if curve_of is not None and (
        Stage.STAGE_2 not in curve_of.design.stages or not curve_of.design.can_be_drawn
    ):
        curve_of = None
    _write_exact(workbook, tuning, curve_of, styles)
    _write_accuracy(workbook, styles)
    workbook.close()
    path.write_bytes(content.getvalue())
