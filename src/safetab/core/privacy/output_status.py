"""Whether an output may be released, decided once and shown the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

SYNTHETIC_MARKER = "SYNTHETIC"
"""A file of this name in DATA says that the people beside it are made up."""

STATUS_COLUMN = "NOT_FOR_RELEASE"
"""A column of tables that may not be released.

Every row has the status, wherever the file is copied.
"""


class OutputStatus(Enum):
    """Whether an output may leave the agency, and if not, why not. Files hold the value."""

    FOR_RELEASE = "for release"
    SYNTHETIC = "synthetic"
    TEST_KEY = "test key"
    NO_PROTECTION = "no protection"
    OFFICIAL = "official"  # no output of a run: read from files that were given as published

    @property
    def is_for_release(self) -> bool:
        """Whether the output may be published."""
        return self in (OutputStatus.FOR_RELEASE, OutputStatus.OFFICIAL)

    @property
    def sentence(self) -> str:
        """The meaning of the status, in a sentence."""
        return _SENTENCES[self]

    @property
    def line(self) -> str:
        """The status and its sentence, wherever there is room for a line."""
        return f"Status: {self.value}. {self.sentence}"


_SENTENCES = {
    OutputStatus.FOR_RELEASE: "This output may be released.",
    OutputStatus.SYNTHETIC: (
        "Not for release: these people are synthetic. They do not exist, even where the places do."
    ),
    OutputStatus.TEST_KEY: (
        "Not for release: the noise was drawn with a test key,"
        " so anyone who knows the key can remove it. These people are synthetic."
        " They do not exist, even where the places do."
    ),
    OutputStatus.NO_PROTECTION: (
        "STOP. Not for release: at some levels the noise is 0 more often than not,"
        " so a number there is more likely exact than not. These people are synthetic."
        " They do not exist, even where the places do."
    ),
    OutputStatus.OFFICIAL: (
        "Read by safetab from files that were given as published by the Census Bureau."
    ),
}

_BY_GRAVITY = (OutputStatus.SYNTHETIC, OutputStatus.TEST_KEY, OutputStatus.NO_PROTECTION)


def output_status(*, is_synthetic: bool, has_test_key: bool, is_unprotected: bool) -> OutputStatus:
    """The most serious status; only synthetic people may have a test key or no protection."""
    if is_unprotected:
        return OutputStatus.NO_PROTECTION
    if has_test_key:
        return OutputStatus.TEST_KEY
    return OutputStatus.SYNTHETIC if is_synthetic else OutputStatus.FOR_RELEASE


def gravest(statuses: Iterable[OutputStatus]) -> OutputStatus | None:
    """The most serious status that forbids release, or None."""
    return max(statuses, key=_BY_GRAVITY.index, default=None)


def status_that_forbids(line: str) -> OutputStatus:
    """The status in a file NOT-FOR-RELEASE.

    Raises ValueError if it has none that forbids a release.
    """
    for status in _BY_GRAVITY:
        if line.startswith(f"Status: {status.value}."):
            return status
    raise ValueError("no status that forbids a release")


def status_that_forbids_named(value: str) -> OutputStatus | None:
    """The status with this value if it exists and forbids a release, else None."""
    return next((status for status in _BY_GRAVITY if status.value == value), None)


def status_as_json(status: OutputStatus) -> dict[str, object]:
    """The entries that manifest.json, datapackage.json and privacy.json share."""
    return {
        "status": status.value,
        "status_sentence": status.sentence,
        "for_release": status.is_for_release,
    }


CONTRADICTION = "contradicts itself: its status and for_release disagree."


def status_of_json(written: Mapping[str, object]) -> OutputStatus:
    """Read these back; older outputs have only `for_release`. Raises KeyError or ValueError."""
    is_for_release = bool(written["for_release"])
    if "status" not in written:
        return OutputStatus.FOR_RELEASE if is_for_release else OutputStatus.TEST_KEY
    status = OutputStatus(written["status"])
    if status.is_for_release != is_for_release:
        raise ValueError(CONTRADICTION)
    return status
