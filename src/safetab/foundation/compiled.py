"""Loops over integers, compiled where it pays: a small job does without, and waits for no compiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
_MUCH = 1 << 15
_MUCH_FOR_ARRAYS = 1 << 19
_work_so_far: Counter[Callable[..., object]] = Counter()


def compiled_if_worthwhile(loop: Callable[P, R], work: int, on_arrays: Callable[P, R] | None = None) -> Callable[P, R]:
    """The loop, compiled from the time on when its work in this process pays for that; the result is the same.

    Until then it is what does the same with whole arrays, or else the loop as it stands, which becomes slow sooner.
    """
    if compiling_pays(loop, work, instead_of_arrays=on_arrays is not None):
        return compiled(loop)
    return loop if on_arrays is None else on_arrays


def compiling_pays(loop: Callable[..., object], work: int, *, instead_of_arrays: bool) -> bool:
    """Whether the loop's work in this process, with this, has become much."""
    _work_so_far[loop] += work
    return _work_so_far[loop] >= (_MUCH_FOR_ARRAYS if instead_of_arrays else _MUCH)


@cache
def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """The loop as machine code that releases the interpreter's lock, kept for the next run where that can be written.

    A locked-down machine may let neither the package's folder nor the user's cache be written, or the disk is full, or
    what was kept is damaged: then it is compiled again in each run.
    """
    from safetab.foundation.compiled_cache import KeptLoop, compiled_anew  # noqa: PLC0415 - numba takes a third of a second

    try:
        return cast(Callable[P, R], KeptLoop(loop))  # loops take their arguments by position
    except (RuntimeError, OSError):  # no folder for it, or none that can be put in order
        return compiled_anew(loop)
