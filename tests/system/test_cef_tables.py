"""What is made from a CEF for others: Parquet for engines that read no CEF, and which blocks have a unit."""

from __future__ import annotations

import json
import stat
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cef_files import cef_of, write_cef
from tests.commands import cli
from tests.worlds.people import write_random_world

KEY = "07" * 32


@pytest.fixture
def world(tmp_path):
    return write_random_world(tmp_path / "world", 11, people=90, budget=1)


@pytest.fixture
def sparse(tmp_path):
    """Few people, so that some blocks hold nobody."""
    return write_random_world(tmp_path / "sparse", 11, people=12, budget=1)


@pytest.fixture
def cef(world, tmp_path):
    return write_cef(world, tmp_path / "cef")


def as_text(table: Path, columns: list[str]) -> Counter[str]:
    """The rows of a Parquet table, as the delimited file spells them."""
    digits = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4, "CENRACE": 2, "HHRACE": 2}

    def spelled(name, value):
        return "Null" if value is None else str(value).rjust(digits.get(name, 0), "0")

    rows = pq.read_table(table).to_pylist()
    return Counter("|".join(spelled(name, row[name]) for name in columns) for row in rows)


def rows_of(path: Path) -> tuple[list[str], Counter[str]]:
    header, *rows = path.read_text().splitlines()
    return header.split("|"), Counter(rows)


@pytest.mark.needs_2020_files
@pytest.mark.parametrize("table", ["person-records", "household-records"])
def test_the_records_of_the_dummy_are_those_of_the_bureaus_readers(table, tmp_path, cases):
    dummy = cases.parent / "cef" / "dummy"
    assert cli("convert", dummy / "cef" / "reader.ini", tmp_path / "out").exit_code == 0
    columns, rows = rows_of(dummy / "expected" / f"{table}.txt")
    assert pq.read_schema(tmp_path / "out" / table / "01.parquet").names == columns
    assert as_text(tmp_path / "out" / table, columns) == rows


def test_a_converted_cef_runs_as_any_other_data(world, cef, tmp_path):
    converted = tmp_path / "converted"
    assert cli("cef", "convert", cef.ini, converted).exit_code == 0
    runs = {}
    for reader, data in (("cef", cef.ini), ("csv", converted)):
        world.configure(reader=reader)
        out = tmp_path / f"from-{reader}"
        assert cli("run", world.parameters, data, out, "--test-key", KEY).exit_code == 0
        runs[reader] = {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}
        runs[reader].pop(Path("manifest.json"))
    assert runs["csv"] == runs["cef"]


def test_a_converted_cef_is_for_the_curator_alone(cef, tmp_path):
    out = tmp_path / "out"
    result = cli("convert", cef.ini, out)
    people = sum(map(len, cef.records["PER"].values()))
    households = sum(one["HHT"] != "0" for units in cef.records["UNIT"].values() for one in units)
    assert result.stdout == f"{people} persons and {households} households: {out}, for the curator alone.\n"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (out, *out.rglob("*")) if path.is_dir()}
    assert modes == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.rglob("*") if path.is_file()} == {0o600}
    assert (out / "SYNTHETIC").exists()


def test_people_who_may_exist_are_not_marked_as_synthetic(cef, tmp_path):
    (cef.folder / "SYNTHETIC").unlink()
    assert cli("convert", cef.ini, tmp_path / "out").exit_code == 0
    assert not (tmp_path / "out" / "SYNTHETIC").exists()


@pytest.mark.parametrize(("name", "value"), [("TEN", "0"), ("HHRACE", "")])
def test_a_household_needs_a_tenure_and_a_race(name, value, world, tmp_path):
    cef = cef_of(world, tmp_path / "cef")
    world.configure(reader="cef")
    for state in ("01", "72"):
        next(one for one in cef.records["UNIT"][state] if one["HHT"] != "0")[name] = value
    cef.write()
    log = tmp_path / "log"
    result = cli("convert", cef.ini, tmp_path / "out", "--confidential-log", log)
    assert result.exit_code == 1
    for state in ("01", "72"):
        assert f"CEF20_UNIT_{state}.txt has 1 problem:\n  {name}: must be 1 to" in result.stderr
    assert "Rows: CEF20_UNIT_72.txt, line" in log.read_text()
    assert not (tmp_path / "out").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cef", "log", "world"]
    assert cli("validate", world.parameters, cef.ini).exit_code == 0  # persons need neither


def test_an_earlier_conversion_alone_is_replaced(cef, tmp_path):
    out = tmp_path / "out"
    assert cli("convert", cef.ini, out).exit_code == 0
    assert "already exists" in cli("convert", cef.ini, out).stderr
    assert cli("convert", cef.ini, out, "--overwrite").exit_code == 0
    (out / "person-records" / "mine.parquet").write_text("mine")
    refused = cli("convert", cef.ini, out, "--overwrite")
    assert refused.exit_code == 1
    assert "didn't write there: person-records/mine.parquet" in " ".join(refused.stderr.split())
    assert (out / "person-records" / "mine.parquet").read_text() == "mine"
    refused = cli("convert", cef.ini, cef.folder, "--overwrite")
    assert refused.exit_code == 1
    assert "contains files that this command reads" in refused.stderr
    assert cef.path("PER", "01").exists()


def test_nothing_is_written_among_the_files_of_a_cef(world, cef, tmp_path):
    world.configure(reader="cef")
    before = sorted(cef.folder.rglob("*"))
    for folder in ("records", "geography"):
        new = cef.folder / folder / "new"
        of_run = ("run", world.parameters, cef.ini, new, "--confidential-log", tmp_path / "log")
        for command in (("convert", cef.ini, new), ("blocks-with-units", cef.ini, new), of_run):
            result = cli(*command)
            assert result.exit_code == 1
            assert (
                "which this command reads. Choose a folder elsewhere" in result.stderr
                or "can't lie inside" in result.stderr
            )
    assert sorted(cef.folder.rglob("*")) == before


def test_a_missing_file_is_a_finding(cef, tmp_path):
    cef.path("UNIT", "44").unlink()
    for command in ("convert", "blocks-with-units"):
        result = cli(command, cef.ini, tmp_path / "out")
        assert result.exit_code == 1
        assert "state 44: no file CEF20_UNIT_44.txt in the folders it names." in result.stderr
        assert not (tmp_path / "out").exists()


@pytest.mark.spark
def test_spark_says_what_to_do_with_a_cef(world, cef, tmp_path):
    result = cli("run", world.parameters, cef.ini, tmp_path / "out", "--engine", "spark")
    assert result.exit_code == 1
    assert f"safetab cef convert {cef.ini} FOLDER" in result.stderr
    assert not (tmp_path / "out").exists()


# Blocks with units


@pytest.mark.needs_2020_files
def test_the_blocks_of_the_dummy_are_those_of_the_bureaus_readers(tmp_path, cases):
    dummy, out = cases.parent / "cef" / "dummy", tmp_path / "blocks.txt"
    assert cli("blocks-with-units", dummy / "cef" / "reader.ini", out).exit_code == 0
    (header, *rows) = out.read_text().splitlines()
    assert header == "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE|HAS_UNIT"
    expected = (dummy / "expected" / "blocks-with-units.txt").read_text().splitlines()[1:]
    assert [row.removesuffix("|1") for row in rows if row.endswith("|1")] == expected
    assert len(rows) == 25


@pytest.mark.slow
def test_the_list_goes_to_empty_blocks_and_the_manifest_says_why_it_is_public(sparse, tmp_path):
    """A list of the blocks without a unit, written by hand, gives the same release."""
    cef, listed = write_cef(sparse, tmp_path / "cef"), tmp_path / "blocks.txt"
    assert cli("cef", "blocks", cef.ini, listed).exit_code == 0
    header, *rows = listed.read_text().splitlines()
    without = [row for row in rows if row.endswith("|0")]
    assert without
    by_hand = tmp_path / "by-hand.txt"
    by_hand.write_text(
        "\n".join([header.removesuffix("|HAS_UNIT"), *(row.removesuffix("|0") for row in without)]) + "\n"
    )
    manifests, releases = {}, {}
    for name, file in (("units", listed), ("hand", by_hand)):
        out = tmp_path / name
        options = ("--test-key", KEY, "--coterminous", "--empty-blocks", file)
        assert cli("run", sparse.parameters, cef.ini, out, *options).exit_code == 0
        manifests[name] = json.loads((out / "manifest.json").read_text())
        release = out / "release"
        releases[name] = {p.relative_to(release): p.read_bytes() for p in release.rglob("*") if p.is_file()}
    assert releases["units"] == releases["hand"]
    assert "as the curator states by giving the list" in manifests["units"]["release"]["empty_blocks"]
    assert "empty_blocks" not in manifests["hand"]["release"]


def test_a_list_says_yes_or_no_of_each_block(sparse, tmp_path):
    cef, listed = write_cef(sparse, tmp_path / "cef"), tmp_path / "blocks.txt"
    assert cli("blocks-with-units", cef.ini, listed).exit_code == 0
    listed.write_text(listed.read_text().replace("|0\n", "|2\n"))
    options = ("--coterminous", "--empty-blocks", listed)
    result = cli("run", sparse.parameters, cef.ini, tmp_path / "out", *options)
    assert result.exit_code == 1
    assert "HAS_UNIT: must be 0 or 1." in result.stderr


def test_an_old_file_stays(cef, tmp_path):
    (tmp_path / "blocks.txt").write_text("mine")
    result = cli("blocks-with-units", cef.ini, tmp_path / "blocks.txt")
    assert result.exit_code == 1
    assert "already exists" in result.stderr
    assert (tmp_path / "blocks.txt").read_text() == "mine"


def test_a_re_release_takes_the_geography_that_the_ini_file_names(world, cef, tmp_path):
    world.configure(reader="cef")
    given = (world.parameters, cef.ini)
    assert cli("run", *given, tmp_path / "out", "--test-key", KEY).exit_code == 0
    assert cli("run", *given, tmp_path / "at-once", "--test-key", KEY, "--coterminous").exit_code == 0
    for command in (("rerelease", "--coterminous"), ("coterminous",)):
        new = tmp_path / command[0]
        made = cli(command[0], tmp_path / "out", new, *command[1:], "--geography", cef.ini)
        assert made.exit_code == 0, made.output
        assert (new / "after-steps").is_dir()
        for path in (tmp_path / "at-once" / "after-steps").rglob("*.csv"):
            assert (new / path.relative_to(tmp_path / "at-once")).read_bytes() == path.read_bytes()
        read = json.loads((new / "manifest.json").read_text())["rerelease"]["public_files"]["geography"]
        assert read
        assert all(name.startswith("grfc") for name in read)
