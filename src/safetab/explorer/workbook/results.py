"""The sheet of results: noise, margins of error, T, share and cost, live."""

from __future__ import annotations

from dataclasses import dataclass

from xlsxwriter import Workbook
from xlsxwriter.format import Format

from safetab.census.geography_levels import TabulationPass
from safetab.explorer.workbook.epsilon import EpsilonSheet
from safetab.explorer.workbook.inputs import BAD_BUDGET, FIRST_RESULT, Inputs, LevelInputs
from safetab.explorer.workbook.inputs import FIRST_LEVEL as FIRST_INPUT
from safetab.explorer.workbook.live import (
    Live,
    are_zero_or_above,
    as_number,
    both,
    greater,
    if_number,
    of,
    root,
    rounded_up,
    total_of,
    when,
)
from safetab.explorer.workbook.noise import LiveNoise, least_rho
from safetab.explorer.workbook.sheets import Sheet, Styles
from safetab.planning.losses import reference_words
from safetab.privacy.definitions import PrivacyDefinition
from safetab.products.safetab_p.safetab_p import SAFETAB_P
from safetab.products.safetab_p.tables import SEX_BY_AGE
from safetab.tuning.questions import PAPER_CONSTANT

RESULTS = "Results"
LEAST_SIGMA = 0.7
LOSS_DECIMALS = 6
FIRST_LEVEL = 10
CONFIDENCES = (0.90, 0.95, 0.99)
_AGES = tuple(shape.divisions for shape in SEX_BY_AGE)
HEADS = (
    "level",
    "share of its pass",
    "sigma or scale, stage 1",
    "sigma or scale, stage 2",
    "sigma or scale, total-only",
    "T",
    *(f"cell, lone total: ± at {confidence:.0%}".replace("%", " %") for confidence in CONFIDENCES),
    *(f"sex of {ages} ages: ± at 95 %" for ages in _AGES),
    *(f"total of {ages} ages: ± at 95 %" for ages in _AGES),
    "total-only: ± at 95 %",
    "stage 1 total: ± at 95 %",
    "published if all were empty",
    "wanted margin: ± at 95 %",
    "rho by the paper's formula",
    "least rho, by rounded normal",
    "saved",
    "do the formulas hold?",
)


@dataclass(frozen=True, slots=True)
class LevelResults:
    """The cells of one level that the curves read; a word where there is no number."""

    inputs: LevelInputs
    stage_1: Live
    stage_2: Live
    suppression_threshold: Live
    cells: tuple[Live, ...]  # of the whole row, in the order of the heads


def write_results(workbook: Workbook, inputs: Inputs, styles: Styles) -> tuple[LevelResults, ...]:
    sheet = Sheet(workbook, RESULTS, (22, 12, 12, 13, 13, 8, *[9] * 11, 12, 10, 12, 12, 9, 24))
    sheet.put(0, 0, "Results", styles.title)
    sheet.put(1, 1, "Margins of error (±) are in persons, each with its confidence.", styles.text)
    epsilons = EpsilonSheet.begun(workbook, inputs, styles)
    totals = _write_losses(sheet, inputs, epsilons, styles)
    sheet.put_heads(FIRST_LEVEL - 1, HEADS, styles)
    rows = tuple(
        _LevelRow(sheet, FIRST_LEVEL + number, inputs, level, styles).write(totals[level.tabulation_pass])
        for number, level in enumerate(inputs.levels)
    )
    sheet.worksheet.conditional_format(
        *(FIRST_LEVEL, len(HEADS) - 1, FIRST_LEVEL + len(rows) - 1, len(HEADS) - 1),
        {"type": "text", "criteria": "begins with", "value": "no", "format": styles.alarm},
    )
    sheet.worksheet.freeze_panes(FIRST_LEVEL, 1)
    sheet.print_two_wide()
    _write_beside_inputs(inputs, rows, styles)
    return rows


_BESIDE = {
    "share of its pass": "share of its pass",
    "cell, lone total: ± at 95 %": "gives a cell: ± at 95 %",
    "total of 23 ages: ± at 95 %": "total of 23 ages: ± at 95 %",
    "T": "T",
    "published if all were empty": "published if all were empty",
    "least rho, by rounded normal": "least rho for the wanted margin",
    "do the formulas hold?": "do the formulas hold?",
}


def _write_beside_inputs(inputs: Inputs, rows: tuple[LevelResults, ...], styles: Styles) -> None:
    """What a committee looks at first, in the rows of the inputs: the cells of this sheet once more."""
    looks = [styles.percent, styles.whole, styles.whole, styles.whole, styles.average, styles.budget, styles.note]
    inputs.sheet.put_heads(FIRST_INPUT - 1, tuple(_BESIDE.values()), styles, FIRST_RESULT)
    for number, row in enumerate(rows):
        for column, (head, look) in enumerate(zip(_BESIDE, looks, strict=True), start=FIRST_RESULT):
            inputs.sheet.put(FIRST_INPUT + number, column, row.cells[HEADS.index(head)], look)


def _write_losses(sheet: Sheet, inputs: Inputs, epsilons: EpsilonSheet, styles: Styles) -> dict[TabulationPass, Live]:
    """Write the totals here and beside the inputs; return the cell of each pass's total.

    The cell holds text if a budget is bad.
    """
    heads = ("people", "unbounded", "bounded", "epsilon at delta, unbounded", "epsilon at delta, bounded")
    sheet.put_heads(3, heads, styles)
    totals: dict[TabulationPass, Live] = {}
    for one in TabulationPass:
        budgets = inputs.budgets_of(one)
        if budgets:
            loss = when(are_zero_or_above(budgets), total_of(budgets), BAD_BUDGET)
            totals[one] = _write_loss(sheet, 4 + len(totals), f"{one.value.upper()} pass", loss, epsilons)
    first, *others = totals.values()
    costliest = first
    for other in others:
        costliest = if_number(costliest, if_number(other, greater(costliest, other)))
    _write_loss(sheet, 4 + len(totals), "anybody", costliest, epsilons)
    words = (
        "Losses are rounded up. Epsilon is the page's, at the delta of the inputs: the sheet Epsilon has its steps."
        ' A total shows "bad budget" if a budget is missing, negative or not a number.'
    )
    sheet.put(7, 1, words, styles.text)
    sheet.put(8, 1, reference_words(SAFETAB_P, PrivacyDefinition.ZCDP), styles.text)
    _mark_bad_budgets(sheet, (4, 1), styles)
    _mark_bad_budgets(inputs.sheet, (5, FIRST_RESULT + 2), styles)
    return totals


def _mark_bad_budgets(sheet: Sheet, first: tuple[int, int], styles: Styles) -> None:
    last = first[0] + len(TabulationPass), first[1] + 3
    rule = {"type": "cell", "criteria": "==", "value": f'"{BAD_BUDGET}"', "format": styles.alarm}
    sheet.worksheet.conditional_format(*first, *last, rule)


def _write_loss(sheet: Sheet, row: int, people: str, loss: Live, epsilons: EpsilonSheet) -> Live:
    inputs, styles = epsilons.inputs, epsilons.styles
    sheet.put(row, 0, people, styles.text)
    unbounded = sheet.put(row, 1, if_number(loss, rounded_up(loss, LOSS_DECIMALS)), styles.budget)
    bounded = sheet.put(row, 2, if_number(unbounded, 2 * unbounded), styles.budget)
    stated = [unbounded, bounded]
    for column, cost in ((3, loss), (4, if_number(loss, 2 * loss))):
        pure = if_number(cost, rounded_up(cost, LOSS_DECIMALS))
        stated.append(sheet.put(row, column, when(inputs.is_zcdp, epsilons.epsilon_of(cost), pure), styles.epsilon))
    _write_loss_beside_inputs(inputs.sheet, row + 1, people, stated, styles)
    return unbounded


def _write_loss_beside_inputs(sheet: Sheet, row: int, people: str, stated: list[Live], styles: Styles) -> None:
    heads = ("loss of", "unbounded", "bounded", "epsilon at delta, unbounded", "epsilon at delta, bounded")
    for column, head in enumerate(heads, start=FIRST_RESULT + 1):
        sheet.put(4, column, head, styles.head)
    sheet.worksheet.set_row(4, 50)
    sheet.put(row, FIRST_RESULT + 1, people, styles.text)
    looks = (styles.budget, styles.budget, styles.epsilon, styles.epsilon)
    for column, (number, look) in enumerate(zip(stated, looks, strict=True), start=FIRST_RESULT + 2):
        sheet.put(row, column, number, look)


class _LevelRow:
    """Writes the row of a level, from left to right."""

    def __init__(self, sheet: Sheet, row: int, inputs: Inputs, level: LevelInputs, styles: Styles) -> None:
        self._sheet, self._row, self._column = sheet, row, 0
        self._cells: list[Live] = []
        self._inputs, self._level, self._styles = inputs, level, styles
        self._has_budget = (as_number(level.budget) * level.stability).is_above(0)

    def write(self, total_of_pass: Live) -> LevelResults:
        level, inputs, styles = self._level, self._inputs, self._styles
        self._put(level.name, styles.text, always=True)
        share = level.budget / total_of(inputs.budgets_of(level.tabulation_pass))
        self._put(if_number(total_of_pass, share), styles.percent)
        stage_1 = self._put(self._parameter(inputs.gamma), styles.number, is_there=level.adaptive > 0)
        stage_2 = self._put(self._parameter(1 - inputs.gamma), styles.number, is_there=level.adaptive > 0)
        total_only = self._put(self._parameter(of(1)), styles.number, is_there=level.total_only > 0)
        threshold = self._write_threshold(stage_2)
        self._write_margins(stage_1, stage_2, total_only)
        self._write_empty_groups(stage_1, stage_2, threshold)
        self._write_wanted(stage_2 if level.adaptive else total_only)
        return LevelResults(level, stage_1, stage_2, threshold, tuple(self._cells))

    def _put(self, formula: Live, style: Format, *, is_there: bool = True, always: bool = False) -> Live:
        """An empty cell if the level has no such number, or no budget."""
        content: Live = formula if always else when(self._has_budget, formula, "") if is_there else of("")
        reference = self._sheet.put(self._row, self._column, content, style)
        self._column += 1
        self._cells.append(reference)
        return reference

    def _parameter(self, share: Live) -> Live:
        budget = self._level.budget * share
        sigma, scale = root(self._level.stability / (2 * budget)), self._level.stability / budget
        return when(self._inputs.is_zcdp, sigma, scale)

    def _noise(self, parameter: Live) -> LiveNoise:
        return LiveNoise(self._inputs.is_zcdp, parameter)

    def _write_threshold(self, stage_2: Live) -> Live:
        chance = self._inputs.suppression_chance
        is_there = self._level.level.geography.is_substate and self._level.adaptive > 0
        threshold = when(chance.is_above(0), self._noise(stage_2).quantile(chance), "")
        return self._put(threshold, self._styles.whole, is_there=is_there)

    def _write_margins(self, stage_1: Live, stage_2: Live, total_only: Live) -> None:
        whole, adaptive = self._styles.whole, self._level.adaptive > 0
        for confidence in CONFIDENCES:
            self._put(self._noise(stage_2).margin(of(confidence)), whole, is_there=adaptive)
        for draws in (*_AGES, *(2 * ages for ages in _AGES)):
            self._put(self._noise(stage_2).margin(of(0.95), draws), whole, is_there=adaptive)
        self._put(self._noise(total_only).margin(of(0.95)), whole, is_there=self._level.total_only > 0)
        self._put(self._noise(stage_1).margin(of(0.95)), whole, is_there=adaptive)

    def _write_empty_groups(self, stage_1: Live, stage_2: Live, threshold: Live) -> None:
        """How many groups would be published with nobody in any."""
        level = self._level
        total_only, adaptive = level.entities * level.total_only, level.entities * level.adaptive
        if not adaptive:
            self._put(of(total_only), self._styles.average)
            return
        with_table = self._noise(stage_1).at_least(level.thresholds[0])
        published = with_table + (1 - with_table) * self._noise(stage_2).at_least(threshold + 1)
        published = when(threshold.is_word(""), 1, published)
        self._put(adaptive * published + total_only, self._styles.average)

    def _write_wanted(self, main: Live) -> None:
        level, inputs, styles = self._level, self._inputs, self._styles
        share = 1 - inputs.gamma if level.adaptive else of(1)
        wanted = self._put(level.wanted_margin, styles.whole, always=True)
        paper = float(PAPER_CONSTANT) * level.stability / wanted.to_the(2) / share
        can_be = both(wanted.is_above(0), inputs.is_zcdp)
        by_paper = self._put(when(can_be, rounded_up(paper, LOSS_DECIMALS), ""), styles.budget, always=True)
        least = least_rho(wanted, of(0.95), level.stability, share)
        by_normal = self._put(when(can_be, rounded_up(least, LOSS_DECIMALS), ""), styles.budget, always=True)
        self._put(when(can_be, 1 - by_normal / by_paper, ""), styles.percent, always=True)
        too_narrow = both(inputs.is_zcdp, of(LEAST_SIGMA).is_above(main))
        holds = when(too_narrow, f"no: sigma is below {LEAST_SIGMA}", "yes")
        is_right, refused = are_zero_or_above([level.budget]), "no: the budget must be 0 or a positive number"
        self._put(when(is_right, when(self._has_budget, holds, ""), refused), styles.note, always=True)
