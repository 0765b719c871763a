"""What a plan costs beside the 2020 Census, in words, where it is far more."""

from __future__ import annotations

from collections.abc import Iterator

from safetab.planning.run_plan import RunPlan
from safetab.privacy.reference import level_far_above, total_far_above


def privacy_warnings(plan: RunPlan) -> Iterator[str]:
    """The whole run first, then level by level; a public fact, as the plan is."""
    definition, product = plan.config.privacy_definition, plan.config.product
    total = total_far_above(product, definition, plan.loss.unbounded)
    if total is not None:
        yield total
    for level in plan.levels:
        sentence = level_far_above(product, definition, level.design.budget)
        if sentence is not None:
            yield f"{level}: {sentence}"
