"""No text of a CSV file is a formula, and every text comes back."""

import csv
import io
import re
import shutil

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import safetab
from tests.cases import values_of
from tests.inside import plain_texts, safe_text, safe_texts, write_checksums
from tests.releases import universe_of
from tests.worlds.people import no_budgets_but, write_random_world

SAFE = dict(
    values_of(r"""
        '=1+1' | "'=1+1"
        '+1' | "'+1"
        '-1' | "'-1"
        '@x' | "'@x"
        '\tx' | "'\tx"
        '\rx' | "'\rx"
        "'=1" | "''=1"
        "''=1" | "'''=1"
        "'x" | "'x"
        'x=1' | 'x=1'
        '' | ''
        ' =1' | ' =1'
        'Rhode Island' | 'Rhode Island'
        "'" | "'"
        '=' | "'="
        '\x1b[31mred' | '\ufffd[31mred'
        'a\u202eb' | 'a\ufffdb'
        '\x85=' | '\ufffd='
        'Do\xf1a Ana' | 'Do\xf1a Ana'
        '\u65e5\u672c' | '\u65e5\u672c'
    """)
)
"""A formula gets an apostrophe; characters that steer a terminal are replaced."""
FEW = no_budgets_but("1_state", "2_state")
FORMS = ("tidy", "census")


def test_texts_are_safe_and_come_back():
    assert [safe_text(text) for text in SAFE] == [*SAFE.values()]
    safe = safe_texts(pa.table({"name": [*SAFE, None]}))["name"].combine_chunks()
    assert safe.to_pylist() == [*SAFE.values(), None]
    found = zip(plain_texts(safe).to_pylist(), safe.to_pylist(), [*SAFE, None], strict=True)
    assert all(plain == before for plain, shown, before in found if "\ufffd" not in (shown or ""))


def test_numbers_stay_numbers():
    table = pa.table({"name": ["-1"], "count": [-1]})
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(safe_texts(table), sink, pa.csv.WriteOptions(include_header=False))
    assert bytes(sink.getvalue()) == b'"\'-1",-1\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release of a world whose names would be formulas, with its CSV files and both exports."""
    folder = tmp_path_factory.mktemp("formulas")
    world = write_random_world(
        folder / "world", 2, people=40, budget=1, allow_negative_counts=True, run_pr=False, **FEW
    )
    (world.data / "geography-names.txt").write_text('REGION_TYPE|REGION_ID|NAME\nSTATE|44|=HYPERLINK("x")\n')
    for path in world.parameters.glob("*-characteristic-iterations.txt"):
        path.write_text(path.read_text().replace("|group ", "|@group "))
    world.run(folder / "out", csv=True)
    for form in FORMS:
        safetab.export(folder / "out", folder / form, form=form)
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_an_export_of_a_forged_release_steers_no_terminal(form, made, tmp_path):
    release = shutil.copytree(made / "out" / "release", tmp_path / "release")
    for name, column in (("entities", "region_name"), ("iterations", "iteration_name")):
        path = release / "universe" / f"{name}.parquet"
        table = pq.read_table(path)
        forged = pa.array([f"{text}\x1b[31m\u202e" for text in table[column].to_pylist()])
        pq.write_table(table.set_column(table.column_names.index(column), column, forged), path)
    write_checksums(release)
    safetab.export(release, tmp_path / "out", form=form)
    texts = [path.read_text() for path in (tmp_path / "out").rglob("*.csv")]
    assert any("\ufffd[31m\ufffd" in text for text in texts)
    assert not [text for text in texts if "\x1b" in text or "\u202e" in text]


@pytest.mark.parametrize("place", ["out/release/csv", *FORMS])
def test_no_text_of_a_release_in_csv_is_a_formula(place, made):
    files = [path.read_text() for path in (made / place).rglob("*.csv")]
    cells = {cell for text in files for row in csv.reader(io.StringIO(text, newline="")) for cell in row}
    numbers = {cell for cell in cells if re.fullmatch(r"-?[0-9.]*", cell)}
    assert '\'=HYPERLINK("x")' in cells
    assert any(text.startswith("'@group ") for text in cells)
    assert not [text for text in cells - numbers if re.match(r"[=+\-@\t\r]", text)]
    assert any(cell.startswith("-") for cell in numbers), "numbers below 0 are there, and are numbers"


def test_parquet_holds_the_names_as_they_were_given(made):
    assert '=HYPERLINK("x")' in {row["region_name"] for row in universe_of(made / "out", "entities")}
