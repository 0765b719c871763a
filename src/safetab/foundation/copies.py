"""Results can be copied, and sent to another process by pickle.

They hold read-only mappings, which Python can't pickle by itself; importing this module teaches it.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from types import MappingProxyType
from typing import Any


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """The mapping that pickle makes again."""
    return MappingProxyType(values)


def _as_dictionary(
    mapping: MappingProxyType[Any, Any],
) -> tuple[Callable[..., MappingProxyType[Any, Any]], tuple[Any, ...]]:
    return _read_only, (dict(mapping),)


copyreg.pickle(MappingProxyType, _as_dictionary)
