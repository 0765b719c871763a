"""The formats of the files that safetab writes and reads again. docs/compatibility.md says what a number promises."""

from __future__ import annotations

from pathlib import Path

from safetab.foundation.findings import Finding, InvalidInput, Severity

FORMAT = "format"
"""The key under which a file states its format. Files from before there were numbers state none: format 0."""
OUTPUT_FORMAT = 1
"""Format of an output: manifest.json, the measurements, and the release with its datapackage.json and privacy.json."""
SPEND_LOG_FORMAT = 1


def format_of(stated: object) -> int:
    """The format that a file states; 0 stands for none. Raises ValueError if it is not a format number."""
    if not isinstance(stated, int) or isinstance(stated, bool) or stated < 0:
        raise ValueError("the format must be a whole number, 0 or above")
    return stated


def newer_format(number: int, newest: int) -> str | None:
    """Why a format can't be read; None if it can."""
    if number <= newest:
        return None
    return (
        f"was written by a newer version of safetab (format {number}; this one reads up to {newest}). Update safetab."
    )


def readable_format(path: Path, stated: object) -> int:
    """The format of a file of an output. Raises InvalidInput if it is newer than what is known here."""
    number = format_of(stated)
    message = newer_format(number, OUTPUT_FORMAT)
    if message:
        raise InvalidInput([Finding(Severity.ERROR, str(path), "", message)])
    return number
