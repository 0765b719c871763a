"""Files of encoded numbers in the temporary folder, each with the checksum of what was written there."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.failures import NOTHING_RELEASED, RunFailed

N = TypeVar("N", bound=np.integer)
_BLOCK_BYTES = 1 << 12
_WORD = np.dtype(np.uint64)


class NumbersFile(Generic[N]):
    """Numbers of one type, appended piece by piece. Only what was written is ever read."""

    def __init__(self, path: Path, number_type: type[N] | np.dtype[N]) -> None:
        self._path = path
        self._type = np.dtype(number_type)
        self._sizes: list[int] = []  # of the pieces: each has its own blocks
        self._checksum = 0

    @property
    def count(self) -> int:
        """How many numbers were written."""
        return sum(self._sizes)

    def append(self, numbers: NDArray[N]) -> None:
        """Write a piece at the end of the file."""
        piece = np.ascontiguousarray(numbers)
        with open(self._path, "ab", opener=_of_its_owner) as file:
            file.write(piece.data)
        self._sizes.append(len(piece))
        self._checksum = checksum(piece, self._checksum)

    def read(self) -> NDArray[N]:
        """All numbers. Raises RunFailed if they are not those that were written."""
        if not self._sizes:
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
        is_whole = self._path.exists() and self._path.stat().st_size == self.count * self._type.itemsize
        self._require(is_whole)

    def require_written(self, numbers: NDArray[N]) -> None:
        """Raise RunFailed if these are not the numbers that were written."""
        found = 0
        for piece in np.split(numbers, np.cumsum(self._sizes[:-1])):
            found = checksum(piece, found)
        self._require(found == self._checksum)

    def _require(self, is_right: bool) -> None:
        if not is_right:
            raise RunFailed(
                f"encoded records in {self._path.parent} (--temp) are not those that were written there: the disk"
                f" is faulty, or another program changed or removed the files. {NOTHING_RELEASED} Check the disk, or"
                " give another --temp."
            )


def checksum(numbers: NDArray[np.integer], before: int = 0) -> int:
    """CRC-32 of the sums of blocks, after what `before` is the checksum of: a changed number changes it.

    Sums take as long as reading memory, a CRC of all bytes three times that.
    """
    content = numbers.view(np.uint8)
    end = len(content) - len(content) % _BLOCK_BYTES
    blocks = content[:end].view(_WORD).reshape(-1, _BLOCK_BYTES // _WORD.itemsize)
    return zlib.crc32(content[end:].data, zlib.crc32(blocks.sum(axis=1).data, before))


def _of_its_owner(name: str, flags: int) -> int:
    """A file for its owner alone, whatever the umask."""
    return os.open(name, flags, 0o600)
