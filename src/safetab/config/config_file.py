"""The configuration of a run, read from config.json. The Bureau's spellings end here."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from safetab.census.area_levels import Pass
from safetab.census.census import Census, PopulationGroupLevel
from safetab.config.config_keys import ConfigKeys, NotJson, is_integer, parse_exact_json, shown
from safetab.dialects.bureau.states import PUERTO_RICO_STATE, US_STATES
from safetab.dialects.bureau.us_census import PR_PASS, US, US_PASS
from safetab.foundation.files import UnreadableFile, read_text
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.privacy.calibration import PrivacyDefinition
from safetab.products.all_products import PRODUCTS, budget_keys_of, product_of_keys
from safetab.products.product import Product, Selector, TableFamily, Thresholds


class ReaderKind(Enum):
    """The form of the records and the geography."""

    CSV = "csv"
    CEF = "cef"


@dataclass(frozen=True, slots=True)
class FamilyConfig:
    """The settings of a table family."""

    family: TableFamily
    budgets: Mapping[PopulationGroupLevel, Fraction]  # of every level
    thresholds: Mapping[PopulationGroupLevel, Thresholds]  # of the levels of the passes that run


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Every key of config.json. All of it is public, and numbers are exact."""

    census: Census
    product: Product
    privacy_definition: PrivacyDefinition
    families: tuple[FamilyConfig, ...]
    stage_1_fraction: Fraction  # the paper's gamma
    max_race_codes: int
    zero_suppression_chance: Fraction  # the paper's p; 0 means no suppression
    allow_negative_counts: bool
    passes: tuple[Pass, ...]
    us_states: tuple[str, ...]
    reader: ReaderKind

    def of_family(self, family: TableFamily) -> FamilyConfig:
        """The settings of a table family."""
        return next(config for config in self.families if config.family is family)

    @property
    def levels(self) -> tuple[PopulationGroupLevel, ...]:
        """The levels of the passes that run, including those with budget 0."""
        return self.census.levels_of(self.passes)

    @property
    def budgets(self) -> Mapping[tuple[TableFamily, PopulationGroupLevel], Fraction]:
        """What a ledger may spend, by family and level."""
        return {(config.family, level): budget for config in self.families for level, budget in config.budgets.items()}

    def budget_of(self, level: PopulationGroupLevel) -> Fraction:
        """The budget of a level for all table families together."""
        return sum((config.budgets[level] for config in self.families), Fraction(0))

    def states_of(self, tabulation_pass: Pass) -> tuple[str, ...]:
        """The states whose blocks and people belong to a pass."""
        return self.us_states if tabulation_pass == US_PASS else (PUERTO_RICO_STATE,)


CONFIG_FILE = "config.json"

_PASS_KEYS = {US_PASS: "run_us", PR_PASS: "run_pr"}
_STATES_KEY = "state_filter_us"
_READER_KEY = "reader"
_HIGHEST_THRESHOLD = 2**62

_Budgets = dict[TableFamily, dict[PopulationGroupLevel, Fraction]]


def budget_key(product: Product, family: TableFamily, level: PopulationGroupLevel) -> str:
    """The key of the budget of a table family at a level."""
    geography = level.geography.label.lower().replace("-", "_")
    return f"{product.family_keys[family.name].budget_prefix}_level_{level.iterations.number}_{geography}"


def threshold_key(level: PopulationGroupLevel) -> str:
    """The key of a level in the object of thresholds, such as "(USA, 1)"."""
    return f"({level.geography.label}, {level.iterations.number})"


def read_config(parameters: Path) -> Checked[RunConfig]:
    """The configuration of a parameters directory, and every finding about it."""
    return read_config_at(parameters / CONFIG_FILE)


def read_config_at(path: Path) -> Checked[RunConfig]:
    """The configuration in this file, and every finding about it."""
    try:
        return parse_config(read_text(path))
    except UnreadableFile as problem:
        findings = FindingsOf(CONFIG_FILE)
        findings.error("", str(problem))
        return Checked(None, findings.findings)


def product_asked_for(parameters: Path) -> Product:
    """The product of a configuration, whatever else is wrong with it.

    If it can't be determined, this is the first product.
    """
    return product_of_keys(_readable_keys(parameters))


def reader_asked_for(parameters: Path, data: Path) -> ReaderKind:
    """The reader of a configuration, whatever else is wrong with it.

    If it can't be determined, the form of DATA decides.
    """
    given = _readable_keys(parameters).get(_READER_KEY)
    if isinstance(given, str) and given in {reader.value for reader in ReaderKind}:
        return ReaderKind(given)
    return ReaderKind.CEF if os.path.isfile(data) else ReaderKind.CSV  # noqa: PTH113 - never raises


def _readable_keys(parameters: Path) -> Mapping[str, object]:
    """The keys of config.json, or none if the file can't be read as JSON."""
    try:
        keys = parse_exact_json(read_text(parameters / CONFIG_FILE)).value
    except (UnreadableFile, NotJson):
        return {}
    return keys if isinstance(keys, dict) else {}


def parse_config(text: str) -> Checked[RunConfig]:
    """The configuration in this text, and every finding about it."""
    findings = FindingsOf(CONFIG_FILE)
    try:
        parsed = parse_exact_json(text)
    except NotJson as problem:
        findings.error("", str(problem))
        return Checked(None, findings.findings)
    if not isinstance(parsed.value, dict):
        findings.error("", "it must hold one JSON object: { ... }.")
        return Checked(None, findings.findings)
    for key in parsed.repeated_keys:
        findings.error(key, "given twice. Keep one of them.")
    config = _config_of(ConfigKeys(parsed.value, findings))
    return Checked(None if findings.has_errors else config, findings.findings)


def _config_of(keys: ConfigKeys) -> RunConfig | None:
    """The configuration, or None if a key is wrong.

    Every key is read first, so all findings come together.
    """
    product = product_of_keys(keys)
    passes = _passes(keys)
    _refuse_other_products(keys, product)
    definition = keys.choice("privacy_defn", tuple(definition.spelling for definition in PrivacyDefinition))
    budgets = _budgets(keys, product, passes)
    gamma: Fraction | None = Fraction(0)  # if the product has no stage 1
    if product.stage_1_key is not None:
        gamma = keys.number(product.stage_1_key, "strictly between 0 and 1", lambda gamma: 0 < gamma < 1)
    thresholds = {family: _thresholds(keys, product, family, passes) for family in product.families}
    max_race_codes = keys.integer("max_race_codes", 1, 8)
    suppression_chance: Fraction | None = Fraction(0)
    if product.suppression_key is not None and keys.has(product.suppression_key):
        chance_range = "of at least 0 and below 1"
        suppression_chance = keys.number(product.suppression_key, chance_range, lambda chance: 0 <= chance < 1)
    allow_negative_counts = keys.boolean("allow_negative_counts")
    states = _states(keys, must_have_one=US_PASS in passes)
    reader = keys.choice(_READER_KEY, tuple(reader.value for reader in ReaderKind))
    keys.warn_of_unknown("key")
    if keys.findings.has_errors:
        return None
    if max_race_codes is not None and max_race_codes < 8:
        used = f"only the first {max_race_codes} of 8 race codes are used"
        keys.findings.warning("max_race_codes", f"{used}, also to decide who is in a group alone.")
    assert definition is not None and gamma is not None and max_race_codes is not None  # noqa: PT018
    assert suppression_chance is not None and allow_negative_counts is not None and reader is not None  # noqa: PT018
    return RunConfig(
        census=US,
        product=product,
        privacy_definition=next(known for known in PrivacyDefinition if known.spelling == definition),
        families=tuple(
            FamilyConfig(family, MappingProxyType(budgets[family]), MappingProxyType(thresholds[family]))
            for family in product.families
        ),
        stage_1_fraction=gamma,
        max_race_codes=max_race_codes,
        zero_suppression_chance=suppression_chance,
        allow_negative_counts=allow_negative_counts,
        passes=passes,
        us_states=states,
        reader=ReaderKind(reader),
    )


def _refuse_other_products(keys: ConfigKeys, product: Product) -> None:
    """Report budgets of another product, and say nothing more about that product's keys."""
    for other in PRODUCTS:
        strange = () if other is product else budget_keys_of(other, keys)
        if not strange:
            continue
        more = f", and {len(strange) - 1} more" if len(strange) > 1 else ""
        problem = f"a budget of {other.name} among those of {product.name}{more}."
        advice = "A configuration is for one product: give each its own PARAMETERS."
        keys.findings.error(strange[0], f"{problem} {advice}")
        thresholds = (of_family.thresholds for of_family in other.family_keys.values())
        for key in (*strange, other.stage_1_key, other.suppression_key, *thresholds):
            if key is not None:
                keys.ignore(key)


def _passes(keys: ConfigKeys) -> tuple[Pass, ...]:
    """The passes that run."""
    runs = {tabulation_pass: keys.boolean(key) for tabulation_pass, key in _PASS_KEYS.items()}
    if all(value is False for value in runs.values()):
        keys.findings.error("run_us, run_pr", "both are false. Set at least one to true.")
    return tuple(tabulation_pass for tabulation_pass, value in runs.items() if value)


def _budgets(keys: ConfigKeys, product: Product, passes: tuple[Pass, ...]) -> _Budgets:
    """The budgets of each family by level. Reports passes that run with no budget at all."""
    budgets: _Budgets = {family: {} for family in product.families}
    for family, level in measured_levels(product, US.levels):
        if_missing = "Every level needs a budget; write 0 to leave the level out."
        key = budget_key(product, family, level)
        budget = keys.number(key, "0 or above", lambda budget: budget >= 0, if_missing)
        if budget is not None:
            budgets[family][level] = budget
    for tabulation_pass in passes:
        of_pass = measured_levels(product, US.levels_of([tabulation_pass]))
        if all(budgets[family].get(level) == 0 for family, level in of_pass):
            names = shortened((budget_key(product, family, level) for family, level in of_pass), 2)
            problem = f"true, but every budget of this pass is 0: {names}. Give a level a budget, or write false."
            keys.findings.error(_PASS_KEYS[tabulation_pass], problem)
    return budgets


def measured_levels(
    product: Product, levels: Iterable[PopulationGroupLevel]
) -> tuple[tuple[TableFamily, PopulationGroupLevel], ...]:
    """Every table family of a product, paired with every level."""
    return tuple((family, level) for family in product.families for level in levels)


def _thresholds(
    keys: ConfigKeys, product: Product, family: TableFamily, passes: Iterable[Pass]
) -> dict[PopulationGroupLevel, Thresholds]:
    """The thresholds of a family at the levels of the passes that run."""
    name = product.family_keys[family.name].thresholds
    number = _in_words(len(family.finer))
    given = keys.value(name, f"Give an object with {number} for each level.")
    if given is None:
        return {}
    if not isinstance(given, dict):
        keys.findings.error(name, f'{shown(given)} is not an object such as {{"(USA, 1)": [500, 1000, 7000]}}.')
        return {}
    entries = ConfigKeys(given, keys.findings)
    for level in US.levels:
        entries.ignore(threshold_key(level))
    # published totals have noise and may be below 0, and so may thresholds for them
    lowest = 0 if product.selector is Selector.NOISY_STAGE_1 else 1 - _HIGHEST_THRESHOLD
    thresholds = {}
    for level in US.levels_of(passes):
        checked = _checked_thresholds(entries, threshold_key(level), name, len(family.finer), lowest)
        if checked is not None:
            thresholds[level] = checked
    entries.warn_of_unknown(f"level in {name}")
    return thresholds


def _checked_thresholds(entries: ConfigKeys, key: str, name: str, wanted: int, lowest: int) -> Thresholds | None:
    """The thresholds of one level, or None and a finding."""
    number = _in_words(wanted)
    values = entries.value(key, f"Give {number}.") if entries.has(key) else None
    if not entries.has(key):
        problem = f"missing. Give {number} for every level of a pass that runs, at budget 0 too."
    elif not isinstance(values, list) or len(values) != wanted:
        problem = f"{shown(values)} is not a list of {number.replace('threshold', 'integer')}."
    elif not all(is_integer(value) and lowest <= value < _HIGHEST_THRESHOLD for value in values):
        low = "0" if lowest == 0 else "above -2^62"
        problem = f"{shown(values)}: each threshold must be an integer from {low} to below 2^62."
    elif sorted(values) != values:
        problem = f"{', '.join(map(str, values))} decrease. Give {number} in rising order."
    else:
        return Thresholds(tuple(values))
    entries.findings.error(f'{name} "{key}"', problem)
    return None


def _in_words(thresholds: int) -> str:
    return {1: "one threshold", 3: "three thresholds"}.get(thresholds, f"{thresholds} thresholds")


def _states(keys: ConfigKeys, *, must_have_one: bool) -> tuple[str, ...]:
    """The states of the US pass in the order of their codes."""
    states = keys.value(_STATES_KEY, "Give the list of states of the US pass.")
    if states is None:
        return ()
    if not isinstance(states, list):
        keys.findings.error(_STATES_KEY, f'{shown(states)} is not a list such as ["01", "02"].')
        return ()
    if must_have_one and not states:
        keys.findings.error(_STATES_KEY, "empty, but run_us is true. List the states to tabulate.")
    invalid = [shown(state) for state in states if not isinstance(state, str) or state not in US_STATES]
    if invalid:
        problem = f"{shortened(invalid)}: not a two-digit FIPS code, in quotes, of the 50 states and DC."
        keys.findings.error(_STATES_KEY, problem)
        return ()
    repeated = sorted(state for state, times in Counter(states).items() if times > 1)
    if repeated:
        keys.findings.error(_STATES_KEY, f"{shortened(repeated)} given more than once. List each state once.")
    return tuple(sorted(states))
