"""Releases and spend logs of every earlier format are stored in tests/formats: every command that reads one reads them all."""

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import cli, done, invalid, refused
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
from tests.releases import json_of, numbers_of
from tests.stored_formats import FORMAT_OF, GEOGRAPHY, HOUSEHOLDS, KEY, LATEST, PERSONS, STORED, each

NEWER = "was written by a newer version of safetab (format 7; this one reads up to 2). Update safetab."
NEWER_LOG = NEWER.replace("up to 2", "up to 3")
AREA = "44007"
DAY_OR_VERSION = re.compile(r"\d{4}-\d\d-\d\d|\d+ [A-Z][a-z]+ \d{4}|safetab \d+\.\d+\.\d+")
ABOUT_ITSELF = {"README.txt", "datapackage.json", "privacy.json", "MADE-OF.json", "SHA256SUMS"}
"""These files of an export or a site tell version and day, or name the very release."""


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


def head_of(log):
    return json.loads(log.read_text().partition("\n")[0])


def told_format(out):
    return json_of(out / "release" / "datapackage.json")["safetab"].get("format", 0)


def test_every_format_is_stored():
    assert {*FORMAT_OF.values()} == {*range(OUTPUT_FORMAT + 1)}
    assert {head_of(log).get("format", 0) for log in STORED.glob("*/spend.log")} == {*range(SPEND_LOG_FORMAT + 1)}
    for name, number in FORMAT_OF.items():
        out = STORED / name / "persons"
        assert told_format(out) == json_of(out / "manifest.json").get("format", 0) == number


def test_whatever_is_written_states_its_format(both_products, tmp_path):
    for out in (both_products / "people", both_products / "households"):
        assert json_of(out / "manifest.json")["format"] == told_format(out) == 2
        assert json_of(out / "release" / "privacy.json")["format"] == 2
        for path in (out / "measurements").iterdir():
            assert pq.read_metadata(path).metadata == {b"format": b"2"}
    done("spend", tmp_path / "log", "--dataset", "made-up", "--set-limit", "3", "--unit", "rho")
    assert head_of(tmp_path / "log")["format"] == 3


def test_a_numbers_file_is_named_by_its_family_however_many_the_product_has(both_products):
    for out, families in (("people", {"sex-by-age"}), ("households", {"household-type", "tenure"})):
        names = {path.stem for path in (both_products / out / "release" / "numbers").rglob("*.parquet")}
        assert {name.partition("-")[2] for name in names} == families


@each("persons", "households", "official", by_day=("format-0-1e9a05d", "format-1 households", "format-2 official"))
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


@each("persons", "households", "official", by_day=("format-1 households", "format-1 official"))
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


MEASURED_BY = ("version", "format", "date")


@each("persons", "households", by_day="format-1 persons")
def test_a_rerelease_is_of_today_and_says_who_measured(path, tmp_path):
    old = shutil.copytree(path, tmp_path / "old")
    before = json_of(path / "manifest.json") | {"version": "0.0.1"}
    (old / "manifest.json").write_text(json.dumps(before))
    new, again, latest = (tmp_path / name for name in ("new", "again", "latest"))
    for given, out in ((old, new), (new, again), (LATEST / path.name, latest)):
        done("rerelease", given, out, "--confidence", "0.9")
    assert "(safetab 0.0.1)" in (new / "log.txt").read_text()
    for out in (new, again):
        told = json_of(out / "manifest.json")
        assert (told["version"], told["format"]) == (VERSION, OUTPUT_FORMAT)
        assert told["measured_by"] == {"format": 0} | {key: before[key] for key in MEASURED_BY if key in before}
        assert told_format(out) == OUTPUT_FORMAT
        assert numbers_of(out) == numbers_of(latest)
        for name in ("measurements/us.parquet", "release/privacy.json"):
            assert (out / name).read_bytes() == (path / name).read_bytes()


@each("persons", "households", by_day="format-1 persons")
def test_the_coterminous_step_is_taken(path, tmp_path):
    """The stored numbers of persons have taken it."""
    latest = LATEST / path.name
    done("coterminous", path, tmp_path / "old", "--geography", GEOGRAPHY)
    if path.name == "households":
        latest = tmp_path / "new"
        done("coterminous", LATEST / path.name, latest, "--geography", GEOGRAPHY)
    assert numbers_of(tmp_path / "old") == numbers_of(latest)
    assert "copied" in {row["status"] for row in numbers_of(latest)}


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


SPENT_TWICE = ("format-0-6153825", "format-1", "log-format-3")
LOGS = [("format-0-1e9a05d", "1.2", 1), ("log-format-2", "7.2", 3), *((name, "6", 2) for name in SPENT_TWICE)]


def stored_log(name, log):
    """A copy of a stored log with its heads, if it has any."""
    for stored in (STORED / name).glob("spend.log*"):
        shutil.copy(stored, f"{log}{stored.suffix.removeprefix('.log')}")
    log.chmod(0o600)
    return log


@pytest.mark.parametrize(
    ("name", "rho", "runs"), [pytest.param(*log, marks=[pytest.mark.slow] * (log[0] != "log-format-2")) for log in LOGS]
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


@pytest.fixture
def out(tmp_path):
    return shutil.copytree(LATEST / "persons", tmp_path / "out")


def change(path, **keys):
    path.write_text(json.dumps(json_of(path) | keys))


def with_format(out, number, name="datapackage.json"):
    """A release that is whole, and whose format is another."""
    of_package = {"safetab": {"format": number, "something": "else"}}
    change(out / "release" / name, **of_package if name == "datapackage.json" else {"format": number})
    write_checksums(out / "release")
    return out


COMMANDS = f"""
    show OUT 44007
    status OUT
    report OUT -o NEW
    site OUT NEW
    export OUT NEW
    export OUT NEW --form census
    rerelease OUT NEW
    coterminous OUT NEW --geography {GEOGRAPHY}
    run {HOUSEHOLDS.parameters} {HOUSEHOLDS.data} NEW --totals OUT --test-key {KEY}
"""


def refusals_of_every_command(out, new):
    """What each says; none may write anything."""
    commands = (command.split() for command in COMMANDS.strip().splitlines())
    said = {refused(*({"OUT": out, "NEW": new}.get(word, word) for word in words)) for words in commands}
    assert not new.exists()
    return said


@pytest.mark.parametrize(
    ("name", "told"), [("datapackage.json", NEWER), ("privacy.json", f"privacy.json has 1 problem: {NEWER}")]
)
def test_a_release_of_a_newer_format_is_refused_by_every_command(name, told, out, tmp_path):
    with_format(out, 7, name)
    assert all(told in said for said in refusals_of_every_command(out, tmp_path / "new"))
    assert NEWER in invalid(safetab.open_release, out)


@pytest.mark.parametrize("name", ["datapackage.json", "privacy.json"])
def test_a_newer_format_is_told_rather_than_damage(name, out):
    path = out / "release" / name
    path.write_text(re.sub(r'"format": ?2\b', '"format": 7', path.read_text()))
    shown = refused("show", out, AREA)
    assert NEWER in shown
    assert "changed after the release was made" not in shown


def test_a_manifest_whose_format_is_no_number_is_told_so(out, tmp_path):
    for number in ("one", 1.0, True, -1, None):
        change(out / "manifest.json", format=number)
        shown = refused("rerelease", out, tmp_path / "new")
        assert "manifest.json has 1 problem: the format must be a whole number, 0 or above." in shown


def test_a_format_that_is_no_number_is_damage(out):
    for number in ("7", True, -1, 1.5, [1]):
        assert "is a release that is damaged" in refused("show", with_format(out, number), AREA)


def test_measurements_and_manifests_of_a_newer_format_are_refused(out, tmp_path):
    def refusal():
        return refused("rerelease", out, tmp_path / "new")

    path, measured = out / "manifest.json", out / "measurements" / "us.parquet"
    change(path, format=7)
    assert f"manifest.json has 1 problem: {NEWER}" in refusal()
    pq.write_table(pq.read_table(measured).replace_schema_metadata({"format": "7"}), measured)
    outputs = json_of(path)["outputs"]
    outputs["measurements/us.parquet"]["sha256"] = sha256_of(measured)
    change(path, format=2, outputs=outputs)
    assert f"us.parquet has 1 problem: {NEWER}" in refusal()
    assert not (tmp_path / "new").exists()


def test_a_spend_log_of_a_newer_format_is_refused_and_stays(tmp_path):
    log = stored_log("format-1", tmp_path / "spend.log")
    text = log.read_text().replace('"format": 1', '"format": 7, "more": "keys"')
    log.write_text(text)
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
