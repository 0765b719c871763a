"""What an output is, decided once and shown the same everywhere."""

from __future__ import annotations

from enum import Enum


class OutputStatus(Enum):
    """May this output leave the agency, and if not, why not."""

    FOR_RELEASE = "for release"
    SYNTHETIC = "synthetic"
    TEST_KEY = "test key"
    NO_PROTECTION = "no protection"

    @property
    def is_for_release(self) -> bool:
        return self is OutputStatus.FOR_RELEASE

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    OutputStatus.FOR_RELEASE: "This output may be released.",
    OutputStatus.SYNTHETIC: "Synthetic: these people do not exist. This output is not a census release.",
    OutputStatus.TEST_KEY: (
        "Not for release: the noise was drawn with a test key, and whoever knows the key can take it off again."
        " These people do not exist."
    ),
    OutputStatus.NO_PROTECTION: (
        "STOP. Not for release: there is next to no noise, so these numbers are the exact counts."
        " These people do not exist."
    ),
}


def output_status(*, is_synthetic: bool, has_test_key: bool, is_unprotected: bool) -> OutputStatus:
    """The gravest that holds. Only synthetic people may have a test key or go without protection."""
    if is_unprotected:
        return OutputStatus.NO_PROTECTION
    if has_test_key:
        return OutputStatus.TEST_KEY
    return OutputStatus.SYNTHETIC if is_synthetic else OutputStatus.FOR_RELEASE
