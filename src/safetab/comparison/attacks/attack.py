"""Whom one publication exposes: the posterior of every group, what is proven, and how often that is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.attacks.posterior import DISAGREE, Chances, Effort, posterior
from safetab.comparison.attacks.solver import Proofs, any_fit, proven
from safetab.comparison.attacks.unknowns import Unknowns, without_truth
from safetab.comparison.protections.protection import Floats, Publication, Windows
from safetab.comparison.results import Claims, Exposure
from safetab.comparison.tables.attacked_area import AttackedArea, System
from safetab.foundation.in_threads import results_in_threads

NAMED, WORTH_A_PROOF = 0.95, 0.99
_RANKED = (100, 500)
_SOLVER_SECONDS = 20.0  # for one group, if nobody sets a limit


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the attack on one publication may take, if there is a limit, and in how many threads."""

    seconds: float | None = None
    threads: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What the attack found out about one group. None: the time was up."""

    chances: Chances | None
    proofs: Proofs | None = None  # of the leaves that are all but certain
    candidates: NDArray[np.int64] | None = None


def attacked(area: AttackedArea, publication: Publication, seed: int, limits: Limits) -> Exposure:
    """The people whom a publication exposes. Same attacker, prior, start and moves for every publication."""
    return exposure(area, findings(area, publication, seed, limits), seed)


def baseline(area: AttackedArea, seed: int, threads: int = 1) -> Exposure:
    """The people whom the same attacker finds without the tables: he knows each group's total in the area."""
    windows = [total_alone(system) for system in area.systems]
    publication = Publication(tables=(), windows=windows, can_be_proven=False)
    return attacked(area, publication, seed, Limits(None, threads))


def total_alone(system: System) -> Windows:
    """Windows of someone who knows the group's total in the whole area, and no other number."""
    sizes = np.diff(system.rows.starts)
    is_whole = (sizes == len(system.truth)) & (system.lines == 0)
    starts = np.concatenate([[0], np.cumsum(is_whole)])
    return Windows(np.where(is_whole, system.exact.counts, 0), starts, np.zeros(starts[-1]))


def findings(area: AttackedArea, publication: Publication, seed: int, limits: Limits) -> list[Finding]:
    """What the attack finds out about each system. It sees no true count."""
    until = None if limits.seconds is None else monotonic() + limits.seconds

    def finding(place: int) -> Finding:
        left = _SOLVER_SECONDS if until is None else until - monotonic()
        if left <= 0:
            return Finding(None)
        hidden, windows = without_truth(area.systems[place]), publication.windows[place]
        unknowns, a_fit = Unknowns.of(hidden, area.shape), partial(any_fit, hidden, windows, left)
        chances = posterior(unknowns, windows, [seed, place], Effort(), a_fit)
        if not publication.can_be_proven:
            return Finding(chances)
        candidates = hidden.leaves[chances.is_one[hidden.leaves] >= WORTH_A_PROOF]
        return Finding(chances, proven(hidden, windows, candidates, left), candidates)

    return list(results_in_threads((partial(finding, place) for place in range(len(area.systems))), limits.threads))


def exposure(area: AttackedArea, found: Sequence[Finding], seed: int) -> Exposure:
    """How often what was found is right. Only this function looks at the truth."""
    chances, counts, totals_chances, totals, proven_counts = (list[NDArray[Any]]([np.zeros(0)]) for _ in range(5))
    levels = np.array([of_level.level for of_level in area.areas])
    for system, finding in zip(area.systems, found, strict=True):
        counts.append(system.exact.counts[system.leaves])
        chances.append(np.zeros(len(system.leaves)))
        if finding.chances is not None:
            chances[-1] = finding.chances.is_one[system.leaves]
            smallest = system.totals[levels[system.areas[system.totals]] == area.smallest]
            totals.append(system.exact.counts[smallest])
            totals_chances.append(finding.chances.is_present[smallest])
        if finding.proofs is not None and finding.candidates is not None:
            proven_counts.append(system.exact.counts[finding.candidates[finding.proofs.is_proven]])
    of_leaves, is_unique = np.concatenate(chances), np.concatenate(counts) == 1
    present = np.concatenate(totals)[np.concatenate(totals_chances) >= NAMED]
    called = [finding.chances for finding in found if finding.chances is not None]
    proofs = [finding.proofs for finding in found if finding.proofs is not None]
    by_solver = "propagation" if any(each.is_by_propagation_alone for each in proofs) else "propagation and CP-SAT"
    return Exposure(
        uniques=area.uniques,
        proven=_claims(np.concatenate(proven_counts) == 1) if proofs else None,
        named=_claims(is_unique[of_leaves >= NAMED]),
        ranked=_ranked(of_leaves, is_unique, seed),
        presence=_claims(present[present <= 2] > 0),  # that a larger group is there is what the tables are for
        membership=None,
        membership_bound=None,
        r_hat=max((of_group.r_hat for of_group in called), default=None),
        groups_apart=sum(of_group.r_hat > DISAGREE for of_group in called),
        outside=sum(of_group.outside for of_group in called),
        not_finished=_not_finished(found),
        proven_by=by_solver if proofs else "",
    )


def _claims(is_right: NDArray[np.bool_]) -> Claims:
    return Claims(len(is_right), int(np.count_nonzero(is_right)))


def _ranked(chances: Floats, is_unique: NDArray[np.bool_], seed: int) -> dict[int, int]:
    """How many of the likeliest leaves hold one person; the seed alone puts equal chances in order."""
    by_lot = np.random.default_rng([seed, len(chances)]).random(len(chances))
    order = np.lexsort((by_lot, -chances))
    sizes = sorted({*_RANKED, int(np.count_nonzero(is_unique))})
    return {size: int(np.count_nonzero(is_unique[order[:size]])) for size in sizes}


def _not_finished(found: Sequence[Finding]) -> tuple[str, ...]:
    """What was not finished, in sentences."""
    called = [finding.chances for finding in found if finding.chances is not None]
    late = len(found) - len(called)
    no_fit = sum(not chances.is_finished for chances in called)
    apart = sum(chances.r_hat > DISAGREE for chances in called)
    undecided = sum(finding.proofs.not_finished for finding in found if finding.proofs is not None)
    sentences = {
        "groups were not attacked, because the time limit was reached": late,
        "groups were attacked by bounds alone, because no data set was found that fits everything published": no_fit,
        f"groups were attacked by two chains that do not agree well (R-hat above {DISAGREE})": apart,
        "cells may be proven, but the solver's time was up": undecided,
    }
    return tuple(f"{number:,} {what}." for what, number in sentences.items() if number)
