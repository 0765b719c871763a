"""What has to be closed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol, TypeVar


class _Closable(Protocol):
    def close(self) -> None: ...


Closable = TypeVar("Closable", bound=_Closable)


@contextmanager
def closed_at_the_end(thing: Closable) -> Iterator[Closable]:
    """As contextlib.closing; but what failed before is what is raised, whatever closing has to say of it."""
    try:
        yield thing
    except BaseException:
        with suppress(Exception):
            thing.close()
        raise
    thing.close()
