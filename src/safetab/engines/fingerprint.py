"""A keyed fingerprint of the records of a pass: the same for the same people, in whatever order, files or spelling.

A record is an integer for each column. A secret linear function of them, z, tells records apart; a secret polynomial of
z, modulo each of two primes, is summed over the records. All of it is exact integer arithmetic below 2^63, so every
engine gets the same sums. docs/decisions/0010-spend-log.md says what it covers, and how often it could miss a change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import PUERTO_RICO_STATE, US_STATES, TabulationPass
from safetab.products.record import RACE_COLUMNS, RecordLayout
from safetab.readers.person_rules import NO_CODE

StateSums = tuple[str, int, int, int]
"""A state, its number of records, and the sums of their polynomials modulo each prime."""

_PRIMES = (2**31 - 1, 2**31 - 19)
_MULTIPLIERS_END = 2**40  # the columns of a record add up to less than 2^21, so z stays below 2^61
_TRUE = "True"
_STATES = {TabulationPass.US: US_STATES, TabulationPass.PUERTO_RICO: frozenset({PUERTO_RICO_STATE})}
"""Whole passes: the state filter chooses what is tabulated, not which records there are."""


class RecordFingerprint:
    """Everything that follows from the secret: the same for all engines."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._multipliers: dict[str, int] = {}
        self._coefficients = {
            prime: [self._number(f"{prime} {power}", prime) for power in (3, 2, 1)] for prime in _PRIMES
        }

    def state_sums_sql(self, source: str, record: RecordLayout) -> str:
        """A query for the `StateSums` of checked records, whose columns are text."""
        z = " + ".join(f"{_integer_sql(column, record)} * {self._multiplier(column)}" for column in record.columns)
        residues = ", ".join(f"z % {prime} AS residue_{prime}" for prime in _PRIMES)
        sums = ", ".join(f"sum({self._polynomial_sql(prime)})" for prime in _PRIMES)
        return (
            f"SELECT TABBLKST, count(*), {sums} FROM (SELECT TABBLKST, {residues} FROM"  # noqa: S608
            f" (SELECT TABBLKST, {z} AS z FROM {source})) GROUP BY TABBLKST"
        )

    def sums_of(self, person: Mapping[str, str | None]) -> StateSums:
        """What one checked record adds to the sums of its state."""
        z = sum(_integer(value or "") * self._multiplier(column) for column, value in person.items())
        first, second = (self._polynomial(z % prime, prime) for prime in _PRIMES)
        return person["TABBLKST"] or "", 1, first, second

    def sums_of_columns(self, columns: Mapping[str, NDArray[np.integer]]) -> Iterator[StateSums]:
        """What many checked records add, given as the integers of their columns."""
        z = np.zeros(len(columns["TABBLKST"]), dtype=np.int64)
        for column, numbers in columns.items():
            z += numbers.astype(np.int64) * self._multiplier(column)
        polynomials = [self._polynomials(z % prime, prime) for prime in _PRIMES]
        states, state_of = np.unique(columns["TABBLKST"], return_inverse=True)
        for number, state in enumerate(states.tolist()):
            is_there = state_of == number
            first, second = (int(values[is_there].sum()) for values in polynomials)
            yield f"{state:02d}", int(np.count_nonzero(is_there)), first, second

    def of_passes(self, sums: Iterable[StateSums]) -> Mapping[TabulationPass, str]:
        """The fingerprint of each pass, 32 hexadecimal digits."""
        totals = {tabulation_pass: [0, 0, 0] for tabulation_pass in _STATES}
        for state, *numbers in sums:
            for tabulation_pass, states in _STATES.items():
                if state in states:
                    totals[tabulation_pass] = [
                        total + number for total, number in zip(totals[tabulation_pass], numbers, strict=True)
                    ]
        return {tabulation_pass: self._digest(f"sums {numbers}").hex() for tabulation_pass, numbers in totals.items()}

    def _polynomials(self, residues: NDArray[np.int64], prime: int) -> NDArray[np.int64]:
        values = np.ones_like(residues)
        for coefficient in self._coefficients[prime]:
            values = (values * residues + coefficient) % prime
        return values * residues % prime

    def _polynomial(self, residue: int, prime: int) -> int:
        value = 1
        for coefficient in self._coefficients[prime]:
            value = (value * residue + coefficient) % prime
        return value * residue % prime

    def _polynomial_sql(self, prime: int) -> str:
        residue, value = f"residue_{prime}", "1"
        for coefficient in self._coefficients[prime]:
            value = f"({value} * {residue} + {coefficient}) % {prime}"
        return f"({value}) * {residue} % {prime}"

    def _multiplier(self, column: str) -> int:
        if column not in self._multipliers:
            self._multipliers[column] = self._number(column, _MULTIPLIERS_END)
        return self._multipliers[column]

    def _number(self, purpose: str, end: int) -> int:
        return int.from_bytes(self._digest(purpose)) % end

    def _digest(self, purpose: str) -> bytes:
        return hashlib.blake2b(purpose.encode(), key=self._secret, digest_size=16).digest()


def _integer(value: str) -> int:
    return int(value == _TRUE) if value in {_TRUE, "False"} else 0 if value == NO_CODE else int(value)


def _integer_sql(column: str, record: RecordLayout) -> str:
    if any(one.column == column and one.digits is None for one in record.checked):
        return f"CAST({column} = '{_TRUE}' AS BIGINT)"
    number = f"CAST({column} AS BIGINT)"
    return f"CASE {column} WHEN '{NO_CODE}' THEN 0 ELSE {number} END" if column in RACE_COLUMNS[1:] else number
