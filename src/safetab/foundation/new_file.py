"""One new file, whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from safetab.foundation.findings import Finding, InvalidInput, Severity


def write_new_file(file: Path, write: Callable[[Path], None], *, overwrite: bool | None = None) -> None:
    """What `write` puts at the path it is given appears as `file`. Raises InvalidInput if that can't be done.

    `overwrite` is what the user said; None if the command doesn't ask.
    """
    refused = new_file_findings(file, overwrite=overwrite)
    if refused:
        raise InvalidInput(refused)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
            beside = Path(folder) / file.name
            write(beside)
            beside.replace(file)
    except OSError as error:
        raise InvalidInput([_refusal(file, _why(error))]) from None


def new_file_findings(file: Path, *, overwrite: bool | None = None) -> tuple[Finding, ...]:
    """Why the file can't be there, as far as that is known before anything is written."""
    try:
        if file.is_dir():
            return (_refusal(file, "is a directory. Give the name of a file."),)
        if not overwrite and (file.exists() or file.is_symlink()):
            choice = "" if overwrite is None else ", or --overwrite"
            return (_refusal(file, f"is there already. Give another name{choice}."),)
        file.parent.stat()
    except OSError as error:
        return (_refusal(file, _why(error)),)
    return ()


def _why(error: OSError) -> str:
    return f"can't be written: {error.strerror or 'unknown error'}."


def _refusal(file: Path, message: str) -> Finding:
    return Finding(Severity.ERROR, str(file), "", message)
