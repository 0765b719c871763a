"""What the page knows when it is written: levels, groups, stabilities, and the configurations to start from."""

from __future__ import annotations

from collections.abc import Mapping

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.config.config_file import budget_key, threshold_key
from safetab.foundation.version import VERSION
from safetab.planning.losses import reference_loss
from safetab.privacy.loss_text import loss_text
from safetab.privacy.reference import FAR_ABOVE
from safetab.products.safetab_p.safetab_p import SAFETAB_P
from safetab.products.safetab_p.tables import PERSONS
from safetab.tuning.concerns import NO_PROTECTION
from safetab.tuning.level_sizes import Facts, LevelSizes
from safetab.tuning.presets import presets

JsonObject = dict[str, object]


def level_key(level: PopulationGroupLevel) -> str:
    """How the page calls a level: "COUNTY,2"."""
    return f"{level.geography.label},{int(level.iterations)}"


def page_facts(facts: Facts, source: str, loaded_config: str | None) -> JsonObject:
    """`source` says where the numbers of groups are from; `loaded_config` is the text of a valid config.json."""
    configs: Mapping[str, str] = presets() if loaded_config is None else {"loaded config": loaded_config, **presets()}
    return {
        "version": VERSION,
        "source": source,
        "levels": [_level(of_level) for of_level in facts.values()],
        "reference": _reference(),
        "no_protection": NO_PROTECTION,
        "presets": [{"name": name, "config": text} for name, text in configs.items()],
    }


def _reference() -> JsonObject:
    loss = reference_loss(SAFETAB_P)
    return {
        "name": SAFETAB_P.reference.name,
        "unbounded": loss_text(loss.unbounded),
        "bounded": loss_text(loss.bounded),
        "unbounded_epsilon": loss_text(loss.unbounded_epsilon),
        "bounded_epsilon": loss_text(loss.bounded_epsilon),
        "costliest_level": loss_text(SAFETAB_P.reference.costliest_level),
        "far_above": FAR_ABOVE,
    }


def _level(facts: LevelSizes) -> JsonObject:
    level = facts.level
    return {
        "key": level_key(level),
        "pass": level.geography.tabulation_pass.value,
        "geography": level.geography.label,
        "place": level.geography.entity_kind.noun,
        "iterations": level.iterations.label,
        "iteration_level": int(level.iterations),
        "is_substate": level.geography.is_substate,
        "entities": facts.entities,
        "adaptive_iterations": facts.lists.iterations.adaptive,
        "total_only_iterations": facts.lists.iterations.total_only,
        "stability": list(facts.lists.stability_by_codes),
        "budget_key": budget_key(SAFETAB_P, PERSONS, level),
        "threshold_key": threshold_key(level),
    }
