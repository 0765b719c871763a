"""The file of a spend log: one process at a time reads or appends, and lines are synced."""

from __future__ import annotations

import datetime
import fcntl
import logging
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetab.foundation.failures import RunFailed, raise_if_the_machine_failed, why_refused
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.foundation.interrupts import publishing_for_itself
from safetab.foundation.new_files import write_new_file
from safetab.runs.spend_log.chain import Head, heads_in_file
from safetab.runs.spend_log.log_lines import (
    LineState,
    LogContent,
    header_line,
    line_of,
    read_lines,
)

_SECRET_BYTES = 32
NAME_BYTES = 8
_OTHERS = 0o077


def heads_file(log: Path) -> Path:
    """The file beside a log that has its head after each addition.

    An older copy of the log lacks the last heads.
    """
    return log.with_name(f"{log.name}.heads")


def _why_older(log: Path, content: LogContent) -> str | None:
    """The reason why a log is not the one that the file of heads beside it tells of.

    None if it is, or there is no such file.
    """
    beside = heads_file(log)
    return content.chain.why_not(heads_in_file(beside), beside)


def _why_gone(log: Path) -> str | None:
    """Why there may be no new log here; None if there never was one."""
    beside = heads_file(log)
    gone = f"is gone, and {beside} says that it was here. Restore it."
    last = "If no copy is left, move that file away, and set the limit lower by what was spent."
    if not os.path.lexists(beside) or os.path.lexists(
        log
    ):  # in this order: others may begin the log right now
        return None
    return f"{gone} {last}"


def refused_file(path: Path) -> tuple[Finding, ...]:
    """Findings if the log can't be used, or can't be created; looks without opening it."""
    try:
        message = _why_not_mode(path.lstat().st_mode)
        if message is None and not os.access(path, os.R_OK | os.W_OK):
            message = "can't be read and written. Check its permissions."
    except FileNotFoundError:
        is_room = path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK)
        message = (
            _why_gone(path)
            if is_room
            else f"can't be created: {path.parent} is not a writable directory."
        )
    except (OSError, ValueError) as error:
        raise_if_the_machine_failed(error)
        message = f"can't be used: {getattr(error, 'strerror', None) or 'not a valid path'}."
    return (Finding(Severity.ERROR, str(path), "", message),) if message else ()


def _why_not_mode(mode: int) -> str | None:
    """Why a file of this kind or mode can't be a spend log; None if it can."""
    if stat.S_ISLNK(mode):
        return "is a link. Give the spend log itself, so that every run uses the same file."
    if not stat.S_ISREG(mode):
        return "is not a regular file. Give a file for the spend log."
    may_read = f"its mode is {stat.S_IMODE(mode):04o}: others may read or write the spend log."
    return f"{may_read} Find out who did, then `chmod 600` it." if mode & _OTHERS else None


class SpendLogFile:
    """An open log. Others may append between `locked` blocks; no line is ever changed."""

    def __init__(self, path: Path, *, may_create: bool) -> None:
        """Open the log, or create it if allowed.

        Raises FileNotFoundError if it doesn't exist and may not be created, InvalidInput if it
        can't be used.
        """
        self._path = path
        if may_create and not os.path.lexists(path):
            _create(path)
        try:
            self._descriptor = os.open(
                path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            )
        except OSError as error:
            raise_if_the_machine_failed(error)
            if isinstance(error, FileNotFoundError) and not may_create:
                raise
            raise InvalidInput.about(
                path, f"can't be opened: {error.strerror or 'unknown error'}."
            ) from None
        message = _why_not_mode(os.fstat(self._descriptor).st_mode)
        if message:
            self.close()
            raise InvalidInput.about(path, message)

    @contextmanager
    def locked(self) -> Iterator[LogContent]:
        """The content of the log; no other process reads or appends meanwhile.

        Raises InvalidInput if it is damaged, or older than the file of heads beside it.
        """
        with self._lock():
            content = read_lines(str(self._path), self._bytes()).require()
            message = _why_older(self._path, content)
            if message is not None:
                raise InvalidInput.about(self._path, message)
            yield content

    def written(self) -> bytes:
        """The bytes of the log, damaged, empty or neither."""
        with self._lock():
            return self._bytes()

    @contextmanager
    def _lock(self) -> Iterator[None]:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def _bytes(self) -> bytes:
        return os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)

    def append(self, content: LogContent, lines: Iterable[str]) -> Head:
        """Append lines inside `locked`, with the content it yielded; return the head after them.

        They are on disk on return. Raises RunFailed if the machine refuses.
        """
        before = "\n" if content.is_unended else ""
        mark = [line_of(LineState.TORN, utc=utc_now())] if content.is_torn else []
        text = before + "".join(map(content.chain.extended, (*mark, *lines)))
        try:
            _write(self._descriptor, text)
        except OSError as error:
            raise RunFailed(f"{self._path} can't be written: {why_refused(error)}") from None
        write_down(self._path, content.chain.head)
        return content.chain.head

    def is_in_place(self) -> bool:
        """Whether the path still leads to this file."""
        try:
            return os.path.samestat(self._path.lstat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        os.close(self._descriptor)


def _create(path: Path) -> None:
    """Make a new log, with its first line or not at all, unless another process just did."""
    gone = _why_gone(path)
    if gone is not None:
        raise InvalidInput.about(path, gone)
    header = header_line(secrets.token_bytes(_SECRET_BYTES), secrets.token_hex(NAME_BYTES))
    try:
        with publishing_for_itself():
            write_new_file(path, lambda new: write_for_its_owner(new, header.encode()))
    except InvalidInput:
        if not os.path.lexists(path):
            raise


def write_down(log: Path, head: Head) -> None:
    """Add the head of a log to the file beside it, or warn: the log itself is written by then."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(heads_file(log), flags, 0o600)
        try:
            _write(descriptor, f"{head}\n")
        finally:
            os.close(descriptor)
    except OSError as error:
        words = (
            "%s can't be written (%s): nobody would see that an older copy of the log was restored."
        )
        logging.getLogger("safetab").warning(words, heads_file(log), error.strerror)


def _write(descriptor: int, text: str) -> None:
    """Write all of the text and wait until it is on disk."""
    rest = text.encode()
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


def write_for_its_owner(path: Path, content: bytes) -> None:
    """Write a file that doesn't exist yet with mode 0600."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)


def utc_now() -> str:
    """The time in UTC, to the second, as the log writes it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
