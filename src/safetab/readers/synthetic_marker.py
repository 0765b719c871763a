"""Whether people do not exist: a file that says so lies beside them."""

from __future__ import annotations

from pathlib import Path

from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.readers.cef.reader_file import read_reader_file


def is_synthetic(data: Path) -> bool:
    """Whether the directory, or the folder of the .ini file, says that its people do not exist."""
    try:
        if data.is_file():
            reader = read_reader_file(data).value
            return reader is not None and reader.is_synthetic
        return (data / SYNTHETIC_MARKER).exists()
    except OSError:  # who can't look can't say so
        return False
