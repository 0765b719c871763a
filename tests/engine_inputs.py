"""What an engine is made of, read from the files of a small world."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

from tests import inside
from tests.inside import (
    PERSONS,
    SAFETAB_P,
    CountingEngine,
    EngineSettings,
    LocalEngine,
    Product,
    PublicFiles,
    RecordLocation,
    RunPlan,
    TableFiles,
    find_record_files,
    plan_of,
    read_public_files,
    record_file_names,
)
from tests.plain_engine import PlainEngine
from tests.worlds.people import problems_with
from tests.worlds.world import World


@dataclass(frozen=True)
class EngineInputs:
    files: PublicFiles
    persons: TableFiles

    @cached_property
    def plan(self) -> RunPlan:
        return plan_of(self.files).require()

    def of_records(self, data: Path) -> EngineInputs:
        """With the records of another folder."""
        return replace(self, persons=_records_in(data, self.files.config.product))


def engine_inputs(world: World, product: Product = SAFETAB_P) -> EngineInputs:
    files = read_public_files(*world).require()
    files = replace(files, config=replace(files.config, product=product))
    return EngineInputs(files, _records_in(world.data, product))


def _records_in(data, product):
    """What is wrong in them is for the engine to find."""
    return find_record_files(data, product.record).value or record_file_names(data, product.record).require()


def plain_engine(inputs: EngineInputs, _: Path) -> CountingEngine:
    return PlainEngine(inputs.persons, inputs.files)


def local_engine(inputs: EngineInputs, folder: Path) -> CountingEngine:
    return LocalEngine(inputs.persons, inputs.files, EngineSettings(folder), lambda _: None)


def spark_engine(session, inputs: EngineInputs, log=lambda _: None) -> CountingEngine:
    location = RecordLocation.of_files(replace(inputs.persons, rows=None))  # the driver doesn't count them
    return inside.SparkEngine(session, location, inputs.files, log)


def assert_counts_as(judge: CountingEngine, engine: CountingEngine, inputs: EngineInputs) -> None:
    """Findings, records of passes, totals, and cells of every third group."""
    found = engine.check()
    assert found == judge.check()
    assert problems_with(found) == ()
    assert engine.prepare() == judge.prepare()
    for level in inputs.plan.levels:
        counts = [(engine.totals(level), judge.totals(level))]
        wanted = {shape: np.arange(first, level.universe.size, 3) for first, shape in enumerate(PERSONS.finer)}
        cells, judged = engine.cells(level, wanted), judge.cells(level, wanted)
        for one, other in [*counts, *((cells[shape], judged[shape]) for shape in wanted)]:
            assert one.indices.tolist() == other.indices.tolist()
            assert one.confidential_counts.tolist() == other.confidential_counts.tolist()


SPARK_MARKS = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # sockets of PySpark's own
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
