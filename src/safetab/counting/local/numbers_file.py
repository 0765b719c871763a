"""Files of encoded numbers in the temporary folder.

Each has the CRC-32 of what was written there.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.failures import NOTHING_RELEASED, RunFailed

N = TypeVar("N", bound=np.integer)


class NumbersFile(Generic[N]):
    """Numbers of one type, appended piece by piece. Only what was written is ever read."""

    def __init__(self, path: Path, number_type: type[N] | np.dtype[N]) -> None:
        self._path = path
        self._type = np.dtype(number_type)
        self.count = 0  # how many numbers were written
        self._checksum = 0

    def append(self, numbers: NDArray[N]) -> None:
        """Write a piece at the end of the file."""
        piece = np.ascontiguousarray(numbers)
        with open(self._path, "ab", opener=_of_its_owner) as file:
            file.write(piece.data)
        self.count += len(piece)
        self._checksum = zlib.crc32(piece.data, self._checksum)

    def read(self) -> NDArray[N]:
        """All numbers. Raises RunFailed if they are not those that were written."""
        if not self.count:
            return np.empty(0, dtype=self._type)
        self.require_length()
        numbers = np.fromfile(self._path, dtype=self._type)
        self.require_written(numbers)
        return numbers

    def mapped(self) -> NDArray[N]:
        """All numbers, mapped into memory and read-only. Raises RunFailed if some are missing."""
        self.require_length()
        return np.memmap(self._path, dtype=self._type, mode="r")

    def remove(self) -> None:
        """Remove the file, if there is one."""
        self._path.unlink(missing_ok=True)

    def require_length(self) -> None:
        """Raise RunFailed if the file is gone or has another length."""
        is_whole = (
            self._path.exists() and self._path.stat().st_size == self.count * self._type.itemsize
        )
        self._require(is_whole)

    def require_written(self, numbers: NDArray[N]) -> None:
        """Raise RunFailed if these are not the numbers that were written."""
        self._require(zlib.crc32(numbers.data) == self._checksum)

    def _require(self, is_right: bool) -> None:
        if not is_right:
            raise RunFailed(
                f"encoded records in {self._path.parent} (--temp)"
                " are not those that were written there: the disk is faulty,"
                " or another program changed or removed the files."
                f" {NOTHING_RELEASED} Check the disk, or give another --temp."
            )


def _of_its_owner(name: str, flags: int) -> int:
    """A file for its owner alone, whatever the umask."""
    return os.open(name, flags, 0o600)
