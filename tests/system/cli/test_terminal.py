"""What the terminal shows fits 80 columns, breaks between words, and completes commands."""

import csv
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from safetab.cli.main import app
from tests.commands import cli
from tests.conftest import SMALL_EXAMPLE
from tests.inside import AddressedBits, tables_that_fit, terminal_console, text_table, wrapped
from tests.worlds.world import KEY

WIDTH = 80


COMMANDS = f"""\
plan h/parameters h/data
plan {SMALL_EXAMPLE}/parameters {SMALL_EXAMPLE}/data
validate h/parameters nowhere
show people 44
show people state 1002
show people 'Rhode Iland'
show households 44
status people
status households --level state --area 44
status people --level conty
export people households
report people -o people
tune table-thresholds
lists p/parameters
spend nothing.log
""".splitlines()
LONG_COMMANDS = """\
plan p/parameters p/data
status people --area 44
demo tour
validate p/parameters p/data
run p/parameters p/data again
rerelease people new --rule clamp-negatives
export people as-csv
report people -o page.html
tune levels
tune table-moe
""".splitlines()


@pytest.mark.parametrize(
    "command", [*COMMANDS, *(pytest.param(words, marks=pytest.mark.slow) for words in LONG_COMMANDS)]
)
def test_every_command_fits_80_columns_and_breaks_no_word(command, both_products, monkeypatch):
    monkeypatch.chdir(both_products)
    same_noise = staticmethod(lambda *_: AddressedBits(bytes.fromhex(KEY)))  # it decides which groups are the largest
    monkeypatch.setattr(AddressedBits, "of_the_operating_system", same_noise)
    told = {}
    for columns in (WIDTH, 1000):
        monkeypatch.setenv("COLUMNS", str(columns))
        for made in ("again", "as-csv", "new", "tour"):
            shutil.rmtree(both_products / made, ignore_errors=True)
        (both_products / "page.html").unlink(missing_ok=True)
        told[columns] = cli(*shlex.split(command)).output
    assert told[WIDTH]
    for line in told[WIDTH].splitlines():
        assert len(line.rstrip()) <= WIDTH or " " not in line.strip(), line
        assert "\N{HORIZONTAL ELLIPSIS}" not in line
    assert words(told[WIDTH]) <= words(told[1000])


def words(text):
    """Without numbers, which no two runs share, and lines."""
    return {word for word in re.sub("[│╭╮╰╯─]", " ", text).split() if not re.fullmatch(r"[\d.,]+", word)}


def every_command():
    found: list[tuple[str, ...]] = [()]
    for name, command in typer.main.get_command(app).commands.items():
        found.append((name,))
        found += [(name, inner) for inner in getattr(command, "commands", ())]
    return found


@pytest.mark.parametrize("command", every_command(), ids=" ".join)
def test_help_fits_80_columns_and_shows_flags_as_flags(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    text = cli(*command, "--help").output
    assert max(map(len, text.splitlines())) <= WIDTH
    for noise in ("<bool>", "--no-", "[[", "\N{HORIZONTAL ELLIPSIS}"):
        assert noise not in text
    described = typer.main.get_command(app)
    for name in command:
        described = described.commands[name]
    shown = " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())
    for parameter in (each for each in described.params if not getattr(each, "hidden", False)):
        for word in (getattr(parameter, "help", None) or "").split():
            assert word in shown, (parameter.name, word)  # not broken


def test_status_has_a_reason_for_every_absent_group(both_products, monkeypatch):
    monkeypatch.chdir(both_products)
    for out in ("people", "households"):
        shown = cli("status", out, "--level", "state", "--area", "44").stdout.splitlines()
        rows = [line.split("  ") for line in shown if line.startswith("  ")]
        cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
        printed = cli("status", out, "--level", "STATE", "--area", "44", "--csv").stdout
        groups = list(csv.DictReader(io.StringIO(printed)))
        listed = [row for row in cells if row != ["group", "status", "table, or why not"]]
        assert all(len(row) == 3 for row in listed)
        assert [(row[0].rsplit("(", 1)[1][:-1], row[1]) for row in listed] == [
            (one["iteration_code"], one["status"]) for one in groups
        ]


def test_status_without_an_area_counts_the_groups_of_each_level(both_products):
    shown = cli("status", both_products / "people").stdout
    printed = cli("status", both_products / "people", "--csv").stdout
    levels = [row["geography_level"] for row in csv.DictReader(io.StringIO(printed))]
    for level in set(levels):
        assert f"{level}: {levels.count(level):,} groups\n" in shown


def test_all_names_that_are_wrong_are_told_at_once(both_products):
    wrong = ["--level", "conty", "--area", "Nowhere", "--group", "Klingon"]
    result = cli("status", both_products / "people", *wrong)
    assert result.exit_code == 1
    for name in ('"conty"', '"Nowhere"', '"Klingon"'):
        assert name in result.stderr


def test_a_table_that_is_too_wide_comes_in_parts_with_its_first_column(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    table = text_table("level", *(f"column {number}" for number in range(6)))
    table.add_row("COUNTY", *(f"{number:,}" for number in range(1_000_000, 1_000_006)))
    parts = list(tables_that_fit(table, terminal_console()))
    assert len(parts[0].columns) <= 4
    assert all(part.columns[0].header == "level" for part in parts)
    assert [column.header for part in parts for column in part.columns[1:]] == [f"column {n}" for n in range(6)]


def test_every_part_of_a_table_repeats_all_key_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    table = text_table("data set", "pass", "definition", "spent", "limit", "left", "runs")
    for tabulation_pass in ("US", "PR"):
        table.add_row("census-2020", tabulation_pass, "zcdp", "rho 4.944", "rho 10.000000", "rho 5.056000", "1")
    parts = list(tables_that_fit(table, terminal_console(), keys=2))
    assert len(parts) > 1
    for part in parts:
        assert [column.header for column in part.columns[:2]] == ["data set", "pass"]
        assert list(part.columns[1].cells) == ["US", "PR"]
    rest = [column.header for part in parts for column in part.columns[2:]]
    assert rest == ["definition", "spent", "limit", "left", "runs"]


def test_a_word_that_is_longer_than_a_line_stays_whole():
    path = "/" + "x" * 60
    assert wrapped(f"Wrote {path} for you.", 40).splitlines() == ["Wrote", f"  {path}", "  for you."]


def test_a_number_and_its_sign_stay_on_one_line():
    text = "Dominican, Providence city: 1,000 ± 30 (95 %: 970 to 1,030)"
    for width in range(30, len(text)):
        lines = wrapped(text, width).splitlines()
        assert not any(line.endswith(("95", "±")) for line in lines)
        assert " ".join(line.strip() for line in lines) == text


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_completion_installs_in_bash_and_completes(tmp_path):
    folder = Path(sys.executable).parent
    if not (folder / "safetab").exists():
        pytest.skip("safetab is not installed beside Python")
    environment = {"HOME": str(tmp_path), "PATH": f"{folder}:{os.environ['PATH']}"}
    script = (
        "safetab --install-completion >&2 && source ~/.bashrc && complete -p safetab"
        " && COMP_WORDS=(safetab sta) COMP_CWORD=1 && _safetab_completion safetab && echo ${COMPREPLY[@]}"
    )
    ran = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "status"
    assert (tmp_path / ".bash_completions" / "safetab.sh").is_file()
