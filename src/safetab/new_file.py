"""One new file, whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from safetab.findings import Finding, InvalidInput, Severity


def write_new_file(file: Path, write: Callable[[Path], None], *, overwrite: bool | None = None) -> None:
    """What `write` puts at the path it is given appears as `file`. Raises InvalidInput if that can't be done.

    `overwrite` is what the user said; None if the command doesn't ask.
    """
    if file.is_dir():
        raise _refused(file, "is a directory. Give the name of a file.")
    if not overwrite and (file.exists() or file.is_symlink()):
        choice = "" if overwrite is None else ", or --overwrite"
        raise _refused(file, f"is there already. Give another file with -o{choice}.")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
            beside = Path(folder) / file.name
            write(beside)
            beside.replace(file)
    except OSError as error:
        raise _refused(file, f"can't be written: {error.strerror or 'unknown error'}.") from None


def _refused(file: Path, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, str(file), "", message)])
