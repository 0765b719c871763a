"""A release folder that stands alone: its README works, its CSV files say what the Parquet files say."""

import csv
import doctest
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pyarrow.csv as pc
import pytest

import safetab
from tests.commands import cli, done, ran
from tests.inside import US, geo_id
from tests.releases import json_of, numbers_of

LEVELS = {level.label: level for level in US.area_levels}
ENDS = ("interval_low", "interval_high")


@pytest.fixture(scope="module", params=["people", "households"])
def out(request, both_products):
    """An output with CSV files of each product."""
    return both_products / request.param


@pytest.fixture(scope="module")
def without(releases):
    """An output without CSV files."""
    return releases.people(2, people=60, budget=1).out


@pytest.fixture(scope="module", params=["people", "households", "without"])
def any_out(request, both_products):
    is_without = request.param == "without"
    return request.getfixturevalue("without") if is_without else both_products / request.param


@pytest.fixture
def alone(any_out, tmp_path, monkeypatch):
    """The release without the rest of the output, as the folder that one works in."""
    release = shutil.copytree(any_out / "release", tmp_path / "given-away")
    monkeypatch.chdir(release)
    return release


def csv_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_command_of_the_readme_works(alone):
    commands = re.findall(r"^    \$ safetab (.+)$", (alone / "README.txt").read_text(), re.MULTILINE)
    assert {shlex.split(one)[0] for one in commands} >= {"show", "status"}
    for command in commands:
        result = cli(*shlex.split(command))
        assert result.exit_code == 0, result.stderr
        assert "status" not in command or re.search("suppressed|no published total|not tabulated", result.stdout)
    assert (alone.parent / "as-csv" / "README.txt").is_file() == ("export . ../as-csv" in " ".join(commands))


def test_every_python_example_of_the_readme_gives_what_it_shows(alone):
    examples = doctest.DocTestParser().get_doctest((alone / "README.txt").read_text(), {}, "README", None, 0)
    assert sum(bool(example.want) for example in examples.examples) == 2 + (alone / "csv").is_dir()
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_r_example_of_the_readme_gives_what_it_shows(out, monkeypatch):
    monkeypatch.chdir(out / "release")
    text = (out / "release" / "README.txt").read_text()
    code = "\n".join(re.findall(r"^    [>+] (.+)$", text, re.MULTILINE))
    assert re.findall(r"^    (\[1\] -?\d+)$", text, re.MULTILINE) == [
        subprocess.check_output(["Rscript", "--vanilla", "-e", code], text=True).strip()
    ]


def test_the_readme_explains_a_number_of_this_release_and_fits_80_columns(any_out):
    text = (any_out / "release" / "README.txt").read_text()
    ((count, margin),) = re.findall(r"count = (-?[\d,]+) and\s+margin_of_error = ([\d,]+) says", text)
    shown = {f"{row['count']:,} {row['margin_of_error'] or 0:,}" for row in numbers_of(any_out)}
    assert f"{count} {margin}" in shown
    assert max(map(len, text.splitlines())) <= 80
    assert "[" not in re.sub(r"^    .*$", "", text, flags=re.MULTILINE)  # every place of the template was filled
    assert f"safetab-{safetab.__version__}-py3-none-any.whl" in text


def test_the_report_is_in_the_release_too(out):
    assert (out / "release" / "report.html").read_bytes() == (out / "report.html").read_bytes()


def test_csv_files_have_the_numbers_of_the_parquet_files_each_total_once(out, tmp_path):
    numbers = [row for row in numbers_of(out) if (row["table_id"][:3], row["line"]) != ("T02", 1)]
    files = list((out / "release" / "csv" / "numbers").iterdir())
    shown = [{"geography_level": path.stem} | row for path in files for row in csv_rows(path)]
    texts = sorted([_text(value) for value in row.values()] for row in numbers)
    assert sorted([row[name] for name in numbers[0]] for row in shown) == texts
    names = ("geography_level", "region_id", "iteration_code")
    totals = [(*(row[name] for name in names), row["table_id"][:3]) for row in shown if row["stub"].startswith("Total")]
    assert len(totals) == len(set(totals))
    done("export", out, tmp_path / "csv")
    assert [(tmp_path / "csv" / "numbers" / path.name).read_bytes() for path in files] == [*map(Path.read_bytes, files)]
    for resource in json_of(tmp_path / "csv" / "datapackage.json")["resources"]:
        named = [field["name"] for field in resource["schema"]["fields"]]
        assert named == pc.read_csv(tmp_path / "csv" / resource["path"]).column_names


def _text(value):
    if isinstance(value, float) and value == int(value):
        return f"{value:.17g}"
    return "" if value is None else str(value)


def test_intervals_of_csv_files_are_those_of_python(out):
    opened, compared = safetab.open_release(out), 0
    for level in ("COUNTY", "TRACT"):
        rows = csv_rows(out / "release" / "csv" / "numbers" / f"{level}.csv")
        assert all((row[end] == "") == (row["status"] == "withheld") for row in rows for end in ENDS)
        shown = [row for row in rows if row["status"] != "withheld"]
        for row in shown[:: max(len(shown) // 12, 1)]:
            at = (row["region_id"], row["iteration_code"])
            for one in [opened.total(*at, level=level), *opened.table(*at, level=level).lines]:
                (counted,) = one.counted
                if (counted.line.table_id, counted.line.number) == (row["table_id"], int(row["line"])):
                    compared += 1
                    assert one.interval == tuple(int(row[end]) for end in ENDS)
    assert compared >= 12


def test_a_plain_reader_keeps_the_ids_of_areas(out):
    pandas = pytest.importorskip("pandas")
    for path in (out / "release" / "csv" / "numbers").iterdir():
        read = pandas.read_csv(path)  # without any option: region_id loses its zeros
        texts = pandas.read_csv(path, dtype=str)
        assert list(read["geo_id"]) == [geo_id(LEVELS[path.stem], region) for region in texts["region_id"]]
    assert geo_id(LEVELS["STATE"], "01") == "0400000US01"


def test_the_data_dictionary_lists_every_csv_file_and_each_of_its_columns(out):
    release = out / "release"
    package = json_of(release / "datapackage.json")
    described = {one["path"]: one for one in package["resources"] if one["format"] == "csv"}
    assert described.keys() == {path.relative_to(release).as_posix() for path in release.rglob("*.csv")}
    assert len({one["name"] for one in package["resources"]}) == len(package["resources"])
    for path, resource in described.items():
        assert [field["name"] for field in resource["schema"]["fields"]] == pc.read_csv(release / path).column_names
    assert package["safetab"]["csv_format"] == 2


def test_csv_files_are_there_only_if_asked_for(without):
    assert not (without / "release" / "csv").exists()
    assert "csv/" not in (without / "release" / "README.txt").read_text()


WITHOUT_POSIX = """
import os, pathlib, sys
HIDDEN = {"fcntl", "resource", "pwd", "grp", "termios"}
class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in HIDDEN:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hiding())
for name in (*HIDDEN, "shutil"):
    sys.modules.pop(name, None)
os.supports_dir_fd.clear()
for name in ("fchmod", "getuid", "geteuid", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
    delattr(os, name)
import safetab
from typer.testing import CliRunner
from safetab.cli.main import app
release, folder = sys.argv[1:]
assert safetab.open_release(release).totals(area="44").numbers
print(*{"duckdb", "numba", "cryptography"} & sys.modules.keys())
for command in (["show", release, "44"], ["status", release], ["export", release, f"{folder}/csv"],
                ["report", release, "-o", f"{folder}/report.html"]):
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, (command, result.stderr, result.exception)
assert sorted(path.name for path in pathlib.Path(folder).iterdir()) == ["csv", "report.html"]
"""


@pytest.fixture(scope="module")
def without_posix(both_products, tmp_path_factory):
    return ran(WITHOUT_POSIX, both_products / "people", tmp_path_factory.mktemp("without_posix"))


def test_a_release_is_read_where_there_is_neither_fcntl_nor_what_else_windows_lacks(without_posix):
    assert without_posix.returncode == 0, without_posix.stderr


def test_opening_a_release_loads_no_engine(without_posix):
    assert without_posix.stdout.splitlines() == [""]
