"""Folders that belong to one run: private, locked, and gone afterwards, even if the run was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def locked_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder of mode 0700 under a lock; removed at the end, whatever happens.

    Folders of the same prefix whose lock is free were left by a run that was killed, and are removed first.
    """
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError), _locked(folder):
            shutil.rmtree(folder, ignore_errors=True)
    folder, lock = _new_locked_folder(parent, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _new_locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """Tries again if another run took the folder for an abandoned one before it was locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with suppress(OSError):
            lock = _lock(folder)
            if folder.exists():
                return folder, lock
            os.close(lock)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    lock = _lock(folder)
    try:
        yield
    finally:
        os.close(lock)


def _lock(folder: Path) -> int:
    """A lock on the folder itself, held as long as the descriptor is open; OSError if somebody else holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
