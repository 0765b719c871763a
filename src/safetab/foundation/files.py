"""Paths, text files and their identity.

Text files are UTF-8 with an optional byte-order mark, and every problem has a sentence.
"""

from __future__ import annotations

import os
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from safetab.foundation.failures import raise_if_the_machine_failed


class UnreadableFile(Exception):  # noqa: N818 - the name is the sentence
    """The file can't be read. The message says why and what to do."""


def read_text(path: Path) -> str:
    """The text of a UTF-8 file. Raises UnreadableFile, or RunFailed if the machine is at fault."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableFile(f"line {line} is not UTF-8 text. Save the file as UTF-8.") from None


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises UnreadableFile, or RunFailed if the machine is at fault."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UnreadableFile(f"{path} is not a regular file.")  # a pipe would wait for ever
        return path.read_bytes()
    except OSError as error:
        raise_if_the_machine_failed(error)
        raise UnreadableFile(why_unreadable(path, error)) from None


def why_unreadable(path: Path, error: OSError) -> str:
    """One sentence for an operating-system error about a path."""
    match error:
        case FileNotFoundError():
            return f"{path} does not exist."
        case IsADirectoryError():
            return f"{path} is a directory, not a file."
        case NotADirectoryError():
            return f"{path.parent} is not a directory."
        case PermissionError():
            return f"{path} may not be read. Check its permissions."
        case _:
            return f"{path} can't be read: {error.strerror or 'unknown error'}."


def printable(text: str) -> str:
    """The text with every character that could control a terminal replaced, except line feeds."""
    shown = (
        letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )
    return "".join(shown)


NOT_UTF_8_PATH = "a name in its path is not UTF-8. Rename it."


def is_utf8_path(path: Path) -> bool:
    """Whether every library can be given the path: some take paths as UTF-8 alone."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def resolved(path: Path) -> Path:
    """The path with links followed. `Path.resolve` would raise on links that form a circle."""
    return Path(os.path.realpath(path))


def whole_path(path: Path) -> Path:
    """The absolute path without `.` and `..`, so that its name and parent are what they seem."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow links


class FileIdentity(NamedTuple):
    """The identity of a file's bytes, without reading them; a changed file has another identity."""

    device: int
    inode: int
    size: int
    changed_ns: int
    status_changed_ns: int


def identity_of(path: Path) -> FileIdentity | None:
    """The identity of a file, or None if it can't be examined."""
    try:
        status = path.stat()
    except OSError as error:
        raise_if_the_machine_failed(error)
        return None
    return FileIdentity(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, as 64 hexadecimal digits.

    Raises OSError if it can't be read.
    """
    import hashlib  # noqa: PLC0415 - slow to load, and the help needs none

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def package_data(package: str, name: str) -> dict[str, Any]:
    """The texts and numbers of a TOML file that the package ships."""
    return tomllib.loads((files(package) / name).read_text(encoding="utf-8"))
