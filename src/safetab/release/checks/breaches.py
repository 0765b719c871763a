"""What is wrong with an output: which file breaks which rule in which rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import shortened

_ROWS_SHOWN = 5
_BREACHES_SHOWN = 10


class Breaches:
    """Gathers broken rules; a rule broken a million times is one line with a few row numbers."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], list[int]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, file: str, rule: str) -> None:
        self._counts[file, rule] += 1

    def add_rows(self, file: str, rule: str, is_wrong: NDArray[np.bool_], rows_before: int) -> None:
        """Rows are counted from 1, the header not included."""
        wrong = np.flatnonzero(is_wrong)
        if len(wrong):
            self._counts[file, rule] += len(wrong)
            shown = self._rows.setdefault((file, rule), [])
            shown += (wrong[: _ROWS_SHOWN - len(shown)] + rows_before + 1).tolist()

    def include(self, others: Breaches) -> None:
        """What others found, after what is here: they may have looked at the same time, but at other rows or rules."""
        self._counts.update(others._counts)
        self._rows |= others._rows

    def __bool__(self) -> bool:
        return bool(self._counts)

    def lines(self) -> list[str]:
        lines = []
        for (file, rule), count in self._counts.items():
            rows = self._rows.get((file, rule), [])
            more = f" and {count - len(rows)} more" if count > len(rows) else ""
            lines.append(f"{file}: {rule}" + (f": row {shortened(rows)}{more}." if rows else "."))
        return lines

    def raise_if_any(self) -> None:
        if self:
            lines = self.lines()
            more = [f"and {len(lines) - _BREACHES_SHOWN} more"] if len(lines) > _BREACHES_SHOWN else []
            raise RunFailed(
                "\n  ".join(["the output breaks its rules. Nothing was written.", *lines[:_BREACHES_SHOWN], *more])
            )
