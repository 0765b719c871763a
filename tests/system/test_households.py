"""SafeTab-H from files to files: exact tables where noise vanishes, the chain from totals, and what is refused."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from tests.brute_force import HouseholdBruteForce, rows_of, written_household_tables
from tests.commands import cli
from tests.conftest import SHARED
from tests.inside import InvalidInput, write_checksums
from tests.worlds.households import household_config, write_household_world, write_totals
from tests.worlds.people import write_random_world

KEY = "07" * 32
CASE = SHARED / "households" / "case-tricky"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_tables_are_those_of_a_plain_count_where_noise_vanishes(tmp_path, seed):
    world = write_household_world(tmp_path / "world", seed)
    safetab.run(*world, tmp_path / "out")
    expected = HouseholdBruteForce(*world).tables()
    assert len(expected) >= 4
    assert written_household_tables(tmp_path / "out") == expected


@pytest.mark.slow
@pytest.mark.needs_2020_files
def test_the_bureaus_own_rows(tmp_path):
    safetab.run(CASE / "parameters", CASE / "data", tmp_path / "out")
    expected = {
        path.stem: sorted(path.read_text().splitlines()[1:]) for path in sorted((CASE / "expected").glob("t[34]/*.csv"))
    }
    assert sum(map(len, expected.values())) == 4266
    assert written_household_tables(tmp_path / "out") == expected


@pytest.mark.slow
def test_rows_are_sorted_by_public_keys_and_headers_are_the_bureaus(tmp_path):
    world = write_household_world(tmp_path / "world", 1)
    safetab.run(*world, tmp_path / "out")
    lists = ("race-characteristic-iterations.txt", "ethnicity-characteristic-iterations.txt")
    level_of = {row["ITERATION_CODE"]: row["LEVEL"] for name in lists for row in rows_of(world.parameters / name)}
    for folder in ("t3/T03001", "t3/T03002", "t3/T03003", "t3/T03004", "t4/T04001", "t4/T04002"):
        cell = f"{folder[:2].upper()}_DATA_CELL"
        for name in ("us", "pr"):
            header, *rows = (tmp_path / "out" / folder / f"{name}.csv").read_text().splitlines()
            assert header == f"REGION_ID|REGION_TYPE|ITERATION_CODE|{cell}|COUNT"
            groups = list(dict.fromkeys(tuple(row.split("|")[:3]) for row in rows))
            by_level: dict[tuple[str, str], list[str]] = {}
            for region, kind, code in groups:
                by_level.setdefault((kind, level_of[code]), []).append(region + code)
            assert all(keys == sorted(keys) for keys in by_level.values())


@pytest.mark.slow
def test_negative_cells_are_raised_to_0_before_sums_if_negatives_are_not_allowed(tmp_path):
    world = write_household_world(tmp_path / "world", 2, budget=0.05, people=150)
    world.configure(allow_negative_counts=False)
    safetab.run(*world, tmp_path / "out", test_key=KEY)
    tables = written_household_tables(tmp_path / "out")
    for table, cells in (("T03002", (1, 6)), ("T03003", (2, 3, 7, 8)), ("T04002", (1, 2, 3))):
        groups: dict[str, dict[int, int]] = {}
        for row in tables[table]:
            *group, cell, count = row.split("|")
            groups.setdefault("|".join(group), {})[int(cell)] = int(count)
        assert all(min(one.values()) >= 0 for one in groups.values())
        assert all(one[0] == sum(one[cell] for cell in cells) for one in groups.values())
        assert any(0 in one.values() for one in groups.values())


@pytest.mark.slow
def test_the_same_key_gives_the_same_tables_and_batches_do_not_matter(tmp_path):
    world = write_household_world(tmp_path / "world", 3, budget=0.5)
    for number, at_once in enumerate((1 << 21, 7)):
        options = safetab.RunOptions(test_key=bytes.fromhex(KEY), groups_at_once=at_once)
        safetab.run(*world, tmp_path / str(number), options=options)
    assert written_household_tables(tmp_path / "0") == written_household_tables(tmp_path / "1")
    assert (tmp_path / "0/measurements/us.parquet").read_bytes() == (
        tmp_path / "1/measurements/us.parquet"
    ).read_bytes()


@pytest.mark.slow
def test_families_have_noise_of_their_own(tmp_path):
    """Lone totals of both families count the same households: with shared noise they would all be equal."""
    world = write_household_world(tmp_path / "world", 4, budget=0.2)
    safetab.run(*world, tmp_path / "out", test_key=KEY)
    tables = written_household_tables(tmp_path / "out")
    of_type, of_tenure = (
        {row.rsplit("|", 1)[0]: row.rsplit("|", 1)[1] for row in tables[t]} for t in ("T03001", "T04001")
    )
    both = of_type.keys() & of_tenure.keys()
    assert len(both) >= 30
    assert sum(of_type[group] == of_tenure[group] for group in both) < len(both) / 2


# totals


def test_records_of_the_other_product_are_told_first(tmp_path):
    households = write_household_world(tmp_path / "households", 5)
    people = write_random_world(tmp_path / "people", 5)
    (households.data / "person-records.txt").unlink(missing_ok=True)
    wants = {households: ("households (SafeTab-H)", people, "people (SafeTab-P)")}
    wants[people] = ("people (SafeTab-P)", households, "households (SafeTab-H)")
    for asked, (kind, held, found) in wants.items():
        told = cli("validate", asked.parameters, held.data, "-q", env={"COLUMNS": "1000"})
        assert told.exit_code == 1
        assert told.stderr.splitlines()[:2] == [
            "config.json has 1 problem:",
            f"  this is for {kind}, but the records in {held.data} are {found}. Did you mean the config.json of"
            f" {found.partition('(')[2][:-1]}, or another DATA?",
        ]


def test_a_plan_that_lacks_totals_tells_first_that_the_records_are_people(tmp_path):
    households = write_household_world(tmp_path / "households", 5)
    people = write_random_world(tmp_path / "people", 5)
    words = ["plan", str(households.parameters), str(people.data), "-q"]
    told = cli(*words, env={"COLUMNS": "1000"})
    assert told.exit_code == 1
    cause, effect = "this is for households (SafeTab-H), but the records in ", "holds no pop-group-totals"
    assert 0 < told.stderr.find(cause) < told.stderr.find(effect)


def test_households_in_the_place_of_people_are_told(tmp_path):
    households = write_household_world(tmp_path / "households", 5)
    people = write_random_world(tmp_path / "people", 5)
    (people.data / "person-records.txt").write_bytes((households.data / "household-records.txt").read_bytes())
    told = cli("validate", *people, "-q").stderr
    assert "These look like household records." in " ".join(told.split())


@pytest.mark.needs_2020_files
def test_a_place_without_its_state_is_explained():
    toy = SHARED / "households" / "case-toy-of-the-bureau"
    told = cli("validate", toy / "input_dir_zcdp", toy, env={"COLUMNS": "1000"}).stderr
    assert (
        "REGION_ID: must be 7 digits, state first, where REGION_TYPE is PLACE: pop-group-totals.txt, line 400" in told
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("99|STATE|{code}|5", "must be in the GRF-C where REGION_TYPE is STATE. Give the GRF-C of the totals"),
        ("9999|AIANNH|{code}|5", "where REGION_TYPE is AIANNH, 9999 means in no AIANNH area. Leave these rows out"),
        ("{state}99999|PLACE|{code}|5", "where REGION_TYPE is PLACE, 99999 means in no place. Leave these rows out"),
        ("{state}|STATE|9999|5", "not in the lists of iterations"),
        ("{first}", "more than one total"),
        ("{state}|STAAT|{code}|5", "must be a geography level"),
        ("{state}1|STATE|{code}|5", "must be 2 digits where REGION_TYPE is STATE"),
        ("{state}|STATE|{code}|5.0", "must be an integer"),
        ("{state}|STATE|{code}x|5", "must be 4 digits"),
        ("{state}|STATE|{code}", "a row must have 4 fields"),
    ],
)
def test_a_wrong_total_is_an_error_in_plan_and_run(tmp_path, row, words):
    world = write_household_world(tmp_path / "world", 5)
    totals = (world.data / "pop-group-totals.txt").read_text().splitlines()[1:]
    first = next(one for one in totals if "|STATE|" in one)
    state, _, code, _ = first.split("|")
    write_totals(world, [*totals, row.format(first=first, state=state, code=code)])
    for command in (("plan",), ("validate",), ("run",)):
        out = (tmp_path / "out",) if command == ("run",) else ()
        result = cli(*command, *world, *out)
        assert result.exit_code == 1
        told = " ".join(result.output.split())
        assert words in told
        if "of the totals" in words or "Leave these" in words:
            assert f"pop-group-totals.txt, line {len(totals) + 2}." in told
        assert not (tmp_path / "out").exists()


def test_no_totals_is_an_error(tmp_path):
    world = write_household_world(tmp_path / "world", 5)
    write_totals(world, [])
    assert "no total" in cli("plan", *world).output
    (world.data / "pop-group-totals.txt").unlink()
    told = cli("validate", *world).output
    assert "holds no pop-group-totals.txt" in told
    assert "Or give --totals: the output or release that published them." in told


def test_a_pass_without_any_published_total_is_refused_before_it_is_charged(tmp_path):
    """Totals of a run for the states alone, beside a configuration that asks for Puerto Rico too."""
    world = write_household_world(tmp_path / "world", 5)
    totals = (world.data / "pop-group-totals.txt").read_text().splitlines()[1:]
    write_totals(world, [one for one in totals if "|PR-" not in one])
    spend_log = tmp_path / "accounts.log"
    for command in (
        ("validate", world.parameters, world.data),
        ("plan", world.parameters, world.data),
        ("run", world.parameters, world.data, tmp_path / "out", "--dataset", "x", "--spend-log", spend_log),
    ):
        result = cli(*command)
        assert result.exit_code == 1
        told = " ".join(result.output.split())
        assert "run_pr: no published total is of this pass" in told
        assert "run_us:" not in told
    assert not spend_log.exists()
    iterations = (world.parameters / "race-characteristic-iterations.txt").read_text().splitlines()[1:]
    ignored = next(fields[0] for fields in (row.split("|") for row in iterations) if fields[5] == "True")
    write_totals(world, [*(one for one in totals if "|PR-" not in one), f"72|PR-STATE|{ignored}|5"])
    told = " ".join(cli("plan", *world).output.split())
    assert "run_pr: all published totals of this pass are ignored: its budget is spent on nothing." in told
    keys = json.loads((world.parameters / "config.json").read_text())
    (world.parameters / "config.json").write_text(json.dumps(keys | {"run_pr": False}))
    assert cli("plan", *world).exit_code == 0


def test_a_household_in_an_unknown_block_or_with_a_wrong_value_is_an_error_that_shows_no_value(tmp_path):
    world = write_household_world(tmp_path / "world", 6)
    path = world.data / "household-records.txt"
    header, first, *rest = path.read_text().splitlines()
    for position, value, words in ((3, "7777", "block"), (14, "6", "must be 1 to 5"), (15, "0", "must be 1 to 4"),
                                   (4, "64", "must be 01 to 63"), (5, "Null", "QRACE1")):  # fmt: skip
        fields = first.split("|")
        fields[position] = value
        path.write_text("\n".join([header, "|".join(fields), *rest]) + "\n")
        result = cli("validate", *world)
        assert result.exit_code == 1, position
        assert words in result.output
        assert value not in result.output.replace(words, "") or value in {"6", "0", "Null"}


# configuration


def test_budgets_of_two_products_are_a_finding(tmp_path):
    world = write_household_world(tmp_path / "world", 7)
    world.configure(privacy_budget_p_level_1_usa=1)
    result = cli("plan", *world)
    assert result.exit_code == 1
    assert "a budget of SafeTab-P among those of SafeTab-H" in result.output


@pytest.mark.parametrize("keys", [{}, {"thresholds_h_t3": {}}])
def test_a_configuration_without_budgets_is_for_the_records_beside_it(tmp_path, keys):
    world = write_household_world(tmp_path / "world", 7)
    (world.data / "person-records.txt").unlink(missing_ok=True)
    (world.parameters / "config.json").write_text(json.dumps(keys))
    for command in ("validate", "plan"):
        result = cli(command, *world)
        assert result.exit_code == 1
        assert "privacy_budget_h_t3_level_1_usa: missing" in " ".join(result.output.split())
        assert "SafeTab-P" not in result.output
        assert "privacy_budget_p" not in result.output


@pytest.mark.parametrize(("thresholds", "family"), [([1, 2, 3, 4], "t3"), ([1, 2], "t3"), ([1, 2], "t4"), ([], "t4")])
def test_the_number_of_thresholds_is_exact(tmp_path, thresholds, family):
    world = write_household_world(tmp_path / "world", 7)
    key = f"thresholds_h_{family}"
    world.configure(**{key: household_config(1)[key] | {"(USA, 1)": thresholds}})
    assert f'{key} "(USA, 1)"' in cli("plan", *world).output


def test_thresholds_may_be_below_0(tmp_path):
    world = write_household_world(tmp_path / "world", 8)
    for key, values in (("thresholds_h_t3", [-5, -1, 4]), ("thresholds_h_t4", [-2])):
        world.configure(**{key: dict.fromkeys(household_config(1)[key], values)})
    safetab.run(*world, tmp_path / "out")
    assert written_household_tables(tmp_path / "out") == HouseholdBruteForce(*world).tables()


# the chain


def person_run(world, out: Path, **options: object) -> None:
    """A run of SafeTab-P on the people of the same world."""
    config = json.loads((world.parameters / "config.json").read_text())
    levels = [key.removeprefix("privacy_budget_h_t3_") for key in config if key.startswith("privacy_budget_h_t3_")]
    shared = ("max_race_codes", "run_us", "run_pr", "state_filter_us", "reader", "privacy_defn")
    parameters = out.parent / f"{out.name}-parameters"
    parameters.mkdir()
    for path in world.parameters.glob("*.txt"):
        (parameters / path.name).write_text(path.read_text())
    persons = {name: config[name] for name in shared} | {
        **{f"privacy_budget_p_{level}": 1 for level in levels},
        "privacy_budget_p_stage_1_fraction": 0.1,
        "thresholds_p": config["thresholds_h_t3"],
        "allow_negative_counts": options.pop("allow_negative_counts", True),
    }
    (parameters / "config.json").write_text(json.dumps(persons))
    safetab.run(parameters, world.data, out, **options)


@pytest.mark.slow
def test_a_release_of_persons_stands_for_the_file_of_totals(tmp_path):
    """t1 of a run without copies is what the file would hold: the same households, key and totals give the same bytes."""
    world = write_household_world(tmp_path / "world", 9)
    person_run(world, tmp_path / "persons", test_key=KEY)
    t1 = [row for one in ("us", "pr") for row in (tmp_path / f"persons/t1/{one}.csv").read_text().splitlines()[1:]]
    write_totals(world, t1)
    safetab.run(*world, tmp_path / "from-file", test_key=KEY)
    told = cli("plan", *world, "--totals", tmp_path / "persons").output
    assert "lies in DATA and is not used" in told
    (world.data / "pop-group-totals.txt").unlink()
    for number, path in enumerate((tmp_path / "persons", tmp_path / "persons" / "release")):
        out = tmp_path / f"from-release-{number}"
        safetab.run(*world, out, test_key=KEY, totals=path)
        assert written_household_tables(out) == written_household_tables(tmp_path / "from-file")
        hashed = json.loads((out / "manifest.json").read_text())["public_files"]
        assert any(name.startswith("totals/numbers/") for name in hashed)
    assert "without the coterminous step" in cli("plan", *world, "--totals", tmp_path / "persons").output


@pytest.mark.slow
def test_totals_that_are_not_public_clamped_or_ruled_are_refused(tmp_path):
    world = write_household_world(tmp_path / "world", 10)
    person_run(world, tmp_path / "clamped", allow_negative_counts=False, coterminous=True)
    person_run(world, tmp_path / "ruled", rules=["withhold-negatives"], coterminous=True)
    person_run(world, tmp_path / "right", coterminous=True)
    for name, words in (("clamped", "raised to 0"), ("ruled", "withhold-negatives")):
        assert words in cli("plan", *world, "--totals", tmp_path / name).output
    assert cli("plan", *world, "--totals", tmp_path / "right").exit_code == 0
    (world.data / "SYNTHETIC").unlink()
    assert "not public" in cli("plan", *world, "--totals", tmp_path / "right").output
    assert "is not a release" in cli("plan", *world, "--totals", tmp_path).output


@pytest.mark.slow
def test_totals_of_a_test_key_do_not_become_public_by_being_copied_and_read_again(tmp_path):
    world = write_household_world(tmp_path / "world", 10)
    person_run(world, tmp_path / "persons", coterminous=True, test_key=KEY)
    assert cli("export", tmp_path / "persons", tmp_path / "census", "--form", "census").exit_code == 0
    (tmp_path / "copied").mkdir()
    files = [shutil.copy(one, tmp_path / "copied") for one in sorted((tmp_path / "census").glob("T0*.csv"))]
    parameters = tmp_path / "persons-parameters"
    read = cli("official", *files, tmp_path / "official", "--parameters", parameters, "--complete")
    assert read.exit_code == 0, read.output
    (world.data / "SYNTHETIC").unlink()
    result = cli("run", *world, tmp_path / "out", "--totals", tmp_path / "official")
    assert result.exit_code == 1
    assert "its totals are not public. Status: test key." in " ".join(result.output.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_release_whose_totals_are_withheld_is_refused(tmp_path):
    world = write_household_world(tmp_path / "world", 10)
    person_run(world, tmp_path / "persons", coterminous=True)
    path = tmp_path / "persons/release/numbers/geography_level=STATE/detailed-sex-by-age.parquet"
    table = pq.read_table(path, partitioning=None)
    counts = [None, *table["unclamped_count"].to_pylist()[1:]]
    at = table.column_names.index("unclamped_count")
    pq.write_table(table.set_column(at, "unclamped_count", pa.array(counts, pa.int64())), path)
    write_checksums(tmp_path / "persons/release")
    result = cli("plan", *world, "--totals", tmp_path / "persons")
    assert result.exit_code == 1
    assert "totals are withheld in it" in result.output


@pytest.mark.slow
def test_a_release_with_two_totals_for_a_group_is_refused_before_anything_is_spent(tmp_path):
    world, log = write_household_world(tmp_path / "world", 10), tmp_path / "spend.log"
    person_run(world, tmp_path / "persons", coterminous=True)
    path = tmp_path / "persons/release/numbers/geography_level=STATE/detailed-sex-by-age.parquet"
    table = pq.read_table(path, partitioning=None)
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), path)
    write_checksums(tmp_path / "persons/release")
    result = cli(
        "run", *world, tmp_path / "out", "--totals", tmp_path / "persons", "--dataset", "x",
        "--spend-log", log,
    )  # fmt: skip
    assert result.exit_code == 1
    assert "a group has more than one total: STATE" in result.output
    assert not log.exists()


def test_persons_measure_their_own_totals(tmp_path):
    world = write_household_world(tmp_path / "world", 11)
    person_run(world, tmp_path / "persons")
    result = cli("plan", tmp_path / "persons-parameters", world.data, "--totals", tmp_path / "persons")
    assert result.exit_code == 1
    assert "measures its own totals" in result.output


# what both cost


def test_both_products_together(tmp_path):
    world = write_household_world(tmp_path / "world", 12, budget=0.25)
    person_run(world, tmp_path / "persons")
    made = cli("plan", *world, "--with", tmp_path / "persons-parameters", "--json")
    rows = {row["change"]: row for row in json.loads(made.stdout)["joint_loss"]}
    persons, households = 12, 2 * 12 * 0.25  # levels of the US pass; both families
    assert float(rows["one household record is added or removed"]["us"]["rho"]) == households
    assert float(rows["a person is added or removed"]["us"]["rho"]) == persons + 2 * households
    assert float(rows["a person moves to another household"]["us"]["rho"]) == 2 * persons + 8 * households
    assert float(rows["a household of 3 people is added or removed"]["us"]["rho"]) == 9 * persons + households
    other_way = cli("plan", tmp_path / "persons-parameters", world.data, "--with", world.parameters, "--json")
    assert json.loads(other_way.stdout)["joint_loss"] == json.loads(made.stdout)["joint_loss"]
    assert cli("plan", *world, "--with", world.parameters).exit_code == 1


@pytest.mark.slow
def test_a_persons_account_adds_both_products(tmp_path):
    world = write_household_world(tmp_path / "world", 13, budget=0.25)
    log = tmp_path / "spend.log"
    person_run(world, tmp_path / "persons", dataset="census", spend_log=log, spend_limit="24")
    safetab.run(*world, tmp_path / "out", dataset="census", spend_log=log)
    told = json.loads(cli("spend", log, "--json").stdout)
    assert "24" in json.dumps(told)
    with pytest.raises(InvalidInput, match="more than the limit"):
        safetab.run(*world, tmp_path / "again", dataset="census", spend_log=log)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
