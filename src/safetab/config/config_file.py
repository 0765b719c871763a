"""config.json -> RunConfig: the Bureau's spellings end here."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from safetab.census.geography_levels import US_STATES, TabulationPass
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel, levels_of_passes
from safetab.config.config_keys import ConfigKeys, is_integer, shown
from safetab.config.exact_json import NotJson, parse_exact_json
from safetab.config.run_config import FamilyConfig, ReaderKind, RunConfig
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.foundation.text_files import UnreadableFile, read_text
from safetab.privacy.definitions import PrivacyDefinition
from safetab.products.all_products import PRODUCTS, budget_keys_of, product_of_keys
from safetab.products.product import Product, Selector, TableFamily, Thresholds

CONFIG_FILE = "config.json"

_PASS_KEYS = {TabulationPass.US: "run_us", TabulationPass.PUERTO_RICO: "run_pr"}
_STATES_KEY = "state_filter_us"
_READER_KEY = "reader"
_HIGHEST_THRESHOLD = 2**62


def budget_key(product: Product, family: TableFamily, level: PopulationGroupLevel) -> str:
    geography = level.geography.label.lower().replace("-", "_")
    return f"{product.family_keys[family.name].budget_prefix}_level_{int(level.iterations)}_{geography}"


def threshold_key(level: PopulationGroupLevel) -> str:
    return f"({level.geography.label}, {int(level.iterations)})"


def read_config(parameters: Path) -> Checked[RunConfig]:
    """The configuration of a parameters directory, with every finding about it."""
    return read_config_at(parameters / CONFIG_FILE)


def read_config_at(path: Path) -> Checked[RunConfig]:
    try:
        return parse_config(read_text(path))
    except UnreadableFile as problem:
        findings = FindingsOf(CONFIG_FILE)
        findings.error("", str(problem))
        return Checked(None, findings.findings)


def product_asked_for(parameters: Path) -> Product:
    """The product of a configuration, whatever else is wrong with it; the first if that can't be said."""
    return product_of_keys(_readable_keys(parameters))


def reader_asked_for(parameters: Path, data: Path) -> ReaderKind:
    """The reader of a configuration, whatever else is wrong with it; what DATA looks like if that can't be said."""
    given = _readable_keys(parameters).get(_READER_KEY)
    if isinstance(given, str) and given in {reader.value for reader in ReaderKind}:
        return ReaderKind(given)
    return ReaderKind.CEF if os.path.isfile(data) else ReaderKind.CSV  # noqa: PTH113 - never raises


def _readable_keys(parameters: Path) -> Mapping[str, object]:
    try:
        keys = parse_exact_json(read_text(parameters / CONFIG_FILE)).value
    except (UnreadableFile, NotJson):
        return {}
    return keys if isinstance(keys, dict) else {}


def parse_config(text: str) -> Checked[RunConfig]:
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
    product, passes = product_of_keys(keys), _passes(keys)
    _refuse_other_products(keys, product)
    definition = keys.choice("privacy_defn", tuple(definition.spelling for definition in PrivacyDefinition))
    budgets = _budgets(keys, product, passes)
    gamma = _stage_1_fraction(keys, product)
    thresholds = {family: _thresholds(keys, product, family, passes) for family in product.families}
    max_race_codes = keys.integer("max_race_codes", 1, 8)
    suppression_chance = _suppression_chance(keys, product)
    allow_negative_counts = keys.boolean("allow_negative_counts")
    states = _states(keys, must_have_one=TabulationPass.US in passes)
    reader = keys.choice(_READER_KEY, tuple(reader.value for reader in ReaderKind))
    keys.warn_of_unknown("key")
    if keys.findings.has_errors:
        return None
    if max_race_codes is not None and max_race_codes < 8:
        keys.findings.warning(
            "max_race_codes",
            f"only the first {max_race_codes} of 8 race codes are used, also to judge who is in a group alone.",
        )
    assert definition is not None and gamma is not None and max_race_codes is not None  # noqa: PT018
    assert suppression_chance is not None and allow_negative_counts is not None and reader is not None  # noqa: PT018
    return RunConfig(
        product=product,
        privacy_definition=next(one for one in PrivacyDefinition if one.spelling == definition),
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
    for other in PRODUCTS:
        strange = () if other is product else budget_keys_of(other, keys)
        if strange:
            keys.findings.error(
                strange[0],
                f"a budget of {other.name} among those of {product.name}"
                f"{f', and {len(strange) - 1} more' if len(strange) > 1 else ''}."
                " A configuration is for one product: give each its own PARAMETERS.",
            )
        for key in (*strange, *((_other_keys(other)) if strange else ())):
            keys.ignore(key)


def _other_keys(other: Product) -> tuple[str, ...]:
    """Keys of another product, about which nothing more is said once its budgets are found."""
    own = (other.stage_1_key, other.suppression_key, *(keys.thresholds for keys in other.family_keys.values()))
    return tuple(key for key in own if key is not None)


def _stage_1_fraction(keys: ConfigKeys, product: Product) -> Fraction | None:
    if product.stage_1_key is None:
        return Fraction(0)
    return keys.number(product.stage_1_key, "strictly between 0 and 1", lambda gamma: 0 < gamma < 1)


def _passes(keys: ConfigKeys) -> tuple[TabulationPass, ...]:
    """The passes that run."""
    runs = {tabulation_pass: keys.boolean(key) for tabulation_pass, key in _PASS_KEYS.items()}
    if all(value is False for value in runs.values()):
        keys.findings.error("run_us, run_pr", "both are false. Set at least one to true.")
    return tuple(tabulation_pass for tabulation_pass, value in runs.items() if value)


def _budgets(
    keys: ConfigKeys, product: Product, passes: tuple[TabulationPass, ...]
) -> dict[TableFamily, dict[PopulationGroupLevel, Fraction]]:
    budgets: dict[TableFamily, dict[PopulationGroupLevel, Fraction]] = {family: {} for family in product.families}
    for family, level in measured_levels(product, POPULATION_GROUP_LEVELS):
        budget = keys.number(
            budget_key(product, family, level),
            "0 or above",
            lambda budget: budget >= 0,
            if_missing="Every level needs a budget; write 0 to leave the level out.",
        )
        if budget is not None:
            budgets[family][level] = budget
    for tabulation_pass in passes:
        of_pass = measured_levels(product, levels_of_passes([tabulation_pass]))
        if all(budgets[family].get(level) == 0 for family, level in of_pass):
            names = (budget_key(product, family, level) for family, level in of_pass)
            keys.findings.error(
                _PASS_KEYS[tabulation_pass],
                f"true, but every budget of this pass is 0: {shortened(names, 2)}."
                " Give a level a budget, or write false.",
            )
    return budgets


def measured_levels(
    product: Product, levels: Iterable[PopulationGroupLevel]
) -> tuple[tuple[TableFamily, PopulationGroupLevel], ...]:
    return tuple((family, level) for family in product.families for level in levels)


def _thresholds(
    keys: ConfigKeys, product: Product, family: TableFamily, passes: Iterable[TabulationPass]
) -> dict[PopulationGroupLevel, Thresholds]:
    name, number = product.family_keys[family.name].thresholds, _in_words(len(family.finer))
    given = keys.value(name, f"Give an object with {number} for each level.")
    if given is None:
        return {}
    if not isinstance(given, dict):
        keys.findings.error(name, f'{shown(given)} is not an object such as {{"(USA, 1)": [500, 1000, 7000]}}.')
        return {}
    entries = ConfigKeys(given, keys.findings)
    running, thresholds = set(levels_of_passes(passes)), {}
    for level in POPULATION_GROUP_LEVELS:
        key = threshold_key(level)
        if level in running:
            checked = _checked_thresholds(entries, key, name, len(family.finer), _lowest_threshold(product))
            if checked is not None:
                thresholds[level] = checked
        else:
            entries.ignore(key)
    entries.warn_of_unknown(f"level in {name}")
    return thresholds


def _lowest_threshold(product: Product) -> int:
    """Published totals have noise and may be below 0, and so may what is compared with them."""
    return 0 if product.selector is Selector.NOISY_STAGE_1 else 1 - _HIGHEST_THRESHOLD


def _checked_thresholds(entries: ConfigKeys, key: str, name: str, wanted: int, lowest: int) -> Thresholds | None:
    where, number = f'{name} "{key}"', _in_words(wanted)
    if not entries.has(key):
        entries.findings.error(where, f"missing. Give {number} for every level of a pass that runs, at budget 0 too.")
        return None
    values = entries.value(key, f"Give {number}.")
    if not isinstance(values, list) or len(values) != wanted:
        entries.findings.error(where, f"{shown(values)} is not a list of {number.replace('threshold', 'integer')}.")
        return None
    if not all(is_integer(value) and lowest <= value < _HIGHEST_THRESHOLD for value in values):
        low = "0" if lowest == 0 else "above -2^62"
        entries.findings.error(where, f"{shown(values)}: each threshold must be an integer from {low} to below 2^62.")
        return None
    if sorted(values) != values:
        entries.findings.error(where, f"{', '.join(map(str, values))} decrease. Give {number} in rising order.")
        return None
    return Thresholds(tuple(values))


def _in_words(thresholds: int) -> str:
    return {1: "one threshold", 3: "three thresholds"}.get(thresholds, f"{thresholds} thresholds")


def _suppression_chance(keys: ConfigKeys, product: Product) -> Fraction | None:
    if product.suppression_key is None or not keys.has(product.suppression_key):
        return Fraction(0)
    return keys.number(product.suppression_key, "of at least 0 and below 1", lambda chance: 0 <= chance < 1)


def _states(keys: ConfigKeys, *, must_have_one: bool) -> tuple[str, ...]:
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
        keys.findings.error(
            _STATES_KEY,
            f"{shortened(invalid)}: not a two-digit FIPS code, in quotes, of the 50 states and DC.",
        )
        return ()
    repeated = sorted(state for state, times in Counter(states).items() if times > 1)
    if repeated:
        keys.findings.error(_STATES_KEY, f"{shortened(repeated)} given more than once. List each state once.")
    return tuple(sorted(states))
