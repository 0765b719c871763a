"""For the curator's eyes alone: whether published totals select groups that any record is in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from safetab.engines.contract import CountingEngine
from safetab.planning.run_plan import LevelPlan, RunPlan


def passes_without_selected_records(plan: RunPlan, engine: CountingEngine) -> Iterator[str]:
    """A sentence for each pass none of whose records is in a group that has a published total.

    Depends on the records without noise, so that it may go to the confidential log and nowhere else: it decides neither
    what a command says nor how it ends. Nothing if no published totals choose groups. The records are checked.
    Proof: docs/privacy.md#nobody.
    """
    if all(level.selected is None for level in plan.levels):
        return
    engine.prepare()
    nouns = plan.config.product.record.nouns
    for one in plan.config.passes:
        if not any(_has_a_record(level, engine) for level in plan.levels_of(one)):
            yield (
                f"none of the {nouns} of the {one.value.upper()} pass is in any group with a published total."
                " These are probably totals of other people."
            )


def _has_a_record(level: LevelPlan, engine: CountingEngine) -> bool:
    if level.selected is None or not len(level.selected.indices) or not level.design.stages:
        return False
    return bool(np.isin(level.selected.indices, engine.totals(level).indices).any())
