"""Every number of the explorer, from the Python package: what the page is compared with."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache, cached_property
from types import MappingProxyType

from safetab.census.geography_levels import TabulationPass
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.config.run_config import FamilyConfig, RunConfig
from safetab.explorer.page_facts import level_key
from safetab.planning.losses import DELTAS, reported_loss
from safetab.privacy.conversions import epsilon_of_rho
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.stages import Stage
from safetab.products.product import Thresholds
from safetab.products.safetab_p.tables import PERSONS, SEX_BY_AGE, TOTAL
from safetab.tuning import (
    Tuning,
    best_margins,
    compare_noises,
    concerns,
    least_budget,
    multiplicities,
    threshold_for,
)
from safetab.tuning.tuned_level import TunedLevel

CONFIDENCES = {"90": Fraction(9, 10), "95": Fraction(19, 20), "99": Fraction(99, 100)}
STAGES = {"stage_1": Stage.STAGE_1, "stage_2": Stage.STAGE_2, "total_only": Stage.TOTAL_ONLY}


def middle(ball) -> float:
    return float(ball.mid())


def numbers_of(tuning: Tuning) -> dict:
    """The page's `results`, nested in the same way."""
    config = tuning.config
    losses = {one.value: tuning.loss_of(one) for one in config.passes} | {"whole_run": tuning.loss}
    return {
        "levels": {level_key(level): level_numbers(tuning, tuned) for level, tuned in tuning.levels.items()},
        "loss": {who: loss_numbers(config, loss) for who, loss in losses.items()},
        "epsilon_curve": {
            f"1e-{len(str(delta.denominator)) - 1}": {
                "unbounded": epsilon_of_rho(tuning.loss.unbounded, delta),
                "bounded": epsilon_of_rho(tuning.loss.bounded, delta),
            }
            for delta in DELTAS
            if config.privacy_definition is PrivacyDefinition.ZCDP
        },
        "groups": tuning.groups,
        "empty_groups_published": tuning.empty_groups_published,
        "warnings": [
            {"level": None if concern.level is None else level_key(concern.level), "text": concern.text}
            for concern in concerns(tuning)
        ],
    }


def level_numbers(tuning: Tuning, tuned: TunedLevel) -> dict:
    design = tuned.design
    stages = {name: design.noise(stage) for name, stage in STAGES.items() if stage in design.stages}
    return {
        "stability": design.stability,
        "groups": tuned.facts.groups,
        "share": tuning.share(tuned.facts.level),
        "stages": {
            name: {
                "parameter": noise.width,
                "deviation": middle(noise.variance()) ** 0.5,
            }
            for name, noise in stages.items()
        },
        "margins": {name: margin_numbers(tuned, confidence) for name, confidence in CONFIDENCES.items()},
        "suppression_threshold": design.suppression_threshold,
        "empty_groups_published": tuned.empty_groups_published,
    }


def margin_numbers(tuned: TunedLevel, confidence: Fraction) -> dict:
    margins = tuned.design.margins(confidence)
    told = {"stage_1": margins.stage_1_total, "total_only": margins.total_only}
    if margins.shapes:
        told["total"] = margins.shapes[TOTAL]["total"]
    for shape in SEX_BY_AGE if margins.shapes else ():
        told[shape.label] = {kind.short: margins.shapes[shape][kind.name] for kind in shape.kinds}
    return {name: value for name, value in told.items() if value is not None}


def loss_numbers(config: RunConfig, loss) -> dict:
    told = reported_loss(config.privacy_definition, loss)
    return {name: getattr(told, name) for name in ("unbounded", "bounded", "unbounded_epsilon", "bounded_epsilon")}


def numbers_at(tuned: TunedLevel, size: int) -> dict:
    """The page's `atSize`."""
    design = tuned.design
    suppressed = design.suppression_chance(size)
    relative = {
        shape.label: {kind.short: tuned.relative_margin(size, kind) if size else None for kind in shape.kinds}
        for shape in PERSONS.shapes
    }
    return {
        "suppressed": middle(suppressed),
        "published": middle(1 - suppressed),
        "tables": {shape.label: middle(chance) for shape, chance in design.shape_chances(size).items()},
        "bias": middle(design.bias(size)),
        "relative": relative,
    }


def setting_of(config: RunConfig) -> dict:
    """A configuration as the page's controls hold it."""
    thresholds = config.families[0].thresholds
    return {
        "definition": config.privacy_definition.spelling,
        "max_race_codes": config.max_race_codes,
        "gamma": decimal(config.stage_1_fraction),
        "suppression_chance": decimal(config.zero_suppression_chance),
        "passes": {name: name in {one.value for one in config.passes} for name in ("us", "pr")},
        "budgets": {level_key(level): decimal(config.budget_of(level)) for level in POPULATION_GROUP_LEVELS},
        "thresholds": {
            level_key(level): list(thresholds[level].totals) if level in thresholds else [0, 0, 0]
            for level in POPULATION_GROUP_LEVELS
        },
    }


def decimal(number: Fraction) -> str:
    for places in range(40):
        if (number * 10**places).denominator == 1:
            digits = str(int(number * 10**places)).rjust(places + 1, "0")
            return f"{digits[:-places]}.{digits[-places:]}" if places else digits
    raise ValueError(number)


def random_config(base: RunConfig, seed: int) -> RunConfig:
    """Budgets over six powers of ten, thresholds of all sizes, both definitions, some levels and passes left out."""
    dice = random.Random(seed)
    definition = dice.choice(list(PrivacyDefinition))

    def budget() -> Fraction:
        if dice.random() < 0.15:
            return Fraction(0)
        exponent = dice.uniform(-4, 1.5) if definition is PrivacyDefinition.ZCDP else dice.uniform(-2.5, 1.5)
        return Fraction(f"{10**exponent:.{dice.randint(1, 6)}g}")

    shared = [budget() for _ in range(4)]
    budgets = {level: (dice.choice(shared) if dice.random() < 0.5 else budget()) for level in POPULATION_GROUP_LEVELS}
    passes = dice.choice([tuple(TabulationPass)] * 3 + [(one,) for one in TabulationPass])
    for one in passes:  # each pass needs a level
        first = next(level for level in POPULATION_GROUP_LEVELS if level.geography.tabulation_pass is one)
        budgets[first] = budgets[first] or Fraction(1, 100)
    thresholds = {
        level: Thresholds(tuple(sorted(int(10 ** dice.uniform(0, 5.5)) for _ in range(3))))
        for level in POPULATION_GROUP_LEVELS
    }
    return replace(
        base,
        privacy_definition=definition,
        families=(FamilyConfig(PERSONS, MappingProxyType(budgets), MappingProxyType(thresholds)),),
        stage_1_fraction=Fraction(dice.randint(1, 99), 100),
        max_race_codes=dice.randint(1, 8),
        zero_suppression_chance=Fraction(dice.choice(["0", "0.3", "0.9", "0.95", "0.999", "0.9999", "0.999999"])),
        passes=passes,
    )


class ExactNumbers:
    """Looks up what a `data-number` of the page means, in Python."""

    def __init__(self, tuning: Tuning, asked: Asked, pinned: ExactNumbers | None = None) -> None:
        self._tuning = tuning
        self._pinned = pinned
        self._asked = asked
        self._results = numbers_of(tuning)
        self._level = {level_key(level): tuned for level, tuned in tuning.levels.items()}

    def of(self, path: str) -> object:
        """None where the page shows that there is no number."""
        head, *rest = path.split("/")
        if head in {"levels", "loss", "epsilon_curve", "groups", "empty_groups_published"}:
            return _inside(self._results, path.split("/"))
        return {
            "at": self._at,
            "budget_for": self._budget_for,
            "threshold_for": self._threshold_for,
            "best": self._best,
            "noise": self._noise,
            "multiplicities": self._multiplicities,
            "compare": self._compare,
        }[head](*rest)

    @property
    def warnings(self) -> object:
        return self._results["warnings"]

    def _at(self, key: str, size: str, *rest: str) -> object:
        tuned = self._level[key]
        found = self._at_size(key, int(size))
        threshold = tuned.design.suppression_threshold
        if rest == ("size_of_T",):
            return Fraction(int(size), threshold)
        if rest == ("bias_of_T",):
            return found["bias"] / threshold
        return _inside(found, rest)

    @cache  # noqa: B019 - lives as long as a test
    def _at_size(self, key: str, size: int) -> dict:
        return numbers_at(self._level[key], size)

    def _budget_for(self, key: str, margin: str, confidence: str, what: str) -> object:
        level = level_of(key)  # a budget can be asked for where there is none yet
        tuned = self._tuning.level(level)
        found = least_budget(tuned, int(margin), CONFIDENCES[confidence])
        names = {"budget": "budget", "exact_margin": "margin", "paper_budget": "paper_budget", "saving": "saving"}
        return None if found is None else getattr(found, names[what])

    def _threshold_for(self, *words: str) -> object:
        key, table, number, relative, confidence, what = words
        kind = next(kind for kind in PERSONS.shape(table).kinds if kind.short == number)
        found = threshold_for(self._level[key], kind, Fraction(relative), CONFIDENCES[confidence])
        return getattr(found, what)

    def _compare(self, side: str, *rest: str) -> object:
        path = "/".join(rest)
        if side == "difference":
            return self.of(path) - self._pinned.of(path)
        return (self if side == "b" else self._pinned).of(path)

    @cached_property
    def _best_by_pass(self) -> dict:
        proportions = {level_of(key): Fraction(value) for key, value in self._asked.proportions.items()}
        total, confidence = Fraction(self._asked.total), CONFIDENCES[self._asked.total_confidence]
        return {
            one.value: best_margins(self._tuning, one, total, proportions, confidence)
            for one in self._tuning.config.passes
        }

    def _best(self, first: str, second: str) -> object:
        if first in {"spent", "left"}:
            return getattr(self._best_by_pass[second], first)
        level = level_of(first)
        found = self._best_by_pass[level.geography.tabulation_pass.value]
        return (found.margins if second == "margin" else found.budgets)[level]

    @cached_property
    def _noises(self):
        return compare_noises(self._tuning, Fraction(self._asked.delta), CONFIDENCES[self._asked.noise_confidence])

    def _noise(self, *words: str) -> object:
        if words[0] != "rows":
            return getattr(self._noises, words[0])
        row = next(row for row in self._noises.levels if level_key(row.level) == words[1])
        names = {"margin": "margin", "gaussian_budget": "gaussian_rho", "geometric_budget": "geometric_epsilon"}
        return getattr(row, names[words[2]])

    def _multiplicities(self, key: str, codes: str, what: str, confidence: str = "95") -> object:
        row = multiplicities(self._level[key], CONFIDENCES[confidence])[int(codes) - 1]
        names = {"margins": "margin", "continuous_change": "deviation_change"}
        return getattr(row, names.get(what, what))


@dataclass(frozen=True)
class Asked:
    """What stands in the fields of the page's questions."""

    total: str
    total_confidence: str
    proportions: dict[str, str]
    delta: str
    noise_confidence: str


def level_of(key: str) -> PopulationGroupLevel:
    return next(level for level in POPULATION_GROUP_LEVELS if level_key(level) == key)


def _inside(found: object, keys) -> object:
    for key in keys:
        found = found[key]
    return found


def agrees_at(path: str, text: str, exact: object) -> bool:
    """Whether a number of the page is the exact one, to the digits that it shows; a loss is never below."""
    if exact is None or not re.search(r"(^|/)loss/|^epsilon_curve/|^noise/[a-z_]+$|/paper_budget$", path):
        return agrees(text, exact)
    above = Fraction(text.replace(",", "")) - Fraction(exact)
    last_of_epsilon = Fraction(1, 10**4) if "epsilon" in path else 0
    return 0 <= above <= max(Fraction(exact) / 10 ** (4 if path.endswith("paper_budget") else 9), last_of_epsilon)


def agrees(text: str, exact: object) -> bool:
    """Whether the text is the exact number, to the digits that it shows."""
    in_words = {
        "\N{EN DASH}": lambda: exact is None,
        "same": lambda: exact == 0,
        "below 10^-298 %": lambda: 0 <= exact < 1e-299,  # a float that small may be 0
        "over 99.9999999 %": lambda: 0.999999999 < exact < 1,
    }
    if text in in_words or exact is None:
        return text in in_words and in_words[text]()
    number = (
        text.replace("\N{MINUS SIGN}", "-")
        .removesuffix(" %")
        .replace(",", "")
        .replace(" \N{MULTIPLICATION SIGN} 10^", "e")
    )
    try:
        shown = Decimal(number)
    except InvalidOperation:
        return False
    scale = 100 if text.endswith(" %") else 1
    unit = Fraction(10) ** int(shown.as_tuple().exponent)
    wanted = Fraction(exact) * scale
    if isinstance(exact, int):
        return Fraction(shown) == wanted
    return abs(Fraction(shown) - wanted) <= unit / 2 + abs(wanted) * Fraction(1, 10**9)
