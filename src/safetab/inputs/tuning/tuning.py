"""A configuration with the facts of its levels, and the configurations to start from.

The presets are what a production run used, and the same with round thresholds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from safetab.core.algorithm.run_plan import loss_of_config, loss_of_config_pass
from safetab.core.privacy.composition import PrivacyLoss
from safetab.foundation.argument_types import checks_arguments
from safetab.foundation.findings import Checked, FindingsOf
from safetab.foundation.result_tables import Result
from safetab.inputs.configuration import config_of_text, parameters_findings, read_config_at
from safetab.inputs.specified_files import compile_folder
from safetab.inputs.tuning.tuned_level import Facts, TunedLevel, facts_of, facts_of_specification
from safetab.model.census.area_levels import Pass
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.config.run_config import (
    FamilyConfig,
    RunConfig,
    budget_key,
    measured_levels,
    threshold_key,
)
from safetab.model.known_census import DEFAULT_CENSUS, facts_of_2020
from safetab.model.products.all_products import PRODUCTS, as_shipped
from safetab.model.products.product import Product, TableFamily, Thresholds
from safetab.model.products.shipped_product import Production
from safetab.model.specification.exact_numbers import decimal_text
from safetab.model.specification.reading import is_specification

PRODUCTION = facts_of_2020.PRODUCTION
_ROUND = 100


def presets(product: Product = PRODUCTS[0]) -> Mapping[str, str]:
    """The text of a config.json for the product, by preset name; none without a production run."""
    production = as_shipped(product).production
    if production is None:
        return {}
    text_of = partial(_config_text, product, production)
    return {
        PRODUCTION: text_of(lambda threshold: threshold),
        facts_of_2020.ROUNDED: text_of(lambda threshold: -(-threshold // _ROUND) * _ROUND),
    }


def production_of_2020(product: Product = PRODUCTS[0]) -> RunConfig:
    """The configuration of the 2020 production run."""
    return config_of_text(presets(product)[PRODUCTION]).require()


def _config_text(product: Product, production: Production, rounded: Callable[[int], int]) -> str:
    """The text of a config.json with the values of production and rounded thresholds."""
    keys = dict(facts_of_2020.FIRST_KEYS)
    for family, level in measured_levels(product, DEFAULT_CENSUS.levels):
        keys[budget_key(product, family, level)] = production.of_level(family, level).budget
    shipped = as_shipped(product)
    if shipped.stage_1_key is not None and production.choices.stage_1 is not None:
        keys[shipped.stage_1_key] = production.choices.stage_1
    for family in product.families:
        thresholds = {}
        for level in DEFAULT_CENSUS.levels:
            given = production.of_level(family, level).thresholds
            thresholds[threshold_key(level)] = [rounded(threshold) for threshold in given]
        keys[shipped.family_keys[family.name].thresholds] = thresholds
    if shipped.suppression_key is not None:
        keys[shipped.suppression_key] = production.choices.suppress_chance
    return text_of_keys(keys | facts_of_2020.LAST_KEYS)


def text_of_keys(keys: Mapping[str, object]) -> str:
    """The text of a config.json with one key per line and short lists on one line.

    Numbers are exact.
    """
    lines = []
    for key, value in keys.items():
        if isinstance(value, Fraction):
            text = decimal_text(value)
        elif isinstance(value, dict):
            inside = ",\n".join(
                f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items()
            )
            text = f"{{\n{inside}\n  }}"
        else:
            text = json.dumps(value)
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


@dataclass(frozen=True, repr=False)
class Tuning(Result):
    """A configuration with the facts of its levels.

    To try another: `tuning.but(most_answers=3)`.

    Its levels, with their budgets and thresholds, are those of one table family of the product: the
    first, unless one is named. Losses are those of all families together.
    """

    config: RunConfig
    facts: Facts
    named_family: TableFamily | None = None

    @property
    def family(self) -> TableFamily:
        return self.named_family or self.config.families[0].family

    @property
    def of_family(self) -> FamilyConfig:
        """The family's part of the configuration."""
        return self.config.of_family(self.family)

    def by_family(self) -> tuple[Tuning, ...]:
        """The tuning for each table family of the product."""
        return tuple(replace(self, named_family=one.family) for one in self.config.families)

    def but(self, **changes: object) -> Tuning:
        """A copy of the tuning with other values of the configuration's fields.

        The number of answers that count may also be named as in config.json.
        """
        spelled = self.config.spelling.most_answers
        if {spelled, "most_answers"} <= changes.keys():
            raise TypeError(f"{spelled} and most_answers are the same field: give one of them")
        fields = {
            "most_answers" if name == spelled else name: value for name, value in changes.items()
        }
        return replace(self, config=replace(self.config, **fields))  # type: ignore[arg-type]

    def with_budgets(self, budgets: Mapping[PopulationGroupLevel, Fraction]) -> Tuning:
        """A copy of the tuning with other budgets."""
        return self._with(
            replace(self.of_family, budgets=MappingProxyType({**self.of_family.budgets, **budgets}))
        )

    def with_thresholds(self, thresholds: Mapping[PopulationGroupLevel, Thresholds]) -> Tuning:
        """A copy of the tuning with other thresholds."""
        given = MappingProxyType({**self.of_family.thresholds, **thresholds})
        return self._with(replace(self.of_family, thresholds=given))

    def _with(self, changed: FamilyConfig) -> Tuning:
        return self.but(
            families=tuple(
                changed if one.family is self.family else one for one in self.config.families
            )
        )

    @cached_property
    def levels(self) -> Mapping[PopulationGroupLevel, TunedLevel]:
        """The tabulated levels: their pass runs and their budget is above 0."""
        tabulated = (level for level in self.config.levels if self.of_family.budgets[level] > 0)
        return MappingProxyType({level: self.level(level) for level in tabulated})

    def level(self, level: PopulationGroupLevel) -> TunedLevel:
        """One level, tabulated or not."""
        return TunedLevel(self.facts[level], self.config, self.family)

    def levels_of(self, tabulation_pass: Pass) -> Iterator[TunedLevel]:
        """The tabulated levels of one pass."""
        return (
            tuned
            for level, tuned in self.levels.items()
            if level.geography.tabulation_pass == tabulation_pass
        )

    def loss_of(self, tabulation_pass: Pass) -> PrivacyLoss:
        return loss_of_config_pass(self.config, tabulation_pass)

    @property
    def loss(self) -> PrivacyLoss:
        return loss_of_config(self.config)

    def share(self, level: PopulationGroupLevel) -> Fraction:
        """The part of its pass's budget that a level spends on the family."""
        return (
            self.of_family.budgets[level] / self.loss_of(level.geography.tabulation_pass).unbounded
        )

    @property
    def groups(self) -> int:
        """The number of population groups that are tabulated."""
        return sum(tuned.facts.groups for tuned in self.levels.values())

    @property
    def empty_groups_published(self) -> float:
        """Expected number of published groups if all of them were empty."""
        return sum(tuned.empty_groups_published for tuned in self.levels.values())

    @property
    def _title(self) -> str:
        loss = f"{self.config.privacy_definition.budget_symbol} {float(self.loss.unbounded):.6g}"
        return (
            f"Tuning of {self.config.product.name}, {self.family.name}:"
            f" {self.groups:,} groups, {loss} (unbounded)"
        )

    def to_arrow(self) -> pa.Table:
        """A row for each tabulated level: its groups, budget and stability."""
        return pa.concat_tables(tuned.to_arrow() for tuned in self.levels.values())


@checks_arguments
def tuning_of(
    config: str | Path | None = None,
    parameters: str | Path | None = None,
    geography: str | Path | None = None,
) -> Checked[Tuning]:
    """The meaning of a configuration, level by level.

    `require()` of it gives the `Tuning`, or raises with every finding. Without lists or geography
    the numbers of groups are those of the 2020 Census.

    Args:
        config: A config.json; if left out, that of `parameters`, or the configuration of the 2020
            production run.
        parameters: The directory with the lists of codes and iterations, or with a specification.
        geography: A GRF-C file, to count its entities.
    """
    refused = () if parameters is None else parameters_findings(Path(parameters))
    if refused:
        return Checked(None, refused)
    if parameters is not None and is_specification(Path(parameters)):
        return _tuning_of_specification(Path(parameters), config, geography)
    paths = (None if path is None else Path(path) for path in (parameters, geography))
    production = production_of_2020()
    facts = facts_of(production, *paths)
    path = config_path(config, parameters)
    read = Checked(production, ()) if path is None else read_config_at(path)
    findings = read.findings + facts.findings
    if facts.value is None or read.value is None:
        return Checked(None, findings)
    return Checked(Tuning(read.value, facts.value), findings)


def _tuning_of_specification(
    parameters: Path, config: str | Path | None, geography: str | Path | None
) -> Checked[Tuning]:
    """The tuning by the choices of a specification.

    Levels that these leave out have thresholds of one that they name.
    """
    findings = FindingsOf("the command")
    for option, given in {"--config": config, "--geography": geography}.items():
        if given is not None:
            findings.error(
                option,
                "it can't be given with a specification, which names its own files. Leave it out.",
            )
    compiled = compile_folder(parameters)
    if compiled.value is None or findings.has_errors:
        return Checked(None, findings.findings + compiled.findings)
    found = compiled.value.config
    families = []
    for one in found.families:
        usual = next(iter(one.thresholds.values()), Thresholds((0,) * len(one.family.finer)))
        thresholds = MappingProxyType({**dict.fromkeys(found.levels, usual), **one.thresholds})
        families.append(replace(one, thresholds=thresholds))
    facts = facts_of_specification(compiled.value)
    return Checked(Tuning(replace(found, families=tuple(families)), facts), compiled.findings)


def config_path(config: str | Path | None, parameters: str | Path | None) -> Path | None:
    """The config.json to read, or None for that of 2020 production."""
    if config is not None:
        return Path(config)
    return None if parameters is None else Path(parameters) / "config.json"
