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

PartSums = tuple[int, int, int, int]
"""The sums of a part.

They are its number, how many records it has, and the sums of their polynomials modulo each prime.
"""

_PRIMES = (2**31 - 1, 2**31 - 19)
_MULTIPLIERS_END = 2**40  # `RecordIntegers` add up to less than 2^21, so z stays below 2^61


class RecordFingerprint:
    """The secret function of the records; all engines use it.

    `part_column` names the column whose number decides which pass a record is in.
    """

    def __init__(self, secret: bytes, part_column: str) -> None:
        self._secret = secret
        self._part_column = part_column
        self._coefficients = {
            prime: [self._number(f"{prime} {n}", prime) for n in (3, 2, 1)] for prime in _PRIMES
        }

    def sums_of_columns(
        self,
        columns: Mapping[str, NDArray[np.integer]],
        part_of_row: NDArray[np.integer] | None = None,
    ) -> Iterator[PartSums]:
        """The sums of checked records, by part. Columns hold the integers of `RecordIntegers`.

        If the part of each row is given, it is in no column and in no sum.
        """
        of_rows = columns[self._part_column] if part_of_row is None else part_of_row
        z = np.zeros(len(of_rows), dtype=np.int64)
        for column, numbers in columns.items():
            z += numbers.astype(np.int64) * self._number(column, _MULTIPLIERS_END)
        first, second = (self._polynomials(z % prime, prime) for prime in _PRIMES)
        parts, part_of_record = np.unique(of_rows, return_inverse=True)
        for number, part in enumerate(parts.tolist()):
            is_there = part_of_record == number
            count = int(np.count_nonzero(is_there))
            yield part, count, int(first[is_there].sum()), int(second[is_there].sum())

    def of_passes(
        self, sums: Iterable[PartSums], pass_of_part: Mapping[int, str]
    ) -> Mapping[str, str]:
        """Each pass's fingerprint, 32 hexadecimal digits, from sums in any order.

        Other parts are left out.
        """
        totals = {name: [0, 0, 0] for name in pass_of_part.values()}
        for part, *numbers in sums:
            if part in pass_of_part:
                name = pass_of_part[part]
                totals[name] = [
                    total + number for total, number in zip(totals[name], numbers, strict=True)
                ]
        return {name: _of_sums(self._secret, numbers) for name, numbers in totals.items()}

    def _polynomials(self, residues: NDArray[np.int64], prime: int) -> NDArray[np.int64]:
        values = np.ones_like(residues)
        for coefficient in self._coefficients[prime]:
            values = (values * residues + coefficient) % prime
        return values * residues % prime

    def _number(self, purpose: str, end: int) -> int:
        return int.from_bytes(_digest(self._secret, purpose)) % end


def of_nobody(secret: bytes) -> str:
    """The fingerprint of every pass that has no record."""
    return _of_sums(secret, [0, 0, 0])


def _of_sums(secret: bytes, sums: list[int]) -> str:
    return _digest(secret, f"sums {sums}").hex()


def _digest(secret: bytes, purpose: str) -> bytes:
    return hashlib.blake2b(purpose.encode(), key=secret, digest_size=16).digest()
