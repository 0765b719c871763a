"""What a configuration means, level by level and in all: the numbers that parameters are chosen by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from safetab.census.geography_levels import TabulationPass
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.config.config_file import read_config_at
from safetab.config.run_config import FamilyConfig, RunConfig
from safetab.foundation.argument_types import checks_arguments
from safetab.foundation.findings import Checked, Finding
from safetab.planning.run_plan import loss_of_config, loss_of_config_pass
from safetab.privacy.composition import PrivacyLoss
from safetab.products.product import TableFamily, Thresholds
from safetab.tuning.level_sizes import Facts, facts_of
from safetab.tuning.presets import production_of_2020
from safetab.tuning.tuned_level import TunedLevel


@dataclass(frozen=True)
class Tuning:
    """A configuration with the facts of its levels. To try another: `tuning.but(max_race_codes=3)`.

    Its levels, with their budgets and thresholds, are those of one table family of the product, the first if none is
    named; losses are of all families together.
    """

    config: RunConfig
    facts: Facts
    named_family: TableFamily | None = None

    @property
    def family(self) -> TableFamily:
        return self.named_family or self.config.families[0].family

    @property
    def of_family(self) -> FamilyConfig:
        """What the configuration gives its family."""
        return self.config.of_family(self.family)

    def by_family(self) -> tuple[Tuning, ...]:
        """The same for each table family of the product."""
        return tuple(replace(self, named_family=one.family) for one in self.config.families)

    def but(self, **changes: object) -> Tuning:
        """The same with other values of the configuration's fields."""
        return replace(self, config=replace(self.config, **changes))  # type: ignore[arg-type]

    def with_budgets(self, budgets: Mapping[PopulationGroupLevel, Fraction]) -> Tuning:
        return self._with(replace(self.of_family, budgets=MappingProxyType({**self.of_family.budgets, **budgets})))

    def with_thresholds(self, thresholds: Mapping[PopulationGroupLevel, Thresholds]) -> Tuning:
        given = MappingProxyType({**self.of_family.thresholds, **thresholds})
        return self._with(replace(self.of_family, thresholds=given))

    def _with(self, changed: FamilyConfig) -> Tuning:
        return self.but(families=tuple(changed if one.family is self.family else one for one in self.config.families))

    @cached_property
    def levels(self) -> Mapping[PopulationGroupLevel, TunedLevel]:
        """Those that are tabulated: their pass runs, and their budget is above 0."""
        tabulated = (level for level in self.config.levels if self.of_family.budgets[level] > 0)
        return MappingProxyType({level: self.level(level) for level in tabulated})

    def level(self, level: PopulationGroupLevel) -> TunedLevel:
        """Also one that is not tabulated."""
        return TunedLevel(self.facts[level], self.config, self.family)

    def levels_of(self, tabulation_pass: TabulationPass) -> Iterator[TunedLevel]:
        return (tuned for level, tuned in self.levels.items() if level.geography.tabulation_pass is tabulation_pass)

    def loss_of(self, tabulation_pass: TabulationPass) -> PrivacyLoss:
        return loss_of_config_pass(self.config, tabulation_pass)

    @property
    def loss(self) -> PrivacyLoss:
        return loss_of_config(self.config)

    def share(self, level: PopulationGroupLevel) -> Fraction:
        """The part of its pass's budget that a level spends on the family."""
        return self.of_family.budgets[level] / self.loss_of(level.geography.tabulation_pass).unbounded

    @property
    def groups(self) -> int:
        return sum(tuned.facts.groups for tuned in self.levels.values())

    @property
    def empty_groups_published(self) -> float:
        return sum(tuned.empty_groups_published for tuned in self.levels.values())


@checks_arguments
def tuning_of(
    config: str | Path | None = None, parameters: str | Path | None = None, geography: str | Path | None = None
) -> Checked[Tuning]:
    """What a configuration means, level by level; `require()` of it gives the `Tuning`, or raises with every finding.

    Without lists or geography the numbers of groups are those of the 2020 Census.

    Args:
        config: A config.json; if left out, that of `parameters`, or the configuration of the 2020 production run.
        parameters: The directory with the lists of codes and iterations.
        geography: A GRF-C file, to count its entities.
    """
    facts = facts_of(None if parameters is None else Path(parameters), None if geography is None else Path(geography))
    findings: tuple[Finding, ...] = facts.findings
    path = config_path(config, parameters)
    read = Checked(production_of_2020(), ()) if path is None else read_config_at(path)
    findings = read.findings + findings
    if facts.value is None or read.value is None:
        return Checked(None, findings)
    return Checked(Tuning(read.value, facts.value), findings)


def config_path(config: str | Path | None, parameters: str | Path | None) -> Path | None:
    """The config.json that is meant; None for the one of 2020 production."""
    if config is not None:
        return Path(config)
    return None if parameters is None else Path(parameters) / "config.json"
