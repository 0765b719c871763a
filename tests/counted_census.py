"""Censuses counted for a comparison, and protections simple enough to check by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.inside import (
    AskedTables,
    CountedCensus,
    ExactTables,
    Known,
    NoProgress,
    Protection,
    PublishedTables,
    RunOptions,
    Windows,
    backend_of,
    checked_engine,
    read_inputs,
)


@contextmanager
def counted(
    parameters: Path, data: Path, tables: AskedTables = "as-released", options: RunOptions | None = None
) -> Iterator[CountedCensus]:
    """A census with its engine, which is closed afterwards."""
    checked, options = read_inputs(parameters, data), options or RunOptions()
    with backend_of(options) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        yield CountedCensus(checked.require(), engine, NoProgress(), tables, options)


@dataclass(frozen=True)
class Changed:
    """Publishes what a function makes of tables and bits: numbers, and which are withheld."""

    change: object
    largest_error: int | None = None

    def protect(self, tables: ExactTables, bits: np.random.Generator) -> PublishedTables:
        return PublishedTables.of(*self.change(tables, bits))

    def windows(self, published: PublishedTables, known: Known) -> Windows:
        raise NotImplementedError


def protection(spec: str, change: object = None, largest_error: int | None = None, **steps: object) -> Protection:
    numbers = None if change is None else Changed(change, largest_error)
    return Protection(spec, spec, None, numbers=numbers, **steps)


def nearest_5(tables: ExactTables, _: np.random.Generator) -> tuple:
    return ((tables.counts + 2) // 5 * 5,)


def random_3(tables: ExactTables, bits: np.random.Generator) -> tuple:
    rest = tables.counts % 3
    return (tables.counts - rest + 3 * (bits.random(len(rest)) < rest / 3),)


def below_20(tables: ExactTables, _: np.random.Generator) -> tuple:
    return tables.counts, (tables.counts > 0) & (tables.counts < 20)


def by_key(tables: ExactTables, _: np.random.Generator) -> tuple:
    """Adds 0 or 1 by the key."""
    return (tables.counts + (tables.keys >> np.uint64(63)).astype(np.int64),)
