"""Malformed person files and refused requests: exit 1 or 3, a clear sentence, no output, no traceback, no value shown."""

from __future__ import annotations

import errno
import gzip
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.brute_force import BruteForce, written_tables
from tests.commands import cli
from tests.inside import (
    CantBeDone,
    NumberFile,
    PartRecords,
    TableFile,
    ValueBatch,
    ValueColumn,
    local_engine_module,
    locked_folder_module,
    manifest_module,
    output_folder_module,
    run_module,
    text_batches,
)
from tests.worlds.people import PERSON_HEADER, write_random_world
from tests.worlds.world import World

SECRET = "7654321098"
COLUMNS = PERSON_HEADER.split("|")
Damage = Callable[[World], object]


def persons(world: World) -> Path:
    return world.data / "person-records.txt"


def lines_of(world: World) -> list[str]:
    return persons(world).read_text().splitlines()


def with_value(column: str, value: str) -> Damage:
    def damage(world: World) -> None:
        lines = lines_of(world)
        fields = lines[1].split("|")
        fields[COLUMNS.index(column)] = value
        persons(world).write_text("\n".join([lines[0], "|".join(fields), *lines[2:]]) + "\n")

    return damage


def with_header(change: Callable[[str], str]) -> Damage:
    def damage(world: World) -> None:
        lines = lines_of(world)
        persons(world).write_text("\n".join([change(lines[0]), *lines[1:]]) + "\n")

    return damage


def with_bytes(change: Callable[[bytes], bytes]) -> Damage:
    return lambda world: persons(world).write_bytes(change(persons(world).read_bytes()))


def as_gzip(change: Callable[[bytes], bytes]) -> Damage:
    def damage(world: World) -> None:
        content = change(gzip.compress(persons(world).read_bytes()))
        persons(world).unlink()
        (world.data / "person-records.txt.gz").write_bytes(content)

    return damage


def as_parquet(change: Callable[[dict[str, list[object]]], dict[str, object]]) -> Damage:
    def damage(world: World) -> None:
        rows = [line.split("|") for line in lines_of(world)[1:]]
        columns = {name: [row[position] for row in rows] for position, name in enumerate(COLUMNS)}
        persons(world).unlink()
        pq.write_table(pa.table(change(columns)), world.data / "person-records.parquet")

    return damage


def renamed(name: str) -> Damage:
    return lambda world: persons(world).rename(world.data / name)


def as_directory(world: World) -> None:
    persons(world).unlink()
    persons(world).mkdir()


def two_forms(world: World) -> None:
    shutil.copy(persons(world), world.data / "person-records.txt.gz")


def folder(*names: str) -> Damage:
    def damage(world: World) -> None:
        (world.data / "person-records").mkdir()
        for name in names:
            shutil.copy(persons(world), world.data / "person-records" / name)
        persons(world).unlink()

    return damage


MALFORMED: dict[str, tuple[Damage, str]] = {
    "no person records": (lambda world: persons(world).unlink(), "holds no person-records.txt"),
    "person records are a directory": (as_directory, "is a directory, not a file"),
    "two forms": (two_forms, "more than one form of this table"),
    "an empty folder": (folder(), "is empty"),
    "a folder with something else": (folder("a.txt", "b.csv"), "not part of a table: b.csv"),
    "an empty file": (with_bytes(lambda _: b""), "or begins with an empty line. The header must be QAGE|QSEX"),
    "no header": (
        with_bytes(lambda text: text.split(b"\n", 1)[1]),
        "Is the header missing? The header must be QAGE|QSEX",
    ),
    "a header in UTF-16": (
        with_bytes(lambda text: text.decode().encode("utf-16")),
        "line 1: it is not UTF-8 text. Save the file as UTF-8, or end its name in .gz if it is gzipped. The header",
    ),
    "a part of a folder": (
        lambda world: (folder("a.txt", "b.txt")(world), (world.data / "person-records" / "b.txt").write_bytes(b"")),
        "person-records/b.txt has 1 problem:\n  line 1: the file is empty",
    ),
    "a column missing": (with_header(lambda header: header.replace("|QSPAN", "")), "in any order; missing: QSPAN."),
    "a header in another order than its values": (
        with_header(lambda header: header.replace("QAGE|QSEX", "QSEX|QAGE")),
        "QSEX: must be 1 or 2",
    ),
    "a column twice": (
        with_header(lambda header: header.replace("QSEX", "QAGE")),
        "missing: QSEX; more than once: QAGE.",
    ),
    "a column more": (with_header(lambda header: header + "|MORE"), "in any order; unknown columns, by position: 18."),
    "the header again": (with_bytes(lambda text: text + text.split(b"\n", 1)[0]), "may stand only in line 1. 1 row"),
    "a header in lower case": (with_header(str.lower), "line 1: column names must be in capitals. The header"),
    "a header with commas": (
        with_header(lambda header: header.replace("|", ",")),
        "line 1: the columns are separated by commas, not by |. The header must be QAGE|QSEX",
    ),
    "a header with tabs and quotes": (
        with_header(lambda header: "\t".join(f'"{name}"' for name in header.split("|"))),
        "line 1: the columns are separated by tabs, not by |; the names are in quotes. The header must be QAGE|QSEX",
    ),
    "age too high": (with_value("QAGE", "116"), "QAGE: must be an age from 0 to 115. 1 row breaks this rule"),
    "age negative": (with_value("QAGE", "-1"), "QAGE: must be an age"),
    "age empty": (with_value("QAGE", ""), "QAGE: must be an age"),
    "age is a secret": (with_value("QAGE", SECRET), "QAGE: must be an age"),
    "age with a decimal": (with_value("QAGE", "5.0"), "QAGE: must be an age"),
    "sex 3": (with_value("QSEX", "3"), "QSEX: must be 1 or 2"),
    "sex is a secret": (with_value("QSEX", SECRET), "QSEX: must be 1 or 2"),
    "householder in lower case": (with_value("HOUSEHOLDER", "true"), "HOUSEHOLDER: must be True or False"),
    "state of three digits": (with_value("TABBLKST", "044"), "TABBLKST..TABBLK: must be 2, 3, 6 and 4 digits"),
    "county is a secret": (with_value("TABBLKCOU", SECRET), "must be 2, 3, 6 and 4 digits"),
    "tract with letters": (with_value("TABTRACTCE", "00010a"), "must be 2, 3, 6 and 4 digits"),
    "a block that isn't listed": (
        with_value("TABBLK", "9999"),
        "the block must be listed in GRF-C. 1 row breaks this rule",
    ),
    "CENRACE 64": (with_value("CENRACE", "64"), "CENRACE: must be 01 to 63"),
    "CENRACE of one digit": (with_value("CENRACE", "1"), "CENRACE: must be 01 to 63"),
    "no race": (with_value("QRACE1", "Null"), "QRACE1: must be a code of the list from 1000 to 8999."),
    "race is a secret": (with_value("QRACE1", SECRET), "QRACE1: must be a code of the list"),
    "race that isn't listed": (with_value("QRACE1", "1001"), "QRACE1: must be a code of the list"),
    "race above 8999": (with_value("QRACE1", "9950"), "QRACE1: must be a code of the list"),
    "second race unknown": (
        with_value("QRACE2", "1001"),
        "QRACE2: must be a code of the list from 1000 to 8999, or Null",
    ),
    "second race empty": (with_value("QRACE2", ""), "QRACE2: must be a code of the list"),
    "a race after a Null": (with_value("QRACE8", "1000"), "QRACE2..QRACE8: after the first Null only Null may follow"),
    "ethnicity Null": (with_value("QSPAN", "Null"), "QSPAN: must be a code of the list"),
    "ethnicity is a secret": (with_value("QSPAN", SECRET), "QSPAN: must be a code of the list"),
    "a short row": (with_bytes(lambda text: text + b"1|2|True\n"), "a row must have 17 fields. 1 row breaks this rule"),
    "a long row": (with_bytes(lambda text: text + b"|".join([b"1"] * 18) + b"\n"), "a row must have 17 fields"),
    "not UTF-8": (with_bytes(lambda text: text + b"|".join([b"\xff"] * 17) + b"\n"), "a row must be UTF-8 text. 1 row"),
    "a blank line inside": (
        with_bytes(lambda text: text.replace(b"\n", b"\n\n", 9)),
        "blank lines are only allowed at the end",
    ),
    "a blank line inside, as Windows ends lines": (
        with_bytes(lambda text: text.replace(b"\n", b"\r\n").replace(b"\r\n", b"\r\n\r\n", 3)),
        "blank lines are only",
    ),
    "line ends the wrong way round, once": (
        with_bytes(lambda text: text.replace(b"\n", b"\n\r", 1)),
        "a carriage return is inside a line",
    ),
    "a NUL byte": (with_value("QAGE", "5\x00"), "QAGE: must be an age"),
    "a NUL for a race": (with_value("QRACE2", "\x00"), "QRACE2: must be a code of the list"),
    "a line of zeros at the end": (with_bytes(lambda text: text + bytes(3 << 20)), "a line has more than 1,048,576"),
    "a line of zeros inside": (
        with_bytes(lambda text: text.replace(b"\n", b"\n" + bytes(30 << 20) + b"\n", 1)),
        "a line has more than 1,048,576 bytes",
    ),
    "quotes": (with_value("QSPAN", '"1000"'), "QSPAN: must be a code of the list"),
    "gzip cut short": (as_gzip(lambda content: content[: len(content) // 2]), "person-records.txt.gz has"),
    "gzip with noise inside": (
        as_gzip(lambda content: content[:200] + b"noise" * 9 + content[245:]),
        "person-records.txt.gz has",
    ),
    "gzip with a wrong checksum": (as_gzip(lambda content: content[:-8] + b"\0\0\0\0" + content[-4:]), "is damaged"),
    "Parquet with a column twice but for capitals": (
        as_parquet(lambda c: {"qage": c["QAGE"]} | c),
        "ignoring upper and lower case: QAGE",
    ),
    "text called gzip": (renamed("person-records.txt.gz"), "is damaged, or not what its ending says"),
    "text called Parquet": (renamed("person-records.parquet"), "is damaged, or not what its ending says"),
    "Parquet lacks a column": (as_parquet(lambda c: {k: v for k, v in c.items() if k != "QAGE"}), "columns missing"),
    "Parquet with an age that is null": (
        as_parquet(lambda c: c | {"QAGE": [None, *c["QAGE"][1:]]}),
        "QAGE: must be an age",
    ),
    "Parquet with ages as floats": (
        as_parquet(lambda c: c | {"QAGE": [5.5] * len(c["QAGE"])}),
        "QAGE: holds numbers with fractions. Give text or integers.",
    ),
    "Parquet with a negative code": (
        as_parquet(lambda c: c | {"QSPAN": [-1000] * len(c["QSPAN"])}),
        "QSPAN: must be a code",
    ),
    "Parquet with lists": (
        as_parquet(lambda c: c | {"QSPAN": [["1000"]] * len(c["QSPAN"])}),
        "QSPAN: holds values of another type. Give text or integers.",
    ),
    "the reader cef": (lambda world: world.configure(reader="cef"), "DATA is the .ini file"),
    "a public file is wrong too": (lambda world: world.configure(max_race_codes=9), "9 is not an integer from 1 to 8"),
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return write_random_world(tmp_path / "world", 3, budget=1)


def invoke(world: World, out: Path, *options: str):
    return cli("run", *world, out, *options)


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_input_gives_a_sentence_and_no_output(kind, world, tmp_path):
    damage, expected = MALFORMED[kind]
    damage(world)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    result = invoke(world, tmp_path / "out", "--temp", str(temporary))
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert expected in result.stderr
    assert "Traceback" not in result.output
    assert SECRET not in result.output
    assert SECRET not in (tmp_path / "out.confidential.log").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"world", "temporary", "out.confidential.log"}
    assert list(temporary.iterdir()) == []
    checked = cli("validate", *world)
    assert checked.exit_code == 1
    assert expected in checked.stderr


def test_every_broken_rule_is_told_at_once(world, tmp_path):
    for column, value in (("QAGE", "200"), ("QSEX", "9"), ("QRACE1", "1001"), ("QSPAN", "1001"), ("TABBLK", "9999")):
        with_value(column, value)(world)
    result = invoke(world, tmp_path / "out")
    assert "person-records.txt has 5 problems" in result.stderr


def test_an_output_that_is_there_is_replaced_only_on_request(world, tmp_path):
    assert invoke(world, tmp_path / "out").exit_code == 0
    (tmp_path / "out" / "mine").write_text("keep")
    result = invoke(world, tmp_path / "out")
    assert result.exit_code == 1
    assert "already exists. Choose another folder, or add --overwrite." in result.stderr
    assert (tmp_path / "out" / "mine").read_text() == "keep"
    result = invoke(world, tmp_path / "out", "--overwrite")
    assert result.exit_code == 1
    assert "holds what safetab didn't write there: mine." in result.stderr
    (tmp_path / "out" / "mine").rename(tmp_path / "out" / "t1" / "us.csv")  # of a name that a run wrote
    assert invoke(world, tmp_path / "out", "--overwrite").exit_code == 0
    assert (tmp_path / "out" / "t1" / "us.csv").read_text() != "keep"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.confidential.log", "world"]


def test_what_is_no_output_is_never_replaced(world, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("keep")
    for out in (tmp_path / "out", world.data, world.parameters, world.data.parent, tmp_path, world.data / ".."):
        result = invoke(world, out, "--overwrite")
        assert result.exit_code == 1
        assert "Choose another" in result.stderr
    assert (tmp_path / "out" / "mine").read_text() == "keep"
    assert persons(world).exists()


def test_an_output_that_appears_meanwhile_is_not_replaced(world, tmp_path, monkeypatch):
    def write_manifest(*_: object) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "theirs").write_text("keep")

    monkeypatch.setattr(run_module, "write_manifest", write_manifest)
    assert invoke(world, tmp_path / "out").exit_code == 3
    assert (tmp_path / "out" / "theirs").read_text() == "keep"


def test_an_old_output_comes_back_if_the_new_one_cannot_take_its_place(world, tmp_path, monkeypatch):
    assert invoke(world, tmp_path / "out").exit_code == 0
    before = (tmp_path / "out" / "t1" / "us.csv").read_bytes()
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.name == "output":
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    def no_exchange(*_: Path) -> None:
        raise CantBeDone

    monkeypatch.setattr(output_folder_module, "exchange", no_exchange)
    monkeypatch.setattr(Path, "rename", refuse)
    assert invoke(world, tmp_path / "out", "--overwrite").exit_code == 3
    assert (tmp_path / "out" / "t1" / "us.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["a*.txt", "a?.txt", "a[1].txt", "a{1}.txt"])
def test_a_name_that_a_database_reads_as_a_pattern_is_refused(name, world, tmp_path):
    folder(name, "ab.txt")(world)
    result = invoke(world, tmp_path / "out")
    assert result.exit_code == 1
    assert "Rename it" in result.stderr


@pytest.mark.parametrize("form", ["text", "parquet"])
def test_names_of_folders_are_no_columns(form, tmp_path):
    world = write_random_world(tmp_path / "QSEX=1" / "TABBLKST=44", 3)
    expected = BruteForce(*world).tables()
    if form == "parquet":
        as_parquet(lambda columns: columns)(world)
    assert invoke(world, tmp_path / "out").exit_code == 0
    assert written_tables(tmp_path / "out") == expected


def test_a_folder_that_cannot_be_locked_is_one_failure(world, tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locked_folder_module, "flock", refuse)
    result = invoke(world, tmp_path / "out")
    assert result.exit_code == 3
    assert "No locks available" in result.stderr


def test_folders_of_others_stay(world, tmp_path):
    (tmp_path / "safetab-persons-2020").mkdir()
    (tmp_path / "safetab-persons-2020" / "mine").touch()
    assert invoke(world, tmp_path / "out", "--temp", str(tmp_path)).exit_code == 0
    assert (tmp_path / "safetab-persons-2020" / "mine").exists()


def test_validate_shows_no_error_of_its_own(world, monkeypatch):
    def broken(*_: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(local_engine_module.LocalEngine, "check", broken)
    result = cli("validate", *world)
    assert result.exit_code == 3
    assert SECRET not in result.output


def test_parts_of_several_types_are_refused(world, tmp_path):
    rows = [line.split("|") for line in lines_of(world)[1:]]
    columns = {name: [row[position] for row in rows] for position, name in enumerate(COLUMNS)}
    (world.data / "person-records").mkdir()
    pq.write_table(pa.table(columns), world.data / "person-records" / "a.parquet")
    pq.write_table(pa.table(columns | {"QAGE": [17.4] * len(rows)}), world.data / "person-records" / "b.parquet")
    persons(world).unlink()
    result = invoke(world, tmp_path / "out")
    assert result.exit_code == 1
    assert "QAGE: has several types: numbers with fractions, text" in result.stderr


def parts_of(world: World, *schemas: dict[str, pa.DataType]) -> None:
    """Each person once, in one part for each change of the types."""
    rows = [line.split("|") for line in lines_of(world)[1:]]
    (world.data / "person-records").mkdir()
    for number, schema in enumerate(schemas):
        columns = {
            name: pa.array([row[position] for row in rows[number :: len(schemas)]])
            for position, name in enumerate(COLUMNS)
        }
        columns |= {
            name: pa.nulls(len(column)) if pa.types.is_null(kind) else column.cast(kind)
            for name, kind in schema.items()
            for column in [columns[name]]
        }
        pq.write_table(pa.table(columns), world.data / "person-records" / f"{number}.parquet")
    persons(world).unlink()


def test_values_that_are_stored_in_different_ways_are_the_same_people(tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    expected = BruteForce(*world).tables()
    text, dictionary = pa.large_string(), pa.dictionary(pa.int8(), pa.string())
    parts_of(world, {"TABBLKST": text, "QSPAN": dictionary}, {"TABBLKST": dictionary}, {"QSPAN": text})
    result = invoke(world, tmp_path / "out", "--spend-log", str(tmp_path / "spent"), "--dataset", "people")
    assert result.exit_code == 0, result.stderr
    assert written_tables(tmp_path / "out") == expected


def test_integers_of_different_widths_are_the_same_people(tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    expected = BruteForce(*world).tables()
    parts_of(world, {"QAGE": pa.int64(), "QSEX": pa.uint8()}, {"QAGE": pa.int8(), "QSEX": pa.int32()})
    assert invoke(world, tmp_path / "out").exit_code == 0
    assert written_tables(tmp_path / "out") == expected


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_every_encoding_of_text_is_read(encoding, tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    expected = BruteForce(*world).tables()
    as_parquet(lambda columns: columns)(world)
    path = world.data / "person-records.parquet"
    pq.write_table(pq.read_table(path), path, use_dictionary=False, column_encoding=encoding)
    assert invoke(world, tmp_path / "out").exit_code == 0
    assert written_tables(tmp_path / "out") == expected


def test_a_page_whose_checksum_is_wrong_is_damage(world, tmp_path):
    as_parquet(lambda columns: columns)(world)
    path = world.data / "person-records.parquet"
    pq.write_table(pq.read_table(path), path, compression="none", use_dictionary=False, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    first = content.index(b"\x04\x00\x00\x00" + lines_of_codes(path))
    content[first + 4] ^= 1  # another code, in the right form: only the checksum tells
    path.write_bytes(content)
    result = invoke(world, tmp_path / "out")
    assert result.exit_code == 1
    why = "person-records.parquet: it can't be read: damaged, or not what its ending says."
    assert f"{why} The confidential log has the reason." in " ".join(result.stderr.split())
    checked = cli("validate", *world)
    assert checked.exit_code == 1
    assert f"{why} Add --confidential-log FILE to see the reason." in " ".join(checked.stderr.split())


def lines_of_codes(path: Path) -> bytes:
    return str(pq.read_table(path).column("QRACE1")[0].as_py()).encode()


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_one_file_is_not_two_parts(link, world, tmp_path):
    folder("a.txt")(world)
    link(world.data / "person-records" / "b.txt", world.data / "person-records" / "a.txt")
    result = invoke(world, tmp_path / "out")
    assert result.exit_code == 1
    assert "a.txt, b.txt are links to the same file" in result.stderr


def first_rows(column: ValueColumn) -> ValueColumn:
    return replace(column, position_of_row=column.position_of_row[:20])


def test_rows_that_a_reader_drops_fail_the_run(world, tmp_path, monkeypatch):
    def some_of_each(*given: Any) -> Iterator[Iterator[ValueBatch]]:
        for batches in text_batches(*given):
            yield ({name: first_rows(column) for name, column in batch.items()} for batch in batches)

    monkeypatch.setattr(local_engine_module, "text_batches", some_of_each)
    result = invoke(world, tmp_path / "out")
    assert result.exit_code == 3
    assert "the number of rows read differs from the number in the files" in result.stderr
    assert not (tmp_path / "out").exists()


def test_damage_in_a_folder_called_interrupt_is_damage(tmp_path):
    world = write_random_world(tmp_path / "Query interrupted", 3)
    with_bytes(lambda text: text.replace(b"\n", b"\r\n", 3))(world)
    assert invoke(world, tmp_path / "out").exit_code == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--temp", "/nowhere"], "/nowhere does not exist. Create it"),
        (["--temp", "x" * 300], "can't be used: File name too long"),
        (
            ["--confidential-log", "/nowhere/log"],
            "the confidential log can't be written there: /nowhere does not exist.",
        ),
    ],
)
def test_a_refused_path_is_told(options, sentence, world, tmp_path):
    result = invoke(world, tmp_path / "out", *options)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--threads", "99999999999"], "must be from 1 to 1024"),
        (["--memory", "99999999999999999TB"], "must be a number and a unit"),
        (["--memory", "much"], "must be a number and a unit"),
        (["--test-key", "ab"], "must be 64 hexadecimal digits"),
        (["--test-key", "x" * 64], "must be 64 hexadecimal digits"),
    ],
)
def test_a_refused_option_is_told(options, sentence, world, tmp_path):
    result = invoke(world, tmp_path / "out", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_log_lies_apart_from_what_is_read_and_released(world, tmp_path):
    before = persons(world).read_bytes()
    for log in (persons(world), world.parameters / "log", tmp_path / "out" / "log"):
        result = invoke(world, tmp_path / "out", "--confidential-log", str(log))
        assert result.exit_code == 1
        assert "can't lie inside PARAMETERS, DATA or OUT" in result.stderr
    assert persons(world).read_bytes() == before


def test_an_output_that_cannot_be_made_is_told(world, tmp_path):
    (tmp_path / "file").touch()
    for out in (tmp_path / ("x" * 300), tmp_path / "nowhere" / "out", tmp_path / "file", tmp_path / "file" / "out"):
        result = invoke(world, out)
        assert result.exit_code == 1
        assert "OUT" in result.stderr or "can't be made" in result.stderr


def test_a_key_is_refused_where_people_may_be_real(world, tmp_path):
    (world.data / "SYNTHETIC").unlink()
    result = invoke(world, tmp_path / "out", "--test-key", "00" * 32)
    assert result.exit_code == 1
    assert "has no file SYNTHETIC" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_key_marks_the_output(world, tmp_path):
    assert invoke(world, tmp_path / "out", "--test-key", "00" * 32).exit_code == 0
    assert '"for_release": false' in (tmp_path / "out" / "manifest.json").read_text()
    assert "Not for release" in (tmp_path / "out" / "NOT-FOR-RELEASE").read_text()
    (world.data / "SYNTHETIC").unlink()
    assert invoke(world, tmp_path / "two").exit_code == 0
    assert '"for_release": true' in (tmp_path / "two" / "manifest.json").read_text()
    assert not (tmp_path / "two" / "NOT-FOR-RELEASE").exists()


@pytest.mark.parametrize(
    ("owner", "writes"),
    [(TableFile, "write"), (NumberFile, "write"), (PartRecords, "add"), (manifest_module, "sha256_of")],
)
def test_a_full_disk_is_exit_3_and_no_output(owner, writes, world, tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(owner, writes, full)
    result = invoke(world, tmp_path / "out")
    assert result.exit_code == 3
    assert (
        "The run failed: a disk that the run writes to is full, or a quota on it is used up (--temp, OUT, the spend log or the confidential log). Nothing was written."
        in result.stderr
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.confidential.log", "world"]


def test_an_error_of_the_program_itself_shows_no_value(world, tmp_path, monkeypatch):
    def broken(*_: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(local_engine_module.LocalEngine, "totals", broken)
    result = invoke(world, tmp_path / "out")
    assert result.exit_code == 3
    assert "an error of the program itself (ValueError); the confidential log has the details." in result.stderr
    assert SECRET not in result.output
    assert SECRET in (tmp_path / "out.confidential.log").read_text()
    assert not (tmp_path / "out").exists()


def test_the_confidential_log_is_the_curators_alone(world, tmp_path):
    assert invoke(world, tmp_path / "out").exit_code == 0
    log = tmp_path / "out.confidential.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "persons in the us pass" in log.read_text()
