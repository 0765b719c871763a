"""The run itself failed, whoever is at fault: exit code 3. What the machine is at fault for, and in which words."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

OF_THE_MACHINE = frozenset(
    {errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR}
)
"""What says nothing of the file or folder that it happened to."""

OF_THE_PATH = frozenset(
    {
        errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP,
        errno.ENXIO,
    }
)  # fmt: skip
"""What is wrong with a path that was given, not with the machine."""

OUT_OF_MEMORY = "out of memory."
NOTHING_WRITTEN = "Nothing was written."
_WORDS_FOR_NO_MEMORY = (
    "bad_alloc", "Cannot allocate memory", "cannot allocate memory", "can't start new thread",
    "failed to map segment", "Failed to launch worker thread", "Resource temporarily unavailable",
)  # fmt: skip


class RunFailed(Exception):  # noqa: N818 - the name is the sentence
    """The message is for the terminal: it holds nothing of the confidential input."""


def why_refused(error: OSError) -> str:
    return f"the machine refused: {error.strerror or 'unknown error'}."


def machine_refused(error: OSError) -> RunFailed:
    """What is raised instead, before anything was published."""
    return RunFailed(f"{why_refused(error)} {NOTHING_WRITTEN}")


@contextmanager
def refusals_as_run_failed() -> Iterator[None]:
    """What the machine refuses while an output is made ends the command, in a sentence of ours."""
    try:
        yield
    except OSError as error:
        raise machine_refused(error) from None


def is_out_of_memory(error: BaseException) -> bool:
    """Whatever a library calls it: some have no kind of error for it, and only words."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _WORDS_FOR_NO_MEMORY)


def raise_if_the_machine_failed(error: Exception) -> None:
    """Raises MemoryError or RunFailed if what went wrong says nothing of the file that was read."""
    if is_out_of_memory(error):
        raise MemoryError from None
    if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
        raise machine_refused(error) from None


def raise_if_refused_in_words(error: Exception) -> None:
    """What the machine refuses is no damage to a file; DuckDB, Arrow and Spark have only the machine's words for it."""
    for number in (*OF_THE_MACHINE, errno.EACCES):
        if os.strerror(number) in str(error):
            raise OSError(number, os.strerror(number)) from None
