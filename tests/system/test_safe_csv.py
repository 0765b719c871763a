"""No text of a CSV file is a formula, and every text comes back."""

from __future__ import annotations

import csv
import io
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import safetab
from tests.inside import plain_texts, safe_text, safe_texts, write_checksums
from tests.releases import universe_of
from tests.worlds.people import write_random_world

TEXTS = ("=1+1", "+1", "-1", "@x", "\tx", "\rx", "'=1", "''=1", "'x", "x=1", "", " =1", "Rhode Island", "'", "=")
KEY = "0d" * 32
FORMULA = re.compile(r"[=+\-@\t\r]")


def test_a_formula_gets_an_apostrophe():
    assert [safe_text(text) for text in TEXTS] == [
        "'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "''=1", "'''=1", "'x", "x=1", "", " =1", "Rhode Island", "'", "'="
    ]  # fmt: skip


def test_every_text_comes_back():
    assert plain_texts(pa.array([safe_text(text) for text in TEXTS])).to_pylist() == list(TEXTS)
    column = pa.array([*TEXTS, None])
    safe = safe_texts(pa.table({"name": column}))["name"].combine_chunks()
    assert safe.to_pylist() == [*(safe_text(text) for text in TEXTS), None]
    assert plain_texts(safe).to_pylist() == column.to_pylist()


def test_characters_that_steer_a_terminal_are_replaced():
    texts = ["\x1b[31mred", "a\u202eb", "\x85=", "Do\u00f1a Ana", "\u65e5\u672c"]
    told = ["\ufffd[31mred", "a\ufffdb", "\ufffd=", "Do\u00f1a Ana", "\u65e5\u672c"]
    assert safe_texts(pa.table({"name": texts}))["name"].to_pylist() == told
    assert [safe_text(text) for text in texts] == told


def test_numbers_stay_numbers():
    table = pa.table({"name": ["-1"], "count": [-1]})
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(safe_texts(table), sink, pa.csv.WriteOptions(include_header=False))
    assert bytes(sink.getvalue()) == b'"\'-1",-1\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of a world whose names would be formulas, with its CSV files and both exports."""
    folder = tmp_path_factory.mktemp("formulas")
    world = write_random_world(folder / "world", 2, people=40, budget=1, allow_negative_counts=True)
    (world.data / "geography-names.txt").write_text('REGION_TYPE|REGION_ID|NAME\nSTATE|44|=HYPERLINK("x")\n')
    for path in world.parameters.glob("*-characteristic-iterations.txt"):
        path.write_text(path.read_text().replace("|group ", "|@group "))
    safetab.run(*world, folder / "out", csv=True, test_key=KEY)
    safetab.export(folder / "out", folder / "tidy")
    safetab.export(folder / "out", folder / "census", form="census")
    return folder


@pytest.mark.parametrize("form", ["tidy", "census"])
def test_an_export_of_a_forged_release_steers_no_terminal(form, made, tmp_path):
    release = Path(shutil.copytree(made / "out" / "release", tmp_path / "release"))
    for name, column in (("entities", "region_name"), ("iterations", "iteration_name")):
        path = release / "universe" / f"{name}.parquet"
        table = pq.read_table(path)
        position = table.schema.get_field_index(column)
        forged = pa.array([f"{text}\x1b[31m\u202e" for text in table[column].to_pylist()])
        pq.write_table(table.set_column(position, column, forged), path)
    write_checksums(release)
    safetab.export(release, tmp_path / "out", form=form)
    texts = {path: path.read_text() for path in (tmp_path / "out").rglob("*.csv")}
    assert any("\ufffd[31m\ufffd" in text for text in texts.values())
    assert [path.name for path, text in texts.items() if "\x1b" in text or "\u202e" in text] == []


@pytest.mark.parametrize("place", ["out/release/csv", "tidy", "census"])
def test_no_text_of_a_release_in_csv_is_a_formula(place, made):
    texts, numbers = set(), set()
    for path in (made / place).rglob("*.csv"):
        cells = [cell for row in csv.reader(io.StringIO(path.read_text(), newline="")) for cell in row]
        texts |= {cell for cell in cells if not re.fullmatch(r"-?[0-9.]*", cell)}
        numbers |= {cell for cell in cells if re.fullmatch(r"-[0-9]+", cell)}
    assert '\'=HYPERLINK("x")' in texts
    assert any(text.startswith("'@group ") for text in texts)
    assert not [text for text in texts if FORMULA.match(text)]
    assert numbers, "numbers below 0 are there, and are numbers"


def test_parquet_holds_the_names_as_they_were_given(made):
    assert '=HYPERLINK("x")' in {row["region_name"] for row in universe_of(made / "out", "entities")}
