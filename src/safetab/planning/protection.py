"""What is said of a plan whose noise protects nobody."""

from __future__ import annotations

from collections.abc import Collection

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.privacy.output_status import SYNTHETIC_MARKER


def no_protection(unprotected_levels: Collection[PopulationGroupLevel]) -> str | None:
    """Which levels have noise that is mostly 0, and what follows; nothing if there are none."""
    if not unprotected_levels:
        return None
    count = len(unprotected_levels)
    where = ", ".join(map(str, unprotected_levels))
    return (
        f"No protection at {count} {'level' if count == 1 else 'levels'}: {where}. The noise there is 0 more often than"
        " not, so a published number would more likely be exact than not. `safetab run` refuses such budgets: make them"
        f" smaller. It accepts them only for people who do not exist (DATA holds them and a file {SYNTHETIC_MARKER}),"
        " and its output is then not for release."
    )
