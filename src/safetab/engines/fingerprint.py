"""A keyed fingerprint of the records of a pass.

The same records give the same fingerprint, in any order, files or spelling. A record is one integer
per column. A secret linear function of them, z, tells records apart; a secret polynomial of z,
modulo each of two primes, is summed over the records. All of it is exact integer arithmetic below
2^63, so every engine gets the same sums. docs/decisions/0010-spend-log.md says what it covers, and
how often it could miss a change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from safetab.census.area_levels import Pass
from safetab.dialects.bureau.states import PUERTO_RICO_STATE, US_STATES
from safetab.dialects.bureau.us_census import PR_PASS, US_PASS
from safetab.readers.record_rules import NO_CODE

StateSums = tuple[str, int, int, int]
"""A state, its number of records, and the sums of their polynomials modulo each prime."""

_PRIMES = (2**31 - 1, 2**31 - 19)
_MULTIPLIERS_END = 2**40  # the columns of a record add up to less than 2^21, so z stays below 2^61
_INTEGERS = {"True": 1, "False": 0, NO_CODE: 0}
_PASS_OF_STATE = dict.fromkeys(US_STATES, US_PASS) | {PUERTO_RICO_STATE: PR_PASS}
"""Whole passes: the state filter doesn't change which records exist."""


def integer_of(text: str | None) -> int:
    """A value's integer in a fingerprint. Raises ValueError, which quotes it, if no record may have it."""
    if text in _INTEGERS:
        return _INTEGERS[text]
    if text is None:
        raise ValueError("a value is absent")
    return int(text)


class RecordFingerprint:
    """The secret function of the records; all engines use it."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._coefficients = {prime: [self._number(f"{prime} {n}", prime) for n in (3, 2, 1)] for prime in _PRIMES}

    def sums_of_columns(self, columns: Mapping[str, NDArray[np.integer]]) -> Iterator[StateSums]:
        """The sums of checked records, by state. Each column holds the integers of `integer_of`."""
        z = np.zeros(len(columns["TABBLKST"]), dtype=np.int64)
        for column, numbers in columns.items():
            z += numbers.astype(np.int64) * self._number(column, _MULTIPLIERS_END)
        first, second = (self._polynomials(z % prime, prime) for prime in _PRIMES)
        states, state_of_record = np.unique(columns["TABBLKST"], return_inverse=True)
        for number, state in enumerate(states.tolist()):
            is_there = state_of_record == number
            count = int(np.count_nonzero(is_there))
            yield f"{state:02d}", count, int(first[is_there].sum()), int(second[is_there].sum())

    def of_passes(self, sums: Iterable[StateSums]) -> Mapping[Pass, str]:
        """Each pass's fingerprint, 32 hexadecimal digits, from the sums of all parts in any order."""
        totals = {tabulation_pass: [0, 0, 0] for tabulation_pass in (US_PASS, PR_PASS)}
        for state, *numbers in sums:
            if state in _PASS_OF_STATE:
                pairs = zip(totals[_PASS_OF_STATE[state]], numbers, strict=True)
                totals[_PASS_OF_STATE[state]] = [total + number for total, number in pairs]
        return {which: self._digest(f"sums {numbers}").hex() for which, numbers in totals.items()}

    def _polynomials(self, residues: NDArray[np.int64], prime: int) -> NDArray[np.int64]:
        values = np.ones_like(residues)
        for coefficient in self._coefficients[prime]:
            values = (values * residues + coefficient) % prime
        return values * residues % prime

    def _number(self, purpose: str, end: int) -> int:
        return int.from_bytes(self._digest(purpose)) % end

    def _digest(self, purpose: str) -> bytes:
        return hashlib.blake2b(purpose.encode(), key=self._secret, digest_size=16).digest()
