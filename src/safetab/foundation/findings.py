"""What is wrong with what was given: every finding at once, and one exception for the caller to raise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

T = TypeVar("T")

_LONGEST_PLACE, _LONGEST_MESSAGE = 200, 2_000  # characters


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or worth a look: in which file, where in it, what, and what to do.

    `rows` says which rows of the person records it is about, by line or row number: for the confidential log alone.
    """

    severity: Severity
    file: str
    where: str
    message: str
    rows: str = field(default="", repr=False, compare=False)

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    def __str__(self) -> str:
        message = _cut(self.message, _LONGEST_MESSAGE)
        return f"{_cut(self.where, _LONGEST_PLACE)}: {message}" if self.where else message


class FindingsOf:
    """Collects the findings about one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._findings: list[Finding] = []

    def error(self, where: str, message: str, rows: str = "") -> None:
        self._findings.append(Finding(Severity.ERROR, self.file, where, message, rows))

    def warning(self, where: str, message: str, rows: str = "") -> None:
        self._findings.append(Finding(Severity.WARNING, self.file, where, message, rows))

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._findings)

    @property
    def has_errors(self) -> bool:
        return any(finding.is_error for finding in self._findings)


class InvalidInput(Exception):  # noqa: N818 - the name is the sentence: the input is invalid
    """What was given is at fault; `findings` says all of it, and `advice` where more about them is to be found."""

    def __init__(self, findings: Iterable[Finding], advice: str = "") -> None:
        self.findings = tuple(findings)
        self.advice = advice
        super().__init__("\n".join(filter(None, (described(self.findings), advice))))


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """A value and what was found about it; there is no value if something is an error."""

    value: T | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_error)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.is_error)

    def require(self) -> T:
        if self.value is None:
            raise InvalidInput(self.errors)
        return self.value


def described(findings: Iterable[Finding]) -> str:
    """The findings in lines, grouped by file, errors and warnings apart."""
    groups: dict[tuple[str, Severity], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.file, finding.severity), []).append(finding)
    lines: list[str] = []
    for (file, severity), group in groups.items():
        noun = "problem" if severity is Severity.ERROR else "warning"
        lines.append(f"{file} has {len(group)} {noun}{'s' if len(group) > 1 else ''}:")
        lines += ["  " + str(finding).replace("\n", "\\n") for finding in group]  # a value can't forge a line
    return "\n".join(lines)


def _cut(text: str, longest: int) -> str:
    """A name or a value from a file may be as long as the file."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def shortened(items: Iterable[object], shown: int = 5, between: str = ", ") -> str:
    """A list for a sentence: the first few, then how many more."""
    texts = [str(item) for item in items]
    more = len(texts) - shown
    return between.join(texts[:shown]) + (f" and {more} more" if more > 0 else "")
