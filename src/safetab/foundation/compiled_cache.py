"""Machine code that earlier runs kept: it is used if it is whole, and whatever goes wrong with it costs time alone.

numba's own cache takes a file as it is, fails on one that is cut short, and fails if it can't write.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_caching: Any = import_module("numba.core.caching")  # it has no type information
_HASH_BYTES = 32


class _CheckedFile(_caching.IndexDataCacheFile):  # type: ignore[misc]
    """A file of machine code ends with its hash: damaged code would give wrong numbers."""

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if hashlib.sha256(content[:-_HASH_BYTES]).digest() != content[-_HASH_BYTES:]:
            raise OSError("damaged")  # as if it weren't there
        return super()._load_data(name)

    def _dump(self, obj: Any) -> bytes:
        content: bytes = super()._dump(obj)
        return content + hashlib.sha256(content).digest()


class CheckedCache(_caching.FunctionCache):  # type: ignore[misc]
    """Raises RuntimeError if there is no folder for it, and nothing afterwards."""

    _cache_file: Any

    def __init__(self, loop: Any) -> None:
        super().__init__(loop)
        plain = self._cache_file
        self._cache_file = _CheckedFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=plain._source_stamp,
        )

    def load_overload(self, *given: Any) -> Any:
        with suppress(Exception):
            return super().load_overload(*given)
        return None

    def save_overload(self, *given: Any) -> None:
        """A list of what is kept that can't be read is begun anew."""
        for _ in range(2):
            with suppress(Exception):
                super().save_overload(*given)
                return
            with suppress(Exception):
                self.flush()
