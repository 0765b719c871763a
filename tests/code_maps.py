"""Maps from codes to groups, made by hand: those of races and of ethnicity."""

from __future__ import annotations

from collections.abc import Mapping

from tests.inside import CodeMaps, IterationMap

Groups = Mapping[str, str]


def iteration_map(alone: Groups, in_combination: Groups, ethnicity: Groups, max_race_codes: int) -> IterationMap:
    return IterationMap(CodeMaps(in_combination, alone, max_race_codes), CodeMaps(ethnicity, {}, 1))
