"""Which tables groups get where published totals choose: the same in every run."""

from __future__ import annotations

from safetab.assessment.assess import Assessment
from safetab.assessment.pages.sections import plain_table, ways
from safetab.reports.markup import Markup


def chosen_tables(assessment: Assessment) -> Markup:
    """How many groups get which table, where published totals choose."""
    shapes = assessment.levels[0].truth.plan.family.shapes
    made = []
    for level, _, name in ways(assessment):
        chosen, plan = level.truth.chosen, level.truth.plan
        assert chosen is not None
        limits = " / ".join(f"{one:,}" for one in plan.design.thresholds.totals)
        made.append((name, (limits, *(f"{groups:,}" for groups in chosen.sum(axis=(0, 2)).tolist()))))
    headings = ("Level", "thresholds, in people", *(shape.title for shape in shapes))
    return plain_table("Groups by table", headings, made)
