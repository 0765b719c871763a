"""Random choices of a world, which remember what was chosen."""

from random import Random
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """A source of choices; `features` names those that make a world special."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.features: set[str] = set()

    def chance(self, feature, chance):
        """Whether the world has a feature."""
        has_it = self.random.random() < chance
        if has_it:
            self.features.add(feature)
        return has_it

    def quietly(self, chance):
        return self.random.random() < chance

    def one(self, values):
        return self.random.choice(values)

    def named(self, **values):
        """One of several values, whose name becomes a feature."""
        name = self.random.choice(list(values))
        self.features.add(name)
        return values[name]

    def some(self, values, least=1, most=None):
        """Some of the values, in their order."""
        size = self.random.randint(least, min(len(values), most or len(values)))
        chosen = set(self.random.sample(range(len(values)), size))
        return [value for place, value in enumerate(values) if place in chosen]

    def shuffled(self, values):
        return self.random.sample(values, len(values))

    def between(self, low, high):
        return self.random.randint(low, high)
