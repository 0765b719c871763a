"""Folders that belong to one run: private, locked, and gone afterwards, even if the run was killed."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LOCK_FILE = "lock"


@contextmanager
def locked_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder of mode 0700 with a lock in it; removed at the end, whatever happens.

    Folders of the same prefix whose lock is free were left by a run that was killed, and are removed first.
    """
    _remove_abandoned(parent, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        with (folder / _LOCK_FILE).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError), (folder / _LOCK_FILE).open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
