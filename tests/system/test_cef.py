"""The production files as they are: a CEF gives what its people give as delimited text, byte for byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cef_files import (
    blanks_behind,
    cef_of,
    configure,
    gzipped_lines,
    piped_lines,
    windows_lines,
    write_cef,
    zeros_in_front,
)
from tests.commands import cli
from tests.inside import RecordFingerprint
from tests.plain_engine import plain_sums
from tests.worlds.households import COLUMNS, write_household_world
from tests.worlds.people import write_random_world

pytestmark = pytest.mark.slow

KEY = "07" * 32


def released(out: Path) -> dict[str, bytes]:
    """All files but those that say what was read."""
    files = {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    files.pop("manifest.json")
    return files


def run(parameters: Path, data: Path, out: Path, *options: object) -> dict[str, bytes]:
    result = cli("run", parameters, data, out, "--test-key", KEY, *options)
    assert result.exit_code == 0, result.stderr
    return released(out)


@pytest.fixture
def world(tmp_path):
    return write_random_world(tmp_path / "world", 11, people=90, budget=1)


@pytest.fixture
def cef(world, tmp_path):
    return write_cef(world, tmp_path / "cef")


FORMS = [None, windows_lines, zeros_in_front, blanks_behind, piped_lines]


@pytest.mark.parametrize("lines", FORMS)
def test_a_cef_gives_what_its_people_give_as_delimited_text(lines, world, tmp_path):
    as_text = run(*world, tmp_path / "text")
    cef = cef_of(world, tmp_path / "cef")
    cef.write(lines)
    world.configure(reader="cef")
    as_cef = run(world.parameters, cef.ini, tmp_path / "out")
    assert len(as_cef) > 20
    assert as_cef == as_text


@pytest.mark.slow
@pytest.mark.needs_2020_files
def test_the_dummy_of_the_bureaus_readers(tmp_path, cases):
    dummy, parameters = cases.parent / "cef" / "dummy", tmp_path / "parameters"
    shutil.copytree(cases / "tricky-8-codes" / "parameters", parameters)
    config = json.loads((parameters / "config.json").read_text())
    budgets = {key: 0.5 for key, value in config.items() if "_level_" in key and value}
    configure(parameters, **budgets, zero_suppression_chance=0.9)
    as_text = run(parameters, dummy / "expected", tmp_path / "text")
    configure(parameters, reader="cef")
    assert run(parameters, dummy / "cef" / "reader.ini", tmp_path / "out") == as_text


@pytest.mark.slow
def test_households_of_a_cef_are_those_of_household_records(tmp_path):
    """The records by hand from units and householders; totals lie in pop_dir, whatever the files there are called."""
    world = write_household_world(tmp_path / "world", 12, budget=1, people=90)
    cef = cef_of(world, tmp_path / "cef")
    oids = {row.rsplit("|", 1)[1]: row.split("|")[:4] for rows in cef.geography.values() for row in rows}
    units = {one["MAFID"]: one for of_state in cef.records["UNIT"].values() for one in of_state}
    rows = []
    for one in (one for of_state in cef.records["PER"].values() for one in of_state if one["RELSHIP"] == "20"):
        home = units[one["MAFID"]]
        kind = {"6": "4", "7": "5"}.get(home["HHT"], home["HHT"])
        codes = [one[f"QRACE{n}"] or "Null" for n in range(1, 9)]
        rows.append("|".join([*oids[home["OIDTB"]], home["HHRACE"], *codes, one["QSPAN"], kind, home["TEN"]]))
    (world.data / "household-records.txt").write_text("\n".join(["|".join(COLUMNS), *rows]) + "\n")
    as_text = run(*world, tmp_path / "text")
    cef.write()
    (tmp_path / "t1").mkdir()
    shutil.copy(world.data / "pop-group-totals.txt", tmp_path / "t1" / "part-00000-x.csv")
    cef.ini.write_text(cef.ini.read_text() + "pop_dir = ../t1/\n")
    world.configure(reader="cef")
    assert len(rows) > 20
    assert run(world.parameters, cef.ini, tmp_path / "out") == as_text


@pytest.mark.slow
@pytest.mark.needs_2020_files
def test_the_households_of_the_dummy(tmp_path, cases):
    dummy, case = cases.parent / "cef" / "dummy", cases.parent / "households" / "case-tricky"
    parameters, text, folder = tmp_path / "parameters", tmp_path / "text-data", tmp_path / "cef"
    for source, copy in ((case / "parameters", parameters), (dummy / "expected", text), (dummy / "cef", folder)):
        shutil.copytree(source, copy)
    config = json.loads((parameters / "config.json").read_text())
    configure(parameters, **{key: 0.5 for key, value in config.items() if "_level_" in key and value})
    shutil.copy(case / "data" / "pop-group-totals.txt", text)
    (tmp_path / "t1").mkdir()
    shutil.copy(case / "data" / "pop-group-totals.txt", tmp_path / "t1")
    as_text = run(parameters, text, tmp_path / "text")
    configure(parameters, reader="cef")
    assert run(parameters, folder / "reader.ini", tmp_path / "out") == as_text


def test_gzipped_files_are_found_by_the_names_of_plain_ones(world, cef, tmp_path):
    plain = run(world.parameters, cef.ini, tmp_path / "plain")
    cef.write(gzipped_lines)
    for path in (cef.folder / "records").iterdir():
        path.rename(f"{path}.gz")
    assert run(world.parameters, cef.ini, tmp_path / "gzipped") == plain


def test_the_order_of_lines_and_of_files_does_not_matter(world, cef, tmp_path):
    first = run(world.parameters, cef.ini, tmp_path / "first")
    for of_states in cef.records.values():
        for records in of_states.values():
            records.reverse()
    cef.write()
    assert run(world.parameters, cef.ini, tmp_path / "second") == first


def test_plan_reads_the_geography_alone_and_shows_the_same(world, cef):
    world.configure(reader="csv")
    as_text = cli("plan", *world)
    world.configure(reader="cef")
    shutil.rmtree(cef.folder / "records")
    as_cef = cli("plan", world.parameters, cef.ini)
    assert as_cef.exit_code == 0
    assert as_cef.stdout == as_text.stdout


@pytest.mark.slow
def test_accuracy_reads_a_cef(world, cef, tmp_path):
    options = ("--runs", 2, "--test-key", KEY)
    assert cli("accuracy", world.parameters, cef.ini, tmp_path / "from-cef", *options).exit_code == 0
    world.configure(reader="csv")
    assert cli("accuracy", *world, tmp_path / "from-text", *options).exit_code == 0
    tables = [(tmp_path / name / "accuracy.csv").read_bytes() for name in ("from-cef", "from-text")]
    assert tables[0] == tables[1]


def test_a_cef_has_the_fingerprint_of_the_same_people_as_text(world, cef, tmp_path):
    """So that the spend log knows them again."""
    log = tmp_path / "accounts"
    world.configure(reader="csv")
    accounts = ("--spend-log", log, "--dataset", "people")
    assert cli("run", *world, tmp_path / "text", *accounts).exit_code == 0
    world.configure(reader="cef")
    again = cli("run", world.parameters, cef.ini, tmp_path / "cef-out", *accounts)
    assert again.exit_code == 0
    begun = [json.loads(line) for line in log.read_text().splitlines() if '"begun"' in line]
    prints = {(one["pass"], one["fingerprint"]) for one in begun}
    assert len(begun) == 4
    assert len(prints) == 2


@pytest.mark.parametrize("reader", ["csv", "cef"])
def test_a_reader_says_what_data_it_wants(reader, world, cef, tmp_path):
    world.configure(reader=reader)
    data, said = (cef.ini, "is not a directory") if reader == "csv" else (world.data, "DATA is the .ini file")
    for command in (("validate",), ("plan",), ("run", tmp_path / "out")):
        result = cli(command[0], world.parameters, data, *command[1:])
        assert result.exit_code == 1
        assert said in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_marker_holds_for_the_folder_it_lies_in(world, cef, tmp_path):
    """People elsewhere may be real, whatever lies beside the .ini file."""
    elsewhere = tmp_path / "elsewhere"
    shutil.move(cef.folder / "records", elsewhere)
    cef.ini.write_text(cef.ini.read_text().replace("= records", f"= {elsewhere}"))
    arguments = ("run", world.parameters, cef.ini, tmp_path / "out", "--test-key", KEY)
    refused = cli(*arguments)
    assert refused.exit_code == 1
    assert "--test-key: refused" in refused.stderr
    (elsewhere / "SYNTHETIC").write_text("made up\n")
    assert cli(*arguments).exit_code == 0


def test_nothing_is_written_among_the_files(world, cef):
    inside = cef.folder / "records" / "log"
    result = cli("validate", world.parameters, cef.ini, "--confidential-log", inside)
    assert result.exit_code == 1
    assert "can't lie inside" in result.stderr
    assert not inside.exists()


def test_the_confidential_log_says_that_nobody_was_lost(world, cef, tmp_path):
    log = tmp_path / "log"
    assert cli("validate", world.parameters, cef.ini, "--confidential-log", log).exit_code == 0
    people = len(cef.records["PER"]["44"])
    assert f"state 44: {people} persons read, {people} joined to a unit, {people} persons encoded" in log.read_text()


def test_sums_of_many_records_are_those_of_each():
    import numpy as np  # noqa: PLC0415

    fingerprint = RecordFingerprint(b"secret", "TABBLKST")
    rows = [{"TABBLKST": "01", "QAGE": "115", "QRACE2": "Null"}, {"TABBLKST": "44", "QAGE": "7", "QRACE2": "8999"}]
    columns = {"TABBLKST": np.array([1, 44]), "QAGE": np.array([115, 7]), "QRACE2": np.array([0, 8999])}
    assert list(fingerprint.sums_of_columns(columns)) == [plain_sums(b"secret", row) for row in rows]
