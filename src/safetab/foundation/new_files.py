"""Files and folders that appear in one step, or not at all."""

from __future__ import annotations

import ctypes
import errno
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from safetab.foundation.failures import (
    NOTHING_WRITTEN,
    OF_THE_MACHINE,
    RunFailed,
    raise_if_the_machine_failed,
    why_refused,
)
from safetab.foundation.files import resolved
from safetab.foundation.findings import Finding, InvalidInput, Severity, require_none
from safetab.foundation.interrupts import publishing
from safetab.foundation.locked_folder import LeftBehind, locked_folder

_AT_FDCWD = -100
_NO_REPLACE, _EXCHANGE = 1, 2  # from <linux/fs.h>
_CANT = {
    errno.EINVAL,
    errno.ENOSYS,
    errno.ENOTSUP,
    errno.EPERM,
}  # what file systems say that don't know how


class CantBeDone(Exception):  # noqa: N818 - the name is the sentence
    """The system or the file system does not support this."""


def exchange(one: Path, other: Path) -> None:
    """Swap two paths so that neither is ever missing. Raises CantBeDone or OSError."""
    _renamed(one, other, _EXCHANGE)


def move_to_new(source: Path, target: Path) -> None:
    """Rename without replacing. Raises FileExistsError, CantBeDone or OSError."""
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
    """Turn a failure to make a published file durable into a warning."""
    try:
        yield
    except OSError as error:
        if (
            error.errno in OF_THE_MACHINE
        ):  # other errors come from file systems that can't sync a directory
            words = (
                "%s was written, but a power failure could still lose it,"
                " because its folder can't be synced (%s)."
            )
            logging.getLogger("safetab").warning(words, published, error.strerror)


def sync_directory(folder: Path) -> None:
    """Flush the names in a folder to disk, where the system can open a directory."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


Write = Callable[[Path], object]
SIGNATURE_FILES = ("SIGNATURE.json", "SIGNATURE.sig")
"""The files of a signature: its statement and its bytes. Nothing else may be added to an output."""


def write_new_file(file: Path, write: Write, *, overwrite: bool | None = None) -> None:
    """Write a file that appears in one step: `write` gets a temporary path to fill.

    `overwrite` is the user's choice, or None if the command has no such option. Raises InvalidInput
    if the file can't be there and RunFailed if the machine refuses.
    """
    write_new_files({file: write}, overwrite=overwrite)


def write_new_files(writers: Mapping[Path, Write], *, overwrite: bool | None = None) -> None:
    """Write several files so that all appear or none.

    Only SIGKILL between renames can separate them.
    """
    require_none(
        finding for file in writers for finding in new_file_findings(file, overwrite=overwrite)
    )
    with suppress(LeftBehind), ExitStack() as folders:
        written = {file: _written(file, write, folders) for file, write in writers.items()}
        with publishing(), ExitStack() as undone:
            for number, (file, beside) in enumerate(written.items(), start=1):
                with _refusals_about(file):
                    undo = _undo(beside, file) if number < len(written) else lambda: None
                    _publish(beside, file, overwrite=bool(overwrite))
                    undone.callback(_take_back, file, undo)
            undone.pop_all()
        for file in written:
            with refusals_as_warnings(file):
                sync_directory(file.parent)


def _written(file: Path, write: Write, folders: ExitStack) -> Path:
    """The complete file beside its final place, flushed to disk."""
    with _refusals_about(file):
        beside: Path = (
            folders.enter_context(locked_folder(file.parent, f".{file.name}.partial-")) / file.name
        )
        write(beside)
        with beside.open("r+b") as opened:
            os.fsync(opened.fileno())
        return beside


@contextmanager
def _refusals_about(file: Path) -> Iterator[None]:
    """Turn an OSError about a file into a finding, or into RunFailed if the machine failed."""
    try:
        yield
    except FileExistsError:
        message = "already exists: another program created it meanwhile. Choose another name."
        raise InvalidInput.about(file, message) from None
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise RunFailed(f"{file} {_why(error)} {NOTHING_WRITTEN}") from None
        raise InvalidInput.about(file, _why(error)) from None


def new_file_findings(file: Path, *, overwrite: bool | None = None) -> tuple[Finding, ...]:
    """Why the file can't be written, as far as that is known beforehand."""
    try:
        message = _why_not_new(file, overwrite=overwrite)
    except OSError as error:
        raise_if_the_machine_failed(error)
        message = _why(error)
    return () if message is None else (Finding(Severity.ERROR, str(file), "", message),)


def _why_not_new(file: Path, *, overwrite: bool | None) -> str | None:
    """The fault of a path for a new file, as words after its name, or None."""
    if file.is_dir():
        return "is a directory. Give the name of a file."
    if not overwrite and (file.exists() or file.is_symlink()):
        return (
            "already exists. Choose another name"
            f"{'' if overwrite is None else ', or add --overwrite'}."
        )
    if file.exists() and not file.is_file():
        return "is not a regular file, so it is not replaced. Choose another name."
    try:
        file.parent.stat()
    except FileNotFoundError:
        return f"can't be written: there is no folder {file.parent}."
    if file.name not in SIGNATURE_FILES and (around := output_around(file)) is not None:
        return (
            f"is inside {around}, the output of a run, which must not change. Choose another place."
        )
    return None


def output_around(path: Path) -> Path | None:
    """The output of a run, or its release, that contains a path. Nothing may be added to it."""
    return next((folder for folder in resolved(path).parents if is_output_of_run(folder)), None)


def is_output_of_run(folder: Path) -> bool:
    """Whether the folder is the output of a run, or the release in it."""
    manifest = folder / "manifest.json"
    if manifest.is_file() and b'"program": "safetab"' in manifest.read_bytes():
        return True
    return (folder / "datapackage.json").is_file() and (folder / "numbers").is_dir()


def _publish(beside: Path, file: Path, *, overwrite: bool) -> None:
    """Move the file to its place. Without `overwrite`, a file that appeared meanwhile stays."""
    if not overwrite:
        with suppress(CantBeDone):
            move_to_new(beside, file)
            return
        try:
            file.hardlink_to(beside)  # the other name is removed with its folder
        except FileExistsError:
            raise
        except OSError:  # no links here either
            pass
        else:
            return
    beside.replace(file)


def _undo(beside: Path, file: Path) -> Callable[[], object]:
    """A function that restores what was at the file's place before."""
    if not os.path.lexists(file):
        return file.unlink
    kept = beside.with_name(f"{file.name}.before")
    try:
        kept.hardlink_to(file)
    except OSError:  # no links here
        shutil.copy2(file, kept)
    return lambda: kept.replace(file)


def _take_back(file: Path, undo: Callable[[], object]) -> None:
    """Undo the publication of a file. Raises RunFailed if the machine refuses that too."""
    try:
        undo()
    except OSError as error:
        alone = f"{file} was written, without the files that belong to it, and could not be removed"
        raise RunFailed(f"{alone}: {why_refused(error)}") from None


def _why(error: OSError) -> str:
    return f"can't be written: {error.strerror or 'unknown error'}."
