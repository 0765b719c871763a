"""Records that are all alike, in the first area, and with all eight answers, are counted as a judge counts them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.engines.test_specified_records import row_of, several, simple_world
from tests.inside import counter_module
from tests.specified_records import Judge, Row, SpecifiedWorld

SMALL_CROWDS = (1, 255, 1_001, 2_049)
LARGE_CROWDS = (32_768, 70_000)  # beyond 16 bits; what compiles the loops takes seconds


def counted_right(world: SpecifiedWorld, rows: list[Row], times: list[int], folder: Path) -> None:
    """Write each row so many times, and compare every count with the judge's."""
    folder.mkdir(parents=True)
    places = pa.array([place for place, count in enumerate(times) for _ in range(count)])
    table = pa.table({name: [row[name] for row in rows] for name in world.record.columns})
    pq.write_table(table.take(places), folder / "people.parquet")
    engine = world.engine(folder, folder)
    assert [one for one in engine.check() if one.is_error] == []
    found, judge = world.counts(engine), Judge(world)
    engine.close()
    due: dict[tuple[str, str, str], Counter[int]] = {}
    for row, count in zip(rows, times, strict=True):
        for group in judge.groups(row):
            due.setdefault(group, Counter())[judge.attribute(row)] += count
    assert found == due
    assert found


def crowds_are_counted(sizes: tuple[int, ...], folder: Path) -> None:
    world = simple_world()
    codes = [f"{number:03d}" for number in range(5, 5 + len(sizes))]
    counted_right(world, [row_of(world, E0=code) for code in codes], list(sizes), folder / "crowds")


def small_crowds_are_counted(folder: Path) -> None:
    crowds_are_counted(SMALL_CROWDS, folder)


def test_small_crowds_are_counted(tmp_path):
    small_crowds_are_counted(tmp_path)


@pytest.mark.slow
def test_large_crowds_are_counted(tmp_path):
    crowds_are_counted(LARGE_CROWDS, tmp_path)


def sparse_and_dense_totals_are_right_in_every_area(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The first area, whose groups have the first numbers, has records too."""
    world = simple_world()
    keys = [key for key in world.keys if world.place[key][0] is not None]
    rows = [row_of(world, K=key, E0="006", E1=code) for (key,) in keys for code in ("007", "008")]
    assert {world.place[key][2] for key in keys} >= {min(place[2] for place in world.place.values() if place[2])}
    for name, cells in (("sparse", -1), ("dense", 1 << 40)):
        patch.setattr(counter_module, "_CELLS_OF_A_COUNT", cells)
        counted_right(world, rows, [number + 1 for number in range(len(rows))], folder / name)


def test_sparse_and_dense_totals_are_right_in_every_area(tmp_path, monkeypatch):
    sparse_and_dense_totals_are_right_in_every_area(tmp_path, monkeypatch)


def all_eight_answers_count(folder: Path) -> None:
    """With and without a gap at each place, whether or not answers may be skipped."""
    answers = {f"E{place}": f"{3 * place + 1:03d}" for place in range(8)}
    gaps = [{name: ""} for name in answers]
    for rule, changes in (("error", [{}]), ("skipped", [{}, *gaps])):
        world = simple_world(codes=several(8, gaps=rule, required=False)[0])
        rows = [row_of(world, **answers | change) for change in changes]
        counted_right(world, rows, [1] * len(rows), folder / rule)


def test_all_eight_answers_count(tmp_path):
    all_eight_answers_count(tmp_path)
