"""Machine code that earlier runs kept: it is used if it is whole, and whatever goes wrong with it costs time alone.

numba's own cache takes a file as it is, fails on one that is cut short, and fails if it can't write.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")
_HASH_ENDING = ".sha256"
_type_of: Callable[[object], Any] = numba.typeof


class KeptLoop:
    """A loop whose machine code numba keeps. Each file has its hash beside it: damaged code would give wrong numbers.

    Loading a file runs what is in it, so a folder that others may write is not used. Raises RuntimeError if there is no
    folder to keep files in, and OSError if there is none of this user's own or a damaged file can't be removed.
    """

    def __init__(self, loop: Callable[..., Any]) -> None:
        self._loop = loop
        self._made: Any = numba.njit(nogil=True, cache=True)(loop)
        self._is_kept, self._times_compiled = True, 0
        self._ready: set[tuple[Any, ...]] = set()
        require_own_folder(Path(self.stats.cache_path))
        for file in self._files():
            if not _is_whole(file):
                file.unlink(missing_ok=True)

    def __call__(self, *given: Any) -> Any:
        if self._is_kept:
            self._make_ready(tuple(map(_type_of, given)))
        return self._made(*given)

    def _make_ready(self, types: tuple[Any, ...]) -> None:
        """Load or compile the code for arguments of these types. The loop itself runs only afterwards, and once."""
        if types in self._ready:
            return
        try:
            self._made.compile(types)
        except Exception:  # the code can't be loaded or kept
            self._made, self._is_kept = compiled_anew(self._loop), False
            return
        self._ready.add(types)
        self._write_new_hashes()

    @property
    def stats(self) -> Any:
        """How often code was kept already, as numba counts it."""
        return self._made.stats

    def _files(self) -> Iterator[Path]:
        code = self._loop.__code__
        return Path(self.stats.cache_path).glob(f"*.{code.co_name}-{code.co_firstlineno}.*.nb[ic]")

    def _write_new_hashes(self) -> None:
        """A process that dies here leaves a file without its hash, which the next one makes again."""
        times_compiled = sum(self.stats.cache_misses.values())
        if times_compiled == self._times_compiled:
            return
        self._times_compiled = times_compiled
        with suppress(OSError):
            for file in self._files():
                unfinished = _hash_file(file).with_suffix(f".{os.getpid()}")
                unfinished.write_text(_hash_of(file))
                unfinished.replace(_hash_file(file))


def require_own_folder(folder: Path) -> None:
    """Raises PermissionError if somebody other than this user and root could put files there."""
    found = folder.stat()
    if found.st_uid not in {0, os.geteuid()} or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{folder} may be written by others")


def compiled_anew(loop: Callable[P, R]) -> Callable[P, R]:
    """The loop as machine code of this process alone."""
    made: Callable[P, R] = numba.njit(nogil=True)(loop)
    return made


def _is_whole(file: Path) -> bool:
    try:
        return _hash_file(file).read_text() == _hash_of(file)
    except (OSError, ValueError):
        return False


def _hash_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _hash_file(file: Path) -> Path:
    return file.with_name(file.name + _HASH_ENDING)
