"""Stability: the most population groups of a level that one person can belong to, whoever that person is."""

from __future__ import annotations

from collections import defaultdict

from safetab.census.iteration_map import IterationMap


def stability(iterations: IterationMap) -> int:
    """The exact maximum over every combination of up to `max_race_codes` race codes and one ethnicity code.

    Neighbours: add or remove one person, who then changes at most this many of a level's groups, by one each, because
    the entities of a level are disjoint.
    Spends: nothing; it reads public lists alone.
    Proof: docs/privacy.md#stability.
    """
    return _most_race_iterations(iterations) + (1 if iterations.ethnicity else 0)


def _most_race_iterations(iterations: IterationMap) -> int:
    """Either the codes reach as many in-combination groups as they can, or they all stay inside one alone group."""
    reached_inside: defaultdict[str, set[str]] = defaultdict(set)
    for code, alone in iterations.alone.items():
        reached_inside[alone].update({iterations.in_combination[code]} if code in iterations.in_combination else ())
    most = iterations.max_race_codes
    spread = min(most, len(set(iterations.in_combination.values())))
    return max([spread, *(1 + min(most, len(reached)) for reached in reached_inside.values())])
