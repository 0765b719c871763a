"""`safetab new`: a specification that is valid as it is, and that no record was read for."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import cases_of, values_of
from tests.commands import cli, done, refused
from tests.inside import PeopleRequest, read_specification

STRACE = shutil.which("strace")
SECRET = "a secret of one person"


def new(folder, *arguments):
    """What the command says, and the text and the keys of the specification."""
    said = " ".join(done("new", folder, *arguments).split())
    text = (folder / "census.toml").read_text()
    return said, text, tomllib.loads(text)


def types_of(keys):
    return {each["name"]: each["type"] for each in keys["records"]["fields"]}


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def people_file(path):
    return parquet(
        path,
        block_id=["11", "12"],
        age=pa.array([3, 44], pa.int16()),
        Origin1=["a", "b"],
        Origin2=pa.array([None, SECRET]),
        is_here=[True, False],
        income=[1.5, 2.5],
    )


def test_its_files_are_valid_and_every_key_is_explained(tmp_path):
    (folder := tmp_path / "mine").mkdir()  # an empty directory is filled
    _, text, _ = new(folder)
    assert read_specification(folder).findings == PeopleRequest(folder, 10).checked().findings == ()
    names = ["areas.csv", "census.schema.json", "census.toml", "codes.csv"]
    assert sorted(path.name for path in folder.iterdir()) == names
    first, *lines = text.splitlines()
    assert json.loads((folder / first.removeprefix("#:schema ")).read_text())["title"]
    assert "GUESSED" not in text
    assert "whose record" not in text
    for name in "areas.csv", "codes.csv":
        assert len((folder / name).read_text().splitlines()) == 1 + 3
    for command in "synthesize", "validate", "plan", "run", "site":
        assert f"#     safetab {command} " in text
    for before, line in pairwise([first, *lines]):
        assert not re.match(r"\[|\w+ *=", line) or "#" in line or before.startswith("#"), line


def test_a_directory_with_anything_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    assert "already exists and is not an empty directory. Choose another FOLDER." in refused("new", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_columns_come_from_a_parquet_file_and_guesses_are_marked_and_told(tmp_path):
    said, text, keys = new(tmp_path / "mine", "--columns", people_file(tmp_path / "persons.parquet"))
    assert keys["records"]["file"] == "persons"
    assert types_of(keys) == {"block_id": "string", "age": "integer", "Origin1": "string", "Origin2": "string"}
    assert keys["tables"][0]["shapes"][-1]["by"] == ["age"]
    for line in (
        '  # { name = "is_here", type = "boolean" },',
        'key  = ["block_id = AREA"]  # GUESSED: check this',
        'columns = ["Origin1", "Origin2"]  # GUESSED: check this',
    ):
        assert f"\n{line}\n" in text
    assert "income" in text.split("census = 1")[0]
    assert "Area: block_id (guessed). Codes: Origin1, Origin2 (guessed)." in said
    assert "Left out, since a table can't use what they hold: income (numbers with fractions)." in said
    assert PeopleRequest(tmp_path / "mine", 10).checked().errors == ()
    package = '{"schema": {"fields": [{"name": "ward"}, {"name": "lang"}, {"name": "weight", "type": "number"}]}}'
    (tmp_path / "package.json").write_text(package)
    said, *_ = new(tmp_path / "own", "--from", tmp_path / "package.json")
    assert "Taken for texts, since a table can't use their types: weight (number)." in said


def test_a_column_that_cannot_be_guessed_is_a_placeholder_that_is_refused(tmp_path):
    path = parquet(tmp_path / "people.parquet", Geschlecht=["m"], sprache=["de"], alter=[3])
    said, *_ = new(tmp_path / "mine", "--columns", path)
    errors = str(read_specification(tmp_path / "mine").errors)
    for noun, column in ("Area", "COLUMN-OF-AREAS"), ("Codes", "COLUMN-OF-CODES"):
        assert f"{noun}: {column} (write yours in place of it)." in said
        assert f'"{column}" is no' in errors
    path = parquet(tmp_path / "more.parquet", geo_code=["1"], Geschlecht=["m"], lang=["x"])
    assert new(tmp_path / "more", "--columns", path)[2]["areas"]["key"] == ["geo_code = AREA"]


def test_areas_and_codes_that_a_file_holds_as_integers_become_texts(tmp_path):
    path = parquet(tmp_path / "persons.parquet", person=["a"], ward=[101], age=[7], ethnic_code=[3])
    _, _, keys = new(tmp_path / "mine", "--columns", path)
    assert keys["areas"]["key"] == ["ward = AREA"]
    assert keys["classifications"]["groups"]["columns"] == ["ethnic_code"]
    assert types_of(keys) == {"ward": "string", "age": "integer", "ethnic_code": "string"}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_sex_is_in_a_table_and_only_columns_that_a_text_file_needs_are_read_by_nothing(ending, tmp_path):
    columns, unused = ["ward", "sex", "age", "lang"], ["person_id", "q0", "q1", "q2"]
    path, is_text = tmp_path / f"people.{ending}", ending == "csv"
    if is_text:
        path.write_text(",".join(columns + unused) + "\n")
    else:
        parquet(path, **{name: [1] for name in columns + unused})
    said, text, keys = new(tmp_path / "mine", "--columns", path)
    assert "Values of sex: 1, 2 (guessed)." in said
    assert [shape.get("by") for shape in keys["tables"][0]["shapes"]] == [None, ["sex"], ["sex", "age"]]
    (line,) = (line for line in text.splitlines() if 'name = "sex"' in line)
    assert line.endswith("# GUESSED: check this")
    assert {*types_of(keys)} == {*columns, *(unused if is_text else ())}
    assert text.count("\n  # { name = ") == (0 if is_text else len(unused))
    checked = PeopleRequest(tmp_path / "mine", 10).checked()
    assert (checked.errors, len(checked.warnings)) == ((), is_text)
    if is_text:
        assert '# Does "person_id" say whose record it is?' in text
        unit = 'unit = { name = "person", column = "person_id", most_records = 3 }'
        assert f"\n# {unit}" in text
        (tmp_path / "mine" / "census.toml").write_text(text.replace(f"# {unit}", unit))
        assert read_specification(tmp_path / "mine").errors == ()


PACKAGE = """
{"resources": [{"path": "readme.md"}, {"path": "data/speakers.csv", "schema": {"missingValues": ["", "-"], "fields": [
    {"name": "district", "type": "string", "constraints": {"pattern": "D[0-9]{2}"}},
    {"name": "tongues", "type": "list", "delimiter": ";"},
    {"name": "age", "type": "integer", "constraints": {"minimum": 16, "maximum": 99}},
    {"name": "sex", "type": "integer", "constraints": {"enum": [1, 2]}, "title": "Sex"},
    {"name": "born", "type": "date"}
]}}]}
"""


def test_columns_come_from_a_data_package(tmp_path):
    path = tmp_path / "datapackage.json"
    path.write_text(PACKAGE)
    _, _, keys = new(tmp_path / "mine", "--from", path)
    assert (keys["records"]["file"], keys["records"]["missing"]) == ("speakers", ["", "-"])
    assert keys["areas"]["key"] == ["district = AREA"]
    assert keys["classifications"]["groups"]["column"] == "tongues"
    finest = keys["tables"][0]["shapes"][-1]
    assert (finest["by"], finest["breaks"]) == (["sex", "age"], {"age": [16, 30, 45, 65, 80]})
    areas = (tmp_path / "mine" / "areas.csv").read_text().splitlines()[1:]
    assert all(re.match(r"D[0-9]{2},", row) for row in areas)
    assert PeopleRequest(tmp_path / "mine", 10).checked().errors == ()


@pytest.fixture
def reads(tmp_path, monkeypatch):
    """Where the files of records were read, and the bytes there."""
    noted, opened = [], Path.open

    class Watched(io.FileIO):
        def read(self, size=-1):
            noted.append((self.tell(), super().read(-1 if size is None else size)))
            return noted[-1][1]

    def opening(path, mode="r", *arguments, **named):
        is_read = "r" in mode and path.parent == tmp_path and path.suffix in {".parquet", ".csv", ".txt"}
        return Watched(path) if is_read else opened(path, mode, *arguments, **named)

    monkeypatch.setattr(Path, "open", opening)
    return noted


def footer_begin(path):
    content = path.read_bytes()
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


def test_only_the_footer_of_a_parquet_file_is_read_and_the_bytes_of_records_change_nothing(
    tmp_path, monkeypatch, reads
):
    path = people_file(tmp_path / "persons.parquet")
    new(tmp_path / "mine", "--columns", path)
    assert reads
    monkeypatch.undo()
    begin = footer_begin(path)
    assert min(place for place, _ in reads) == begin
    path.write_bytes(b"\xff" * begin + path.read_bytes()[begin:])
    new(tmp_path / "again", "--columns", path)
    for name in "census.toml", "areas.csv", "codes.csv":
        text = (tmp_path / "mine" / name).read_text()
        assert text.replace("mine", "again") == (tmp_path / "again" / name).read_text()
        assert SECRET not in text  # though the footer's statistics have it


@pytest.mark.parametrize(("name", "separator"), [("people.csv", ","), ("people.txt", "|")])
def test_only_the_header_of_a_text_file_is_read(name, separator, tmp_path, reads):
    columns = ["person", "ward", "Age", "lang1", "lang2"]
    header = separator.join(columns).encode() + b"\r\n"
    (tmp_path / name).write_bytes(header + SECRET.encode() + b"\xff")
    said, text, keys = new(tmp_path / "mine", "--columns", tmp_path / name)
    assert b"".join(content for _, content in reads) == header
    assert "ages are taken for integers, everything else for texts." in said
    assert SECRET not in text
    assert types_of(keys) == dict.fromkeys(columns, "string") | {"Age": "integer"}
    assert "\n# A header has no types: choose string, integer, boolean or list for each column.\n" in text
    guesses = re.findall(r"\n  { name = .*type = .*# GUESSED: check this(?=\n)", text)
    assert len(guesses) == len(columns)
    assert keys["areas"]["key"] == ["ward = AREA"]
    assert keys["classifications"]["groups"]["columns"] == ["lang1", "lang2"]
    assert PeopleRequest(tmp_path / "mine", 10).checked().errors == ()


@pytest.mark.parametrize(
    "header",
    [
        b"ward,lang,age\n",
        b"\xef\xbb\xbfward,lang,age\r\n",
        b"ward,lang,age",
        b'"ward","lang","age"\n',
        b'\xef\xbb\xbf"ward",lang,age\r\n',
    ],
)
def test_a_header_may_have_a_byte_order_mark_windows_line_ends_or_quotes(header, tmp_path):
    (tmp_path / "people.CSV").write_bytes(header)
    said, _, keys = new(tmp_path / "mine", "--columns", tmp_path / "people.CSV")
    assert ("write the file without quotes" in said) == (b'"' in header)
    assert [*types_of(keys)] == ["ward", "lang", "age"]
    assert PeopleRequest(tmp_path / "mine", 10).checked().errors == ()


WRONG = dict(
    cases_of(
        """
        another kind | is neither a .csv or .txt file nor a Parquet file. .*write the names of the columns into a .csv file
        no header | people.csv.*line 1 must be a header: two or more names, each once, with commas between them
        no footer | is not a Parquet file with a footer that can be read. .*write the names of the columns into a .csv file
        no table | describes no table
        no code | one with a code are needed
        """
    )
)


@pytest.mark.parametrize(
    ("name", "content", "wrong"),
    values_of(
        r"""
        "people.xlsx" | b"ward,lang,age\nSECRET,cy,1\n" | "another kind"
        "people.sas7bdat" | b"ward,lang,age\nSECRET,cy,1\n" | "another kind"
        "people.csv.gz" | b"ward,lang,age\nSECRET,cy,1\n" | "another kind"
        "people" | b"ward,lang,age\nSECRET,cy,1\n" | "another kind"
        "people.csv" | b"101,1,cy\n102,1,en\n" | "no header"
        "people.csv" | b"ward;lang;age\n102,1,en\n" | "no header"
        "people.csv" | b'"ward,"lang"\n102,1,en\n' | "no header"
        "people.csv" | b'"ward","lang\n102,1,en\n' | "no header"
        "people.csv" | b"ward,lang,ward\n102,1,en\n" | "no header"
        "people.csv" | b"ward,lang,\n102,1,en\n" | "no header"
        "people.csv" | b"\n102,1,en\n" | "no header"
        "people.csv" | b"w\xe4rd,lang\n102,1,en\n" | "no header"
        "people.csv" | b"ward\n102,1,en\n" | "no header"
        "people.parquet" | b"" | "no footer"
        "people.parquet" | b"PAR1" | "no footer"
        "people.parquet" | b"no parquet at all" | "no footer"
        "people.parquet" | b"PAR1\xff\xff\xff\xffPAR1" | "no footer"
        "package.json" | b"not json" | "no table"
        "package.json" | b"[]" | "no table"
        "package.json" | b'{"resources": [{"path": "a.csv"}]}' | "no table"
        "package.json" | b'{"resources": [{"schema": {"fields": [{"type": "string"}]}}]}' | "no table"
        "package.json" | b'{"resources": [{"schema": {"fields": [{"name": "age", "type": "integer"}]}}]}' | "no code"
        """
    ),
)
def test_a_file_without_columns_is_refused_with_what_to_do_and_not_quoted(name, content, wrong, tmp_path):
    (tmp_path / name).write_bytes(content.replace(b"SECRET", SECRET.encode()))
    option = "--from" if name.endswith("json") else "--columns"
    told = refused("new", tmp_path / "mine", option, tmp_path / name)
    assert re.search(WRONG[wrong], told), told
    first = content.decode("latin-1").partition("\n")[0]
    assert SECRET not in told
    assert not first or name != "people.csv" or first not in told
    assert not (tmp_path / "mine").exists()


@pytest.mark.slow
@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
def test_the_system_sees_no_read_of_a_record(tmp_path):
    path, log = people_file(tmp_path / "persons.parquet"), tmp_path / "log"
    command = [sys.executable, "-m", "safetab", "new", str(tmp_path / "mine"), "--columns", str(path)]
    traced = ["-f", "-y", "-e", "trace=openat,open,read,pread64,preadv,readv,lseek,mmap,sendfile,copy_file_range"]
    ended = subprocess.run([STRACE, *traced, "-o", str(log), *command], capture_output=True, check=False)
    lines = [line for line in log.read_text().splitlines() if str(path) in line] if log.exists() else []
    if not lines:
        pytest.skip("strace may not trace here")
    assert ended.returncode == 0
    calls = [re.sub(r"^\d+ +", "", line) for line in lines]
    assert [call for call in calls if not call.startswith(("open", "lseek", "read("))] == []
    assert sum(call.startswith("open") for call in calls) == 1
    place, begins = 0, []
    for call in calls:
        if call.startswith("lseek"):
            place = int(call.rsplit("= ", 1)[1])
        elif call.startswith("read("):
            begins.append(place)
            place += int(call.rsplit("= ", 1)[1])
    assert min(begins) == footer_begin(path)


def test_what_is_not_there_or_given_twice_or_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.parquet")
    for message, option, name in cases_of(
        """
        does not exist | --columns | nothing.parquet
        is a directory | --columns |
        does not exist | --from | nothing.json
        is not a regular file. | --columns | pipe.parquet
        """
    ):
        assert message in refused("new", tmp_path / "mine", option, tmp_path / name)
    told = cli("new", tmp_path / "mine", "--from", tmp_path, "--columns", tmp_path).output
    assert "Leave out one of them" in " ".join(told.split())
    assert [path.name for path in tmp_path.iterdir()] == ["pipe.parquet"]
