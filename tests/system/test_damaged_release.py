"""A release whose files are not those that were released says so, and which: in every command that reads it."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import cli
from tests.inside import InvalidInput, manifest_module, write_checksums
from tests.worlds.people import write_random_world

NUMBERS = "numbers/geography_level=COUNTY/regional-sex-by-age.parquet"
OTHER_NUMBERS = "numbers/geography_level=STATE/regional-sex-by-age.parquet"
ENTITIES = "universe/entities.parquet"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("released")
    world = write_random_world(folder, 2, people=200, budget=1)
    safetab.run(*world, folder / "out")
    return folder / "out" / "release"


@pytest.fixture
def release(released, tmp_path):
    return Path(shutil.copytree(released, tmp_path / "release"))


def removed(name: str) -> Callable[[Path], object]:
    return lambda release: (release / name).unlink()


def cut(name: str) -> Callable[[Path], object]:
    return lambda release: (release / name).write_bytes((release / name).read_bytes()[:-9])


def one_bit(name: str) -> Callable[[Path], None]:
    def damage(release):
        content = bytearray((release / name).read_bytes())
        content[len(content) // 2] ^= 1
        (release / name).write_bytes(content)

    return damage


def replaced(release: Path) -> None:
    shutil.copy(release / OTHER_NUMBERS, release / NUMBERS)


def linked(release: Path) -> None:
    (release / NUMBERS).rename(release.parent / "elsewhere.parquet")
    (release / NUMBERS).symlink_to(release.parent / "elsewhere.parquet")


def a_pipe(name: str) -> Callable[[Path], None]:
    def damage(release):
        (release / name).unlink()
        os.mkfifo(release / name)

    return damage


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "numbers are missing": (removed(NUMBERS), f"files that were released are missing: {NUMBERS}"),
    "a list is missing": (removed(ENTITIES), f"files that were released are missing: {ENTITIES}"),
    "a document is missing": (removed("README.txt"), "files that were released are missing: README.txt"),
    "numbers are cut": (cut(NUMBERS), f"changed after the release was made: {NUMBERS}"),
    "a list is cut": (cut(ENTITIES), f"changed after the release was made: {ENTITIES}"),
    "a bit of the numbers": (one_bit(NUMBERS), f"changed after the release was made: {NUMBERS}"),
    "a bit of a document": (one_bit("privacy.json"), "changed after the release was made: privacy.json"),
    "a bit of the data package": (one_bit("datapackage.json"), "changed after the release was made: datapackage.json"),
    "numbers of another level": (replaced, f"changed after the release was made: {NUMBERS}"),
    "a link": (linked, f"links, or not regular files: {NUMBERS}"),
    "a pipe": (a_pipe(NUMBERS), f"links, or not regular files: {NUMBERS}"),
    "a file of somebody": (
        lambda release: (release / "universe" / "more.parquet").write_bytes(b""),
        "files that SHA256SUMS doesn't list: universe/more.parquet",
    ),
    "no checksums": (removed("SHA256SUMS"), "its SHA256SUMS is missing"),
    "checksums that are a pipe": (a_pipe("SHA256SUMS"), "its SHA256SUMS is not a file"),
    "checksums that are no text": (
        lambda release: (release / "SHA256SUMS").write_bytes(b"\xff\xfe"),
        "a file can't be read",
    ),
    "checksums of something else": (
        lambda release: (release / "SHA256SUMS").write_text("nothing"),
        "files that SHA256SUMS doesn't list: README.txt, datapackage.json",
    ),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_told_by_every_command(kind, release, tmp_path):
    damage, expected = DAMAGES[kind]
    damage(release)
    for command in (
        ["show", release, "--county", "44007"],
        ["status", release],
        ["report", release, "-o", tmp_path / "page.html"],
        ["export", release, tmp_path / "exported"],
    ):
        result = cli(*command)
        assert result.exit_code == 1, result.output
        assert expected in " ".join(result.stderr.split())
        assert "Traceback" not in result.output
    assert {path.name for path in tmp_path.iterdir()} <= {"release", "elsewhere.parquet"}
    with pytest.raises(InvalidInput):
        safetab.open_release(release)


@pytest.mark.parametrize("form", ["tidy", "census"])
def test_an_export_needs_the_documents_that_it_hands_on_whatever_the_checksums_say(form, release, tmp_path):
    (release / "privacy.json").unlink()
    write_checksums(release)
    result = cli("export", release, tmp_path / "exported", "--form", form)
    assert result.exit_code == 1
    assert "privacy.json" in result.stderr
    assert not (tmp_path / "exported").exists()


def forged(path: Path, column: str, text: str) -> None:
    """Puts the text before every value of a column, and says that this was released."""
    table = pq.ParquetFile(path).read()
    values = [value and text + value for value in table[column].to_pylist()]
    position = table.schema.get_field_index(column)
    pq.write_table(table.set_column(position, table.schema.field(position), pa.array(values, pa.string())), path)
    write_checksums(path.parents[1] if path.parent.name == "universe" else path.parents[2])


@pytest.mark.parametrize("strange", ["\x1b[2J", "\u202e", "\r"])
def test_a_forged_name_steers_nobodys_terminal(strange, release):
    forged(release / ENTITIES, "region_name", strange)
    forged(release / "universe" / "iterations.parquet", "iteration_name", strange)
    opened = safetab.open_release(release)
    totals = opened.totals(area="44007")
    texts = [opened.areas(), opened.groups(), totals, totals[0], totals[0] + totals[1]]
    texts += [opened.total("44007", code) for code in ("1009", "1015", "1024")]
    for text in map(str, texts):
        assert strange not in text
    assert "\N{REPLACEMENT CHARACTER}" in str(totals[0])


def test_ids_and_codes_that_could_steer_a_terminal_are_damage(release):
    forged(release / NUMBERS, "table_id", "\x1b[2J")
    with pytest.raises(InvalidInput, match=r"regional-sex-by-age\.parquet has 1 problem:\n  is damaged"):
        safetab.open_release(release).totals(area="44007")


@pytest.mark.parametrize("column", ["table", "donor_geography_level"])
def test_a_table_or_donor_that_there_is_not_is_damage(column, release):
    table = pq.ParquetFile(release / NUMBERS).read()
    position = table.schema.get_field_index(column)
    strange = pa.array(["strange"] * len(table), pa.string())
    pq.write_table(table.set_column(position, table.schema.field(position), strange), release / NUMBERS)
    write_checksums(release)
    with pytest.raises(InvalidInput, match=r"regional-sex-by-age\.parquet has 1 problem:\n  is damaged"):
        safetab.open_release(release).totals(area="44007")


def test_what_machines_leave_behind_is_no_damage(release):
    for name in (".DS_Store", "Thumbs.db", "desktop.ini"):
        (release / name).write_bytes(b"mine")
    safetab.open_release(release)


@pytest.mark.parametrize("command", [["report", "-o"], ["status", "-o"]])
def test_nothing_is_written_into_a_release(command, release):
    name, *options = command
    result = cli(name, release, *options, release / "mine")
    assert result.exit_code == 1
    assert "is inside the release" in result.stderr
    safetab.open_release(release)


def test_an_export_is_no_release_and_says_so(released, tmp_path):
    safetab.export(released, tmp_path / "csv")
    result = cli("show", tmp_path / "csv", "--nation")
    assert result.exit_code == 1
    assert "holds CSV files that were made of a release" in result.stderr
    assert "README of the release" in " ".join((tmp_path / "csv" / "README.txt").read_text().split())
    assert "checksums" not in (tmp_path / "csv" / "datapackage.json").read_text()


def test_a_site_is_no_release_and_says_how_it_is_checked(released, tmp_path):
    safetab.site(released, tmp_path / "site")
    result = cli("verify", tmp_path / "site")
    assert result.exit_code == 1
    assert f"`safetab verify {tmp_path / 'site'} OUT`" in result.stderr


def test_anybody_can_compare_the_files(released):
    done = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=released, check=True, capture_output=True)
    assert not done.stdout


@pytest.mark.parametrize("change", [lambda text: text.replace("\n", "\r\n", 1), lambda text: text + text[:70]])
def test_checksums_that_were_changed_are_damage_even_if_they_fit(change, release):
    sums = release / "SHA256SUMS"
    sums.write_bytes(change(sums.read_text()).encode())
    with pytest.raises(InvalidInput, match="SHA256SUMS"):
        safetab.open_release(release)


def test_numbers_with_other_columns_are_told_though_the_checksums_fit(release, tmp_path):
    shutil.copy(release / "universe" / "levels.parquet", release / NUMBERS)
    write_checksums(release)
    for command in (
        ["show", "--county", "44007"],
        ["export", tmp_path / "csv"],
        ["report", "-o", tmp_path / "page.html"],
    ):
        result = cli(command[0], release, *command[1:])
        assert result.exit_code == 1, result.output
        assert "has missing or wrong columns" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("number", "code", "words"), [(errno.EIO, 3, "Input/output error"), (errno.EACCES, 1, "may not be read")]
)
def test_what_the_machine_refuses_is_not_called_damage(number, code, words, release, monkeypatch):
    def refused(path):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(manifest_module, "sha256_of", refused)
    result = cli("show", release, "--county", "44007")
    assert result.exit_code == code
    assert words in " ".join(result.stderr.split())
    assert "Get the release again" not in result.stderr


def test_a_table_that_no_release_has_is_not_exported(release, tmp_path):
    shutil.copy(release / ENTITIES, release / "universe" / "entities-2.parquet")
    write_checksums(release)
    safetab.export(release, tmp_path / "csv")
    assert (tmp_path / "csv" / "universe" / "entities.csv").is_file()
    assert not (tmp_path / "csv" / "universe" / "entities-2.csv").exists()
