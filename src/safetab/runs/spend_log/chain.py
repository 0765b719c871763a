"""The hash chain of a spend log: the head after a line is a hash of that line and of all before it.

A log of format 3 states it at the end of each line, so a changed or missing line is seen. A head
that was written down elsewhere also shows that the last lines are missing: a log only grows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

_STATED = re.compile(rb', "chain": "([0-9a-f]{32})"\}$')
_WRITTEN_DOWN = re.compile(r"spend log ([0-9a-f]{16}): ([0-9]{1,9}) lines, head ([0-9a-f]{32})")
_HEAD_BYTES, _NAME_LENGTH = 16, 16


class Head(NamedTuple):
    """The number of lines that a log had, and the hash of them all.

    The log has the same name wherever it lies.
    """

    log: str
    lines: int
    value: str

    def __str__(self) -> str:
        return f"spend log {self.log}: {self.lines} lines, head {self.value}"


def heads_in(text: str) -> tuple[Head, ...]:
    """The heads that were written down in a text, the one with the fewest lines first."""
    found = (Head(log, int(lines), value) for log, lines, value in _WRITTEN_DOWN.findall(text))
    return tuple(sorted(set(found), key=lambda head: head.lines))


def heads_in_file(file: Path) -> tuple[Head, ...]:
    """The heads that a file has; none if it is not a file. Raises OSError if it can't be read."""
    return heads_in(file.read_text("utf-8", "replace")) if file.is_file() else ()


@dataclass(slots=True)
class Chain:
    """The heads of a log after each of its lines, and the last ones of logs merged into it."""

    log: str = ""
    heads: list[str] = field(default_factory=list)
    merged: list[Head] = field(default_factory=list)
    is_stated: bool = False

    @classmethod
    def of_header(cls, header: bytes, log: str | None) -> Self:
        """A chain of the first line.

        Logs before format 3 have no name of their own, and state no heads.
        """
        first = _after("", header)
        return cls(log or first[:_NAME_LENGTH], [first], is_stated=log is not None)

    @property
    def head(self) -> Head:
        """The head after the last line."""
        return Head(self.log, len(self.heads), self.heads[-1])

    def add(self, line: bytes) -> tuple[bytes, bool]:
        """The line without the head that it states, and whether that is the head after it."""
        plain = self.plain(line)
        head = _after(self.heads[-1], plain)
        stated = _STATED.search(line) if self.is_stated else None
        said = stated[1].decode() if stated else head
        self.heads.append(said)  # of all lines after a changed one, only the first doesn't fit
        return plain, said == head and bool(stated) is self.is_stated

    def plain(self, line: bytes) -> bytes:
        """The line without the head that it states."""
        return _STATED.sub(b"}", line) if self.is_stated else line

    def extended(self, line: str) -> str:
        """Add a new line with its newline, and return it as the log has it."""
        plain = line.strip()
        self.heads.append(_after(self.heads[-1], plain.encode()))
        return f'{plain[:-1]}, "chain": "{self.heads[-1]}"}}\n' if self.is_stated else line

    def has(self, head: Head) -> bool:
        """Whether the log begins with the head's lines, or was merged from one that had them."""
        if head.log == self.log and self.heads[head.lines - 1 : head.lines] == [head.value]:
            return True
        return any(
            head.log == old.log and (head.lines < old.lines or head == old) for old in self.merged
        )

    def speaks_of(self, head: Head) -> bool:
        """Whether the head is of this log or of one that was merged into it."""
        return head.log in {self.log, *(old.log for old in self.merged)}

    def why_not(self, heads: Iterable[Head], where: Path) -> str | None:
        """The last of a file's heads that the log doesn't have, in words; None if it has all."""
        head = next(
            (each for each in sorted(heads, key=lambda each: -each.lines) if not self.has(each)),
            None,
        )
        if head is None:
            return None
        if not self.speaks_of(head):
            return (
                f"is another log than the one that {where} tells of."
                " Restore that one, or merge the two."
            )
        if head.log == self.log and head.lines > len(self.heads):
            short = f"has {len(self.heads)} lines, and had {head.lines} when {where} was written"
            return f"{short}: it is an older copy, or lost its end. {_RESTORE}"
        if head.log == self.log:
            changed = (
                f"its first {head.lines} lines are not those that it had when {where} was written"
            )
            return f"{changed}: a line was changed, or two copies went on side by side. {_RESTORE}"
        late = f"lacks lines that one of its merged logs had when {where} was written"
        return f"{late}: a run was charged to that log later. Merge that log again."


_RESTORE = "Restore the newest copy, or merge the copies into a new log."


def chained(header: str, log: str, lines: Iterable[str]) -> str:
    """The text of a new log with these lines."""
    chain = Chain.of_header(header.rstrip("\n").encode(), log)
    return header + "".join(map(chain.extended, lines))


def _after(head: str, line: bytes) -> str:
    return hashlib.blake2b(head.encode() + line, digest_size=_HEAD_BYTES).hexdigest()
