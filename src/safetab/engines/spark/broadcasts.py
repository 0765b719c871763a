"""Public lists sent to Python on the executors, once for all tasks."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, TypeVar

from pyspark import Broadcast
from pyspark.sql import SparkSession

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Packed:
    """Becomes what it holds when it is unpickled. PySpark's encrypted stream takes bytes, and no buffers of arrays."""

    held: object

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return pickle.loads, (pickle.dumps(self.held, pickle.HIGHEST_PROTOCOL),)


def sent(session: SparkSession, value: T) -> Broadcast[T]:
    packed: Broadcast[Any] = session.sparkContext.broadcast(_Packed(value))
    return packed
