"""What is made from a CEF for others: Parquet for engines that read no CEF, and which blocks have a unit."""

import stat
from collections import Counter

import pyarrow.parquet as pq
import pytest

from tests.cef_files import cef_of, widths, write_cef
from tests.commands import done, refused
from tests.releases import files_of, json_of, lines_of
from tests.worlds.people import write_random_world

KEY = ("--test-key", "07" * 32)
GRFC = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE"


def write_few_levels(folder, people=90):
    """A world whose runs are short: states and counties alone."""
    world = write_random_world(folder, 11, people=people, budget=0, run_pr=False)
    world.configure(privacy_budget_p_level_2_state=1, privacy_budget_p_level_2_county=1)
    return world


@pytest.fixture
def world(tmp_path):
    return write_few_levels(tmp_path / "world")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A world, its CEF, and a run on that; nobody changes them."""
    folder = tmp_path_factory.mktemp("made")
    world = write_few_levels(folder)
    cef = write_cef(world, folder / "cef")
    done("run", world.parameters, cef.ini, folder / "out", *KEY)
    return world, cef, folder / "out"


@pytest.fixture
def sparse(tmp_path):
    """Of few people, so that some blocks hold nobody: the parameters, the CEF, and the list of its blocks."""
    world = write_few_levels(tmp_path / "sparse", 12)
    cef = write_cef(world, tmp_path / "cef")
    done("cef", "blocks", cef.ini, tmp_path / "blocks.txt")
    return world.parameters, cef.ini, tmp_path / "blocks.txt"


def as_text(table, columns):
    """The rows of a Parquet table, as the delimited file spells them."""
    digits = widths("TABBLKST 2, TABBLKCOU 3, TABTRACTCE 6, TABBLK 4, CENRACE 2, HHRACE 2")

    def spelled(name, value):
        return "Null" if value is None else str(value).rjust(digits.get(name, 0), "0")

    rows = pq.read_table(table).to_pylist()
    return Counter("|".join(spelled(name, row[name]) for name in columns) for row in rows)


@pytest.mark.needs_2020_files
def test_the_records_of_the_dummy_are_those_of_the_bureaus_readers(out, cases):
    dummy = cases.parent / "cef" / "dummy"
    done("convert", dummy / "cef" / "reader.ini", out)
    for table in ("person-records", "household-records"):
        header, *rows = lines_of(dummy / "expected" / f"{table}.txt")
        columns = header.split("|")
        assert pq.read_schema(out / table / "01.parquet").names == columns
        assert as_text(out / table, columns) == Counter(rows)


def test_a_converted_cef_runs_as_any_other_data_and_is_for_the_curator_alone(made, tmp_path):
    world, cef, from_cef = made
    converted, out = tmp_path / "converted", tmp_path / "out"
    told = done("cef", "convert", cef.ini, converted)
    people = sum(map(len, cef.records["PER"].values()))
    households = sum(one["HHT"] != "0" for units in cef.records["UNIT"].values() for one in units)
    assert f"{people} persons and {households} households: {converted}, for the curator alone.\n" in told
    for path in (converted, *converted.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert (converted / "SYNTHETIC").exists()
    changed = world.copy(tmp_path / "changed")
    changed.configure(reader="csv")
    done("run", changed.parameters, converted, out, *KEY)
    expected, seen = files_of(from_cef), files_of(out)
    assert expected.pop("manifest.json") != seen.pop("manifest.json")
    assert seen == expected


def test_people_who_may_exist_are_not_marked_as_synthetic(cef, out):
    (cef.folder / "SYNTHETIC").unlink()
    done("convert", cef.ini, out)
    assert not (out / "SYNTHETIC").exists()


@pytest.mark.parametrize(("name", "value"), [("TEN", "0"), ("HHRACE", "")])
def test_a_household_needs_a_tenure_and_a_race(name, value, world, tmp_path):
    cef, log = cef_of(world, tmp_path / "cef"), tmp_path / "log"
    world.configure(reader="cef")
    for state in ("01", "72"):
        next(one for one in cef.records["UNIT"][state] if one["HHT"] != "0")[name] = value
    cef.write()
    told = refused("convert", cef.ini, tmp_path / "out", "--confidential-log", log)
    for state in ("01", "72"):
        assert f"CEF20_UNIT_{state}.txt has 1 problem: {name}: must be 1 to" in told
    assert "Rows: CEF20_UNIT_72.txt, line" in log.read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"cef", "log", "world"}
    done("validate", world.parameters, cef.ini)  # persons need neither


def test_an_earlier_conversion_alone_is_replaced(cef, out):
    done("convert", cef.ini, out)
    assert "already exists" in refused("convert", cef.ini, out)
    done("convert", cef.ini, out, "--overwrite")
    mine = out / "person-records" / "mine.parquet"
    mine.write_text("mine")
    assert "didn't write there: person-records/mine.parquet" in refused("convert", cef.ini, out, "--overwrite")
    assert mine.read_text() == "mine"
    assert "contains files that this command reads" in refused("convert", cef.ini, cef.folder, "--overwrite")
    assert cef.path("PER", "01").exists()


def test_nothing_is_written_among_the_files_of_a_cef(made, tmp_path):
    world, cef, _ = made
    before = sorted(cef.folder.rglob("*"))
    for folder in ("records", "geography"):
        new = cef.folder / folder / "new"
        run = ("run", world.parameters, cef.ini, new, "--confidential-log", tmp_path / "log")
        for command in (("convert", cef.ini, new), ("blocks-with-units", cef.ini, new), run):
            told = refused(*command)
            assert "which this command reads. Choose a folder elsewhere" in told or "can't lie inside" in told
    assert sorted(cef.folder.rglob("*")) == before


def test_a_missing_file_is_a_finding(cef, out):
    cef.path("UNIT", "44").unlink()
    for command in ("convert", "blocks-with-units"):
        assert "state 44: no file CEF20_UNIT_44.txt in the folders it names." in refused(command, cef.ini, out)
        assert not out.exists()


@pytest.mark.spark
def test_spark_says_what_to_do_with_a_cef(world, cef, out):
    run = ("run", world.parameters, cef.ini, out)
    assert f"safetab cef convert {cef.ini} FOLDER" in refused(*run, "--engine", "spark")
    assert not out.exists()


# Blocks with units


@pytest.mark.needs_2020_files
def test_the_blocks_of_the_dummy_are_those_of_the_bureaus_readers(tmp_path, cases):
    dummy, out = cases.parent / "cef" / "dummy", tmp_path / "blocks.txt"
    done("blocks-with-units", dummy / "cef" / "reader.ini", out)
    header, *rows = lines_of(out)
    assert header == f"{GRFC}|HAS_UNIT"
    expected = lines_of(dummy / "expected" / "blocks-with-units.txt")[1:]
    assert [row.removesuffix("|1") for row in rows if row.endswith("|1")] == expected
    assert len(rows) == 25


@pytest.mark.slow
def test_the_list_goes_to_empty_blocks_and_the_manifest_says_why_it_is_public(sparse, tmp_path):
    """A list of the blocks without a unit, written by hand, gives the same release."""
    *given, listed = sparse
    without = [row.removesuffix("|0") for row in lines_of(listed) if row.endswith("|0")]
    assert without
    by_hand = tmp_path / "by-hand.txt"
    by_hand.write_text("\n".join([GRFC, *without, ""]))
    found = []
    for name, file in (("units", listed), ("hand", by_hand)):
        done("run", *given, tmp_path / name, *KEY, "--coterminous", "--empty-blocks", file)
        release = json_of(tmp_path / name / "manifest.json")["release"]
        found.append((files_of(tmp_path / name / "release"), release.get("empty_blocks")))
    (of_units, why), (of_hand, unsaid) = found
    assert of_units == of_hand
    assert "as the curator states by giving the list" in why
    assert unsaid is None


def test_a_list_says_yes_or_no_of_each_block(sparse, out):
    *given, listed = sparse
    listed.write_text(listed.read_text().replace("|0\n", "|2\n"))
    steps = ("--coterminous", "--empty-blocks", listed)
    assert "HAS_UNIT: must be 0 or 1." in refused("run", *given, out, *steps)


def test_an_old_file_stays(made, tmp_path):
    (tmp_path / "blocks.txt").write_text("mine")
    assert "already exists" in refused("blocks-with-units", made[1].ini, tmp_path / "blocks.txt")
    assert (tmp_path / "blocks.txt").read_text() == "mine"


def test_a_re_release_takes_the_geography_that_the_ini_file_names(made, new, tmp_path):
    world, cef, out = made
    done("run", world.parameters, cef.ini, tmp_path / "at-once", *KEY, "--coterminous")
    done("rerelease", "--coterminous", out, new, "--geography", cef.ini)
    expected, seen = (files_of(tmp_path / name / "after-steps") for name in ("at-once", "new"))
    assert seen == expected
    read = json_of(new / "manifest.json")["rerelease"]["public_files"]["geography"]
    assert read
    assert all(name.startswith("grfc") for name in read)
