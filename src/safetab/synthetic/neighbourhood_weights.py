"""How likely each code is in each neighbourhood: groups gather, as they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.random import Generator

from safetab.synthetic.blocks import Neighbourhoods
from safetab.synthetic.demo_codes import ReportedCode
from safetab.synthetic.demo_states import STATES, HomeArea
from safetab.synthetic.weighted_choice import Integers

_RESOLUTION = 100
_SMALL_GROUP = 300  # of 10,000 in the state: a smaller group lives mostly in a few tracts, a larger one everywhere


def state_weights(codes: Sequence[ReportedCode]) -> Integers:
    """One row per state, one column per code."""
    return np.array([code.weights for code in codes], dtype=np.int64).T


def gathered_weights(codes: Sequence[ReportedCode], neighbourhoods: Neighbourhoods, random: Generator) -> Integers:
    """One row per neighbourhood, one column per code; on average over a state about the state's own weights."""
    of_state = state_weights(codes)[neighbourhoods.state_position]
    luck = random.random((neighbourhoods.count, len(codes)))
    spread_out, gathered = 1000 / (luck + 0.5), 1000 / ((luck + 0.04) * (luck + 0.04))
    crowding = np.where(of_state < _SMALL_GROUP, gathered, spread_out).astype(np.int64)
    weights = np.zeros_like(crowding)
    for position in range(len(STATES)):
        inside = neighbourhoods.state_position == position
        average_of = crowding[inside].sum(axis=0)
        weights[inside] = of_state[inside] * _RESOLUTION * crowding[inside] * inside.sum() // average_of
    return weights


def with_home_areas(
    weights: Integers, codes: Sequence[str], neighbourhoods: Neighbourhoods, homes: Mapping[str, HomeArea]
) -> Integers:
    """The weights, where in each home area the people whose home it is have their share of the whole."""
    changed = weights.copy()
    for aiannh, home in homes.items():
        inside = neighbourhoods.aiannh == int(aiannh)
        whole = weights[inside].sum(axis=1)
        changed[inside] = weights[inside] * (100 - home.percent) // 100
        changed[inside, codes.index(home.race_code)] += whole * home.percent // 100
    return changed
