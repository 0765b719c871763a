"""Folders that belong to one run: private, locked, and gone afterwards, even if the run was killed."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ModuleNotFoundError:  # Windows
    HAS_LOCKS = False
else:
    HAS_LOCKS = True

_LOCK_FILE = ".safetab-lock"


class _TakenByAnother(Exception):  # noqa: N818 - the name is the sentence
    """Another run took the folder for an abandoned one before it was locked."""


@contextmanager
def locked_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder of mode 0700 with a lock in it; removed at the end, whatever happens.

    Folders of the same prefix whose lock is free, or that are empty, were left by a run that was killed: they are
    removed first. Others of that name are not ours and stay. Where the system has no such locks (Windows), nobody knows
    whether a folder was left, and all stay.
    """
    for folder in parent.glob(f"{glob.escape(prefix)}*") if HAS_LOCKS else ():
        _remove_if_abandoned(folder)
    folder, lock = _new_locked_folder(parent, prefix)
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)  # Windows keeps a file that is open


def _remove(folder: Path) -> None:
    """The lock goes last: whoever is killed in between leaves a folder that the next run knows for abandoned."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _LOCK_FILE:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_if_abandoned(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()  # works only if it is empty
        return
    with suppress(OSError):
        lock = os.open(folder / _LOCK_FILE, os.O_RDWR)
        try:
            flock(lock, LOCK_EX | LOCK_NB)
            _remove(folder)
        finally:
            os.close(lock)


def _new_locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            return folder, _lock(folder)
        except _TakenByAnother:
            continue
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _lock(folder: Path) -> int:
    """The lock of a new folder, held as long as the descriptor is open."""
    try:
        lock = os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        raise _TakenByAnother from None
    try:
        if not HAS_LOCKS:
            return lock
        flock(lock, LOCK_EX | LOCK_NB)
        if os.fstat(lock).st_nlink == 0:
            raise _TakenByAnother
    except BlockingIOError:
        os.close(lock)
        raise _TakenByAnother from None
    except (_TakenByAnother, OSError):
        os.close(lock)
        raise
    return lock
