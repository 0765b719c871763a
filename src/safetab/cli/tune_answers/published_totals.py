"""Questions about tables that published totals of people choose: thresholds count people, numbers count records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from safetab.cli.text_tables import text_table
from safetab.cli.tune_answers.answer import Answer, concerns_about, keys_of, percent, title_of, unit_of
from safetab.planning.level_design import LevelDesign
from safetab.planning.plan_json import JsonObject, exact
from safetab.products.product import LineKind, Shape
from safetab.tuning.concerns import concerns
from safetab.tuning.questions import ThresholdForError
from safetab.tuning.tuned_level import TunedLevel
from safetab.tuning.tuning import Tuning


def threshold_in_people(
    tuning: Tuning, tuned: TunedLevel, shape: Shape, kind: LineKind, part: Fraction, found: ThresholdForError
) -> Answer:
    """The size that is precise enough, in records, beside the threshold, in people."""
    design, unit, noun = tuned.design, unit_of(tuning.config), tuning.config.product.record.noun
    margin, now = design.margin(kind), design.thresholds.least_total_of(shape, design.family)
    per_record = max(now, 0) / found.size if found.size else None
    what = f"a {kind.name.replace('_', ' ')} of the table with {shape.divisions} {design.family.divided_into}"
    return Answer(
        for_programs={
            **keys_of(tuned),
            "table": shape.label,
            "number": kind.short,
            "confidence": "0.95",
            "unit": unit,
            "margin": margin,
            "relative_margin": exact(part),
            "size": found.size,
            "threshold_unit": "people",
            "threshold_now": now,
            "people_per_record_at_threshold_now": per_record,
        },
        sentences=(
            f"{title_of(tuned)}: {what} has a margin of error of +/- {margin:,} {unit} at 95 %. That is"
            f" {percent(part)} of its average true size from {found.size:,} {unit} on.",
            f"The threshold is compared with the published total of the group's people, of which there are as many as"
            f" {unit} or more.",
            f"The configuration has {now:,} people now"
            + ("." if per_record is None else f": precise enough if there are at most {per_record:,.3g} for a {noun}."),
        ),
        concerns=concerns_about(concerns(tuning), tuned),
    )


def curve_in_people(tuning: Tuning, tuned: TunedLevel, totals: Iterable[int]) -> Answer:
    """Which table a published total chooses, and how precise it is."""
    unit, family = unit_of(tuning.config), tuned.family
    rows = [_at_total(tuned.design, total) for total in totals] or list(_ranges(tuned.design))
    table = text_table("published total\n(people)", "table", "cells", "+/- cell\nat 95 %", "+/- total\nat 95 %")
    for row in rows:
        shape = row.shape
        cell, total = (tuned.design.margin(kind) for kind in (shape.kinds[0], shape.kinds[-1]))
        table.add_row(row.people, shape.label, str(shape.cells), f"{cell:,}", f"{total:,}")
    return Answer(
        for_programs={
            **keys_of(tuned),
            "unit": unit,
            "threshold_unit": "people",
            "totals": [_as_json(row, tuned.design) for row in rows],
        },
        tables=((f"{title_of(tuned)}: what becomes of a group with some published total of people", table),),
        notes=(
            f"Margins are in {unit}. The published total chooses and leaves nothing to chance: no group that has one is"
            f" suppressed, a group that has none is not measured, and every number of {family.name} is unbiased.",
        ),
        concerns=concerns_about(concerns(tuning), tuned),
    )


@dataclass(frozen=True, slots=True)
class _Totals:
    """Published totals that choose one shape, from the first to the last of them; None where there is no end."""

    shape: Shape
    first: int | None
    last: int | None

    @property
    def people(self) -> str:
        if self.first == self.last is not None:
            return f"{self.first:,}"
        if self.first is None:
            return f"up to {self.last:,}"
        return f"from {self.first:,}" if self.last is None else f"{self.first:,} to {self.last:,}"


def _at_total(design: LevelDesign, total: int) -> _Totals:
    reached = sum(total >= threshold for threshold in design.thresholds.totals)
    return _Totals(design.family.shapes[reached], total, total)


def _ranges(design: LevelDesign) -> Iterable[_Totals]:
    """Without shapes that no total can choose, for their threshold is also that of a finer one."""
    firsts, lasts = (None, *design.thresholds.totals), (*(one - 1 for one in design.thresholds.totals), None)
    for shape, first, last in zip(design.family.shapes, firsts, lasts, strict=True):
        if first is None or last is None or first <= last:
            yield _Totals(shape, first, last)


def _as_json(row: _Totals, design: LevelDesign) -> JsonObject:
    margins = {kind.short: design.margin(kind) for kind in row.shape.kinds}
    return {"first": row.first, "last": row.last, "table": row.shape.label, "margins_of_error": margins}
