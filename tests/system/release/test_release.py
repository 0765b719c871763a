"""The tidy release says what t1 and t2 say, with margins, names, and a reason for whatever is absent."""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import duckdb
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.brute_force import SUBSTATE, rows_of
from tests.commands import done, refused
from tests.inside import DiscreteGaussian, DiscreteLaplace, InvalidInput, Slice, open_release_folder, statuses
from tests.releases import group, json_of, status_of, totals_of, unchanged_numbers_of, universe_of
from tests.worlds.pairs import NASTY, UNNAMED

SEXES = {"1": "male", "2": "female"}


def noise_of(row):
    parameter = Fraction(row["noise_parameter"])
    is_gaussian = row["noise_mechanism"] == "discrete_gaussian"
    return DiscreteGaussian(parameter) if is_gaussian else DiscreteLaplace(parameter)


@pytest.mark.slow
def test_every_number_of_t1_and_t2_is_in_the_release_once_and_no_other(variant):
    def written(table):
        for path in (variant.out / table).glob("*.csv"):
            for row in rows_of(path):
                yield (row["REGION_TYPE"], row["REGION_ID"], row["ITERATION_CODE"]), row

    rows = unchanged_numbers_of(variant.out)
    t1 = {key: int(row["COUNT"]) for key, row in written("t1")}
    assert {key: row["count"] for key, row in totals_of(rows).items()} == t1
    t2 = {}
    for key, row in written("t2"):
        ages = (0, 115) if row["AGESTART"] == "*" else (int(row["AGESTART"]), int(row["AGEEND"]))
        t2[*key, SEXES[row["SEX"]], *ages] = int(row["COUNT"])
    by_sex = [row for row in rows if row["sex"] != "both"]
    assert {(*group(row), row["sex"], row["age_start"], row["age_end"]): row["count"] for row in by_sex} == t2
    assert len(by_sex) == len(t2)
    first_lines = {group(row): row["count"] for row in rows if row["table_id"] != "T01001" and row["line"] == 1}
    assert first_lines == {group(row): t1[group(row)] for row in rows if row["table"] != "total"}


def test_every_number_has_the_margin_and_variance_of_its_own_noise(variant):
    world, out = variant
    privacy = json_of(out / "release" / "privacy.json")
    is_clamped, is_pure = not world.config()["allow_negative_counts"], world.config()["privacy_defn"] == "puredp"
    confidence = Fraction(9 if is_pure else "9.5") / 10
    checked = set()
    for row in unchanged_numbers_of(out):
        draws = row["noise_draws"]
        assert draws == {"total": 1, "sex_age_4": 8, "sex_age_9": 18, "sex_age_23": 46}[row["table"]] or row["line"] > 1
        assert (row["margin_of_error"] is None) == (is_clamped and draws > 1)
        kind = (row["noise_mechanism"], row["noise_parameter"], draws)
        if kind not in checked:
            checked.add(kind)
            noise = noise_of(row).sum_of(draws)
            assert row["unclamped_margin_of_error"] == noise.margin_of_error(confidence)
            assert row["variance"] == float(noise.variance().mid())
    assert len(checked) > 4
    assert privacy["unit_of_privacy"].startswith("one person")
    readme = " ".join((out / "release" / "README.txt").read_text().split())
    assert "ABSENT IS NOT ZERO" in readme
    assert f"in {90 if is_pure else 95} of 100 cases" in readme


def test_unclamped_counts_are_sums_of_measurements(variant):
    measured, stage_1 = defaultdict(list), {}
    for path in (variant.out / "measurements").glob("*.parquet"):
        for row in pq.read_table(path).to_pylist():
            if row["stage"] == 1:
                stage_1[group(row)] = row["value"]
            else:
                measured[group(row)].append(row)
    for row in unchanged_numbers_of(variant.out):
        cells = measured[group(row)]
        if row["sex"] != "both":
            own = [cell for cell in cells if row["sex"] == SEXES[str(cell["sex"])]]
            cells = [one for one in own if row["age_start"] <= one["age_start"] and one["age_end"] <= row["age_end"]]
        inside = [cell["value"] for cell in cells]
        assert (row["unclamped_count"], row["noise_draws"]) == (sum(inside), len(inside))
        assert row["stage_1_total"] == (stage_1.get(group(row)) if row["table_id"] == "T01001" else None)


def test_lone_totals_that_passed_suppression_have_the_selection_aware_interval_and_others_their_margin(variant):
    world, out = variant
    levels = universe_of(out, "levels")
    thresholds = {(r["geography_level"], r["iteration_level"]): r["suppression_threshold"] for r in levels}
    some = False
    for row in unchanged_numbers_of(out):
        threshold = thresholds[row["geography_level"], row["iteration_level"]]
        number, margin = row["unclamped_count"], row["unclamped_margin_of_error"]
        ends = (row["interval_low"], row["interval_high"])
        if threshold is None or row["table"] != "total":
            assert ends == (max(number - margin, 0), max(number + margin, 0))
        else:
            some = True
            assert number > threshold
            assert 0 <= ends[0] <= ends[1]
    assert some == (world.config()["zero_suppression_chance"] > 0)


def test_names_come_with_the_ids(releases):
    _, out = releases.pairs()
    names = {(r["geography_level"], r["region_id"]): r["region_name"] for r in universe_of(out, "entities")}
    assert (names["STATE", "44"], names["TRACT", UNNAMED]) == (NASTY, UNNAMED)
    assert ("STATE", "99") not in names
    for row in unchanged_numbers_of(out):
        assert row["region_name"] == names[row["geography_level"], row["region_id"]]


def test_rows_are_in_the_order_of_ids_codes_and_lines(variant):
    for path in (variant.out / "release" / "numbers").rglob("*.parquet"):
        rows = pq.read_table(path, partitioning=None).to_pylist()
        keys = [(row["region_id"], row["iteration_code"], row["table_id"], row["line"]) for row in rows]
        assert all(one < other for one, other in pairwise(keys))


def test_every_group_of_the_universe_has_a_status(variant):
    """As the file formats alone tell it."""
    world, out = variant
    config, published = world.config(), totals_of(unchanged_numbers_of(out))
    by_code = {
        row["ITERATION_CODE"]: row
        for kind in ("race", "ethnicity")
        for row in rows_of(world.parameters / f"{kind}-characteristic-iterations.txt")
    }
    found = [row for batch in statuses(open_release_folder(out / "release"), Slice()) for row in batch.to_pylist()]
    entities = {(row["geography_level"], row["region_id"]) for row in universe_of(out, "entities")}
    assert {group(row) for row in found} == {(*entity, code) for entity in entities for code in by_code}
    assert len(found) == len(entities) * len(by_code)
    for row in found:
        total, level, iteration = published.get(group(row)), row["geography_level"], by_code[row["iteration_code"]]
        budget = config.get(f"privacy_budget_p_level_{iteration['LEVEL']}_{level.lower().replace('-', '_')}")
        is_hidden = iteration["DETAILED_ONLY" if level in SUBSTATE else "COARSE_ONLY"] == "True"
        absent = "suppressed" if budget and not is_hidden else "not tabulated"
        assert row["status"] == ("published" if total else absent)
        assert row["table"] == (total["table"] if total else None)
        assert (row["reason"] is None) == (row["status"] != "not tabulated")


def test_a_status_is_asked_for_one_group_at_once(plain):
    release = open_release_folder(plain.out)
    for key, row in list(totals_of(unchanged_numbers_of(plain.out)).items())[::37]:
        status = status_of(release, *key)
        assert (status["status"], status["table"]) == ("published", row["table"])
    with pytest.raises(InvalidInput, match=r'"77" is not an entity(.|\n)*"abc" is not an iteration'):
        status_of(release, "STATE", "77", "abc")


def test_duckdb_and_arrow_open_the_numbers_as_one_table(plain):
    rows, folder = unchanged_numbers_of(plain.out), plain.out / "release" / "numbers"
    relation = duckdb.sql(f"select * from read_parquet('{folder}/*/*.parquet', hive_partitioning = true)")
    assert relation.aggregate("count(*)").fetchall() == [(len(rows),)]
    totals = relation.filter("geography_level = 'STATE' and line = 1").aggregate("sum(count)").fetchall()
    assert totals == [(sum(r["count"] for r in rows if r["geography_level"] == "STATE" and r["line"] == 1),)]
    levels = ds.dataset(folder, partitioning="hive").to_table(columns=["geography_level"])["geography_level"]
    assert levels.to_pylist() == [row["geography_level"] for row in rows]


def test_the_data_dictionary_describes_every_column_of_every_file(variant):
    release = variant.out / "release"
    described = set()
    for resource in json_of(release / "datapackage.json")["resources"]:
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
                    assert set(table[column].unique().to_pylist()) - {None} <= set(constraints["enum"]), (name, column)
    assert described == {path.relative_to(release).as_posix() for path in release.rglob("*.parquet")}


def test_privacy_json_tells_the_budgets_exactly(variant):
    world, out = variant
    document, config = json_of(out / "release" / "privacy.json"), world.config()
    symbol = "rho" if config["privacy_defn"] == "zcdp" else "epsilon"
    for level in document["levels"]:
        number = {"Regional": 1, "Detailed": 2}[level["iteration_level"]]
        suffix = level["geography_level"].lower().replace("-", "_")
        budget = Fraction(level[f"budget_{symbol}"]["fraction"])
        assert budget == config[f"privacy_budget_p_level_{number}_{suffix}"]
        stages = {name: Fraction(stage[f"cost_{symbol}"]["fraction"]) for name, stage in level["stages"].items()}
        if "stage_1" in stages:
            assert stages["stage_1"] + stages["stage_2"] == budget
    assert set(document["loss"]) == {"us", "pr", "whole_run"}
    assert ("1e-10" in document["loss"]["us"].get("unbounded_epsilon_by_delta", {})) == (symbol == "rho")


def test_a_geography_level_asked_for_alone_is_written_to_a_file(plain, tmp_path):
    path = tmp_path / "status.csv"
    arguments = ["status", plain.out, "--level", "STATE", "--region", "44", "-o", path]
    assert f"Wrote {path}" in done(*arguments)
    assert len(path.read_text().splitlines()) == 1 + len(universe_of(plain.out, "iterations"))
    assert "already exists" in refused(*arguments)


@pytest.mark.slow
def test_names_that_repeat_leave_no_bytes_of_memory_in_the_files(plain, tmp_path):
    """A dictionary with a repeated text would be padded with what the memory held before."""
    world = plain.world.copy(tmp_path)
    lines = ["REGION_TYPE|REGION_ID|NAME", "COUNTY|01001|the same", "COUNTY|44007|the same"]
    (world.data / "geography-names.txt").write_text("\n".join(lines) + "\n")
    files = []
    for name in ("one", "two", "three"):
        scattered = [bytes([number]) * (1000 + number) for number in range(200)]
        out = world.run(tmp_path / name)
        del scattered
        files.append({p.name + p.parent.name: p.read_bytes() for p in out.rglob("*.parquet")})
    assert files[0] == files[1] == files[2]
    assert "the same" in {row["region_name"] for row in unchanged_numbers_of(out) if row["geography_level"] == "COUNTY"}
