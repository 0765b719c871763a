"""Malformed person files and refused requests: exit 1 or 3, a clear sentence, no output, no traceback, no value shown."""

import errno
import gzip
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from tests.brute_force import BruteForce, written_tables
from tests.cases import cases_of, later
from tests.commands import cli, done, invalid, raising, refused, refusing
from tests.inside import (
    CantBeDone,
    NumberFile,
    PartRecords,
    TableFile,
    batches_of,
    local_engine_module,
    locked_folder_module,
    manifest_module,
    output_folder_module,
    whole_output,
)
from tests.releases import files_of
from tests.stored_formats import LATEST
from tests.worlds.people import PERSON_HEADER, no_budgets_but, write_random_world

SECRET = "7654321098"
COLUMNS = PERSON_HEADER.split("|")
RECORDS = "person-records.txt"
FULL = "The run failed: a disk that the run writes to is full, or a quota on it is used up"
OF_NATION_AND_STATES = no_budgets_but(*["1_usa", "2_usa", "1_state", "2_state", "1_pr_state", "2_pr_state"])


@pytest.fixture
def world(tmp_path):
    return write_random_world(tmp_path / "world", 3, budget=1, **OF_NATION_AND_STATES)


@pytest.fixture
def out(tmp_path):
    """An output that is there already."""
    return shutil.copytree(LATEST / "persons", tmp_path / "out")


@pytest.fixture
def run(world, tmp_path):
    """The words of a command that runs."""
    return "run", *world, tmp_path / "out"


def persons(world):
    return world.data / RECORDS


def lines_of(world):
    return persons(world).read_text().splitlines()


def columns_of(world):
    """The values of all people, whose file is taken away."""
    header, *rows = (line.split("|") for line in lines_of(world))
    persons(world).unlink()
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def part(world, name):
    return world.data / "person-records" / name


def with_header(world, change):
    world.edit(RECORDS, PERSON_HEADER, change(PERSON_HEADER))


def with_bytes(world, change):
    persons(world).write_bytes(change(persons(world).read_bytes()))


def with_line(world, line):
    world.append(RECORDS, line)


def as_gzip(world, change):
    content = change(gzip.compress(persons(world).read_bytes()))
    renamed(world, "person-records.txt.gz").write_bytes(content)


def as_parquet(world, change):
    pq.write_table(pa.table(change(columns_of(world))), world.data / "person-records.parquet")


def renamed(world, name):
    return persons(world).rename(world.data / name)


def as_directory(world, _):
    persons(world).unlink()
    persons(world).mkdir()


def two_forms(world, name):
    shutil.copy(persons(world), world.data / name)


def folder(world, names):
    part(world, "").mkdir()
    for name in names.split():
        shutil.copy(persons(world), part(world, name))
    persons(world).unlink()


def with_an_empty_part(world, _):
    folder(world, "a.txt b.txt")
    part(world, "b.txt").write_bytes(b"")


def as_cef(world, _):
    world.configure(reader="cef")


def one_part_twice(world, link):
    folder(world, "a.txt")
    link(part(world, "b.txt"), part(world, "a.txt"))


WRONG_VALUES = """
    QAGE: must be an age from 0 to 115 | QAGE=116 QAGE=-1 QAGE= QAGE=5.0 QAGE=5\0 QAGE=7654321098
    QSEX: must be 1 or 2 | QSEX=3 QSEX=7654321098
    HOUSEHOLDER: must be True or False | HOUSEHOLDER=true
    TABBLKST..TABBLK: must be 2, 3, 6 and 4 digits | TABBLKST=044 TABBLKCOU=7654321098 TABTRACTCE=00010a
    TABBLKST..TABBLK: the block must be listed in GRF-C | TABBLK=9999
    CENRACE: must be 01 to 63 | CENRACE=64 CENRACE=1
    QRACE1: must be a code of the list from 1000 to 8999 | QRACE1=Null QRACE1=7654321098 QRACE1=1001 QRACE1=9950
    QRACE2: must be a code of the list from 1000 to 8999, or Null | QRACE2=1001 QRACE2= QRACE2=\0
    QRACE2..QRACE8: after the first Null only Null may follow | QRACE8=1000
    QSPAN: must be a code of the list | QSPAN=Null QSPAN=7654321098 QSPAN="1000"
"""
"""By the rule they break: each in a row of its own."""


MALFORMED = [
    (renamed, "elsewhere", "holds no person-records.txt"),
    (as_directory, None, "is a directory, not a file"),
    (two_forms, "person-records.txt.gz", "more than one form of this table"),
    (folder, "", "is empty"),
    (folder, "a.txt b.csv", "not part of a table: b.csv"),
    (with_an_empty_part, None, "person-records/b.txt has 1 problem:\n  line 1: the file is empty"),
    (one_part_twice, Path.symlink_to, "a.txt, b.txt are links to the same file"),
    (one_part_twice, Path.hardlink_to, "a.txt, b.txt are links to the same file"),
    (folder, "a*.txt ab.txt", "Rename it"),
    *(later(folder, f"{name}.txt ab.txt", "Rename it") for name in ("a?", "a[1]", "a{1}")),
    (with_bytes, lambda _: b"", "or begins with an empty line. The header must be QAGE|QSEX"),
    (with_bytes, lambda text: text.split(b"\n", 1)[1], "Is the header missing? The header must be QAGE|QSEX"),
    (
        with_bytes,
        lambda text: text.decode().encode("utf-16"),
        "line 1: it is not UTF-8 text. Save the file as UTF-8, or end",
    ),
    (with_header, lambda header: header.replace("QAGE|QSEX", "QSEX|QAGE"), "QSEX: must be 1 or 2"),
    (with_header, str.lower, "line 1: column names must be in capitals. The header"),
    (
        with_header,
        lambda header: header.replace("|", ","),
        "line 1: the columns are separated by commas, not by |. The",
    ),
    (
        with_header,
        lambda header: "\t".join(f'"{name}"' for name in header.split("|")),
        "line 1: the columns are separated by tabs, not by |; the names are in quotes. The header must be QAGE|QSEX",
    ),
    (with_line, "1|2|True", "a row must have 17 fields. 1 row breaks this rule"),
    (with_line, "|".join("1" * 18), "a row must have 17 fields"),
    (with_bytes, lambda text: text + b"|".join([b"\xff"] * 17) + b"\n", "a row must be UTF-8 text. 1 row"),
    (with_bytes, lambda text: text.replace(b"\n", b"\r\n").replace(b"\n", b"\n\r\n", 3), "blank lines are only"),
    (with_bytes, lambda text: text.replace(b"\n", b"\n\r", 1), "a carriage return is inside a line"),
    later(
        with_bytes,
        lambda text: text.replace(b"\n", b"\n" + bytes(30 << 20) + b"\n", 1),
        "a line has more than 1,048,576",
    ),
    (as_gzip, lambda content: content[: len(content) // 2], "person-records.txt.gz has"),
    (as_gzip, lambda content: content[:200] + b"noise" * 9 + content[245:], "person-records.txt.gz has"),
    (as_gzip, lambda content: content[:-8] + b"\0\0\0\0" + content[-4:], "is damaged"),
    (renamed, "person-records.txt.gz", "is damaged, or not what its"),
    (renamed, "person-records.parquet", "is damaged, or not what its"),
    (as_parquet, lambda columns: columns | {"QAGE": [None, *columns["QAGE"][1:]]}, "QAGE: must be an age"),
    (as_parquet, lambda columns: columns | {"QSPAN": [-1000] * len(columns["QSPAN"])}, "QSPAN: must be a code"),
    (as_cef, None, "DATA is the .ini file"),
]


def refused_run(world, folder):
    """What a run says that leaves nothing but its log, in which no value is either."""
    temporary = folder / "temporary"
    temporary.mkdir()
    result = cli("run", *world, folder / "out", "--temp", temporary)
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    for shown in (result.output, (folder / "out.confidential.log").read_text()):
        assert SECRET not in shown
        assert "Traceback" not in shown
    assert {path.name for path in folder.iterdir()} == {"world", "temporary", "out.confidential.log"}
    assert not [*temporary.iterdir()]
    return result.stderr


EACH = pytest.mark.parametrize(("damage", "how", "said"), MALFORMED)


@EACH
def test_a_malformed_input_gives_a_sentence(damage, how, said, world):
    damage(world, how)
    assert said in invalid(safetab.validate, *world)


@pytest.mark.slow
@EACH
def test_a_run_says_the_same_and_leaves_no_output(damage, how, said, world, tmp_path):
    damage(world, how)
    assert said in refused_run(world, tmp_path)
    assert said in cli("validate", *world).stderr


def test_every_broken_rule_is_told_at_once_with_the_number_of_its_rows(world, tmp_path):
    rows, first = lines_of(world)[:1], lines_of(world)[1].split("|")
    plain = dict(zip(COLUMNS, [*first[:9], *["Null"] * 7, first[-1]], strict=True))
    due = set()
    for rule, mistakes in cases_of(WRONG_VALUES):
        wrong = [one.partition("=")[::2] for one in mistakes.split(" ")]
        rows += ["|".join((plain | {column: value}).values()) for column, value in wrong]
        due.add(f"  {rule}. {len(wrong)} {'row breaks' if len(wrong) == 1 else 'rows break'} this rule.")
    persons(world).write_text("\n".join(rows) + "\n")
    for told in (refused_run(world, tmp_path), cli("validate", *world).stderr):
        assert {line for line in told.splitlines() if "this rule." in line} == due


def test_an_output_that_is_there_is_replaced_only_on_request(world, out, tmp_path):
    run = ["run", *world, out, "--temp", tmp_path]
    (tmp_path / "safetab-persons-2020").mkdir()
    (tmp_path / "safetab-persons-2020" / "mine").touch()
    (out / "mine").write_text("keep")
    assert "already exists. Choose another folder, or add --overwrite." in refused(*run)
    assert "holds what safetab didn't write there: mine." in refused(*run, "--overwrite")
    assert (out / "mine").read_text() == "keep"
    (out / "mine").rename(out / "t1" / "us.csv")  # of a name that a run wrote
    done(*run, "--overwrite")
    assert (out / "t1" / "us.csv").read_text() != "keep"
    log = tmp_path / "out.confidential.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "persons in the us pass" in log.read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"out", log.name, "world", "safetab-persons-2020"}
    assert (tmp_path / "safetab-persons-2020" / "mine").exists()


def test_what_is_no_output_is_never_replaced(world, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("keep")
    for out in (tmp_path / "out", world.data, world.parameters, world.data.parent, tmp_path, world.data / ".."):
        assert "Choose another" in refused("run", *world, out, "--overwrite")
    assert (tmp_path / "out" / "mine").read_text() == "keep"
    assert persons(world).exists()


def test_an_old_output_comes_back_if_the_new_one_cannot_take_its_place(out, monkeypatch):
    before, rename = files_of(out), Path.rename

    def refuse(path, target):
        if path.name == "output":
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(output_folder_module, "exchange", raising(CantBeDone))
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(OSError, match="Input/output error"), whole_output(out, overwrite=True) as new:
        (new / "manifest.json").write_text("new")
    assert files_of(out) == before


def test_a_folder_that_cannot_be_locked_is_one_failure(monkeypatch, run):
    monkeypatch.setattr(locked_folder_module, "flock", refusing(errno.ENOLCK))
    assert os.strerror(errno.ENOLCK) in refused(*run, code=3)


def test_values_that_are_stored_in_different_ways_in_folders_called_like_columns_are_the_same_people(tmp_path):
    world = write_random_world(tmp_path / "QSEX=1" / "TABBLKST=44", 3, **OF_NATION_AND_STATES)
    expected, columns = BruteForce(*world).tables(), columns_of(world)
    text, dictionary = pa.large_string(), pa.dictionary(pa.int8(), pa.string())
    parts = [
        ({"TABBLKST": text, "QSPAN": dictionary, "QAGE": pa.int64(), "QSEX": pa.uint8()}, "DELTA_BYTE_ARRAY"),
        ({"TABBLKST": dictionary, "QAGE": pa.int8(), "QSEX": pa.int32()}, "DELTA_LENGTH_BYTE_ARRAY"),
        ({"QSPAN": text, "QAGE": pa.int16(), "QSEX": pa.int64()}, "PLAIN"),
    ]
    part(world, "").mkdir()
    for number, (kinds, encoding) in enumerate(parts):
        rows = pa.table({name: values[number :: len(parts)] for name, values in columns.items()})
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
        races = dict.fromkeys(("QRACE1", "QRACE2"), encoding)
        path = part(world, f"{number}.parquet")
        pq.write_table(rows.cast(schema), path, use_dictionary=["QSPAN"], column_encoding=races)
    done("run", *world, tmp_path / "out", "--spend-log", tmp_path / "spent", "--dataset", "people")
    assert written_tables(tmp_path / "out") == expected


@pytest.mark.slow
def test_names_of_folders_are_no_columns_of_text(tmp_path):
    world = write_random_world(tmp_path / "QSEX=1" / "TABBLKST=44", 3)
    done("run", *world, tmp_path / "out")
    assert written_tables(tmp_path / "out") == BruteForce(*world).tables()


def test_a_page_whose_checksum_is_wrong_is_damage(world, run):
    as_parquet(world, dict)
    path = world.data / "person-records.parquet"
    table = pq.read_table(path)
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    first = content.index(b"\x04\x00\x00\x00" + table["QRACE1"][0].as_py().encode())
    content[first + 4] ^= 1  # another code, in the right form: only the checksum tells
    path.write_bytes(content)
    why = "person-records.parquet: it can't be read: damaged, or not what its ending says."
    assert f"{why} The confidential log has the reason." in refused(*run)
    assert f"{why} Add --confidential-log FILE to see the reason." in refused("validate", *world)


def test_rows_that_a_reader_drops_fail_the_run(run, tmp_path, monkeypatch):
    def some_of_each(*given):
        for batches in batches_of(*given):
            yield (
                {name: replace(column, position_of_row=column.position_of_row[:20]) for name, column in batch.items()}
                for batch in batches
            )

    monkeypatch.setattr(local_engine_module, "batches_of", some_of_each)
    told = refused(*run, code=3)
    assert "the number of rows read differs from the number in the files" in told
    assert not (tmp_path / "out").exists()


def test_damage_in_a_folder_called_interrupt_is_damage(tmp_path):
    world = write_random_world(tmp_path / "Query interrupted", 3)
    with_bytes(world, lambda text: text.replace(b"\n", b"\r\n", 3))
    refused("run", *world, tmp_path / "out")


REFUSED_OPTIONS = f"""
--temp /nowhere | /nowhere does not exist. Create it
--temp {"x" * 300} | can't be used: File name too long
--confidential-log /nowhere/log | the confidential log can't be written there: /nowhere does not exist.
--threads 99999999999 | must be from 1 to 1024
--memory 99999999999999999TB | must be a number and a unit
--memory much | must be a number and a unit
--test-key ab | must be 64 hexadecimal digits
--test-key {"x" * 64} | must be 64 hexadecimal digits
"""


@pytest.mark.parametrize(("option", "said"), cases_of(REFUSED_OPTIONS))
def test_a_refused_path_or_option_is_told(option, said, run, tmp_path):
    code = 1 if option.startswith(("--temp", "--conf")) else 2
    assert said in refused(*run, *option.split(), code=code)
    assert not (tmp_path / "out").exists()


def test_the_log_lies_apart_from_what_is_read_and_released(world, run, tmp_path):
    before = persons(world).read_bytes()
    for log in (persons(world), world.parameters / "log", tmp_path / "out" / "log"):
        told = refused(*run, "--confidential-log", log)
        assert "can't lie inside PARAMETERS, DATA or OUT" in told
    assert persons(world).read_bytes() == before


def test_an_output_that_cannot_be_made_is_told(world, tmp_path):
    (tmp_path / "file").touch()
    for out in (tmp_path / ("x" * 300), tmp_path / "nowhere" / "out", tmp_path / "file", tmp_path / "file" / "out"):
        told = refused("run", *world, out)
        assert "OUT" in told or "can't be made" in told


def test_a_key_is_refused_where_people_may_be_real(world, run, tmp_path):
    (world.data / "SYNTHETIC").unlink()
    assert "has no file SYNTHETIC" in refused(*run, "--test-key", "00" * 32)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("owner", "writes"),
    [
        (TableFile, "write"),
        (PartRecords, "add"),
        later(NumberFile, "write"),
        later(manifest_module, "sha256_of"),
    ],
)
def test_a_full_disk_is_exit_3_and_no_output(owner, writes, run, tmp_path, monkeypatch):
    monkeypatch.setattr(owner, writes, refusing(errno.ENOSPC))
    told = refused(*run, code=3)
    assert FULL in told
    assert "Nothing was written." in told
    assert {path.name for path in tmp_path.iterdir()} == {"out.confidential.log", "world"}


def test_an_error_of_the_program_itself_shows_no_value(world, run, tmp_path, monkeypatch):
    broken = raising(ValueError(SECRET))
    monkeypatch.setattr(local_engine_module.LocalEngine, "totals", broken)
    told = refused(*run, code=3)
    assert "an error of the program itself (ValueError); the confidential log has the details." in told
    assert SECRET not in told
    assert SECRET in (tmp_path / "out.confidential.log").read_text()
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(local_engine_module.LocalEngine, "check", broken)
    assert SECRET not in refused("validate", *world, code=3)
