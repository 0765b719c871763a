"""The rows of one level in the table of utility."""

from __future__ import annotations

from math import prod, sqrt

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.assessment.tally import PARTS_OF_ONE, SIZE_STARTS, quantiles, size_class_name, without_empty_end
from safetab.comparison.measures.error_tally import ErrorTally, Floats, Sum
from safetab.comparison.tables.counted_level import CountedLevel

ALL = "all"
SIZE_CLASSES = tuple(map(size_class_name, range(len(SIZE_STARTS))))
"""Accuracy's classes of true size."""
MERGED = {"10 to 99": (10, 99), "100 to 999": (100, 999), "1,000 or more": (1_000, None), ALL: (1, None)}
"""Classes that several of them make up, by their least and largest true size; "all" are all that are not empty."""
_LABELS = (*SIZE_CLASSES, *MERGED)
_IN_CLASS = np.array(  # a row for each of the labels, a column for each of accuracy's classes
    [[label == name for name in SIZE_CLASSES] for label in SIZE_CLASSES]
    + [[first <= start <= (last or start) for start in SIZE_STARTS] for first, last in MERGED.values()]
)

_COUNTS = ("groups", "people", "asked", "numbers", "largest_absolute_error", "true_zeros", "tables", "areas", "runs")


def level_rows(
    level: CountedLevel, tally: ErrorTally, protection: str, kinds: tuple[str, ...], *, has_interval: bool
) -> pa.Table:
    """A row for each sort of number, kind of group and class of size that has groups or numbers."""
    columns = _columns(level, tally, has_interval=has_interval)
    has_row = (columns["numbers"] > 0) | (columns["asked"] > 0)
    of_sort, of_kind, of_size = np.nonzero(has_row)
    found = {
        "protection": pa.array([protection] * len(of_sort), pa.string()),
        "level": pa.array([str(level.plan)] * len(of_sort), pa.string()),
        "kind": pa.array(np.array([*kinds, ALL])[of_kind], pa.string()),
        "size_class": pa.array(np.array(_LABELS)[of_size], pa.string()),
        "sort": pa.array(np.array([sort.label for sort in tally.sorts])[of_sort], pa.string()),
    }
    for name, values in columns.items():
        rows = pa.array(values[has_row], from_pandas=True)  # null where not a number
        found[name] = rows.cast(pa.int64()) if name in _COUNTS else rows
    return pa.table(found)


def _columns(level: CountedLevel, tally: ErrorTally, *, has_interval: bool) -> dict[str, Floats]:
    """The columns of numbers: arrays by sort of number, kind of group (all kinds last), and class of size."""
    by_run = _merged(tally.sums)
    sums, runs = by_run.sum(axis=0), len(by_run)
    numbers, true_zeros = sums[Sum.NUMBERS], sums[Sum.TRUE_ZEROS]
    of_intervals = numbers * has_interval
    is_total = np.arange(len(tally.sorts))[:, None, None] == 0
    classes, shape = level.classes(level.groups, level.sizes), tally.sums.shape[-2:]
    groups, people = (
        np.where(is_total, _merged(np.bincount(classes, weights, prod(shape)).reshape(shape)), np.nan)
        for weights in (None, level.sizes)
    )
    in_shape = [[len(sort.lines(family_shape)) for family_shape in level.plan.family.shapes] for sort in tally.sorts]
    asked = _merged(
        np.stack([np.bincount(classes, np.array(each)[level.shapes], prod(shape)).reshape(shape) for each in in_shape])
    )
    tables = np.where(is_total, sums[Sum.TABLES], np.nan)
    of_all_sizes = is_total & (np.array(_LABELS) == ALL)
    fits = np.append(tally.fits, tally.fits.sum(axis=1, keepdims=True), axis=1)[..., None] * of_all_sizes[:, None]
    areas, not_additive, rankings, changes = np.moveaxis(fits, 1, 0)
    absolute, relative = (
        np.moveaxis(_merged(np.moveaxis(without_empty_end(each), -1, 0)), 0, -1) for each in tally.histograms()
    )
    largest = (tally.largest[:, :, None] * _IN_CLASS).max(axis=-1)
    largest = np.concatenate([largest, largest.max(axis=1, keepdims=True)], axis=1)
    return {
        "groups": groups,
        "people": people,
        "published_groups_share": _ratio(numbers / runs, groups),
        "published_people_share": _ratio(sums[Sum.TRUTH] / runs, people),
        "asked": asked,
        "numbers": numbers,
        "mean_absolute_error": _ratio(sums[Sum.ABSOLUTE], numbers),
        "mean_absolute_error_se": _standard_error(_ratio(by_run[:, Sum.ABSOLUTE], by_run[:, Sum.NUMBERS])),
        "p90_absolute_error": quantiles(absolute, 0.9),
        "largest_absolute_error": np.where(numbers > 0, largest, np.nan),
        "bias": _ratio(sums[Sum.ERROR], numbers),
        "median_relative_error": quantiles(relative, 0.5) / PARTS_OF_ONE,
        "true_zeros": true_zeros,
        "false_zeros_share": _ratio(sums[Sum.FALSE_ZEROS], numbers - true_zeros),
        "false_nonzeros_share": _ratio(sums[Sum.FALSE_NONZEROS], true_zeros),
        "interval_share": _ratio(of_intervals, numbers),
        "interval_holding_share": _ratio(sums[Sum.HOLDING], of_intervals),
        "tables": tables,
        "tables_not_additive_share": _ratio(sums[Sum.NOT_ADDITIVE], tables),
        "mean_gap": _ratio(sums[Sum.GAP], tables),
        "areas": np.where(of_all_sizes, areas, np.nan),
        "areas_not_additive_share": _ratio(not_additive, areas),
        "rank_changes": _ratio(changes, rankings),
        "runs": np.full_like(numbers, runs),
    }


def _merged(values: NDArray[np.generic]) -> Floats:
    """Append the classes that others make up, and all kinds together; the last axes are kinds and classes."""
    found = values @ _IN_CLASS.T.astype(np.float64)
    return np.concatenate([found, found.sum(axis=-2, keepdims=True)], axis=-2)


def _ratio(above: Floats, below: Floats) -> Floats:
    """The quotient, NaN where the divisor is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def _standard_error(of_runs: Floats) -> Floats:
    """That of the mean over runs; NaN for one run, or if a run has none."""
    runs = len(of_runs)
    if runs == 1:
        return np.full(of_runs.shape[1:], np.nan)
    return np.asarray(of_runs.std(axis=0, ddof=1) / sqrt(runs))
