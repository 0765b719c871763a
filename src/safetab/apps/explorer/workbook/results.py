"""The live sheets of results.

They have noise, margins of error, T, shares and losses, and epsilon at delta.
"""

from __future__ import annotations

from dataclasses import dataclass

from xlsxwriter import Workbook
from xlsxwriter.format import Format

from safetab.apps.explorer.workbook import live
from safetab.apps.explorer.workbook.inputs import BAD_BUDGET, FIRST_RESULT, Inputs, LevelInputs
from safetab.apps.explorer.workbook.inputs import FIRST_LEVEL as FIRST_INPUT
from safetab.apps.explorer.workbook.live import Live, LiveNoise, Sheet, Styles
from safetab.core.guarantees.losses import reference_words
from safetab.inputs.tuning.questions import PAPER_CONSTANT
from safetab.model.census.area_levels import Pass
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.safetab_p.safetab_p import SAFETAB_P, SEX_BY_AGE

LEAST_SIGMA = 0.7
_CELL_HEAD = "cell, lone total: ± at 95 %"
_ABOVE = (
    "Margins of error (±) are in persons, each with its confidence."
    " From the size for the target error on, the margin of a lone total,"
    " or of a cell of the table on average, is at most that part of the number."
)
_LOSS_DECIMALS = 6
_FIRST_LEVEL = 10
CONFIDENCES = (0.90, 0.95, 0.99)
WANTED_HEAD = "wanted margin: ± at 95 %"
_AGES = tuple(shape.divisions for shape in SEX_BY_AGE)
_EPSILON_DECIMALS = 4
_STEPS = 8
_FIRST_EPSILON = 6
_ROUNDING = live.of(2**-44)  # of each term: many times what 15 digits can lose
_EPSILON_HEADS = (
    "loss, rho", *(f"order, step {step}" for step in range(_STEPS + 1)),
    "epsilon, before rounding up", "epsilon",
)  # fmt: skip
HEADS = (
    "level", "share of its pass", "sigma or scale, stage 1", "sigma or scale, stage 2",
    "sigma or scale, total-only", "T",
    *(f"cell, lone total: ± at {confidence:.0%}".replace("%", " %") for confidence in CONFIDENCES),
    *(f"sex of {ages} ages: ± at 95 %" for ages in _AGES),
    *(f"total of {ages} ages: ± at 95 %" for ages in _AGES), "total-only: ± at 95 %",
    "stage 1 total: ± at 95 %", "published if all were empty", WANTED_HEAD,
    "rho by the paper's formula", "smallest rho, by rounded normal", "saved",
    *(
        f"size for the target error: {table}"
        for table in ("total alone", *(f"{ages} ages" for ages in _AGES))
    ),
    "do the formulas hold?",
)  # fmt: skip


class _EpsilonSheet:
    """The sheet that turns rho into epsilon at delta, as the page and the package do.

    Each loss has a row: better and better orders, the bound at the last one, and the bound rounded
    up.
    """

    def __init__(self, workbook: Workbook, inputs: Inputs, styles: Styles) -> None:
        self.inputs = inputs
        self.styles = styles
        self._row = _FIRST_EPSILON
        self._sheet = Sheet(workbook, "Epsilon", (12, *[11] * (_STEPS + 1), 16, 11))
        self._sheet.put(0, 0, "From rho to epsilon at delta", styles.title)
        lines = (
            "Epsilon is order rho + ln(1 - 1/order) - (ln delta + ln order) / (order - 1), for any"
            " order above 1 (Canonne, Kamath and Steinke 2020).",
            "The best order solves (order - 1)² = -(ln delta + ln order) / rho. Each step puts the"
            " last order into the right side.",
            (
                "Epsilon is rounded up to 4 decimals, after adding the largest possible rounding"
                " error."
            ),
        )
        for row, line in enumerate(lines, start=1):
            self._sheet.put(row, 0, line, styles.text)
        self._sheet.put_heads(_FIRST_EPSILON - 1, _EPSILON_HEADS, styles)
        self._sheet.worksheet.freeze_panes(_FIRST_EPSILON, 1)

    def epsilon_of(self, rho: Live) -> Live:
        """The cell with the epsilon of a loss, which is 0 for a loss of 0.

        Text is repeated as text.
        """
        put, row = self._sheet.put, self._row
        self._row += 1
        loss = put(row, 0, live.if_number(rho, live.greater(rho, 1e-300)), self.styles.budget)
        unlikely = -live.logarithm(self.inputs.delta)
        order = put(
            row, 1, live.if_number(loss, 1 + live.root(unlikely / loss)), self.styles.number
        )
        for step in range(_STEPS):
            better = 1 + live.root(live.greater(unlikely - live.logarithm(order), 1e-9) / loss)
            order = put(row, 2 + step, live.if_number(loss, better), self.styles.number)
        shrink = -live.logarithm(1 - 1 / order)
        spread = (unlikely - live.logarithm(order)) / (order - 1)
        terms = order * loss + shrink + (unlikely + live.logarithm(order)) / (order - 1)
        bound = live.if_number(loss, order * loss - shrink + spread + terms * _ROUNDING)
        bound = put(row, 2 + _STEPS, bound, self.styles.precise)
        epsilon = live.when(
            rho.is_above(0), live.rounded_up(live.greater(bound, 0), _EPSILON_DECIMALS), 0
        )
        return put(row, 3 + _STEPS, live.if_number(loss, epsilon), self.styles.number)


@dataclass(frozen=True, slots=True)
class LevelResults:
    """The cells of one level that the curves read; a word where there is no number."""

    inputs: LevelInputs
    stage_1: Live
    stage_2: Live
    suppression_threshold: Live
    cells: tuple[Live, ...]  # of the whole row, in the order of the heads


@dataclass(frozen=True, slots=True)
class Results:
    """The cells of all levels, of each pass's loss and of the loss of anyone.

    Losses are a word if a budget is bad.
    """

    levels: tuple[LevelResults, ...]
    losses: dict[Pass, Live]
    loss: Live


def write_results(workbook: Workbook, inputs: Inputs, styles: Styles) -> Results:
    """Write the results, also beside the inputs, and return the cells that other sheets read."""
    sheet = Sheet(
        workbook, "Results", (28, 12, 12, 13, 13, 8, *[9] * 11, 12, 10, 12, 12, 9, *[11] * 4, 24)
    )
    sheet.put(0, 0, "Results", styles.title)
    sheet.put(1, 1, _ABOVE, styles.text)
    epsilons = _EpsilonSheet(workbook, inputs, styles)
    totals, anyone = _write_losses(sheet, inputs, epsilons, styles)
    sheet.put_heads(_FIRST_LEVEL - 1, HEADS, styles)
    rows = []
    for number, level in enumerate(inputs.levels, start=_FIRST_LEVEL):
        rows.append(
            _LevelRow(sheet, number, inputs, level, styles).write(totals[level.tabulation_pass])
        )
    where = _FIRST_LEVEL, len(HEADS) - 1, _FIRST_LEVEL + len(rows) - 1, len(HEADS) - 1
    rule = {"type": "text", "criteria": "begins with", "value": "no", "format": styles.alarm}
    sheet.worksheet.conditional_format(*where, rule)
    sheet.worksheet.freeze_panes(_FIRST_LEVEL, 1)
    sheet.print_two_wide()
    _write_beside_inputs(inputs, rows, styles)
    return Results(tuple(rows), totals, anyone)


_BESIDE = {
    "share of its pass": "share of its pass",
    _CELL_HEAD: "gives a cell: ± at 95 %",
    "total of 23 ages: ± at 95 %": "total of 23 ages: ± at 95 %",
    "T": "T",
    "published if all were empty": "published if all were empty",
    "smallest rho, by rounded normal": "smallest rho for the wanted margin",
    "do the formulas hold?": "do the formulas hold?",
}


def _write_beside_inputs(inputs: Inputs, rows: list[LevelResults], styles: Styles) -> None:
    """Repeat in the rows of the inputs the results that a committee looks at first."""
    looks = [
        styles.percent,
        styles.whole,
        styles.whole,
        styles.whole,
        styles.average,
        styles.budget,
        styles.note,
    ]
    inputs.sheet.put_heads(FIRST_INPUT - 1, tuple(_BESIDE.values()), styles, FIRST_RESULT)
    for number, row in enumerate(rows):
        for column, (head, look) in enumerate(zip(_BESIDE, looks, strict=True), start=FIRST_RESULT):
            inputs.sheet.put(FIRST_INPUT + number, column, row.cells[HEADS.index(head)], look)


def _write_losses(
    sheet: Sheet, inputs: Inputs, epsilons: _EpsilonSheet, styles: Styles
) -> tuple[dict[Pass, Live], Live]:
    """Write the totals here and beside the inputs.

    Returns the cells of each pass's total and of anyone's. A cell holds text if a budget is bad.
    """
    heads = (
        "people",
        "unbounded",
        "bounded",
        "epsilon at delta, unbounded",
        "epsilon at delta, bounded",
    )
    sheet.put_heads(3, heads, styles)
    totals: dict[Pass, Live] = {}
    for one in inputs.passes:
        budgets = inputs.budgets_of(one)
        if budgets:
            loss = live.when(live.are_zero_or_above(budgets), live.total_of(budgets), BAD_BUDGET)
            totals[one] = _write_loss(
                sheet, 4 + len(totals), f"{one.name.upper()} pass", loss, epsilons
            )
    first, *others = totals.values()
    costliest = first
    for other in others:
        costliest = live.if_number(costliest, live.if_number(other, live.greater(costliest, other)))
    anyone = _write_loss(sheet, 4 + len(totals), "anyone", costliest, epsilons)
    words = (
        "Losses are rounded up. Epsilon is at the delta of the inputs, as on the page;"
        " the sheet Epsilon has the steps."
        ' A total shows "bad budget" if a budget is missing, negative or not a number.'
    )
    sheet.put(7, 1, words, styles.text)
    sheet.put(8, 1, " ".join(reference_words(SAFETAB_P, PrivacyDefinition.ZCDP)), styles.text)
    _mark_bad_budgets(sheet, (4, 1), inputs, styles)
    _mark_bad_budgets(inputs.sheet, (5, FIRST_RESULT + 2), inputs, styles)
    return totals, anyone


def _mark_bad_budgets(sheet: Sheet, first: tuple[int, int], inputs: Inputs, styles: Styles) -> None:
    """Show totals that refuse a bad budget in the style of an alarm."""
    last = first[0] + len(inputs.passes), first[1] + 3
    rule = {"type": "cell", "criteria": "==", "value": f'"{BAD_BUDGET}"', "format": styles.alarm}
    sheet.worksheet.conditional_format(*first, *last, rule)


def _write_loss(sheet: Sheet, row: int, people: str, loss: Live, epsilons: _EpsilonSheet) -> Live:
    """Write the row of a loss, also beside the inputs, and return its unbounded cell."""
    inputs, styles = epsilons.inputs, epsilons.styles
    sheet.put(row, 0, people, styles.text)
    unbounded = sheet.put(
        row, 1, live.if_number(loss, live.rounded_up(loss, _LOSS_DECIMALS)), styles.budget
    )
    bounded = sheet.put(row, 2, live.if_number(unbounded, 2 * unbounded), styles.budget)
    stated = [unbounded, bounded]
    for column, cost in ((3, loss), (4, live.if_number(loss, 2 * loss))):
        pure = live.if_number(cost, live.rounded_up(cost, _LOSS_DECIMALS))
        epsilon = live.when(inputs.is_zcdp, epsilons.epsilon_of(cost), pure)
        stated.append(sheet.put(row, column, epsilon, styles.epsilon))
    heads = (
        "loss of",
        "unbounded",
        "bounded",
        "epsilon at delta, unbounded",
        "epsilon at delta, bounded",
    )
    inputs.sheet.put_row(4, FIRST_RESULT + 1, heads, styles.head)
    inputs.sheet.worksheet.set_row(4, 50)
    inputs.sheet.put(row + 1, FIRST_RESULT + 1, people, styles.text)
    looks = (styles.budget, styles.budget, styles.epsilon, styles.epsilon)
    for column, (number, look) in enumerate(
        zip(stated, looks, strict=True), start=FIRST_RESULT + 2
    ):
        inputs.sheet.put(row + 1, column, number, look)
    return unbounded


class _LevelRow:
    """Writes the row of a level, from left to right."""

    def __init__(
        self, sheet: Sheet, row: int, inputs: Inputs, level: LevelInputs, styles: Styles
    ) -> None:
        self._sheet, self._row, self._column = sheet, row, 0
        self._cells: list[Live] = []
        self._inputs, self._level, self._styles = inputs, level, styles
        self._has_budget = (live.as_number(level.budget) * level.stability).is_above(0)

    def write(self, total_of_pass: Live) -> LevelResults:
        """Write the row and return its cells."""
        level, inputs, styles = self._level, self._inputs, self._styles
        self._put(level.name, styles.text, always=True)
        share = level.budget / live.total_of(inputs.budgets_of(level.tabulation_pass))
        self._put(live.if_number(total_of_pass, share), styles.percent)
        stage_1 = self._put(
            self._parameter(inputs.gamma), styles.number, is_there=level.adaptive > 0
        )
        stage_2 = self._put(
            self._parameter(1 - inputs.gamma), styles.number, is_there=level.adaptive > 0
        )
        total_only = self._put(
            self._parameter(live.of(1)), styles.number, is_there=level.total_only > 0
        )
        threshold = self._write_threshold(stage_2)
        self._write_margins(stage_1, stage_2, total_only)
        self._write_empty_groups(stage_1, stage_2, threshold)
        self._write_wanted(stage_2 if level.adaptive else total_only)
        return LevelResults(level, stage_1, stage_2, threshold, tuple(self._cells))

    def _put(
        self, formula: Live, style: Format, *, is_there: bool = True, always: bool = False
    ) -> Live:
        """Write the next cell of the row.

        It is empty if the level has no such number or no budget.
        """
        content: Live = (
            formula
            if always
            else live.when(self._has_budget, formula, "")
            if is_there
            else live.of("")
        )
        reference = self._sheet.put(self._row, self._column, content, style)
        self._column += 1
        self._cells.append(reference)
        return reference

    def _parameter(self, share: Live) -> Live:
        """Sigma under zCDP or the scale under pure DP, for a share of the level's budget."""
        budget = self._level.budget * share
        sigma, scale = (
            live.root(self._level.stability / (2 * budget)),
            self._level.stability / budget,
        )
        return live.when(self._inputs.is_zcdp, sigma, scale)

    def _noise(self, parameter: Live) -> LiveNoise:
        return LiveNoise(self._inputs.is_zcdp, parameter)

    def _write_threshold(self, stage_2: Live) -> Live:
        """Write T, which only levels that suppress small totals have."""
        chance = self._inputs.suppression_chance
        is_there = self._level.level.geography.kind.suppresses and self._level.adaptive > 0
        threshold = live.when(chance.is_above(0), self._noise(stage_2).quantile(chance), "")
        return self._put(threshold, self._styles.whole, is_there=is_there)

    def _write_margins(self, stage_1: Live, stage_2: Live, total_only: Live) -> None:
        """Write the margins of cells, of sums over sexes and ages, and of the other stages."""
        whole, adaptive = self._styles.whole, self._level.adaptive > 0
        for confidence in CONFIDENCES:
            self._put(self._noise(stage_2).margin(live.of(confidence)), whole, is_there=adaptive)
        for draws in (*_AGES, *(2 * ages for ages in _AGES)):
            self._put(self._noise(stage_2).margin(live.of(0.95), draws), whole, is_there=adaptive)
        self._put(
            self._noise(total_only).margin(live.of(0.95)),
            whole,
            is_there=self._level.total_only > 0,
        )
        self._put(self._noise(stage_1).margin(live.of(0.95)), whole, is_there=adaptive)

    def _write_empty_groups(self, stage_1: Live, stage_2: Live, threshold: Live) -> None:
        """Write how many groups would be published on average if all of them were empty."""
        level = self._level
        total_only, adaptive = level.entities * level.total_only, level.entities * level.adaptive
        if not adaptive:
            self._put(live.of(total_only), self._styles.average)
            return
        with_table = self._noise(stage_1).at_least(level.thresholds[0])
        published = with_table + (1 - with_table) * self._noise(stage_2).at_least(threshold + 1)
        published = live.when(threshold.is_word(""), 1, published)
        self._put(adaptive * published + total_only, self._styles.average)

    def _write_wanted(self, main: Live) -> None:
        """Write the budgets for the wanted margin, and whether the formulas hold for this level."""
        level, inputs, styles = self._level, self._inputs, self._styles
        share = 1 - inputs.gamma if level.adaptive else live.of(1)
        wanted = self._put(level.wanted_margin, styles.whole, always=True)
        paper = float(PAPER_CONSTANT) * level.stability / wanted.to_the(2) / share
        can_be = live.both(wanted.is_above(0), inputs.is_zcdp)
        by_paper = self._put(
            live.when(can_be, live.rounded_up(paper, _LOSS_DECIMALS), ""),
            styles.budget,
            always=True,
        )
        least = live.least_rho(wanted, live.of(0.95), level.stability, share)
        by_normal = self._put(
            live.when(can_be, live.rounded_up(least, _LOSS_DECIMALS), ""),
            styles.budget,
            always=True,
        )
        self._put(live.when(can_be, 1 - by_normal / by_paper, ""), styles.percent, always=True)
        self._write_sizes()
        too_narrow = live.both(inputs.is_zcdp, live.of(LEAST_SIGMA).is_above(main))
        holds = live.when(too_narrow, f"no: sigma is below {LEAST_SIGMA}", "yes")
        is_right, refused = (
            live.are_zero_or_above([level.budget]),
            "no: the budget must be 0 or a positive number",
        )
        self._put(
            live.when(is_right, live.when(self._has_budget, holds, ""), refused),
            styles.note,
            always=True,
        )

    def _write_sizes(self) -> None:
        """Write the sizes from which on totals and cells have the target error.

        The cells of a table have it on average.
        """
        margin = self._cells[HEADS.index(_CELL_HEAD)]
        for cells in (1, *(2 * ages for ages in _AGES)):
            size = live.rounded_up(cells * margin / self._inputs.relative_error, 0)
            self._put(size, self._styles.whole, is_there=self._level.adaptive > 0)
