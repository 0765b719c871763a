"""The people whom a publication exposes: posteriors, proofs, and how often they are right.

The controls, checks of the attack itself, run with every comparison: a weak attack looks like a
strong protection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.apps.compare.attacks.posterior import DISAGREE, Chances, Effort, posterior
from safetab.apps.compare.attacks.solver import any_fit, proven
from safetab.apps.compare.linear_programs import is_available
from safetab.apps.compare.pages.words import text
from safetab.apps.compare.protections.all_methods import controls_of
from safetab.apps.compare.protections.protection import (
    Floats,
    Known,
    PublishedArea,
    Windows,
    from_chances,
)
from safetab.apps.compare.protections.spec_text import parse
from safetab.apps.compare.protections.steps import publish, windows_of
from safetab.apps.compare.results import Claims, Control, Exposure
from safetab.apps.compare.tables.attacked_area import AttackedArea, System
from safetab.apps.compare.tables.exact_tables import ExactTables, Int64s, PublishedTables, Rows
from safetab.foundation.in_threads import results_in_threads

NAMED, _WORTH_A_PROOF = 0.95, 0.99
_SOLVER_SECONDS = 20.0  # for one group, if nobody sets a limit

_CHECKED_GROUPS = 4  # of the area, those with most people alone in a cell
_CHANGES_NOTHING = controls_of("changes_nothing")
_CHANGES_LITTLE = (*controls_of("changes_little"), "noise of 0.2")
_NEARLY_ALL = 0.8
CHECK_OF_SAFETAB = "SafeTab with a very large budget"
LARGE_SCALE = Fraction(10**6)  # of SafeTab's budgets in its check: the noise is nearly always 0
_WITHHOLDS = controls_of("withholds")
_SEVERAL_KINDS = (*controls_of("tiny_changed"), *controls_of("tiny_withheld"), "noise of 0.8")
_LARGEST_DIFFERENCE = 0.01
_TINY_WORLDS = ((1, 2, 0, 3), (1, 0, 2, 2), (2, 1, 1, 0), (1, 3, 2, 1), (1, 1, 1, 0), (1, 1, 0, 2))
_TINY_NUMBERS = Rows.of_lists([[0], [1], [2], [3], [0, 1], [2, 3], [0, 2], [1, 3], [0, 1, 2, 3]])
_TINY_SHAPE, _TINY_MOST = 0.6, 12


class AttackResult(NamedTuple):
    """The attack's results for one group."""

    chances: Chances | None  # None: the time was up
    proven: Int64s | None = None  # the leaves that are; None if nothing can be
    undecided: int = 0  # leaves that the solver's limit left open


def baseline(area: AttackedArea, seed: int, threads: int = 1) -> Exposure:
    """The people whom the same attacker finds without the tables.

    He knows each group's total in the area.
    """
    windows = [total_alone(system) for system in area.systems]
    publication = PublishedArea(tables=(), windows=windows, can_be_proven=False)
    return exposure(area, findings(area, publication, seed, None, threads), seed)


def total_alone(system: System) -> Windows:
    """Windows of someone who knows the group's total in the whole area, and no other number."""
    is_whole = (np.diff(system.rows.starts) == len(system.truth)) & (system.lines == 0)
    starts = np.append(0, np.cumsum(is_whole))
    return Windows(np.where(is_whole, system.exact.counts, 0), starts, np.zeros(starts[-1]))


def without_truth(system: System) -> System:
    """The system as an attack may look at it: every true count and every record key is 0."""
    nothing = np.zeros_like(system.exact.counts)
    hidden = replace(
        system.exact, counts=nothing, keys=np.zeros_like(system.exact.keys), group_totals=nothing
    )
    return replace(system, truth=np.zeros_like(system.truth), exact=hidden)


def findings(
    area: AttackedArea,
    publication: PublishedArea,
    seed: int,
    seconds: float | None = None,
    threads: int = 1,
) -> list[AttackResult]:
    """The attack's results for each system in this number of seconds. It sees no true count.

    The attacker, the prior, the start and the moves are the same for every publication.
    """
    until = None if seconds is None else monotonic() + seconds

    def finding(place: int) -> AttackResult:
        left = _SOLVER_SECONDS if until is None else until - monotonic()
        if left <= 0:
            return AttackResult(
                None, np.empty(0, dtype=np.int64) if publication.can_be_proven else None
            )
        hidden, windows = without_truth(area.systems[place]), publication.windows[place]
        a_fit = partial(any_fit, hidden, windows, left)
        chances = posterior(hidden, area.shape, windows, [seed, place], Effort(), a_fit)
        if not publication.can_be_proven:
            return AttackResult(chances)
        candidates = hidden.leaves[chances.is_one[hidden.leaves] >= _WORTH_A_PROOF]
        is_proven, undecided = proven(hidden, windows, candidates, left)
        return AttackResult(chances, candidates[is_proven], undecided)

    pieces = [partial(finding, place) for place in range(len(area.systems))]
    first = [piece() for piece in pieces[:1]]  # this thread loads and compiles what the others need
    return [*first, *results_in_threads(pieces[1:], threads)]


def exposure(area: AttackedArea, found: Sequence[AttackResult], seed: int) -> Exposure:
    """The exposure: how often the findings are right. Only this function looks at the truth."""
    chances, counts, present, proven_counts = (list[NDArray[Any]]([np.zeros(0)]) for _ in range(4))
    levels, small_groups = np.array([of_level.level for of_level in area.areas]), 0
    for system, finding in zip(area.systems, found, strict=True):
        truth, of = system.exact.counts, finding.chances
        counts.append(truth[system.leaves])
        chances.append(np.zeros(len(system.leaves)) if of is None else of.is_one[system.leaves])
        smallest = system.totals[levels[system.areas[system.totals]] == area.smallest]
        small_groups += int(np.isin(truth[smallest], (1, 2)).sum())
        if of is not None:
            present.append(truth[smallest[of.is_present[smallest] >= NAMED]])
        if finding.proven is not None:
            proven_counts.append(truth[finding.proven])
    of_leaves, is_unique, totals = (
        np.concatenate(chances),
        np.concatenate(counts) == 1,
        np.concatenate(present),
    )
    called = [finding.chances for finding in found if finding.chances is not None]
    apart, unfit = (
        sum(each.r_hat > DISAGREE for each in called),
        sum(not each.is_finished for each in called),
    )
    late = len(found) - len(called)
    not_finished = {
        "groups that were not attacked, because the time limit was reached": late,
        (
            "groups attacked by bounds alone,"
            " because too few data sets were found that fit everything published"
        ): unfit,
        (
            f"groups in which the attack's two chains do not agree well (R-hat above {DISAGREE})"
        ): apart,
        "cells that may be proven, but the solver's time was up": sum(
            finding.undecided for finding in found
        ),
    }
    has_proofs = any(finding.proven is not None for finding in found)
    by_solver = (
        "propagation and CP-SAT"
        if is_available()
        else "propagation alone: OR-Tools is not installed"
    )
    return Exposure(
        uniques=area.uniques,
        proven=_claims(np.concatenate(proven_counts) == 1) if has_proofs else None,
        named=_claims(is_unique[of_leaves >= NAMED]),
        ranked=_ranked(of_leaves, is_unique, seed),
        # that a larger group is there is what the tables are for
        presence=_claims(totals[totals <= 2] > 0),
        membership=None,
        membership_bound=None,
        small_groups=small_groups,
        r_hat=max((of_group.r_hat for of_group in called), default=None),
        unfinished=late + unfit + apart,
        outside=sum(of_group.outside for of_group in called),
        not_finished=tuple(
            f"{what}: {number:,}." for what, number in not_finished.items() if number
        ),
        proven_by=by_solver if has_proofs else "",
    )


def _claims(is_right: NDArray[np.bool_]) -> Claims:
    return Claims(len(is_right), int(np.count_nonzero(is_right)))


def _ranked(chances: Floats, is_unique: NDArray[np.bool_], seed: int) -> dict[str, Claims]:
    """The likeliest leaves, and how many of them hold one person.

    The seed alone puts equal chances in order.
    """
    by_lot = np.random.default_rng([seed, len(chances)]).random(len(chances))
    order = np.lexsort((by_lot, -chances))
    uniques = int(np.count_nonzero(is_unique))
    sizes = {"100": 100, "500": 500, "uniques": uniques, "500 or uniques": min(500, uniques)}
    return {most: _claims(is_unique[order[:size]]) for most, size in sizes.items()}


def controls(
    area: AttackedArea,
    seed: int,
    exposures: Mapping[str, Exposure] | None = None,
    large_safetab: Callable[[AttackedArea], PublishedArea] | None = None,
) -> tuple[Control, ...]:
    """The checks, on a part of the area and on tiny worlds.

    `exposures` are this comparison's own, by spec. `large_safetab` publishes an area with a very
    large budget, if SafeTab is compared.
    """
    systems = sorted(area.systems, key=lambda system: -len(system.uniques))[:_CHECKED_GROUPS]
    part, trials = replace(area, systems=systems), dict[str, Exposure]()
    for spec in (*_CHANGES_NOTHING, *_CHANGES_LITTLE):
        windows = [
            _published(system, spec, [seed, place])[1] for place, system in enumerate(systems)
        ]
        publication = PublishedArea((), windows, can_be_proven=False)
        trials[spec] = exposure(part, findings(part, publication, seed), seed)
    fewest = min(trials[spec].named.right for spec in _CHANGES_NOTHING)
    of_little = {spec: trials[spec].named.right for spec in _CHANGES_LITTLE}
    of_safetab = _control_of_safetab(area, seed, large_safetab) if large_safetab is not None else ()
    largest = max(map(_difference, range(len(_SEVERAL_KINDS))))
    attacks = [*trials.items(), *(exposures or {}).items()]
    outside = sum(found.outside for _, found in attacks)
    concerned = ", ".join(dict.fromkeys(spec for spec, found in attacks if found.outside))
    tables = [
        _published(each, spec, [seed, at])[0]
        for spec in _WITHHOLDS
        for at, each in enumerate(systems)
    ]
    withheld = [of_system.numbers[~of_system.is_shown] for of_system in tables]
    kept = sum(
        int(np.count_nonzero(~np.ma.getmaskarray(each) | (np.ma.getdata(each) != 0)))
        for each in withheld
    )
    uniques, kinds = part.uniques, ", ".join(_SEVERAL_KINDS)
    nothing = text(
        "check_nothing", specs=", ".join(_CHANGES_NOTHING), uniques=uniques, fewest=fewest
    )
    named = ", ".join(f"{right:,} after {spec}" for spec, right in of_little.items())
    little = text("check_little", uniques=uniques, named=named)
    tiny = text(
        "check_tiny",
        worlds=len(_SEVERAL_KINDS),
        kinds=kinds,
        largest=largest,
        allowed=_LARGEST_DIFFERENCE,
    )
    concerned = f" ({concerned})" if concerned else ""
    inside = text("check_inside", outside=outside, attacks=len(attacks), concerned=concerned)
    no_number = text("check_withheld", kept=kept, withheld=sum(map(len, withheld)))
    of_uniques = (
        Control("protection that changes nothing", nothing, fewest == uniques),
        Control(
            "protection that changes very little",
            little,
            min(of_little.values()) >= _NEARLY_ALL * uniques,
        ),
    )
    return (
        *(of_uniques if uniques else ()),  # where nobody could be named, they could not fail
        *of_safetab,
        Control("sampler and enumeration", tiny, largest < _LARGEST_DIFFERENCE),
        Control("data sets fit what is published", inside, outside == 0),
        Control("withheld numbers have no value", no_number, kept == 0),
    )


def _control_of_safetab(
    area: AttackedArea, seed: int, large_safetab: Callable[[AttackedArea], PublishedArea]
) -> Iterator[Control]:
    """Whether people are named whose cells SafeTab publishes with a very large budget.

    There is no check if it publishes no cell of one person.
    """
    publication, found = large_safetab(area), list[tuple[System, Windows]]()
    for system, tables, windows in zip(
        area.systems, publication.tables, publication.windows, strict=True
    ):
        found.append(
            (replace(system, leaves=system.leaves[tables.is_shown[system.leaves]]), windows)
        )
    found = sorted(found, key=lambda each: -len(each[0].uniques))[:_CHECKED_GROUPS]
    part = replace(area, systems=[system for system, _ in found])
    shown = PublishedArea((), [windows for _, windows in found], can_be_proven=False)
    named = exposure(part, findings(part, shown, seed), seed).named.right
    sentence = text("check_safetab", scale=int(LARGE_SCALE), uniques=part.uniques, named=named)
    if part.uniques:
        yield Control(CHECK_OF_SAFETAB, sentence, named >= _NEARLY_ALL * part.uniques)


def _published(system: System, spec: str, seed: Sequence[int]) -> tuple[PublishedTables, Windows]:
    """One draw of a protection.

    Discrete normal noise is on each leaf; other numbers are not published. Swapping happens to move
    nobody.
    """
    random, exact = np.random.default_rng(seed), system.exact
    known = Known.of(system)
    if not spec.startswith("noise of "):
        protection = parse(spec, Path())
        tables = publish(protection, exact, random)
        windows, moved = windows_of(protection, tables, known), protection.records
        if moved is not None:  # the attacker can't know that nobody left
            windows = moved.windows(windows, known, moved.rate, system.leaves)
        return tables, windows
    noise = np.arange(-8, 9)
    chances = np.exp(-(noise**2) / (2 * float(spec.removeprefix("noise of ")) ** 2))
    chances /= chances.sum()
    numbers = exact.counts + random.choice(noise, len(exact.counts), p=chances)
    is_leaf = np.isin(np.arange(len(numbers)), system.leaves)
    windows = from_chances(numbers + noise[0], np.where(is_leaf[:, None], chances, 0.0), known)
    return PublishedTables.of(numbers, ~is_leaf), windows


def _difference(kind: int) -> float:
    """The largest difference of a chance between the sampler and all data sets.

    The world has two cells in each of two areas.
    """
    counts, rows = np.array(_TINY_WORLDS[kind % len(_TINY_WORLDS)]), _TINY_NUMBERS
    expected = np.array([0.3, 0.5, 0.4, 0.7])
    sums, nothing, most = (
        rows.sums(counts),
        np.zeros(len(rows), dtype=np.int64),
        np.full(len(rows), 100),
    )
    keys = rows.sums(np.random.default_rng(kind).integers(0, 2**64, 4, dtype=np.uint64))
    exact = ExactTables(sums, keys, sums[[4, 4, 5, 5, 4, 5, 8, 8, 8]], most, rows)
    system = System("", "", counts, expected, exact, nothing, nothing, nothing, most, np.arange(4))
    _, windows = _published(system, _SEVERAL_KINDS[kind], [kind, 0])
    found = posterior(system, _TINY_SHAPE, windows, [kind], Effort(records=60_000, rounds=1))
    return float(
        np.abs(np.stack([found.is_one, found.is_present]) - _enumerated(system, windows)).max()
    )


def _enumerated(system: System, windows: Windows) -> Floats:
    """The exact chances that each number is 1, and at least 1.

    All data sets with counts up to 12 are taken, one by one.
    """
    steps = np.arange(1, _TINY_MOST + 1)
    data_sets = np.indices((_TINY_MOST + 1,) * len(system.expected)).reshape(
        len(system.expected), -1
    )
    logs: Floats = np.zeros(data_sets.shape[1])
    for counts, expected in zip(data_sets, system.expected, strict=True):
        prior = np.log(
            (steps - 1 + _TINY_SHAPE) / steps * expected / (expected + _TINY_SHAPE)
        ).cumsum()
        logs += np.append(0.0, prior)[counts]
    sums = system.rows.is_part(len(data_sets)).astype(np.int64) @ data_sets
    for number, of_number in enumerate(sums):
        first, window = windows.of(number)
        if len(window):
            at = np.clip(of_number - first + 1, 0, len(window) + 1)
            logs += np.concatenate([[-np.inf], window, [-np.inf]])[at]
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    return np.stack([(sums == 1) @ chances, (sums >= 1) @ chances])
