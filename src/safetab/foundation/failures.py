"""The run itself failed, whoever is at fault: exit code 3. What the machine is at fault for, and in which words."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

OF_THE_MACHINE = frozenset(
    {
        errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR, errno.EROFS,
    }
)  # fmt: skip
"""What says nothing of the file or folder that it happened to."""

_OF_WRITING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})

OF_THE_PATH = frozenset(
    {
        errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP,
        errno.ENXIO,
    }
)  # fmt: skip
"""What is wrong with a path that was given, not with the machine."""

OUT_OF_MEMORY = "out of memory."
NOTHING_WRITTEN = "Nothing was written."
NOTHING_RELEASED = "Nothing was released."
NOTHING_SPENT = "Nothing was spent."
_WORDS_FOR_NO_MEMORY = (
    "bad_alloc", "Cannot allocate memory", "cannot allocate memory", "can't start new thread",
    "failed to map segment", "Failed to launch worker thread", "Resource temporarily unavailable",
)  # fmt: skip
_NOT_CLOSED = "error closing file"  # Arrow's words; it doesn't tell why


class RunFailed(Exception):  # noqa: N818 - the name is the sentence
    """The message is for the terminal: it holds nothing of the confidential input."""


def why_refused(error: OSError) -> str:
    known = error if error.strerror else _refusal_in_words(error, OF_THE_MACHINE)
    return f"the machine refused: {'unknown error' if known is None else known.strerror}."


def machine_refused(error: OSError, out: Path | None = None) -> RunFailed:
    """What is raised instead, before anything was published; `out` is the one output, if there is one."""
    if out is not None and error.errno in _OF_WRITING:
        return RunFailed(f"can't write to {out}: {error.strerror}. {NOTHING_WRITTEN}")
    where = error.filename or out
    if where is not None and error.errno in OF_THE_PATH:
        return RunFailed(f"the machine refused: {where}: {error.strerror}. {NOTHING_WRITTEN}")
    return RunFailed(f"{why_refused(error)} {NOTHING_WRITTEN}")


@contextmanager
def refusals_as_run_failed(out: Path | None = None) -> Iterator[None]:
    """What the machine refuses while an output is made ends the command, in a sentence of ours."""
    try:
        yield
    except OSError as error:
        raise machine_refused(error, out) from None


def is_out_of_memory(error: BaseException) -> bool:
    """Whatever a library calls it: some have no kind of error for it, and only words."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _WORDS_FOR_NO_MEMORY)


def raise_if_the_machine_failed(error: Exception) -> None:
    """Raises MemoryError or RunFailed if what went wrong says nothing of the file that was read."""
    if is_out_of_memory(error):
        raise MemoryError from None
    refusal = refusal_of(error)
    if refusal is not None:
        raise machine_refused(refusal) from None


def refusal_of(error: Exception) -> OSError | None:
    """What the machine refused, if an error stands for that; some of Arrow's have words for it and no number."""
    if not isinstance(error, OSError):
        return None
    if error.errno is not None:
        return error if error.errno in OF_THE_MACHINE else None
    return _refusal_in_words(error, OF_THE_MACHINE)


def raise_if_refused_in_words(error: Exception) -> None:
    """What the machine refuses is no damage to a file; DuckDB, Arrow and Spark have only the machine's words for it."""
    refusal = _refusal_in_words(error, OF_THE_MACHINE | {errno.EACCES})
    if refusal is not None:
        raise refusal from None


def _refusal_in_words(error: Exception, numbers: Iterable[int]) -> OSError | None:
    for number in numbers:
        if os.strerror(number) in str(error):
            return OSError(number, os.strerror(number))
    return OSError(errno.EIO, "a file could not be closed") if _NOT_CLOSED in str(error) else None
