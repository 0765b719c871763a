"""Findings about the input, all in one exception; and the numbers of readable formats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Generic, Self, TypeVar

from safetab.foundation.files import printable

_T_co = TypeVar("_T_co", covariant=True)

_LONGEST_PLACE, _LONGEST_MESSAGE = 200, 2_000  # characters
_OF_WHOLE_FILES = (
    "does not exist", "already exists", "is not a spend log", "describes other records",
    "has neither", "is a file:",
)  # fmt: skip
_TYPED, _PROTECTION = {"the command", "the question"}, "protection "
_MOST_ALIKE = 3  # warnings, or files, that say the same, each on lines of their own


class Severity(Enum):
    """Whether a finding stops the command."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """One problem: file, place, what is wrong, what to do.

    Only the confidential log shows `rows`.

    If records are at fault, `rule` is what each must obey, and `count` how many rows are concerned.
    """

    severity: Severity
    file: str
    where: str
    message: str
    rows: str = field(default="", compare=False)
    rule: str = field(default="", compare=False)
    count: int | None = field(default=None, compare=False)
    is_of_files: bool = field(
        default=False, compare=False
    )  # only files, or the machine, make a typed word wrong

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    @property
    def is_wrong_use(self) -> bool:
        """Whether an option is wrong that was typed, and no file."""
        is_option = self.file.startswith(_PROTECTION) or (
            self.file in _TYPED and self.where.startswith("--")
        )
        return self.is_error and is_option and not self.is_of_files

    def __repr__(self) -> str:
        return _cut(f"Finding({self.severity.value}, {self.file}, {self})", _LONGEST_PLACE)

    def __str__(self) -> str:
        """The place and the sentence, without characters that could control a terminal."""
        message = _cut(self.message, _LONGEST_MESSAGE)
        return printable(
            f"{_cut(self.where, _LONGEST_PLACE)}: {message}" if self.where else message
        )

    def as_json(self) -> dict[str, object]:
        """The finding for programs, who learn from it what people do."""
        return {
            "severity": self.severity.value,
            "file": self.file,
            "where": _cut(self.where, _LONGEST_PLACE),
            "rule": self.rule or None,
            "rows": self.count,
            "message": _cut(self.message, _LONGEST_MESSAGE),
        }


class FindingsOf:
    """Collects the findings about one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._findings: list[Finding] = []

    def error(self, where: str, message: str, rows: str = "", *, is_of_files: bool = False) -> None:
        """Add a finding that stops the command."""
        found = Finding(
            Severity.ERROR, self.file_with(where), where, message, rows, is_of_files=is_of_files
        )
        self._findings.append(found)

    def broken(self, where: str, rule: str, count: int, rows: str = "") -> None:
        """Add an error about the rows that break a rule."""
        message = f"{rule}. {count:,} {'row breaks' if count == 1 else 'rows break'} this rule."
        self._findings.append(
            Finding(Severity.ERROR, self.file_with(where), where, message, rows, rule, count)
        )

    def warning(self, where: str, message: str, rows: str = "", count: int | None = None) -> None:
        """Add a finding that does not stop the command."""
        found = Finding(Severity.WARNING, self.file_with(where), where, message, rows, count=count)
        self._findings.append(found)

    def file_with(self, _where: str) -> str:
        """The file that a place is in: this one."""
        return self.file

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._findings)

    @property
    def has_errors(self) -> bool:
        return any(finding.is_error for finding in self._findings)

    def require_no_errors(self) -> None:
        """Raise InvalidInput with all findings if one of them is an error."""
        if self.has_errors:
            raise InvalidInput(self._findings)


class InvalidInput(Exception):  # noqa: N818 - the name is the sentence: the input is invalid
    """The input is wrong. `findings` lists every problem, and `advice` says where to read more."""

    def __init__(self, findings: Iterable[Finding], advice: str = "") -> None:
        self.findings = tuple(findings)
        self.advice = advice
        super().__init__(printable("\n".join(filter(None, (described(self.findings), advice)))))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.findings, self.advice)

    @classmethod
    def about(cls, file: object, message: str, where: str = "") -> Self:
        """The exception with one error about a file or a place in it."""
        return cls([Finding(Severity.ERROR, str(file), where, message)])


def require_none(findings: Iterable[Finding]) -> None:
    """Raise InvalidInput with these findings if there are any."""
    found = tuple(findings)
    if found:
        raise InvalidInput(found)


@dataclass(frozen=True, slots=True)
class Checked(Generic[_T_co]):
    """A value and the findings about it. The value is None if a finding is an error."""

    value: _T_co | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_error)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.is_error)

    def require(self) -> _T_co:
        """The value. Raises InvalidInput with all findings if one of them is an error."""
        if self.value is None:
            raise InvalidInput(self.errors)
        return self.value


def described(findings: Iterable[Finding]) -> str:
    """The findings as lines, by file, errors and warnings apart.

    Many files with the same findings share a block.
    """
    groups: dict[tuple[str, Severity], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.file, finding.severity), []).append(finding)
    alike: dict[tuple[Severity, tuple[str, ...]], list[str]] = {}
    for (file, severity), group in groups.items():
        alike.setdefault((severity, tuple(map(str, group))), []).append(file)
    lines: list[str] = []
    for (file, severity), group in groups.items():
        if len(group) == 1 and (sentence := _whole_sentence(group[0])):
            lines.append(sentence)
            continue
        files = alike[severity, tuple(map(str, group))]
        is_folded = len(files) > _MOST_ALIKE
        if is_folded and file != files[0]:
            continue
        noun = (
            f"{'problem' if severity is Severity.ERROR else 'warning'}"
            f"{'s' if len(group) > 1 else ''}"
        )
        many = f"{shortened(files, _MOST_ALIKE)} have {len(group)} {noun} each:"
        lines.append(many if is_folded else f"{file} has {len(group)} {noun}:")
        folded = group if severity is Severity.ERROR else _folded(group)
        lines += [
            "  " + str(finding).replace("\n", "\\n") for finding in folded
        ]  # a value can't forge a line
    return "\n".join(lines)


def _whole_sentence(finding: Finding) -> str | None:
    """One sentence about a file that is missing, exists already, or is of another kind.

    None if there is more to say.
    """
    message = str(finding).replace("\n", "\\n")
    if not finding.is_error or finding.where:
        return None
    if message.startswith(_OF_WHOLE_FILES):
        return f"{finding.file} {message}"
    names_the_file = f"/{finding.file} {_OF_WHOLE_FILES[0]}" in f"/{message}"
    return message if names_the_file else None


def _folded(warnings: list[Finding]) -> list[Finding]:
    """The warnings, with those that say the same of many places as one.

    It stands where the first of them is.
    """
    places: dict[str, list[str]] = {}
    for warning in warnings:
        places.setdefault(warning.message, []).append(warning.where)
    folded: dict[object, Finding] = {}
    for warning in warnings:
        where = places[warning.message]
        if len(where) <= _MOST_ALIKE:
            folded[warning] = warning
        else:
            folded.setdefault(
                warning.message, replace(warning, where=shortened(where, _MOST_ALIKE))
            )
    return [*folded.values()]


def _cut(text: str, longest: int) -> str:
    """The text, shortened: a name or value from a file may be as long as the file."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def shortened(
    items: Iterable[object], shown: int = 5, between: str = ", ", unnamed: int = 0
) -> str:
    """A list for a sentence: the first few items, then the number of the others.

    That number includes the unnamed ones.
    """
    texts = [str(item) for item in items]
    more = len(texts) + unnamed - shown
    return between.join(texts[:shown]) + (f" and {more} more" if more > 0 else "")


VERSION = "1.0.0"


FORMAT = "format"
"""The key under which a file states its format.

Files from before there were numbers state none: format 0.
"""
OUTPUT_FORMAT = 2
"""The format of an output.

An output is manifest.json, the measurements, and the release with its datapackage.json and
privacy.json.
"""
SPEND_LOG_FORMAT = 3
"""The format of a new spend log. Lines that are added to an earlier one keep its format."""


def format_of(stated: object) -> int:
    """The format that a file states, or 0 if it states none.

    Raises ValueError if it is not a number.
    """
    if not isinstance(stated, int) or isinstance(stated, bool) or stated < 0:
        raise ValueError("the format must be a whole number, 0 or above")
    return stated


def newer_format(number: int, newest: int) -> str | None:
    """Why a format can't be read, or None if it can."""
    formats = f"(format {number}; this one reads up to {newest})"
    return (
        None
        if number <= newest
        else f"was written by a newer version of safetab {formats}. Update safetab."
    )


def readable_format(path: Path, stated: object) -> int:
    """The format of a file in an output. Raises InvalidInput if this version does not know it."""
    number = format_of(stated)
    message = newer_format(number, OUTPUT_FORMAT)
    if message:
        raise InvalidInput.about(path, message)
    return number
