"""The file of a spend log: one run at a time reads and appends, and what is appended is on the disk."""

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
from safetab.pipeline.spend_log.log_lines import LogContent, header_line, read_lines, torn_line

_SECRET_BYTES = 32
_OTHERS = 0o077


def refused_file(path: Path) -> tuple[Finding, ...]:
    """Whether a log is there that can't be used, or none can be made; looks without opening."""
    try:
        message = _why_not_mode(path.lstat().st_mode)
        if message is None and not os.access(path, os.R_OK | os.W_OK):
            message = "may not be read and written. Check its permissions."
    except FileNotFoundError:
        is_room = path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK)
        message = None if is_room else f"can't be made: {path.parent} is no directory that may be written to."
    except (OSError, ValueError) as error:
        raise_if_the_machine_failed(error)
        message = f"can't be used: {getattr(error, 'strerror', None) or 'no such path can be'}."
    return _error(path, message) if message else ()


def _why_not_mode(mode: int) -> str | None:
    if stat.S_ISLNK(mode):
        return "is a link. Give the spend log itself, so that every run means the same file."
    if not stat.S_ISREG(mode):
        return "is no file. Give a file for the spend log."
    if mode & _OTHERS:
        return (
            f"its mode is {stat.S_IMODE(mode):04o}: others may read or write the spend log. Find out who did, then"
            " `chmod 600` it."
        )
    return None


class SpendLogFile:
    """An open log. Between `locked` blocks others may append to it; nobody's line is ever changed."""

    def __init__(self, path: Path, *, may_create: bool) -> None:
        """Raises FileNotFoundError if there is none and none may be made, InvalidInput if it can't be used."""
        self._path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            self._descriptor = os.open(path, flags | (os.O_CREAT if may_create else 0), 0o600)
        except OSError as error:
            raise_if_the_machine_failed(error)
            if isinstance(error, FileNotFoundError) and not may_create:
                raise
            raise InvalidInput(_error(path, f"can't be opened: {error.strerror or 'unknown error'}.")) from None
        message = _why_not_mode(os.fstat(self._descriptor).st_mode)
        if message:
            self.close()
            raise InvalidInput(_error(path, message))

    @contextmanager
    def locked(self) -> Iterator[LogContent]:
        """What the log says, while nobody else reads or appends. An empty file gets its header first."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            if not os.fstat(self._descriptor).st_size:
                self._write(header_line(secrets.token_bytes(_SECRET_BYTES)))
                _sync_directory(self._path.parent)
            yield read_lines(str(self._path), self._written()).require()
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def append(self, content: LogContent, lines: Iterable[str]) -> None:
        """Inside `locked`, with what it gave: the lines are on the disk when this returns."""
        before = "\n" if content.is_unended else ""
        mark = torn_line(utc_now()) if content.is_torn else ""
        self._write(before + mark + "".join(lines))

    def is_in_place(self) -> bool:
        """Whether the path still leads to this file."""
        try:
            return os.path.samestat(self._path.lstat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        os.close(self._descriptor)

    def _written(self) -> bytes:
        return os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)

    def _write(self, text: str) -> None:
        rest = text.encode()
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        os.fsync(self._descriptor)


def _error(path: Path, message: str) -> tuple[Finding, ...]:
    return (Finding(Severity.ERROR, str(path), "", message),)


def utc_now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sync_directory(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
