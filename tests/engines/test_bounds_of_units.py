"""A unit may have k records and no more, however they are spread over files, row groups, batches and threads."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.engines.test_specified_records import row_of, simple_world
from tests.inside import Unit, records_module, units_module
from tests.specified_records import Row, SpecifiedWorld, write_rows

FILES, MOST = 4, 2
ENDINGS = (".txt", ".parquet")
THREADS = (1, 2)


def world_of_patients() -> SpecifiedWorld:
    return simple_world(names=("PATIENT",), unit=Unit("patient", "PATIENT", MOST))


def others(number: int) -> str:
    return f"patient-number-{number}"


def errors_of(world: SpecifiedWorld, files: list[list[Row]], folder: Path, ending: str, threads: int) -> list[str]:
    """The errors of records in a folder with several files, each with a part of them."""
    for number, rows in enumerate(files):
        write_rows(folder / str(number), world, rows, ending)
        (folder / "data" / "people").mkdir(parents=True, exist_ok=True)
        (folder / str(number) / f"people{ending}").rename(folder / "data" / "people" / f"{number}{ending}")
    engine = world.engine(folder / "data", folder, threads)
    found = [one.message for one in engine.check() if one.is_error]
    engine.close()
    return found


def the_records_of_a_unit_are_added_up(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """One record in each of the first files is right up to k; the next one is refused, and so is one among wrong rows.

    Batches are small, and what is kept of them is added up each time.
    """
    patch.setattr(units_module, "_MOST_WAITING", 1)
    patch.setattr(records_module, "_ROWS_AT_ONCE", 10)
    world = world_of_patients()
    files = [[row_of(world, PATIENT=others(100 * n + row)) for row in range(30)] for n in range(FILES)]
    for (number, ending), threads in product(enumerate(ENDINGS), THREADS):
        for more in (MOST, MOST + 1):
            own = [[*rows, row_of(world, PATIENT="one")] if n < more else rows for n, rows in enumerate(files)]
            found = errors_of(world, own, folder / f"{number}-{threads}-{more}", ending, threads)
            assert found == (["a patient may have at most 2 records. 1 patient has more."] if more > MOST else [])
        wrong = [*own[:-1], [*own[-1], row_of(world, PATIENT="two", AGE="x")]]
        found = errors_of(world, wrong, folder / f"{number}-{threads}-wrong", ending, threads)
        assert "a patient may have at most 2 records. 1 patient has more." in found


def test_the_records_of_a_unit_are_added_up(tmp_path, monkeypatch):
    the_records_of_a_unit_are_added_up(tmp_path, monkeypatch)


def a_unit_with_more_records_is_refused(folder: Path) -> None:
    """The finding shows no value."""
    world = world_of_patients()
    for ending in ENDINGS:
        rows = [row_of(world, PATIENT="patient-4711")] * (MOST + 1)
        found = errors_of(world, [rows], folder / ending[1:], ending, threads=1)
        assert found == ["a patient may have at most 2 records. 1 patient has more."]


def test_a_unit_with_more_records_is_refused(tmp_path):
    a_unit_with_more_records_is_refused(tmp_path)
