"""Loops over integers, compiled to machine code, always or only where it pays.

Machine code that earlier runs kept is used if it is whole; a fault in it costs only time. numba's
own cache takes a file as it is, fails on one that is cut short, and fails if it can't write.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, ParamSpec, TypeVar, cast

_P = ParamSpec("_P")
_R = TypeVar("_R")
_LEAST_WORK_TO_COMPILE = 1 << 15
_LEAST_WORK_INSTEAD_OF_ARRAYS = 1 << 19
_work_so_far: Counter[Callable[..., object]] = Counter()
_one_at_a_time = Lock()


def compiled_if_worthwhile(
    loop: Callable[_P, _R], work: int, on_arrays: Callable[_P, _R] | None = None
) -> Callable[_P, _R]:
    """The loop, compiled once its work in this process pays for that; the result is the same.

    Until then, `on_arrays`, which does the same with whole arrays, or else the interpreted loop,
    which becomes slow sooner.
    """
    if compiling_pays(loop, work, instead_of_arrays=on_arrays is not None):
        return compiled(loop)
    return partial(_interpreted, loop) if on_arrays is None else on_arrays


def _interpreted(loop: Callable[..., _R], *given: Any) -> _R:
    """Run the loop on the arrays' memory, whose elements are plain integers.

    Arrays would wrap each element.
    """
    return loop(*map(_plain_memory, given))


def _plain_memory(given: Any) -> Any:
    """An array as a memoryview, also inside a tuple, and anything else as it is."""
    if not isinstance(given, tuple):
        return memoryview(given) if hasattr(given, "__array__") and given.shape else given
    parts = map(_plain_memory, given)
    return (
        tuple(parts) if type(given) is tuple else type(given)(*parts)
    )  # a named tuple takes its fields


def compiling_pays(loop: Callable[..., object], work: int, *, instead_of_arrays: bool) -> bool:
    """Whether the loop's work in this process, this call included, pays for compiling it."""
    _work_so_far[loop] += work
    return _work_so_far[loop] >= (
        _LEAST_WORK_INSTEAD_OF_ARRAYS if instead_of_arrays else _LEAST_WORK_TO_COMPILE
    )


def load_compiler(work: int) -> None:
    """Load what compiles, in this thread, if loops with so much work are to be compiled.

    It takes memory, and where there is too little left it tries again for ever without answering
    Ctrl-C. So it is loaded before the records are, and before other threads start.
    """
    if work >= _LEAST_WORK_TO_COMPILE:
        _load_compiler()


@cache
def _load_compiler() -> None:
    _numba().njit(nogil=True)(_nothing)()  # the first compilation loads the rest


def _nothing() -> None:
    pass


@cache
def compiled(loop: Callable[_P, _R]) -> Callable[_P, _R]:
    """The loop as machine code that releases the interpreter's lock.

    It is kept for the next run. If it can't be (the user's cache is not writeable, or the disk is
    full) or if what was kept is damaged, the loop is compiled again.
    """
    try:
        return cast(Callable[_P, _R], _KeptLoop(loop))  # loops take their arguments by position
    except (RuntimeError, OSError):  # no folder for it, or a damaged file that can't be removed
        return _compiled_anew(loop)


@cache
def _numba() -> Any:
    import numba  # noqa: PLC0415 - loads slowly

    return numba


@contextmanager
def _outside_the_package() -> Iterator[Path]:
    """Let numba keep machine code outside the package, in the folder that is yielded.

    It is the user's cache, or the folder of `NUMBA_CACHE_DIR`. In the installed package, where
    numba would keep it, it would outlive the package.
    """
    own = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "safetab"
    with _one_at_a_time:
        settings = _numba().config
        given = settings.CACHE_DIR
        settings.CACHE_DIR = given or str(own)
        if not given:
            with suppress(OSError):  # found when the folder is used
                own.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            yield Path(settings.CACHE_DIR)
        finally:
            settings.CACHE_DIR = given


class _KeptLoop:
    """A loop whose machine code numba keeps.

    Each file has its hash beside it, because damaged code would give wrong numbers. Loading a file
    runs its content, so a folder that others may write to is not used. Raises RuntimeError if there
    is no folder to keep files in, and OSError if it is not this user's own or a damaged file can't
    be removed.
    """

    def __init__(self, loop: Callable[..., Any]) -> None:
        self._loop = loop
        with _outside_the_package() as kept:
            self._made: Any = _numba().njit(nogil=True, cache=True)(loop)
        self._is_kept = True
        self._times_compiled = 0
        self._ready: set[tuple[Any, ...]] = set()
        folder = Path(self.stats.cache_path)
        if not folder.is_relative_to(kept):
            raise PermissionError(f"{kept} can't be written")
        _require_own(kept, folder, self._files())
        for file in self._files():
            if not _is_whole(file):
                file.unlink(missing_ok=True)

    def __call__(self, *given: Any) -> Any:
        if self._is_kept and (forms := _form_of(given)) not in self._ready:
            self._make_ready(given)
            self._ready.add(forms)
        return self._made(*given)

    def _make_ready(self, given: tuple[Any, ...]) -> None:
        """Load or compile the code for arguments of these types, without running the loop."""
        try:
            self._made.compile(tuple(map(_numba().typeof, given)))
        except Exception:  # the code can't be loaded or kept
            self._made = _compiled_anew(self._loop)
            self._is_kept = False
            return
        self._write_new_hashes()

    @property
    def stats(self) -> Any:
        """The number of times that kept code was found, as numba counts it."""
        return self._made.stats

    def _files(self) -> Iterator[Path]:
        code = self._loop.__code__
        return Path(self.stats.cache_path).glob(f"*.{code.co_name}-{code.co_firstlineno}.*.nb[ic]")

    def _write_new_hashes(self) -> None:
        """Write a hash beside each new file.

        A file without one is made again by the next process.
        """
        times_compiled = sum(self.stats.cache_misses.values())
        if times_compiled == self._times_compiled:
            return
        self._times_compiled = times_compiled
        with suppress(OSError):
            for file in self._files():
                unfinished = _hash_file(file).with_suffix(f".{os.getpid()}")
                unfinished.write_text(_hash_of(file))
                unfinished.replace(_hash_file(file))


def _require_own(kept: Path, folder: Path, files: Iterable[Path]) -> None:
    """Raise PermissionError if others may change machine code.

    They may by its files, their folder or the one around it.
    """
    around = kept.stat()
    if around.st_uid == os.geteuid() and not around.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return  # nobody else gets in
    for path in (kept, folder, *files):
        found = path.stat()
        is_sticky = (
            path == kept and found.st_mode & stat.S_ISVTX
        )  # others can't replace what is in it
        if found.st_uid not in {0, os.geteuid()} or (
            found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_sticky
        ):
            raise PermissionError(f"{path} may be written by others")


def _form_of(given: Any) -> Any:
    """Whatever numba derives a type from.

    Asking numba each time would cost more than many a loop.
    """
    if isinstance(given, tuple):
        return (type(given), *map(_form_of, given))
    if not hasattr(given, "flags"):
        return type(given)
    flags = given.flags
    layout = (flags.c_contiguous, flags.f_contiguous, flags.aligned, flags.writeable)
    return (type(given), given.dtype, given.ndim, layout)


def _compiled_anew(loop: Callable[_P, _R]) -> Callable[_P, _R]:
    """The loop as machine code that only this process has."""
    made: Callable[_P, _R] = _numba().njit(nogil=True)(loop)
    return made


def _is_whole(file: Path) -> bool:
    try:
        return _hash_file(file).read_text() == _hash_of(file)
    except (OSError, ValueError):
        return False


def _hash_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _hash_file(file: Path) -> Path:
    return file.with_name(file.name + ".sha256")
