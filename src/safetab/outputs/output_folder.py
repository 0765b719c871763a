"""A run's output appears whole or not at all."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetab.findings import Finding, Severity
from safetab.outputs.locked_folder import locked_folder


def output_findings(out: Path, *, overwrite: bool) -> tuple[Finding, ...]:
    """Whether the output can be written there."""

    def error(message: str) -> tuple[Finding, ...]:
        return (Finding(Severity.ERROR, str(out), "", message),)

    if out.is_symlink() or (out.exists() and not out.is_dir()):
        return error("is there, and is no directory. Give another OUT.")
    if out.exists() and not overwrite:
        return error("is there already. Give another OUT, or --overwrite.")
    parent = out.absolute().parent
    if not parent.is_dir():
        return error(f"can't be made: {parent} is not a directory.")
    if not os.access(parent, os.W_OK | os.X_OK):
        return error(f"can't be made: {parent} may not be written to. Check its permissions.")
    return ()


@contextmanager
def whole_output(out: Path, date: datetime.date) -> Iterator[Path]:
    """A folder to write into; it becomes `out` if the block ends well, and vanishes if not.

    An old output is moved aside first and removed last, so that at every moment the old or the new one is there, whole.
    """
    with locked_folder(out.absolute().parent, f".{out.name}.partial-") as folder:
        output = folder / "output"
        output.mkdir()
        yield output
        _settle(output, date)
        aside = out.absolute().parent / f"{out.name}.replaced{folder.name.removeprefix(f'.{out.name}.partial')}"
        is_replaced = out.exists()
        if is_replaced:
            out.rename(aside)
        output.rename(out)
        if is_replaced:
            shutil.rmtree(aside, ignore_errors=True)


def _settle(output: Path, date: datetime.date) -> None:
    """Everything is on the disk, and files are as old as their date says: no time of day leaves."""
    midnight = datetime.datetime.combine(date, datetime.time(), datetime.UTC).timestamp()
    for path in sorted(output.rglob("*"), reverse=True):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        os.utime(path, (midnight, midnight))
    os.utime(output, (midnight, midnight))
