"""Failures of the run itself (exit code 3): what the machine refuses, and in which words."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeVar

_OF_NETWORK_DISKS = (
    "ESTALE", "ETIMEDOUT", "ENOTCONN", "EREMOTEIO", "EHOSTDOWN", "ENODEV", "EBUSY", "ECONNRESET",
)  # fmt: skip
OF_THE_MACHINE = frozenset({
    errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR,
    errno.EROFS,
    *(getattr(errno, name) for name in _OF_NETWORK_DISKS if hasattr(errno, name)),
})  # fmt: skip
"""Errors of the machine, not of the path. No system has all of them."""

OF_THE_PATH = frozenset({
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG,
    errno.ELOOP, errno.ENXIO,
})  # fmt: skip
"""Errors caused by the given path."""

OUT_OF_MEMORY = "out of memory."
NOTHING_WRITTEN = "Nothing was written."
NOTHING_RELEASED = "Nothing was released."
NOTHING_SPENT = "Nothing was spent."
_WORDS_FOR_NO_MEMORY = (
    "bad_alloc", "Cannot allocate memory", "cannot allocate memory", "can't start new thread",
    "failed to map segment", "Failed to launch worker thread", "Resource temporarily unavailable",
)  # fmt: skip


class RunFailed(Exception):  # noqa: N818 - the name is the sentence
    """The run failed. The message is for the terminal and holds nothing confidential."""


def why_refused(error: OSError) -> str:
    """The operating system's reason for a refusal, as the end of a sentence."""
    known = error if error.strerror else _refusal_in_words(error, OF_THE_MACHINE)
    return f"the operating system reported: {'unknown error' if known is None else known.strerror}."


def machine_refused(error: OSError, out: Path | None = None) -> RunFailed:
    """The RunFailed for an operating-system error before anything was published to `out`."""
    if out is not None and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EROFS}:
        return RunFailed(f"can't write to {out}: {error.strerror}. {NOTHING_WRITTEN}")
    where = error.filename or out
    if where is not None and error.errno in OF_THE_PATH:
        return RunFailed(f"can't use {where}: {error.strerror}. {NOTHING_WRITTEN}")
    return RunFailed(f"{why_refused(error)} {NOTHING_WRITTEN}")


@contextmanager
def refusals_as_run_failed(out: Path | None = None) -> Iterator[None]:
    """Turn an OSError raised while an output is made into a RunFailed with a plain sentence."""
    try:
        yield
    except OSError as error:
        raise machine_refused(error, out) from None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out. Some libraries say so only in words."""
    return isinstance(error, MemoryError) or any(
        words in str(error) for words in _WORDS_FOR_NO_MEMORY
    )


def raise_if_the_machine_failed(error: Exception) -> None:
    """Raise MemoryError or RunFailed if the error is the machine's and not the file's."""
    if is_out_of_memory(error):
        raise MemoryError from None
    refusal = refusal_of(error)
    if refusal is not None:
        raise machine_refused(refusal) from None


def refusal_of(error: Exception) -> OSError | None:
    """The OSError behind an error if the machine is at fault, else None.

    Arrow's may lack a number.
    """
    if not isinstance(error, OSError):
        return None
    if error.errno is not None:
        return error if error.errno in OF_THE_MACHINE else None
    return _refusal_in_words(error, OF_THE_MACHINE)


def raise_if_refused_in_words(error: Exception) -> None:
    """Raise OSError for an operating-system error that Arrow or Spark passes on in words only."""
    refusal = _refusal_in_words(error, OF_THE_MACHINE | {errno.EACCES})
    if refusal is not None:
        raise refusal from None


def _refusal_in_words(error: Exception, numbers: Iterable[int]) -> OSError | None:
    for number in numbers:
        if os.strerror(number) in str(error):
            return OSError(number, os.strerror(number))
    was_not_closed = "error closing file" in str(error)  # Arrow's words, without a reason
    return OSError(errno.EIO, "a file could not be closed") if was_not_closed else None


class _Closable(Protocol):
    def close(self) -> None: ...


_Closing = TypeVar("_Closing", bound=_Closable)


@contextmanager
def closing_without_masking(thing: _Closing) -> Iterator[_Closing]:
    """Like contextlib.closing, but an error in the block is never replaced by one from close()."""
    try:
        yield thing
    except BaseException:
        with suppress(Exception):
            thing.close()
        raise
    thing.close()
