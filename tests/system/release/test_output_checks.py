"""Output checks: every rule, broken once on purpose, is told with its file; a run whose output breaks one leaves nothing."""

import json
import os
import shutil
import threading

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import safetab
from tests.cases import cases_of, later, values_of
from tests.commands import refused
from tests.inside import (
    ReleaseOptions,
    ReleaseRule,
    RunFailed,
    TableChecks,
    line_sums,
    output_checks_module,
    outputs_as_json,
    pass_files_module,
    plan_of,
    pyarrow_threads,
    read_public_files,
    run_module,
    universe_of_run,
)
from tests.releases import check_output, json_of, lines_of
from tests.worlds.people import no_budgets_but


@pytest.fixture(scope="module")
def released(releases):
    """Of few levels, among them one that suppresses."""
    checked = {"allow_negative_counts": False, "zero_suppression_chance": 0.9, "privacy_defn": "zcdp"}
    kept = "1_usa 2_usa 1_state 2_state 1_tract 2_tract 1_pr_state 2_pr_state"
    return releases.people(6, people=200, budget=1, **checked, **no_budgets_but(*kept.split()))


@pytest.fixture(scope="module")
def world(released):
    return released.world


@pytest.fixture(scope="module")
def whole(released):
    return released.out


@pytest.fixture(scope="module")
def universe(world):
    files = read_public_files(*world).require()
    return universe_of_run(plan_of(files).require(), files.geography_of_pass, files.names)


@pytest.fixture
def told(whole, universe, tmp_path):
    """What the checks say of a copy of an output that is damaged."""

    def found(damage, of=whole, rules=(), manifest=renewed_manifest):
        out = tmp_path / "out"
        shutil.copytree(of, out, dirs_exist_ok=True)
        damage(out)
        manifest(out)
        with pytest.raises(RunFailed) as failed:
            check_output(out, universe, ReleaseOptions(rules=rules))
        assert "Nothing was written." in str(failed.value)
        return str(failed.value)

    return found


def renewed_manifest(out):
    """Hashes and rows of the files as they are now, so that only the rule in question is broken."""
    manifest = json_of(out / "manifest.json")
    rows = {}
    for name in manifest["outputs"]:
        path = out / name
        rows[name] = pq.read_metadata(path).num_rows if name.endswith("parquet") else path.read_text().count("\n") - 1
    (out / "manifest.json").write_text(json.dumps(manifest | outputs_as_json(out, rows)))


def text_changed(name, change):
    return lambda out: (out / name).write_text(change((out / name).read_text()))


def field_changed(name, row, at, value):
    """Rows are counted from the first below the header."""

    def change(text):
        lines = [line.split("|") for line in text.split("\n")]
        lines[row][at] = value
        return "\n".join(map("|".join, lines))

    return text_changed(name, change)


def table_changed(name, change):
    def damage(out):
        path = sorted(out.glob(name))[0]
        table = pq.read_table(path, partitioning=None)
        pq.write_table(change(table).cast(table.schema), path, store_schema=name.startswith("measurements"))

    return damage


def column_changed(table, name, change):
    field = table.schema.field(name)
    changed = pa.array(change(table[name].to_pylist()), field.type)
    return table.set_column(table.column_names.index(name), field, changed)


def value_changed(name, value, label=None):
    """In the first row, or in the first of a table with this label."""

    def change(table):
        at = 0 if label is None else table["table"].to_pylist().index(label)
        return column_changed(table, name, lambda old: [*old[:at], value, *old[at + 1 :]])

    return change


T1, T2 = "t1/us.csv", "t2/us.csv"
MEASURED = "measurements/us.parquet"
STATE = "release/numbers/geography_level=STATE/detailed-sex-by-age.parquet"
TRACT = "release/numbers/geography_level=TRACT/*.parquet"

# the file, the row, the field and its new text, and what is said
FIELDS = """
t1/us.csv | 1 | 3 | 4711 | COUNT is not the sum of the group's noisy numbers: row 1
t1/us.csv | 3 | 3 | -1 | COUNT is negative, which is not allowed
t1/us.csv | 2 | 3 | 1.5 | a row has the wrong number of fields, or a COUNT that is no
t1/us.csv | 2 | 0 | 99 | REGION_ID is not that of the next
t1/us.csv | 2 | 1 | TOWN | REGION_TYPE is not that of the next
t1/us.csv | 2 | 2 | 0000 | ITERATION_CODE is not that
t1/us.csv | 0 | 3 | count | the header is not what it must be
t2/us.csv | 1 | 6 | 999 | COUNT is not the sum of the group's noisy numbers: row 1
t2/us.csv | 5 | 6 | 999 | COUNT is not the sum of the group's noisy
t2/us.csv | 2 | 3 | 7 | AGESTART is not that of the group's table
"""
FIELDS_AFTER_STEPS = """
t1/us.csv | 1 | 3 | 4711 | COUNT is not that of the release: row 1
t1/us.csv | 2 | 0 | 99 | REGION_ID is not that of the release: row 2
t1/us.csv | 0 | 3 | count | the header is not what it must be
t2/us.csv | 2 | 3 | 7 | AGESTART is not that of the release
t2/us.csv | 1 | 5 | 2 | SEX is not that of the release: row 1
"""


def field_changes(table, folder=""):
    """What changes one field of a text file, and what is said of it."""
    return [
        (field_changed(folder + file, int(row), int(at), new), f"{folder}{file}: {said}")
        for file, row, at, new, said in cases_of(table)
    ]


VALUES = f"""
{MEASURED} | value of sex_age_4 | 1000000 | t2/us.csv: COUNT is not the sum of the group's noisy numbers
{MEASURED} | value | -10000000 | another table than its stage-1 total
{MEASURED} | parameter_numerator | "1" | the noise is not that of its level and stage
{MEASURED} | sex of sex_age_4 | 3 | stage, table, sex, age_start, age_end don't belong together
{STATE} | count | 12345 | a total is not the one in t1: row 1
{STATE} | count | -5 | count is negative, which is not allowed
{STATE} | count | null | count must be null exactly if it is withheld
{STATE} | status | "lost" | status is not one of its values: row 1
{STATE} | status | "copied" | must name its donor: row 1
{STATE} | region_id | "99" | a group is not in the universe
{STATE} | unclamped_count of sex_age_4 | 1000000 | a sum is not that of its cells
{STATE} | line | 9 | lines are not in
{STATE} | interval_high | null | interval_high must be null exactly for withheld numbers
release/universe/entities.parquet | region_name | "Atlantis" | release/universe: USA: entities are not those of the run
"""
VALUE_CHANGES = [
    (table_changed(file, value_changed(name, json.loads(value), *label)), said)
    for file, place, value, said in cases_of(VALUES)
    for name, *label in [place.split(" of ")]
]
DAMAGES = [
    (
        text_changed(T1, lambda text: text + text.splitlines()[-1] + "\n"),
        "t1/us.csv: has rows of groups that the measurements don't have",
    ),
    (table_changed(STATE, lambda t: t.slice(1)), "STATE/detailed-sex-by-age.parquet: "),
    (
        table_changed(
            STATE,
            lambda t: t.filter(
                pc.or_(
                    pc.not_equal(t["region_id"], t["region_id"][0]),
                    pc.not_equal(t["iteration_code"], t["iteration_code"][0]),
                )
            ),
        ),
        "lacks groups that t1 has",
    ),
    (
        table_changed(STATE, lambda t: pa.concat_tables([t, t.filter(pc.equal(t["iteration_code"], t["iteration_code"][-1]))])),
        "a group appears twice or out of order",
    ),
    (
        table_changed(TRACT, lambda t: column_changed(t, "interval_low", lambda v: [10**9 if x is not None else x for x in v])),
        "interval_low is above interval_high",
    ),
    (
        lambda out: pq.write_table(pq.read_table(out / STATE, partitioning=None).drop_columns(["stub"]), out / STATE),
        "the columns or their types are not what they must be",
    ),
    (lambda out: pq.write_table(pa.table({"x": [1]}), out / STATE), "the columns or their types are not"),
    (table_changed("release/universe/levels.parquet", lambda t: t.slice(0, 3)), "release/universe"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "message"), [*DAMAGES, *VALUE_CHANGES, *field_changes(FIELDS)])
def test_a_broken_rule_is_told(damage, message, told):
    assert message in told(damage)


def last_changed(name, value):
    return lambda table: column_changed(table, name, lambda values: [*values[:-1], value])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value"),
    values_of(
        """
        "mechanism" | "discrete_laplace"
        "parameter_numerator" | "1"
        "parameter_denominator" | "77"
        "variance" | 0.5
        "variance" | None
        "mechanism" | None
        """
    ),
)
def test_the_noise_of_the_last_measurement_is_told_with_its_level_code_and_stage(column, value, whole, told):
    last = pq.read_table(whole / MEASURED).to_pylist()[-1]
    where = f"{last['geography_level']}, {last['iteration_code']}, stage {last['stage']}"
    found = told(table_changed(MEASURED, last_changed(column, value)))
    assert f"{MEASURED}: {where}: the noise is not that of its level and stage." in found
    assert found.count("the noise is not") == 1


@pytest.mark.slow
@pytest.mark.parametrize("column", ["sex", "age_start", "age_end"])
@pytest.mark.parametrize("value", [-1, 11_000])
def test_each_label_of_the_last_measurement_is_checked(column, value, told):
    damage = table_changed(MEASURED, last_changed(column, value if column != "sex" else value % 100))
    assert "stage, table, sex, age_start, age_end don't belong" in told(damage)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 7])
def test_a_group_that_lies_in_several_row_groups_is_checked_as_a_whole(rows, whole, universe, told, tmp_path):
    numbers = pq.read_table(whole / STATE, partitioning=None)

    def written(table):
        return lambda out: pq.write_table(table, out / STATE, store_schema=False, row_group_size=rows)

    same = shutil.copytree(whole, tmp_path / "same")
    written(numbers)(same)
    renewed_manifest(same)
    check_output(same, universe, ReleaseOptions())
    changed = value_changed("unclamped_count", 10**6, "sex_age_4")(numbers)
    row = numbers["table"].to_pylist().index("sex_age_4") + 1
    assert f"a sum is not that of its cells: row {row}." in told(written(changed.cast(numbers.schema)))


def test_a_whole_output_passes(whole, universe):
    check_output(whole, universe, ReleaseOptions())


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda out: (out / "README.extra").write_text("x"), "lists other documents, or other checksums"),
        (lambda out: (out / "log.txt").write_text("x"), "lists other documents, or other checksums"),
        (text_changed(T2, lambda text: text + "\n"), "lists other outputs, or other checksums"),
        (lambda out: (out / STATE).unlink(), f"{STATE} is missing"),
    ],
)
def test_the_manifest_must_be_that_of_the_files(damage, message, told):
    assert f"manifest.json: {message}" in told(damage, manifest=lambda _: None)


def with_strays(out):
    """Files, folders, links, a pipe, a file of a step that was not asked for, and one of a pass that did not run."""
    for name in ("person-records.txt", "release/.notes", "t1/gu.csv"):
        (out / name).write_text("x\n")
    (out / "release" / "more").mkdir()
    (out / "data").symlink_to(out.parent)
    (out / "t1" / "us.csv").rename(out.parent / "elsewhere.csv")
    (out / "t1" / "us.csv").symlink_to(out.parent / "elsewhere.csv")
    os.mkfifo(out / "pipe")
    shutil.copy(out / "release/universe/levels.parquet", out / "release/universe/coterminous.parquet")


STRAYS = (
    "person-records.txt release/.notes t1/gu.csv release/more data t1/us.csv pipe release/universe/coterminous.parquet"
)


def test_what_is_not_on_the_list_does_not_leave(told):
    found = told(with_strays)
    assert [one for one in STRAYS.split() if f"{one}: is not among the files that may leave." not in found] == []


def test_an_output_for_release_has_no_mark_that_says_otherwise(told):
    def for_release(out):
        manifest = json_of(out / "manifest.json")
        (out / "manifest.json").write_text(json.dumps(manifest | {"for_release": True}))

    assert "NOT-FOR-RELEASE: is not among the files that may leave" in told(for_release, manifest=lambda _: None)


def failed_run(world, folder, *options):
    """What a run says that publishes nothing."""
    found = refused("run", *world, folder / "out", *options, code=3)
    assert {path.name for path in folder.iterdir()} <= {"out.confidential.log", "other"}
    return found


def test_a_run_that_leaves_a_stray_file_is_exit_3_and_publishes_nothing(world, tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "write_documents", lambda output, *_: (output / "notes.txt").write_text("x"))
    assert "notes.txt: is not among the files that may leave." in failed_run(world, tmp_path)


THREADS = pytest.mark.parametrize("threads", [2, later(1)])


@THREADS
def test_a_run_whose_tables_are_wrong_is_exit_3_and_publishes_nothing(threads, world, tmp_path, monkeypatch):
    """Tables are checked while the release is written, and what is found is told at the end."""
    spoiled = field_changed(T1, 1, 3, "4711")
    monkeypatch.setattr(run_module, "write_not_for_release", lambda output, *_: spoiled(output))
    found = failed_run(world, tmp_path, "--threads", threads)
    assert f"{T1}: COUNT is not the sum of the group's noisy numbers: row 1." in found
    assert "a total is not the one in t1" not in found  # the release is made of the measurements


@THREADS
@pytest.mark.parametrize("name", [T1, later(STATE)])
def test_a_file_that_changes_after_its_check_had_begun_is_not_published(name, threads, world, tmp_path, monkeypatch):
    def changing(output, *_):
        shutil.copyfile(output / name, tmp_path / "other")  # the same bytes, but who knows
        (tmp_path / "other").replace(output / name)

    monkeypatch.setattr(run_module, "write_documents", changing)
    assert f"{name}: changed after its check had begun." in failed_run(world, tmp_path, "--threads", threads)


@pytest.mark.parametrize("is_large", [False, True])
def test_a_large_output_is_checked_beside_and_a_small_one_by_the_caller(is_large, whole, universe, monkeypatch):
    names, original = [], TableChecks.check_levels

    def watched(checks):
        names.append(threading.current_thread().name)
        return original(checks)

    monkeypatch.setattr(TableChecks, "check_levels", watched)
    monkeypatch.setattr(output_checks_module, "_LARGE", 1000 if is_large else 1 << 30)
    with pyarrow_threads(2):
        check_output(whole, universe, ReleaseOptions())
    assert len(names) == 2
    assert {name == threading.current_thread().name for name in names} == {not is_large}


ends_early = text_changed(T1, lambda text: text.split("\n")[0] + "\n")


LACKS_ROWS = f"{T1}: lacks rows of groups that the measurements have"


@pytest.mark.slow
def test_measurements_are_checked_where_tables_end_too_early(told):
    wrong = table_changed(MEASURED, last_changed("mechanism", "discrete_laplace"))
    found = told(lambda out: (ends_early(out), wrong(out)))
    assert LACKS_ROWS in found
    assert "the noise is not that of its level and stage" in found


@pytest.mark.slow
def test_tables_that_end_too_early_are_not_blamed_on_what_follows_them(stepped, told):
    found = told(ends_early, stepped, RULES)
    assert LACKS_ROWS in found
    assert "after-steps" not in found


RULES = (ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER,)


@pytest.fixture(scope="module")
def stepped(whole, tmp_path_factory):
    new = tmp_path_factory.mktemp("stepped") / "new"
    safetab.rerelease(whole, new, rules=["withhold-alone-above-partner"])
    return new


AFTER_T1, AFTER_T2 = f"after-steps/{T1}", f"after-steps/{T2}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        *field_changes(FIELDS_AFTER_STEPS, "after-steps/"),
        (
            text_changed(AFTER_T2, lambda text: "\n".join(text.split("\n")[:-2]) + "\n"),
            f"{AFTER_T2}: lacks rows that the release has",
        ),
        (
            text_changed(AFTER_T1, lambda text: text + "1|USA|1001|5\n"),
            f"{AFTER_T1}: has rows that the release doesn't have",
        ),
    ],
)  # fmt: skip
def test_t1_and_t2_after_the_steps_say_what_the_release_says(damage, message, stepped, told):
    assert message in told(damage, stepped, RULES)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["", "after-steps/"])
@pytest.mark.parametrize("name", [T1, T2])
def test_every_column_of_the_last_row_of_a_table_is_checked(folder, name, stepped, told):
    header, *rows = lines_of(stepped / folder / name)
    for position, column in enumerate(header.split("|")):
        damage = field_changed(folder + name, len(rows), position, "77777")
        found = told(damage, stepped, RULES)
        assert f"{folder}{name}: {column} is not " in found
        assert f": row {len(rows)}." in found


def test_a_run_whose_output_breaks_a_rule_is_exit_3_and_leaves_nothing(world, tmp_path, monkeypatch):
    """A writer that clamps nothing, though negative counts are not allowed."""
    monkeypatch.setattr(pass_files_module, "line_sums", lambda cells, rows, **_: line_sums(cells, rows))
    assert "COUNT is negative, which is not allowed: row " in failed_run(world, tmp_path)
