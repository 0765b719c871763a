"""New files, whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from safetab.foundation.failures import NOTHING_WRITTEN, OF_THE_MACHINE, RunFailed, raise_if_the_machine_failed
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.foundation.interrupts import publishing
from safetab.foundation.locked_folder import LeftBehind, locked_folder
from safetab.foundation.moved_folder import CantBeDone, move_to_new, refusals_as_warnings, sync_directory
from safetab.foundation.whole_path import resolved

Write = Callable[[Path], object]
_MUST_NOT_CHANGE = "the output of a run, which must not change."


def write_new_file(file: Path, write: Write, *, overwrite: bool | None = None) -> None:
    """What `write` puts at the path it is given appears as `file`, in one step.

    `overwrite` is what the user said; None if the command doesn't ask. Raises InvalidInput if the file can't be there,
    RunFailed if the machine refuses.
    """
    write_new_files({file: write}, overwrite=overwrite)


def write_new_files(writers: Mapping[Path, Write], *, overwrite: bool | None = None) -> None:
    """The same of several files: all of them appear, or none. Only SIGKILL can part them, between two renames."""
    refused = [one for file in writers for one in new_file_findings(file, overwrite=overwrite)]
    if refused:
        raise InvalidInput(refused)
    with suppress(LeftBehind), ExitStack() as folders:
        written = {file: _written(file, write, folders) for file, write in writers.items()}
        with publishing(), ExitStack() as undone:
            for number, (file, beside) in enumerate(written.items(), start=1):
                with _refusals_about(file):
                    undo = _undo(beside, file) if number < len(written) else lambda: None
                    _publish(beside, file, overwrite=bool(overwrite))
                    undone.callback(undo)
            undone.pop_all()
        for file in written:
            with refusals_as_warnings(file):
                sync_directory(file.parent)


def _written(file: Path, write: Write, folders: ExitStack) -> Path:
    """The file beside its place, whole and on the disk."""
    with _refusals_about(file):
        beside: Path = folders.enter_context(locked_folder(file.parent, f".{file.name}.partial-")) / file.name
        write(beside)
        _sync(beside)
        return beside


@contextmanager
def _refusals_about(file: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise InvalidInput(
            [_refusal(file, "already exists: another program created it meanwhile. Choose another name.")]
        ) from None
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise RunFailed(f"{file} {_why(error)} {NOTHING_WRITTEN}") from None
        raise InvalidInput([_refusal(file, _why(error))]) from None


def new_file_findings(file: Path, *, overwrite: bool | None = None) -> tuple[Finding, ...]:
    """Why the file can't be there, as far as that is known before anything is written."""
    try:
        if file.is_dir():
            return (_refusal(file, "is a directory. Give the name of a file."),)
        if not overwrite and (file.exists() or file.is_symlink()):
            choice = "" if overwrite is None else ", or add --overwrite"
            return (_refusal(file, f"already exists. Choose another name{choice}."),)
        if file.exists() and not file.is_file():
            return (_refusal(file, "is not a regular file, so it is not replaced. Choose another name."),)
        file.parent.stat()
        if (around := output_around(file)) is not None:
            return (_refusal(file, f"is inside {around}, {_MUST_NOT_CHANGE} Choose another place."),)
    except OSError as error:
        raise_if_the_machine_failed(error)
        return (_refusal(file, _why(error)),)
    return ()


def output_around(path: Path) -> Path | None:
    """The output of a run, or the release in it, that lies around a path: with anything new in it, it is refused."""
    return next((folder for folder in resolved(path).parents if is_output_of_run(folder)), None)


def is_output_of_run(folder: Path) -> bool:
    """Whether it is the output of a run, or the release in it."""
    manifest = folder / "manifest.json"
    if manifest.is_file() and b'"program": "safetab"' in manifest.read_bytes():
        return True
    return (folder / "datapackage.json").is_file() and (folder / "numbers").is_dir()


def _sync(file: Path) -> None:
    with file.open("r+b") as opened:
        os.fsync(opened.fileno())


def _publish(beside: Path, file: Path, *, overwrite: bool) -> None:
    """Without `overwrite`, what somebody made meanwhile stays."""
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
    """What brings back the file that is there, or none, once it was replaced."""
    if not os.path.lexists(file):
        return file.unlink
    kept = beside.with_name(f"{file.name}.before")
    try:
        kept.hardlink_to(file)
    except OSError:  # no links here
        shutil.copy2(file, kept)
    return lambda: kept.replace(file)


def _why(error: OSError) -> str:
    return f"can't be written: {error.strerror or 'unknown error'}."


def _refusal(file: Path, message: str) -> Finding:
    return Finding(Severity.ERROR, str(file), "", message)
