"""SafeTab-H from files to files: exact tables where noise vanishes, the chain from totals, and what is refused."""

import json
import shutil
import stat
from collections import defaultdict
from itertools import permutations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from tests.brute_force import HouseholdBruteForce, rows_of, written_household_tables
from tests.commands import cli, done, invalid, refused
from tests.conftest import SHARED
from tests.inside import write_checksums
from tests.releases import json_of, lines_of
from tests.worlds.households import household_config, write_household_world, write_totals
from tests.worlds.world import World

KEY = "07" * 32
TABLES = "t3/T03001 t3/T03002 t3/T03003 t3/T03004 t4/T04001 t4/T04002"
SHARED_KEYS = "max_race_codes run_us run_pr state_filter_us reader privacy_defn"
CASE = World.of(SHARED / "households" / "case-tricky")


@pytest.fixture
def world(both_products, tmp_path):
    """A copy of a small census that a test may change."""
    return World.of(both_products / "h").copy(tmp_path / "world")


@pytest.fixture
def people(both_products, tmp_path):
    return World.of(both_products / "p").copy(tmp_path / "people")


def ran(folder, seed, key=KEY, **world):
    """A census and its run, into `out`."""
    made = write_household_world(folder / "world", seed, **world)
    safetab.run(*made, folder / "out", test_key=key)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_tables_are_those_of_a_plain_count_where_noise_vanishes(tmp_path, seed):
    expected = HouseholdBruteForce(*ran(tmp_path, seed, None)).tables()
    assert len(expected) >= 4
    assert written_household_tables(tmp_path / "out") == expected


@pytest.mark.slow
@pytest.mark.needs_2020_files
def test_the_bureaus_own_rows(out):
    safetab.run(*CASE, out)
    files = (CASE.data.parent / "expected").glob("t[34]/*.csv")
    expected = {path.stem: sorted(lines_of(path)[1:]) for path in files}
    assert sum(map(len, expected.values())) == 4266
    assert written_household_tables(out) == expected


@pytest.mark.slow
def test_rows_are_sorted_by_public_keys_and_headers_are_the_bureaus(tmp_path):
    world = ran(tmp_path, 1, None)
    lists = ("race-characteristic-iterations.txt", "ethnicity-characteristic-iterations.txt")
    level_of = {row["ITERATION_CODE"]: row["LEVEL"] for name in lists for row in rows_of(world.parameters / name)}
    for folder in TABLES.split():
        cell = f"{folder[:2].upper()}_DATA_CELL"
        for name in ("us", "pr"):
            header, *rows = lines_of(tmp_path / "out" / folder / f"{name}.csv")
            assert header == f"REGION_ID|REGION_TYPE|ITERATION_CODE|{cell}|COUNT"
            groups = list(dict.fromkeys(tuple(row.split("|")[:3]) for row in rows))
            by_level = defaultdict(list)
            for region, kind, code in groups:
                by_level[kind, level_of[code]].append(region + code)
            assert all(keys == sorted(keys) for keys in by_level.values())


@pytest.mark.slow
def test_negative_cells_are_raised_to_0_before_sums_if_negatives_are_not_allowed(out, tmp_path):
    world = write_household_world(tmp_path / "world", 2, budget=0.05, people=150)
    world.configure(allow_negative_counts=False)
    safetab.run(*world, out, test_key=KEY)
    tables = written_household_tables(out)
    for table, cells in (("T03002", (1, 6)), ("T03003", (2, 3, 7, 8)), ("T04002", (1, 2, 3))):
        groups = defaultdict(dict)
        for row in tables[table]:
            *group, cell, count = row.split("|")
            groups[*group][int(cell)] = int(count)
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
    first, second = ((tmp_path / name / "measurements/us.parquet").read_bytes() for name in "01")
    assert first == second


@pytest.mark.slow
def test_families_have_noise_of_their_own(tmp_path):
    """Lone totals of both families count the same households: with shared noise they would all be equal."""
    ran(tmp_path, 4, budget=0.2)
    tables = written_household_tables(tmp_path / "out")
    of_type, of_tenure = (dict(row.rsplit("|", 1) for row in tables[table]) for table in ("T03001", "T04001"))
    both = of_type.keys() & of_tenure.keys()
    assert len(both) >= 30
    assert sum(of_type[group] == of_tenure[group] for group in both) < len(both) / 2


# totals


def test_records_of_the_other_product_are_told_first(world, people):
    (world.data / "person-records.txt").unlink(missing_ok=True)
    of_households, of_people = (world, "households (SafeTab-H)"), (people, "people (SafeTab-P)")
    for (asked, kind), (held, found) in permutations((of_households, of_people)):
        told = cli("validate", asked.parameters, held.data, "-q").stderr.splitlines()
        assert told[0] == "config.json has 1 problem:"
        assert told[1].startswith(f"  this is for {kind}, but the records in {held.data} are {found}. Did you mean")


def test_a_plan_that_lacks_totals_tells_first_that_the_records_are_people(world, people):
    told = refused("plan", world.parameters, people.data, "-q")
    cause, effect = "this is for households (SafeTab-H), but the records in ", "holds no pop-group-totals"
    assert 0 < told.find(cause) < told.find(effect)


def test_households_in_the_place_of_people_are_told(world, people):
    shutil.copy(world.data / "household-records.txt", people.data / "person-records.txt")
    assert "These look like household records." in refused("validate", *people, "-q")


@pytest.mark.needs_2020_files
def test_a_place_without_its_state_is_explained():
    toy = SHARED / "households" / "case-toy-of-the-bureau"
    told = refused("validate", toy / "input_dir_zcdp", toy)
    assert "must be 7 digits, state first, where REGION_TYPE is PLACE: pop-group-totals.txt, line 400" in told


WRONG_TOTALS = """
99|STATE|{code}|5: must be in the GRF-C where REGION_TYPE is STATE. Give the GRF-C of the totals
9999|AIANNH|{code}|5: where REGION_TYPE is AIANNH, 9999 means in no AIANNH area. Leave these rows out
{state}99999|PLACE|{code}|5: where REGION_TYPE is PLACE, 99999 means in no place. Leave these rows out
{state}|STATE|9999|5: not in the lists of iterations
{first}: more than one total
{state}|STAAT|{code}|5: must be a geography level
{state}1|STATE|{code}|5: must be 2 digits where REGION_TYPE is STATE
{state}|STATE|{code}|5.0: must be an integer
{state}|STATE|{code}x|5: must be 4 digits
{state}|STATE|{code}: a row must have 4 fields
"""


def totals_of(world):
    return lines_of(world.data / "pop-group-totals.txt")[1:]


@pytest.mark.parametrize("wrong", WRONG_TOTALS.split("\n")[1:-1])
def test_a_wrong_total_is_an_error(wrong, world):
    row, words = wrong.split(": ")
    totals = totals_of(world)
    first = next(one for one in totals if "|STATE|" in one)
    state, _, code, _ = first.split("|")
    write_totals(world, [*totals, row.format(first=first, state=state, code=code)])
    told = invalid(safetab.plan, *world)
    assert words in told
    if "of the totals" in words or "Leave these" in words:
        assert f"pop-group-totals.txt, line {len(totals) + 2}." in told


def refusals(world, folder):
    """What each command says of a census that it refuses, before anything is spent or written."""
    account = ("--dataset", "x", "--spend-log", folder / "accounts.log")
    for command, *more in (["plan"], ["validate"], ["run", folder / "out", *account]):
        yield refused(command, *world, *more)
    assert not (folder / "out").exists()
    assert not (folder / "accounts.log").exists()


def test_a_wrong_total_stops_every_command(world, tmp_path):
    write_totals(world, [*totals_of(world), "99|STAAT|x|5"])
    for told in refusals(world, tmp_path):
        assert "must be a geography level" in told


def test_no_totals_is_an_error(world):
    write_totals(world, [])
    assert "no total" in refused("plan", *world)
    (world.data / "pop-group-totals.txt").unlink()
    told = refused("validate", *world)
    assert "holds no pop-group-totals.txt" in told
    assert "Or give --totals: the output or release that published them." in told


def test_a_pass_without_any_published_total_is_refused_before_it_is_charged(world, tmp_path):
    """Totals of a run for the states alone, beside a configuration that asks for Puerto Rico too."""
    of_states = [one for one in totals_of(world) if "|PR-" not in one]
    write_totals(world, of_states)
    for told in refusals(world, tmp_path):
        assert "run_pr: no published total is of this pass" in told
        assert "run_us:" not in told
    iterations = rows_of(world.parameters / "race-characteristic-iterations.txt")
    ignored = next(row["ITERATION_CODE"] for row in iterations if row["COARSE_ONLY"] == "True")
    write_totals(world, [*of_states, f"72|PR-STATE|{ignored}|5"])
    told = done("plan", *world)
    assert "run_pr: all published totals of this pass are ignored: its budget is spent on nothing." in told
    world.configure(run_pr=False)
    done("plan", *world)


def test_households_with_wrong_values_are_errors_that_show_no_value(world):
    path = world.data / "household-records.txt"
    header, *rest = lines_of(path)
    first = next(row for row in rest if row.startswith("44")).split("|")
    wrong = {3: "7777", 14: "68686", 15: "07070", 4: "6464", 5: "Null"}
    rows = [[*first[:at], value, *first[at + 1 :]] for at, value in wrong.items()]
    path.write_text("\n".join([header, *map("|".join, rows), *rest]) + "\n")
    told = refused("validate", *world)
    for words in ["block must be", "must be 1 to 5", "must be 1 to 4", "must be 01 to 63", "QRACE1"]:
        assert words in told, told
    assert not any(value in told for value in wrong.values() if value != "Null")


# configuration


def test_budgets_of_two_products_are_a_finding(world):
    world.configure(privacy_budget_p_level_1_usa=1)
    assert "a budget of SafeTab-P among those of SafeTab-H" in refused("plan", *world)


@pytest.mark.parametrize("keys", [{}, {"thresholds_h_t3": {}}])
def test_a_configuration_without_budgets_is_for_the_records_beside_it(world, keys):
    (world.data / "person-records.txt").unlink(missing_ok=True)
    world.write_config(keys)
    for command in ("validate", "plan"):
        told = refused(command, *world)
        assert "privacy_budget_h_t3_level_1_usa: missing" in told
        assert "SafeTab-P" not in told
        assert "privacy_budget_p" not in told


def test_the_number_of_thresholds_is_exact(world):
    wrong = {"t3": {"(USA, 1)": [1, 2, 3, 4], "(USA, 2)": [1, 2]}, "t4": {"(USA, 1)": [1, 2], "(USA, 2)": []}}
    world.configure(**{f"thresholds_h_{key}": household_config(1)[f"thresholds_h_{key}"] | wrong[key] for key in wrong})
    told = refused("plan", *world)
    for key, levels in wrong.items():
        assert all(f'thresholds_h_{key} "{level}"' in told for level in levels)


def test_thresholds_may_be_below_0(out, tmp_path):
    world = write_household_world(tmp_path / "world", 8, people=60)
    levels = household_config(1)["thresholds_h_t3"]
    below = {"thresholds_h_t3": dict.fromkeys(levels, (-5, -1, 4)), "thresholds_h_t4": dict.fromkeys(levels, (-2,))}
    world.configure(run_pr=False, **below)
    safetab.run(*world, out)
    assert written_household_tables(out) == HouseholdBruteForce(*world).tables()


# the chain


def of_persons(world, name, **changes):
    """The same world with a configuration of SafeTab-P."""
    config = world.config()
    levels = [key.removeprefix("privacy_budget_h_t3_") for key in config if key.startswith("privacy_budget_h_t3_")]
    shared = SHARED_KEYS.split()
    parameters = shutil.copytree(world.parameters, world.parameters.parent / f"{name}-parameters")
    persons = World(parameters, world.data)
    persons.write_config(
        {key: config[key] for key in shared}
        | {f"privacy_budget_p_{level}": 1 for level in levels}
        | {"privacy_budget_p_stage_1_fraction": 0.1, "thresholds_p": config["thresholds_h_t3"]}
        | {"allow_negative_counts": True, **changes}
    )
    return persons


@pytest.mark.slow
def test_a_release_of_persons_stands_for_the_file_of_totals(tmp_path):
    """t1 of a run without copies is what the file would hold: the same households, key and totals give the same bytes."""
    world = write_household_world(tmp_path / "world", 9)
    of_persons(world, "persons").run(tmp_path / "persons", test_key=KEY)
    t1 = [row for one in ("us", "pr") for row in lines_of(tmp_path / f"persons/t1/{one}.csv")[1:]]
    write_totals(world, t1)
    safetab.run(*world, tmp_path / "from-file", test_key=KEY)
    told = cli("plan", *world, "--totals", tmp_path / "persons").output
    assert "lies in DATA and is not used" in told
    (world.data / "pop-group-totals.txt").unlink()
    for number, path in enumerate((tmp_path / "persons", tmp_path / "persons" / "release")):
        out = tmp_path / f"from-release-{number}"
        safetab.run(*world, out, test_key=KEY, totals=path)
        assert written_household_tables(out) == written_household_tables(tmp_path / "from-file")
        hashed = json_of(out / "manifest.json")["public_files"]
        assert any(name.startswith("totals/numbers/") for name in hashed)
    assert "without the coterminous step" in cli("plan", *world, "--totals", tmp_path / "persons").output


@pytest.mark.slow
def test_totals_that_are_not_public_clamped_or_ruled_are_refused(tmp_path):
    world = write_household_world(tmp_path / "world", 10)
    of_persons(world, "clamped", allow_negative_counts=False).run(tmp_path / "clamped", coterminous=True, test_key=None)
    persons = of_persons(world, "persons")
    for name, rules in (("ruled", ["withhold-negatives"]), ("right", [])):
        persons.run(tmp_path / name, rules=rules, coterminous=True, test_key=None)
    plan = ("plan", *world, "--totals")
    assert "raised to 0" in refused(*plan, tmp_path / "clamped")
    assert "withhold-negatives" in refused(*plan, tmp_path / "ruled")
    done(*plan, tmp_path / "right")
    (world.data / "SYNTHETIC").unlink()
    assert "not public" in refused(*plan, tmp_path / "right")
    assert "is not a release" in refused(*plan, tmp_path)


@pytest.mark.slow
def test_totals_of_a_test_key_do_not_become_public_by_being_copied_and_read_again(out, tmp_path):
    world = write_household_world(tmp_path / "world", 10)
    persons = of_persons(world, "persons")
    persons.run(tmp_path / "persons", coterminous=True)
    done("export", tmp_path / "persons", tmp_path / "census", "--form", "census")
    (tmp_path / "copied").mkdir()
    files = [shutil.copy(one, tmp_path / "copied") for one in sorted((tmp_path / "census").glob("T0*.csv"))]
    done("official", *files, tmp_path / "official", "--parameters", persons.parameters, "--complete")
    (world.data / "SYNTHETIC").unlink()
    told = refused("run", *world, out, "--totals", tmp_path / "official")
    assert "its totals are not public. Status: test key." in told
    assert not out.exists()


@pytest.fixture
def damaged(tmp_path):
    """A census of households, and what changes the totals of its people in their release, and renews its checksums."""
    world = write_household_world(tmp_path / "world", 10)
    out = of_persons(world, "persons").run(tmp_path / "persons", coterminous=True, test_key=None)
    path = out / "release/numbers/geography_level=STATE/detailed-sex-by-age.parquet"

    def change(changed):
        pq.write_table(changed(pq.read_table(path, partitioning=None)), path)
        write_checksums(out / "release")

    return world, out, change


@pytest.mark.slow
def test_a_release_whose_totals_are_withheld_is_refused(damaged):
    def without_the_first(table):
        counts = pa.array([None, *table["unclamped_count"].to_pylist()[1:]], pa.int64())
        return table.set_column(table.column_names.index("unclamped_count"), "unclamped_count", counts)

    world, out, change = damaged
    change(without_the_first)
    assert "totals are withheld in it" in refused("plan", *world, "--totals", out)


@pytest.mark.slow
def test_a_release_with_two_totals_for_a_group_is_refused_before_anything_is_spent(damaged, tmp_path):
    world, out, change = damaged
    change(lambda table: pa.concat_tables([table, table.slice(0, 1)]))
    account = ["--dataset", "x", "--spend-log", tmp_path / "spend.log"]
    told = refused("run", *world, tmp_path / "out", "--totals", out, *account)
    assert "a group has more than one total: STATE" in told
    assert not (tmp_path / "spend.log").exists()


def test_persons_measure_their_own_totals(both_products, people):
    assert "measures its own totals" in refused("plan", *people, "--totals", both_products / "people")


# what both cost


def test_both_products_together(tmp_path):
    world = write_household_world(tmp_path / "world", 12, budget=0.25)
    of_people = of_persons(world, "persons")
    joint = json.loads(cli("plan", *world, "--with", of_people.parameters, "--json").stdout)["joint_loss"]
    persons, households = 12, 2 * 12 * 0.25  # levels of the US pass; both families
    assert {row["change"]: float(row["us"]["rho"]) for row in joint}.items() >= {
        "one household record is added or removed": households,
        "a person is added or removed": persons + 2 * households,
        "a person moves to another household": 2 * persons + 8 * households,
        "a household of 3 people is added or removed": 9 * persons + households,
    }.items()
    assert json.loads(cli("plan", *of_people, "--with", world.parameters, "--json").stdout)["joint_loss"] == joint
    refused("plan", *world, "--with", world.parameters)


@pytest.mark.slow
def test_a_persons_account_adds_both_products(tmp_path):
    world = write_household_world(tmp_path / "world", 13, budget=0.25)
    log = tmp_path / "spend.log"
    of_persons(world, "persons").run(
        tmp_path / "persons", dataset="census", spend_log=log, spend_limit="24", test_key=None
    )
    safetab.run(*world, tmp_path / "out", dataset="census", spend_log=log)
    assert "24" in done("spend", log, "--json")
    assert "more than the limit" in invalid(safetab.run, *world, tmp_path / "again", dataset="census", spend_log=log)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
