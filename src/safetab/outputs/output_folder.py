"""A run's output appears whole or not at all."""

from __future__ import annotations

import datetime
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Finding, Severity, shortened
from safetab.foundation.interrupts import publishing
from safetab.foundation.locked_folder import LeftBehind, clear_abandoned, locked_folder, why_no_folder
from safetab.foundation.moved_folder import CantBeDone, exchange, refusals_as_warnings, sync_directory
from safetab.foundation.new_file import output_around
from safetab.foundation.whole_path import resolved
from safetab.outputs.earlier_output import OUTPUT_OF_RUN, EarlierOutput

_REPLACED = "replaced"
_TRIES = 10


def output_findings(
    out: Path,
    inputs: Iterable[Path],
    *,
    overwrite: bool,
    earlier: EarlierOutput = OUTPUT_OF_RUN,
    kept: Iterable[Path] = (),
) -> tuple[Finding, ...]:
    """Whether the output can be written there, without harm to what is there.

    It may neither hold nor lie in what is read, nor lie in the output of a run. What is `kept` may lie around it.

    What a killed run had moved aside is put back first, so that it is judged too. An earlier
    output is replaced if it is of the same sort, and nothing lies in it that wasn't written with it.
    """
    try:
        restore_replaced(out)
        read = tuple(inputs)
        message = _why_misplaced(out, read, (*read, *kept)) or _why_not(out, overwrite=overwrite, earlier=earlier)
    except OSError as error:
        raise_if_the_machine_failed(error)
        message = f"can't be made: {error.strerror or 'unknown error'}."
    return (Finding(Severity.ERROR, str(out), "", message),) if message else ()


def _why_misplaced(out: Path, read: Iterable[Path], kept: Iterable[Path]) -> str | None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        return "is not a folder. Choose another OUT."
    place = resolved(out)
    if any(resolved(path).is_relative_to(place) for path in kept):
        return "contains files that this command reads or keeps. Choose another folder."
    around = next((path for path in read if resolved(path) in place.parents), None)
    if around is not None:
        return f"is inside {around}, which this command reads. Choose a folder elsewhere."
    output = output_around(out)
    return (
        None
        if output is None
        else f"is inside {output}, the output of a run, which must not change. Choose a folder elsewhere."
    )


def _why_not(out: Path, *, overwrite: bool, earlier: EarlierOutput) -> str | None:
    if out.exists() and not overwrite:
        return "already exists. Choose another OUT, or add --overwrite."
    if out.exists() and any(out.iterdir()) and not (out / earlier.known_by).is_file():
        return (
            f"already exists and holds no {earlier.known_by} of an earlier output, so it is not replaced."
            " Choose another OUT."
        )
    foreign = earlier.foreign_in(out)
    if foreign:
        return f"holds what safetab didn't write there: {shortened(foreign)}. Move it away, or give another OUT."
    parent = out.parent
    if not parent.is_dir():
        return f"can't be made: {parent} is not a directory."
    if not os.access(parent, os.W_OK | os.X_OK):
        return f"can't be made: {parent} may not be written to. Check its permissions."
    why = why_no_folder(parent, _prefix(out))
    return None if why is None else f"can't write to {parent}: {why}. Choose another folder."


@contextmanager
def whole_output(out: Path, date: datetime.date, *, overwrite: bool) -> Iterator[Path]:
    """A folder to write into; it becomes `out` if the block ends well, and vanishes if not.

    At every moment the old or the new output is at `out`, whole: the two change places in one step. On a file system
    that can't do that, an old output is moved aside for a moment; if the run is killed just then, the next one puts it
    back. Without `overwrite` an output that appeared meanwhile stays, and this fails. Once the new one is there,
    nothing fails any more: what can't be removed is left to the next run.
    """
    restore_replaced(out)
    with suppress(LeftBehind), locked_folder(out.parent, _prefix(out)) as folder:
        output = folder / "output"
        output.mkdir()
        yield output
        _settle(output, date)
        with publishing():
            _publish(output, out, overwrite=overwrite)
        with refusals_as_warnings(out):
            sync_directory(out.parent)


def restore_replaced(out: Path) -> None:
    """What killed runs left beside `out` is cleared away; an output that one of them had just moved aside is back."""
    clear_abandoned(out.parent, _prefix(out), lambda folder: _put_back(folder, out))


def _prefix(out: Path) -> str:
    return f".{out.name}.partial-"


def _put_back(folder: Path, out: Path) -> None:
    replaced = folder / _REPLACED
    if replaced.is_dir() and not os.path.lexists(out):
        replaced.rename(out)


def _publish(output: Path, out: Path, *, overwrite: bool) -> None:
    for _ in range(_TRIES if overwrite else 0):  # others may publish there at the same time
        with suppress(FileNotFoundError):
            _replace(output, out)
            return
        with suppress(OSError):
            output.rename(out)
            return
    try:
        output.rename(out)
    except OSError as error:
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
            raise
        raise FileExistsError(errno.EEXIST, f"{out} was made by somebody else meanwhile") from None


def _replace(output: Path, out: Path) -> None:
    """Raises FileNotFoundError if there is nothing to replace."""
    if not stat.S_ISDIR(out.lstat().st_mode):
        raise FileExistsError(errno.EEXIST, f"{out} is no directory any more")
    try:
        exchange(output, out)
    except CantBeDone:
        replaced = output.parent / _REPLACED
        out.rename(replaced)
        try:
            output.rename(out)
        except OSError:
            replaced.rename(out)
            raise
        with suppress(OSError):  # the new one is in its place, whatever becomes of the old
            replaced.rename(output.parent / "discarded")  # from now on it is not put back


def _settle(output: Path, date: datetime.date) -> None:
    """Everything is on the disk, and files are as old as their date says: no time of day leaves."""
    midnight = datetime.datetime.combine(date, datetime.time(), datetime.UTC).timestamp()
    for path in sorted(output.rglob("*"), reverse=True):
        if path.is_file():
            with path.open("r+b") as file:  # Windows syncs only what may be written
                os.fsync(file.fileno())
        os.utime(path, (midnight, midnight))
    os.utime(output, (midnight, midnight))
