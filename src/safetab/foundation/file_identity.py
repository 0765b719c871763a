"""Which bytes lie under a name, as far as the file system tells without reading them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from safetab.foundation.failures import raise_if_the_machine_failed


class FileIdentity(NamedTuple):
    """Another file, size or time of change is another identity."""

    device: int
    inode: int
    size: int
    changed_ns: int
    status_changed_ns: int


def identity_of(path: Path) -> FileIdentity | None:
    """Nothing if there is no file that can be looked at."""
    try:
        status = path.stat()
    except OSError as error:
        raise_if_the_machine_failed(error)
        return None
    return FileIdentity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
