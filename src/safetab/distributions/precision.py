"""The working precision of interval arithmetic: one for the whole process, so whoever sets it keeps other threads out.

Nothing that is done inside may wait for another thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from flint import ctx

_SETTING = RLock()


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    with _SETTING, ctx.workprec(bits):
        yield


@contextmanager
def extra_precision(bits: int) -> Iterator[None]:
    with _SETTING, ctx.extraprec(bits):
        yield
