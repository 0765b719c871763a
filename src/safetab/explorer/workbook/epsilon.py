"""The sheet that turns rho into epsilon at delta, as the page and the package do: the bound at its best order."""

from __future__ import annotations

from dataclasses import dataclass

from xlsxwriter import Workbook

from safetab.explorer.workbook.inputs import Inputs
from safetab.explorer.workbook.live import Live, greater, if_number, logarithm, of, root, rounded_up, when
from safetab.explorer.workbook.sheets import Sheet, Styles

EPSILON = "Epsilon"
DECIMALS = 4
_STEPS = 8
_FIRST_ROW = 6
_ROUNDING = of(2**-44)  # of each term: what 15 digits could have taken from it, many times over
_HEADS = ("loss, rho", *(f"order, step {step}" for step in range(_STEPS + 1)), "epsilon, before rounding up", "epsilon")


@dataclass
class EpsilonSheet:
    """Each loss has a row: better and better orders, the bound at the last one, and that rounded up."""

    sheet: Sheet
    inputs: Inputs
    styles: Styles
    rows: int = 0

    @staticmethod
    def begun(workbook: Workbook, inputs: Inputs, styles: Styles) -> EpsilonSheet:
        sheet = Sheet(workbook, EPSILON, (12, *[11] * (_STEPS + 1), 16, 11))
        sheet.put(0, 0, "From rho to epsilon at delta", styles.title)
        for row, line in enumerate(
            (
                "Epsilon is order rho + ln(1 - 1/order) - (ln delta + ln order) / (order - 1), for any order above 1"
                " (Canonne, Kamath and Steinke 2020).",
                "The best order solves (order - 1)² = -(ln delta + ln order) / rho: a step puts the last order into the"
                " right side.",
                "Rounded up to 4 decimals, after all that rounding could have taken from it.",
            ),
            start=1,
        ):
            sheet.put(row, 0, line, styles.text)
        sheet.put_heads(_FIRST_ROW - 1, _HEADS, styles)
        return EpsilonSheet(sheet, inputs, styles)

    def epsilon_of(self, rho: Live) -> Live:
        """The cell that holds the epsilon of a loss, or 0. A loss that is text is repeated as text."""
        row = _FIRST_ROW + self.rows
        self.rows += 1
        loss = self.sheet.put(row, 0, if_number(rho, greater(rho, 1e-300)), self.styles.budget)
        unlikely = -logarithm(self.inputs.delta)
        order = self.sheet.put(row, 1, if_number(loss, 1 + root(unlikely / loss)), self.styles.number)
        for step in range(_STEPS):
            better = 1 + root(greater(unlikely - logarithm(order), 1e-9) / loss)
            order = self.sheet.put(row, 2 + step, if_number(loss, better), self.styles.number)
        shrink, spread = -logarithm(1 - 1 / order), (unlikely - logarithm(order)) / (order - 1)
        terms = order * loss + shrink + (unlikely + logarithm(order)) / (order - 1)
        bound = if_number(loss, order * loss - shrink + spread + terms * _ROUNDING)
        bound = self.sheet.put(row, 2 + _STEPS, bound, self.styles.precise)
        epsilon = when(rho.is_above(0), rounded_up(greater(bound, 0), DECIMALS), 0)
        return self.sheet.put(row, 3 + _STEPS, if_number(loss, epsilon), self.styles.number)
