"""What an engine is made of, read from the files of a small world."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

from tests import inside
from tests.inside import (
    PERSONS,
    SAFETAB_P,
    EngineSettings,
    LocalEngine,
    PublicFiles,
    RecordLocation,
    TableFiles,
    find_record_files,
    plan_of,
    read_public_files,
    record_file_names,
)
from tests.plain_engine import PlainEngine
from tests.worlds.people import problems_with


@dataclass(frozen=True)
class EngineInputs:
    files: PublicFiles
    persons: TableFiles

    @cached_property
    def plan(self):
        return plan_of(self.files).require()

    def of_records(self, data):
        """With the records of another folder."""
        return replace(self, persons=_records_in(data, self.files.config.product))


def engine_inputs(world, product=SAFETAB_P):
    files = read_public_files(*world).require()
    files = replace(files, config=replace(files.config, product=product))
    return EngineInputs(files, _records_in(world.data, product))


def _records_in(data, product):
    """What is wrong in them is for the engine to find."""
    return find_record_files(data, product.record).value or record_file_names(data, product.record).require()


def plain_engine(inputs, _):
    return PlainEngine(inputs.persons, inputs.files)


def local_engine(inputs, folder):
    return LocalEngine(inputs.persons, inputs.files, EngineSettings(folder), lambda _: None)


def spark_engine(session, inputs, log=lambda _: None):
    location = RecordLocation.of_files(replace(inputs.persons, rows=None))  # the driver doesn't count them
    return inside.SparkEngine(session, location, inputs.files, log)


def assert_counts_as(judge, engine, inputs):
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
