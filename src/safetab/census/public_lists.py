"""The public lists of codes and iterations, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from safetab.census.iterations import CharacteristicIteration, IterationLevel, TabulationList

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
        listed = {one for one in TabulationList if one.is_tabulated(is_substate=is_substate)}
        return tuple(one for one in self.iterations if one.level is level and one.listed in listed)
