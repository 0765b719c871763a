"""The cell key method: the people in a cell decide how its count is changed.

They do so by a table of chances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safetab.apps.compare.protections.method import Form, Made, Method, Place, Wrong, number_text
from safetab.apps.compare.protections.protection import (
    Floats,
    Known,
    NumberStep,
    Windows,
    from_chances,
)
from safetab.apps.compare.tables.exact_tables import ExactTables, Int64s, PublishedTables, UInt64s
from safetab.foundation.files import UnreadableFile, read_text

# a table by keys has rows 1 to 750; 501 to 750 serve larger counts
_ROWS_OF_KEYS, _REPEATED_ROWS = 750, 250
_BY_KEY, _BY_CHANCE = ("pcv", "ckey", "pvalue"), ("i", "j", "p")
_KEY_BITS = 44  # of a cell key: its steps are far larger than rounding errors in sums of chances
_CLOSE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class CellKey(NumberStep):
    """Changes each count by its row of the perturbation table, at its cell key.

    Zero stays zero. The row of a count has a chance for each change from -largest to largest; above
    the last row the last `repeated` rows are used in turn. With `by_key` the change of a row is
    looked up by the cell key, an integer; else the chances divide the keys from 0 to 1 in rising
    order of the changes.
    """

    chances: Floats  # one row per count, one column per change
    repeated: int = 1
    by_key: Int64s | None = None  # one row per count, one column per key
    may_be_secret = is_drawn_again = repeats_errors = True

    @property
    def largest_error(self) -> int:
        """The largest change, up or down."""
        return int(self.chances.shape[1] // 2)

    def protect(self, tables: ExactTables, _: np.random.Generator) -> PublishedTables:
        """The changed numbers; all that is random is in the record keys."""
        return PublishedTables.of(tables.counts + self.changes(tables.counts, tables.keys))

    def changes(self, counts: Int64s, keys: UInt64s) -> Int64s:
        """The change of each count, by the cell keys (2**64 is 1)."""
        rows = self._rows_of(counts)
        if self.by_key is not None:
            size = np.uint64(self.by_key.shape[1])
            return np.asarray(self.by_key[rows, ((keys >> np.uint64(32)) * size) >> np.uint64(32)])
        uniform = (keys >> np.uint64(64 - _KEY_BITS)) * 2.0**-_KEY_BITS
        bounds = np.cumsum(self.chances[:, :-1], axis=1)[rows]
        return np.asarray((bounds <= uniform[:, None]).sum(axis=1) - self.largest_error)

    def windows(self, published: PublishedTables, known: Known) -> Windows:
        """The true counts that may have become the published number, each with its chance."""
        values, largest = published.numbers.data, self.largest_error
        changes = np.arange(largest, -largest - 1, -1)
        rows = self._rows_of(np.maximum(values[:, None] - changes, 0))
        return from_chances(values - largest, self.chances[rows, changes + largest], known)

    def _rows_of(self, counts: Int64s) -> Int64s:
        first = len(self.chances) - self.repeated
        return np.where(counts < first, counts, first + (counts - first) % self.repeated)


def cell_key_of_file(path: Path) -> CellKey:
    """The method with the table of a CSV file.

    Raises UnreadableFile, or ValueError with what is wrong.
    """
    lines = read_text(path).splitlines()
    delimiter = ";" if lines and ";" in lines[0] else ","
    names, *rows = [[cell.strip(' "') for cell in line.split(delimiter)] for line in lines] or [[]]
    form = next((form for form in (_BY_KEY, _BY_CHANCE) if set(form) <= set(names)), None)
    if form is None:
        raise ValueError(
            f"columns: {', '.join(names) or 'none'}."
            " Give pcv, ckey, pvalue or i, j, p in the first line."
        )
    try:
        columns = [
            np.array([float(row[names.index(name)]) for row in rows if any(row)]) for name in form
        ]
    except (ValueError, IndexError):
        raise ValueError(
            f"rows: some have no number for {', '.join(form)}. Give one in every row."
        ) from None
    for name, column in zip(form, columns, strict=True):
        is_whole = (np.abs(column) < 10**6) & (column == np.rint(column))
        _require(
            name == "p" or is_whole.all(),
            f"{name}: some values are not whole numbers below a million.",
        )
    first, second = (column.astype(np.int64) for column in columns[:2])
    if form is _BY_KEY:
        return _by_key(first, second, columns[2].astype(np.int64))
    return _by_chance(first, second, columns[2])


def _by_key(counts: Int64s, keys: Int64s, changes: Int64s) -> CellKey:
    """The method of a table with a change for each count from 1 to 750 and each cell key."""
    order = np.lexsort((keys, counts))
    order = order[counts[order] > 0]  # zero stays zero
    size = int(keys.max(initial=-1)) + 1
    places = np.divmod(np.arange(_ROWS_OF_KEYS * size), max(size, 1))
    is_whole = size > 0 and np.array_equal([counts[order] - 1, keys[order]], places)
    _require(
        is_whole,
        f"rows: every pcv from 1 to {_ROWS_OF_KEYS} needs each ckey from 0 on exactly once.",
    )
    by_key = np.vstack(
        [np.zeros(size, dtype=np.int64), changes[order].reshape(_ROWS_OF_KEYS, size)]
    )
    is_possible = (by_key + np.arange(len(by_key))[:, None] >= 0).all()
    _require(
        is_possible, "pvalue: some changes are larger than the count, so a number would be below 0."
    )
    largest = int(np.abs(by_key).max())
    chances = [(by_key == change).mean(axis=1) for change in range(-largest, largest + 1)]
    return CellKey(np.stack(chances, axis=1), _REPEATED_ROWS, by_key)


def _by_chance(counts: Int64s, targets: Int64s, chances: Floats) -> CellKey:
    _require(len(counts) > 0, "rows: there are none.")
    _require(
        ((chances >= 0) & (chances <= 1)).all(), "p: some probabilities are not between 0 and 1."
    )
    _require(min(counts.min(), targets.min()) >= 0, "i, j: some counts are below 0.")
    _require(
        not ((counts == 0) & (targets > 0) & (chances > 0)).any(), "i = 0: zero must stay zero."
    )
    largest = int(np.abs(targets - counts).max())
    table = np.zeros((int(counts.max()) + 1, 2 * largest + 1))
    np.add.at(table, (counts, targets - counts + largest), chances)
    table[0] = np.arange(-largest, largest + 1) == 0
    sums = table.sum(axis=1)
    count = int(np.argmax(np.abs(sums - 1) > 1e-6))
    _require(
        abs(sums[count] - 1) <= 1e-6,
        f"i = {count}: the probabilities sum to {sums[count]:.6g}, not to 1.",
    )
    return CellKey(table / sums[:, None])


def _require(is_right: bool | np.bool_, sentence: str) -> None:
    if not is_right:
        raise ValueError(sentence)


def _least_variance(js: int) -> int:
    """The variance that a table without the numbers 1 to js needs.

    Count i can only go to 0 or js + 1.
    """
    return max((count * (js + 1 - count) for count in range(1, js + 1)), default=0)


def table_of(
    largest: int,
    variance: float,
    js: int = 0,
    pstay: float = 0.0,
    is_rising: Sequence[bool] = (True,),
) -> Floats:
    """One row per count and one column per change up to `largest`.

    The changes have mean 0, and a variance of at most `variance`. A count is never changed to 1 ...
    `js`, and stays with a chance of at least `pstay`, which is lowered in steps of 0.05 until the
    variance is reached. Where `is_rising`, the chances do not fall towards 0 from the left; it has
    an element per row, and the last one holds for all further rows.
    """
    table = np.zeros((largest + (js + 1 if js else 0) + 1, 2 * largest + 1))
    table[: 1 if variance else None, largest] = 1.0
    for count in range(1, len(table) if variance else 1):
        targets = np.arange(max(count - largest, 0), count + largest + 1)
        changes = targets[(targets == 0) | (targets > js)] - count
        rises = is_rising[min(count, len(is_rising)) - 1]
        for stays in (*np.arange(pstay, 0, -0.05).round(10), 0):
            chances = _most_entropy(changes, variance, stays, is_rising=rises)
            if changes**2 @ chances > variance - 1e-6 or 0 not in changes:
                break
        table[count, changes + largest] = chances
    return table


def _most_entropy(changes: Int64s, variance: float, pstay: float, *, is_rising: bool) -> Floats:
    """The chances with most entropy that have mean 0 and no limit above 0 on average.

    A limit that is broken is held at 0, for as long as that doesn't push the chances above it.
    """
    falls = np.eye(len(changes))[:-1] - np.eye(len(changes))[1:]  # from each chance to the next
    limits = [
        changes**2 - variance,
        pstay * (0 in changes) - (changes == 0),
        *falls[is_rising & (changes[1:] <= 0)],
    ]
    held: list[int] = []
    for _ in range(200):
        chances, pushes = _fitted(np.stack([changes, *(limits[limit] for limit in held)], axis=1))
        excess = limits @ chances
        excess[held] = 0
        if (pushes[1:] < -1e-9).any():
            held = [limit for limit, push in zip(held, pushes[1:], strict=True) if push >= -1e-9]
        elif excess.max() <= _CLOSE:
            break
        else:
            held.append(int(excess.argmax()))
    return chances


def _fitted(powers: Floats) -> tuple[Floats, Floats]:
    """Chances proportional to exp(-powers @ x) with means 0, and x.

    They are found by Newton's method on the convex dual.
    """

    def value_at(place: Floats) -> float:
        return float(np.logaddexp.reduce(-powers @ place))

    place = np.zeros(powers.shape[1])
    for _ in range(200):
        value = value_at(place)
        chances = np.exp(-powers @ place - value)
        slope = chances @ powers
        curvature = (powers * chances[:, None]).T @ powers - np.outer(slope, slope)
        step = np.linalg.lstsq(curvature + 1e-15 * np.eye(len(place)), slope, rcond=None)[0]
        lengths, gain = 0.5 ** np.arange(30), 1e-4 * (slope @ step)
        enough = (
            each for each in lengths if value_at(place + each * step) <= value - each * gain + 1e-14
        )
        length = next(enough, 0.0)
        if np.abs(slope).max() < _CLOSE or length == 0:
            break
        place = place + length * step
    return chances / chances.sum(), place


def _of_parameters(largest: int, variance: float, js: int, pstay: float) -> Made:
    if js > largest:
        raise Wrong(
            {
                "js": f"{js} is larger than D, so a count of {js} could not change."
                f" Give at most {largest}."
            }
        )
    if variance < (least := _least_variance(js)):
        raise Wrong(
            {"V": f"With js={js} it can't be below {least}. Give a larger V or a smaller js."}
        )
    words = f"cell key, changes up to {largest}, variance {number_text(variance)}"
    return CellKey(table_of(largest, variance, js, pstay)), words


def _of_file(ptable: Path) -> Made:
    try:
        return cell_key_of_file(ptable), f"cell key by {ptable.name}"
    except (ValueError, UnreadableFile) as error:
        raise Wrong({"ptable": str(error)}) from None


CELL_KEYS = Method(
    "cell_key",
    Place.NUMBERS,
    (
        Form(
            "cell-key",
            _of_parameters,
            {"D": range(1, 31), "V": 900.0},
            {"js": (range(31), 0), "pstay": (1.0, 0.0)},
        ),
        Form("cell-key", _of_file, {"ptable": Path}),
    ),
)
