"""Members of synthetic households share codes if asked to, and a file says who lives with whom."""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import values_of
from tests.commands import done, refused
from tests.inside import (
    PERSON_HOUSEHOLD_FILE,
    CensusFormat,
    CensusRequest,
    NoProgress,
    SizeRequest,
    read_inputs,
    write_census,
)

CODES = (*(f"QRACE{number}" for number in range(1, 9)), "QSPAN", "CENRACE")
BLOCK = ["TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"]
OF_3000_PEOPLE = {
    "person-records/06.txt": "8622f3b9efbf0442",
    "person-records/72.txt": "16a7d866a9504ed2",
    "household-records/06.txt": "313b3f7216517157",
    "household-records/72.txt": "20cee00274ed4a42",
}
CEF_OF_3000_PEOPLE = {
    "CEF20_PER_06.txt": "edcaa24eab616791",
    "CEF20_PER_72.txt": "327273476ba65b14",
    "CEF20_UNIT_06.txt": "2e6592dd62fa7fe8",
    "CEF20_UNIT_72.txt": "a0defb97779b19f7",
}


def data_of(folder, people=3_000, **more):
    size = SizeRequest(people, states=1, counties=2, tracts=4)
    write_census(folder, CensusRequest(size, iterations=40, **more).checked().require(), NoProgress())
    return folder / "data"


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def records_of(data, kind="person-records"):
    return pa.concat_tables(pq.read_table(path) for path in sorted((data / kind).iterdir()))


def rows_of(table, columns):
    return [*zip(*(table[name].to_pylist() for name in columns), strict=True)]


def homes_of(data):
    return pq.read_table(data / PERSON_HOUSEHOLD_FILE)["HOUSEHOLD"].to_pylist()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return data_of(tmp_path_factory.mktemp("plain"), 8_000, households=True)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return data_of(tmp_path_factory.mktemp("shared"), 8_000, households=True, shared_codes=0.9)


@pytest.mark.parametrize(
    ("more", "hashes"),
    [
        ({"form": CensusFormat.TEXT, "households": True}, OF_3000_PEOPLE),
        ({"form": CensusFormat.CEF}, CEF_OF_3000_PEOPLE),
    ],
)
def test_without_the_option_the_bytes_are_those_of_before_there_was_one(tmp_path, more, hashes):
    data = data_of(tmp_path, **more)
    assert {name: hash_of(data / name) for name in hashes} == hashes


def share_with_the_codes_of_the_householder(data):
    people, home = records_of(data), homes_of(data)
    rows = list(zip(home, rows_of(people, CODES), people["HOUSEHOLDER"].to_pylist(), strict=True))
    of_householder = {number: one for number, one, heads in rows if heads == "True"}
    same = [of_householder[n] == one for n, one, heads in rows if n is not None and heads == "False"]
    return float(np.mean(same)), len(same)


def test_members_share_the_codes_of_the_householder_with_the_given_chance(plain, shared):
    """The false-alarm rate is below 1e-6: five standard errors of the members whose codes would differ."""
    by_chance, members = share_with_the_codes_of_the_householder(plain)
    share, _ = share_with_the_codes_of_the_householder(shared)
    assert by_chance < 0.4
    assert members > 3_000
    assert abs(share - (0.9 + 0.1 * by_chance)) < 5 * (0.9 * 0.1 / members) ** 0.5


def test_ages_sexes_blocks_and_households_stay(plain, shared):
    kept = ["QAGE", "QSEX", "HOUSEHOLDER", *BLOCK]
    assert records_of(plain).select(kept).to_pydict() == records_of(shared).select(kept).to_pydict()
    for name in PERSON_HOUSEHOLD_FILE, "household-records/06.parquet", "household-records/72.parquet":
        assert hash_of(plain / name) == hash_of(shared / name)


def test_household_n_is_row_n_of_the_household_records(plain):
    people, homes, records = records_of(plain), homes_of(plain), records_of(plain, "household-records")
    block_of_household = rows_of(records, BLOCK)
    assert len(homes) == len(people)
    assert {number for number in homes if number is not None} == set(range(len(records)))
    blocks = zip(homes, rows_of(people, BLOCK), strict=True)
    assert all(block_of_household[n] == block for n, block in blocks if n is not None)
    heads = [n for n, heads in zip(homes, people["HOUSEHOLDER"].to_pylist(), strict=True) if heads == "True"]
    assert heads == list(range(len(records)))
    assert 0.001 < homes.count(None) / len(homes) < 0.1


def test_such_data_are_valid_inputs_of_a_run(shared):
    assert not (shared / "person-household").exists()
    for parameters in "parameters", "household-parameters":
        checked = read_inputs(shared.parent / parameters, shared)
        assert parameters != "parameters" or not checked.findings


@pytest.mark.parametrize(
    ("more", "message"),
    values_of("""
        ("--shared-codes", "1.5", "--households") | "--shared-codes: must be a chance from 0 to 1."
        ("--shared-codes", "0.9") | "Add --households, or leave it out."
    """),
)
def test_what_makes_no_sense_is_refused(tmp_path, more, message):
    assert message in refused("synthesize", tmp_path / "out", "--people", "1000", *more, code=2)


SIZE = {"--people": 500, "--states": 1, "--counties": 1, "--tracts": 1, "--iterations": 40, "--shared-codes": 0.9}


def test_overwrite_knows_the_file(tmp_path):
    given = [word for option in SIZE.items() for word in option]
    command = ["synthesize", tmp_path / "out", *given, "--households", "--quiet"]
    done(*command)
    done(*command, "--overwrite")
