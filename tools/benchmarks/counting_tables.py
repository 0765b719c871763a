"""Tables that a plain query needs beside the persons.

They have the entity of each block, and the iterations of each set of codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from safetab.core.algorithm.run_plan import LevelPlan
from safetab.inputs.planner import plan_of
from safetab.inputs.public_files import read_public_files
from safetab.model.census.areas import NO_ENTITY
from safetab.model.census.groups import iteration_map_of
from safetab.model.products.bureau_columns import RACE_COLUMNS
from safetab.model.products.record import NO_CODE

CODE_COLUMNS = (*RACE_COLUMNS, "QSPAN")
CHECK_PRIME = 1_000_003
"""The modulus of the weights by which counts are compared.

A group (entity, iteration code) has the weight (31 entity + iteration code) modulo this.
"""


@dataclass(frozen=True, slots=True)
class LevelTables:
    geography: str
    first_threshold: int
    entity_of_block: pa.Table  # block, entity
    iterations_of_codes: pa.Table  # pattern, iteration


class CountingTables:
    def __init__(self, parameters: Path, data: Path) -> None:
        self._files = read_public_files(parameters, data).require()
        self._plan = plan_of(self._files).require()
        self._patterns: dict[tuple[frozenset[str], str], int] = {}

    def numbered(self, codes: pa.Table) -> pa.Table:
        """The distinct combinations of codes with the number of their pattern."""
        combinations = zip(*(codes[column].to_pylist() for column in CODE_COLUMNS), strict=True)
        used = self._files.config.most_answers
        numbers = []
        for *races, ethnicity in combinations:
            given = [code for code in races if code != NO_CODE]
            key = (frozenset(given[:used]), ethnicity)
            numbers.append(self._patterns.setdefault(key, len(self._patterns)))
        return codes.append_column("pattern", pa.array(numbers, pa.int32()))

    def levels(self) -> Iterator[LevelTables]:
        """Of every level that is tabulated, once all codes are numbered."""
        for plan in self._plan.levels:
            geography = plan.level.geography
            blocks = self._files.geography_of_pass[geography.tabulation_pass]
            entities = blocks.number_of_area(geography.kind)
            is_somewhere = entities != NO_ENTITY
            yield LevelTables(
                geography.label,
                plan.design.thresholds.first,
                pa.table(
                    {"block": blocks.smallest[is_somewhere], "entity": entities[is_somewhere]}
                ),
                self._iterations_of_codes(plan),
            )

    def _iterations_of_codes(self, plan: LevelPlan) -> pa.Table:
        iteration_map = iteration_map_of(
            self._files.lists,
            plan.level.iterations,
            plan.level.geography.kind,
            most_answers=self._files.config.most_answers,
        )
        lists = [
            iteration_map.iterations_of(list(races), ethnicity)
            for races, ethnicity in self._patterns
        ]
        patterns = np.repeat(np.arange(len(lists), dtype=np.int32), [len(codes) for codes in lists])
        codes = np.array([int(code) for of_pattern in lists for code in of_pattern], dtype=np.int32)
        return pa.table({"pattern": patterns, "iteration": codes})


def added(of_geography: dict[str, list[int]], geography: str, sums: tuple[int, ...]) -> None:
    """Regional and Detailed groups of a geography level are compared together.

    A table t1 doesn't tell them apart.
    """
    before = of_geography.get(geography, [0] * len(sums))
    of_geography[geography] = [
        first + int(second) for first, second in zip(before, sums, strict=True)
    ]
