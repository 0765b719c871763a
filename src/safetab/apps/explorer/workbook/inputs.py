"""The sheet of inputs, filled with the configuration.

Also the sheet that shows the inputs as config.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xlsxwriter import Workbook

from safetab.apps.explorer.workbook import live
from safetab.apps.explorer.workbook.live import Live, Sheet, Styles
from safetab.core.algorithm.level_design import CONFIDENCE
from safetab.core.guarantees.losses import DELTA
from safetab.foundation.templates import template_texts
from safetab.inputs.tuning.tuned_level import LevelSizes
from safetab.inputs.tuning.tuning import Tuning
from safetab.model.census.area_levels import Pass
from safetab.model.census.census import Census, PopulationGroupLevel
from safetab.model.config.run_config import budget_key, threshold_key
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.all_products import as_shipped
from safetab.model.products.safetab_p.safetab_p import SAFETAB_P

FIRST_LEVEL = 13
BAD_BUDGET = "bad budget"
FIRST_RESULT = 7
"""The column after the inputs of a level, where its results begin."""
_WHOLE_TEXT_ROW = 3
_FIRST_LINE = 8
_FAMILY = SAFETAB_P.families[0]
_HEADS = (
    "level", "pass", "budget of the level (rho or epsilon)", "threshold: sex by 4 ages",
    "threshold: sex by 9 ages", "threshold: sex by 23 ages",
    "wanted margin of a cell, persons at 95 %",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LevelInputs:
    """The cells of one level. What depends on the level alone is a plain number."""

    level: PopulationGroupLevel
    name: Live
    budget: Live
    thresholds: tuple[Live, Live, Live]
    wanted_margin: Live
    stability: Live
    adaptive_iterations: Live
    pass_name: Live
    entities: int
    adaptive: int
    total_only: int

    @property
    def tabulation_pass(self) -> Pass:
        """The pass of the level."""
        return self.level.geography.tabulation_pass


WITH_FORMULAS = (PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP)
"""The definitions whose noise the sheets compute."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The cells that formulas read."""

    definition: Live
    gamma: Live
    answers: Live
    suppression_chance: Live
    delta: Live
    relative_error: Live
    levels: tuple[LevelInputs, ...]
    sheet: Sheet
    passes: tuple[Pass, ...]  # of the census, whether they run or not
    answers_key: str  # how config.json spells `answers`

    def budgets_of(self, tabulation_pass: Pass) -> list[Live]:
        """The budget cells of one pass."""
        return [level.budget for level in self.levels if level.tabulation_pass == tabulation_pass]

    @property
    def is_zcdp(self) -> Live:
        """Whether the privacy definition is zCDP."""
        return self.definition.is_word(PrivacyDefinition.ZCDP.spelling)


def level_name(level: PopulationGroupLevel) -> str:
    """A level's name in the workbook, as on the page, such as "County, Detailed"."""
    return f"{level.geography.title}, {level.iterations.name}"


def write_inputs(workbook: Workbook, tuning: Tuning, styles: Styles) -> Inputs:
    """Write the inputs and the facts about levels, and return the cells that formulas read."""
    sheet = Sheet(workbook, "Inputs", (28, 7, 13, 11, 11, 11, 14, *[11] * 8))
    facts = Sheet(
        workbook, "Facts", (28, 12, 11, 11, 14, *[10] * tuning.config.census.most_answers)
    )
    facts.put(0, 0, "Facts about the levels, from public lists and geography", styles.title)
    facts.put_heads(2, _facts_heads(tuning.config.census), styles)
    facts.worksheet.freeze_panes(3, 1)
    sheet.put(0, 0, "Choosing parameters of SafeTab-P", styles.title)
    for row, line in enumerate(template_texts("workbook/texts.toml")["inputs"], start=1):
        sheet.put(row, 0, line, styles.text)
    general = _write_general(sheet, tuning, styles)
    sheet.put_heads(FIRST_LEVEL - 1, _HEADS, styles)
    numbers = range(len(tuning.config.levels))
    both, answers = (sheet, facts), general["answers"]
    levels = tuple(_write_level(both, number, tuning, styles, answers) for number in numbers)
    _validate(sheet, len(levels), tuning.config.census.most_answers)
    sheet.worksheet.freeze_panes(FIRST_LEVEL, 1)
    census, spelling = tuning.config.census, tuning.config.spelling
    return Inputs(
        **general,
        levels=levels,
        sheet=sheet,
        passes=census.passes,
        answers_key=spelling.most_answers,
    )


def _facts_heads(census: Census) -> tuple[str, ...]:
    words = census.words
    counted = (
        f"{codes} {words.answers if codes > 1 else words.answer}"
        for codes in range(1, census.most_answers + 1)
    )
    return (
        "level", "geographic entities", "adaptive iterations", "total-only iterations",
        f"stability with these {words.answers}", *(f"stability, {codes}" for codes in counted),
    )  # fmt: skip


def _write_general(sheet: Sheet, tuning: Tuning, styles: Styles) -> dict[str, Live]:
    """Write the inputs of the whole run and return their cells by the names of `Inputs`."""
    config = tuning.config
    used = f"how many codes of a person are used, 1 to {config.census.most_answers}"
    chance = "chance that an empty group is not published; 0 suppresses nothing"
    rows: dict[str, tuple[str, float | str, str]] = {
        "definition": (
            "privacy definition",
            config.privacy_definition.spelling,
            "zcdp (budgets are rho) or puredp",
        ),
        "gamma": (
            "gamma",
            float(config.stage_1_fraction),
            "share of a level's budget for stage 1, between 0 and 1",
        ),
        "answers": (config.census.words.answers, config.most_answers, used),
        "suppression_chance": ("suppression chance", float(config.zero_suppression_chance), chance),
        "delta": ("delta", float(DELTA), "the delta for epsilon under zCDP"),
        "relative_error": (
            "target error",
            0.1,
            "margin of error at 95 %, as a part of a number: for the sizes on Results",
        ),
    }
    found = {}
    for row, (key, (name, value, meaning)) in enumerate(rows.items(), start=5):
        sheet.put(row, 0, name, styles.text)
        found[key] = sheet.put(row, 2, value, styles.input)
        sheet.put(row, 3, meaning, styles.note)
    return found


def _write_level(
    sheets: tuple[Sheet, Sheet], number: int, tuning: Tuning, styles: Styles, answers: Live
) -> LevelInputs:
    """Write the inputs of one level, and its facts on the second sheet."""
    level = tuning.config.levels[number]
    sheet, row, facts = sheets[0], FIRST_LEVEL + number, tuning.facts[level]
    name = sheet.put(row, 0, level_name(level), styles.text)
    pass_name = sheet.put(row, 1, level.geography.tabulation_pass.name.upper(), styles.text)
    budget_cell = sheet.put(row, 2, float(tuning.config.budget_of(level)), styles.input)
    low, middle, high = sheet.put_row(
        row, 3, tuning.of_family.thresholds[level].totals, styles.input_whole
    )
    wanted = sheet.put(row, 6, _margin_now(tuning, level), styles.input_whole)
    stability, adaptive = _write_facts(sheets[1], 3 + number, facts, styles, answers)
    cells = (name, budget_cell, (low, middle, high), wanted, stability, adaptive, pass_name)
    iterations = facts.lists.iterations
    return LevelInputs(level, *cells, facts.entities, iterations.adaptive, iterations.total_only)


def _write_facts(
    sheet: Sheet, row: int, facts: LevelSizes, styles: Styles, answers: Live
) -> tuple[Live, Live]:
    """Write the facts of a level.

    Returns its stability at the inputs' number of codes, and its adaptive iterations.
    """
    iterations = facts.lists.iterations
    sheet.put(row, 0, level_name(facts.level), styles.text)
    numbers = (facts.entities, iterations.adaptive, iterations.total_only)
    _, adaptive, _ = sheet.put_row(row, 1, numbers, styles.whole)
    stabilities = sheet.put_row(row, 5, facts.lists.stability_by_codes, styles.whole)
    return sheet.put(row, 4, live.one_of(stabilities, answers), styles.whole), adaptive


def _margin_now(tuning: Tuning, level: PopulationGroupLevel) -> int:
    """The margin of the configuration as a start, or 50 persons if the level is not tabulated."""
    tuned = tuning.levels.get(level)
    if tuned is None or tuned.main_stage is None:
        return 50
    return tuned.design.noise(tuned.main_stage).margin_of_error(CONFIDENCE)


def _validate(sheet: Sheet, levels: int, most_answers: int) -> None:
    """Refuse entries that config.json would refuse.

    A note says what a cell takes when it is selected.
    """
    last = FIRST_LEVEL + levels - 1

    def only(
        first: tuple[int, int], end: tuple[int, int], rule: dict[str, object], message: str
    ) -> None:
        refusal = {
            "error_title": "Not possible",
            "error_message": message,
            "input_message": message,
        }
        sheet.worksheet.data_validation(*first, *end, rule | refusal)

    spellings = [definition.spelling for definition in WITH_FORMULAS]
    decimal: dict[str, object] = {
        "validate": "decimal",
        "criteria": "between",
        "minimum": 1e-9,
        "maximum": 1 - 1e-9,
    }
    whole: dict[str, object] = {"validate": "integer", "criteria": ">=", "value": 0}
    only((5, 2), (5, 2), {"validate": "list", "source": spellings}, "Choose zcdp or puredp.")
    only((6, 2), (6, 2), decimal, "gamma must be above 0 and below 1.")
    codes = {"validate": "integer", "criteria": "between", "minimum": 1, "maximum": most_answers}
    only((7, 2), (7, 2), codes, f"Enter a whole number from 1 to {most_answers}.")
    only((8, 2), (8, 2), decimal | {"minimum": 0}, "Enter a number of at least 0 and below 1.")
    only((9, 2), (9, 2), decimal | {"minimum": 1e-300}, "delta must be above 0 and below 1.")
    only(
        (10, 2),
        (10, 2),
        decimal | {"maximum": 10},
        "Enter a part of a number, such as 0.1 for 10 %.",
    )
    positive = {"validate": "decimal", "criteria": ">=", "value": 0}
    only(
        (FIRST_LEVEL, 2),
        (last, 2),
        positive,
        "Enter a budget above 0, or 0 to leave the level out.",
    )
    only((FIRST_LEVEL, 3), (last, 6), whole, "Enter a whole number of persons, 0 or above.")


_Line = tuple[str, Live | str, str]
"""A line of the file: a text, a value from the inputs, and a text.

Texts of the loaded file are never part of a formula.
"""
_Value = _Line | dict[str, _Line]
"""A value that follows the inputs with the texts around it, or an object with such values."""


def write_config(workbook: Workbook, inputs: Inputs, base: str, styles: Styles) -> None:
    """Write the sheet with the inputs as config.json: one cell has the whole text, to copy.

    `base` is the text of a valid config.json, whose values the inputs replace. The text is one
    line, because spreadsheets quote a text with line ends when it is copied, and double its own
    quotes.
    """
    sheet = Sheet(workbook, "Config", (72, 34, 6, 70))
    sheet.put(0, 0, "The inputs as config.json", styles.title)
    sheet.put(
        1,
        0,
        "Copy the framed cell into a file called config.json. It follows the inputs.",
        styles.text,
    )
    heads = ("text", "from the inputs", "text", "the file up to this line")
    sheet.put_heads(_FIRST_LINE - 1, heads, styles)
    whole = live.of("")
    members = _member_lines(json.loads(base), _values(inputs), "  ")
    for row, line in enumerate([("{", "", ""), *members, ("}", "", "")], start=_FIRST_LINE):
        cells = sheet.put_row(row, 0, line, styles.code)
        whole = sheet.put(row, 3, live.joined_texts(whole, *cells, live.of(" ")), styles.code)
    sheet.worksheet.merge_range(_WHOLE_TEXT_ROW, 0, _WHOLE_TEXT_ROW, 2, "", styles.code_framed)
    are_right = live.are_zero_or_above([level.budget for level in inputs.levels])
    refused = f"{BAD_BUDGET}: every budget must be 0 or a positive number"
    sheet.put(_WHOLE_TEXT_ROW, 0, live.when(are_right, whole, refused), styles.code_framed)
    sheet.worksheet.set_row(_WHOLE_TEXT_ROW, 220)
    sheet.worksheet.print_area(0, 0, _WHOLE_TEXT_ROW, 2)  # without the rows that build the text


def _values(inputs: Inputs) -> dict[str, _Value]:
    """The values that follow the inputs, by the keys of config.json."""
    shipped = as_shipped(SAFETAB_P)
    assert shipped.stage_1_key is not None
    assert shipped.suppression_key is not None
    numbers = {
        inputs.answers_key: inputs.answers,
        shipped.stage_1_key: inputs.gamma,
        shipped.suppression_key: inputs.suppression_chance,
        **{budget_key(SAFETAB_P, _FAMILY, cells.level): cells.budget for cells in inputs.levels},
    }
    thresholds = {
        threshold_key(cells.level): live.listed_with_commas(cells.thresholds)
        for cells in inputs.levels
    }
    return {
        "privacy_defn": ('"', inputs.definition, '"'),
        **{key: ("", live.number_text(number), "") for key, number in numbers.items()},
        shipped.family_keys[_FAMILY.name].thresholds: {
            key: ("[", text, "]") for key, text in thresholds.items()
        },
    }


def _member_lines(
    given: dict[str, Any], values: Mapping[str, _Value], indent: str
) -> Iterator[_Line]:
    """The lines of an object's members, in the order of the loaded file."""
    keys = list(given | dict.fromkeys(values))
    for number, key in enumerate(keys):
        name, comma = f"{indent}{json.dumps(key)}: ", "," if number < len(keys) - 1 else ""
        value = values.get(key)
        if value is None:
            yield f"{name}{json.dumps(given[key])}{comma}", "", ""
        elif isinstance(value, dict):
            yield f"{name}{{", "", ""
            yield from _member_lines(given[key], value, f"{indent}  ")
            yield f"{indent}}}{comma}", "", ""
        else:
            before, cell, after = value
            yield f"{name}{before}", cell, f"{after}{comma}"
