"""Members of synthetic households share codes if asked to, and a file says who lives with whom."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import cli
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


def data_of(folder: Path, people: int = 3_000, **more: Any) -> Path:
    size = SizeRequest(people, states=1, counties=2, tracts=4)
    folder.mkdir()
    write_census(folder, CensusRequest(size, iterations=40, **more).checked().require(), NoProgress())
    return folder / "data"


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def persons_of(data: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(path) for path in sorted((data / "person-records").iterdir()))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data_of(tmp_path_factory.mktemp("plain") / "census", 12_000, households=True)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data_of(tmp_path_factory.mktemp("shared") / "census", 12_000, households=True, shared_codes=0.9)


@pytest.mark.parametrize(
    ("more", "hashes"),
    [
        ({"form": CensusFormat.TEXT, "households": True}, OF_3000_PEOPLE),
        ({"form": CensusFormat.CEF}, CEF_OF_3000_PEOPLE),
    ],
)
def test_without_the_option_the_bytes_are_those_of_before_there_was_one(tmp_path, more, hashes):
    data = data_of(tmp_path / "census", **more)
    assert {name: hash_of(data / name) for name in hashes} == hashes


def share_with_the_codes_of_the_householder(data: Path) -> tuple[float, int]:
    people, home = persons_of(data), pq.read_table(data / PERSON_HOUSEHOLD_FILE)["HOUSEHOLD"].to_pylist()
    codes = list(zip(*(people[name].to_pylist() for name in CODES), strict=True))
    rows = list(zip(home, codes, people["HOUSEHOLDER"].to_pylist(), strict=True))
    of_householder = {number: one for number, one, heads in rows if heads == "True"}
    same = [of_householder[n] == one for n, one, heads in rows if n is not None and heads == "False"]
    return float(np.mean(same)), len(same)


def test_members_share_the_codes_of_the_householder_with_the_given_chance(plain, shared):
    """The false-alarm rate is below 1e-6: five standard errors of the members whose codes would differ."""
    by_chance, members = share_with_the_codes_of_the_householder(plain)
    share, _ = share_with_the_codes_of_the_householder(shared)
    assert by_chance < 0.4
    assert members > 5_000
    assert abs(share - (0.9 + 0.1 * by_chance)) < 5 * (0.9 * 0.1 / members) ** 0.5


def test_ages_sexes_blocks_and_households_stay(plain, shared):
    kept = ["QAGE", "QSEX", "HOUSEHOLDER", "TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"]
    assert persons_of(plain).select(kept).to_pydict() == persons_of(shared).select(kept).to_pydict()
    assert hash_of(plain / PERSON_HOUSEHOLD_FILE) == hash_of(shared / PERSON_HOUSEHOLD_FILE)
    for name in ("06.parquet", "72.parquet"):
        assert hash_of(plain / "household-records" / name) == hash_of(shared / "household-records" / name)


def test_household_n_is_row_n_of_the_household_records(plain):
    people = persons_of(plain)
    home = pq.read_table(plain / PERSON_HOUSEHOLD_FILE)["HOUSEHOLD"].to_pylist()
    records = pa.concat_tables(pq.read_table(path) for path in sorted((plain / "household-records").iterdir()))
    where = ["TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"]
    block_of_person = list(zip(*(people[name].to_pylist() for name in where), strict=True))
    block_of_household = list(zip(*(records[name].to_pylist() for name in where), strict=True))
    assert len(home) == len(people)
    assert {number for number in home if number is not None} == set(range(len(records)))
    assert all(block_of_household[n] == block for n, block in zip(home, block_of_person, strict=True) if n is not None)
    heads = [n for n, heads in zip(home, people["HOUSEHOLDER"].to_pylist(), strict=True) if heads == "True"]
    assert heads == list(range(len(records)))
    assert 0.001 < home.count(None) / len(home) < 0.1


def test_such_data_are_valid_inputs_of_a_run(shared):
    assert not (shared / "person-household").exists()
    for parameters in ("parameters", "household-parameters"):
        checked = read_inputs(shared.parent / parameters, shared)
        assert parameters != "parameters" or not checked.findings


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--shared-codes", "1.5", "--households"), "--shared-codes: must be a chance from 0 to 1."),
        (("--shared-codes", "0.9"), "Add --households, or leave it out."),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, more, message):
    result = cli("synthesize", tmp_path / "out", "--people", "1000", *more)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_overwrite_knows_the_file(tmp_path):
    options = ("--people", "500", "--states", "1", "--counties", "1", "--tracts", "1", "--iterations", "40")
    command = ["synthesize", str(tmp_path / "out"), *options, "--households", "--shared-codes", "0.9", "--quiet"]
    assert cli(*command).exit_code == 0
    assert cli(*command, "--overwrite").exit_code == 0
