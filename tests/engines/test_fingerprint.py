"""The fingerprint is a function of the secret and of the records of a pass, and of nothing else."""

from __future__ import annotations

import random
import shutil
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine_inputs import engine_inputs
from tests.person_forms import PERSON_FORMS, as_text, parquet_of_text, people_of
from tests.random_worlds import PERSON_HEADER, RandomWorld, write_random_world

from safetab.census.geography_levels import TabulationPass
from safetab.engines.contract import EngineSettings
from safetab.engines.fingerprint import RecordFingerprint
from safetab.engines.local.local_engine import LocalEngine
from safetab.engines.plain import PlainEngine
from safetab.foundation.findings import InvalidInput
from safetab.products.safetab_p.record import PERSON_RECORD

US, PR = TabulationPass.US, TabulationPass.PUERTO_RICO
SECRET = bytes(range(32))
COLUMNS = PERSON_HEADER.split("|")


@pytest.fixture
def world(tmp_path: Path) -> RandomWorld:
    return write_random_world(tmp_path / "world", 3, people=60, max_race_codes=8)


def fingerprints(world: RandomWorld, secret: bytes = SECRET, threads: int = 2):
    """What both engines say, which must be the same."""
    inputs = engine_inputs(world)
    engine = LocalEngine(
        inputs.persons, inputs.files, EngineSettings(world.data.parent, threads=threads), lambda _: None
    )
    judge = PlainEngine(inputs.persons, inputs.files)
    assert engine.check() == judge.check() == ()
    found = engine.fingerprint(secret)
    assert found == judge.fingerprint(secret)
    engine.close()
    return found


def with_people(world: RandomWorld, rows: list[str], folder: Path) -> RandomWorld:
    changed = RandomWorld(folder / "parameters", folder / "data")
    shutil.copytree(world.parameters, changed.parameters)
    shutil.copytree(world.data, changed.data)
    as_text(changed.data, rows)
    return changed


@pytest.mark.parametrize("write", PERSON_FORMS)
def test_order_and_form_of_the_files_do_not_matter(write, world: RandomWorld) -> None:
    expected, rows = fingerprints(world), people_of(world)
    (world.data / "person-records.txt").unlink()
    write(world.data, rows)
    assert fingerprints(world) == expected


def test_zeros_before_an_age_do_not_matter(world: RandomWorld, tmp_path: Path) -> None:
    rows = ["000" + row for row in people_of(world)]
    assert fingerprints(with_people(world, rows, tmp_path / "zeros")) == fingerprints(world)


def test_parameters_and_threads_do_not_matter(world: RandomWorld) -> None:
    expected = fingerprints(world)
    world.configure(max_race_codes=1, state_filter_us=["44"], privacy_defn="puredp", run_pr=False)
    assert fingerprints(world, threads=1) == expected


def test_a_file_that_arrow_reads_and_the_database_does_not_is_at_fault(world: RandomWorld) -> None:
    path, rows = world.data / "person-records.parquet", people_of(world)
    (world.data / "person-records.txt").unlink()
    parquet_of_text(world.data, rows)
    table = pq.read_table(path)
    pq.write_table(table, path, write_statistics=False)
    content = path.read_bytes()
    begin = pq.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset
    for place in range(begin, begin + 32):  # one bit in the header of the first page
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        if _is_read_by_arrow_alone(path, table):
            break
    else:
        pytest.fail("there is no such bit any more")
    inputs = engine_inputs(world)
    with closing(
        LocalEngine(inputs.persons, inputs.files, EngineSettings(world.data.parent), lambda _: None)
    ) as engine:
        assert engine.check() == ()
        with pytest.raises(InvalidInput, match=r"person-records\.parquet has 1 problem:\s+it can't be read"):
            engine.fingerprint(SECRET)


def _is_read_by_arrow_alone(path: Path, table: pa.Table) -> bool:
    try:
        is_read = pq.read_table(path).equals(table)
    except (OSError, pa.ArrowException):
        return False
    try:
        duckdb.sql(f"SELECT max(QAGE) FROM read_parquet('{path}')").fetchall()
    except duckdb.Error:
        return is_read
    return False


OTHER_VALUES = {
    "QAGE": "99",
    "QSEX": None,  # the other one
    "HOUSEHOLDER": None,
    "CENRACE": "63",
    **{f"QRACE{position}": "8999" for position in range(1, 9)},
    "QSPAN": "1000",
}


def eight_codes(row: str) -> str:
    fields = row.split("|")
    return "|".join([*fields[:8], *(["1000"] * 8), "9950"])


@pytest.mark.parametrize("column", [column for column in COLUMNS if column in OTHER_VALUES])
def test_every_column_matters(column: str, world: RandomWorld, tmp_path: Path) -> None:
    rows = people_of(world)
    number = next(number for number, row in enumerate(rows) if row.split("|")[3] == "01")
    rows[number] = eight_codes(rows[number])
    before = fingerprints(with_people(world, rows, tmp_path / "before"))
    fields = rows[number].split("|")
    other = {"1": "2", "2": "1", "True": "False", "False": "True"}
    old = fields[COLUMNS.index(column)]
    fields[COLUMNS.index(column)] = OTHER_VALUES[column] or other[old]
    assert fields[COLUMNS.index(column)] != old
    rows[number] = "|".join(fields)
    after = fingerprints(with_people(world, rows, tmp_path / "after"))
    assert after[US] != before[US]
    assert after[PR] == before[PR]


@pytest.mark.parametrize("part", range(3, 7))
def test_every_part_of_the_block_matters(part: int, world: RandomWorld) -> None:
    person = dict(zip(COLUMNS, people_of(world)[0].split("|"), strict=True))
    fingerprint = RecordFingerprint(SECRET)
    column = COLUMNS[part]
    moved = person | {column: f"{int(person[column]) + 1:0{len(person[column])}d}"}
    assert fingerprint.sums_of(person)[2:] != fingerprint.sums_of(moved)[2:]


def test_who_has_which_value_matters(world: RandomWorld, tmp_path: Path) -> None:
    """Two people swap their ages: every column by itself has the same values as before."""
    rows = people_of(world)
    first, second = _two_with_other_ages(rows)
    swapped = list(rows)
    for one, other in ((first, second), (second, first)):
        swapped[one] = "|".join([rows[other].split("|")[0], *rows[one].split("|")[1:]])
    assert sorted(row.split("|")[0] for row in swapped) == sorted(row.split("|")[0] for row in rows)
    assert fingerprints(with_people(world, swapped, tmp_path / "swapped"))[US] != fingerprints(world)[US]


def _two_with_other_ages(rows: list[str]) -> tuple[int, int]:
    of_state = [number for number, row in enumerate(rows) if row.split("|")[3] == "01"]
    first = of_state[0]
    second = next(
        number
        for number in of_state
        if int(rows[number].split("|")[0]) != int(rows[first].split("|")[0])
        and rows[number].split("|")[1:] != rows[first].split("|")[1:]
    )
    return first, second


@pytest.mark.parametrize("change", ["one more", "one less", "one twice for another"])
def test_how_often_a_record_is_there_matters(change: str, world: RandomWorld, tmp_path: Path) -> None:
    rows = people_of(world)
    of_state = [number for number, row in enumerate(rows) if row.split("|")[3] == "01"]
    changed = {
        "one more": [*rows, rows[of_state[0]]],
        "one less": rows[: of_state[0]] + rows[of_state[0] + 1 :],
        "one twice for another": [
            rows[of_state[1]] if number == of_state[0] else row for number, row in enumerate(rows)
        ],
    }[change]
    after, before = fingerprints(with_people(world, changed, tmp_path / "changed")), fingerprints(world)
    assert after[US] != before[US]
    assert after[PR] == before[PR]


def test_people_of_no_pass_do_not_matter(world: RandomWorld, tmp_path: Path) -> None:
    rows = people_of(world)
    elsewhere = "|".join([*rows[0].split("|")[:3], "60", "001", "000100", "1000", *rows[0].split("|")[7:]])
    assert fingerprints(with_people(world, [*rows, elsewhere], tmp_path / "more")) == fingerprints(world)


def test_another_secret_gives_another_fingerprint(world: RandomWorld) -> None:
    assert set(fingerprints(world).values()).isdisjoint(fingerprints(world, secret=bytes(32)).values())


@pytest.mark.slow
def test_no_small_change_of_many_is_missed() -> None:
    """A wrong miss has a chance of about 1e-11 each; 20,000 random swaps of random people are all seen."""
    rng, fingerprint = random.Random(1), RecordFingerprint(SECRET)
    ends = {column: 10**4 if column.startswith("Q") else 99 for column in COLUMNS} | {"QAGE": 116, "QSEX": 3}
    for _ in range(20_000):
        one, two = ({column: str(rng.randrange(1, ends[column])) for column in COLUMNS} for _ in range(2))
        column = rng.choice(COLUMNS)
        if one[column] == two[column]:
            continue
        swapped = [one | {column: two[column]}, two | {column: one[column]}]
        sums = [[fingerprint.sums_of(person)[2:] for person in people] for people in ([one, two], swapped)]
        assert [sum(lane) for lane in zip(*sums[0], strict=True)] != [sum(lane) for lane in zip(*sums[1], strict=True)]


@pytest.mark.slow
def test_the_largest_values_do_not_overflow_in_the_database() -> None:
    largest = dict.fromkeys(COLUMNS, "9999") | {"QAGE": "115", "TABBLKST": "56", "TABBLKCOU": "999"}
    largest |= {"TABTRACTCE": "999999", "HOUSEHOLDER": "True", "CENRACE": "63", "QSEX": "2"}
    values = ", ".join(f"'{value}' AS {column}" for column, value in largest.items())
    for number in range(200):
        fingerprint = RecordFingerprint(number.to_bytes(32))
        query = fingerprint.state_sums_sql(f"(SELECT {values})", PERSON_RECORD)
        assert duckdb.sql(query).fetchall() == [fingerprint.sums_of(largest)]
