"""t1 and t2 as they stand after the coterminous step and the rules, apart from those of SafeTab-P itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.outputs.tables import ALL_AGES, T1_COLUMNS, T2_COLUMNS, TableFile
from safetab.products.safetab_p.published_lines import Line, Sex
from safetab.release.numbers.level_numbers import Numbers
from safetab.release.numbers.number_kinds import NumberKinds
from safetab.release.release_universe import LevelFacts, Universe

AFTER_STEPS_FOLDER = "after-steps"
AFTER_STEPS_README = "README.txt"

_README = """t1 and t2 AFTER THE STEPS OF THE RELEASE

These are not SafeTab-P's own tables: those are ../t1 and ../t2.
These are the same tables after the coterminous step and the rules that
../release/README.txt names: copied numbers are here, numbers that a rule raised
to 0 are 0, and a number that a rule withheld has no row. Absent is not zero.
A sum whose parts were clamped or withheld need not be the sum of what is here.
The columns are those of t1 and t2; rows are in the order of ../release.
"""
_T2_SEX = {Sex.MALE: 1, Sex.FEMALE: 2}
_NOT_IN_T2 = -1
_ORDER_OF_ALL_AGES = 127  # after every age: in t2 a marginal follows its ages


class AfterStepsTables:
    """The two files of one pass, written level by level."""

    def __init__(self, output: Path, tabulation_pass: TabulationPass, universe: Universe, kinds: NumberKinds) -> None:
        folder = output / AFTER_STEPS_FOLDER
        folder.mkdir(exist_ok=True)
        (folder / AFTER_STEPS_README).write_text(_README, encoding="utf-8")
        t1, t2 = (f"{table}/{tabulation_pass.value}.csv" for table in ("t1", "t2"))
        self._t1, self._t2 = TableFile(folder / t1, T1_COLUMNS), TableFile(folder / t2, T2_COLUMNS)
        self._files = {f"{AFTER_STEPS_FOLDER}/{t1}": self._t1, f"{AFTER_STEPS_FOLDER}/{t2}": self._t2}
        self._universe = universe
        lines = [kind.line for kind in kinds.kinds]
        self._is_t1 = np.array([line.is_total for line in lines], dtype=np.bool_)
        self._order = np.array([_order_in_t2(line) for line in lines], dtype=np.int64)
        self._sex = np.array([_T2_SEX.get(line.sex, 0) for line in lines], dtype=np.int64)
        ages = [(ALL_AGES, ALL_AGES) if line.cells > 1 else (str(line.age_start), str(line.age_end)) for line in lines]
        self._age_start, self._age_end = (pa.array(bounds, pa.string()) for bounds in zip(*ages, strict=True))

    @property
    def rows(self) -> dict[str, int]:
        return {name: file.rows for name, file in self._files.items()}

    def write(self, facts: LevelFacts, numbers: Numbers) -> None:
        is_shown = ~numbers.is_withheld
        totals = np.flatnonzero(is_shown & self._is_t1[numbers.kinds])
        self._t1.write([*self._groups(facts, numbers.places[totals]), pa.array(numbers.counts[totals])])
        order = self._order[numbers.kinds]
        cells = np.flatnonzero(is_shown & (order != _NOT_IN_T2))
        cells = cells[np.lexsort((order[cells], numbers.places[cells]))]
        kinds = pa.array(numbers.kinds[cells])
        self._t2.write(
            [
                *self._groups(facts, numbers.places[cells]),
                self._age_start.take(kinds),
                self._age_end.take(kinds),
                pa.array(self._sex[numbers.kinds[cells]]),
                pa.array(numbers.counts[cells]),
            ]
        )

    def close(self) -> None:
        self._t1.close()
        self._t2.close()

    def _groups(self, facts: LevelFacts, places: NDArray[np.int64]) -> list[pa.Array]:
        """Region id, region type and iteration code of the groups at these places."""
        width, entities = len(facts.iterations), self._universe.entities[facts.geography]
        positions, entity = np.unique(places // width, return_inverse=True)
        regions = pa.array([entities.region_ids[one] for one in positions.tolist()], pa.string())
        codes = pa.array([one.code for one in facts.iterations], pa.string())
        return [
            regions.take(pa.array(entity)),
            pa.repeat(pa.scalar(facts.geography.label), len(places)),
            codes.take(pa.array(places % width)),
        ]


def _order_in_t2(line: Line) -> int:
    """Males before females, and each sex by age with its marginal last; totals of both sexes are not in t2."""
    if line.sex is Sex.BOTH:
        return _NOT_IN_T2
    return 128 * _T2_SEX[line.sex] + (line.age_start if line.cells == 1 else _ORDER_OF_ALL_AGES)
