"""A release folder that stands alone: its README works, its CSV files say what the Parquet files say."""

from __future__ import annotations

import csv
import doctest
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import cli
from tests.inside import US, geo_id

PRODUCTS = ("people", "households")
LEVELS = {level.label: level for level in US.area_levels}


@pytest.fixture(scope="module")
def outs(both_products: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release with CSV files of each product, and one without them."""
    without = tmp_path_factory.mktemp("without") / "out"
    safetab.rerelease(both_products / "people", without)
    return {name: both_products / name for name in PRODUCTS} | {"without": without}


@pytest.fixture
def alone(
    request: pytest.FixtureRequest, outs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The release without the rest of the output, as the folder that one works in."""
    release = tmp_path / "given-away"
    shutil.copytree(outs[request.param] / "release", release)
    monkeypatch.chdir(release)
    return release


@pytest.mark.parametrize("alone", [*PRODUCTS, "without"], indirect=True)
def test_every_command_of_the_readme_works(alone):
    commands = re.findall(r"^    \$ safetab (.+)$", (alone / "README.txt").read_text(), re.MULTILINE)
    assert {shlex.split(one)[0] for one in commands} >= {"show", "status"}
    for command in commands:
        result = cli(*shlex.split(command))
        assert result.exit_code == 0, result.stderr
        assert "status" not in command or re.search("suppressed|no published total|not tabulated", result.stdout)
    assert (alone.parent / "as-csv" / "README.txt").is_file() == ("export . ../as-csv" in " ".join(commands))


@pytest.mark.parametrize("alone", [*PRODUCTS, "without"], indirect=True)
def test_every_python_example_of_the_readme_gives_what_it_shows(alone):
    text = (alone / "README.txt").read_text()
    examples = doctest.DocTestParser().get_doctest(text, {}, "README", None, 0)
    answers = sum(bool(example.want) for example in examples.examples)
    assert answers == (3 if (alone / "csv").is_dir() else 2)
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("alone", PRODUCTS, indirect=True)
def test_the_r_example_of_the_readme_gives_what_it_shows(alone):
    text = (alone / "README.txt").read_text()
    code = "\n".join(re.findall(r"^    [>+] (.+)$", text, re.MULTILINE))
    (shown,) = re.findall(r"^    (\[1\] -?\d+)$", text, re.MULTILINE)
    ran = subprocess.run(["Rscript", "--vanilla", "-e", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == shown


@pytest.mark.parametrize("alone", [*PRODUCTS, "without"], indirect=True)
def test_the_readme_explains_a_number_of_this_release_and_fits_80_columns(alone):
    text = (alone / "README.txt").read_text()
    (number,) = re.findall(r"count = (-?[\d,]+) and\s+margin_of_error = ([\d,]+) says", text)
    count, margin = (int(one.replace(",", "")) for one in number)
    rows = [row for path in alone.rglob("numbers/**/*.parquet") for row in pq.read_table(path).to_pylist()]
    assert (count, margin) in {(row["count"], row["margin_of_error"]) for row in rows}
    assert max(map(len, text.splitlines())) <= 80
    assert "[" not in re.sub(r"^    .*$", "", text, flags=re.MULTILINE)  # every place of the template was filled
    assert f"safetab-{safetab.__version__}-py3-none-any.whl" in text


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_report_is_in_the_release_too(name, outs):
    assert (outs[name] / "release" / "report.html").read_bytes() == (outs[name] / "report.html").read_bytes()


ENDS = ("interval_low", "interval_high")


@pytest.mark.parametrize("name", PRODUCTS)
def test_csv_files_have_the_numbers_of_the_parquet_files_each_total_once(name, outs):
    release = outs[name] / "release"
    for path in sorted((release / "csv" / "numbers").iterdir()):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        files = sorted((release / "numbers" / f"geography_level={path.stem}").iterdir())
        numbers = [row for one in files for row in pq.read_table(one, partitioning=None).to_pylist()]
        numbers = [row for row in numbers if (row["table_id"][:3], row["line"]) != ("T02", 1)]
        same = list(numbers[0]) if numbers else []
        found = [{key: row[key] for key in same} for row in rows]
        assert sorted(map(str, found)) == sorted(str({key: _texts(row)[key] for key in same}) for row in numbers)
        measured = Counter((row["region_id"], row["iteration_code"], row["table_id"][:3]) for row in rows
                           if row["stub"].startswith("Total"))  # fmt: skip
        assert set(measured.values()) <= {1}


@pytest.mark.parametrize("name", PRODUCTS)
def test_intervals_of_csv_files_are_those_of_python(name, outs):
    opened = safetab.open_release(outs[name])
    compared = 0
    for level in ("COUNTY", "TRACT"):
        with (outs[name] / "release" / "csv" / "numbers" / f"{level}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert all((row[end] == "") == (row["status"] == "withheld") for row in rows for end in ENDS)
        shown = [row for row in rows if row["status"] != "withheld"]
        for row in shown[:: max(len(shown) // 12, 1)]:
            at = (row["region_id"], row["iteration_code"])
            numbers = [opened.total(*at, level=level), *opened.table(*at, level=level).lines]
            for one in numbers:
                (counted,) = one.counted
                if (counted.line.table_id, counted.line.number) == (row["table_id"], int(row["line"])):
                    compared += 1
                    assert one.interval == (int(row[ENDS[0]]), int(row[ENDS[1]]))
    assert compared >= 12


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_plain_reader_keeps_the_ids_of_areas(name, outs):
    pandas = pytest.importorskip("pandas")
    for path in sorted((outs[name] / "release" / "csv" / "numbers").iterdir()):
        read = pandas.read_csv(path)  # without any option: region_id loses its zeros
        texts = pandas.read_csv(path, dtype=str)
        assert list(read["geo_id"]) == [geo_id(LEVELS[path.stem], region) for region in texts["region_id"]]


def _texts(row: dict[str, object]) -> dict[str, str]:
    return {key: "" if value is None else _number(value) for key, value in row.items()}


def _number(value: object) -> str:
    return f"{value:.17g}".removesuffix(".0") if isinstance(value, float) and value == int(value) else str(value)


@pytest.mark.parametrize(
    ("level", "region", "expected"),
    [
        ("USA", "1", "0100000US"),
        ("STATE", "01", "0400000US01"),
        ("COUNTY", "01001", "0500000US01001"),
        ("TRACT", "44007000101", "1400000US44007000101"),
        ("PLACE", "4459000", "1600000US4459000"),
        ("AIANNH", "2430", "2500000US2430"),
        ("PR-COUNTY", "72127", "0500000US72127"),
    ],
)
def test_geo_ids_are_those_of_the_census_bureau(level, region, expected):
    assert geo_id(LEVELS[level], region) == expected


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_data_dictionary_lists_every_csv_file_and_each_of_its_columns(name, outs):
    release = outs[name] / "release"
    package = json.loads((release / "datapackage.json").read_text())
    described = {one["path"]: one for one in package["resources"] if one["format"] == "csv"}
    assert set(described) == {path.relative_to(release).as_posix() for path in release.rglob("*.csv")}
    assert len({one["name"] for one in package["resources"]}) == len(package["resources"])
    for path, resource in described.items():
        assert [field["name"] for field in resource["schema"]["fields"]] == pc.read_csv(release / path).column_names
    assert package["safetab"]["csv_format"] == 2


def test_csv_files_are_there_only_if_asked_for(outs):
    assert not (outs["without"] / "release" / "csv").exists()
    assert "csv/" not in (outs["without"] / "release" / "README.txt").read_text()


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
for command in (["show", release, "44"], ["status", release], ["export", release, f"{folder}/csv"],
                ["report", release, "-o", f"{folder}/report.html"]):
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, (command, result.stderr, result.exception)
assert sorted(path.name for path in pathlib.Path(folder).iterdir()) == ["csv", "report.html"]
"""


def test_a_release_is_read_where_there_is_neither_fcntl_nor_what_else_windows_lacks(outs, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX, str(outs["people"]), str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
