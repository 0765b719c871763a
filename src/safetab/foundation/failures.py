"""The run itself failed, whoever is at fault: exit code 3."""

from __future__ import annotations

import errno

_OF_THE_MACHINE = {errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOSPC, errno.EDQUOT}
_WORDS_FOR_NO_MEMORY = (
    "bad_alloc", "Cannot allocate memory", "cannot allocate memory", "can't start new thread",
    "failed to map segment", "Failed to launch worker thread", "Resource temporarily unavailable",
)  # fmt: skip


class RunFailed(Exception):  # noqa: N818 - the name is the sentence
    """The message is for the terminal: it holds nothing of the confidential input."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whatever a library calls it: some have no kind of error for it, and only words."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _WORDS_FOR_NO_MEMORY)


def raise_if_the_machine_failed(error: Exception) -> None:
    """Raises MemoryError or OSError if what went wrong says nothing of the file that was read."""
    if is_out_of_memory(error):
        raise MemoryError from None
    if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
        raise error
