"""What `safetab accuracy` says of a world, and the same counted again from the truth and the files of a run."""

import hashlib
from collections import Counter
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from tests.commands import done
from tests.inside import KnownCounts, NoProgress, RunOptions, backend_of, checked_engine, read_inputs
from tests.releases import group, numbers_of

SHARES = ("mean_absolute_error", "bias", "coverage_95", "interval_coverage_95")


def assessed(world, out, *options):
    done("accuracy", *world, out, *options)
    return out


def rows_of(out, name="accuracy"):
    """Of the first configuration."""
    rows = pq.read_table(out / f"{name}.parquet").to_pylist()
    return [row for row in rows if row.get("configuration", "given") == "given"]


def whole(rows, **keys):
    """All kinds and sizes together."""
    wanted = {"iteration_kind": "all", "size_class": "all"} | keys
    return [row for row in rows if wanted.items() <= row.items()]


def of_first_run(key):
    return hashlib.sha256(bytes.fromhex(key) + (0).to_bytes(8, "big")).hexdigest()


def exact_totals(world):
    """The true size of every group with somebody in it."""
    checked, found = read_inputs(*world), {}
    with backend_of(RunOptions()) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        for level in checked.require().plan.levels:
            totals = engine.totals(level)
            for index, count in zip(totals.indices.tolist(), totals.confidential_counts[:, 0].tolist(), strict=True):
                one = level.universe.group_at(index)
                found[level.level.geography.label, one.region_id, one.iteration.code] = count
    return found


def errors_of_a_run(world, out, is_total):
    """Of totals by level and table: how many, the sums of SHARES, and how many other numbers have one draw."""
    truth, found = exact_totals(world), Counter[tuple[Any, ...]]()
    for row in numbers_of(out):
        key = (row["geography_level"], row["iteration_level"], row["table"])
        if row["status"] == "withheld":
            continue
        if is_total(row):
            true = truth.get(group(row), 0)
            error = row["count"] - true
            is_inside = row["interval_low"] <= true <= row["interval_high"]
            sums = (abs(error), error, abs(error) <= row["unclamped_margin_of_error"], is_inside)
            found["published", *key] += 1
            found.update({(name, *key): one for name, one in zip(SHARES, sums, strict=True)})
        elif row["noise_draws"] == 1:
            found["cells", *key] += 1
    return found


def errors_told(out):
    """The same, from the table of one assessed run."""
    found = Counter[tuple[Any, ...]]()
    for row in whole(rows_of(out)):
        key = (row["geography_level"], row["iteration_level"], row["table"])
        if row["table"] == "all" or not row["numbers"]:
            continue
        if row["number"] == "total":
            found["published", *key] += row["published"]
            found.update({(name, *key): round(row[name] * row["numbers"]) for name in SHARES})
        if row["number"] == "cell":
            found["cells", *key] += row["numbers"]
    return found


def known_counts_are_the_engines(world):
    """Of empty, unlikely and likely groups, in any table."""
    checked, random = read_inputs(*world), np.random.default_rng(20)
    with backend_of(RunOptions()) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        levels = checked.require().plan.levels
        known = KnownCounts(engine, levels, lambda: None)
        for level in levels:
            totals = engine.totals(level)
            assert_same_counts(known.totals(level), totals)
            some = random.choice(level.universe.size, min(60, level.universe.size), replace=False)
            large = totals.indices[np.argsort(totals.confidential_counts[:, 0])[-60:]]
            chosen = np.unique(np.concatenate([some, large if level.selected is None else level.selected.indices]))
            shape_of = random.integers(0, len(level.family.shapes), len(chosen))
            asked = {shape: chosen[shape_of == number] for number, shape in enumerate(level.family.shapes)}
            asked = {shape: of_shape for shape, of_shape in asked.items() if len(of_shape)}
            expected, seen = engine.cells(level, asked), known.cells(level, asked)
            for shape in asked:
                assert_same_counts(seen[shape], expected[shape])


def assert_same_counts(seen, expected):
    assert np.array_equal(seen.indices, expected.indices)
    assert np.array_equal(seen.confidential_counts, expected.confidential_counts)
