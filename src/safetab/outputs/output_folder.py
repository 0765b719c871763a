"""A run's output appears whole or not at all."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetab.foundation.findings import Finding, Severity
from safetab.foundation.locked_folder import locked_folder
from safetab.outputs.manifest import MANIFEST_FILE


def output_findings(
    out: Path, inputs: Iterable[Path], *, overwrite: bool, known_by: str = MANIFEST_FILE
) -> tuple[Finding, ...]:
    """Whether the output can be written there, without harm to what is there.

    An old one may be replaced if it is of the same sort, which it is known by a file of.
    """
    try:
        message = _why_not(out, inputs, overwrite=overwrite, known_by=known_by)
    except OSError as error:
        message = f"can't be made: {error.strerror or 'unknown error'}."
    return (Finding(Severity.ERROR, str(out), "", message),) if message else ()


def _why_not(  # noqa: PLR0911 - one a reason
    out: Path, inputs: Iterable[Path], *, overwrite: bool, known_by: str
) -> str | None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        return "is there, and is no directory. Give another OUT."
    if any(path.resolve().is_relative_to(out.resolve()) for path in inputs):
        return "holds what is to be read or kept. Give another OUT."
    if out.exists() and not overwrite:
        return "is there already. Give another OUT, or --overwrite."
    if out.exists() and any(out.iterdir()) and not (out / known_by).is_file():
        return f"is there and holds no {known_by} of an earlier output, so it is not replaced. Give another OUT."
    parent = out.parent
    if not parent.is_dir():
        return f"can't be made: {parent} is not a directory."
    if not os.access(parent, os.W_OK | os.X_OK):
        return f"can't be made: {parent} may not be written to. Check its permissions."
    return None


@contextmanager
def whole_output(out: Path, date: datetime.date, *, overwrite: bool) -> Iterator[Path]:
    """A folder to write into; it becomes `out` if the block ends well, and vanishes if not.

    An old output is moved aside first and removed last, so that at every moment the old or the new one is there, whole.
    Without `overwrite` an output that appeared meanwhile stays, and this fails.
    """
    with locked_folder(out.parent, f".{out.name}.partial-") as folder:
        output = folder / "output"
        output.mkdir()
        yield output
        _settle(output, date)
        if not (overwrite and out.exists()):
            output.rename(out)  # fails if somebody made it meanwhile
            return
        aside = out.parent / f"{out.name}.replaced{folder.name.removeprefix(f'.{out.name}.partial')}"
        out.rename(aside)
        try:
            output.rename(out)
        except OSError:
            aside.rename(out)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def _settle(output: Path, date: datetime.date) -> None:
    """Everything is on the disk, and files are as old as their date says: no time of day leaves."""
    midnight = datetime.datetime.combine(date, datetime.time(), datetime.UTC).timestamp()
    for path in sorted(output.rglob("*"), reverse=True):
        if path.is_file():
            with path.open("r+b") as file:  # Windows syncs only what may be written
                os.fsync(file.fileno())
        os.utime(path, (midnight, midnight))
    os.utime(output, (midnight, midnight))
