"""The tidy release says what t1 and t2 say, with margins, names, and a reason for whatever is absent."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import safetab
from tests.brute_force import SUBSTATE, rows_of
from tests.commands import cli
from tests.inside import DiscreteGaussian, DiscreteLaplace, InvalidInput, Slice, open_release_folder, statuses
from tests.releases import group, numbers_of, status_of, totals_of, universe_of
from tests.worlds.people import write_random_world
from tests.worlds.world import World

WORLDS = [
    {"seed": 2, "budget": 1, "privacy_defn": "zcdp", "allow_negative_counts": True, "zero_suppression_chance": 0.99},
    {"seed": 4, "budget": 2, "privacy_defn": "puredp", "allow_negative_counts": False, "zero_suppression_chance": 0.9},
    {"seed": 9, "budget": 1, "privacy_defn": "zcdp", "allow_negative_counts": False, "zero_suppression_chance": 0},
]


@pytest.fixture(scope="module", params=WORLDS, ids=["zcdp", "pure dp, clamped", "no suppression"])
def made(request, tmp_path_factory) -> tuple[World, Path]:
    values = dict(request.param)
    folder = tmp_path_factory.mktemp("release")
    world = write_random_world(folder, values.pop("seed"), people=200, budget=values.pop("budget"), **values)
    name_some_entities(world)
    safetab.run(*world, folder / "out")
    return world, folder / "out"


def name_some_entities(world: World) -> None:
    names = ["REGION_TYPE|REGION_ID|NAME", "STATE|44|Rhode <b>Island</b>", "COUNTY|01001|", "STATE|99|nowhere"]
    names[2] += 'a county, "quoted"'
    (world.data / "geography-names.txt").write_text("\n".join(names) + "\n")


def table_rows(out: Path, table: str) -> list[dict[str, str]]:
    return [row for path in sorted((out / table).glob("*.csv")) for row in rows_of(path)]


@pytest.mark.slow
def test_every_number_of_t1_and_t2_is_in_the_release_once_and_no_other(made):
    _, out = made
    rows = numbers_of(out)
    t1 = {(r["REGION_TYPE"], r["REGION_ID"], r["ITERATION_CODE"]): int(r["COUNT"]) for r in table_rows(out, "t1")}
    assert {key: row["count"] for key, row in totals_of(rows).items()} == t1
    expected = {}
    for r in table_rows(out, "t2"):
        ages = ("0", "115") if r["AGESTART"] == "*" else (r["AGESTART"], r["AGEEND"])
        sex = {"1": "male", "2": "female"}[r["SEX"]]
        expected[r["REGION_TYPE"], r["REGION_ID"], r["ITERATION_CODE"], sex, *map(int, ages)] = int(r["COUNT"])
    by_sex = [row for row in rows if row["sex"] != "both"]
    found = {(*group(row), row["sex"], row["age_start"], row["age_end"]): row["count"] for row in by_sex}
    assert found == expected
    assert len(found) == len(by_sex)
    first_lines = [row for row in rows if row["table_id"] != "T01001" and row["line"] == 1]
    assert {group(row): row["count"] for row in first_lines} == {
        group(row): t1[group(row)] for row in rows if row["table"] != "total"
    }


def test_every_number_has_the_margin_and_variance_of_its_own_noise(made):
    world, out = made
    is_clamped = not world.config()["allow_negative_counts"]
    checked = set()
    for row in numbers_of(out):
        draws = row["noise_draws"]
        assert draws == {"total": 1, "sex_age_4": 8, "sex_age_9": 18, "sex_age_23": 46}[row["table"]] or row["line"] > 1
        kind = (row["noise_mechanism"], row["noise_parameter"], draws)
        assert (row["margin_of_error"] is None) == (is_clamped and draws > 1)
        if kind in checked:
            continue
        checked.add(kind)
        parameter = Fraction(row["noise_parameter"])
        is_gaussian = row["noise_mechanism"] == "discrete_gaussian"
        noise = (DiscreteGaussian(parameter) if is_gaussian else DiscreteLaplace(parameter)).sum_of(draws)
        assert row["unclamped_margin_of_error"] == noise.margin_of_error(Fraction(95, 100))
        assert row["variance"] == float(noise.variance().mid())
    assert len(checked) > 4


def test_unclamped_counts_are_sums_of_measurements(made):
    _, out = made
    measured: dict = {}
    stage_1 = {}
    for path in (out / "measurements").glob("*.parquet"):
        for row in pq.read_table(path).to_pylist():
            if row["stage"] == 1:
                stage_1[group(row)] = row["value"]
            else:
                measured.setdefault(group(row), []).append(row)
    for row in numbers_of(out):
        inside = [
            cell["value"]
            for cell in measured[group(row)]
            if row["sex"] == "both"
            or (
                cell["sex"] == {"male": 1, "female": 2}[row["sex"]]
                and row["age_start"] <= cell["age_start"]
                and cell["age_end"] <= row["age_end"]
            )
        ]
        assert row["unclamped_count"] == sum(inside)
        assert len(inside) == row["noise_draws"]
        assert row["stage_1_total"] == (stage_1.get(group(row)) if row["table_id"] == "T01001" else None)


def test_lone_totals_that_passed_suppression_have_the_selection_aware_interval_and_others_their_margin(made):
    world, out = made
    levels = {(r["geography_level"], r["iteration_level"]): r for r in universe_of(out, "levels")}
    some = False
    for row in numbers_of(out):
        threshold = levels[row["geography_level"], row["iteration_level"]]["suppression_threshold"]
        passed = threshold is not None and row["table"] == "total"
        number, margin = row["unclamped_count"], row["unclamped_margin_of_error"]
        if not passed:
            assert (row["interval_low"], row["interval_high"]) == (max(number - margin, 0), max(number + margin, 0))
        else:
            some = True
            assert row["unclamped_count"] > threshold
            assert 0 <= row["interval_low"] <= row["interval_high"]
    assert some == (world.config()["zero_suppression_chance"] > 0)


def test_names_come_with_the_ids(made):
    _, out = made
    names = {(r["geography_level"], r["region_id"]): r["region_name"] for r in universe_of(out, "entities")}
    assert names["STATE", "44"] == "Rhode <b>Island</b>"
    assert names["COUNTY", "01001"] == 'a county, "quoted"'
    assert names["STATE", "01"] == "01"
    assert ("STATE", "99") not in names
    for row in numbers_of(out):
        assert row["region_name"] == names[row["geography_level"], row["region_id"]]


def test_rows_are_in_the_order_of_ids_codes_and_lines(made):
    _, out = made
    for path in (out / "release" / "numbers").rglob("*.parquet"):
        rows = pq.read_table(path, partitioning=None).to_pylist()
        keys = [(row["region_id"], row["iteration_code"], row["table_id"], row["line"]) for row in rows]
        assert keys == sorted(set(keys))


def expected_status(config: dict, level: str, iteration: dict[str, str], published: dict[str, str] | None) -> str:
    """From the file formats alone."""
    number, suffix = iteration["LEVEL"], level.lower().replace("-", "_")
    if published is not None:
        return "published"
    if number == "0" or not config[f"privacy_budget_p_level_{number}_{suffix}"]:
        return "not tabulated"
    if iteration["DETAILED_ONLY" if level in SUBSTATE else "COARSE_ONLY"] == "True":
        return "not tabulated"
    return "suppressed"


def test_every_group_of_the_universe_has_a_status(made):
    world, out = made
    config = world.config()
    iterations = rows_of(world.parameters / "race-characteristic-iterations.txt")
    iterations += rows_of(world.parameters / "ethnicity-characteristic-iterations.txt")
    by_code = {row["ITERATION_CODE"]: row for row in iterations}
    published = totals_of(numbers_of(out))
    release = open_release_folder(out / "release")
    found = [row for batch in statuses(release, Slice()) for row in batch.to_pylist()]
    entities = {(row["geography_level"], row["region_id"]) for row in universe_of(out, "entities")}
    assert {group(row) for row in found} == {(*entity, code) for entity in entities for code in by_code}
    assert len(found) == len(entities) * len(by_code)
    for row in found:
        total = published.get(group(row))
        expected = expected_status(config, row["geography_level"], by_code[row["iteration_code"]], total)
        assert row["status"] == expected
        assert row["table"] == (total["table"] if total else None)
        assert (row["reason"] is None) == (expected != "not tabulated")


def test_a_status_is_asked_for_one_group_at_once(made):
    _, out = made
    release = open_release_folder(out)
    for key, row in list(totals_of(numbers_of(out)).items())[::37]:
        status = status_of(release, *key)
        assert (status["status"], status["table"]) == ("published", row["table"])
    with pytest.raises(InvalidInput, match=r'"77" is not an entity(.|\n)*"abc" is not an iteration'):
        status_of(release, "STATE", "77", "abc")


def test_duckdb_and_arrow_open_the_numbers_as_one_table(made):
    _, out = made
    rows = numbers_of(out)
    folder = out / "release" / "numbers"
    relation = duckdb.sql(f"select * from read_parquet('{folder}/*/*.parquet', hive_partitioning = true)")
    assert relation.aggregate("count(*)").fetchall() == [(len(rows),)]
    state = duckdb.sql(
        f"select sum(count) from read_parquet('{folder}/*/*.parquet') where geography_level = 'STATE' and line = 1"
    )
    assert state.fetchall()[0][0] == sum(r["count"] for r in rows if r["geography_level"] == "STATE" and r["line"] == 1)
    dataset = ds.dataset(folder, partitioning="hive")
    assert set(dataset.to_table(columns=["geography_level"])["geography_level"].to_pylist()) == {
        row["geography_level"] for row in rows
    }


def test_the_data_dictionary_describes_every_column_of_every_file(made):
    _, out = made
    release = out / "release"
    package = json.loads((release / "datapackage.json").read_text())
    described = set()
    for resource in package["resources"]:
        fields = {field["name"]: field for field in resource["schema"]["fields"]}
        assert all(len(field["description"]) > 3 for field in fields.values())
        assert set(resource["schema"]["primaryKey"]) <= set(fields)
        for name in resource["path"] if isinstance(resource["path"], list) else [resource["path"]]:
            described.add(name)
            table = pq.read_table(release / name, partitioning=None)
            assert list(fields)[-len(table.column_names) :] == table.column_names
            for column in table.column_names:
                constraints = fields[column]["constraints"]
                assert not (constraints["required"] and table[column].null_count), (name, column)
                if "enum" in constraints:
                    assert set(table[column].to_pylist()) - {None} <= set(constraints["enum"]), (name, column)
    assert described == {path.relative_to(release).as_posix() for path in release.rglob("*.parquet")}


def test_privacy_json_tells_the_budgets_exactly(made):
    world, out = made
    document = json.loads((out / "release" / "privacy.json").read_text())
    config = world.config()
    symbol = "rho" if config["privacy_defn"] == "zcdp" else "epsilon"
    assert document["unit_of_privacy"].startswith("one person")
    for level in document["levels"]:
        suffix = level["geography_level"].lower().replace("-", "_")
        number = {"Regional": 1, "Detailed": 2}[level["iteration_level"]]
        budget = Fraction(level[f"budget_{symbol}"]["fraction"])
        assert budget == config[f"privacy_budget_p_level_{number}_{suffix}"]
        stages = {name: Fraction(stage[f"cost_{symbol}"]["fraction"]) for name, stage in level["stages"].items()}
        if "stage_1" in stages:
            assert stages["stage_1"] + stages["stage_2"] == budget
    assert set(document["loss"]) == {"us", "pr", "whole_run"}
    assert ("1e-10" in document["loss"]["us"].get("unbounded_epsilon_by_delta", {})) == (symbol == "rho")


def test_the_readme_warns_that_absent_is_not_zero(made):
    _, out = made
    text = (out / "release" / "README.txt").read_text()
    assert "ABSENT IS NOT ZERO" in text
    assert "in 95 of 100 cases" in text.replace("\n", " ").replace("  ", " ")


def test_a_confidence_can_be_asked_for(made, tmp_path):
    world, _ = made
    safetab.run(*world, tmp_path / "out", confidence="0.9")
    row = next(row for row in numbers_of(tmp_path / "out") if row["noise_draws"] == 1)
    parameter = Fraction(row["noise_parameter"])
    is_gaussian = row["noise_mechanism"] == "discrete_gaussian"
    noise = DiscreteGaussian(parameter) if is_gaussian else DiscreteLaplace(parameter)
    assert row["margin_of_error"] == noise.margin_of_error(Fraction(9, 10))
    assert "in 90 of 100" in " ".join((tmp_path / "out" / "release" / "README.txt").read_text().split())


@pytest.mark.slow
def test_csv_files_say_the_same(made, tmp_path):
    _, out = made
    result = cli("export", out, tmp_path / "csv")
    assert result.exit_code == 0, result.output
    columns = "* exclude (geo_id, donor_geo_id)"
    read = duckdb.sql(f"select {columns} from read_csv('{tmp_path}/csv/numbers/*.csv', all_varchar = true)")
    rows = [dict(zip(read.columns, row, strict=True)) for row in read.fetchall()]
    expected = [row for row in numbers_of(out) if (row["table_id"][:3], row["line"]) != ("T02", 1)]  # each total once

    package = json.loads((tmp_path / "csv" / "datapackage.json").read_text())
    for resource in package["resources"]:
        header = (tmp_path / "csv" / resource["path"]).read_text().splitlines()[0].replace('"', "").split(",")
        assert header == [field["name"] for field in resource["schema"]["fields"]]

    def key(row: dict) -> tuple:
        return (*group(row), row["table_id"], int(row["line"]))

    found = {key(row): row for row in rows}
    assert len(found) == len(rows) == len(expected)
    for row in expected:
        written = found[key(row)]
        assert {
            name: str(value) if value is not None else None for name, value in row.items() if name != "variance"
        } == {name: value for name, value in written.items() if name != "variance"}


def test_a_geography_level_asked_for_alone_is_written_to_a_file(made, tmp_path):
    _, out = made
    path = tmp_path / "status.csv"
    arguments = ["status", str(out), "--level", "STATE", "--region", "44", "-o", str(path)]
    result = cli(*arguments)
    assert result.exit_code == 0
    assert result.stdout.startswith("Wrote ")
    rows = path.read_text().splitlines()
    assert len(rows) == 1 + len(universe_of(out, "iterations"))
    assert cli(*arguments).exit_code == 1  # it already exists


@pytest.mark.slow
def test_names_that_repeat_leave_no_bytes_of_memory_in_the_files(made, tmp_path):
    """A dictionary with a repeated text would be padded with what the memory held before."""
    world, _ = made
    entities = [
        f"TRACT|{state}{county}000{tract}00|the same"
        for state, county in (("01", "001"), ("44", "007"))
        for tract in (1, 2)
    ]
    (world.data / "geography-names.txt").write_text("\n".join(["REGION_TYPE|REGION_ID|NAME", *entities]) + "\n")
    files = []
    for name in ("one", "two", "three"):
        scattered = [bytes([number]) * (1000 + number) for number in range(200)]
        safetab.run(*world, tmp_path / name, test_key="ab" * 32)
        del scattered
        files.append({p.name + p.parent.name: p.read_bytes() for p in (tmp_path / name).rglob("*.parquet")})
    name_some_entities(world)
    assert files[0] == files[1] == files[2]
    names = {row["region_name"] for row in numbers_of(tmp_path / "one") if row["geography_level"] == "TRACT"}
    assert "the same" in names
