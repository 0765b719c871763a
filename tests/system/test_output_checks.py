"""Output checks: every rule, broken once on purpose, is told with its file; a run whose output breaks one leaves nothing."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import cli
from tests.inside import (
    ReleaseOptions,
    ReleaseRule,
    RunFailed,
    TableChecks,
    Universe,
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
from tests.releases import check_output
from tests.worlds.people import write_random_world
from tests.worlds.world import World


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    folder = tmp_path_factory.mktemp("checks")
    return write_random_world(
        folder, 6, people=200, budget=1, allow_negative_counts=False, zero_suppression_chance=0.9, privacy_defn="zcdp"
    )


@pytest.fixture(scope="module")
def whole(world: World, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "out"
    safetab.run(*world, out, test_key="06" * 32)
    return out


@pytest.fixture(scope="module")
def universe(world: World) -> Universe:
    files = read_public_files(*world).require()
    return universe_of_run(plan_of(files).require(), files.geography_of_pass, files.names)


def renewed_manifest(out: Path) -> None:
    """Hashes and rows of the files as they are now, so that only the rule in question is broken."""
    manifest = json.loads((out / "manifest.json").read_text())
    rows = {}
    for name in manifest["outputs"]:
        path = out / name
        rows[name] = pq.read_metadata(path).num_rows if name.endswith("parquet") else path.read_text().count("\n") - 1
    (out / "manifest.json").write_text(json.dumps(manifest | outputs_as_json(out, rows)))


def line_changed(name: str, number: int, change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    def damage(out: Path) -> None:
        lines = (out / name).read_text().split("\n")
        lines[number] = "|".join(change(lines[number].split("|")))
        (out / name).write_text("\n".join(lines))

    return damage


def table_changed(name: str, change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    def damage(out: Path) -> None:
        path = sorted(out.glob(name))[0]
        table = pq.read_table(path, partitioning=None)
        pq.write_table(change(table).cast(table.schema), path, store_schema=name.startswith("measurements"))

    return damage


def column_changed(table: pa.Table, name: str, change: Callable[[list], list]) -> pa.Table:
    position = table.column_names.index(name)
    field = table.schema.field(name)
    return table.set_column(position, field, pa.array(change(table[name].to_pylist()), field.type))


def first_changed(name: str, value: object) -> Callable[[pa.Table], pa.Table]:
    return lambda table: column_changed(table, name, lambda values: [value, *values[1:]])


def first_of_table_changed(table: pa.Table, label: str, name: str, value: object) -> pa.Table:
    position = table["table"].to_pylist().index(label)
    return column_changed(table, name, lambda old: [*old[:position], value, *old[position + 1 :]])


T1, T2 = "t1/us.csv", "t2/us.csv"
MEASURED = "measurements/us.parquet"
STATE = "release/numbers/geography_level=STATE/detailed-sex-by-age.parquet"
TRACT = "release/numbers/geography_level=TRACT/*.parquet"

DAMAGES = {
    "a t1 count": (line_changed(T1, 1, lambda f: [*f[:3], "4711"]), "t1/us.csv: COUNT is not the sum of the group's noisy numbers: row 1"),
    "a t1 negative": (line_changed(T1, 3, lambda f: [*f[:3], "-1"]), "t1/us.csv: COUNT is negative, which is not allowed"),
    "a t1 decimal": (line_changed(T1, 2, lambda f: [*f[:3], "1.5"]), "t1/us.csv: a row has the wrong number of fields, or a COUNT that is no"),
    "a t1 region": (line_changed(T1, 2, lambda f: ["99", *f[1:]]), "t1/us.csv: REGION_ID is not that of the next"),
    "a t1 level": (line_changed(T1, 2, lambda f: [f[0], "TOWN", *f[2:]]), "t1/us.csv: REGION_TYPE is not that of the next"),
    "a t1 code": (line_changed(T1, 2, lambda f: [*f[:2], "0000", f[3]]), "t1/us.csv: ITERATION_CODE is not that"),
    "a t1 header": (line_changed(T1, 0, lambda f: [*f[:3], "count"]), "t1/us.csv: the header is not what it must be"),
    "a t1 row twice": (
        lambda out: (out / T1).write_text((out / T1).read_text() + (out / T1).read_text().splitlines()[-1] + "\n"),
        "t1/us.csv: has rows of groups that the measurements don't have",
    ),
    "a t2 cell": (line_changed(T2, 1, lambda f: [*f[:6], "999"]), "t2/us.csv: COUNT is not the sum of the group's noisy numbers: row 1"),
    "a t2 marginal": (line_changed(T2, 5, lambda f: [*f[:6], "999"]), "t2/us.csv: COUNT is not the sum of the group's noisy"),
    "a t2 age": (line_changed(T2, 2, lambda f: [*f[:3], "7", *f[4:]]), "t2/us.csv: AGESTART is not that of the group's table"),
    "a measured value": (
        table_changed(MEASURED, lambda t: first_of_table_changed(t, "sex_age_4", "value", 10**6)),
        "t2/us.csv: COUNT is not the sum of the group's noisy numbers",
    ),
    "a stage-1 total": (table_changed(MEASURED, first_changed("value", -(10**7))), "another table than its stage-1 total"),
    "a measured parameter": (
        table_changed(MEASURED, first_changed("parameter_numerator", "1")),
        "the noise is not that of its level and stage",
    ),
    "a measured sex": (
        table_changed(MEASURED, lambda t: first_of_table_changed(t, "sex_age_4", "sex", 3)),
        "stage, table, sex, age_start, age_end don't belong together",
    ),
    "a release count": (table_changed(STATE, first_changed("count", 12345)), "a total is not the one in t1: row 1"),
    "a release negative": (table_changed(STATE, first_changed("count", -5)), "count is negative, which is not allowed"),
    "a release null": (table_changed(STATE, first_changed("count", None)), "count must be null exactly if it is withheld"),
    "a release status": (table_changed(STATE, first_changed("status", "lost")), "status is not one of its values: row 1"),
    "a copy without donor": (table_changed(STATE, first_changed("status", "copied")), "must name its donor: row 1"),
    "a release region": (table_changed(STATE, first_changed("region_id", "99")), "a group is not in the universe"),
    "a release row lost": (table_changed(STATE, lambda t: t.slice(1)), "STATE/detailed-sex-by-age.parquet: "),
    "a release group lost": (
        table_changed(
            STATE,
            lambda t: t.filter(
                pc.invert(pc.and_(pc.equal(t["region_id"], t["region_id"][0]), pc.equal(t["iteration_code"], t["iteration_code"][0])))
            ),
        ),
        "lacks groups that t1 has",
    ),
    "a release group twice": (
        table_changed(STATE, lambda t: pa.concat_tables([t, t.filter(pc.equal(t["iteration_code"], t["iteration_code"][-1]))])),
        "a group appears twice or out of order",
    ),
    "a release sum": (
        table_changed(STATE, lambda t: first_of_table_changed(t, "sex_age_4", "unclamped_count", 10**6)),
        "a sum is not that of its cells",
    ),
    "a release line": (table_changed(STATE, lambda t: column_changed(t, "line", lambda v: [9, *v[1:]])), "lines are not in"),
    "a release interval": (
        table_changed(TRACT, lambda t: column_changed(t, "interval_low", lambda v: [10**9 if x is not None else x for x in v])),
        "interval_low is above interval_high",
    ),
    "a release number without its interval": (
        table_changed(STATE, first_changed("interval_high", None)),
        "interval_high must be null exactly for withheld numbers",
    ),
    "a release column": (
        lambda out: pq.write_table(pq.read_table(out / STATE, partitioning=None).drop_columns(["stub"]), out / STATE),
        "the columns or their types are not what they must be",
    ),
    "a release file": (lambda out: pq.write_table(pa.table({"x": [1]}), out / STATE), "the columns or their types are not"),
    "a universe file": (
        table_changed("release/universe/entities.parquet", first_changed("region_name", "Atlantis")),
        "release/universe: USA: entities are not those of the run",
    ),
    "a universe level": (
        table_changed("release/universe/levels.parquet", lambda t: t.slice(0, 3)), "release/universe"
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGES)
def test_a_broken_rule_is_told(name, whole, universe, tmp_path):
    damage, message = DAMAGES[name]
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    damage(out)
    renewed_manifest(out)
    with pytest.raises(RunFailed) as failed:
        check_output(out, universe, ReleaseOptions())
    assert message in str(failed.value), failed.value
    assert "Nothing was written." in str(failed.value)


def last_changed(name: str, value: object) -> Callable[[pa.Table], pa.Table]:
    return lambda table: column_changed(table, name, lambda values: [*values[:-1], value])


def findings(out: Path, universe: Universe, options: ReleaseOptions) -> str:
    renewed_manifest(out)
    with pytest.raises(RunFailed) as failed:
        check_output(out, universe, options)
    return str(failed.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("mechanism", "discrete_laplace"),
        ("parameter_numerator", "1"),
        ("parameter_denominator", "77"),
        ("variance", 0.5),
        ("variance", None),
        ("mechanism", None),
    ],
)
def test_the_noise_of_the_last_measurement_is_told_with_its_level_code_and_stage(
    column, value, whole, universe, tmp_path
):
    shutil.copytree(whole, tmp_path / "out")
    table_changed(MEASURED, last_changed(column, value))(tmp_path / "out")
    last = pq.read_table(whole / MEASURED).to_pylist()[-1]
    where = f"{last['geography_level']}, {last['iteration_code']}, stage {last['stage']}"
    found = findings(tmp_path / "out", universe, ReleaseOptions())
    assert f"{MEASURED}: {where}: the noise is not that of its level and stage." in found
    assert found.count("the noise is not") == 1


@pytest.mark.slow
@pytest.mark.parametrize("column", ["sex", "age_start", "age_end"])
@pytest.mark.parametrize("value", [-1, 11_000])
def test_each_label_of_the_last_measurement_is_checked(column, value, whole, universe, tmp_path):
    shutil.copytree(whole, tmp_path / "out")
    table_changed(MEASURED, last_changed(column, value if column != "sex" else value % 100))(tmp_path / "out")
    assert "stage, table, sex, age_start, age_end don't belong" in findings(
        tmp_path / "out", universe, ReleaseOptions()
    )


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 7])
def test_a_group_that_lies_in_several_row_groups_is_checked_as_a_whole(rows, whole, universe, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    numbers = pq.read_table(whole / STATE, partitioning=None)
    pq.write_table(numbers, out / STATE, store_schema=False, row_group_size=rows)
    renewed_manifest(out)
    check_output(out, universe, ReleaseOptions())
    changed = first_of_table_changed(numbers, "sex_age_4", "unclamped_count", 10**6)
    pq.write_table(changed.cast(numbers.schema), out / STATE, store_schema=False, row_group_size=rows)
    row = numbers["table"].to_pylist().index("sex_age_4") + 1
    assert f"a sum is not that of its cells: row {row}." in findings(out, universe, ReleaseOptions())


def test_a_whole_output_passes(whole, universe):
    check_output(whole, universe, ReleaseOptions())


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda out: (out / "README.extra").write_text("x"),
            "manifest.json: lists other documents, or other checksums",
        ),
        (lambda out: (out / "log.txt").write_text("x"), "manifest.json: lists other documents, or other checksums"),
        (
            lambda out: (out / T2).write_text((out / T2).read_text() + "\n"),
            "manifest.json: lists other outputs, or other checksums",
        ),
        (
            lambda out: (out / STATE).unlink(),
            "manifest.json: release/numbers/geography_level=STATE/detailed-sex-by-age.parquet is missing",
        ),
    ],
)
def test_the_manifest_must_be_that_of_the_files(damage, message, whole, universe, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    damage(out)
    with pytest.raises(RunFailed, match="breaks its rules") as failed:
        check_output(out, universe, ReleaseOptions())
    assert message in str(failed.value)


def link_to_a_file(out: Path) -> None:
    (out / "t1" / "us.csv").rename(out.parent / "elsewhere.csv")
    (out / "t1" / "us.csv").symlink_to(out.parent / "elsewhere.csv")


STRAYS = {
    "a file": (lambda out: (out / "person-records.txt").write_text("x"), "person-records.txt"),
    "a hidden file": (lambda out: (out / "release" / ".notes").write_text("x"), "release/.notes"),
    "an empty folder": (lambda out: (out / "release" / "more").mkdir(), "release/more"),
    "a link with a name of its own": (lambda out: (out / "data").symlink_to(out.parent), "data"),
    "a link with the name of a file": (link_to_a_file, "t1/us.csv"),
    "a pipe": (lambda out: os.mkfifo(out / "pipe"), "pipe"),
    "a file of a step that was not asked for": (
        lambda out: shutil.copy(out / "release/universe/levels.parquet", out / "release/universe/coterminous.parquet"),
        "release/universe/coterminous.parquet",
    ),
    "a file of a pass that did not run": (lambda out: (out / "t1" / "gu.csv").write_text("x\n"), "t1/gu.csv"),
}


@pytest.mark.parametrize("name", STRAYS)
def test_what_is_not_on_the_list_does_not_leave(name, whole, universe, tmp_path):
    put, stray = STRAYS[name]
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    put(out)
    renewed_manifest(out)
    with pytest.raises(RunFailed) as failed:
        check_output(out, universe, ReleaseOptions())
    assert f"{stray}: is not among the files that may leave." in str(failed.value)


def test_an_output_for_release_has_no_mark_that_says_otherwise(whole, universe, tmp_path):
    shutil.copytree(whole, tmp_path / "out")
    manifest = json.loads((whole / "manifest.json").read_text())
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest | {"for_release": True}))
    with pytest.raises(RunFailed, match="NOT-FOR-RELEASE: is not among the files that may leave"):
        check_output(tmp_path / "out", universe, ReleaseOptions())


def test_a_run_that_leaves_a_stray_file_is_exit_3_and_publishes_nothing(world, tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "write_documents", lambda output, *_: (output / "notes.txt").write_text("x"))
    result = cli("run", *world, tmp_path / "out")
    assert result.exit_code == 3
    assert "notes.txt: is not among the files that may leave." in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out.confidential.log"]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_whose_tables_are_wrong_is_exit_3_and_publishes_nothing(threads, world, tmp_path, monkeypatch):
    """Tables are checked while the release is written, and what is found is told at the end."""

    def spoiled(output: Path, *_: object) -> None:
        line_changed(T1, 1, lambda fields: [*fields[:3], "4711"])(output)

    monkeypatch.setattr(run_module, "write_not_for_release", spoiled)
    places = [str(world.parameters), str(world.data), str(tmp_path / "out")]
    result = cli("run", *places, "--threads", threads)
    assert result.exit_code == 3
    assert f"{T1}: COUNT is not the sum of the group's noisy numbers: row 1." in result.stderr
    assert "a total is not the one in t1" not in result.stderr  # the release is made of the measurements
    assert [path.name for path in tmp_path.iterdir()] == ["out.confidential.log"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", [T1, STATE])
def test_a_file_that_changes_after_its_check_had_begun_is_not_published(name, threads, world, tmp_path, monkeypatch):
    def changing(output: Path, *_: object) -> None:
        shutil.copyfile(output / name, tmp_path / "other")  # the same bytes, but who knows
        (tmp_path / "other").replace(output / name)

    monkeypatch.setattr(run_module, "write_documents", changing)
    places = [str(world.parameters), str(world.data), str(tmp_path / "out")]
    result = cli("run", *places, "--threads", threads)
    assert result.exit_code == 3
    assert f"{name}: changed after its check had begun." in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out.confidential.log"]


@pytest.mark.parametrize("is_large", [False, True])
def test_a_large_output_is_checked_beside_and_a_small_one_by_the_caller(is_large, whole, universe, monkeypatch):
    names, original = list[str](), TableChecks.check_levels

    def told(checks: TableChecks) -> Iterator[object]:
        names.append(threading.current_thread().name)
        return original(checks)

    monkeypatch.setattr(TableChecks, "check_levels", told)
    monkeypatch.setattr(output_checks_module, "_LARGE", 1000 if is_large else 1 << 30)
    with pyarrow_threads(2):
        check_output(whole, universe, ReleaseOptions())
    assert len(names) == 2
    assert {name == threading.current_thread().name for name in names} == {not is_large}


@pytest.mark.slow
def test_measurements_are_checked_where_tables_end_too_early(whole, universe, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    (out / T1).write_text((out / T1).read_text().split("\n")[0] + "\n")
    table_changed(MEASURED, last_changed("mechanism", "discrete_laplace"))(out)
    told = findings(out, universe, ReleaseOptions())
    assert f"{T1}: lacks rows of groups that the measurements have" in told
    assert "the noise is not that of its level and stage" in told


@pytest.mark.slow
def test_tables_that_end_too_early_are_not_blamed_on_what_follows_them(stepped, universe, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(stepped, out)
    (out / T1).write_text((out / T1).read_text().split("\n")[0] + "\n")
    told = findings(out, universe, ReleaseOptions(rules=(ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER,)))
    assert f"{T1}: lacks rows of groups that the measurements have" in told
    assert "after-steps" not in told


@pytest.fixture(scope="module")
def stepped(whole: Path, tmp_path_factory) -> Path:
    new = tmp_path_factory.mktemp("stepped") / "new"
    safetab.rerelease(whole, new, rules=["withhold-alone-above-partner"])
    return new


AFTER_T1, AFTER_T2 = f"after-steps/{T1}", f"after-steps/{T2}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (line_changed(AFTER_T1, 1, lambda f: [*f[:3], "4711"]), f"{AFTER_T1}: COUNT is not that of the release: row 1"),
        (line_changed(AFTER_T1, 2, lambda f: ["99", *f[1:]]), f"{AFTER_T1}: REGION_ID is not that of the release: row 2"),
        (line_changed(AFTER_T1, 0, lambda f: [*f[:3], "count"]), f"{AFTER_T1}: the header is not what it must be"),
        (line_changed(AFTER_T2, 2, lambda f: [*f[:3], "7", *f[4:]]), f"{AFTER_T2}: AGESTART is not that of the release"),
        (line_changed(AFTER_T2, 1, lambda f: [*f[:5], "2", f[6]]), f"{AFTER_T2}: SEX is not that of the release: row 1"),
        (
            lambda out: (out / AFTER_T2).write_text("\n".join((out / AFTER_T2).read_text().split("\n")[:-2]) + "\n"),
            f"{AFTER_T2}: lacks rows that the release has",
        ),
        (
            lambda out: (out / AFTER_T1).write_text((out / AFTER_T1).read_text() + "1|USA|1001|5\n"),
            f"{AFTER_T1}: has rows that the release doesn't have",
        ),
    ],
)  # fmt: skip
def test_t1_and_t2_after_the_steps_say_what_the_release_says(damage, message, stepped, universe, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(stepped, out)
    damage(out)
    renewed_manifest(out)
    with pytest.raises(RunFailed) as failed:
        check_output(out, universe, ReleaseOptions(rules=(ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER,)))
    assert message in str(failed.value), failed.value


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["", "after-steps/"])
@pytest.mark.parametrize("name", [T1, T2])
def test_every_column_of_the_last_row_of_a_table_is_checked(folder, name, stepped, universe, tmp_path):
    whole = (stepped / folder / name).read_text()
    columns, rows = whole.split("\n")[0].split("|"), whole.count("\n") - 1
    shutil.copytree(stepped, tmp_path / "out")
    for position, column in enumerate(columns):
        damage = line_changed(folder + name, rows, lambda f, at=position: [*f[:at], "77777", *f[at + 1 :]])
        damage(tmp_path / "out")
        found = findings(tmp_path / "out", universe, ReleaseOptions(rules=(ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER,)))
        assert f"{folder}{name}: {column} is not " in found
        assert f": row {rows}." in found
        (tmp_path / "out" / folder / name).write_text(whole)


def test_a_run_whose_output_breaks_a_rule_is_exit_3_and_leaves_nothing(world, tmp_path, monkeypatch):
    """A writer that clamps nothing, though negative counts are not allowed."""
    monkeypatch.setattr(pass_files_module, "line_sums", lambda cells, rows, **_: line_sums(cells, rows))
    result = cli("run", *world, tmp_path / "out")
    assert result.exit_code == 3
    assert "COUNT is negative, which is not allowed: row " in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out.confidential.log"]
