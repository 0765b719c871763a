"""The file of a spend log: one process at a time reads or appends, and lines are synced."""

from __future__ import annotations

import datetime
import fcntl
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.foundation.new_files import sync_directory
from safetab.pipeline.spend_log.accounts import LineState, LogContent, header_line, line_of, read_lines

_SECRET_BYTES = 32
_OTHERS = 0o077


def refused_file(path: Path) -> tuple[Finding, ...]:
    """Findings if the log can't be used, or can't be created; looks without opening it."""
    try:
        message = _why_not_mode(path.lstat().st_mode)
        if message is None and not os.access(path, os.R_OK | os.W_OK):
            message = "can't be read and written. Check its permissions."
    except FileNotFoundError:
        is_room = path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK)
        message = None if is_room else f"can't be created: {path.parent} is not a writable directory."
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

        Raises FileNotFoundError if it doesn't exist and may not be created, InvalidInput if it can't
        be used.
        """
        self._path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            self._descriptor = os.open(path, flags | (os.O_CREAT if may_create else 0), 0o600)
        except OSError as error:
            raise_if_the_machine_failed(error)
            if isinstance(error, FileNotFoundError) and not may_create:
                raise
            raise InvalidInput.about(path, f"can't be opened: {error.strerror or 'unknown error'}.") from None
        message = _why_not_mode(os.fstat(self._descriptor).st_mode)
        if message:
            self.close()
            raise InvalidInput.about(path, message)

    @contextmanager
    def locked(self) -> Iterator[LogContent]:
        """What the log says; no other process reads or appends meanwhile. Gives a new file its header."""
        with self._lock():
            if not os.fstat(self._descriptor).st_size:
                self._write(header_line(secrets.token_bytes(_SECRET_BYTES)))
                sync_directory(self._path.parent)
            yield read_lines(str(self._path), self._bytes()).require()

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

    def append(self, content: LogContent, lines: Iterable[str]) -> None:
        """Append lines inside `locked`, with the content it yielded; they are on disk on return."""
        before = "\n" if content.is_unended else ""
        mark = line_of(LineState.TORN, utc=utc_now()) if content.is_torn else ""
        self._write(before + mark + "".join(lines))

    def is_in_place(self) -> bool:
        """Whether the path still leads to this file."""
        try:
            return os.path.samestat(self._path.lstat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        os.close(self._descriptor)

    def _write(self, text: str) -> None:
        """Write all of the text and wait until it is on disk."""
        rest = text.encode()
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        os.fsync(self._descriptor)


def write_for_its_owner(path: Path, content: bytes) -> None:
    """Write a file that doesn't exist yet with mode 0600."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)


def utc_now() -> str:
    """The time in UTC, to the second, as the log writes it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
