"""Censuses counted for a comparison, and protections simple enough to check by hand."""

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.inside import (
    CountedCensus,
    NoProgress,
    NumberStep,
    Protection,
    PublishedTables,
    RunOptions,
    backend_of,
    checked_engine,
    parse,
    read_inputs,
)


@contextmanager
def counted(parameters, data, tables="as-released", options=None):
    """A census with its engine, which is closed afterwards."""
    checked, options = read_inputs(parameters, data), options or RunOptions()
    with backend_of(options) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        yield CountedCensus(checked.require(), engine, NoProgress(), tables, options)


@dataclass(frozen=True)
class Changed(NumberStep):
    """Publishes what a function makes of tables and bits: numbers, and which are withheld."""

    change: object
    largest_error: int | None = None
    is_drawn_again: bool = False

    def protect(self, tables, bits):
        return PublishedTables.of(*self.change(tables, bits))

    def windows(self, published, known):
        raise NotImplementedError


def protection(spec, change=None, largest_error=None, *, is_drawn_again=False, **steps):
    numbers = None if change is None else Changed(change, largest_error, is_drawn_again)
    return Protection(spec, spec, None, numbers=numbers, **steps)


def nearest_5(tables, _):
    return ((tables.counts + 2) // 5 * 5,)


def random_3(tables, bits):
    rest = tables.counts % 3
    return (tables.counts - rest + 3 * (bits.random(len(rest)) < rest / 3),)


def below_20(tables, _):
    return tables.counts, (tables.counts > 0) & (tables.counts < 20)


def by_key(tables, _):
    """Adds 0 or 1 by the key."""
    return (tables.counts + (tables.keys >> np.uint64(63)).astype(int),)


def parsed(spec):
    """The protection of a text that names no file."""
    return parse(spec, Path())
