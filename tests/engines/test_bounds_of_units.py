"""A unit may have k records and no more, however they are spread over files, row groups, batches and threads."""

import shutil
from itertools import product

from tests.inside import USUAL_SIZES, BatchSizes
from tests.specified.agreement import errors
from tests.worlds.specified.small_world import census_of, of_units, row_of, write_rows

FILES, MOST = 4, 2
FORMS = tuple(product((".txt", ".parquet"), (1, 2)))
TOO_MANY = "a patient may have at most 2 records. 1 patient has more."


def patient(name, **texts):
    return row_of(PATIENT=name, **texts)


def of_patients(folder):
    world = census_of(folder, [patient("")], of_units("PATIENT", MOST))
    (world.data / "people.csv").unlink()
    return world


def errors_of(world, files, ending, threads, sizes=USUAL_SIZES):
    """The errors of records in a folder with several files, each with a part of them."""
    shutil.rmtree(world.data)
    for number, rows in enumerate(files):
        write_rows(world.data / "people", rows, ending, table=str(number))
    return [message for _, message in errors(*world, threads, sizes)]


def the_records_of_a_unit_are_added_up(folder):
    """One record in each of the first files is right up to k; the next one is refused, and so is one among wrong rows.

    Batches are small, and what is kept of them is added up each time.
    """
    sizes = BatchSizes(records=10, rows_of_units=1)
    world = of_patients(folder)
    files = [[patient(f"patient-number-{100 * n + row}") for row in range(30)] for n in range(FILES)]
    for ending, threads in FORMS:
        for more in (MOST, MOST + 1):
            own = [[*rows, patient("one")] if n < more else rows for n, rows in enumerate(files)]
            assert errors_of(world, own, ending, threads, sizes) == [TOO_MANY] * (more > MOST)
        wrong = [*own[:-1], [*own[-1], patient("two", AGE="x")]]
        assert TOO_MANY in errors_of(world, wrong, ending, threads, sizes)


def test_the_records_of_a_unit_are_added_up(tmp_path):
    the_records_of_a_unit_are_added_up(tmp_path)


def a_unit_with_more_records_is_refused(folder):
    """The finding shows no value."""
    world = of_patients(folder)
    for ending, threads in FORMS:
        assert errors_of(world, [[patient("patient-4711")] * (MOST + 1)], ending, threads) == [TOO_MANY]


def test_a_unit_with_more_records_is_refused(tmp_path):
    a_unit_with_more_records_is_refused(tmp_path)
