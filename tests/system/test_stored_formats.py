"""Releases and spend logs of every earlier format are stored in tests/formats: every command that reads one reads them all."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import cli, done, refused
from tests.inside import (
    OUTPUT_FORMAT,
    SAFETAB_P,
    SPEND_LOG_FORMAT,
    US,
    VERSION,
    Column,
    number_files_module,
    sha256_of,
    write_checksums,
)
from tests.releases import numbers_of
from tests.stored_formats import FORMAT_OF, GEOGRAPHY, HOUSEHOLDS, KEY, LATEST, PERSONS, STORED, each

NEWER = "was written by a newer version of safetab (format 7; this one reads up to 2). Update safetab."
NEWER_LOG = NEWER.replace("up to 2", "up to 3")
AREA = "44007"
DAY_OR_VERSION = re.compile(r"\d{4}-\d\d-\d\d|\d+ [A-Z][a-z]+ \d{4}|safetab \d+\.\d+\.\d+")
ABOUT_ITSELF = {"README.txt", "datapackage.json", "privacy.json", "MADE-OF.json", "SHA256SUMS"}
"""These files of an export or a site tell version and day, or name the very release."""


def json_of(path):
    return json.loads(path.read_text())


def files_in(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ABOUT_ITSELF
    }


def release_in(path):
    return path if path.name == "official" else path / "release"


def rows_in(path):
    """All rows of a release's numbers, whatever the names of its files."""
    found = []
    for file in sorted((release_in(path) / "numbers").rglob("*.parquet"), key=str):
        level = file.parent.name.removeprefix("geography_level=")
        found += [{"level": level, **row} for row in pq.read_table(file, partitioning=None).to_pylist()]
    return found


def counts_in(path):
    keys = ("level", "region_id", "iteration_code", "table_id", "line", "count", "margin_of_error")
    return [tuple(row[key] for key in keys) for row in rows_in(path)]


def test_every_format_is_stored():
    assert set(FORMAT_OF.values()) == set(range(OUTPUT_FORMAT + 1))
    headers = [json.loads(path.read_text().splitlines()[0]) for path in STORED.glob("*/spend.log")]
    assert {header.get("format", 0) for header in headers} == set(range(SPEND_LOG_FORMAT + 1))
    for name, number in FORMAT_OF.items():
        package = json_of(STORED / name / "persons" / "release" / "datapackage.json")["safetab"]
        manifest = json_of(STORED / name / "persons" / "manifest.json")
        assert (package.get("format", 0), manifest.get("format", 0)) == (number, number)


def test_whatever_is_written_states_its_format(both_products, tmp_path):
    for out in (both_products / "people", both_products / "households"):
        assert json_of(out / "manifest.json")["format"] == 2
        assert json_of(out / "release" / "datapackage.json")["safetab"]["format"] == 2
        assert json_of(out / "release" / "privacy.json")["format"] == 2
        for path in (out / "measurements").iterdir():
            assert pq.read_metadata(path).metadata == {b"format": b"2"}
    done("spend", tmp_path / "log", "--dataset", "made-up", "--set-limit", "3", "--unit", "rho")
    assert json.loads((tmp_path / "log").read_text().splitlines()[0])["format"] == 3


def test_a_numbers_file_is_named_by_its_family_however_many_the_product_has(both_products):
    for out, families in (("people", {"sex-by-age"}), ("households", {"household-type", "tenure"})):
        names = {path.stem for path in (both_products / out / "release" / "numbers").rglob("*.parquet")}
        assert {name.partition("-")[2] for name in names} == families


@each("persons", "households", "official", by_day="format-")
def test_it_is_verified_and_its_numbers_are_those_of_the_same_key_today(path):
    assert safetab.verify(path).findings == ()
    rows, is_old = rows_in(path), FORMAT_OF[path.parent.name] < 2
    assert [with_interval(row) if is_old else row for row in rows] == rows_in(LATEST / path.name)
    opened = safetab.open_release(path)
    published = [row for row in rows if row["region_id"] == AREA and row["table_id"] in {"T01001", "T03001"}]
    assert published
    for row in published:
        assert opened.total(AREA, row["iteration_code"]).value == row["count"]


def with_interval(row):
    """The row as format 2 has it: before, only totals that passed suppression had an interval."""
    if row["interval_low"] is not None or row["status"] == "withheld":
        return row
    number, margin = row["unclamped_count"], row["unclamped_margin_of_error"]
    return row | {"interval_low": max(number - margin, 0), "interval_high": max(number + margin, 0)}


@pytest.mark.parametrize("name", [pytest.param("persons", marks=pytest.mark.slow), "official"])
def test_a_release_from_before_format_2_with_intervals_of_format_2_is_told_from_what_it_was(name, tmp_path):
    out = Path(shutil.copytree(STORED / "format-1" / name, tmp_path / name))
    shutil.rmtree(release_in(out) / "numbers")
    shutil.copytree(release_in(LATEST / name) / "numbers", release_in(out) / "numbers")
    write_checksums(release_in(out))
    told = refused("verify", out)
    assert "interval_low is not what the plan and the group's numbers give" in told
    assert "interval_high is not what the plan and the group's numbers give" in told
    assert ("interval_low is not what the measurements give" in told) == (name == "persons")


@each("persons", "households", "official", by_day="format-1")
def test_what_is_printed_is_the_same_for_every_format(path):
    for command, *more in (["show", AREA], ["status"], ["status", "--area", AREA]):
        printed = done(command, path, *more)
        assert printed == done(command, LATEST / path.name, *more)
        assert printed.count("\n") > 3


@each("persons", "households", "official", by_day="format-1 households")
def test_it_is_exported_with_the_same_numbers(path, tmp_path):
    for form in ("tidy", "census"):
        old, new = tmp_path / f"old-{form}", tmp_path / f"new-{form}"
        done("export", path, old, "--form", form)
        done("export", LATEST / path.name, new, "--form", form)
        assert files_in(old) == files_in(new)
    old, new = (json_of(tmp_path / f"{one}-tidy" / "datapackage.json") for one in ("old", "new"))
    assert old["resources"] == new["resources"]
    assert old["safetab"].keys() == new["safetab"].keys()
    assert old["safetab"]["format"] == 2


@each("persons", "households", "official", by_day="format-1 official")
def test_its_report_and_its_site_are_written(path, tmp_path):
    pages = []
    for out, release in ((tmp_path / "old", path), (tmp_path / "new", LATEST / path.name)):
        done("site", release, out)
        done("report", release, "-o", out / "report.html")
        pages.append(DAY_OR_VERSION.sub("", (out / "report.html").read_text()))
    assert pages[0] == pages[1]
    old, new = files_in(tmp_path / "old"), files_in(tmp_path / "new")
    assert old.keys() == new.keys()
    of_version_and_day = {"report.html", "index.html", "data/facts.js"}
    assert {name for name in old if old[name] != new[name]} <= of_version_and_day


@each("persons", "households", by_day="format-1 persons")
def test_a_rerelease_is_of_today_and_says_who_measured(path, tmp_path):
    before, new, again = json_of(path / "manifest.json"), tmp_path / "new", tmp_path / "again"
    done("rerelease", path, new, "--confidence", "0.9")
    done("rerelease", new, again, "--confidence", "0.9")
    done("rerelease", LATEST / path.name, tmp_path / "latest", "--confidence", "0.9")
    for out in (new, again):
        told = json_of(out / "manifest.json")
        assert (told["version"], told["format"]) == (VERSION, OUTPUT_FORMAT)
        measured_by = {"version": before["version"], "format": before.get("format", 0), "date": before["date"]}
        assert told["measured_by"] == measured_by
        assert json_of(out / "release" / "datapackage.json")["safetab"]["format"] == OUTPUT_FORMAT
        assert numbers_of(out) == numbers_of(tmp_path / "latest")
        for name in ("measurements/us.parquet", "release/privacy.json"):
            assert (out / name).read_bytes() == (path / name).read_bytes()


@each("persons", by_day="format-1")
def test_the_version_of_an_older_program_is_not_written_on(path, tmp_path):
    shutil.copytree(path, tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(json_of(path / "manifest.json") | {"version": "0.0.1"}))
    done("rerelease", tmp_path / "out", tmp_path / "new")
    told = json_of(tmp_path / "new" / "manifest.json")
    assert (told["version"], told["measured_by"]["version"]) == (VERSION, "0.0.1")
    assert "(safetab 0.0.1)" in (tmp_path / "new" / "log.txt").read_text()


@each("persons", "households", by_day="format-1 persons")
def test_the_coterminous_step_is_taken(path, tmp_path):
    done("coterminous", path, tmp_path / "old", "--geography", GEOGRAPHY)
    done("coterminous", LATEST / path.name, tmp_path / "new", "--geography", GEOGRAPHY)
    assert numbers_of(tmp_path / "old") == numbers_of(tmp_path / "new")
    assert "copied" in {row["status"] for row in numbers_of(tmp_path / "old")}


@each("persons", by_day="format-1")
def test_its_totals_choose_the_tables_of_households(path, tmp_path):
    done("run", *HOUSEHOLDS, tmp_path / "out", "--totals", path, "--test-key", KEY)
    assert counts_in(tmp_path / "out") == counts_in(LATEST / "households")


@each("persons", by_day="format-1")
def test_its_tables_are_read_as_published_files(path, tmp_path):
    done("export", path, tmp_path / "census", "--form", "census")
    tables = sorted((tmp_path / "census").glob("T0*.csv"))
    given = ("--parameters", PERSONS.parameters, "--geography", GEOGRAPHY)
    done("official", *tables, tmp_path / "official", *given)
    assert counts_in(tmp_path / "official") == counts_in(LATEST / "official")


LOGS = [("format-0-1e9a05d", "1.2", 1), ("format-0-6153825", "6", 2), ("format-1", "6", 2), ("log-format-2", "7.2", 3)]
LOGS += [("log-format-3", "6", 2)]


def stored_log(name, log):
    """A copy of a stored log with its heads, if it has any."""
    shutil.copy(STORED / name / "spend.log", log)
    log.chmod(0o600)
    heads = STORED / name / "spend.log.heads"
    if heads.exists():
        shutil.copy(heads, f"{log}.heads")
    return log


@pytest.mark.parametrize(
    ("name", "rho", "runs"), [pytest.param(*log, marks=[] if "log-" in log[0] else pytest.mark.slow) for log in LOGS]
)
def test_a_spend_log_is_carried_on(name, rho, runs, tmp_path):
    log = stored_log(name, tmp_path / "spend.log")
    done("run", *PERSONS, tmp_path / "out", "--test-key", KEY, "--dataset", "made-up", "--spend-log", log)
    account = told("spend", log)["accounts"][0]
    assert (float(account["spent"]["rho"]), account["runs"]) == (float(rho) + 1.2, runs + 1)
    assert log.read_text().startswith((STORED / name / "spend.log").read_text())  # nobody's line is changed


def told(*arguments):
    """The document of a command."""
    ended = cli(*arguments, "--json")
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


@pytest.mark.parametrize(("name", "rho", "runs"), LOGS)
def test_a_spend_log_is_read_checked_merged_and_made_a_table(name, rho, runs, tmp_path):
    log, other = (stored_log(each, tmp_path / each) for each in (name, "format-1"))
    account = told("spend", log)["accounts"][0]
    assert (account["pass"], account["spent"]["rho"], account["runs"]) == ("us", rho, runs)
    checked = told("spend", log, "--check")
    assert (checked["exit_code"], checked["in_doubt"], checked["findings"]) == (0, 0, [])
    done("spend", log, "--table", tmp_path / "table.json")
    rows = json_of(tmp_path / "table.json")["rows"]
    assert [row["cumulative_rho"] for row in rows if row["pass"] == "us"][-1] == rho
    merged = told("spend", log, "--merge", other, "-o", tmp_path / "new.log")["accounts"][0]
    others = {"format-0-1e9a05d": ("7.2", 3), "format-0-6153825": ("12", 4), "log-format-3": ("12", 4)}
    assert (merged["spent"]["rho"], merged["runs"]) == others.get(name, (rho, runs))


def of_the_future(tmp_path, number=7):
    """A release that is whole, and whose format is unknown."""
    out = tmp_path / "future"
    shutil.copytree(LATEST / "persons", out, dirs_exist_ok=True)
    package = json_of(out / "release" / "datapackage.json")
    package["safetab"] = {"format": number, "something": "else"}
    (out / "release" / "datapackage.json").write_text(json.dumps(package))
    write_checksums(out / "release")
    return out


COMMANDS = [
    "show OUT 44007",
    "status OUT",
    "report OUT -o NEW",
    "site OUT NEW",
    "export OUT NEW",
    "export OUT NEW --form census",
    "rerelease OUT NEW",
    f"coterminous OUT NEW --geography {GEOGRAPHY}",
    f"run {HOUSEHOLDS.parameters} {HOUSEHOLDS.data} NEW --totals OUT --test-key {KEY}",
]


def refusals_of_every_command(out, new):
    """What each says; none may write anything."""
    places = {"OUT": out, "NEW": new}
    said = {refused(*(places.get(word, word) for word in command.split())) for command in COMMANDS}
    assert not new.exists()
    return said


def test_a_release_of_a_newer_format_is_refused_by_every_command(tmp_path):
    out = of_the_future(tmp_path)
    assert all(NEWER in said for said in refusals_of_every_command(out, tmp_path / "new"))
    with pytest.raises(safetab.InvalidInput, match="newer version of safetab"):
        safetab.open_release(out)


def test_a_privacy_document_of_a_newer_format_is_refused_by_every_command(tmp_path):
    path = Path(shutil.copytree(LATEST / "persons", tmp_path / "out")) / "release" / "privacy.json"
    path.write_text(json.dumps(json_of(path) | {"format": 7}))
    write_checksums(path.parent)
    told = f"privacy.json has 1 problem: {NEWER}"
    assert all(told in said for said in refusals_of_every_command(tmp_path / "out", tmp_path / "new"))


@pytest.mark.parametrize("name", ["datapackage.json", "privacy.json"])
def test_a_newer_format_is_told_rather_than_damage(name, tmp_path):
    path = Path(shutil.copytree(LATEST / "persons", tmp_path / "out")) / "release" / name
    path.write_text(re.sub(r'"format": ?2\b', '"format": 7', path.read_text()))
    shown = refused("show", tmp_path / "out", AREA)
    assert NEWER in shown
    assert "changed after the release was made" not in shown


def test_a_manifest_whose_format_is_no_number_is_told_so(tmp_path):
    shutil.copytree(LATEST / "persons", tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    for number in ("one", 1.0, True, -1, None):
        manifest.write_text(json.dumps(json_of(manifest) | {"format": number}))
        shown = refused("rerelease", tmp_path / "out", tmp_path / "new")
        assert "manifest.json has 1 problem: the format must be a whole number, 0 or above." in shown


def test_a_format_that_is_no_number_is_damage(tmp_path):
    for number in ("7", True, -1, 1.5, [1]):
        assert "is a release that is damaged" in refused("show", of_the_future(tmp_path, number), AREA)


def test_measurements_and_manifests_of_a_newer_format_are_refused(tmp_path):
    shutil.copytree(LATEST / "persons", tmp_path / "out")
    path, manifest = tmp_path / "out" / "manifest.json", json_of(LATEST / "persons" / "manifest.json")
    path.write_text(json.dumps(manifest | {"format": 7}))
    assert f"manifest.json has 1 problem: {NEWER}" in refused("rerelease", tmp_path / "out", tmp_path / "new")
    measured = tmp_path / "out" / "measurements" / "us.parquet"
    table = pq.read_table(measured).replace_schema_metadata({"format": "7"})
    pq.write_table(table, measured)
    manifest["outputs"]["measurements/us.parquet"]["sha256"] = sha256_of(measured)
    path.write_text(json.dumps(manifest))
    assert f"us.parquet has 1 problem: {NEWER}" in refused("rerelease", tmp_path / "out", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_spend_log_of_a_newer_format_is_refused_and_stays(tmp_path):
    log = tmp_path / "spend.log"
    text = (STORED / "format-1" / "spend.log").read_text().replace('"format": 1', '"format": 7, "more": "keys"')
    log.write_text(text)
    log.chmod(0o600)
    assert NEWER_LOG in refused("spend", log)
    given = ("--test-key", KEY, "--dataset", "made-up", "--spend-log", log)
    assert NEWER_LOG in refused("run", *PERSONS, tmp_path / "out", *given)
    assert log.read_text() == text
    log.write_text(text.replace('"format": 7', '"format": "seven"'))
    assert " is not a spend log" in refused("spend", log)


@each("persons")
def test_a_release_from_before_a_column_joined_is_read_all_the_same(path, tmp_path, monkeypatch):
    joined = Column("joined_later", number_files_module.TEXT, "A column of tomorrow.", may_be_absent=True)
    monkeypatch.setattr(number_files_module, "_OF_NUMBERS", (*number_files_module._OF_NUMBERS, joined))
    caches = (number_files_module.number_columns, number_files_module.number_schema)
    for cache in caches:
        cache.cache_clear()
    try:
        assert joined in number_files_module.number_columns(SAFETAB_P, US)
        for command in (("show", path, AREA), ("report", path, "-o", tmp_path / "page.html")):
            done(*command)
        done("export", path, tmp_path / "csv")
    finally:
        for cache in caches:
            cache.cache_clear()
