"""Utility: the same tables and measures for every protection, checked against counts made another way."""

import re
import shutil
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import cases_of
from tests.counted_census import below_20, by_key, counted, nearest_5, protection, random_3
from tests.inside import (
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
from tests.worlds.world import World

SAFETAB = protection("safetab", is_safetab=True)
BLOCK = ["TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"]
TRACT = "(TRACT, Detailed)"


@pytest.fixture(scope="module")
def census(tmp_path_factory):
    """Of the states alone."""
    census = World.of(write_small_census(tmp_path_factory.mktemp("utility") / "census", people=2_000, tracts=8))
    unused = [f"privacy_budget_p_level_{level}" for level in ("1_usa", "1_state", "2_place", "1_aiannh", "2_aiannh")]
    census.configure(run_pr=False, **dict.fromkeys(unused, 0))
    return census


@pytest.fixture(scope="module")
def truth(census):
    with counted(*census) as of_census:
        yield of_census


@pytest.fixture(scope="module")
def exact(truth):
    return utility(protection("none"), truth, runs=3, seed=1)


@pytest.fixture(scope="module")
def moved(census, tmp_path_factory):
    """The same people, of whom 3 in 10 have changed places inside their state."""
    data, random = tmp_path_factory.mktemp("moved") / "data", np.random.default_rng(5)
    shutil.copytree(census.data, data)
    for file in sorted((data / "person-records").rglob("*.parquet")):
        table = pq.read_table(file)
        states, order = table["TABBLKST"].to_numpy(), np.arange(len(table))
        for state in np.unique(states):
            here = np.flatnonzero((states == state) & (random.random(len(table)) < 0.3))
            order[here] = random.permutation(here)
        for name in BLOCK:
            place = table.column_names.index(name)
            table = table.set_column(place, table.schema.field(name), table[name].take(pa.array(order)))
        pq.write_table(table, file)
    with counted(census.parameters, data) as of_census:
        yield of_census


def drawn(truth, change, largest_error=None, *, spec="own", runs=1, seed=1, **given):
    """The utility of a protection that changes numbers so."""
    is_drawn_again = spec != "own"
    return utility(
        protection(spec, change, largest_error, is_drawn_again=is_drawn_again), truth, runs=runs, seed=seed, **given
    )


def rows_of(table, *, of_totals=True, **wanted):
    wanted = {"kind": "all", "size_class": "all"} | wanted
    rows = (row for row in table.to_pylist() if row | wanted == row and (row["sort"] == "total") == of_totals)
    return [SimpleNamespace(**row) for row in rows]


def of_tracts(table):
    (row,) = rows_of(table, level=TRACT)
    return row


def totals_of(census):
    """By level and index of group."""
    levels = ((str(level.plan), census.known.totals(level.plan)) for level in census.levels.values())
    return {
        name: dict(zip(totals.indices.tolist(), totals.confidential_counts[:, 0].tolist(), strict=True))
        for name, totals in levels
    }


def test_everybody_in_an_area_is_counted_once_whatever_their_groups(census, truth):
    records = pq.read_table(census.data / "person-records").to_pydict()
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
    with counted(*census, tables) as asked:
        seen = set()
        for level in asked.levels.values():
            universe = level.plan.universe
            shapes = np.ones(len(level.groups))
            if tables == "as-released":
                shapes = np.searchsorted(level.plan.design.thresholds.totals, level.sizes, side="right")
            is_total_only = np.array(universe.is_total_only)[universe.index.iteration_of(level.groups)]
            assert level.shapes.tolist() == np.where(is_total_only & (tables == "as-released"), 0, shapes).tolist()
            for number, (shape, groups, numbers) in enumerate(asked.tables[str(level.plan)]):
                assert shape is level.plan.family.shapes[number]
                assert groups.tolist() == level.groups[level.shapes == number].tolist()
                cells = asked.known.cells(level.plan, {shape: groups})[shape].confidential_counts
                assert np.array_equal(numbers[:, 0], cells.sum(axis=1))
                assert np.array_equal(numbers.min(axis=1), cells.min(axis=1))
                seen |= {shape.label} if len(groups) else set()
        assert "sex_age_4" in seen


def test_without_protection_everything_is_shown_exact_and_adds_up(truth, exact):
    totals = totals_of(truth)
    for row in rows_of(exact):
        sizes = totals[row.level].values()
        assert (row.groups, row.people, row.runs) == (len(sizes), sum(sizes), 1)
        assert row.published_groups_share == row.published_people_share == row.interval_holding_share == 1
        assert row.areas_not_additive_share in {0, None}
        assert row.rank_changes == 0
    assert {*exact["largest_absolute_error"].to_pylist()} == {0}
    assert {*exact["tables_not_additive_share"].to_pylist()} == {0, None}
    sizes = [size for of_level in totals.values() for size in of_level.values()]
    found = dict(summary(exact))
    assert found.pop("error_10_to_99_groups") == sum(10 <= size < 100 for size in sizes)
    assert found.pop("error_100_to_999_groups") == sum(100 <= size < 1_000 for size in sizes)
    assert found.pop("false_nonzeros") is None
    shares = {name for name, value in found.items() if value == 1}
    assert shares == {name for name in found if re.search("published|cells_shown|holding", name)}
    assert {value for name, value in found.items() if name not in shares} == {0}


def test_errors_of_rounded_totals_are_those_of_a_plain_count_in_every_class(truth):
    table = drawn(truth, nearest_5, 2, runs=4)
    for level, totals in totals_of(truth).items():
        sizes = np.array([*totals.values()])
        classes = size_class_of(sizes)
        for number in np.unique(classes).tolist():
            (row,) = rows_of(table, level=level, size_class=size_class_name(number))
            here = sizes[classes == number]
            shown = (here + 2) // 5 * 5
            errors = shown - here
            assert row.numbers == row.groups == len(here)
            assert row.mean_absolute_error == pytest.approx(np.abs(errors).mean())
            assert row.bias == pytest.approx(errors.mean())
            assert row.largest_absolute_error == np.abs(errors).max()
            assert row.p90_absolute_error == np.quantile(np.abs(errors), 0.9, method="inverted_cdf")
            assert row.false_zeros_share == np.mean(shown == 0)
            relative = np.quantile(np.abs(shown / here - 1), 0.5, method="inverted_cdf")
            assert row.median_relative_error == pytest.approx(relative, rel=0.012, abs=1e-6)
            assert row.runs == 1  # nothing is random


def test_a_withheld_number_has_no_error_and_its_table_is_not_judged(truth, exact):
    table = drawn(truth, below_20, 0)
    for level, totals in totals_of(truth).items():
        (row,) = rows_of(table, level=level)
        shown = [size for size in totals.values() if size > 19]
        assert row.numbers == len(shown)
        assert row.published_groups_share == pytest.approx(len(shown) / len(totals))
        assert row.published_people_share == pytest.approx(sum(shown) / sum(totals.values()))
        assert row.mean_absolute_error in {0, None}
    shares = share_by_size(table)
    assert (shares["10 to 19"], shares["20 to 49"]) == (0, 1)
    assert sum(row.tables for row in rows_of(table)) < sum(row.tables for row in rows_of(exact))
    cells = rows_of(table, of_totals=False)
    shown, asked = (sum(getattr(row, name) for row in cells) for name in ("numbers", "asked"))
    assert 0 < shown < asked
    assert summary(table)["cells_shown"] == pytest.approx(shown / asked)


@pytest.mark.slow
def test_runs_differ_and_their_spread_is_the_standard_error(truth):
    several, same, other = (drawn(truth, random_3, 2, spec="round-random:own", runs=6, seed=seed) for seed in (7, 7, 8))
    assert several.equals(same)
    assert not several.equals(other)
    row = of_tracts(several)
    # an error is 0, or 1 with chance 2/3 and 2 with chance 1/3: at most 0.5 / sqrt(groups) of spread
    assert 0 < row.mean_absolute_error_se < 2 * 0.5 / np.sqrt(row.groups) / np.sqrt(6) * 2
    assert row.interval_holding_share == 1
    assert abs(row.bias) < 6 * 1 / np.sqrt(row.numbers)
    assert error_by_size(several)["1 to 9"] == pytest.approx(8 / 9, rel=0.4)


def test_an_interval_that_is_too_narrow_is_found_out(truth):
    row = of_tracts(drawn(truth, nearest_5, 1))
    assert row.interval_share == 1
    assert 0.3 < row.interval_holding_share < 0.9


def test_small_groups_that_are_shown_as_0_are_counted_apart(truth):
    def mostly_nothing(tables, _):
        return np.where(tables.counts < 5, 0, tables.counts), (tables.counts > 3) & (tables.counts < 10)

    found = summary(drawn(truth, mostly_nothing))
    small = [size for sizes in totals_of(truth).values() for size in sizes.values() if size <= 9]
    assert found["groups_1_to_9_shown_as_0"] == pytest.approx(sum(size <= 3 for size in small) / len(small))
    assert found["groups_1_to_9_shown_as_0"] == pytest.approx(found["groups_1_to_9_published"]) != 0


def test_one_total_too_many_breaks_the_sum_of_one_area_and_no_other(truth):
    nested = {level: parts for level, parts in truth.parts.items() if parts is not None}
    assert nested.keys() >= {TRACT, "(COUNTY, Detailed)"}
    assert not any("PLACE" in level for level in nested)  # places don't cover a state
    (target,) = (level for level in truth.levels.values() if str(level.plan) == TRACT)
    seen = []

    def one_more(tables, _):
        counts = tables.counts.copy()
        if np.array_equal(counts, target.sizes[target.shapes == 0]) and not seen:
            seen.append(counts[0])
            counts[0] += 1
        return (counts,)

    table = drawn(truth, one_more)
    assert len(seen) == 1
    assert of_tracts(table).areas_not_additive_share * nested[TRACT].adds_up.sum() == pytest.approx(1)
    assert summary(table)["areas_not_additive"] * sum(each.areas or 0 for each in rows_of(table)) == pytest.approx(1)
    assert {each.areas_not_additive_share for each in rows_of(table) if each.level != TRACT} <= {0, None}


def test_moved_people_are_errors_that_add_up_and_fill_empty_groups(truth, moved):
    table = utility(protection("swap", records=object()), truth, runs=5, seed=1, published=moved)
    before, after = totals_of(truth), totals_of(moved)
    for level, totals in before.items():
        (row,) = rows_of(table, level=level)
        errors = [after[level].get(group, 0) - size for group, size in totals.items()]
        assert row.mean_absolute_error == pytest.approx(np.mean(np.abs(errors)))
        assert row.false_zeros_share == pytest.approx(np.mean([group not in after[level] for group in totals]))
        assert (row.interval_share, row.interval_holding_share) == (0, None)
        assert row.areas_not_additive_share in {0, None}
        filled = after[level].keys() - totals.keys()
        of_empty = rows_of(table, level=level, size_class="0")
        assert [each.numbers for each in of_empty] == ([len(filled)] if filled else [])
        assert all(each.false_nonzeros_share == 1 for each in of_empty)
    assert summary(table)["tables_not_additive"] == 0
    empty = [row for row in rows_of(table, size_class="0") if row.numbers]
    rows = [*empty, *(row for row in rows_of(table) + rows_of(table, of_totals=False) if row.true_zeros)]
    false = sum(row.true_zeros * row.false_nonzeros_share for row in rows)
    assert summary(table)["false_nonzeros"] == pytest.approx(false / sum(row.true_zeros for row in rows))
    rounded = utility(protection("swap+5", nearest_5, 2, records=object()), truth, runs=1, seed=1, published=moved)
    errors = [(after[TRACT].get(group, 0) + 2) // 5 * 5 - size for group, size in before[TRACT].items()]
    assert of_tracts(rounded).mean_absolute_error == pytest.approx(np.mean(np.abs(errors)))


KEYS = "geography_level iteration_level iteration_kind size_class table number"


def test_safetab_has_the_numbers_of_accuracy_with_the_same_key(truth):
    by_class = {}
    for each in accuracy_table(
        assess(truth.inputs, truth.known, RunOptions(test_key=key_of_seed(9)), 2, NoProgress()), "given"
    ).to_pylist():
        by_class.setdefault(tuple(each[name] for name in KEYS.split()), []).append(each)
    compared = 0
    for row in utility(SAFETAB, truth, runs=2, seed=9).to_pylist():
        is_total = row["sort"] == "total"
        size = "1 or more" if row["size_class"] == "all" else row["size_class"]
        level = row["level"].strip("()").split(", ")
        theirs = by_class.get((*level, row["kind"], size, "all", row["sort"]), [])
        if size not in {"10 to 99", "100 to 999", "1,000 or more"}:
            assert sum(each["numbers"] for each in theirs) == row["numbers"]
        if len(theirs) == 1 and row["numbers"]:
            (their,) = theirs
            for own, name in cases_of(
                f"""
                mean_absolute_error | mean_absolute_error
                bias | bias
                p90_absolute_error | absolute_error_p90
                median_relative_error | relative_error_p50
                interval_holding_share | {"interval_" * is_total}coverage_95
                """
            ):
                assert row[own] == their[name], own
            compared += 1
            if is_total and size != "0":
                assert row["published_groups_share"] == pytest.approx(their["published_share"])
    assert compared > 100


@pytest.mark.slow
def test_threads_change_no_number(census, truth):
    with counted(*census, options=RunOptions(threads=1)) as alone:
        one = utility(SAFETAB, alone, runs=2, seed=4)
    assert truth.options.threads > 1
    assert one.equals(utility(SAFETAB, truth, runs=2, seed=4))


def test_keys_are_new_in_every_draw(truth):
    row = of_tracts(drawn(truth, by_key, 1, spec="cell-key:own", runs=2))
    assert row.runs == 2
    assert row.mean_absolute_error_se > 0
    assert row.bias == pytest.approx(0.5, abs=6 * 0.5 / np.sqrt(row.numbers))
