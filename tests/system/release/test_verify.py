"""`safetab verify` finds what was changed in a release, even if every checksum was computed again; signatures say whose it is."""

import errno
import json
import os
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import cli, done, refused, refusing
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
from tests.releases import json_of
from tests.stored_formats import GEOGRAPHY, KEY, LATEST, STORED, each
from tests.stored_formats import PERSONS as CENSUS
from tests.worlds.people import write_random_world

PERSONS = LATEST / "persons"
SIGNATURE = ("SIGNATURE.json", "SIGNATURE.sig")


def found_in(path, key=None):
    return [f"{one.where}: {one.message}" for one in safetab.verify(path, key).findings]


def told(path, key=None):
    return "\n".join(found_in(path, key))


def with_true_checksums(out):
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


def damage_all(damages, out):
    """Change a release in all these ways, and make its checksums right."""
    for damage, _ in damages:
        damage(out)
    with_true_checksums(out)


def unsaid(damages, text):
    return [words for _, words in damages if words not in text]


def copied(folder, to):
    return Path(shutil.copytree(folder, to / "out"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A whole output of synthetic people with copies between areas, and a release of its published files: two levels each."""
    folder = tmp_path_factory.mktemp("made")
    world, out = CENSUS.copy(folder), folder / "out"
    budgets = {key for key in world.config() if key.startswith("privacy_budget_p_level")}
    measured = {"privacy_budget_p_level_2_state", "privacy_budget_p_level_1_county"}
    world.configure(**dict.fromkeys(budgets - measured, 0), run_pr=False)
    world.run(out, test_key=KEY, coterminous=True)
    done("export", out, folder / "tables", "--form", "census")
    given = (*sorted(folder.glob("tables/T0*.csv")), folder / "official", "--parameters", world.parameters)
    done("official", *given, "--geography", GEOGRAPHY)
    return folder


@pytest.fixture
def out(made, tmp_path):
    return copied(made / "out", tmp_path)


@pytest.fixture
def official(made, tmp_path):
    return copied(made / "official", tmp_path)


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "agency"
    done("sign", "--new-key", file)
    return file


def sign(out, key, **how):
    return safetab.sign(out, key, not_for_release=True, **how)


def signed_copy(name):
    @pytest.fixture(scope="module")
    def signed(made, key, tmp_path_factory):
        out = copied(made / name, tmp_path_factory.mktemp("signed"))
        sign(out, key)
        return out

    return signed


signed, signed_official = signed_copy("out"), signed_copy("official")


def public(key):
    return key.with_name(f"{key.name}.pub")


NUMBERS = "release/numbers/geography_level={}/{}-sex-by-age.parquet"
STATE, COUNTY = NUMBERS.format("STATE", "detailed"), NUMBERS.format("COUNTY", "regional")


def rewritten(file, change, **how):
    """Write a Parquet file again with a changed table."""

    def damage(out):
        table = change(pq.read_table(out / file, partitioning=None))
        pq.write_table(table, out / file, **{"store_schema": False} | how)

    return damage


def column(file, name, change):
    def changed(table):
        values = pa.array(change(table[name].to_pylist()), table.schema.field(name).type)
        return table.set_column(table.column_names.index(name), name, values)

    return rewritten(file, changed)


def at(row, change):
    return lambda values: [*values[:row], change(values[row]), *values[row + 1 :]]


def first(change):
    return at(0, change)


def rows_taken(file, rows):
    return rewritten(file, lambda table: table.take(rows(len(table))))


def rows_swapped(file):
    return rows_taken(file, lambda rows: [1, 0, *range(2, rows)])


def group_left_out(file):
    def changed(table):
        groups = list(zip(table["iteration_code"].to_pylist(), table["region_id"].to_pylist(), strict=True))
        return table.take([row for row, group in enumerate(groups) if group != groups[0]])

    return rewritten(file, changed)


def with_a_cell_raised(table):
    """Raise one cell and every sum that it is in, and their intervals: the release alone is consistent then."""
    rows = table.to_pylist()
    cell = next(row for row in rows if row["noise_draws"] == 1 and row["table"] != "total")
    for row in rows:
        is_of_group = all(row[name] == cell[name] for name in ("region_id", "iteration_code"))
        has_ages = row["age_start"] <= cell["age_start"] and cell["age_end"] <= row["age_end"]
        if is_of_group and has_ages and row["sex"] in {"both", cell["sex"]}:
            raised, margin = row["unclamped_count"] + 5, row["unclamped_margin_of_error"]
            row |= {"count": row["count"] + 5, "unclamped_count": raised}
            row |= {"interval_low": max(raised - margin, 0), "interval_high": max(raised + margin, 0)}
    return pa.Table.from_pylist(rows, table.schema)


def edited(name, change):
    def damage(out):
        document = json_of(out / name)
        change(document)
        (out / name).write_text(json.dumps(document))

    return damage


def put(assignments, document):
    for assignment in assignments.split("; "):
        path, _, value = assignment.partition("=")
        *inside, last = (int(key) if key.isdigit() else key for key in path.split("."))
        place = document
        for key in inside:
            place = place[key]
        if value:
            place[last] = json.loads(value)
        else:
            del place[last]


def changed(name, assignments):
    return edited(name, partial(put, assignments))


def replaced(name, old, new):
    def damage(out):
        text = (out / name).read_text()
        assert old in text
        (out / name).write_text(text.replace(old, new))

    return damage


def removed(name):
    return lambda out: (out / name).unlink()


def t2_count_raised(out):
    lines = (out / "t2" / "us.csv").read_text().splitlines(keepends=True)
    *fields, count = lines[3].rstrip("\n").split("|")
    lines[3] = "|".join([*fields, f"{int(count) + 7}\n"])
    (out / "t2" / "us.csv").write_text("".join(lines))


def mention_removed(out):
    (out / NUMBERS.format("USA", "detailed")).unlink()
    name = NUMBERS.format("USA", "detailed").removeprefix("release/")
    edited(PACKAGE, lambda one: one["resources"][0]["path"].remove(name))(out)


def with_column_more(name):
    return rewritten(name, lambda table: table.append_column("population", pa.array(range(len(table)))))


def with_metadata(name):
    return rewritten(name, lambda table: table.replace_schema_metadata({"records": "1,2,3"}), store_schema=True)


def with_hidden_bytes(name):
    """Hide records between the last page of a Parquet file and its footer."""

    def damage(out):
        content = (out / name).read_bytes()
        footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        (out / name).write_bytes(content[:footer] + b"44,007,000100,1001,34,1120\n" + content[footer:])

    return damage


def written(name):
    def damage(out):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("x")

    return damage


def rows_of(table):
    """Lines of `FILE CHANGE -> WORDS` in three parts."""
    for line in table.strip().splitlines():
        asked, words = line.split(" -> ")
        yield (*asked.split(" ", 1), words)


def edits(table):
    """Changes of JSON documents, `FILE KEY.KEY=VALUE; KEY=VALUE -> WORDS`; without a value the key is removed."""
    return [(changed(name, change), words) for name, change, words in rows_of(table)]


def replacements(table):
    """Changes of texts, `FILE OLD => NEW -> WORDS`."""
    return [(replaced(name, *change.split(" => ")), words) for name, change, words in rows_of(table)]


def files(table):
    """Changes of whole files, `FILE KIND -> WORDS`."""
    kinds = {
        "removed": removed,
        "strange": written,
        "rows swapped": rows_swapped,
        "a group less": group_left_out,
        "a column more": with_column_more,
        "metadata": with_metadata,
        "hidden bytes": with_hidden_bytes,
    }
    return [(kinds[kind](name), words) for name, kind, words in rows_of(table)]


def first_numbers(table):
    """Changes of the first value of a column of a level's numbers, `LEVEL/KIND COLUMN=VALUE -> WORDS`."""
    damages = []
    for place, change, words in rows_of(table):
        name, value = change.split("=")
        damage = column(NUMBERS.format(*place.split("/")), name, first(partial(changed_number, value)))
        damages.append((damage, f"{place}-sex-by-age.parquet: {words}"))
    return damages


def changed_number(value, before):
    return before + int(value) if value in {"+1", "-1"} else json.loads(value)


PACKAGE, PRIVACY = "release/datapackage.json", "release/privacy.json"
STATUS = "does not say what datapackage.json says of the status."
BY_PLAN = "is not what the plan and the group's numbers give: row 1."
UNIVERSE = "release/universe/"
LEVELS = f"{UNIVERSE}levels.parquet"
# nothing selected the number whose interval_low is changed
FOUND_IN_NUMBERS = [
    *first_numbers(f"""
STATE/detailed count=+1 -> count {BY_PLAN}
PR-STATE/regional unclamped_count=+1 -> a sum is not that of its cells: row 1.
STATE/detailed margin_of_error=-1 -> margin_of_error {BY_PLAN}
STATE/detailed unclamped_margin_of_error=-1 -> unclamped_margin_of_error {BY_PLAN}
COUNTY/regional interval_high=+1 -> interval_high {BY_PLAN}
STATE/detailed interval_low=+1 -> interval_low {BY_PLAN}
PR-COUNTY/detailed interval_low=null -> interval_low must be null exactly for withheld numbers: row 1.
STATE/detailed variance=+1 -> variance {BY_PLAN}
PR-STATE/detailed variance=NaN -> variance {BY_PLAN}
STATE/detailed noise_parameter="1" -> noise_parameter {BY_PLAN}
STATE/detailed region_name="Elsewhere" -> region_name {BY_PLAN}
STATE/detailed stub="All" -> stub {BY_PLAN}
COUNTY/regional stage_1_total=1000000 -> the table is not the one that stage_1_total chooses: row 1.
COUNTY/detailed unclamped_count=-500 -> a total is not above the suppression threshold: row 1.
"""),
    *files("""
release/numbers/geography_level=PR-COUNTY/regional-sex-by-age.parquet rows swapped -> lines are not in their order: row 1
release/numbers/geography_level=USA/regional-sex-by-age.parquet removed -> USA/regional-sex-by-age.parquet: is missing.
"""),
    (
        group_left_out(NUMBERS.format("STATE", "regional")),
        "STATE/regional-sex-by-age.parquet: lacks groups, and nothing is suppressed at its level.",
    ),
    (mention_removed, "USA/detailed-sex-by-age.parquet: is missing."),
]
CONTRADICTED = "has rows that contradict each other, or are out of order."
FOUND_IN_THE_UNIVERSE = [
    (column(LEVELS, "pass", lambda values: [values[-1], *values[1:]]), f"universe/levels.parquet: {CONTRADICTED}"),
    (
        column(f"{UNIVERSE}codes.parquet", "code", lambda values: [values[1], *values[1:]]),
        f"universe/codes.parquet: {CONTRADICTED}",
    ),
    (
        column(f"{UNIVERSE}entities.parquet", "region_id", lambda values: [*values[:-1], values[-2]]),
        "universe/entities.parquet: lists an area twice or out of order.",
    ),
]
FOUND_IN_THE_LEVELS = [
    (
        column(LEVELS, "noise_mechanism", lambda values: [None] * len(values)),
        f"universe/levels.parquet: {CONTRADICTED}",
    ),
    (column(LEVELS, "suppression_threshold", lambda values: [n and n - 1 for n in values]), "privacy.json: levels"),
]
FOUND_IN_DOCUMENTS = [
    *files(f"{UNIVERSE}coterminous.parquet removed -> universe/coterminous.parquet: is missing."),
    (
        lambda out: shutil.copyfile(out / STATE, out / "release" / "numbers" / "more.parquet"),
        "numbers/more.parquet: is in no list of the release.",
    ),
    *edits(f"""
{PRIVACY} loss.whole_run.unbounded_rho="0.1" -> privacy.json: loss is not what follows from universe/levels.parquet.
{PRIVACY} levels.0.stages.stage_1.cost_rho.fraction="1/99" -> privacy.json: levels is not what follows from universe/levels.parquet.
{PRIVACY} status="for release" -> privacy.json: {STATUS}
{PRIVACY} for_release=true -> privacy.json: {STATUS}
{PACKAGE} safetab.status_sentence="May be released." -> datapackage.json: {STATUS}
"""),
    *replacements(f"""
release/README.txt Status: test key. Not for release => Status: for release. Free -> README.txt: {STATUS}
report.html Status: test key. Not for release => Status: test key. Fine for release -> report.html: {STATUS}
"""),
]
FOUND_WITH_THE_WHOLE_OUTPUT = [
    (t2_count_raised, "t2/us.csv: COUNT is not the sum of the group's noisy numbers: row 3."),
    *files(f"{COUNTY} a group less -> {COUNTY}: lacks rows that the measurements give."),
    (
        column("measurements/pr.parquet", "value", lambda values: [*values[:-1], values[-1] + 1]),
        "pr.csv: COUNT is not the sum of the group's noisy numbers",
    ),
    (rewritten(STATE, with_a_cell_raised), f"{STATE}: count is not what the measurements give: row "),
    (
        lambda out: (out / "after-steps/t1/us.csv").write_bytes(b"\xff\xfe"),
        "after-steps: can't be read (UnicodeDecodeError).",
    ),
    *replacements(
        "after-steps/t1/pr.csv |PR-STATE| => |PR-TOWN| -> after-steps/t1/pr.csv: REGION_TYPE is not that of the release"
    ),
]


def facts_changed(assignments):
    return edited(PACKAGE, lambda one: put(assignments, one["safetab"]))


def downgraded(more=""):
    """Take away whatever the oldest releases don't have, and say that the rest may be released."""

    def damage(out):
        facts_changed(f"status; status_sentence; checksums; for_release=true{more}")(out)
        (out / PRIVACY).unlink()
        (out / "release" / "SHA256SUMS").unlink()

    return damage


def without_measurements(out):
    t2_count_raised(out)
    shutil.rmtree(out / "measurements")


def with_csv(more=""):
    def damage(out):
        facts_changed(f"csv=true{more}")(out)
        written("release/csv/people.csv")(out)

    return damage


def downgraded_with_the_mark_alone(out):
    downgraded("; format")(out)
    (out / "release" / "README.txt").unlink()
    written("release/NOT-FOR-RELEASE")(out)


OTHER_WORDS = "is not in the words of the version that it names."
OF_FACTS = "is not what its facts, or those of the census, give."
STRAY = "is not among the files that may leave."
FOUND_BESIDE_THE_RELEASE = [
    *files(f"""
NOT-FOR-RELEASE removed -> NOT-FOR-RELEASE: is missing.
records.csv strange -> records.csv: {STRAY}
"""),
    *edits("""
manifest.json loss.us.bounded_rho="1" -> manifest.json: loss is not what follows
manifest.json charged=[] -> manifest.json: charged is not what
manifest.json release.rules=["all"] -> manifest.json: release is not what
manifest.json test_key=false -> manifest.json: test_key is not what
"""),
    *replacements(f"log.txt Status: test key. => Status: for release. -> log.txt: {STATUS}"),
]
DOWNGRADES = [
    (
        downgraded(),
        ("datapackage.json: status is missing.", "privacy.json: is missing.", "its SHA256SUMS is missing."),
    ),
    (downgraded("; format"), (f"README.txt: {STATUS}",)),
    (downgraded_with_the_mark_alone, ("README.txt: is missing.", f"NOT-FOR-RELEASE: {STRAY}")),
]
UNSEEN = "has bytes that no reader of its tables sees."
NO_FORM = "csv: was not checked: its form is not csv_format 2."
HIDDEN_FROM_CHECKSUMS = [
    *files(f"""
release/.records.csv strange -> .records.csv: {STRAY}
release/.git/records strange -> .git: {STRAY}
release/people.csv strange -> people.csv: {STRAY}
{UNIVERSE}entities.parquet a column more -> universe/entities.parquet: has other columns
{LEVELS} a column more -> universe/levels.parquet: has other columns
{STATE} a column more -> {STATE.removeprefix("release/")}: has other columns
{COUNTY} metadata -> {COUNTY.removeprefix("release/")}: has other columns, or other metadata
{UNIVERSE}codes.parquet metadata -> codes.parquet: has other columns, or other metadata
{COUNTY} hidden bytes -> {COUNTY.removeprefix("release/")}: {UNSEEN}
{LEVELS} hidden bytes -> universe/levels.parquet: {UNSEEN}
"""),
    (with_csv(), NO_FORM),
    *edits(f"""
{PRIVACY} loss={{}} -> privacy.json: loss is not what follows
{PRIVACY} mechanism="none" -> privacy.json: mechanism is not what follows
{PRIVACY} unit_of_privacy="one answer" -> privacy.json: unit_of_privacy is not what
{PRIVACY} delta="1" -> privacy.json: delta is not what follows
"""),
]
LEFT_OUT_OF_CLAIMS = [
    (with_csv("; csv_format=3"), NO_FORM),
    *edits(f"""
{PRIVACY} loss -> privacy.json: loss is missing.
{PRIVACY} levels -> privacy.json: levels is missing.
{PRIVACY} privacy_definition -> privacy.json: privacy_definition is missing.
{PRIVACY} mechanism -> privacy.json: mechanism is missing.
{PRIVACY} unit_of_privacy -> privacy.json: unit_of_privacy is missing.
{PRIVACY} delta -> privacy.json: delta is missing.
{PRIVACY} composition -> privacy.json: composition is missing.
"""),
]


def no_longer_listed(out):
    """Take what is no longer there out of the manifest."""
    listed = lambda one: {name: of for name, of in one["outputs"].items() if (out / name).is_file()}  # noqa: E731
    edited("manifest.json", lambda one: one.update(outputs=listed(one)))(out)


HIDDEN_FROM_THE_MANIFEST = [
    *files(f"""
measurements/us.parquet hidden bytes -> measurements/us.parquet: {UNSEEN}
t1/us.csv removed -> t1/us.csv: is missing.
measurements/pr.parquet metadata -> measurements/pr.parquet: has other metadata
"""),
    (no_longer_listed, ""),
]
WITHOUT_MEASUREMENTS = [
    (without_measurements, "measurements/us.parquet: is missing."),
    (no_longer_listed, ""),
]
LEFT_OUT_OF_THE_MANIFEST = edits("""
manifest.json loss -> manifest.json: loss is missing.
manifest.json charged -> manifest.json: charged is missing.
manifest.json configuration -> manifest.json: configuration is missing.
""")
VERSION_AND_DATE = "does not say what datapackage.json says of version and date."
SAID_TWICE = edits(f"""
{PRIVACY} not_covered=[] -> {PRIVACY}: not_covered {OTHER_WORDS}
{PRIVACY} format=0 -> {PRIVACY}: format is not that of datapackage
manifest.json format=0 -> manifest.json: format is not that of
manifest.json date="2020-01-01" -> manifest.json: {VERSION_AND_DATE}
manifest.json version="0.2" -> manifest.json: {VERSION_AND_DATE}
{PRIVACY} date="2020-01-01" -> {PRIVACY}: does not say what manifest.json says
{PACKAGE} created="2020-01-01T00:00:00Z" -> {PACKAGE}: created {OF_FACTS}
{PACKAGE} version="7" -> {PACKAGE}: version {OF_FACTS}
{PACKAGE} title="Exact counts" -> {PACKAGE}: title {OF_FACTS}
{PACKAGE} contributors=[{{"title": "A forger"}}] -> {PACKAGE}: contributors {OF_FACTS}
{PACKAGE} licenses=[{{"name": "All rights"}}] -> {PACKAGE}: licenses {OF_FACTS}
""") + replacements(f"""
release/README.txt made on 2026 => made on 1926 -> README.txt: {VERSION_AND_DATE}
log.txt safetab 0. => safetab 9. -> log.txt: {VERSION_AND_DATE}
report.html <footer> => <script src=//x.example></script><footer> -> report.html: is a page that may run
""")
# those that are made in one copy say nothing of the same place
OF_A_RELEASE = [
    FOUND_IN_NUMBERS + LEFT_OUT_OF_CLAIMS,
    FOUND_IN_THE_UNIVERSE,
    FOUND_IN_THE_LEVELS,
    FOUND_IN_DOCUMENTS,
    HIDDEN_FROM_CHECKSUMS,
]
OF_AN_OUTPUT = [
    SAID_TWICE + HIDDEN_FROM_THE_MANIFEST,
    FOUND_BESIDE_THE_RELEASE + FOUND_WITH_THE_WHOLE_OUTPUT,
    LEFT_OUT_OF_THE_MANIFEST + WITHOUT_MEASUREMENTS,
]


@pytest.mark.parametrize("damages", OF_A_RELEASE)
def test_a_release_alone_shows_everything_that_was_changed_in_it(damages, tmp_path):
    out = copied(PERSONS, tmp_path)
    damage_all(damages, out)
    assert unsaid(damages, told(out / "release")) == []


@pytest.mark.parametrize("damages", OF_AN_OUTPUT)
def test_a_whole_output_shows_more(damages, tmp_path):
    out = copied(PERSONS, tmp_path)
    damage_all(damages, out)
    assert unsaid(damages, told(out)) == []


OF_A_SPECIFICATION = replacements(f"""
manifest.json What is protected is one => What is protected is each -> manifest.json: protected {OTHER_WORDS}
{PRIVACY} budgets of the levels => the least budgets -> {PRIVACY}: composition {OTHER_WORDS}
{PACKAGE} margin of error => largest error -> {PACKAGE}: description {OF_FACTS}
{PACKAGE} A group that is absent => A group that is here -> {PACKAGE}: description {OF_FACTS}
release/README.txt HEALTH => WEALTH -> README.txt: does not say what the release says of its publisher and title
report.html CC BY => CC NO -> report.html: does not say what the release says of its publisher and title
report.html Content-Security-Policy => Content -> report.html: is a page that may run scripts.
""") + edits(f'{PRIVACY} date="2999-01-01" -> {PRIVACY}: has a later date than the release.')


def status_changed_everywhere(out):
    (out / "NOT-FOR-RELEASE").unlink()
    new = 'status="for release"; status_sentence="This output may be released."; for_release=true'
    facts_changed(new)(out)
    changed(PRIVACY, new)(out)
    changed("manifest.json", f"{new}; test_key=false; documents.NOT-FOR-RELEASE")(out)
    for name in ("release/README.txt", "report.html", "log.txt"):
        text = re.sub("Not for release:?", "Free:", (out / name).read_text())
        (out / name).write_text(text.replace("Status: test key.", "Status: for release."))


def version_and_day_changed_everywhere(out):
    manifest = json_of(out / "manifest.json")
    for name in (PACKAGE, PRIVACY, "manifest.json", "release/README.txt", "report.html", "log.txt"):
        changed = (out / name).read_text().replace(manifest["date"], "2026-11-16")
        (out / name).write_text(changed.replace(manifest["version"], "0.2.0"))


def with_more_in_a_dictionary(table):
    """The table with a text in the dictionary of a column that no row has."""
    names = table["stub"].combine_chunks().dictionary_encode()
    more = pa.DictionaryArray.from_arrays(names.indices, pa.concat_arrays([names.dictionary, pa.array(["44,1120"])]))
    at = table.column_names.index("stub")
    return table.set_column(at, table.schema.field(at).with_type(more.type), more)


WORDS_OF_DOCUMENTS = "the words of `privacy.json` and the descriptions in `datapackage.json`, if"
TEXTS = "the texts of README.txt, the log and the report beyond"
UNSEEN_IN_A_RELEASE = [
    (group_left_out(COUNTY), "a group that was taken out of a level with suppression"),
    (rewritten(STATE, with_a_cell_raised), "cells that were changed together with all their sums"),
    *edits(f'{PRIVACY} date="2020-01-01" -> an earlier day or another version in `privacy.json`'),
]
UNSEEN_IN_AN_OUTPUT = [
    (status_changed_everywhere, "the status, if it was changed in every document and its mark was removed"),
    (
        version_and_day_changed_everywhere,
        "day, version, title, publisher and licence, if they were changed in every document",
    ),
    (
        rewritten(STATE, with_more_in_a_dictionary, compression="none"),
        "texts in the dictionary of a Parquet column that no row has",
    ),
    *edits(f"""
{PRIVACY} not_covered="nothing" -> {WORDS_OF_DOCUMENTS}
{PACKAGE} remark="exact" -> entries that were added to a document
manifest.json configuration.x=1 -> in `manifest.json`, the configuration and the hashes of the public files
"""),
    *replacements(f"""
{PACKAGE} margin of error => largest error -> {WORDS_OF_DOCUMENTS}
release/README.txt WHAT THIS IS => WHAT IT IS -> {TEXTS}
log.txt validation => Validation -> {TEXTS}
report.html <footer> => <footer>Exact. -> {TEXTS}
"""),
]


@pytest.mark.parametrize("is_whole", [False, True])
def test_what_only_a_signature_finds_is_listed(is_whole, signed, key, tmp_path):
    out, damages = copied(signed, tmp_path), UNSEEN_IN_AN_OUTPUT if is_whole else UNSEEN_IN_A_RELEASE
    looked_at = out if is_whole else out / "release"
    damage_all(damages, out)
    assert (b"44,1120" in (out / STATE).read_bytes()) is is_whole
    found = told(looked_at, public(key))
    for name in ("SHA256SUMS", "manifest.json") if is_whole else ("SHA256SUMS",):
        assert f"{name}: is not the file that was signed." in found
    for part in SIGNATURE:
        (out / "release" / part).unlink()
    assert found_in(looked_at) == []
    page = " ".join(Path("docs/how-to/sign-and-verify.md").read_text().split())
    assert unsaid(damages, page.partition("Only a signature finds:")[2]) == []


@pytest.mark.parametrize(("damage", "sentences"), DOWNGRADES)
def test_a_release_can_not_be_taken_for_an_older_one_that_may_be_released(damage, sentences, out):
    damage(out)
    found = told(out / "release")
    assert [words for words in sentences if words not in found] == []


def test_a_data_package_lists_no_file_outside_the_release(tmp_path):
    official = copied(LATEST / "official", tmp_path)
    paths = ["../manifest.json", "/etc/passwd", "universe/../../manifest.json"]
    edited("datapackage.json", lambda one: one["resources"][-1].update(path=[one["resources"][-1]["path"], *paths]))(
        official
    )
    with_true_checksums(official)
    assert found_in(official) == [f"datapackage.json: lists a file outside the release, {path}." for path in paths]


@each("persons", "households")
def test_nothing_is_wrong_with_a_stored_release_alone(path):
    assert found_in(path / "release") == []


@each("persons", by_day="none: what was just made is, below")
def test_nothing_is_wrong_with_a_re_release_of_any_format(path, tmp_path):
    safetab.rerelease(path, tmp_path / "new")
    assert found_in(tmp_path / "new") == found_in(tmp_path / "new" / "release") == []


def test_all_findings_come_at_once_with_exit_code_1(out):
    column(STATE, "margin_of_error", first(lambda n: n - 1))(out)
    t2_count_raised(out)
    removed("NOT-FOR-RELEASE")(out)
    ended = cli("verify", out, "--json")
    told, said = json.loads(ended.stdout), " ".join(ended.stderr.split())
    assert "changed after the release was made: numbers/geography_level=STATE/detailed-sex-by-age.parquet" in said
    for words in ("margin_of_error is not what", "t2/us.csv: COUNT is not", "NOT-FOR-RELEASE: is missing"):
        assert words in said
    assert (ended.exit_code, told["format"], told["exit_code"]) == (1, 1, 1)
    assert {"t2/us.csv", "NOT-FOR-RELEASE"} <= {one["where"] for one in told["findings"]}


def test_checksums_that_are_missing_or_list_fewer_or_more_files_are_told(official):
    sums = official / "SHA256SUMS"
    lines = sums.read_text().splitlines(keepends=True)
    sums.write_text("".join(lines[1:]))
    unlisted = lines[0].split()[1]
    assert f"files that SHA256SUMS doesn't list: {unlisted}" in told(official)
    sums.write_text("".join([*lines, f"{'0' * 64}  zebra.txt\n"]))
    assert "files that were released are missing: zebra.txt" in told(official)
    sums.unlink()
    assert "its SHA256SUMS is missing. Get the release again." in told(official)


def test_an_unreadable_file_is_a_finding_and_no_traceback(out):
    for name in ("manifest.json", "measurements/us.parquet", STATE):
        (out / name).write_text("{")
    said = refused("verify", out)
    assert "manifest.json: can't be read (JSONDecodeError)" in said
    assert "measurements/us.parquet: can't be read (ArrowInvalid)" in said
    assert "the tables of the us pass: can't be read (ArrowInvalid)" in said
    (out / PRIVACY).write_text("{")
    said = refused("verify", out / "release")
    assert "is a release that is damaged" in said
    changed = ("numbers/geography_level=STATE/detailed-sex-by-age.parquet", "privacy.json")
    assert f"changed after the release was made: {', '.join(changed)}" in said


@pytest.mark.parametrize("name", ["manifest.json", "measurements/us.parquet", "release/universe/codes.parquet"])
def test_a_link_or_a_pipe_is_named_and_never_read(name, out):
    for make in (os.mkfifo, partial(os.symlink, "/dev/zero")):
        removed(name)(out)
        make(out / name)
        assert found_in(out) == [f"{name}: is a link, or not a regular file."]


def test_what_is_no_text_or_no_document_hides_no_other_finding(out):
    texts = ("log.txt", "report.html", "release/README.txt")
    for name in texts:
        (out / name).write_bytes(b"\xff\xfe\x00")
    (out / "manifest.json").write_text("[" * 100_000)
    removed("NOT-FOR-RELEASE")(out)
    told = {*(f"{name}: {STATUS}" for name in texts), "manifest.json: can't be read (RecursionError)."}
    assert told | {"NOT-FOR-RELEASE: is missing."} <= {*found_in(out)}


def test_a_missing_file_is_said_to_be_missing_and_not_that_it_cannot_be_read(out):
    names = (STATE, PRIVACY, "measurements/us.parquet", "t1/us.csv")
    for name in names:
        removed(name)(out)
    found = found_in(out)
    for name in names:
        assert any(Path(name).name in one and "missing" in one for one in found), name
    assert [one for one in found if "can't be read" in one] == []


@pytest.mark.slow
@pytest.mark.parametrize("rules", [["clamp-negatives"], ["withhold-alone-above-partner", "withhold-negatives"]])
def test_a_rerelease_with_rules_is_right_and_a_number_shown_against_them_is_found(rules, releases, tmp_path):
    _, out = releases.people(2, people=60, budget=1, zero_suppression_chance=0, allow_negative_counts=True)
    new = tmp_path / "new"
    safetab.rerelease(out, new, csv=True, rules=rules)
    assert found_in(new) == found_in(new / "release") == []
    other = ["withhold-negatives"] if rules == ["clamp-negatives"] else ["clamp-negatives"]
    edited(PACKAGE, lambda one: one["safetab"].update(rules=other))(new)
    with_true_checksums(new)
    assert "is not what the measurements give" in told(new)


def test_a_csv_file_of_a_level_without_numbers_is_found(made, tmp_path):
    safetab.rerelease(made / "out", tmp_path / "new", csv=True)
    release = tmp_path / "new" / "release"
    assert found_in(tmp_path / "new") == found_in(release) == []
    universe = open_release_folder(release).universe
    more = next(name for name in csv_names(universe.entities, []) if not (release / "csv" / name).exists())
    (release / "csv" / more).write_text("people\n1\n")
    write_checksums(release)
    assert found_in(release) == [f"csv/{more}: does not have the rows of the Parquet files."]


@pytest.mark.slow
def test_clamped_numbers_pure_dp_and_csv_files_are_checked_too(tmp_path):
    settings = {"allow_negative_counts": False, "privacy_defn": "puredp", "zero_suppression_chance": 0.9}
    out = tmp_path / "out"
    write_random_world(tmp_path, 6, people=60, budget=1, **settings).run(out, csv=True)
    assert found_in(out) == found_in(out / "release") == []
    csv = next(out.glob("release/csv/numbers/*.csv"))
    csv.write_text(csv.read_text().replace(",1,", ",2,", 1))
    with_true_checksums(out)
    assert "does not have the rows of the Parquet files." in told(out / "release")


@pytest.mark.slow
def test_a_release_of_a_specification_is_checked_and_signed_with_its_own_words(key, tmp_path):
    out = tmp_path / "out"
    done("new", tmp_path / "new")
    done("synthesize", tmp_path / "new", "--people", "3000")
    safetab.run(tmp_path / "new", tmp_path / "new-data", out, csv=True)
    assert repr(safetab.verify(out)) == "<verified: synthetic, not signed>"
    assert sign(out, key).is_valid
    file = next(out.glob("release/numbers/**/*.parquet"))
    column(file.relative_to(out), "variance", first(lambda n: n + 1))(out)
    with_true_checksums(out)
    found = told(out, public(key))
    assert "variance is not what the plan" in found
    assert "SHA256SUMS: is not the file that was signed." in found


def test_what_the_documents_of_a_specification_say_twice_is_the_same(tmp_path):
    done("new", tmp_path / "new")
    specification = next((tmp_path / "new").glob("*.toml"))
    titled = specification.read_text().replace('"Groups by area"', '"Health-care in [DATE]"')
    agency = 'agency  = "example"'
    specification.write_text(titled.replace(agency, f'licence = "CC BY 4.0, for non-commercial use"\n{agency}'))
    done("synthesize", tmp_path / "new", "--people", 300)
    out = tmp_path / "out"
    safetab.run(tmp_path / "new", tmp_path / "new-data", out)
    assert found_in(out) == []
    damage_all(OF_A_SPECIFICATION, out)
    assert unsaid(OF_A_SPECIFICATION, told(out)) == []


def test_a_site_names_the_key_of_a_signed_release(made, signed_official, tmp_path):
    done("site", signed_official, tmp_path / "site")
    facts = (tmp_path / "site" / "data" / "facts.js").read_text()
    fingerprint = json_of(signed_official / "SIGNATURE.json")["fingerprint"]
    assert f'"fingerprint":"{fingerprint}"' in facts.replace(": ", ":")
    done("site", made / "official", tmp_path / "unsigned")
    assert "fingerprint" not in (tmp_path / "unsigned" / "data" / "facts.js").read_text()
    forged = copied(signed_official, tmp_path)
    (forged / "SIGNATURE.sig").write_bytes(b"x" * 64)
    assert "is not the signature of SIGNATURE.json" in refused("site", forged, tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_a_signature_tells_whose_a_release_is(official, signed, key):
    assert "Add --not-for-release" in refused("sign", official, "--key", key)
    assert not (official / "SIGNATURE.sig").exists()
    said = " ".join(done("sign", official, "--key", key, "--not-for-release").split())
    assert "Status: test key. Not for release" in said
    statement = json_of(official / "SIGNATURE.json")
    assert (statement["format"], statement["status"], statement["for_release"]) == (1, "test key", False)
    fingerprint = statement["fingerprint"]
    said = " ".join(done("verify", signed, "--key", public(key)).split())
    assert f"with the given key: {fingerprint}." in said
    assert re.search(r"Nothing is wrong\. All [\d,]+ numbers agree with the plan and with the measurements\.", said)
    assert "a key that was not checked" in done("verify", official)
    assert "is signed already" in refused("sign", official, "--key", key, "--not-for-release")
    again = sign(official, key, overwrite=True)
    assert again.signature.fingerprint == fingerprint


def left_by_a_killed_process(folder):
    folder.mkdir()
    (folder / ".safetab-lock").touch()


def names_in(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("has_exchange", [True, False])
def test_a_signature_appears_in_one_step_and_a_signing_that_was_killed_can_be_repeated(
    has_exchange, official, key, monkeypatch
):
    seen = []
    for name in SIGNATURE:
        left_by_a_killed_process(official / f".{name}.partial-abc")
    assert sum("signing again removes it" in one for one in found_in(official)) == 4

    def watched(one, other):
        seen.append((names_in(official), names_in(one)))
        if not has_exchange:
            raise CantBeDone
        exchange(one, other)

    exchange = output_folder_module.exchange
    monkeypatch.setattr(output_folder_module, "exchange", watched)
    before = {path.name: path.stat().st_mtime for path in official.iterdir() if not path.name.startswith(".")}
    sign(official, key)
    assert [new - old for old, new in seen] == [{*SIGNATURE}]
    assert not any(name.startswith(".") for name in names_in(official))
    assert names_in(official.parent) == {official.name}
    assert before.items() <= {path.name: path.stat().st_mtime for path in official.iterdir()}.items()
    (official / "SIGNATURE.sig").unlink()  # half of it, as where there is no such step
    sign(official, key)
    assert safetab.verify(official, public(key)).is_valid


def test_a_signer_in_the_release_stays_in_it(official, key, monkeypatch):
    monkeypatch.chdir(official)
    sign(".", key)
    assert (official / "SIGNATURE.sig").samefile("SIGNATURE.sig")


def test_a_key_whose_making_was_killed_is_completed(tmp_path):
    key = tmp_path / "agency"
    done("sign", "--new-key", key)
    before = key.read_bytes(), public(key).read_bytes()
    public(key).unlink()
    left_by_a_killed_process(tmp_path / ".agency.partial-abc")
    assert "agency.pub, which was missing" in done("sign", "--new-key", key)
    assert (key.read_bytes(), public(key).read_bytes()) == before
    assert names_in(tmp_path) == {"agency", "agency.pub"}
    key.write_text("no key")
    public(key).unlink()
    assert "already exists" in refused("sign", "--new-key", key)


@pytest.mark.parametrize("where", ["read_text", "rmdir", "mkdtemp"])
def test_a_disk_that_fails_makes_no_sound_release_wrong(where, made, tmp_path, monkeypatch):
    """`rmdir`: what was written again for the check can't be removed, which the next check does."""

    holder = locked_folder_module.tempfile if where == "mkdtemp" else Path
    monkeypatch.setattr(holder, where, refusing(errno.ESTALE))
    if where == "rmdir":
        monkeypatch.setattr(locked_folder_module.shutil, "rmtree", lambda *_, **__: None)
        monkeypatch.setattr(locked_folder_module.tempfile, "tempdir", str(tmp_path))
        said = done("verify", made / "official")
    else:
        said = refused("verify", made / "official", code=3)
    assert ("Stale file handle" in said) is (where != "rmdir")
    assert "problem" not in said


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_alone_checks_the_same_signature_and_makes_keys_that_sign(official, signed_official, key, tmp_path):
    def openssl(words):
        return subprocess.run(["openssl", *words.split()], check=True, capture_output=True).stdout

    stated, made = (signed_official / name for name in SIGNATURE)
    verified = openssl(f"pkeyutl -verify -pubin -inkey {public(key)} -rawin -in {stated} -sigfile {made}")
    assert verified == b"Signature Verified Successfully\n"
    digest = openssl(f"dgst -sha256 -r {signed_official}/SHA256SUMS").decode().split()[0]
    assert json_of(stated)["sha256"]["SHA256SUMS"] == digest
    own = tmp_path / "own"
    openssl(f"genpkey -algorithm ed25519 -out {own}")
    own.chmod(0o600)
    openssl(f"pkey -in {own} -pubout -out {public(own)}")
    assert sign(official, own).is_valid
    assert safetab.verify(official, public(own)).is_valid


FORGED = [
    (lambda out: (out / "SIGNATURE.sig").write_bytes(b"x" * 64), "SIGNATURE.sig: is not the signature"),
    *files("SIGNATURE.sig removed -> SIGNATURE.sig: is missing, but the other file of the signature exists."),
    (lambda out: [(out / name).unlink() for name in SIGNATURE], ": is not signed, and a key was given."),
    *edits("""
SIGNATURE.json status; for_release; status_sentence -> SIGNATURE.json: is not the statement of a signature.
SIGNATURE.json status="for release"; for_release=true -> SIGNATURE.json: says "for release", and the release says "test key".
SIGNATURE.json signed_on="2001-01-01" -> SIGNATURE.sig: is not the signature of SIGNATURE.json: one of them was changed or forged.
SIGNATURE.json status="for release" -> SIGNATURE.json: contradicts itself: its status and for_release disagree.
SIGNATURE.json format=7 -> SIGNATURE.json: has format 7; this version reads 1.
"""),
]


@pytest.mark.parametrize(("damage", "words"), FORGED)
def test_whatever_is_wrong_with_a_signature_is_said(damage, words, signed_official, key, tmp_path):
    out = copied(signed_official, tmp_path)
    damage(out)
    assert words in told(out, public(key))


def test_a_signature_of_another_key_and_a_changed_file_are_told(signed_official, tmp_path):
    done("sign", "--new-key", tmp_path / "other")
    out = copied(signed_official, tmp_path)
    replaced("README.txt", "WHAT THIS IS", "WHAT IT IS")(out)
    with_true_checksums(out)
    found = told(out, tmp_path / "other.pub")
    assert "SIGNATURE.sig: was made with another key, sha256:" in found
    assert "SHA256SUMS: is not the file that was signed." in found


@pytest.mark.slow
def test_what_is_signed_is_still_opened_exported_and_released_again(made, out, key, tmp_path):
    sign(out, key)
    assert safetab.open_release(out).output_status.value == "test key"
    done("export", out, tmp_path / "csv")
    assert not list(tmp_path.glob("csv/**/SIGNATURE*"))
    safetab.rerelease(out, tmp_path / "new", coterminous=True, geography=GEOGRAPHY)
    assert repr(safetab.verify(tmp_path / "new")) == "<verified: test key, not signed>"
    safetab.rerelease(made / "out", out, overwrite=True)  # a signed output may be replaced as any other
    assert repr(safetab.verify(out)) == "<verified: test key, not signed>"


@pytest.mark.slow
def test_a_release_without_a_status_is_not_signed(key, tmp_path):
    oldest = copied(STORED / "format-0-1e9a05d" / "persons", tmp_path)
    said = refused("sign", oldest, "--key", key, "--not-for-release")
    assert "has no status or no SHA256SUMS to sign" in said


def test_a_statement_has_a_plain_day_and_the_fingerprint_of_its_key(signed_official, key, tmp_path):
    out = copied(signed_official, tmp_path)
    statement, private = json_of(out / "SIGNATURE.json"), read_private_key(key)
    for changes in ({}, {"signed_on": "2026-11-18.\nNothing is wrong"}, {"fingerprint": "sha256:other"}):
        content = json.dumps(statement | changes).encode()
        (out / "SIGNATURE.json").write_bytes(content)
        (out / "SIGNATURE.sig").write_bytes(private.sign(content))
        expected = ["SIGNATURE.json: is not the statement of a signature."] if changes else []
        assert found_in(out, public(key)) == expected


def test_a_signature_is_two_files_and_no_links_or_folders(signed_official, tmp_path):
    out = copied(signed_official, tmp_path)
    (out / "SIGNATURE.json").rename(tmp_path / "elsewhere.json")
    (out / "SIGNATURE.json").symlink_to(tmp_path / "elsewhere.json")
    (out / "people.csv").write_text("x")
    found = found_in(out)
    assert "SIGNATURE.json: is a link, or not a regular file." in found
    assert f"people.csv: {STRAY}" in found
    for name in SIGNATURE:
        (out / name).unlink()
        (out / name).mkdir()
        assert f"{name}: is a link, or not a regular file." in found_in(out)


def test_a_signature_covers_the_output_only_where_the_output_was_checked(signed, key):
    whole = safetab.verify(signed, public(key))
    assert whole.signature.covers_output
    assert repr(whole) == f"<verified: test key, signed by {whole.signature.fingerprint[:19]}...>"
    alone = safetab.verify(signed / "release", public(key))
    assert alone.is_valid
    assert not alone.signature.covers_output
    assert "the release, with the given key" in str(alone.signature)


def test_an_official_release_has_its_own_files_and_with_others_it_is_not_signed(official, key):
    for name in ("people.csv", ".records.csv"):
        (official / name).write_text("x")
    (official / "NOT-FOR-RELEASE").unlink()
    write_checksums(official)
    strays = [f"{name}: {STRAY}" for name in (".records.csv", "people.csv")]
    assert found_in(official) == [*strays, "NOT-FOR-RELEASE: is missing."]
    said = refused("sign", official, "--key", key, "--not-for-release")
    assert all(stray in said for stray in strays)
    assert not (official / "SIGNATURE.json").exists()


def test_a_number_of_an_official_release_stands_once_in_its_place(official):
    rows_swapped(STATE.removeprefix("release/"))(official)
    rows_taken(COUNTY.removeprefix("release/"), lambda rows: [0, *range(rows)])(official)
    with_true_checksums(official)
    found = [one for one in found_in(official) if "a number appears twice or out of order: row 2" in one]
    assert {*re.findall(r"geography_level=(\w+)/", " ".join(found))} == {"COUNTY", "STATE"}


def test_official_releases_are_signed_and_checked(signed_official, key, tmp_path):
    assert safetab.verify(signed_official, public(key)).signature.covers_output is False
    out = copied(signed_official, tmp_path)
    column(STATE.removeprefix("release/"), "margin_of_error", first(lambda n: n - 1))(out)
    with_true_checksums(out)
    found = told(out, public(key))
    assert f"margin_of_error {BY_PLAN}" in found
    assert "SHA256SUMS: is not the file that was signed." in found


def test_a_key_is_made_once_and_only_its_owner_may_read_it(made, key, tmp_path):
    official = made / "official"
    assert key.stat().st_mode & 0o777 == 0o600
    before = key.read_bytes()
    assert "already exists" in refused("sign", "--new-key", key)
    assert key.read_bytes() == before
    open_to_all = Path(shutil.copy(key, tmp_path / "open"))
    open_to_all.chmod(0o640)
    assert "others may read this key. Run chmod 600 open" in refused("sign", official, "--key", open_to_all)
    no_key = tmp_path / "no_key"
    no_key.write_text("no key")
    no_key.chmod(0o600)
    assert "is not an Ed25519 private key" in refused("sign", official, "--key", no_key)
    assert "is not an Ed25519 public key" in refused("verify", official, "--key", no_key)
    secret = refused("verify", official, "--key", key)
    assert "is a private key. Readers verify with its .pub file; keep this one secret." in secret
    shared = refused("sign", official, "--key", public(key))
    assert ("is a public key. Sign with the private one" in shared, "chmod" in shared) == (True, False)
    assert "does not exist" in refused("verify", official, "--key", tmp_path / "none")
    for wrong in ("", official, f"{official} --new-key k", "--key k"):
        assert cli("sign", *f"{wrong}".split()).exit_code == 2


KEYS = "region_id iteration_code table table_id line unclamped_count status rule donor_geography_level donor_region_id"
"""A change of these is told of a group, a table or a sum; one of the other columns by its name."""


@pytest.mark.parametrize("file", [STATE, pytest.param(COUNTY, marks=pytest.mark.slow)])
def test_no_value_of_any_column_can_be_changed_unseen(file, out):
    schema = pq.read_schema(out / file)
    for row, field in enumerate(schema):
        column(file, field.name, at(row, another(field.type)))(out)
    with_true_checksums(out)
    found = found_in(out)
    for row, name in enumerate(schema.names, start=1):
        assert f"{file}: {name} is not what the measurements give: row {row}." in found


@pytest.mark.slow
@pytest.mark.parametrize("file", [STATE, COUNTY])
def test_no_value_of_any_column_can_be_changed_unseen_in_a_release_alone(file, tmp_path):
    kinds = {field.name: field.type for field in pq.read_schema(PERSONS / file)}
    del kinds["stage_1_total"]  # another total may choose the same table
    named = kinds.keys() - KEYS.split()
    for names in (named, *([key] for key in KEYS.split())):
        out = copied(PERSONS / "release", tmp_path / next(iter(names)))
        for name in names:
            column(file.removeprefix("release/"), name, first(another(kinds[name])))(out)
        with_true_checksums(out)
        found = [one.removeprefix(file.removeprefix("release/")) for one in found_in(out)]
        told = "\n".join(one for one in found if one.startswith(": "))
        assert told
        assert [name for name in names if name in named and f": {name} is" not in told] == []


def another(kind):
    return lambda value: "other" if kind == pa.string() else (value or 0) + 1


def test_an_output_with_a_fault_is_not_signed(out, key):
    t2_count_raised(out)
    assert "t2/us.csv: COUNT is not" in refused("sign", out, "--key", key, "--not-for-release")
    assert not (out / "release" / SIGNATURE[0]).exists()


def test_a_signature_covers_each_file_beside_the_release(signed, key, tmp_path):
    for name, old, new in (("log.txt", "validation", "Validation"), ("report.html", "<footer>", "<footer> ")):
        out = copied(signed, tmp_path / name)
        text = (out / name).read_text()
        assert old in text
        (out / name).write_text(text.replace(old, new))
        with_true_checksums(out)
        assert "manifest.json: is not the file that was signed." in told(out, public(key))
