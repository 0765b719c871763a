"""Text files as the project reads them: UTF-8, a byte-order mark ignored, and a sentence for whatever is wrong."""

from __future__ import annotations

from pathlib import Path

from safetab.foundation.failures import raise_if_the_machine_failed


class UnreadableFile(Exception):  # noqa: N818 - the name is the sentence
    """The file can't be read; the message says why and what to do."""


def read_text(path: Path) -> str:
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableFile(f"line {line} is not UTF-8 text. Save the file as UTF-8.") from None


def read_bytes(path: Path) -> bytes:
    """Raises UnreadableFile, or RunFailed if the machine is at fault."""
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
            return f"there is no file {path}."
        case IsADirectoryError():
            return f"{path} is a directory, not a file."
        case NotADirectoryError():
            return f"{path.parent} is not a directory."
        case PermissionError():
            return f"{path} may not be read. Check its permissions."
        case _:
            return f"{path} can't be read: {error.strerror or 'unknown error'}."


def printable(text: str) -> str:
    """The text with a replacement character for every character but a line feed that could steer a terminal."""
    return "".join(
        character if character.isprintable() or character == "\n" else "\N{REPLACEMENT CHARACTER}" for character in text
    )
