"""Checks of the attack itself, which run with every comparison: a weak attack looks like a strong protection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from safetab.comparison.attacks.attack import Limits, attacked
from safetab.comparison.attacks.posterior import Effort, posterior
from safetab.comparison.attacks.unknowns import Unknowns
from safetab.comparison.protections.protection import Floats, Known, Publication, Windows, from_chances
from safetab.comparison.protections.spec_text import parse
from safetab.comparison.protections.steps import publish, windows_of
from safetab.comparison.results import Control, Exposure
from safetab.comparison.tables.attacked_area import AttackedArea
from safetab.comparison.tables.exact_tables import ExactTables, Int64s, PublishedTables, Rows

_GROUPS = 4  # of the area, those with most people alone in a cell
_CHANGES_NOTHING = ("none", "round:base=1", "round-random:base=1", "suppress:below=1", "threshold:people=1")
_CHANGES_LITTLE = ("cell-key:D=1,V=0.001", "noise of 0.2")
_WITHHOLDS = ("suppress:below=3", "threshold:people=20")
_SEVERAL_KINDS = (
    "round:base=5", "round-random:base=3", "cell-key:D=2,V=0.9", "suppress:below=4", "threshold:people=3",
    "noise of 0.8",
)  # fmt: skip
_LARGEST_DIFFERENCE = 0.01
_TINY_WORLDS = ((1, 2, 0, 3), (1, 0, 2, 2), (2, 1, 1, 0), (1, 3, 2, 1), (1, 1, 1, 0), (1, 1, 0, 2))
_TINY_NUMBERS = Rows.of_lists([[0], [1], [2], [3], [0, 1], [2, 3], [0, 2], [1, 3], [0, 1, 2, 3]])
_TINY_MOST = 12


def controls(area: AttackedArea, seed: int, exposures: Mapping[str, Exposure] | None = None) -> tuple[Control, ...]:
    """The checks, on a part of the area and on tiny worlds; `exposures` are this comparison's own, by spec."""
    systems = sorted(area.systems, key=lambda system: -len(system.uniques))[:_GROUPS]
    part = replace(area, systems=systems)
    nothing, little, withheld = (
        {spec: _publication(part, spec, seed) for spec in specs}
        for specs in (_CHANGES_NOTHING, _CHANGES_LITTLE, _WITHHOLDS)
    )
    trials = {spec: attacked(part, each, seed, Limits()) for spec, each in (nothing | little).items()}
    found = list(trials.values())
    return (
        _everybody_is_named(found[: len(nothing)]),
        _nearly_everybody_is_named(*found[len(nothing) :]),
        _sampler_agrees(),
        _inside([*trials.items(), *(exposures or {}).items()]),
        _withheld_have_no_number([tables for publication in withheld.values() for tables in publication.tables]),
    )


def _publication(part: AttackedArea, spec: str, seed: int) -> Publication:
    both = []
    for place, system in enumerate(part.systems):
        known = Known(system.least, system.most, system.rows.sums(system.expected))
        both.append(_published(spec, system.exact, known, system.leaves, [seed, place]))
    return Publication([tables for tables, _ in both], [windows for _, windows in both], can_be_proven=False)


def _published(
    spec: str, exact: ExactTables, known: Known, leaves: Int64s, seed: Sequence[int]
) -> tuple[PublishedTables, Windows]:
    """One draw of a protection. Discrete normal noise is on each leaf; other numbers are not published."""
    random = np.random.default_rng(seed)
    if not spec.startswith("noise of "):
        protection = parse(spec, Path())
        tables = publish(protection, exact, random)
        return tables, windows_of(protection, tables, known)
    noise = np.arange(-8, 9)
    chances = np.exp(-(noise**2) / (2 * float(spec.removeprefix("noise of ")) ** 2))
    chances /= chances.sum()
    numbers = exact.counts + random.choice(noise, len(exact.counts), p=chances)
    is_leaf = np.isin(np.arange(len(numbers)), leaves)
    windows = from_chances(numbers + noise[0], np.where(is_leaf[:, None], chances, 0.0), known)
    return PublishedTables.of(numbers, ~is_leaf), windows


def _everybody_is_named(found: Sequence[Exposure]) -> Control:
    uniques, fewest = found[0].uniques, min(exposure.named.right for exposure in found)
    sentence = (
        f"Protections that change nothing ({', '.join(_CHANGES_NOTHING)}) were attacked in a part of the area. Of "
        f"{uniques:,} people who are alone in a cell, the attack named at least {fewest:,}; it must name all."
    )
    return Control("protection that changes nothing", sentence, bool(fewest == uniques))


def _nearly_everybody_is_named(cell_key: Exposure, noise: Exposure) -> Control:
    sentence = (
        f"Protections that change very little were attacked in the same part. Of {noise.uniques:,} people, the "
        f"attack named {cell_key.named.right:,} after {_CHANGES_LITTLE[0]}, and {noise.named.right:,} after noise "
        "with a standard deviation of 0.2 on each cell; it must name 80 % or more."
    )
    is_enough = min(cell_key.named.right, noise.named.right) >= 0.8 * noise.uniques
    return Control("protection that changes very little", sentence, bool(is_enough))


def _inside(found: Sequence[tuple[str, Exposure]]) -> Control:
    outside = sum(exposure.outside for _, exposure in found)
    concerned = ", ".join(dict.fromkeys(spec for spec, exposure in found if exposure.outside))
    sentence = (
        f"{outside:,} of the data sets at the beginning and the end of {len(found):,} attacks do not fit what is "
        f"published{f' ({concerned})' if concerned else ''}; it must be 0."
    )
    return Control("data sets fit what is published", sentence, bool(outside == 0))


def _withheld_have_no_number(trials: Sequence[PublishedTables]) -> Control:
    numbers = [tables.numbers[~tables.is_shown] for tables in trials]
    kept = sum(np.count_nonzero(~np.ma.getmaskarray(each) | (np.ma.getdata(each) != 0)) for each in numbers)
    sentence = f"{kept:,} of {sum(map(len, numbers)):,} numbers that a trial withheld have a value; it must be 0."
    return Control("withheld numbers have no number", sentence, bool(kept == 0))


def _sampler_agrees() -> Control:
    largest = max(_difference(np.array(counts), kind) for kind, counts in enumerate(_TINY_WORLDS))
    sentence = (
        f"In {len(_TINY_WORLDS)} tiny worlds ({', '.join(_SEVERAL_KINDS)}) every possible data set was counted. "
        f"The attack's chances differ from the exact ones by at most {largest:.4f}; it must be less than "
        f"{_LARGEST_DIFFERENCE}."
    )
    return Control("sampler and enumeration", sentence, bool(largest < _LARGEST_DIFFERENCE))


def _difference(counts: Int64s, kind: int) -> float:
    """The largest difference of a chance between the sampler and all data sets, two cells in each of two areas."""
    size, leaves = len(_TINY_NUMBERS), np.arange(4)
    expected, sums = np.array([0.3, 0.5, 0.4, 0.7]), _TINY_NUMBERS.sums(counts)
    keys = _TINY_NUMBERS.sums(np.random.default_rng(kind).integers(0, 2**64, 4, dtype=np.uint64))
    totals = sums[[4, 4, 5, 5, 4, 5, 8, 8, 8]]
    exact = ExactTables(sums, keys, totals, np.full(size, 100), _TINY_NUMBERS)
    known = Known(np.zeros(size, dtype=np.int64), np.full(size, 100), _TINY_NUMBERS.sums(expected))
    _, windows = _published(_SEVERAL_KINDS[kind], exact, known, leaves, [kind, 0])
    unknowns = Unknowns(expected, 0.6, _TINY_NUMBERS, leaves, known.least, known.most)
    found = posterior(unknowns, windows, [kind], Effort(records=60_000, rounds=1))
    is_one, is_present = _enumerated(unknowns, windows)
    return float(max(np.abs(found.is_one - is_one).max(), np.abs(found.is_present - is_present).max()))


def _enumerated(unknowns: Unknowns, windows: Windows) -> tuple[Floats, Floats]:
    """The exact chances that each number is 1, and at least 1: all data sets with counts up to 12, one by one."""
    shape, steps = unknowns.shape, np.arange(1, _TINY_MOST + 1)
    data_sets = np.indices((_TINY_MOST + 1,) * len(unknowns.expected)).reshape(len(unknowns.expected), -1)
    logs: Floats = np.zeros(data_sets.shape[1])
    for counts, expected in zip(data_sets, unknowns.expected, strict=True):
        prior = np.log((steps - 1 + shape) / steps * expected / (expected + shape)).cumsum()
        logs += np.concatenate([[0.0], prior])[counts]
    starts = unknowns.numbers.starts
    sums = [data_sets[unknowns.numbers.members[a:b]].sum(axis=0) for a, b in pairwise(starts)]
    for number, of_number in enumerate(sums):
        first, window = windows.of(number)
        if len(window):
            at = np.clip(of_number - first + 1, 0, len(window) + 1)
            logs += np.concatenate([[-np.inf], window, [-np.inf]])[at]
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    return np.array([chances @ (of == 1) for of in sums]), np.array([chances @ (of >= 1) for of in sums])
