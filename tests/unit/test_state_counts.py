"""What Spark's driver reads off its table of states is what the judge counts person by person."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from tests.engine_inputs import engine_inputs
from tests.random_worlds import write_random_world

from safetab.engines.encoding import Encoding
from safetab.engines.plain import PlainEngine
from safetab.engines.spark.state_counts import StateCounts
from safetab.products.record import RACE_COLUMNS
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.products.safetab_p.tables import PERSONS
from safetab.readers.person_rules import race_codes_of


def test_totals_and_cells_of_nations_and_states_are_those_of_the_judge(tmp_path: Path) -> None:
    inputs = engine_inputs(write_random_world(tmp_path / "world", 3, people=120, max_race_codes=8))
    judge, encoding = PlainEngine(inputs.persons, inputs.files), Encoding(inputs.files)
    assert judge.check() == ()
    judge.prepare()
    rows: Counter[tuple[int, int, int]] = Counter()
    for person in (one for people in judge._of_pass.values() for one in people):
        races = race_codes_of([person[column] for column in RACE_COLUMNS])
        codes = {code for one in encoding.iteration_maps for code in one.iterations_of(races, person["QSPAN"])}
        attribute = PERSON_RECORD.attribute_of(person)
        rows.update((int(person["TABBLKST"]), attribute, encoding.iteration_number[code]) for code in codes)
    states = StateCounts(encoding, *np.array(list(rows)).T, np.array(list(rows.values())))
    levels = [level for level in inputs.plan.levels if not level.level.geography.is_substate]
    assert len(levels) == 6
    for level in levels:
        counted, judged = states.totals(level), judge.totals(level)
        assert counted.indices.tolist() == judged.indices.tolist()
        assert counted.confidential_counts.tolist() == judged.confidential_counts.tolist()
        for first, shape in enumerate(PERSONS.finer):
            wanted = np.arange(first, level.universe.size, 3)
            cells = states.cells(level, shape, wanted)
            assert cells.indices.tolist() == wanted.tolist()
            assert (
                cells.confidential_counts.tolist() == judge._cells_of(level, shape, wanted).confidential_counts.tolist()
            )
