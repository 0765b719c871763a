"""Moving a folder to its place in one step, where the system can."""

from __future__ import annotations

import ctypes
import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetab.foundation.failures import OF_THE_MACHINE

_AT_FDCWD = -100
_NO_REPLACE, _EXCHANGE = 1, 2  # from <linux/fs.h>
_CANT = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM}  # what file systems say that don't know how


class CantBeDone(Exception):  # noqa: N818 - the name is the sentence
    """The system or the file system has no such step."""


def exchange(one: Path, other: Path) -> None:
    """Each is where the other was, and at no moment is one of the places empty. Raises CantBeDone or OSError."""
    _renamed(one, other, _EXCHANGE)


def move_to_new(source: Path, target: Path) -> None:
    """Raises FileExistsError if something is there, CantBeDone or OSError."""
    _renamed(source, target, _NO_REPLACE)


def _renamed(source: Path, target: Path, flags: int) -> None:
    if sys.platform != "linux":
        raise CantBeDone
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        raise CantBeDone
    if renameat2(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flags):
        number = ctypes.get_errno()
        if number in _CANT:
            raise CantBeDone
        raise OSError(number, os.strerror(number), str(source), None, str(target))


@contextmanager
def refusals_as_warnings(published: Path) -> Iterator[None]:
    """Around what makes it last once it is there: if the machine refuses, that is worth a warning and no failure."""
    try:
        yield
    except OSError as error:
        if error.errno in OF_THE_MACHINE:  # other errors come from file systems that can't sync a directory
            words = "%s was written, but a power failure could still lose it, because its folder can't be synced (%s)."
            logging.getLogger("safetab").warning(words, published, error.strerror)


def sync_directory(folder: Path) -> None:
    """Names in it are on the disk, where the system lets a directory be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
