"""The sheet of inputs: what may be changed, filled with the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from xlsxwriter import Workbook

from safetab.census.geography_levels import TabulationPass
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.explorer.workbook.live import Live, are_zero_or_above, one_of
from safetab.explorer.workbook.sheets import Sheet, Styles
from safetab.planning.losses import DELTA
from safetab.privacy.definitions import PrivacyDefinition
from safetab.tuning.level_sizes import MOST_RACE_CODES, LevelSizes
from safetab.tuning.tuning import Tuning

INPUTS = "Inputs"
FACTS = "Facts"
FIRST_LEVEL = 13
BAD_BUDGET = "bad budget"
FIRST_RESULT = 7
"""The column after the inputs of a level: there its results stand."""
_HEADS = (
    "level",
    "pass",
    "budget of the level (rho or epsilon)",
    "threshold: sex by 4 ages",
    "threshold: sex by 9 ages",
    "threshold: sex by 23 ages",
    "wanted margin of a cell, persons at 95 %",
)
_FACTS_HEADS = (
    "level",
    "geographic entities",
    "adaptive iterations",
    "total-only iterations",
    "stability with these race codes",
    *(f"stability, {codes} race code{'s' if codes > 1 else ''}" for codes in range(1, MOST_RACE_CODES + 1)),
)


@dataclass(frozen=True, slots=True)
class LevelInputs:
    """The cells of one level; what depends on the level alone is plain."""

    level: PopulationGroupLevel
    name: Live
    budget: Live
    thresholds: tuple[Live, Live, Live]
    wanted_margin: Live
    stability: Live
    entities: int
    adaptive: int
    total_only: int

    @property
    def tabulation_pass(self) -> TabulationPass:
        return self.level.geography.tabulation_pass


@dataclass(frozen=True, slots=True)
class Inputs:
    """The cells that formulas read."""

    definition: Live
    gamma: Live
    race_codes: Live
    suppression_chance: Live
    delta: Live
    levels: tuple[LevelInputs, ...]
    sheet: Sheet

    def budgets_of(self, tabulation_pass: TabulationPass) -> list[Live]:
        return [level.budget for level in self.levels if level.tabulation_pass is tabulation_pass]

    @property
    def are_budgets_right(self) -> Live:
        return are_zero_or_above([level.budget for level in self.levels])

    @property
    def is_zcdp(self) -> Live:
        return self.definition.is_word(PrivacyDefinition.ZCDP.spelling)


def level_name(level: PopulationGroupLevel) -> str:
    return f"{level.geography.label} {level.iterations.label}"


def write_inputs(workbook: Workbook, tuning: Tuning, styles: Styles) -> Inputs:
    sheet = Sheet(workbook, INPUTS, (22, 7, 13, 11, 11, 11, 14, *[11] * 8))
    facts = Sheet(workbook, FACTS, (22, 12, 11, 11, 14, *[10] * MOST_RACE_CODES))
    facts.put(0, 0, "What the levels rest on: public lists and geography", styles.title)
    facts.put_heads(2, _FACTS_HEADS, styles)
    sheet.put(0, 0, "Choosing parameters of SafeTab-P", styles.title)
    for row, line in enumerate(
        (
            "Change the yellow cells; what stands beside them follows, as do Results, Curves, Config. No confidential"
            " data is in here or needed.",
            "The sheet Exact holds exact numbers for the configuration as it was loaded; they don't follow.",
            "The sheet What is exact says which formulas are exact, which are approximate, and how far off at most.",
        ),
        start=1,
    ):
        sheet.put(row, 0, line, styles.text)
    general = _write_general(sheet, tuning, styles)
    sheet.put_heads(FIRST_LEVEL - 1, _HEADS, styles)
    race_codes = general["race_codes"]
    levels = tuple(
        _write_level((sheet, facts), number, tuning, level, styles, race_codes)
        for number, level in enumerate(tuning.config.levels)
    )
    _validate(sheet, len(levels))
    sheet.worksheet.freeze_panes(FIRST_LEVEL, 1)
    return Inputs(**general, levels=levels, sheet=sheet)


def _write_general(sheet: Sheet, tuning: Tuning, styles: Styles) -> dict[str, Live]:
    config = tuning.config
    rows: dict[str, tuple[str, float | str, str]] = {
        "definition": ("privacy definition", config.privacy_definition.spelling, "zcdp (budgets are rho) or puredp"),
        "gamma": ("gamma", float(config.stage_1_fraction), "share of a level's budget for stage 1, between 0 and 1"),
        "race_codes": ("race codes", config.max_race_codes, "how many of a person's are used, 1 to 8"),
        "suppression_chance": (
            "suppression chance",
            float(config.zero_suppression_chance),
            "that a group with nobody in it is not published; 0 suppresses nothing",
        ),
        "delta": ("delta", float(DELTA), "at which zCDP is stated as (epsilon, delta)-differential privacy"),
    }
    found = {}
    for row, (key, (name, value, meaning)) in enumerate(rows.items(), start=5):
        sheet.put(row, 0, name, styles.text)
        found[key] = sheet.put(row, 2, value, styles.input)
        sheet.put(row, 3, meaning, styles.note)
    return found


def _write_level(
    sheets: tuple[Sheet, Sheet],
    number: int,
    tuning: Tuning,
    level: PopulationGroupLevel,
    styles: Styles,
    race_codes: Live,
) -> LevelInputs:
    sheet, row, facts = sheets[0], FIRST_LEVEL + number, tuning.facts[level]
    name = sheet.put(row, 0, level_name(level), styles.text)
    sheet.put(row, 1, level.geography.tabulation_pass.value.upper(), styles.text)
    budget_cell = sheet.put(row, 2, float(tuning.config.budget_of(level)), styles.input)
    low, middle, high = (
        sheet.put(row, 3 + position, threshold, styles.input_whole)
        for position, threshold in enumerate(tuning.of_family.thresholds[level].totals)
    )
    wanted = sheet.put(row, 6, _margin_now(tuning, level), styles.input_whole)
    iterations = facts.lists.iterations
    stability = _write_facts(sheets[1], 3 + number, facts, styles, race_codes)
    return LevelInputs(
        level=level,
        name=name,
        budget=budget_cell,
        thresholds=(low, middle, high),
        wanted_margin=wanted,
        stability=stability,
        entities=facts.entities,
        adaptive=iterations.adaptive,
        total_only=iterations.total_only,
    )


def _write_facts(sheet: Sheet, row: int, facts: LevelSizes, styles: Styles, race_codes: Live) -> Live:
    """Where the stability with as many race codes as the inputs say stands."""
    iterations = facts.lists.iterations
    sheet.put(row, 0, level_name(facts.level), styles.text)
    for column, count in enumerate((facts.entities, iterations.adaptive, iterations.total_only), start=1):
        sheet.put(row, column, count, styles.whole)
    stabilities = [
        sheet.put(row, 5 + codes, stability, styles.whole)
        for codes, stability in enumerate(facts.lists.stability_by_codes)
    ]
    return sheet.put(row, 4, one_of(stabilities, race_codes), styles.whole)


def _margin_now(tuning: Tuning, level: PopulationGroupLevel) -> int:
    """What the configuration gives, to start from."""
    tuned = tuning.levels.get(level)
    if tuned is None or tuned.main_stage is None:
        return 50
    return tuned.design.noise(tuned.main_stage).margin_of_error(Fraction(95, 100))


def _validate(sheet: Sheet, levels: int) -> None:
    """Refuses what config.json would refuse."""
    last = FIRST_LEVEL + levels - 1

    def only(first: tuple[int, int], end: tuple[int, int], rule: dict[str, object], message: str) -> None:
        refusal = {"error_title": "Not possible", "error_message": message}
        sheet.worksheet.data_validation(*first, *end, rule | refusal)

    spellings = [definition.spelling for definition in PrivacyDefinition]
    decimal: dict[str, object] = {"validate": "decimal", "criteria": "between", "minimum": 1e-9, "maximum": 1 - 1e-9}
    whole: dict[str, object] = {"validate": "integer", "criteria": ">=", "value": 0}
    only((5, 2), (5, 2), {"validate": "list", "source": spellings}, "zcdp or puredp.")
    only((6, 2), (6, 2), decimal, "gamma lies strictly between 0 and 1.")
    codes = {"validate": "integer", "criteria": "between", "minimum": 1, "maximum": MOST_RACE_CODES}
    only((7, 2), (7, 2), codes, "A whole number from 1 to 8.")
    only((8, 2), (8, 2), decimal | {"minimum": 0}, "At least 0 and below 1.")
    only((9, 2), (9, 2), decimal | {"minimum": 1e-300}, "delta lies strictly between 0 and 1.")
    positive = {"validate": "decimal", "criteria": ">=", "value": 0}
    only((FIRST_LEVEL, 2), (last, 2), positive, "A budget is 0 (the level is left out) or above.")
    only((FIRST_LEVEL, 3), (last, 6), whole, "A whole number of persons, 0 or above.")
