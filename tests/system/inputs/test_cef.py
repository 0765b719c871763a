"""The production files as they are: a CEF gives what its people give as delimited text, byte for byte."""

import json
import shutil
from itertools import chain

import numpy as np
import pytest

from tests.cef_files import (
    blanks_behind,
    cef_of,
    gzipped_lines,
    piped_lines,
    windows_lines,
    zeros_in_front,
)
from tests.commands import done, refused
from tests.inside import RecordFingerprint
from tests.plain_engine import plain_sums
from tests.releases import files_of, lines_of
from tests.worlds.households import COLUMNS, write_household_world
from tests.worlds.people import write_random_world
from tests.worlds.world import World

pytestmark = pytest.mark.slow

KEY = ("--test-key", "07" * 32)


def run(parameters, data, out):
    """All files of the output but the one that says what was read."""
    done("run", parameters, data, out, *KEY)
    files = files_of(out)
    del files["manifest.json"]
    return files


@pytest.fixture
def world(tmp_path):
    return write_random_world(tmp_path / "world", 11, people=90, budget=1)


@pytest.fixture
def given(world, cef):
    """The words for both."""
    return world.parameters, cef.ini


def test_a_cef_in_any_form_gives_what_its_people_give_as_delimited_text(world, tmp_path):
    as_text = run(*world, tmp_path / "text")
    cef = cef_of(world, tmp_path / "cef")
    world.configure(reader="cef")
    assert len(as_text) > 20
    for lines in (None, windows_lines, zeros_in_front, blanks_behind, piped_lines):
        cef.write(lines)
        assert run(world.parameters, cef.ini, tmp_path / str(lines)) == as_text, lines
    cef.write(gzipped_lines)
    for path in (cef.folder / "records").iterdir():  # found by the names of plain ones
        path.rename(f"{path}.gz")
    assert run(world.parameters, cef.ini, tmp_path / "gzipped") == as_text


@pytest.mark.needs_2020_files
@pytest.mark.parametrize("case", ["tricky-8-codes", "../households/case-tricky"])
def test_the_dummy_of_the_bureaus_readers(case, tmp_path, cases):
    dummy = cases.parent / "cef" / "dummy"
    world, folder = World.of(tmp_path), tmp_path / "cef"
    for source, copy in ((cases / case / "parameters", world.parameters), (dummy / "expected", world.data)):
        shutil.copytree(source, copy)
    shutil.copytree(dummy / "cef", folder)
    world.configure(**{key: 0.5 for key, value in world.config().items() if "_level_" in key and value})
    if "households" in case:
        (tmp_path / "t1").mkdir()
        for place in (world.data, tmp_path / "t1"):
            shutil.copy(cases / case / "data" / "pop-group-totals.txt", place)
    else:
        world.configure(zero_suppression_chance=0.9)
    as_text = run(*world, tmp_path / "text")
    world.configure(reader="cef")
    assert run(world.parameters, folder / "reader.ini", tmp_path / "out") == as_text


def test_households_of_a_cef_are_those_of_household_records(tmp_path):
    """The records by hand from units and householders; totals lie in pop_dir, whatever the files there are called."""
    world = write_household_world(tmp_path / "world", 12, budget=1, people=90)
    cef = cef_of(world, tmp_path / "cef")
    oids = {row.rsplit("|", 1)[1]: row.split("|")[:4] for rows in cef.geography.values() for row in rows}
    units = {one["MAFID"]: one for of_state in cef.records["UNIT"].values() for one in of_state}
    rows = ["|".join(COLUMNS)]
    for one in chain.from_iterable(cef.records["PER"].values()):
        if one["RELSHIP"] == "20":
            home = units[one["MAFID"]]
            kind = {"6": "4", "7": "5"}.get(home["HHT"], home["HHT"])
            codes = [one[f"QRACE{n}"] or "Null" for n in range(1, 9)]
            rows.append("|".join([*oids[home["OIDTB"]], home["HHRACE"], *codes, one["QSPAN"], kind, home["TEN"]]))
    (world.data / "household-records.txt").write_text("\n".join([*rows, ""]))
    as_text = run(*world, tmp_path / "text")
    cef.write()
    (tmp_path / "t1").mkdir()
    shutil.copy(world.data / "pop-group-totals.txt", tmp_path / "t1" / "part-00000-x.csv")
    cef.ini.write_text(cef.ini.read_text() + "pop_dir = ../t1/\n")
    world.configure(reader="cef")
    assert len(rows) > 20
    assert run(world.parameters, cef.ini, tmp_path / "out") == as_text


def test_the_order_of_lines_and_of_files_does_not_matter(given, cef, tmp_path):
    first = run(*given, tmp_path / "first")
    for of_states in cef.records.values():
        for records in of_states.values():
            records.reverse()
    cef.write()
    assert run(*given, tmp_path / "second") == first


def test_plan_reads_the_geography_alone_and_shows_the_same(world, given, cef):
    shutil.rmtree(cef.folder / "records")
    as_cef = done("plan", *given)
    world.configure(reader="csv")
    assert as_cef == done("plan", *world)


def test_accuracy_reads_a_cef(world, given, tmp_path):
    done("accuracy", *given, tmp_path / "cef-out", "--runs", 2, *KEY)
    world.configure(reader="csv")
    done("accuracy", *world, tmp_path / "csv-out", "--runs", 2, *KEY)
    one, other = ((tmp_path / f"{reader}-out" / "accuracy.csv").read_bytes() for reader in ("cef", "csv"))
    assert one == other


def test_a_cef_has_the_fingerprint_of_the_same_people_as_text(world, given, tmp_path):
    """So that the spend log knows them again."""
    log = tmp_path / "accounts"
    account = ("--spend-log", log, "--dataset", "people")
    done("run", *given, tmp_path / "from-cef", *account)
    world.configure(reader="csv")
    done("run", *world, tmp_path / "from-csv", *account)
    begun = [json.loads(line) for line in lines_of(log) if '"begun"' in line]
    assert len(begun) == 4
    assert len({(one["pass"], one["fingerprint"]) for one in begun}) == 2


@pytest.mark.parametrize("reader", ["csv", "cef"])
def test_a_reader_says_what_data_it_wants(reader, world, cef, tmp_path):
    world.configure(reader=reader)
    data, said = (cef.ini, "is not a directory") if reader == "csv" else (world.data, "DATA is the .ini file")
    for command, *out in (["validate"], ["plan"], ["run", tmp_path / "out"]):
        assert said in refused(command, world.parameters, data, *out)
    assert not (tmp_path / "out").exists()


def test_the_marker_holds_for_the_folder_it_lies_in(given, cef, tmp_path):
    """People elsewhere may be real, whatever lies beside the .ini file."""
    elsewhere = tmp_path / "elsewhere"
    shutil.move(cef.folder / "records", elsewhere)
    cef.ini.write_text(cef.ini.read_text().replace("= records", f"= {elsewhere}"))
    command = ("run", *given, tmp_path / "out", *KEY)
    assert "--test-key: refused" in refused(*command)
    (elsewhere / "SYNTHETIC").write_text("made up\n")
    done(*command)


def test_the_confidential_log_says_that_nobody_was_lost_and_lies_elsewhere(given, cef, tmp_path):
    inside, log = cef.folder / "records" / "log", tmp_path / "log"
    command = ("validate", *given, "--confidential-log")
    assert "can't lie inside" in refused(*command, inside)
    assert not inside.exists()
    done(*command, log)
    people = len(cef.records["PER"]["44"])
    assert f"state 44: {people} persons read, {people} joined to a unit, {people} persons encoded" in log.read_text()


def test_sums_of_many_records_are_those_of_each():
    rows = [{"TABBLKST": "01", "QAGE": "115", "QRACE2": "Null"}, {"TABBLKST": "44", "QAGE": "7", "QRACE2": "8999"}]
    columns = {"TABBLKST": np.array([1, 44]), "QAGE": np.array([115, 7]), "QRACE2": np.array([0, 8999])}
    sums = RecordFingerprint(b"secret", "TABBLKST").sums_of_columns(columns)
    assert list(sums) == [plain_sums(b"secret", row) for row in rows]
