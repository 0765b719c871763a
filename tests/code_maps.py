"""Maps from codes to groups, made by hand: those of races and of ethnicity."""

from collections.abc import Mapping

from tests.inside import CodeMaps, IterationMap

Groups = Mapping[str, str]


def iteration_map(alone, in_combination, ethnicity, max_race_codes):
    return IterationMap(CodeMaps(in_combination, alone, max_race_codes), CodeMaps(ethnicity, {}, 1))
