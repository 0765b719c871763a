"""`safetab verify` finds what was changed in a release, even if every checksum was computed again; signatures say whose it is."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import cli
from tests.inside import (
    CantBeDone,
    csv_names,
    locked_folder_module,
    open_release_folder,
    output_folder_module,
    outputs_as_json,
    read_private_key,
    write_checksums,
)
from tests.stored_formats import GEOGRAPHY, STORED, stored
from tests.worlds.people import write_random_world
from tests.worlds.world import KEY

PERSONS = STORED / "format-2" / "persons"
Damage = Callable[[Path], None]


def safetab_says(*arguments: object, code: int = 0) -> str:
    result = cli(*arguments)
    assert result.exit_code == code, result.output
    return " ".join((result.stdout + result.stderr).split())


def found_in(path: Path, key: Path | None = None) -> list[str]:
    return [f"{one.where}: {one.message}" for one in safetab.verify(path, key).findings]


def in_words(path: Path) -> str:
    return f"{path.parent.name} {path.name}"


def json_of(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def with_true_checksums(out: Path) -> None:
    """Write SHA256SUMS and the hashes and rows of the manifest again, as anybody who changes a file can."""
    if not (out / "manifest.json").is_file():
        write_checksums(out)
        return
    shutil.copyfile(out / "report.html", out / "release" / "report.html")
    write_checksums(out / "release")
    manifest = json_of(out / "manifest.json")
    rows = {}
    for path in (out / name for name in manifest["outputs"] if (out / name).exists()):
        rows[path.relative_to(out).as_posix()] = (
            pq.read_metadata(path).num_rows if path.suffix == ".parquet" else path.read_bytes().count(b"\n") - 1
        )
    (out / "manifest.json").write_text(json.dumps(manifest | outputs_as_json(out, rows)))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A whole output of synthetic people, with copies between areas."""
    return Path(shutil.copytree(PERSONS, tmp_path / "out"))


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("keys") / "agency"
    safetab_says("sign", "--new-key", file)
    return file


@pytest.fixture(scope="module")
def signed(key: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = Path(shutil.copytree(PERSONS, tmp_path_factory.mktemp("signed") / "out"))
    safetab.sign(out, key, not_for_release=True)
    return out


def public(key: Path) -> Path:
    return key.with_name(f"{key.name}.pub")


STATE = "release/numbers/geography_level=STATE/detailed-sex-by-age.parquet"
COUNTY = "release/numbers/geography_level=COUNTY/regional-sex-by-age.parquet"


def column(file: str, name: str, change: Callable[[list[Any]], list[Any]]) -> Damage:
    def damage(out: Path) -> None:
        table = pq.read_table(out / file, partitioning=None)
        values = pa.array(change(table[name].to_pylist()), table.schema.field(name).type)
        pq.write_table(table.set_column(table.column_names.index(name), name, values), out / file, store_schema=False)

    return damage


def first(change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    return lambda values: [change(values[0]), *values[1:]]


def rows_swapped(out: Path) -> None:
    table = pq.read_table(out / STATE, partitioning=None)
    pq.write_table(table.take([1, 0, *range(2, len(table))]), out / STATE, store_schema=False)


def group_left_out(out: Path, file: str = COUNTY) -> None:
    table = pq.read_table(out / file, partitioning=None)
    codes, regions = table["iteration_code"].to_pylist(), table["region_id"].to_pylist()
    kept = [row for row in range(len(table)) if (codes[row], regions[row]) != (codes[0], regions[0])]
    pq.write_table(table.take(kept), out / file, store_schema=False)


def cell_of_a_whole_table_raised(out: Path) -> None:
    """Raise one cell and every sum that it is in, and their intervals: the release alone is consistent then."""
    table = pq.read_table(out / STATE, partitioning=None)
    rows = table.to_pylist()
    cell = next(row for row in rows if row["noise_draws"] == 1 and row["table"] != "total")
    for row in rows:
        is_of_group = (row["region_id"], row["iteration_code"]) == (cell["region_id"], cell["iteration_code"])
        has_ages = row["age_start"] <= cell["age_start"] and cell["age_end"] <= row["age_end"]
        if is_of_group and has_ages and row["sex"] in {"both", cell["sex"]}:
            raised, margin = row["unclamped_count"] + 5, row["unclamped_margin_of_error"]
            row |= {"count": row["count"] + 5, "unclamped_count": raised}
            row |= {"interval_low": max(raised - margin, 0), "interval_high": max(raised + margin, 0)}
    pq.write_table(pa.Table.from_pylist(rows, table.schema), out / STATE, store_schema=False)


def edited(name: str, change: Callable[[dict[str, Any]], object]) -> Damage:
    def damage(out: Path) -> None:
        document = json_of(out / name)
        change(document)
        (out / name).write_text(json.dumps(document))

    return damage


def replaced(name: str, old: str, new: str) -> Damage:
    def damage(out: Path) -> None:
        text = (out / name).read_text()
        assert old in text
        (out / name).write_text(text.replace(old, new))

    return damage


def removed(name: str) -> Damage:
    return lambda out: (out / name).unlink()


def t2_count_raised(out: Path) -> None:
    lines = (out / "t2" / "us.csv").read_text().splitlines(keepends=True)
    *fields, count = lines[3].rstrip("\n").split("|")
    lines[3] = "|".join([*fields, f"{int(count) + 7}\n"])
    (out / "t2" / "us.csv").write_text("".join(lines))


def numbers_removed_with_their_mention(out: Path) -> None:
    (out / STATE).unlink()
    package = json_of(out / "release" / "datapackage.json")
    package["resources"][0]["path"].remove(STATE.removeprefix("release/"))
    (out / "release" / "datapackage.json").write_text(json.dumps(package))


STATUS = "does not say what datapackage.json says of the status."
BY_PLAN = "is not what the plan and the group's numbers give: row 1."
FOUND_IN_A_RELEASE_ALONE = {
    "a number": (column(STATE, "count", first(lambda n: n + 1)), "count"),
    "an unclamped number": (column(STATE, "unclamped_count", first(lambda n: n + 1)), "a sum is not that of its cells: row 1."),
    "a margin": (column(STATE, "margin_of_error", first(lambda n: n - 1)), f"margin_of_error {BY_PLAN}"),
    "an unclamped margin": (column(STATE, "unclamped_margin_of_error", first(lambda n: n - 1)), f"unclamped_margin_of_error {BY_PLAN}"),
    "an interval": (
        column(COUNTY, "interval_high", lambda values: [one and one + 1 for one in values]),
        "interval_high is not what the plan and the group's numbers give: row ",
    ),
    "an interval of a number that nothing selected": (
        column(STATE, "interval_low", lambda values: [one and one + 1 for one in values]),
        "interval_low is not what the plan and the group's numbers give: row ",
    ),
    "an interval left out": (
        column(STATE, "interval_low", lambda values: [None for _ in values]),
        "interval_low must be null exactly for withheld numbers: row ",
    ),
    "a variance": (column(STATE, "variance", first(lambda n: n / 2)), f"variance {BY_PLAN}"),
    "a noise parameter": (column(STATE, "noise_parameter", first(lambda _: "1")), f"noise_parameter {BY_PLAN}"),
    "a name": (column(STATE, "region_name", first(lambda _: "Elsewhere")), f"region_name {BY_PLAN}"),
    "a stub": (column(STATE, "stub", first(lambda _: "All")), f"stub {BY_PLAN}"),
    "a stage-1 total": (column(COUNTY, "stage_1_total", first(lambda _: 10**6)), "the table is not the one that stage_1_total chooses: row 1."),
    "a small total": (
        column(COUNTY, "unclamped_count", lambda values: [-500 for _ in values]),
        "a total is not above the suppression threshold: row ",
    ),
    "swapped rows": (rows_swapped, "lines are not in their order: row 1"),
    "a group left out of a state": (lambda out: group_left_out(out, STATE), "lacks groups, and nothing is suppressed at its level."),
    "a dropped file": (removed(STATE), "is missing."),
    "numbers without mention": (numbers_removed_with_their_mention, "is missing."),
    "a variance that is no number": (column(STATE, "variance", first(lambda _: float("nan"))), f"variance {BY_PLAN}"),
    "a pass of a level": (
        column("release/universe/levels.parquet", "pass", lambda values: [values[-1], *values[1:]]),
        "universe/levels.parquet: has rows that contradict each other, or are out of order.",
    ),
    "a distribution of a level": (
        column("release/universe/levels.parquet", "noise_mechanism", lambda values: [None for _ in values]),
        "universe/levels.parquet: has rows that contradict each other, or are out of order.",
    ),
    "a code for another": (
        column("release/universe/codes.parquet", "code", lambda values: [values[1], *values[1:]]),
        "universe/codes.parquet: has rows that contradict each other, or are out of order.",
    ),
    "an area for another": (
        column("release/universe/entities.parquet", "region_id", lambda values: [*values[:-1], values[-2]]),
        "universe/entities.parquet: lists an area twice or out of order.",
    ),
    "a threshold": (column("release/universe/levels.parquet", "suppression_threshold", lambda values: [n and n - 1 for n in values]), "privacy.json: levels"),
}  # fmt: skip
FOUND_IN_DOCUMENTS = {
    "a dropped list": (removed("release/universe/coterminous.parquet"), "universe/coterminous.parquet: is missing."),
    "a strange file": (
        lambda out: shutil.copyfile(out / STATE, out / "release" / "numbers" / "more.parquet"),
        "numbers/more.parquet: is in no list of the release.",
    ),
    "the loss": (
        edited("release/privacy.json", lambda one: one["loss"]["whole_run"].update(unbounded_rho="0.1")),
        "privacy.json: loss is not what follows from universe/levels.parquet.",
    ),
    "a level's noise": (
        edited("release/privacy.json", lambda one: one["levels"][0]["stages"]["stage_1"]["cost_rho"].update(fraction="1/99")),
        "privacy.json: levels is not what follows from universe/levels.parquet.",
    ),
    "one status": (
        edited("release/privacy.json", lambda one: one.update(status="for release", for_release=True)),
        f"privacy.json: {STATUS}",
    ),
    "a status sentence": (
        edited("release/datapackage.json", lambda one: one["safetab"].update(status_sentence="May be released.")),
        f"datapackage.json: {STATUS}",
    ),
    "the status of the README": (
        replaced("release/README.txt", "Status: test key. Not for release", "Status: for release. Free"),
        f"README.txt: {STATUS}",
    ),
    "the status of the report": (
        replaced("report.html", "Status: test key. Not for release", "Status: test key. Fine for release"),
        f"report.html: {STATUS}",
    ),
}  # fmt: skip
FOUND_WITH_THE_WHOLE_OUTPUT = {
    "a count of t2": (t2_count_raised, "t2/us.csv: COUNT is not the sum of the group's noisy numbers: row 3."),
    "a group left out": (group_left_out, "lacks rows that the measurements give."),
    "a measurement": (
        column("measurements/us.parquet", "value", lambda values: [*values[:-1], values[-1] + 1]),
        "COUNT is not the sum of the group's noisy numbers",
    ),
    "a table after steps that is no text": (
        lambda out: (out / "after-steps/t1/us.csv").write_bytes(b"\xff\xfe"),
        "after-steps: can't be read (UnicodeDecodeError).",
    ),
    "a table after steps": (
        replaced("after-steps/t1/us.csv", "|STATE|", "|TOWN|"),
        "after-steps/t1/us.csv: REGION_TYPE is not that of the release",
    ),
}  # fmt: skip
FOUND_BESIDE_THE_RELEASE = {
    "the loss of the manifest": (
        edited("manifest.json", lambda one: one["loss"]["us"].update(bounded_rho="1")),
        "manifest.json: loss is not what follows",
    ),
    "another charge": (edited("manifest.json", lambda one: one.update(charged=[])), "manifest.json: charged is not what"),
    "other steps": (edited("manifest.json", lambda one: one["release"].update(rules=["all"])), "manifest.json: release is not what"),
    "no test key": (edited("manifest.json", lambda one: one.update(test_key=False)), "manifest.json: test_key is not what"),
    "the mark": (removed("NOT-FOR-RELEASE"), "NOT-FOR-RELEASE: is missing."),
    "the status of the log": (replaced("log.txt", "Status: test key.", "Status: for release."), f"log.txt: {STATUS}"),
    "a file more": (lambda out: (out / "records.csv").write_text("x"), "records.csv: is not among the files that may leave."),
}  # fmt: skip


PACKAGE, PRIVACY = "release/datapackage.json", "release/privacy.json"


def facts_without(*names: str, **values: object) -> Damage:
    def change(package: dict[str, Any]) -> None:
        for name in names:
            del package["safetab"][name]
        package["safetab"].update(values)

    return edited(PACKAGE, change)


def downgraded(*more: str) -> Damage:
    """Take away whatever the oldest releases don't have, and say that the rest may be released."""

    def damage(out: Path) -> None:
        facts_without("status", "status_sentence", "checksums", *more, for_release=True)(out)
        (out / PRIVACY).unlink()
        (out / "release" / "SHA256SUMS").unlink()

    return damage


def with_column_more(name: str) -> Damage:
    def damage(out: Path) -> None:
        table = pq.read_table(out / name, partitioning=None)
        table = table.append_column("population", pa.array(range(len(table))))
        pq.write_table(table, out / name, store_schema=False)

    return damage


def with_metadata(name: str) -> Damage:
    def damage(out: Path) -> None:
        table = pq.read_table(out / name, partitioning=None)
        pq.write_table(table.replace_schema_metadata({"records": "1,2,3"}), out / name)

    return damage


def with_hidden_bytes(name: str) -> Damage:
    """Hide records between the last page of a Parquet file and its footer."""

    def damage(out: Path) -> None:
        content = (out / name).read_bytes()
        footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        (out / name).write_bytes(content[:footer] + b"44,007,000100,1001,34,1120\n" + content[footer:])

    return damage


def with_path(path: str) -> Damage:
    return edited(PACKAGE, lambda one: one["resources"][-1].update(path=[one["resources"][-1]["path"], path]))


def written(name: str) -> Damage:
    def damage(out: Path) -> None:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("x")

    return damage


def without_measurements(out: Path) -> None:
    t2_count_raised(out)
    shutil.rmtree(out / "measurements")
    manifest = json_of(out / "manifest.json")
    manifest["outputs"] = {
        name: one for name, one in manifest["outputs"].items() if not name.startswith("measurements/")
    }
    (out / "manifest.json").write_text(json.dumps(manifest))


def with_csv(**values: object) -> Damage:
    def damage(out: Path) -> None:
        facts_without(csv=True, **values)(out)
        written("release/csv/people.csv")(out)

    return damage


def downgraded_with_the_mark_alone(out: Path) -> None:
    downgraded("format")(out)
    (out / "release" / "README.txt").unlink()
    written("release/NOT-FOR-RELEASE")(out)


OTHER_WORDS = "is not in the words of the version that it names."
OF_FACTS = "is not what its facts, or those of the census, give."
STRAY = "is not among the files that may leave."
DOWNGRADES = {
    "to no status": (
        downgraded(),
        ("datapackage.json: status is missing.", "privacy.json: is missing.", "its SHA256SUMS is missing."),
    ),
    "below format 1": (downgraded("format"), (f"README.txt: {STATUS}",)),
    "without README.txt": (downgraded_with_the_mark_alone, ("README.txt: is missing.", f"NOT-FOR-RELEASE: {STRAY}")),
}
UNSEEN = "has bytes that no reader of its tables sees."
HIDDEN_FROM_CHECKSUMS = {
    "a hidden file": (written("release/.records.csv"), f".records.csv: {STRAY}"),
    "a hidden folder": (written("release/.git/records"), f".git: {STRAY}"),
    "a foreign file": (written("release/people.csv"), f"people.csv: {STRAY}"),
    "areas with a column more": (with_column_more("release/universe/entities.parquet"), "universe/entities.parquet: has other columns"),
    "levels with a column more": (with_column_more("release/universe/levels.parquet"), "universe/levels.parquet: has other columns"),
    "numbers with a column more": (with_column_more(STATE), f"{STATE.removeprefix('release/')}: has other columns"),
    "metadata of numbers": (with_metadata(COUNTY), f"{COUNTY.removeprefix('release/')}: has other columns, or other metadata"),
    "metadata of the universe": (with_metadata("release/universe/codes.parquet"), "codes.parquet: has other columns, or other metadata"),
    "bytes in numbers": (with_hidden_bytes(COUNTY), f"{COUNTY.removeprefix('release/')}: {UNSEEN}"),
    "bytes in the universe": (with_hidden_bytes("release/universe/levels.parquet"), f"universe/levels.parquet: {UNSEEN}"),
    "CSV files without a form": (with_csv(), "csv: was not checked: its form is not csv_format 2."),
    "a loss without its numbers": (edited(PRIVACY, lambda one: one.update(loss={})), "privacy.json: loss is not what follows"),
    "another mechanism": (edited(PRIVACY, lambda one: one.update(mechanism="none")), "privacy.json: mechanism is not what follows"),
    "another unit": (edited(PRIVACY, lambda one: one.update(unit_of_privacy="one answer")), "privacy.json: unit_of_privacy is not what"),
    "another delta": (edited(PRIVACY, lambda one: one.update(delta="1")), "privacy.json: delta is not what follows"),
}  # fmt: skip
LEFT_OUT_OF_CLAIMS = {
    "CSV files of a newer form": (with_csv(csv_format=3), "csv: was not checked: its form is not csv_format 2."),
    **{
        f"no {name}": (edited(PRIVACY, lambda one, name=name: one.pop(name)), f"privacy.json: {name} is missing.")
        for name in ("loss", "levels", "privacy_definition", "mechanism", "unit_of_privacy", "delta", "composition")
    },
}
HIDDEN_FROM_THE_MANIFEST = {
    "bytes in measurements": (with_hidden_bytes("measurements/us.parquet"), f"measurements/us.parquet: {UNSEEN}"),
    "measurements taken away": (without_measurements, "measurements/us.parquet: is missing."),
    "a table taken away": (removed("t1/us.csv"), "t1/us.csv: is missing."),
    "metadata of measurements": (with_metadata("measurements/us.parquet"), "measurements/us.parquet: has other metadata"),
    "brackets without end": (
        lambda out: (out / "manifest.json").write_text("[" * 100_000),
        "manifest.json: can't be read (RecursionError).",
    ),
}  # fmt: skip
LEFT_OUT_OF_THE_MANIFEST = {
    f"no {name}": (
        edited("manifest.json", lambda one, name=name: one.pop(name)),
        f"manifest.json: {name} is missing.",
    )
    for name in ("loss", "charged", "configuration")
}


VERSION_AND_DATE = "does not say what datapackage.json says of version and date."
SAID_TWICE = {
    "not_covered": (edited(PRIVACY, lambda one: one.update(not_covered=[])), f"{PRIVACY}: not_covered {OTHER_WORDS}"),
    "format of privacy.json": (edited(PRIVACY, lambda one: one.update(format=0)), f"{PRIVACY}: format is not that of datapackage"),
    "format of the manifest": (edited("manifest.json", lambda one: one.update(format=0)), "manifest.json: format is not that of"),
    "day of the manifest": (edited("manifest.json", lambda one: one.update(date="2020-01-01")), f"manifest.json: {VERSION_AND_DATE}"),
    "version of the manifest": (edited("manifest.json", lambda one: one.update(version="0.2")), f"manifest.json: {VERSION_AND_DATE}"),
    "day of privacy.json": (edited(PRIVACY, lambda one: one.update(date="2020-01-01")), f"{PRIVACY}: does not say what manifest.json says"),
    "day of the package": (edited(PACKAGE, lambda one: one.update(created="2020-01-01T00:00:00Z")), f"{PACKAGE}: created {OF_FACTS}"),
    "version of the package": (edited(PACKAGE, lambda one: one.update(version="7")), f"{PACKAGE}: version {OF_FACTS}"),
    "title": (edited(PACKAGE, lambda one: one.update(title="Exact counts")), f"{PACKAGE}: title {OF_FACTS}"),
    "publisher": (edited(PACKAGE, lambda one: one.update(contributors=[{"title": "A forger"}])), f"{PACKAGE}: contributors {OF_FACTS}"),
    "licence": (edited(PACKAGE, lambda one: one.update(licenses=[{"name": "All rights"}])), f"{PACKAGE}: licenses {OF_FACTS}"),
    "day of the README": (replaced("release/README.txt", "made on 2026", "made on 1926"), f"README.txt: {VERSION_AND_DATE}"),
    "version in the log": (replaced("log.txt", "safetab 0.", "safetab 9."), f"log.txt: {VERSION_AND_DATE}"),
    "a script": (replaced("report.html", "<footer>", "<script src=//x.example></script><footer>"), "report.html: is a page that may run"),
}  # fmt: skip


@pytest.mark.parametrize(
    "damages",
    [
        SAID_TWICE,
        FOUND_IN_DOCUMENTS,
        HIDDEN_FROM_CHECKSUMS,
        LEFT_OUT_OF_CLAIMS,
        FOUND_BESIDE_THE_RELEASE,
        LEFT_OUT_OF_THE_MANIFEST,
    ],
)
def test_documents_that_were_changed_together_are_all_found(damages, out):
    for damage, _ in damages.values():
        damage(out)
    with_true_checksums(out)
    found = "\n".join(
        found_in(
            out if damages in (SAID_TWICE, FOUND_BESIDE_THE_RELEASE, LEFT_OUT_OF_THE_MANIFEST) else out / "release"
        )
    )
    assert [name for name, (_, words) in damages.items() if words not in found] == []


OF_A_SPECIFICATION = {
    "protected": (replaced("manifest.json", "What is protected is one", "What is protected is each"), f"manifest.json: protected {OTHER_WORDS}"),
    "words": (replaced(PRIVACY, "budgets of the levels", "the least budgets"), f"{PRIVACY}: composition {OTHER_WORDS}"),
    "later day": (edited(PRIVACY, lambda one: one.update(date="2999-01-01")), f"{PRIVACY}: has a later date than the release."),
    "description of a column": (replaced(PACKAGE, "margin of error", "largest error"), f"{PACKAGE}: description {OF_FACTS}"),
    "description of the package": (replaced(PACKAGE, "A group that is absent", "A group that is here"), f"{PACKAGE}: description {OF_FACTS}"),
    "title in the README": (replaced("release/README.txt", "HEALTH", "WEALTH"), "README.txt: does not say what the release says of its publisher and title"),
    "licence in the report": (replaced("report.html", "CC BY", "CC NO"), "report.html: does not say what the release says of its publisher and title"),
    "a page without its policy": (replaced("report.html", "Content-Security-Policy", "Content"), "report.html: is a page that may run scripts."),
}  # fmt: skip


def status_changed_everywhere(out: Path) -> None:
    (out / "NOT-FOR-RELEASE").unlink()
    new = {"status": "for release", "status_sentence": "This output may be released.", "for_release": True}
    edited(PACKAGE, lambda one: one["safetab"].update(new))(out)
    edited(PRIVACY, lambda one: one.update(new))(out)
    edited("manifest.json", lambda one: (one.update(new, test_key=False), one["documents"].pop("NOT-FOR-RELEASE")))(out)
    for name in ("release/README.txt", "report.html", "log.txt"):
        text = re.sub("Not for release:?", "Free:", (out / name).read_text())
        (out / name).write_text(text.replace("Status: test key.", "Status: for release."))


def version_and_day_changed_everywhere(out: Path) -> None:
    for path in (
        out / name for name in (PACKAGE, PRIVACY, "manifest.json", "release/README.txt", "report.html", "log.txt")
    ):
        path.write_text(path.read_text().replace("2026-11-19", "2026-11-16").replace("0.1.0", "0.2.0"))


def bytes_in_a_page(out: Path) -> None:
    """Write a file of numbers with a text in its dictionary that no row has."""
    table = pq.read_table(out / STATE, partitioning=None)
    names = table["stub"].combine_chunks().dictionary_encode()
    more = pa.DictionaryArray.from_arrays(names.indices, pa.concat_arrays([names.dictionary, pa.array(["44,1120"])]))
    at = table.column_names.index("stub")
    field = table.schema.field(at).with_type(more.type)
    pq.write_table(table.set_column(at, field, more), out / STATE, store_schema=False, compression="none")
    assert b"44,1120" in (out / STATE).read_bytes()


UNSEEN_WITHOUT_A_SIGNATURE = {
    "group left out": (group_left_out, False, "a group that was taken out of a level with suppression"),
    "cell": (cell_of_a_whole_table_raised, False, "cells that were changed together with all their sums"),
    "earlier day": (edited(PRIVACY, lambda one: one.update(date="2020-01-01")), False, "an earlier day or another version in `privacy.json`"),
    "status": (status_changed_everywhere, True, "the status, if it was changed in every document and its mark was removed"),
    "version": (version_and_day_changed_everywhere, True, "day, version, title, publisher and licence, if they were changed in every document"),
    "not_covered": (edited(PRIVACY, lambda one: one.update(not_covered="nothing")), True, "the words of `privacy.json` and the descriptions in `datapackage.json`, if"),
    "description": (replaced(PACKAGE, "margin of error", "largest error"), True, "the words of `privacy.json` and the descriptions in `datapackage.json`, if"),
    "README": (replaced("release/README.txt", "WHAT THIS IS", "WHAT IT IS"), True, "the texts of README.txt, the log and the report beyond"),
    "report": (replaced("report.html", "<footer>", "<footer>Exact."), True, "the texts of README.txt, the log and the report beyond"),
    "entry": (edited(PACKAGE, lambda one: one.update(remark="exact")), True, "entries that were added to a document"),
    "configuration": (edited("manifest.json", lambda one: one["configuration"].update(x=1)), True, "in `manifest.json`, the configuration and the hashes of the public files"),
    "dictionary": (bytes_in_a_page, True, "texts in the dictionary of a Parquet column that no row has"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSEEN_WITHOUT_A_SIGNATURE)
def test_what_only_a_signature_finds_is_listed(name, signed, key, tmp_path):
    damage, is_unseen_in_all, words = UNSEEN_WITHOUT_A_SIGNATURE[name]
    out = Path(shutil.copytree(signed, tmp_path / "out"))
    damage(out)
    with_true_checksums(out)
    looked_at = out if is_unseen_in_all else out / "release"
    assert any("is not the file that was signed" in one for one in found_in(looked_at, public(key)))
    for part in ("SIGNATURE.json", "SIGNATURE.sig"):
        (out / "release" / part).unlink()
    assert found_in(looked_at) == []
    page = " ".join(Path("docs/how-to/sign-and-verify.md").read_text().split())
    assert words in page.partition("Only a signature finds:")[2]


@pytest.mark.parametrize("name", DOWNGRADES)
def test_a_release_can_not_be_taken_for_an_older_one_that_may_be_released(name, out):
    damage, sentences = DOWNGRADES[name]
    damage(out)
    found = "\n".join(found_in(out / "release"))
    assert [words for words in sentences if words not in found] == []


@pytest.mark.parametrize("path", ["/etc/passwd", "../manifest.json", "universe/../../manifest.json"])
def test_a_data_package_lists_no_file_outside_the_release(path, out):
    with_path(path)(out)
    with_true_checksums(out)
    assert found_in(out / "release") == [f"datapackage.json: lists a file outside the release, {path}."]


@pytest.mark.parametrize("name", HIDDEN_FROM_THE_MANIFEST)
def test_a_whole_output_lacks_nothing_unseen(name, out):
    damage, words = HIDDEN_FROM_THE_MANIFEST[name]
    damage(out)
    manifest = out / "manifest.json"
    if manifest.read_text().startswith("{"):
        stated = json_of(manifest)
        stated["outputs"] = {name: one for name, one in stated["outputs"].items() if (out / name).is_file()}
        manifest.write_text(json.dumps(stated))
        with_true_checksums(out)
    assert words in "\n".join(found_in(out))


@pytest.mark.parametrize(
    "path", [one for kind in ("persons", "households", "official") for one in stored(kind)], ids=str
)
def test_nothing_is_wrong_with_stored_releases_of_any_format(path):
    assert found_in(path) == []


@pytest.mark.parametrize("path", [*stored("persons"), *stored("households")], ids=in_words)
def test_nothing_is_wrong_with_a_stored_release_alone(path):
    assert found_in(path / "release") == []


@pytest.mark.parametrize("path", stored("persons")[1:], ids=in_words)  # the mark of the oldest has other words
def test_nothing_is_wrong_with_a_re_release_of_any_format(path, tmp_path):
    safetab.rerelease(path, tmp_path / "new")
    assert found_in(tmp_path / "new") == found_in(tmp_path / "new" / "release") == []


@pytest.mark.parametrize("name", FOUND_IN_A_RELEASE_ALONE)
def test_a_release_alone_shows_what_was_changed_though_its_checksums_are_right(name, out):
    damage, words = FOUND_IN_A_RELEASE_ALONE[name]
    damage(out)
    with_true_checksums(out)
    assert words in "\n".join(found_in(out / "release"))


@pytest.mark.parametrize("name", FOUND_WITH_THE_WHOLE_OUTPUT)
def test_a_whole_output_shows_more_though_its_checksums_are_right(name, out):
    damage, words = FOUND_WITH_THE_WHOLE_OUTPUT[name]
    damage(out)
    with_true_checksums(out)
    assert words in "\n".join(found_in(out))


def test_a_cell_that_was_raised_with_all_its_sums_is_found_by_the_measurements_alone(out):
    cell_of_a_whole_table_raised(out)
    with_true_checksums(out)
    assert found_in(out / "release") == []
    assert any("count is not what the measurements give: row " in one for one in found_in(out))


def test_all_findings_come_at_once_with_exit_code_1(out):
    column(STATE, "margin_of_error", first(lambda n: n - 1))(out)
    t2_count_raised(out)
    removed("NOT-FOR-RELEASE")(out)
    said = safetab_says("verify", out, code=1)
    assert "changed after the release was made: numbers/geography_level=STATE/detailed-sex-by-age.parquet" in said
    for words in ("margin_of_error is not what", "t2/us.csv: COUNT is not", "NOT-FOR-RELEASE: is missing"):
        assert words in said
    told = json.loads(cli("verify", out, "--json").stdout)
    assert (told["format"], told["exit_code"]) == (1, 1)
    assert {"t2/us.csv", "NOT-FOR-RELEASE"} <= {one["where"] for one in told["findings"]}


def test_checksums_that_list_fewer_or_more_files_are_refused(out):
    sums = out / "release" / "SHA256SUMS"
    lines = sums.read_text().splitlines(keepends=True)
    sums.write_text("".join(lines[1:]))
    assert any("files that SHA256SUMS doesn't list: README.txt" in one for one in found_in(out / "release"))
    sums.write_text("".join([*lines, f"{'0' * 64}  zebra.txt\n"]))
    assert any("files that were released are missing: zebra.txt" in one for one in found_in(out / "release"))


def test_an_unreadable_file_is_a_finding_and_no_traceback(out):
    for name in ("manifest.json", "measurements/us.parquet", STATE):
        (out / name).write_text("{")
    said = safetab_says("verify", out, code=1)
    assert "manifest.json: can't be read (JSONDecodeError)" in said
    assert "measurements/us.parquet: can't be read (ArrowInvalid)" in said
    assert "the tables of the us pass: can't be read (ArrowInvalid)" in said
    (out / "release" / "privacy.json").write_text("{")
    said = safetab_says("verify", out, code=1)
    assert "is a release that is damaged" in said
    assert (
        "changed after the release was made: numbers/geography_level=STATE/detailed-sex-by-age.parquet, privacy.json"
        in said
    )


@pytest.mark.parametrize("name", ["manifest.json", "measurements/us.parquet", "release/universe/codes.parquet"])
def test_a_link_or_a_pipe_is_named_and_never_read(name, out):
    removed(name)(out)
    os.mkfifo(out / name)
    assert found_in(out) == [f"{name}: is a link, or not a regular file."]
    removed(name)(out)
    (out / name).symlink_to("/dev/zero")
    assert found_in(out) == [f"{name}: is a link, or not a regular file."]


@pytest.mark.parametrize("name", ["log.txt", "report.html", "release/README.txt"])
def test_a_text_that_is_no_text_hides_no_other_finding(name, out):
    (out / name).write_bytes(b"\xff\xfe\x00")
    removed("NOT-FOR-RELEASE")(out)
    found = found_in(out)
    assert f"{name}: {STATUS}" in found
    assert "NOT-FOR-RELEASE: is missing." in found


@pytest.mark.parametrize("name", [STATE, "release/privacy.json", "measurements/us.parquet", "t1/us.csv"])
def test_a_missing_file_is_said_to_be_missing_and_not_that_it_cannot_be_read(name, out):
    removed(name)(out)
    found = found_in(out)
    assert any(Path(name).name in one and "missing" in one for one in found)
    assert [one for one in found if "can't be read" in one] == []


def test_a_release_without_its_checksums_is_told_so(out):
    removed("release/SHA256SUMS")(out)
    assert any("its SHA256SUMS is missing. Get the release again." in one for one in found_in(out / "release"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps", [{"rules": ["clamp-negatives"]}, {"rules": ["withhold-alone-above-partner", "withhold-negatives"]}]
)
def test_a_rerelease_with_rules_is_right_and_a_number_shown_against_them_is_found(steps, tmp_path):
    world = write_random_world(tmp_path, 2, people=60, budget=1, zero_suppression_chance=0, allow_negative_counts=True)
    safetab.run(*world, tmp_path / "out", test_key=KEY)
    new = tmp_path / "new"
    safetab.rerelease(tmp_path / "out", new, csv=True, **steps)
    assert found_in(new) == found_in(new / "release") == []
    table = json_of(new / "release" / "datapackage.json")["safetab"]
    table["rules"] = ["withhold-negatives"] if steps["rules"] == ["clamp-negatives"] else ["clamp-negatives"]
    package = json_of(new / "release" / "datapackage.json") | {"safetab": table}
    (new / "release" / "datapackage.json").write_text(json.dumps(package))
    with_true_checksums(new)
    assert "is not what the measurements give" in "\n".join(found_in(new))


def test_a_csv_file_of_a_level_without_numbers_is_found(tmp_path):
    safetab.rerelease(PERSONS, tmp_path / "new", csv=True)
    release = tmp_path / "new" / "release"
    assert found_in(release) == []
    universe = open_release_folder(release).universe
    more = next(name for name in csv_names(universe.entities, []) if not (release / "csv" / name).exists())
    (release / "csv" / more).write_text("people\n1\n")
    write_checksums(release)
    assert found_in(release) == [f"csv/{more}: does not have the rows of the Parquet files."]


@pytest.mark.slow
def test_clamped_numbers_pure_dp_and_csv_files_are_checked_too(tmp_path):
    settings = {"allow_negative_counts": False, "privacy_defn": "puredp", "zero_suppression_chance": 0.9}
    world = write_random_world(tmp_path, 6, people=60, budget=1, **settings)
    safetab.run(*world, tmp_path / "out", test_key=KEY, csv=True)
    assert found_in(tmp_path / "out") == found_in(tmp_path / "out" / "release") == []
    csv = next((tmp_path / "out" / "release" / "csv" / "numbers").glob("*.csv"))
    csv.write_text(csv.read_text().replace(",1,", ",2,", 1))
    with_true_checksums(tmp_path / "out")
    assert "does not have the rows of the Parquet files." in "\n".join(found_in(tmp_path / "out" / "release"))


@pytest.mark.slow
def test_a_release_of_a_specification_is_checked_and_signed_with_its_own_words(key, tmp_path):
    safetab_says("new", tmp_path / "new")
    safetab_says("synthesize", tmp_path / "new", "--people", "3000")
    safetab.run(tmp_path / "new", tmp_path / "new-data", tmp_path / "out", csv=True)
    assert repr(safetab.verify(tmp_path / "out")) == "<verified: synthetic, not signed>"
    assert safetab.sign(tmp_path / "out", key, not_for_release=True).is_valid
    file = next((tmp_path / "out" / "release" / "numbers").rglob("*.parquet"))
    column(file.relative_to(tmp_path / "out").as_posix(), "variance", first(lambda n: n + 1))(tmp_path / "out")
    with_true_checksums(tmp_path / "out")
    found = found_in(tmp_path / "out", public(key))
    assert any("variance is not what the plan" in one for one in found)
    assert any("SHA256SUMS: is not the file that was signed." in one for one in found)


def test_what_the_documents_of_a_specification_say_twice_is_the_same(tmp_path):
    safetab_says("new", tmp_path / "new")
    specification = next((tmp_path / "new").glob("*.toml"))
    titled = specification.read_text().replace('"Groups by area"', '"Health-care in [DATE]"')
    agency = 'agency  = "example"'
    specification.write_text(titled.replace(agency, f'licence = "CC BY 4.0, for non-commercial use"\n{agency}'))
    safetab_says("synthesize", tmp_path / "new", "--people", "1000")
    out = tmp_path / "out"
    safetab.run(tmp_path / "new", tmp_path / "new-data", out)
    assert found_in(out) == []
    for damage, _ in OF_A_SPECIFICATION.values():
        damage(out)
    with_true_checksums(out)
    found = "\n".join(found_in(out))
    assert [name for name, (_, words) in OF_A_SPECIFICATION.items() if words not in found] == []


def test_a_site_names_the_key_of_a_signed_release(signed, tmp_path):
    safetab_says("site", signed, tmp_path / "site")
    facts = (tmp_path / "site" / "data" / "facts.js").read_text()
    fingerprint = json_of(signed / "release" / "SIGNATURE.json")["fingerprint"]
    assert f'"fingerprint":"{fingerprint}"' in facts.replace(": ", ":")
    safetab_says("site", PERSONS, tmp_path / "unsigned")
    assert "fingerprint" not in (tmp_path / "unsigned" / "data" / "facts.js").read_text()
    forged = Path(shutil.copytree(signed, tmp_path / "forged"))
    (forged / "release" / "SIGNATURE.sig").write_bytes(b"x" * 64)
    assert "is not the signature of SIGNATURE.json" in safetab_says("site", forged, tmp_path / "no", code=1)
    assert not (tmp_path / "no").exists()


def test_a_signature_tells_whose_a_release_is(out, key):
    assert "Add --not-for-release" in safetab_says("sign", out, "--key", key, code=1)
    assert not (out / "release" / "SIGNATURE.sig").exists()
    assert "Status: test key. Not for release" in safetab_says("sign", out, "--key", key, "--not-for-release")
    statement = json_of(out / "release" / "SIGNATURE.json")
    assert (statement["format"], statement["status"], statement["for_release"]) == (1, "test key", False)
    fingerprint = statement["fingerprint"]
    said = safetab_says("verify", out, "--key", public(key))
    assert f"with the given key: {fingerprint}." in said
    assert re.search(r"Nothing is wrong\. All [\d,]+ numbers agree with the plan and with the measurements\.", said)
    assert "a key that was not checked" in safetab_says("verify", out / "release")
    assert repr(safetab.verify(out, public(key))) == f"<verified: test key, signed by {fingerprint[:19]}...>"
    assert "is signed already" in safetab_says("sign", out, "--key", key, "--not-for-release", code=1)
    assert safetab.sign(out, key, not_for_release=True, overwrite=True).signature.fingerprint == fingerprint


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("has_exchange", [True, False])
def test_a_signature_appears_in_one_step_and_a_signing_that_was_killed_can_be_repeated(
    has_exchange, out, key, monkeypatch
):
    release, seen = out / "release", []
    for name in ("SIGNATURE.json", "SIGNATURE.sig"):
        (release / f".{name}.partial-abc").mkdir()
        (release / f".{name}.partial-abc" / ".safetab-lock").touch()
    assert sum("signing again removes it" in one for one in found_in(out)) == 4

    def watched(one: Path, other: Path) -> None:
        seen.append((names_in(release), names_in(one)))
        if not has_exchange:
            raise CantBeDone
        exchange(one, other)

    exchange = output_folder_module.exchange
    monkeypatch.setattr(output_folder_module, "exchange", watched)
    before = {path.name: path.stat().st_mtime for path in release.iterdir() if not path.name.startswith(".")}
    safetab.sign(out, key, not_for_release=True)
    assert [new - old for old, new in seen] == [{"SIGNATURE.json", "SIGNATURE.sig"}]
    assert not any(name.startswith(".") for name in names_in(release))
    assert names_in(out.parent) == {out.name}
    assert before.items() <= {path.name: path.stat().st_mtime for path in release.iterdir()}.items()
    assert safetab.verify(out, public(key)).is_valid
    (release / "SIGNATURE.sig").unlink()  # half of it, as where there is no such step
    assert "SIGNATURE.sig: is missing, but the other file of the signature exists." in found_in(out)
    safetab.sign(out, key, not_for_release=True)
    assert safetab.verify(out, public(key)).is_valid


def test_a_signer_in_the_release_stays_in_it(out, key, monkeypatch):
    monkeypatch.chdir(out / "release")
    safetab.sign(".", key, not_for_release=True)
    assert (out / "release" / "SIGNATURE.sig").samefile("SIGNATURE.sig")


def test_a_key_whose_making_was_killed_is_completed(tmp_path):
    key = tmp_path / "agency"
    safetab_says("sign", "--new-key", key)
    before = key.read_bytes(), public(key).read_bytes()
    public(key).unlink()
    (tmp_path / ".agency.partial-abc").mkdir()
    (tmp_path / ".agency.partial-abc" / ".safetab-lock").touch()
    assert "agency.pub, which was missing" in safetab_says("sign", "--new-key", key)
    assert (key.read_bytes(), public(key).read_bytes()) == before
    assert names_in(tmp_path) == {"agency", "agency.pub"}
    key.write_text("no key")
    public(key).unlink()
    assert "already exists" in safetab_says("sign", "--new-key", key, code=1)


@pytest.mark.parametrize("where", ["read_text", "rmdir", "mkdtemp"])
def test_a_disk_that_fails_makes_no_sound_release_wrong(where, out, monkeypatch):
    """`rmdir`: what was written again for the check can't be removed, which the next check does."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(*((locked_folder_module.tempfile, where) if where == "mkdtemp" else (Path, where)), refused)
    if where == "rmdir":
        monkeypatch.setattr(locked_folder_module.shutil, "rmtree", lambda *_, **__: None)
        monkeypatch.setattr(locked_folder_module.tempfile, "tempdir", str(out.parent))
    said = safetab_says("verify", out, code=0 if where == "rmdir" else 3)
    assert ("Stale file handle" in said) is (where != "rmdir")
    assert "problem" not in said


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_alone_checks_the_same_signature_and_makes_keys_that_sign(out, key, tmp_path):
    def openssl(*arguments: object) -> bytes:
        return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True).stdout

    safetab.sign(out, key, not_for_release=True)
    stated, made = out / "release" / "SIGNATURE.json", out / "release" / "SIGNATURE.sig"
    given = ("pkeyutl", "-verify", "-pubin", "-inkey", public(key), "-rawin", "-in", stated, "-sigfile", made)
    assert openssl(*given) == b"Signature Verified Successfully\n"
    digest = openssl("dgst", "-sha256", "-r", out / "release" / "SHA256SUMS").decode().split()[0]
    assert json_of(stated)["sha256"]["SHA256SUMS"] == digest
    own = tmp_path / "own"
    openssl("genpkey", "-algorithm", "ed25519", "-out", own)
    own.chmod(0o600)
    openssl("pkey", "-in", own, "-pubout", "-out", public(own))
    assert safetab.sign(out, own, not_for_release=True, overwrite=True).is_valid
    assert safetab.verify(out, public(own)).is_valid


FORGED = {
    "another key": (None, "SIGNATURE.sig: was made with another key, sha256:"),
    "a changed statement": (
        edited("release/SIGNATURE.json", lambda one: one.update(signed_on="2001-01-01")),
        "SIGNATURE.sig: is not the signature of SIGNATURE.json: one of them was changed or forged.",
    ),
    "a status stripped": (
        edited("release/SIGNATURE.json", lambda one: [one.pop(name) for name in ("status", "for_release", "status_sentence")]),
        "SIGNATURE.json: is not the statement of a signature.",
    ),
    "half of a status raised": (
        edited("release/SIGNATURE.json", lambda one: one.update(status="for release")),
        "SIGNATURE.json: contradicts itself: its status and for_release disagree.",
    ),
    "a status raised": (
        edited("release/SIGNATURE.json", lambda one: one.update(status="for release", for_release=True)),
        'SIGNATURE.json: says "for release", and the release says "test key".',
    ),
    "forged bytes": (lambda out: (out / "release/SIGNATURE.sig").write_bytes(b"x" * 64), "SIGNATURE.sig: is not the signature"),
    "no bytes": (removed("release/SIGNATURE.sig"), "SIGNATURE.sig: is missing, but the other file of the signature exists."),
    "no signature": (
        lambda out: [(out / "release" / name).unlink() for name in ("SIGNATURE.sig", "SIGNATURE.json")],
        ": is not signed, and a key was given.",
    ),
    "a newer format": (edited("release/SIGNATURE.json", lambda one: one.update(format=7)), "SIGNATURE.json: has format 7; this version reads 1."),
    "a file in the release": (
        lambda out: (replaced("report.html", "<title>", "<title> ")(out), with_true_checksums(out)),
        "SHA256SUMS: is not the file that was signed.",
    ),
    "a file outside the release": (
        lambda out: (replaced("log.txt", "validation", "Validation")(out), with_true_checksums(out)),
        "manifest.json: is not the file that was signed.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_whatever_is_wrong_with_a_signature_is_said(name, signed, key, tmp_path):
    damage, words = FORGED[name]
    out, checked_with = Path(shutil.copytree(signed, tmp_path / "out")), public(key)
    if damage is None:
        safetab_says("sign", "--new-key", tmp_path / "other")
        checked_with = tmp_path / "other.pub"
    else:
        damage(out)
    assert words in "\n".join(found_in(out, checked_with))


def test_a_release_with_a_fault_is_not_signed(out, key):
    t2_count_raised(out)
    assert "t2/us.csv: COUNT is not" in safetab_says("sign", out, "--key", key, "--not-for-release", code=1)
    assert not (out / "release" / "SIGNATURE.json").exists()


@pytest.mark.slow
def test_what_is_signed_is_still_opened_exported_and_released_again(out, key, tmp_path):
    safetab.sign(out, key, not_for_release=True)
    assert safetab.open_release(out).output_status.value == "test key"
    safetab_says("export", out, tmp_path / "csv")
    assert not list(tmp_path.glob("csv/**/SIGNATURE*"))
    safetab.rerelease(out, tmp_path / "new", coterminous=True, geography=GEOGRAPHY)
    assert repr(safetab.verify(tmp_path / "new")) == "<verified: test key, not signed>"
    safetab.rerelease(PERSONS, out, overwrite=True)  # a signed output may be replaced as any other
    assert repr(safetab.verify(out)) == "<verified: test key, not signed>"


def test_a_release_without_a_status_or_with_foreign_or_hidden_files_is_not_signed(key, tmp_path):
    oldest = Path(shutil.copytree(STORED / "format-0-1e9a05d" / "persons", tmp_path / "oldest"))
    assert "has no status or no SHA256SUMS to sign" in safetab_says(
        "sign", oldest, "--key", key, "--not-for-release", code=1
    )
    for name in ("people.csv", ".records.csv"):
        release = Path(shutil.copytree(PERSONS / "release", tmp_path / name))
        (release / name).write_text("x")
        write_checksums(release)
        assert f"{name}: {STRAY}" in safetab_says("sign", release, "--key", key, "--not-for-release", code=1)
        assert not (release / "SIGNATURE.json").exists()


def signed_again(out: Path, key: Path, **changes: object) -> None:
    statement = json_of(out / "release" / "SIGNATURE.json") | changes
    content = json.dumps(statement).encode()
    (out / "release" / "SIGNATURE.json").write_bytes(content)
    (out / "release" / "SIGNATURE.sig").write_bytes(read_private_key(key).sign(content))


@pytest.mark.parametrize("changes", [{"signed_on": "2026-11-18.\nNothing is wrong"}, {"fingerprint": "sha256:other"}])
def test_a_statement_has_a_plain_day_and_the_fingerprint_of_its_key(changes, signed, key, tmp_path):
    out = Path(shutil.copytree(signed, tmp_path / "out"))
    signed_again(out, key)
    assert found_in(out, public(key)) == []
    signed_again(out, key, **changes)
    assert found_in(out, public(key)) == ["SIGNATURE.json: is not the statement of a signature."]


def test_a_signature_is_two_files_and_no_links_or_folders(signed, tmp_path):
    linked = Path(shutil.copytree(signed, tmp_path / "linked"))
    (linked / "release" / "SIGNATURE.json").rename(tmp_path / "elsewhere.json")
    (linked / "release" / "SIGNATURE.json").symlink_to(tmp_path / "elsewhere.json")
    assert "SIGNATURE.json: is a link, or not a regular file." in found_in(linked / "release")
    t2_count_raised(linked)
    assert any("t2/us.csv: COUNT is not" in one for one in found_in(linked))
    folders = Path(shutil.copytree(signed, tmp_path / "folders"))
    for name in ("SIGNATURE.json", "SIGNATURE.sig"):
        (folders / "release" / name).unlink()
        (folders / "release" / name).mkdir()
        assert f"{name}: is a link, or not a regular file." in found_in(folders / "release")


def test_a_signature_covers_the_output_only_where_the_output_was_checked(signed, key):
    assert safetab.verify(signed, public(key)).signature.covers_output
    alone = safetab.verify(signed / "release", public(key))
    assert alone.is_valid
    assert not alone.signature.covers_output
    assert "the release, with the given key" in str(alone.signature)


def test_an_official_release_has_its_own_files_and_no_others(tmp_path):
    official = Path(shutil.copytree(STORED / "format-2" / "official", tmp_path / "official"))
    for name in ("people.csv", ".records.csv"):
        (official / name).write_text("x")
    (official / "NOT-FOR-RELEASE").unlink()
    write_checksums(official)
    strays = [f"{name}: {STRAY}" for name in (".records.csv", "people.csv")]
    assert found_in(official) == [*strays, "NOT-FOR-RELEASE: is missing."]


@pytest.mark.parametrize(
    ("rows", "place"),
    [(lambda n: [0, *range(n)], "2"), (lambda n: [1, 0, *range(2, n)], "2")],
    ids=["twice", "swapped"],
)
def test_a_number_of_an_official_release_stands_once_in_its_place(rows, place, tmp_path):
    official = Path(shutil.copytree(STORED / "format-2" / "official", tmp_path / "official"))
    file = official / STATE.removeprefix("release/")
    table = pq.read_table(file, partitioning=None)
    pq.write_table(table.take(rows(len(table))), file, store_schema=False)
    with_true_checksums(official)
    assert any(f"a number appears twice or out of order: row {place}" in one for one in found_in(official))


def test_official_releases_are_signed_and_checked(key, tmp_path):
    official = Path(shutil.copytree(STORED / "format-2" / "official", tmp_path / "official"))
    safetab.sign(official, key, not_for_release=True)
    assert safetab.verify(official, public(key)).signature.covers_output is False
    column(STATE.removeprefix("release/"), "margin_of_error", first(lambda n: n - 1))(official)
    with_true_checksums(official)
    found = "\n".join(found_in(official, public(key)))
    assert f"margin_of_error {BY_PLAN}" in found
    assert "SHA256SUMS: is not the file that was signed." in found


def test_a_key_is_made_once_and_only_its_owner_may_read_it(key, tmp_path):
    assert key.stat().st_mode & 0o777 == 0o600
    before = key.read_bytes()
    assert "already exists" in safetab_says("sign", "--new-key", key, code=1)
    assert key.read_bytes() == before
    open_to_all = Path(shutil.copy(key, tmp_path / "open"))
    open_to_all.chmod(0o640)
    assert "others may read this key. Run chmod 600 open" in safetab_says("sign", PERSONS, "--key", open_to_all, code=1)
    no_key = tmp_path / "no_key"
    no_key.write_text("no key")
    no_key.chmod(0o600)
    assert "is not an Ed25519 private key" in safetab_says("sign", PERSONS, "--key", no_key, code=1)
    assert "is not an Ed25519 public key" in safetab_says("verify", PERSONS, "--key", no_key, code=1)
    secret = safetab_says("verify", PERSONS, "--key", key, code=1)
    assert "is a private key. Readers verify with its .pub file; keep this one secret." in secret
    shared = safetab_says("sign", PERSONS, "--key", public(key), code=1)
    assert ("is a public key. Sign with the private one" in shared, "chmod" in shared) == (True, False)
    assert "does not exist" in safetab_says("verify", PERSONS, "--key", tmp_path / "none", code=1)
    for wrong in (["sign"], ["sign", str(PERSONS)], ["sign", str(PERSONS), "--new-key", "k"], ["sign", "--key", "k"]):
        assert cli(*wrong).exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("file", [STATE, COUNTY])
def test_no_value_of_any_column_can_be_changed_unseen(file, tmp_path):
    table = pq.read_table(PERSONS / file, partitioning=None)
    for name in table.column_names:
        out = Path(shutil.copytree(PERSONS, tmp_path / name))
        kind = table.schema.field(name).type

        def other(value: Any, kind: pa.DataType = kind) -> Any:
            return "other" if kind == pa.string() else (value or 0) + 1

        column(file, name, first(other))(out)
        with_true_checksums(out)
        assert any(file in one for one in found_in(out)), name
        if name != "stage_1_total":  # another total may choose the same table
            assert any(file.removeprefix("release/") in one for one in found_in(out / "release")), name
