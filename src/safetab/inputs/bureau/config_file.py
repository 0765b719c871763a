"""The configuration of a run, read from config.json. The Bureau's spellings end here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from safetab.foundation.files import UnreadableFile, read_text
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.model.census.area_levels import Pass
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.config.config_keys import (
    ConfigKeys,
    NotJson,
    is_integer,
    parse_exact_json,
    shown,
)
from safetab.model.config.run_config import (
    CONFIG_FILE,
    ConfigSpelling,
    FamilyConfig,
    ReaderKind,
    RunConfig,
    budget_key,
    measured_levels,
    threshold_key,
)
from safetab.model.privacy_definition import SPELLINGS, PrivacyDefinition
from safetab.model.products.all_products import (
    PRODUCTS,
    as_shipped,
    budget_keys_of,
    product_of_keys,
)
from safetab.model.products.product import Product, Selector, TableFamily, Thresholds
from safetab.model.us.states import PUERTO_RICO_STATE, US_STATES
from safetab.model.us.us_census import PR_PASS, US, US_PASS

_PASS_KEYS = {US_PASS: "run_us", PR_PASS: "run_pr"}
_STATES_KEY = "state_filter_us"
_CODES_KEY = "max_race_codes"
READER_KEY = "reader"
_HIGHEST_THRESHOLD = 2**62

_Budgets = dict[TableFamily, dict[PopulationGroupLevel, Fraction]]


def readable_keys(parameters: Path) -> Mapping[str, object]:
    """The keys of config.json, or none if the file can't be read as JSON."""
    try:
        keys = parse_exact_json(read_text(parameters / CONFIG_FILE)).value
    except (UnreadableFile, NotJson):
        return {}
    return keys if isinstance(keys, dict) else {}


def parse_config(text: str, otherwise: Product = PRODUCTS[0]) -> Checked[RunConfig]:
    """The configuration in this text, and every finding about it.

    It is for the product that its keys name, and for `otherwise` if they name none.
    """
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
    product = product_of_keys(parsed.value, otherwise)
    config = _config_of(ConfigKeys(parsed.value, findings), product)
    return Checked(None if findings.has_errors else config, findings.findings)


def _config_of(keys: ConfigKeys, product: Product) -> RunConfig | None:
    """The configuration, or None if a key is wrong.

    Every key is read first, so all findings come together.
    """
    passes = _passes(keys)
    _refuse_other_products(keys, product)
    definition = keys.choice("privacy_defn", SPELLINGS)
    budgets = _budgets(keys, product, passes)
    gamma: Fraction | None = Fraction(0)  # if the product has no stage 1
    shipped = as_shipped(product)
    if shipped.stage_1_key is not None:
        gamma = keys.number(
            shipped.stage_1_key, "strictly between 0 and 1", lambda gamma: 0 < gamma < 1
        )
    thresholds = {family: _thresholds(keys, product, family, passes) for family in product.families}
    max_race_codes = keys.integer(_CODES_KEY, 1, 8)
    suppression_chance: Fraction | None = Fraction(0)
    if shipped.suppression_key is not None and keys.has(shipped.suppression_key):
        chance_range = "of at least 0 and below 1"
        suppression_chance = keys.number(
            shipped.suppression_key, chance_range, lambda chance: 0 <= chance < 1
        )
    allow_negative_counts = keys.boolean("allow_negative_counts")
    states = _states(keys, must_have_one=US_PASS in passes)
    reader = keys.choice(READER_KEY, tuple(reader.value for reader in ReaderKind))
    keys.warn_of_unknown("key")
    if keys.findings.has_errors:
        return None
    if max_race_codes is not None and max_race_codes < 8:
        used = f"only the first {max_race_codes} of 8 race codes are used"
        keys.findings.warning(_CODES_KEY, f"{used}, also to decide who is in a group alone.")
    assert definition is not None
    assert gamma is not None
    assert max_race_codes is not None
    assert suppression_chance is not None
    assert allow_negative_counts is not None
    assert reader is not None
    return RunConfig(
        census=US,
        product=product,
        privacy_definition=PrivacyDefinition.spelled(definition),
        families=tuple(
            FamilyConfig(
                family, MappingProxyType(budgets[family]), MappingProxyType(thresholds[family])
            )
            for family in product.families
        ),
        stage_1_fraction=gamma,
        most_answers=max_race_codes,
        zero_suppression_chance=suppression_chance,
        allow_negative_counts=allow_negative_counts,
        passes=passes,
        parts=MappingProxyType({US_PASS: states, PR_PASS: (PUERTO_RICO_STATE,)}),
        reader=ReaderKind(reader),
        spelling=SPELLING,
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
        shipped = as_shipped(other)
        thresholds = (of_family.thresholds for of_family in shipped.family_keys.values())
        for key in (*strange, shipped.stage_1_key, shipped.suppression_key, *thresholds):
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
            problem = (
                f"true, but every budget of this pass is 0: {names}."
                " Give a level a budget, or write false."
            )
            keys.findings.error(_PASS_KEYS[tabulation_pass], problem)
    return budgets


def _thresholds(
    keys: ConfigKeys, product: Product, family: TableFamily, passes: Iterable[Pass]
) -> dict[PopulationGroupLevel, Thresholds]:
    """The thresholds of a family at the levels of the passes that run."""
    name = as_shipped(product).family_keys[family.name].thresholds
    number = _in_words(len(family.finer))
    given = keys.value(name, f"Give an object with {number} for each level.")
    if given is None:
        return {}
    if not isinstance(given, dict):
        keys.findings.error(
            name, f'{shown(given)} is not an object such as {{"(USA, 1)": [500, 1000, 7000]}}.'
        )
        return {}
    entries = ConfigKeys(given, keys.findings)
    for level in US.levels:
        entries.ignore(threshold_key(level))
    # published totals have noise and may be below 0, and so may thresholds for them
    lowest = 0 if product.selector is Selector.NOISY_STAGE_1 else 1 - _HIGHEST_THRESHOLD
    thresholds = {}
    for level in US.levels_of(passes):
        checked = _checked_thresholds(
            entries, threshold_key(level), name, len(family.finer), lowest
        )
        if checked is not None:
            thresholds[level] = checked
    entries.warn_of_unknown(f"level in {name}")
    return thresholds


def _checked_thresholds(
    entries: ConfigKeys, key: str, name: str, wanted: int, lowest: int
) -> Thresholds | None:
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
    invalid = [
        shown(state) for state in states if not isinstance(state, str) or state not in US_STATES
    ]
    if PUERTO_RICO_STATE in states:
        advice = f"Leave it out here, and write {_PASS_KEYS[PR_PASS]}: true."
        keys.findings.error(
            _STATES_KEY, f'"{PUERTO_RICO_STATE}" is Puerto Rico, which has its own pass. {advice}'
        )
        return ()
    if invalid:
        problem = (
            f"{shortened(invalid)}: not a two-digit FIPS code, in quotes, of the 50 states and DC."
        )
        keys.findings.error(_STATES_KEY, problem)
        return ()
    repeated = sorted(state for state, times in Counter(states).items() if times > 1)
    if repeated:
        keys.findings.error(
            _STATES_KEY, f"{shortened(repeated)} given more than once. List each state once."
        )
    return tuple(sorted(states))


def _as_keys(config: RunConfig) -> dict[str, object]:
    """The keys of config.json again."""
    product, shipped = config.product, as_shipped(config.product)
    thresholds = {}
    for of_family in config.families:
        by_level = {
            threshold_key(level): list(each.totals) for level, each in of_family.thresholds.items()
        }
        thresholds[shipped.family_keys[of_family.family.name].thresholds] = by_level
    return {
        "privacy_defn": config.privacy_definition.spelling,
        **{budget_key(product, *measured): budget for measured, budget in config.budgets.items()},
        **({} if shipped.stage_1_key is None else {shipped.stage_1_key: config.stage_1_fraction}),
        **thresholds,
        _CODES_KEY: config.most_answers,
        **(
            {}
            if shipped.suppression_key is None
            else {shipped.suppression_key: config.zero_suppression_chance}
        ),
        "allow_negative_counts": config.allow_negative_counts,
        "passes": [tabulation_pass.name for tabulation_pass in config.passes],
        _STATES_KEY: list(config.parts_of(US_PASS)),
        READER_KEY: config.reader.value,
    }


SPELLING = ConfigSpelling(_CODES_KEY, _STATES_KEY, _PASS_KEYS, _as_keys)
