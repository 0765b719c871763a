"""Sums of estimates, and what has to be said about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from safetab.estimates.estimate import Estimate, percent
from safetab.estimates.linear_form import sum_of_forms
from safetab.estimates.overlaps import overlap_notes
from safetab.estimates.reading.absence import Absence
from safetab.foundation.findings import shortened
from safetab.release.release_universe import Universe

_NAMES_SHOWN = 3


def sum_of_estimates(
    parts: Sequence[Estimate], what: str, notes: tuple[str, ...] = (), absent: tuple[Absence, ...] = ()
) -> Estimate:
    """With its exact noise, whatever the parts share; better totals are added up beside it."""
    answer = Estimate(
        product=parts[0].product,
        universe=parts[0].universe,
        what=what,
        exact_value=sum((part.exact_value for part in parts), Fraction(0)),
        form=sum_of_forms([part.form for part in parts]),
        confidence=parts[0].confidence,
        counted=tuple(one for part in parts for one in part.counted),
        notes=notes,
        combined=_combined(parts, what),
        holds_confidence=all(part.holds_confidence for part in parts),
        absent=absent,
    )
    if not answer.form.selected or not answer.selection_matters:
        return answer
    selected = sum(bool(part.form.selected) for part in parts)
    note = (
        f"{selected:,} of {len(parts):,} are totals that are shown only above a threshold, and the small ones among"
        " them tend to be too large; the interval takes that into account"
    )
    return replace(answer, notes=(*notes, note))


def _combined(parts: Sequence[Estimate], what: str) -> Estimate | None:
    """The sum of each part's best estimate."""
    if all(part.combined is None for part in parts):
        return None
    best = [part.combined or part for part in parts]
    near = sum(bool(part.combined and part.combined.notes) for part in parts)
    return Estimate(
        product=parts[0].product,
        universe=parts[0].universe,
        what=f"{what}, combined",
        exact_value=sum((part.exact_value for part in best), Fraction(0)),
        form=sum_of_forms([part.form for part in best]),
        confidence=parts[0].confidence,
        counted=tuple(one for part in parts for one in part.counted),
        notes=(f"{near:,} of them are near a threshold between tables, and less sure than their noise says",)
        if near
        else (),
        holds_confidence=not near,
    )


def sum_notes(universe: Universe, parts: Sequence[Estimate], absences: Sequence[Absence]) -> tuple[str, ...]:
    """Who is counted twice, and who is missing."""
    counted = [one for part in parts for one in part.counted]
    notes = list(overlap_notes(universe, counted, sum_of_forms([part.form for part in parts])))
    if absences:
        notes.append(
            f"{len(absences):,} of {len(parts) + len(absences):,} are absent and not in this sum, which is not the same"
            f" as zero: {shortened([one.what for one in absences], _NAMES_SHOWN, '; ')}{_at_most(absences)}"
        )
    return tuple(notes)


def _at_most(absences: Sequence[Absence]) -> str:
    """From which size on the suppressed groups would nearly always have been shown."""
    limits = [one.at_most for one in absences if one.at_most is not None]
    if len(limits) < len(absences):
        return ""
    often = percent(absences[0].confidence)
    return f" (with more than {max(limits):,} people each would be shown {often} of the time or more)"
