"""What goes to Python on the executors, once a run: public lists alone. Imports no Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.census.iteration_map import IterationMap
from safetab.engines.encoding import BlockLookup, Encoding, StateAtoms
from safetab.engines.pattern_table import IterationLists, PatternTable, iteration_lists
from safetab.products.record import RecordLayout

Parts = tuple[StateAtoms, ...]
"""Neighbouring atoms of one state, whose persons are counted together: some parts for each state, in this order."""


@dataclass(frozen=True, slots=True, eq=False)
class SentLists:
    """What encoding and counting persons takes. `keys` has for each part what Spark sends it to a task by."""

    record: RecordLayout
    codes: frozenset[str]
    max_race_codes: int
    states_of_pass: Mapping[TabulationPass, Sequence[int]]
    block_lookup: BlockLookup
    iteration_maps: tuple[IterationMap, ...]
    iteration_number: Mapping[str, int]
    parts: Parts
    keys: tuple[int, ...]

    @classmethod
    def of_encoding(
        cls,
        encoding: Encoding,
        codes: Collection[str],
        states_of_pass: Mapping[TabulationPass, Sequence[int]],
        keys: Sequence[int],
    ) -> SentLists:
        """About as many parts as there are keys, and at least one for each state."""
        parts = parts_of(encoding.states, len(keys))
        return cls(
            encoding.record,
            frozenset(codes),
            encoding.patterns.max_race_codes,
            dict(states_of_pass),
            encoding.block_lookup,
            tuple(map(_without_proxies, encoding.iteration_maps)),
            dict(encoding.iteration_number),
            parts,
            tuple(keys[number * len(keys) // len(parts)] for number in range(len(parts))),
        )

    @property
    def bounds(self) -> NDArray[np.int64]:
        """The first atoms of the parts, rising."""
        return np.array([part.first_atom for part in self.parts], dtype=np.int64)


class SentEncoding(Encoding):
    """The encoding of one task, made of what was sent; its states are the parts that the task counts."""

    def __init__(self, sent: SentLists, numbers: Sequence[int] = ()) -> None:
        self._sent = sent
        self.patterns = PatternTable(sent.max_race_codes)
        self.iteration_number = dict(sent.iteration_number)
        self.states = [sent.parts[number] for number in numbers]
        self.block_lookup = sent.block_lookup

    @property
    def passes(self) -> tuple[TabulationPass, ...]:
        return tuple(self._sent.states_of_pass)

    @property
    def record(self) -> RecordLayout:
        return self._sent.record

    def passes_of_states(self, states: NDArray[np.int32]) -> Mapping[TabulationPass, NDArray[np.bool_]]:
        return {which: np.isin(states, of_pass) for which, of_pass in self._sent.states_of_pass.items()}

    def iteration_lists(self) -> IterationLists:
        return self.lists_of(np.arange(self.patterns.count))

    def lists_of(self, patterns: NDArray[np.int64]) -> IterationLists:
        """Of some patterns alone, which are numbered anew, in their order."""
        return iteration_lists(self.patterns.codes[patterns], self._sent.iteration_maps, self.iteration_number)


def parts_of(states: Sequence[StateAtoms], wanted: int) -> Parts:
    """Each state's atoms in about equal parts, a state with more atoms in more of them."""
    atoms = sum(state.end_atom - state.first_atom for state in states)
    parts = list[StateAtoms]()
    for state in states:
        here = state.end_atom - state.first_atom
        count = max(1, round(wanted * here / atoms))
        bounds = [state.first_atom + here * number // count for number in range(count + 1)]
        parts += [StateAtoms(state.tabulation_pass, *bounds[n : n + 2]) for n in range(count)]
    return tuple(parts)


def _without_proxies(one: IterationMap) -> IterationMap:
    """Dictionaries that can be pickled."""
    return replace(one, alone=dict(one.alone), in_combination=dict(one.in_combination), ethnicity=dict(one.ethnicity))
