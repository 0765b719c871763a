"""The public lists of codes and iterations, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from safetab.census.iterations import CharacteristicIteration, IterationLevel

HIGHEST_RACE_CODE = "8999"


def is_race_code(code: str) -> bool:
    """Whether QRACE1..8 may hold the code; QSPAN may hold any code of the list."""
    return code <= HIGHEST_RACE_CODE


@dataclass(frozen=True, slots=True)
class PublicLists:
    """Codes with their names, iterations in the order of their codes, and the codes inside each iteration."""

    code_names: Mapping[str, str]
    iterations: tuple[CharacteristicIteration, ...]
    codes_of_iteration: Mapping[str, frozenset[str]]

    def tabulated_iterations(self, level: IterationLevel, *, is_substate: bool) -> tuple[CharacteristicIteration, ...]:
        return tuple(
            iteration
            for iteration in self.iterations
            if iteration.level is level and iteration.is_tabulated(is_substate=is_substate)
        )
