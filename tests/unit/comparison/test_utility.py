"""Utility: the same tables and measures for every protection, checked against counts made another way."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.counted_census import below_20, by_key, counted, nearest_5, protection, random_3
from tests.inside import (
    CountedCensus,
    NoProgress,
    RunOptions,
    accuracy_table,
    assess,
    error_by_size,
    key_of_seed,
    share_by_size,
    size_class_name,
    size_class_of,
    summary,
    utility,
)
from tests.worlds.people import write_small_census

NONE, SAFETAB = protection("none"), protection("safetab", is_safetab=True)
BLOCK = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_census(tmp_path_factory.mktemp("utility") / "census", people=2_000, tracts=8)


@pytest.fixture(scope="module")
def truth(census: Path) -> Iterator[CountedCensus]:
    with counted(census / "parameters", census / "data") as of_census:
        yield of_census


@pytest.fixture(scope="module")
def exact(truth: CountedCensus) -> pa.Table:
    return utility(NONE, truth, runs=3, seed=1)


@pytest.fixture(scope="module")
def moved(census: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CountedCensus]:
    """The same people, of whom 3 in 10 have changed places inside their state."""
    folder = Path(shutil.copytree(census, tmp_path_factory.mktemp("moved") / "census"))
    random = np.random.default_rng(5)
    for file in sorted((folder / "data" / "person-records").rglob("*.parquet")):
        table = pq.read_table(file)
        columns, order = table.to_pydict(), np.arange(len(table))
        for state in set(columns["TABBLKST"]):
            here = [row for row, of_row in enumerate(columns["TABBLKST"]) if of_row == state and random.random() < 0.3]
            order[here] = random.permutation(here)
        for name in BLOCK:
            place = table.column_names.index(name)
            table = table.set_column(place, table.schema.field(name), table[name].take(pa.array(order)))
        pq.write_table(table, file)
    with counted(folder / "parameters", folder / "data") as of_census:
        yield of_census


def rows_of(table: pa.Table, **wanted: object) -> list[dict]:
    wanted = {"kind": "all", "size_class": "all", "sort": "total"} | wanted
    for name, value in wanted.items():
        table = table.filter(pc.equal(table[name], value))
    return table.to_pylist()


def totals_of(census: CountedCensus) -> dict[str, dict[int, int]]:
    """By level and index of group."""
    levels = ((str(level.plan), census.known.totals(level.plan)) for level in census.levels.values())
    return {
        name: dict(zip(totals.indices.tolist(), totals.confidential_counts[:, 0].tolist(), strict=True))
        for name, totals in levels
    }


def test_everybody_in_an_area_is_counted_once_whatever_their_groups(census, truth):
    records = pq.read_table(census / "data" / "person-records").to_pydict()
    tracts = Counter(map("".join, zip(*(records[name] for name in BLOCK[:3]), strict=True)))
    for level in truth.levels.values():
        people, geography = level.area_people, level.plan.level.geography
        if geography.label in {"TRACT", "PR-TRACT"}:
            ids = map(geography.kind.ids.text, level.plan.universe.entities.tolist())
            assert people.tolist() == [tracts[tract] for tract in ids]
        if geography.label == "USA":
            assert people.tolist() == [sum(count for tract, count in tracts.items() if tract[:2] != "72")]


@pytest.mark.parametrize("tables", ["as-released", "every-group"])
def test_a_group_has_the_table_that_is_asked_for_and_its_exact_numbers(census, tables):
    with counted(census / "parameters", census / "data", tables) as asked:
        seen = set()
        for level in asked.levels.values():
            thresholds, family = level.plan.design.thresholds.totals, level.plan.family
            iterations = level.plan.universe.index.iteration_of(level.groups)
            for place in range(len(level.groups)):
                shape = sum(level.sizes[place] >= threshold for threshold in thresholds)
                shape *= not level.plan.universe.is_total_only[iterations[place]]
                assert level.shapes[place] == (1 if tables == "every-group" else shape)
            for number, (shape, groups, numbers) in enumerate(asked.tables[str(level.plan)]):
                assert shape is family.shapes[number]
                assert groups.tolist() == level.groups[level.shapes == number].tolist()
                cells = asked.known.cells(level.plan, {shape: groups})[shape].confidential_counts
                assert np.array_equal(numbers[:, 0], cells.sum(axis=1))
                assert np.array_equal(numbers.min(axis=1), cells.min(axis=1))
                seen |= {shape.label} if len(groups) else set()
        assert "sex_age_4" in seen


def test_without_protection_everything_is_shown_exact_and_adds_up(truth, exact):
    totals = totals_of(truth)
    for row in rows_of(exact):
        sizes = totals[row["level"]].values()
        assert (row["groups"], row["people"], row["runs"]) == (len(sizes), sum(sizes), 1)
        assert row["published_groups_share"] == row["published_people_share"] == row["interval_holding_share"] == 1
        assert row["areas_not_additive_share"] in {0, None}
        assert row["rank_changes"] == 0
    assert {row["largest_absolute_error"] for row in exact.to_pylist()} == {0}
    assert {row["tables_not_additive_share"] for row in exact.to_pylist()} == {0, None}
    numbers = [size for sizes in totals.values() for size in sizes.values()]
    assert summary(exact) == {
        "error_10_to_99_groups": sum(10 <= size < 100 for size in numbers),
        "error_100_to_999_groups": sum(100 <= size < 1_000 for size in numbers),
        "groups_published": 1, "groups_1_to_9_published": 1, "groups_1_to_9_shown_as_0": 0, "groups_10_to_99_published": 1, "cells_shown": 1,
        "people_published": 1, "error_10_to_99": 0, "error_100_to_999": 0, "false_zeros": 0, "interval_holding": 1,
        "false_nonzeros": None, "false_nonzeros_of_a_draw": 0, "tables_not_additive": 0, "areas_not_additive": 0,
    }  # fmt: skip


def test_errors_of_rounded_totals_are_those_of_a_plain_count_in_every_class(truth):
    table = utility(protection("nearest 5", nearest_5, 2), truth, runs=4, seed=1)
    rows = [row for row in table.to_pylist() if (row["kind"], row["sort"]) == ("all", "total")]
    row_of = {(row["level"], row["size_class"]): row for row in rows}
    for level, totals in totals_of(truth).items():
        by_class: dict[str, list[tuple[int, int]]] = {}
        for size in totals.values():
            by_class.setdefault(size_class_name(int(size_class_of(np.array([size]))[0])), []).append(
                (size, (size + 2) // 5 * 5)
            )
        for label, pairs in by_class.items():
            row = row_of[level, label]
            errors = [shown - size for size, shown in pairs]
            assert row["numbers"] == row["groups"] == len(pairs)
            assert row["mean_absolute_error"] == pytest.approx(np.mean(np.abs(errors)))
            assert row["bias"] == pytest.approx(np.mean(errors))
            assert row["largest_absolute_error"] == max(map(abs, errors))
            assert row["p90_absolute_error"] == np.quantile(np.abs(errors), 0.9, method="inverted_cdf")
            assert row["false_zeros_share"] == np.mean([shown == 0 for _, shown in pairs])
            relative = np.quantile([abs(shown / size - 1) for size, shown in pairs], 0.5, method="inverted_cdf")
            assert row["median_relative_error"] == pytest.approx(relative, rel=0.012, abs=1e-6)
            assert row["runs"] == 1  # nothing is random


def test_a_withheld_number_has_no_error_and_its_table_is_not_judged(truth, exact):
    table = utility(protection("below 20", below_20, 0), truth, runs=1, seed=1)
    for level, totals in totals_of(truth).items():
        (row,) = rows_of(table, level=level)
        shown = [size for size in totals.values() if size > 19]
        assert row["numbers"] == len(shown)
        assert row["published_groups_share"] == pytest.approx(len(shown) / len(totals))
        assert row["published_people_share"] == pytest.approx(sum(shown) / sum(totals.values()))
        assert row["mean_absolute_error"] in {0, None}
    shares = share_by_size(table)
    assert (shares["10 to 19"], shares["20 to 49"]) == (0, 1)
    assert sum(row["tables"] for row in rows_of(table)) < sum(row["tables"] for row in rows_of(exact))
    cells = [
        row
        for row in table.to_pylist()
        if (row["kind"], row["size_class"]) == ("all", "all") and row["sort"] != "total"
    ]
    shown, asked = (sum(row[name] for row in cells) for name in ("numbers", "asked"))
    assert 0 < shown < asked
    assert summary(table)["cells_shown"] == pytest.approx(shown / asked)


@pytest.mark.slow
def test_runs_differ_and_their_spread_is_the_standard_error(truth):
    several = utility(protection("round-random:own", random_3, 2), truth, runs=6, seed=7)
    assert several.equals(utility(protection("round-random:own", random_3, 2), truth, runs=6, seed=7))
    assert not several.equals(utility(protection("round-random:own", random_3, 2), truth, runs=6, seed=8))
    (row,) = rows_of(several, level="(TRACT, Detailed)")
    # an error is 0, or 1 with chance 2/3 and 2 with chance 1/3: at most 0.5 / sqrt(groups) of spread
    assert 0 < row["mean_absolute_error_se"] < 2 * 0.5 / np.sqrt(row["groups"]) / np.sqrt(6) * 2
    assert row["interval_holding_share"] == 1
    assert abs(row["bias"]) < 6 * 1 / np.sqrt(row["numbers"])
    assert error_by_size(several)["1 to 9"] == pytest.approx(8 / 9, rel=0.4)


def test_an_interval_that_is_too_narrow_is_found_out(truth):
    (row,) = rows_of(utility(protection("bold", nearest_5, 1), truth, runs=1, seed=1), level="(TRACT, Detailed)")
    assert row["interval_share"] == 1
    assert 0.3 < row["interval_holding_share"] < 0.9


def test_small_groups_that_are_shown_as_0_are_counted_apart(truth):
    def mostly_nothing(tables: object, _: np.random.Generator) -> tuple:
        return np.where(tables.counts < 5, 0, tables.counts), (tables.counts > 3) & (tables.counts < 10)

    table = utility(protection("0 or withheld", mostly_nothing), truth, runs=1, seed=1)
    small = [size for sizes in totals_of(truth).values() for size in sizes.values() if size <= 9]
    found = summary(table)
    assert found["groups_1_to_9_shown_as_0"] == pytest.approx(sum(size <= 3 for size in small) / len(small))
    assert found["groups_1_to_9_shown_as_0"] == pytest.approx(found["groups_1_to_9_published"]) != 0


def test_one_total_too_many_breaks_the_sum_of_one_area_and_no_other(truth):
    nested = {level: parts for level, parts in truth.parts.items() if parts is not None}
    assert nested.keys() >= {"(TRACT, Detailed)", "(COUNTY, Detailed)"}
    assert not any("PLACE" in level for level in nested)  # places don't cover a state
    parts, seen = nested["(TRACT, Detailed)"], []
    (target,) = (level for level in truth.levels.values() if str(level.plan) == "(TRACT, Detailed)")

    def one_more(tables: object, _: np.random.Generator) -> tuple:
        counts = tables.counts.copy()
        if np.array_equal(counts, target.sizes[target.shapes == 0]) and not seen:
            seen.append(counts[0])
            counts[0] += 1
        return (counts,)

    table = utility(protection("one more", one_more), truth, runs=1, seed=1)
    assert len(seen) == 1
    (row,) = rows_of(table, level="(TRACT, Detailed)")
    assert row["areas_not_additive_share"] * parts.adds_up.sum() == pytest.approx(1)
    areas = sum(each["areas"] or 0 for each in rows_of(table))
    assert summary(table)["areas_not_additive"] * areas == pytest.approx(1)
    assert {each["areas_not_additive_share"] for each in rows_of(table) if each != row} <= {0, None}


def test_moved_people_are_errors_that_add_up_and_fill_empty_groups(truth, moved):
    swap = protection("swap", records=object())
    table = utility(swap, truth, runs=5, seed=1, published=moved)
    before, after = totals_of(truth), totals_of(moved)
    for level, totals in before.items():
        (row,) = rows_of(table, level=level)
        errors = [after[level].get(group, 0) - size for group, size in totals.items()]
        assert row["mean_absolute_error"] == pytest.approx(np.mean(np.abs(errors)))
        assert row["false_zeros_share"] == pytest.approx(np.mean([group not in after[level] for group in totals]))
        assert (row["interval_share"], row["interval_holding_share"]) == (0, None)
        assert row["areas_not_additive_share"] in {0, None}
        filled = after[level].keys() - totals.keys()
        of_empty = rows_of(table, level=level, size_class="0")
        assert [each["numbers"] for each in of_empty] == ([len(filled)] if filled else [])
        assert all(each["false_nonzeros_share"] == 1 for each in of_empty)
    assert summary(table)["tables_not_additive"] == 0
    empty = [row for row in rows_of(table, size_class="0") if row["numbers"]]
    cells = [
        row for row in table.to_pylist() if (row["kind"], row["size_class"]) == ("all", "all") and row["true_zeros"]
    ]
    zeros = sum(row["true_zeros"] for row in (*empty, *cells))
    false = sum(row["true_zeros"] * row["false_nonzeros_share"] for row in (*empty, *cells))
    assert summary(table)["false_nonzeros"] == pytest.approx(false / zeros)
    rounded = utility(protection("swap+5", nearest_5, 2, records=object()), truth, runs=1, seed=1, published=moved)
    (row,) = rows_of(rounded, level="(TRACT, Detailed)")
    errors = [(after[row["level"]].get(group, 0) + 2) // 5 * 5 - size for group, size in before[row["level"]].items()]
    assert row["mean_absolute_error"] == pytest.approx(np.mean(np.abs(errors)))


def test_safetab_has_the_numbers_of_accuracy_with_the_same_key(truth):
    table = utility(SAFETAB, truth, runs=2, seed=9)
    options = RunOptions(test_key=key_of_seed(9))
    accuracy = accuracy_table(assess(truth.inputs, truth.known, options, 2, NoProgress()), "given").to_pylist()
    names = ("geography_level", "iteration_level", "iteration_kind", "size_class", "table", "number")
    by_class: dict[tuple, list[dict]] = {}
    for each in accuracy:
        by_class.setdefault(tuple(each[name] for name in names), []).append(each)
    compared = 0
    for row in table.to_pylist():
        geography, groups = row["level"].strip("()").split(", ")
        size = {"all": "1 or more"}.get(row["size_class"], row["size_class"])
        wanted = (geography, groups, row["kind"], size, "all", row["sort"])
        theirs = by_class.get(wanted, [])
        assert sum(each["numbers"] for each in theirs) == row["numbers"] or row["size_class"] in {
            "10 to 99",
            "100 to 999",
            "1,000 or more",
        }
        if len(theirs) == 1 and row["numbers"]:
            (their,) = theirs
            assert row["mean_absolute_error"] == their["mean_absolute_error"]
            assert row["bias"] == their["bias"]
            assert row["p90_absolute_error"] == their["absolute_error_p90"]
            assert row["median_relative_error"] == their["relative_error_p50"]
            holding = "interval_coverage_95" if row["sort"] == "total" else "coverage_95"
            assert row["interval_holding_share"] == their[holding]
            compared += 1
            if row["sort"] == "total" and row["size_class"] != "0":
                assert row["published_groups_share"] == pytest.approx(their["published_share"])
    assert compared > 100


@pytest.mark.slow
def test_threads_change_no_number(census, truth):
    with counted(census / "parameters", census / "data", options=RunOptions(threads=1)) as alone:
        one = utility(SAFETAB, alone, runs=2, seed=4)
        assert truth.options.threads > 1
        assert one.equals(utility(SAFETAB, truth, runs=2, seed=4))


def test_keys_are_new_in_every_draw(truth):
    table = utility(protection("cell-key:own", by_key, 1), truth, runs=2, seed=1)
    (row,) = rows_of(table, level="(TRACT, Detailed)")
    assert row["runs"] == 2
    assert row["mean_absolute_error_se"] > 0
    assert row["bias"] == pytest.approx(0.5, abs=6 * 0.5 / np.sqrt(row["numbers"]))
