"""Random choices of a world, which remember what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


class Choices:
    """A source of choices; `features` names those that make a world special."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.features: set[str] = set()

    def chance(self, feature: str, chance: float) -> bool:
        """Whether the world has a feature."""
        has_it = self.random.random() < chance
        if has_it:
            self.features.add(feature)
        return has_it

    def quietly(self, chance: float) -> bool:
        return self.random.random() < chance

    def one(self, values: Sequence[T]) -> T:
        return self.random.choice(values)

    def named(self, **values: Any) -> Any:
        """One of several values, whose name becomes a feature."""
        name = self.random.choice(list(values))
        self.features.add(name)
        return values[name]

    def some(self, values: Sequence[T], least: int = 1, most: int | None = None) -> list[T]:
        """Some of the values, in their order."""
        size = self.random.randint(least, min(len(values), most or len(values)))
        chosen = set(self.random.sample(range(len(values)), size))
        return [value for place, value in enumerate(values) if place in chosen]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        return self.random.sample(values, len(values))

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)
