"""Every number of the explorer, from the Python package: what the page is compared with."""

import random
import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache, cached_property
from math import ceil
from types import MappingProxyType

from safetab.tuning import (
    compare_noises,
    concerns,
    least_budget,
    multiplicities,
    threshold_for,
)
from tests.inside import (
    DELTA,
    DELTAS,
    PRODUCTS,
    US,
    FamilyConfig,
    JointLoss,
    Pass,
    PrivacyDefinition,
    Stage,
    Thresholds,
    TunedLevel,
    as_shipped,
    epsilon_of_rho,
    level_key,
    production_of_2020,
    reported_loss,
    smallest_margins,
)

CONFIDENCES = {"90": Fraction(9, 10), "95": Fraction(19, 20), "99": Fraction(99, 100)}
STAGES = {"stage_1": Stage.STAGE_1, "stage_2": Stage.STAGE_2, "total_only": Stage.TOTAL_ONLY}


def middle(ball):
    return float(ball.mid())


def numbers_of(tuning):
    """The page's `results`, nested in the same way."""
    config = tuning.config
    losses = {one.name: tuning.loss_of(one) for one in config.passes} | {"whole_run": tuning.loss}
    return {
        "levels": {key: level_numbers(tuning, tuned) for key, tuned in tuned_levels(tuning).items()},
        "loss": {who: loss_numbers(config, loss) for who, loss in losses.items()},
        "epsilon_curve": {
            f"1e-{len(str(delta.denominator)) - 1}": {
                "unbounded": epsilon_of_rho(tuning.loss.unbounded, delta),
                "bounded": epsilon_of_rho(tuning.loss.bounded, delta),
            }
            for delta in DELTAS
            if config.privacy_definition is PrivacyDefinition.ZCDP
        },
        "groups": sum({tuned.facts.level: tuned.facts.groups for tuned in tuned_levels(tuning).values()}.values()),
        "empty_published": sum(
            tuned.empty_groups_published
            for tuned in tuned_levels(tuning).values()
            if tuned.facts.level.geography.kind.suppresses
        ),
        "warnings": [
            {"level": None if concern.level is None else level_key(concern.level, concern.family), "text": concern.text}
            for concern in concerns(tuning)
        ],
    }


def family_in_key(product, family):
    return family if product.has_several_families else None


def tuned_levels(tuning):
    """Of all table families, by the page's key."""
    product = tuning.config.product
    return {
        level_key(level, family_in_key(product, one.family)): tuned
        for one in tuning.by_family()
        for level, tuned in one.levels.items()
    }


def level_numbers(tuning, tuned):
    design = tuned.design
    stages = {name: design.noise(stage) for name, stage in STAGES.items() if stage in design.stages}
    return {
        "stability": design.stability,
        "groups": tuned.facts.groups,
        "share": replace(tuning, named_family=tuned.family).share(tuned.facts.level),
        "stages": {
            name: {
                "parameter": noise.width,
                "deviation": middle(noise.variance()) ** 0.5,
            }
            for name, noise in stages.items()
        },
        "margins": {name: margin_numbers(tuned, confidence) for name, confidence in CONFIDENCES.items()},
        "suppression_threshold": design.suppression_threshold,
        "smallest_published": {name: smallest_published(tuned, one) for name, one in CONFIDENCES.items()},
        "empty_groups_published": tuned.empty_groups_published,
    }


def smallest_published(tuned, confidence):
    """The least true size at which a group is published with this confidence; None where nothing is suppressed."""
    design = tuned.design
    if design.suppression_threshold is None:
        return None
    far_above = int(10 * design.noise(Stage.STAGE_2).width) + 10  # noise hardly ever takes so much away
    sizes = range(max(design.suppression_threshold, 0) + far_above)
    return bisect_left(sizes, True, key=lambda size: middle(design.publication_chance(size)) >= confidence)


def margin_numbers(tuned, confidence):
    margins = tuned.design.margins(confidence)
    told = {"stage_1": margins.stage_1_total, "total_only": margins.total_only}
    of_shapes = tuned.family.shapes if Stage.STAGE_2 in tuned.design.stages else ()
    for shape in of_shapes:
        of_kinds = {kind.name: tuned.design.margin(kind, confidence) for kind in shape.kinds}
        told |= {"total": of_kinds["total"]} if shape is tuned.family.total else {shape.label: of_kinds}
    return {name: value for name, value in told.items() if value is not None}


def loss_numbers(config, loss):
    told = reported_loss(config.privacy_definition, loss)
    return {name: getattr(told, name) for name in ("unbounded", "bounded", "unbounded_epsilon", "bounded_epsilon")}


def numbers_at(tuned, size):
    """The page's `atSize`."""
    design = tuned.design
    relative = {
        shape.label: {kind.name: tuned.relative_margin(size, kind) if size else None for kind in shape.kinds}
        for shape in tuned.family.shapes
    }
    if Stage.STAGE_1 not in design.stages:
        return {"relative": relative}
    suppressed = design.suppression_chance(size)
    return {
        "suppressed": middle(suppressed),
        "published": middle(1 - suppressed),
        "tables": {shape.label: middle(chance) for shape, chance in design.shape_chances(size).items()},
        "bias": middle(design.bias(size)),
        "relative": relative,
    }


def likeliest_shape(tuned, size):
    """What a group of so many people most likely gets; the coarsest of those that are as likely."""
    chances = tuned.design.shape_chances(size)
    most = max(middle(chance) for chance in chances.values())
    return next(shape for shape, chance in chances.items() if middle(chance) > most - 1e-9)


def setting_of(config):
    """A configuration as the page's controls hold it."""
    keys = [
        (one, level, level_key(level, family_in_key(config.product, one.family)))
        for one in config.families
        for level in config.census.levels
    ]
    return {
        "definition": config.privacy_definition.spelling,
        "answers": config.most_answers,
        "gamma": decimal(config.stage_1_fraction),
        "suppression_chance": decimal(config.zero_suppression_chance),
        "passes": {one.name: one in config.passes for one in config.census.passes},
        "budgets": {key: decimal(one.budgets[level]) for one, level, key in keys},
        "thresholds": {
            key: list(one.thresholds[level].totals) if level in one.thresholds else [0] * len(one.family.finer)
            for one, level, key in keys
        },
    }


def decimal(number):
    for places in range(40):
        if (number * 10**places).denominator == 1:
            digits = str(int(number * 10**places)).rjust(places + 1, "0")
            return f"{digits[:-places]}.{digits[-places:]}" if places else digits
    raise ValueError(number)


def random_config(base, seed):
    """Budgets over six powers of ten, thresholds of all sizes, both definitions, some levels and passes left out.

    Some have noise that can't be drawn.
    """
    dice = random.Random(seed)
    definition = dice.choice(list(PrivacyDefinition))

    def budget():
        if dice.random() < 0.15:
            return Fraction(0)
        exponent = dice.uniform(-4, 1.5) if definition is PrivacyDefinition.ZCDP else dice.uniform(-2.5, 1.5)
        return Fraction(f"{10**exponent:.{dice.randint(1, 6)}g}")

    shared = [budget() for _ in range(4)]
    families = [
        ({level: (dice.choice(shared) if dice.random() < 0.5 else budget()) for level in US.levels}, one)
        for one in base.families
    ]
    passes = dice.choice([tuple(US.passes)] * 3 + [(one,) for one in US.passes])
    for one in passes:  # each pass needs a level
        first = next(level for level in US.levels if level.geography.tabulation_pass == one)
        families[0][0][first] = families[0][0][first] or Fraction(1, 100)
    gamma = Fraction(dice.randint(1, 99), 100)
    chance = Fraction(dice.choice(["0", "0.3", "0.9", "0.95", "0.999", "0.9999", "0.999999"]))
    return replace(
        base,
        privacy_definition=definition,
        families=tuple(
            FamilyConfig(one.family, MappingProxyType(budgets), MappingProxyType(_random_thresholds(dice, one.family)))
            for budgets, one in families
        ),
        stage_1_fraction=gamma if as_shipped(base.product).stage_1_key else Fraction(0),
        most_answers=dice.randint(1, 8),
        zero_suppression_chance=chance if as_shipped(base.product).suppression_key else Fraction(0),
        passes=passes,
    )


def _random_thresholds(dice, family):
    return {
        level: Thresholds(tuple(sorted(int(10 ** dice.uniform(0, 5.5)) for _ in family.finer))) for level in US.levels
    }


def can_be_drawn(tuning):
    return all(tuned.design.can_be_drawn for tuned in tuned_levels(tuning).values())


class ExactNumbers:
    """Looks up what a `data-number` of the page means, in Python."""

    def __init__(self, tuning, asked, pinned=None, other=None):
        """`other` is what the page has in force for the other product; 2020's if nothing was set."""
        if tuning.config.specification is None:
            product = next(product for product in PRODUCTS if product is not tuning.config.product)
            configs = (tuning.config, other or production_of_2020(product))
            self._both = JointLoss(*sorted(configs, key=lambda config: config.product.record.holds_people))
        self._tuning = tuning
        self._pinned = pinned
        self._asked = asked
        self._results = numbers_of(tuning)
        self._level = tuned_levels(tuning)

    def of(self, path):
        """None where the page shows that there is no number."""
        head, *rest = path.split("/")
        if head in {"levels", "loss", "epsilon_curve", "groups", "empty_published"}:
            return _inside(self._results, path.split("/"))
        return {
            "at": self._at,
            "budget_for": self._budget_for,
            "threshold_for": self._threshold_for,
            "best": self._best,
            "noise": self._noise,
            "multiplicities": self._multiplicities,
            "compare": self._compare,
            "joint": self._joint,
            "kept": lambda _, *rest: self._pinned.of("/".join(rest)),
        }[head](*rest)

    @property
    def warnings(self):
        return self._results["warnings"]

    def _at(self, key, size, *rest):
        tuned = self._level[key]
        if rest == ("published",):  # asked for at many levels and sizes: no more is computed than needed
            return middle(1 - tuned.design.suppression_chance(int(size)))
        if rest == ("relative_in_likeliest",):
            return tuned.relative_margin(int(size), likeliest_shape(tuned, int(size)).kind("total"))
        if rest[0] == "relative" and int(size):
            return tuned.relative_margin(int(size), tuned.family.shape(rest[1]).kind(rest[2]))
        found = self._at_size(key, int(size))
        threshold = tuned.design.suppression_threshold
        if rest == ("size_of_T",):
            return Fraction(int(size), threshold)
        if rest == ("bias_of_T",):
            return found["bias"] / threshold
        return _inside(found, rest)

    @cache  # noqa: B019 - lives as long as a test
    def _at_size(self, key, size):
        return numbers_at(self._level[key], size)

    def _budget_for(self, key, margin, confidence, what):
        tuned = self._any_level(key)  # a budget can be asked for where there is none yet
        found = least_budget(tuned, int(margin), CONFIDENCES[confidence])
        names = {"budget": "budget", "exact_margin": "margin", "paper_budget": "paper_budget", "saving": "saving"}
        return None if found is None else getattr(found, names[what])

    def _any_level(self, key):
        product = self._tuning.config.product
        return next(
            one.level(level)
            for one in self._tuning.by_family()
            for level in self._tuning.config.census.levels
            if level_key(level, family_in_key(product, one.family)) == key
        )

    def _threshold_for(self, *words):
        key, table, number, relative, confidence, what, *people = words
        tuned = self._level[key]
        kind = tuned.family.shape(table).kind(number)
        found = threshold_for(tuned, kind, Fraction(relative), CONFIDENCES[confidence])
        if what == "people":
            return ceil(found.size * Fraction(people[0]))
        return getattr(found, what)

    def _compare(self, side, *rest):
        path = "/".join(rest)
        if side == "difference":
            return self.of(path) - self._pinned.of(path)
        return (self if side == "b" else self._pinned).of(path)

    @cached_property
    def _best_by_pass(self):
        """All table families of a pass together."""
        proportions = {key: Fraction(value) for key, value in self._asked.proportions.items()}
        total, confidence = Fraction(self._asked.total), CONFIDENCES[self._asked.total_confidence]
        levels: dict[Pass, dict[str, TunedLevel]] = {one: {} for one in self._tuning.config.passes}
        for key in proportions:
            tuned = self._level[key]
            levels[tuned.facts.level.geography.tabulation_pass][key] = tuned
        return {one.name: smallest_margins(of_pass, total, proportions, confidence) for one, of_pass in levels.items()}

    def _best(self, first, second):
        if first in {"spent", "left"}:
            return getattr(self._best_by_pass[second], first)
        found = self._best_by_pass[self._level[first].facts.level.geography.tabulation_pass.name]
        return (found.margins if second == "margin" else found.budgets)[first]

    def _joint(self, number, _, what):
        losses = list(self._both.rows())[int(number)][1]
        if what == "epsilon":
            return epsilon_of_rho(max(losses.values()), DELTA)
        return losses[US.pass_named(what)]

    @cached_property
    def _noises(self):
        return compare_noises(self._tuning, Fraction(self._asked.delta), CONFIDENCES[self._asked.noise_confidence])

    def _noise(self, *words):
        if words[0] != "rows":
            return getattr(self._noises, words[0])
        product = self._tuning.config.product
        rows = {level_key(row.level, family_in_key(product, row.family)): row for row in self._noises.levels}
        row = rows[words[1]]
        names = {"margin": "margin", "gaussian_budget": "gaussian_rho", "geometric_budget": "geometric_epsilon"}
        return getattr(row, names[words[2]])

    def _multiplicities(self, key, codes, what, confidence="95"):
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


def _inside(found, keys):
    for key in keys:
        found = found[key]
    return found


def agrees_at(path, text, exact):
    """Whether a number of the page is the exact one, to the digits that it shows; a loss is never below."""
    if exact is None or not re.search(r"(^|/)loss/|^epsilon_curve/|^noise/[a-z_]+$|/paper_budget$", path):
        return agrees(text, exact)
    above = Fraction(text.replace(",", "")) - Fraction(exact)
    last_of_epsilon = Fraction(1, 10**4) if "epsilon" in path else 0
    return 0 <= above <= max(Fraction(exact) / 10 ** (4 if path.endswith("paper_budget") else 9), last_of_epsilon)


def agrees(text, exact):
    """Whether the text is the exact number, to the digits that it shows."""
    in_words = {
        "\N{EN DASH}": lambda: exact is None,
        "same": lambda: exact == 0,
        "below 10^-298 %": lambda: 0 <= exact < 1e-299,  # a float that small may be 0
        "< 0.1 %": lambda: 0 <= exact < 0.0005,
        "> 99 %": lambda: 0.995 < exact <= 1,
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
