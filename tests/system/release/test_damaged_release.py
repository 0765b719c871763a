"""A release whose files are not those that were released says so, and which: in every command that reads it."""

import errno
import os
import shutil
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from tests.cases import cases_of
from tests.commands import done, invalid, raising, refused
from tests.inside import manifest_module, write_checksums

NUMBERS = "numbers/geography_level=COUNTY/regional-sex-by-age.parquet"
OTHER_NUMBERS = "numbers/geography_level=STATE/regional-sex-by-age.parquet"
ENTITIES = "universe/entities.parquet"
DAMAGED = "regional-sex-by-age.parquet has 1 problem:\n  is damaged"


@pytest.fixture(scope="module")
def released(releases):
    unused = {f"privacy_budget_p_level_{n}_{area}": 0 for n in (1, 2) for area in ("tract", "place", "aiannh")}
    return releases.people(2, people=200, budget=1, run_pr=False, **unused).out / "release"


@pytest.fixture
def release(released, tmp_path):
    return shutil.copytree(released, tmp_path / "release")


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def link(path):
    elsewhere = path.parents[3] / "elsewhere.parquet"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def pipe(path):
    path.unlink()
    os.mkfifo(path)


DAMAGES = {
    "remove": lambda path: path.unlink(),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "flip": flip,
    "replace": lambda path: shutil.copy(path.parents[2] / OTHER_NUMBERS, path),
    "link": link,
    "pipe": pipe,
    "add": lambda path: path.write_bytes(b""),
    "garble": lambda path: path.write_bytes(b"\xff\xfe"),
    "overwrite": lambda path: path.write_text("nothing"),
}
MISSING, CHANGED = "files that were released are missing: {}", "changed after the release was made: {}"
CASES = f"""
remove | {NUMBERS} | {MISSING}
remove | {ENTITIES} | {MISSING}
remove | README.txt | {MISSING}
cut | {NUMBERS} | {CHANGED}
cut | {ENTITIES} | {CHANGED}
flip | {NUMBERS} | {CHANGED}
flip | privacy.json | {CHANGED}
flip | datapackage.json | {CHANGED}
replace | {NUMBERS} | {CHANGED}
link | {NUMBERS} | links, or not regular files: {{}}
pipe | {NUMBERS} | links, or not regular files: {{}}
add | universe/more.parquet | files that SHA256SUMS doesn't list: {{}}
remove | SHA256SUMS | its {{}} is missing
pipe | SHA256SUMS | its {{}} is not a file
garble | SHA256SUMS | a file can't be read
overwrite | SHA256SUMS | files that {{}} doesn't list: README.txt, datapackage.json
"""


@pytest.mark.parametrize(("how", "name", "told"), cases_of(CASES))
def test_damage_is_told_by_every_command(how, name, told, release, tmp_path):
    DAMAGES[how](release / name)
    for command in ("show {} --county 44007", "status {}", "report {} -o {}.html", "export {} {}-exported"):
        assert told.format(name) in refused(*command.replace("{}", str(release)).split())
    assert {path.name for path in tmp_path.iterdir()} <= {"release", "elsewhere.parquet"}
    invalid(safetab.open_release, release)


@pytest.mark.parametrize("form", ["tidy", "census"])
def test_an_export_needs_the_documents_that_it_hands_on_whatever_the_checksums_say(form, release, tmp_path):
    (release / "privacy.json").unlink()
    write_checksums(release)
    assert "privacy.json" in refused("export", release, tmp_path / "exported", "--form", form)
    assert not (tmp_path / "exported").exists()


def forge(release, name, column, forged):
    """Changes the values of a column, and says that this was released."""
    table = pq.ParquetFile(release / name).read()
    values = [forged.format(value) if value or "{" not in forged else value for value in table[column].to_pylist()]
    values, position = pa.array(values, pa.string()), table.schema.get_field_index(column)
    pq.write_table(table.set_column(position, table.schema.field(position), values), release / name)
    write_checksums(release)


@pytest.mark.parametrize("strange", ["\x1b[2J", "\u202e", "\r"])
def test_a_forged_name_steers_nobodys_terminal(strange, release):
    forge(release, ENTITIES, "region_name", f"{strange}{{}}")
    forge(release, "universe/iterations.parquet", "iteration_name", f"{strange}{{}}")
    opened = safetab.open_release(release)
    totals = opened.totals(area="44007")
    texts = [opened.areas(), opened.groups(), totals, totals[0], totals[0] + totals[1]]
    texts += [opened.total("44007", code) for code in ("1009", "1015", "1024")]
    assert not any(strange in str(text) for text in texts)
    assert "\N{REPLACEMENT CHARACTER}" in str(totals[0])


@pytest.mark.parametrize(
    ("column", "forged"), cases_of("table_id | \x1b[2J{}\ntable | strange\ndonor_geography_level | strange")
)
def test_ids_that_could_steer_a_terminal_and_tables_or_donors_that_there_are_not_are_damage(column, forged, release):
    forge(release, NUMBERS, column, forged)
    assert DAMAGED in invalid(safetab.open_release(release).totals, area="44007")


def test_what_machines_leave_behind_is_no_damage(release):
    for name in (".DS_Store", "Thumbs.db", "desktop.ini"):
        (release / name).write_bytes(b"mine")
    safetab.open_release(release)


@pytest.mark.parametrize("command", ["report", "status"])
def test_nothing_is_written_into_a_release(command, release):
    assert "is inside the release" in refused(command, release, "-o", release / "mine")
    safetab.open_release(release)


def test_an_export_is_no_release_and_says_so(released, tmp_path):
    csv = tmp_path / "csv"
    safetab.export(released, csv)
    assert "holds CSV files that were made of a release" in refused("show", csv, "--nation")
    assert "README of the release" in " ".join((csv / "README.txt").read_text().split())
    assert "checksums" not in (csv / "datapackage.json").read_text()


def test_a_site_is_no_release_and_says_how_it_is_checked(released, tmp_path):
    site = tmp_path / "site"
    done("site", released, site)
    assert f"`safetab verify {site} OUT`" in refused("verify", site)


def test_anybody_can_compare_the_files(released):
    assert not subprocess.check_output(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=released)


@pytest.mark.parametrize("change", [lambda text: text.replace("\n", "\r\n", 1), lambda text: text + text[:70]])
def test_checksums_that_were_changed_are_damage_even_if_they_fit(change, release):
    sums = release / "SHA256SUMS"
    sums.write_bytes(change(sums.read_text()).encode())
    assert "SHA256SUMS" in invalid(safetab.open_release, release)


def test_numbers_with_other_columns_are_told_though_the_checksums_fit(release):
    shutil.copy(release / "universe" / "levels.parquet", release / NUMBERS)
    write_checksums(release)
    for command in ("show {} --county 44007", "export {} {}-exported", "report {} -o {}.html"):
        assert "has missing or wrong columns" in refused(*command.replace("{}", str(release)).split())


@pytest.mark.parametrize(
    ("number", "code", "words"), [(errno.EIO, 3, "Input/output error"), (errno.EACCES, 1, "may not be read")]
)
def test_what_the_machine_refuses_is_not_called_damage(number, code, words, released, monkeypatch):
    monkeypatch.setattr(manifest_module, "sha256_of", raising(OSError(number, os.strerror(number), "a file")))
    told = refused("show", released, "--county", "44007", code=code)
    assert words in told
    assert "Get the release again" not in told


def test_a_table_that_no_release_has_is_not_exported(release, tmp_path):
    shutil.copy(release / ENTITIES, release / "universe" / "entities-2.parquet")
    write_checksums(release)
    safetab.export(release, tmp_path / "csv")
    written = tmp_path / "csv" / "universe"
    assert [path.name for path in written.glob("entities*")] == ["entities.csv"]
