"""Folders that belong to one run: private, locked, and removed even if the run was killed."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from safetab.foundation.failures import OF_THE_PATH, refusals_as_run_failed
from safetab.foundation.interrupts import interrupts_held, publishing_for_itself

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ModuleNotFoundError:  # Windows
    HAS_LOCKS = False
else:
    HAS_LOCKS = True

_LOCK_FILE = ".safetab-lock"


class LeftBehind(OSError):  # noqa: N818 - the name is the sentence
    """A folder of the run itself could not be removed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(0, f"{folder} could not be removed. Remove it")


@contextmanager
def locked_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder of mode 0700 with a lock in it, removed at the end in any case.

    Folders that killed runs left are removed first. Raises LeftBehind if everything succeeded
    except the removal.
    """
    clear_abandoned(parent, prefix)
    made: tuple[Path, int] | None = None
    try:
        with interrupts_held():  # one that comes now is answered when the folder is known
            folder, lock = made = _new_locked_folder(parent, prefix)
        yield folder
    except BaseException:
        if made is not None:
            _clear(*made)
        raise
    _clear(folder, lock)
    if os.path.lexists(folder):  # which never raises
        raise LeftBehind(folder)


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A temporary folder in which a check writes files again.

    Nothing in it counts as published.

    Raises RunFailed if there can be none: what is checked is not at fault.
    """
    with suppress(LeftBehind), publishing_for_itself(), ExitStack() as opened:
        with refusals_as_run_failed():
            folder = opened.enter_context(locked_folder(Path(tempfile.gettempdir()), prefix))
        yield folder


def locked_file(path: Path) -> AbstractContextManager[object] | None:
    """A lock on a name, which its end gives back; None if another process has it.

    A file that a killed process left is taken over. Where the system has no such locks (Windows),
    nothing is held.
    """
    while HAS_LOCKS:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            is_there = os.path.lexists(path) and os.path.samestat(
                path.lstat(), os.fstat(descriptor)
            )
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        if is_there:
            held = ExitStack()
            held.callback(os.close, descriptor)
            held.callback(path.unlink, missing_ok=True)
            return held
        os.close(descriptor)  # its last holder has just removed it
    return nullcontext()


def why_no_folder(parent: Path, prefix: str) -> str | None:
    """Why `locked_folder` can't work there, or None.

    It tries, since permissions don't say everything.
    """
    with interrupts_held():
        try:
            folder = tempfile.mkdtemp(prefix=prefix, dir=parent)
        except OSError as error:
            return (
                error.strerror if error.errno in OF_THE_PATH else None
            )  # a machine fault is reported later
        with suppress(OSError):  # another run may have taken it for an abandoned one
            Path(folder).rmdir()
    return None


def clear_abandoned(
    parent: Path, prefix: str, before: Callable[[Path], None] = lambda _: None
) -> None:
    """Remove empty folders with this prefix, and those whose lock is free.

    Killed runs left them.

    `before` may save something from such a folder. Others stay: links, folders of other users, and
    folders without a lock. Where the system has no such locks (Windows), all stay, because
    abandoned ones can't be recognised.
    """
    for folder in parent.glob(f"{glob.escape(prefix)}*") if HAS_LOCKS else ():
        with suppress(OSError):
            _remove_if_abandoned(folder, before)


def _clear(folder: Path, lock: int) -> None:
    with interrupts_held():
        with suppress(OSError):
            _remove(folder)
        with suppress(OSError):
            os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)  # Windows keeps a file that is open


def _remove(folder: Path) -> None:
    """Remove the folder, its lock last, so that the next run recognises a partly removed folder."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _LOCK_FILE:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_if_abandoned(folder: Path, before: Callable[[Path], None]) -> None:
    """Remove the folder. Raises OSError if it is in use or not ours."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(opened).st_uid != os.geteuid():
            return
        with suppress(OSError):
            folder.rmdir()  # works only if it is empty
            return
        lock = os.open(
            _LOCK_FILE, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=opened
        )
        try:
            if stat.S_ISREG(os.fstat(lock).st_mode):
                flock(lock, LOCK_EX | LOCK_NB)
                before(folder)
                _remove(folder)
        finally:
            os.close(lock)
    finally:
        os.close(opened)


def _new_locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = _lock(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if lock is not None:
            return folder, lock


def _lock(folder: Path) -> int | None:
    """The lock of a new folder, held while the descriptor is open.

    None if another run took the folder for an abandoned one before it was locked.
    """
    try:
        lock = os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        return None
    try:
        if HAS_LOCKS:
            flock(lock, LOCK_EX | LOCK_NB)
        if not HAS_LOCKS or os.fstat(lock).st_nlink:
            return lock
    except BlockingIOError:
        pass
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None
