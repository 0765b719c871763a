"""The sheet of exact values: what Python computed for the configuration as it was loaded. It doesn't follow changes."""

from __future__ import annotations

from fractions import Fraction

from xlsxwriter import Workbook

from safetab.explorer.workbook.inputs import level_name
from safetab.explorer.workbook.results import CONFIDENCES, HEADS
from safetab.explorer.workbook.sheets import Sheet, Styles
from safetab.planning.level_design import LevelDesign
from safetab.planning.losses import DELTA, reported_loss
from safetab.privacy.loss_text import loss_text
from safetab.privacy.stages import Stage
from safetab.products.safetab_p.tables import SEX_BY_AGE, SEX_MARGINAL, TOTAL, TOTAL_LINE
from safetab.tuning.questions import least_budget
from safetab.tuning.tuned_level import TunedLevel
from safetab.tuning.tuning import Tuning

EXACT = "Exact"
FIRST_LEVEL = 10
_HEADS = (*HEADS[: HEADS.index("wanted margin: ± at 95 %")], "least budget for that cell margin: ± at 95 %")
_CONFIDENCE = Fraction(95, 100)
_CURVE_COLUMNS = 20


def write_exact(workbook: Workbook, tuning: Tuning, curve_of: TunedLevel | None, styles: Styles) -> None:
    sheet = Sheet(workbook, EXACT, (22, 12, 12, 14, 14, 8, *[9] * 11, 12, 14))
    sheet.put(0, 0, "Exact values", styles.title)
    words = "For the configuration as it was loaded, computed by safetab with certified arithmetic."
    sheet.put(1, 1, words, styles.text)
    sheet.put(2, 1, "Numbers, not formulas: they don't follow the inputs.", styles.text)
    _write_losses(sheet, tuning, styles)
    sheet.put_heads(FIRST_LEVEL - 1, _HEADS, styles)
    row = FIRST_LEVEL
    for tuned in tuning.levels.values():
        _write_level(sheet, row, tuning, tuned, styles)
        row += 1
    if curve_of is not None:
        _write_curve(sheet, row + 2, curve_of, styles)
    sheet.worksheet.freeze_panes(FIRST_LEVEL, 1)
    sheet.print_two_wide()
    sheet.worksheet.print_area(0, 0, row - 1, len(_HEADS) - 1)  # the curve is for the eye that compares, not for paper


def _write_losses(sheet: Sheet, tuning: Tuning, styles: Styles) -> None:
    at = f"at delta {float(DELTA):g}, rounded up"
    heads = ("people", "unbounded", "bounded", f"epsilon, unbounded, {at}", f"epsilon, bounded, {at}")
    sheet.put_heads(3, heads, styles)
    losses = {f"{one.value.upper()} pass": tuning.loss_of(one) for one in tuning.config.passes}
    for row, (people, loss) in enumerate([*losses.items(), ("anybody", tuning.loss)], start=4):
        reported = reported_loss(tuning.config.privacy_definition, loss)
        sheet.put(row, 0, people, styles.text)
        amounts = (reported.unbounded, reported.bounded, reported.unbounded_epsilon, reported.bounded_epsilon)
        for column, amount in enumerate(amounts, start=1):
            sheet.put(row, column, loss_text(amount), styles.loss)


def _write_level(sheet: Sheet, row: int, tuning: Tuning, tuned: TunedLevel, styles: Styles) -> None:
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
    least = least_budget(tuned, _main_margin(tuned))
    if least is not None:
        sheet.put(row, 6 + len(numbers), loss_text(least.budget), styles.loss)


def margins(design: LevelDesign) -> list[int | None]:
    """In the order of the columns."""
    columns = [(TOTAL.kind(TOTAL_LINE), Fraction(str(confidence))) for confidence in CONFIDENCES]
    columns += [(shape.kind(name), _CONFIDENCE) for name in (SEX_MARGINAL, TOTAL_LINE) for shape in SEX_BY_AGE]
    adaptive = [design.margin(*column) if Stage.STAGE_2 in design.stages else None for column in columns]
    usual = design.margins()
    return [*adaptive, usual.total_only, usual.stage_1_total]


def _main_margin(tuned: TunedLevel) -> int:
    assert tuned.main_stage is not None
    return tuned.design.noise(tuned.main_stage).margin_of_error(_CONFIDENCE)


def _write_curve(sheet: Sheet, row: int, tuned: TunedLevel, styles: Styles) -> None:
    sheet.put(row, 0, f"Curves of {level_name(tuned.facts.level)}, exact", styles.section)
    design, tables = tuned.design, ("total alone", *(f"sex by {shape.divisions} ages" for shape in SEX_BY_AGE))
    heads = ("true size", "chance of suppression", "bias if published, persons", *tables)
    sheet.put_heads(row + 1, heads, styles)
    most = 2 * (design.suppression_threshold or 0)
    near_t = {most * step // _CURVE_COLUMNS for step in range(_CURVE_COLUMNS + 1)}
    near_thresholds = {size * part // 100 for size in design.thresholds.totals for part in (98, 99, 100, 101, 102)}
    for line, size in enumerate(sorted(near_t | near_thresholds), start=row + 2):
        sheet.put(line, 0, size, styles.whole)
        sheet.put(line, 1, float(design.suppression_chance(size).mid()), styles.percent)
        sheet.put(line, 2, float(design.bias(size).mid()), styles.number)
        for column, chance in enumerate(design.shape_chances(size).values(), start=3):
            sheet.put(line, column, float(chance.mid()), styles.percent)
