"""`safetab new`: a specification that is valid as it is, and that no record was read for."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import cli
from tests.inside import PeopleRequest, read_specification

STRACE = shutil.which("strace")
SECRET = "a secret of one person"


def new(folder, *arguments):
    ended = cli("new", folder, *arguments)
    return ended.exit_code, " ".join(ended.stderr.split())


def people_file(path):
    columns = {
        "block_id": ["11", "12"],
        "age": pa.array([3, 44], pa.int16()),
        "Origin1": ["a", "b"],
        "Origin2": pa.array([None, SECRET]),
        "is_here": [True, False],
        "income": [1.5, 2.5],
    }
    pq.write_table(pa.table(columns), path)
    return path


def test_its_files_are_valid_and_have_three_rows(tmp_path):
    assert new(tmp_path / "mine") == (0, "")
    checked = read_specification(tmp_path / "mine")
    assert checked.findings == ()
    names = ["areas.csv", "census.schema.json", "census.toml", "codes.csv"]
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == names
    schema = (tmp_path / "mine" / "census.toml").read_text().splitlines()[0].removeprefix("#:schema ")
    assert json.loads((tmp_path / "mine" / schema).read_text())["title"]
    assert "GUESSED" not in (tmp_path / "mine" / "census.toml").read_text()
    for name in ("areas.csv", "codes.csv"):
        assert len((tmp_path / "mine" / name).read_text().splitlines()) == 1 + 3
    assert PeopleRequest(tmp_path / "mine", 10).checked().findings == ()


def test_it_says_what_to_do_next_and_explains_every_key(tmp_path):
    new(tmp_path / "mine")
    text = (tmp_path / "mine" / "census.toml").read_text()
    for command in ("synthesize", "validate", "plan", "run", "site"):
        assert f"#     safetab {command} " in text
    before = ""
    for line in text.splitlines():
        is_key = re.match(r"\[|\w+ *=", line)
        assert not is_key or "#" in line or before.startswith("#"), line
        before = line


def test_an_empty_directory_is_filled_and_any_other_is_left_alone(tmp_path):
    (tmp_path / "empty").mkdir()
    assert new(tmp_path / "empty") == (0, "")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    code, stderr = new(tmp_path / "full")
    assert code == 1
    assert "already exists and is not an empty directory. Choose another FOLDER." in stderr
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.txt"]


def test_columns_come_from_a_parquet_file(tmp_path):
    assert new(tmp_path / "mine", "--columns", people_file(tmp_path / "persons.parquet")) == (0, "")
    text = (tmp_path / "mine" / "census.toml").read_text()
    keys = tomllib.loads(text)
    assert keys["records"]["file"] == "persons"
    types = {each["name"]: each["type"] for each in keys["records"]["fields"]}
    assert types == {"block_id": "string", "age": "integer", "Origin1": "string", "Origin2": "string"}
    assert '\n  # { name = "is_here", type = "boolean" },\n' in text
    assert keys["areas"]["key"] == ["block_id = AREA"]
    assert keys["classifications"]["groups"]["columns"] == ["Origin1", "Origin2"]
    assert keys["tables"][0]["shapes"][-1]["by"] == ["age"]
    assert "income" in text.split("census = 1")[0]
    assert PeopleRequest(tmp_path / "mine", 10).checked().errors == ()


def test_a_guess_is_marked_in_the_file_and_told_and_so_is_what_was_left_out(tmp_path):
    path = people_file(tmp_path / "persons.parquet")
    ended = cli("new", tmp_path / "mine", "--columns", path)
    printed, text = " ".join(ended.stdout.split()), (tmp_path / "mine" / "census.toml").read_text()
    assert "Area: block_id (guessed). Codes: Origin1, Origin2 (guessed)." in printed
    assert "Left out, since a table can't use what they hold: income (numbers with fractions)." in printed
    assert '\nkey  = ["block_id = AREA"]  # GUESSED: check this\n' in text
    assert '\ncolumns = ["Origin1", "Origin2"]  # GUESSED: check this\n' in text
    fields = [{"name": "ward"}, {"name": "lang"}, {"name": "weight", "type": "number"}]
    (tmp_path / "package.json").write_text(json.dumps({"schema": {"fields": fields}}))
    ended = cli("new", tmp_path / "own", "--from", tmp_path / "package.json")
    assert "Taken for texts, since a table can't use their types: weight (number)." in " ".join(ended.stdout.split())


def test_a_column_that_cannot_be_guessed_is_a_placeholder_that_is_refused(tmp_path):
    pq.write_table(pa.table({"Geschlecht": ["m"], "sprache": ["de"], "alter": [3]}), tmp_path / "people.parquet")
    ended = cli("new", tmp_path / "mine", "--columns", tmp_path / "people.parquet")
    printed = " ".join(ended.stdout.split())
    for noun, column in (("Area", "COLUMN-OF-AREAS"), ("Codes", "COLUMN-OF-CODES")):
        assert f"{noun}: {column} (write yours in place of it)." in printed
        refused = [str(each) for each in read_specification(tmp_path / "mine").errors]
        assert any(f'"{column}" is no' in each for each in refused)
    pq.write_table(pa.table({"geo_code": ["1"], "Geschlecht": ["m"], "lang": ["x"]}), tmp_path / "more.parquet")
    assert new(tmp_path / "more", "--columns", tmp_path / "more.parquet") == (0, "")
    assert tomllib.loads((tmp_path / "more" / "census.toml").read_text())["areas"]["key"] == ["geo_code = AREA"]


def test_areas_and_codes_that_a_file_holds_as_integers_become_texts(tmp_path):
    columns = {"person": ["a"], "ward": [101], "age": [7], "ethnic_code": [3]}
    pq.write_table(pa.table(columns), tmp_path / "persons.parquet")
    assert new(tmp_path / "mine", "--columns", tmp_path / "persons.parquet") == (0, "")
    keys = tomllib.loads((tmp_path / "mine" / "census.toml").read_text())
    assert keys["areas"]["key"] == ["ward = AREA"]
    assert keys["classifications"]["groups"]["columns"] == ["ethnic_code"]
    types = {each["name"]: each["type"] for each in keys["records"]["fields"]}
    assert types == {"ward": "string", "age": "integer", "ethnic_code": "string"}


def questionnaire(path):
    columns = ["person_id", "ward", "sex", "age", "lang", *(f"q{number}" for number in range(3))]
    if path.suffix == ".parquet":
        pq.write_table(pa.table({name: [1] for name in columns}), path)
    else:
        path.write_text(",".join(columns) + "\n")
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_sex_is_in_a_table_and_only_columns_that_a_text_file_needs_are_read_by_nothing(ending, tmp_path):
    path = questionnaire(tmp_path / f"people.{ending}")
    ended = cli("new", tmp_path / "mine", "--columns", path)
    assert "Values of sex: 1, 2 (guessed)." in " ".join(ended.stdout.split())
    text = (tmp_path / "mine" / "census.toml").read_text()
    keys = tomllib.loads(text)
    assert [shape.get("by") for shape in keys["tables"][0]["shapes"]] == [None, ["sex"], ["sex", "age"]]
    (line,) = (line for line in text.splitlines() if 'name = "sex"' in line)
    assert line.endswith("# GUESSED: check this")
    unused = {"person_id", "q0", "q1", "q2"}
    named = {each["name"] for each in keys["records"]["fields"]}
    assert named == {"ward", "sex", "age", "lang"} | (unused if ending == "csv" else set())
    assert text.count("\n  # { name = ") == (0 if ending == "csv" else len(unused))
    checked = PeopleRequest(tmp_path / "mine", 10).checked()
    assert checked.errors == ()
    assert len(checked.warnings) == (1 if ending == "csv" else 0)


def test_columns_that_may_name_a_unit_are_asked_about(tmp_path):
    assert new(tmp_path / "mine", "--columns", questionnaire(tmp_path / "people.csv")) == (0, "")
    path = tmp_path / "mine" / "census.toml"
    text = path.read_text()
    assert '# Does "person_id" say whose record it is?' in text
    assert '\n# unit = { name = "person", column = "person_id", most_records = 3 }' in text
    path.write_text(text.replace("# unit =", "unit ="))
    assert read_specification(tmp_path / "mine").errors == ()
    assert new(tmp_path / "none") == (0, "")
    assert "whose record" not in (tmp_path / "none" / "census.toml").read_text()


def test_columns_come_from_a_data_package(tmp_path):
    fields = [
        {"name": "district", "type": "string", "constraints": {"pattern": "D[0-9]{2}"}},
        {"name": "tongues", "type": "list", "delimiter": ";"},
        {"name": "age", "type": "integer", "constraints": {"minimum": 16, "maximum": 99}},
        {"name": "sex", "type": "integer", "constraints": {"enum": [1, 2]}, "title": "Sex"},
        {"name": "born", "type": "date"},
    ]
    given = {"path": "data/speakers.csv", "schema": {"fields": fields, "missingValues": ["", "-"]}}
    path = tmp_path / "datapackage.json"
    path.write_text(json.dumps({"resources": [{"path": "readme.md"}, given]}))
    assert new(tmp_path / "mine", "--from", path) == (0, "")
    keys = tomllib.loads((tmp_path / "mine" / "census.toml").read_text())
    assert (keys["records"]["file"], keys["records"]["missing"]) == ("speakers", ["", "-"])
    assert keys["areas"]["key"] == ["district = AREA"]
    assert keys["classifications"]["groups"]["column"] == "tongues"
    assert keys["tables"][0]["shapes"][-1]["by"] == ["sex", "age"]
    assert keys["tables"][0]["shapes"][-1]["breaks"] == {"age": [16, 30, 45, 65, 80]}
    areas = (tmp_path / "mine" / "areas.csv").read_text().splitlines()[1:]
    assert all(re.match(r"D[0-9]{2},", row) for row in areas)
    assert PeopleRequest(tmp_path / "mine", 10).checked().errors == ()


def test_only_the_footer_of_a_parquet_file_is_read(tmp_path, monkeypatch):
    path = people_file(tmp_path / "persons.parquet")
    reads = []

    class Watched(io.FileIO):
        def read(self, size=-1):
            begin = self.tell()
            content = super().read(-1 if size is None else size)
            reads.append((begin, begin + len(content)))
            return content

    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **b: Watched(self) if self == path else opened(self, *a, **b))
    assert new(tmp_path / "mine", "--columns", path)[0] == 0
    assert reads
    assert min(begin for begin, _ in reads) == footer_begin(path)


def footer_begin(path):
    content = path.read_bytes()
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


def test_the_bytes_of_records_change_nothing(tmp_path):
    path = people_file(tmp_path / "persons.parquet")
    assert new(tmp_path / "mine", "--columns", path)[0] == 0
    begin = footer_begin(path)
    path.write_bytes(b"\xff" * begin + path.read_bytes()[begin:])
    assert new(tmp_path / "again", "--columns", path)[0] == 0
    for name in ("census.toml", "areas.csv", "codes.csv"):
        text = (tmp_path / "mine" / name).read_text()
        assert text.replace("mine", "again") == (tmp_path / "again" / name).read_text()
        assert SECRET not in text  # though the footer's statistics have it


class WatchedFile(io.FileIO):
    """A file that notes the bytes that are read of it."""

    noted = b""

    def read(self, size=-1):
        content = super().read(-1 if size is None else size)
        WatchedFile.noted += content
        return content


@pytest.mark.parametrize(("name", "separator"), [("people.csv", ","), ("people.txt", "|")])
def test_only_the_header_of_a_text_file_is_read(name, separator, tmp_path, monkeypatch):
    header = separator.join(("person", "ward", "Age", "lang1", "lang2")) + "\r\n"
    path, opened = tmp_path / name, Path.open
    path.write_bytes(header.encode() + SECRET.encode() + b"\xff")
    monkeypatch.setattr(WatchedFile, "noted", b"")
    monkeypatch.setattr(
        Path, "open", lambda self, *a, **b: WatchedFile(self) if self == path else opened(self, *a, **b)
    )
    ended = cli("new", tmp_path / "mine", "--columns", path)
    assert ended.exit_code == 0, ended.stderr
    assert WatchedFile.noted == header.encode()
    assert "ages are taken for integers, everything else for texts." in " ".join(ended.stdout.split())
    text = (tmp_path / "mine" / "census.toml").read_text()
    assert SECRET not in text
    keys = tomllib.loads(text)
    types = {each["name"]: each["type"] for each in keys["records"]["fields"]}
    assert types == {"person": "string", "ward": "string", "Age": "integer", "lang1": "string", "lang2": "string"}
    assert "\n# A header has no types: choose string, integer, boolean or list for each column.\n" in text
    fields = [line for line in text.splitlines() if line.startswith("  { name = ") and "type = " in line]
    assert len(fields) == len(types)
    assert all(line.endswith("# GUESSED: check this") for line in fields)
    assert keys["areas"]["key"] == ["ward = AREA"]
    assert keys["classifications"]["groups"]["columns"] == ["lang1", "lang2"]
    assert PeopleRequest(tmp_path / "mine", 10).checked().errors == ()


@pytest.mark.parametrize(
    ("header", "in_quotes"),
    [
        (b"ward,lang,age\n", False),
        (b"\xef\xbb\xbfward,lang,age\r\n", False),
        (b"ward,lang,age", False),
        (b'"ward","lang","age"\n', True),
        (b'\xef\xbb\xbf"ward",lang,age\r\n', True),
    ],
)
def test_a_header_may_have_a_byte_order_mark_windows_line_ends_or_quotes(header, in_quotes, tmp_path):
    (tmp_path / "people.CSV").write_bytes(header)
    ended = cli("new", tmp_path / "mine", "--columns", tmp_path / "people.CSV")
    assert ended.exit_code == 0, ended.stderr
    assert ("write the file without quotes" in " ".join(ended.stdout.split())) == in_quotes
    keys = tomllib.loads((tmp_path / "mine" / "census.toml").read_text())
    assert [each["name"] for each in keys["records"]["fields"]] == ["ward", "lang", "age"]
    assert PeopleRequest(tmp_path / "mine", 10).checked().errors == ()


@pytest.mark.parametrize("name", ["people.xlsx", "people.sas7bdat", "people.csv.gz", "people"])
def test_a_file_of_another_format_is_refused_with_what_to_do(name, tmp_path):
    (tmp_path / name).write_text(f"ward,lang,age\n{SECRET},cy,1\n")
    code, stderr = new(tmp_path / "mine", "--columns", tmp_path / name)
    assert code == 1
    assert "is neither a .csv or .txt file nor a Parquet file." in stderr
    assert "write the names of the columns into a .csv file, with commas between them." in stderr
    assert SECRET not in stderr
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    "line",
    [
        "101,1,cy",
        "ward;lang;age",
        '"ward,"lang"',
        '"ward","lang',
        "ward,lang,ward",
        "ward,lang,",
        "",
        "w\xe4rd,lang",
        "ward",
    ],
)
def test_a_first_line_that_is_no_header_is_refused_and_not_quoted(line, tmp_path):
    (tmp_path / "people.csv").write_bytes(line.encode("latin-1") + b"\n102,1,en\n")
    code, stderr = new(tmp_path / "mine", "--columns", tmp_path / "people.csv")
    assert code == 1
    assert "people.csv" in stderr
    assert "line 1 must be a header: two or more names, each once, with commas between them" in stderr
    assert not line or line not in stderr
    assert not (tmp_path / "mine").exists()


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
def test_the_system_sees_no_read_of_a_record(tmp_path):
    path, log = people_file(tmp_path / "persons.parquet"), tmp_path / "log"
    command = [sys.executable, "-m", "safetab", "new", str(tmp_path / "mine"), "--columns", str(path)]
    traced = ["-f", "-y", "-e", "trace=openat,open,read,pread64,preadv,readv,lseek,mmap,sendfile,copy_file_range"]
    ended = subprocess.run([str(STRACE), *traced, "-o", str(log), *command], capture_output=True, check=False)
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
    assert begins
    assert min(begins) == footer_begin(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not json", "describes no table"),
        ("[]", "describes no table"),
        ('{"resources": [{"path": "a.csv"}]}', "describes no table"),
        ('{"resources": [{"schema": {"fields": [{"type": "string"}]}}]}', "describes no table"),
        ('{"resources": [{"schema": {"fields": [{"name": "age", "type": "integer"}]}}]}', "one with a code are needed"),
    ],
)
def test_a_wrong_package_is_refused(content, message, tmp_path):
    (tmp_path / "datapackage.json").write_text(content)
    code, stderr = new(tmp_path / "mine", "--from", tmp_path / "datapackage.json")
    assert code == 1
    assert message in stderr
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet at all", b"PAR1" + b"\xff\xff\xff\xffPAR1"])
def test_a_file_without_a_footer_is_refused(content, tmp_path):
    (tmp_path / "persons.parquet").write_bytes(content)
    code, stderr = new(tmp_path / "mine", "--columns", tmp_path / "persons.parquet")
    assert code == 1
    assert "is not a Parquet file with a footer that can be read." in stderr
    assert "write the names of the columns into a .csv file" in stderr


def test_what_is_not_there_or_given_twice_is_refused(tmp_path):
    assert "does not exist" in new(tmp_path / "mine", "--columns", tmp_path / "nothing.parquet")[1]
    assert "is a directory" in new(tmp_path / "mine", "--columns", tmp_path)[1]
    assert "does not exist" in new(tmp_path / "mine", "--from", tmp_path / "nothing.json")[1]
    assert "Leave out one of them" in new(tmp_path / "mine", "--from", tmp_path, "--columns", tmp_path)[1]
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "people.parquet")
    ended = cli("new", tmp_path / "mine", "--columns", tmp_path / "people.parquet")
    assert ended.exit_code == 1
    assert "is not a regular file." in " ".join(ended.stderr.split())
    assert not (tmp_path / "mine").exists()
