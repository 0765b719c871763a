"""Loops over integers, compiled where it pays: a large job, never a small one, waits for the compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """The loop as machine code that releases the interpreter's lock, kept for the next run where that can be written.

    A locked-down machine may let neither the package's folder nor the user's cache be written: then it is compiled
    again in each run.
    """
    try:
        return cast(Callable[P, R], numba.njit(nogil=True, cache=True)(loop))
    except RuntimeError:  # no folder for the cache
        return cast(Callable[P, R], numba.njit(nogil=True)(loop))
