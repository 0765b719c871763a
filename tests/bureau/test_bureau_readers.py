"""The Census Bureau's tests of its readers of the Census Edited File, on made-up people: its own files are not public.

The truth is read in plain Python by the positions of the record layout, and joined as the Bureau's readers join it.
"""

import shutil
from collections import Counter
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.bureau.outputs import Output, group_of, wrong_with
from tests.bureau.worlds import BLOCK, RECORDS, TOTALS, TOTALS_COLUMNS, Row, Written, config_of, regions_of, text_of
from tests.commands import done
from tests.plain_cef import Cef
from tests.system.inputs.test_cef_tables import as_text
from tests.worlds.households import COLUMNS as HOUSEHOLD_COLUMNS
from tests.worlds.people import PERSON_HEADER
from tests.worlds.world import World

pytestmark = pytest.mark.slow

SIZE = ("--people", 400, "--states", 2, "--counties", 4, "--tracts", 6, "--iterations", 40)
US, PUERTO_RICO = ["06", "48"], ["72"]
STATES = {"Puerto Rico": PUERTO_RICO, "U.S.": US, "both": US + PUERTO_RICO}
COLUMNS = {"person-records": PERSON_HEADER.split("|"), "household-records": list(HOUSEHOLD_COLUMNS)}


@pytest.fixture(scope="module")
def census(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cef") / "census"
    done("synthesize", folder, "--us", "--format", "cef", *SIZE)
    return folder


@pytest.fixture(scope="module")
def cef(census):
    return Cef(census / "data" / "reader.ini")


def truth_in(cef, table):
    records = {"person-records": cef.person_records, "household-records": cef.household_records}[table]()
    return list(map("|".join, records))


@dataclass(frozen=True)
class Counted:
    """Runs without noise in some states: of persons, and of households with the totals of the first."""

    states: list[str]
    blocks: list[Row]
    persons: Output
    households: Output


@pytest.fixture(scope="module", params=STATES)
def counted(request, census, cef, tmp_path_factory):
    states, folder = STATES[request.param], tmp_path_factory.mktemp("counted")
    data = tmp_path_factory.mktemp("data")
    (data / "GRF-C.txt").write_text(text_of(cef.blocks, [*BLOCK, "PLACEFP", "AIANNHCE"]))
    for table, columns in COLUMNS.items():
        (data / f"{table}.txt").write_text("\n".join(["|".join(columns), *truth_in(cef, table)]))
    passes = {"run_us": "06" in states, "run_pr": "72" in states}

    def run(product, thresholds, records, *options, **config):
        world = World(shutil.copytree(census / product, folder / product), data)
        asked = {"budgets": "without noise", "thresholds": thresholds, "config": passes | config}
        world.write_config(config_of(asked, {"config": world.config()}))
        out = folder / f"{product}-out"
        done("run", world.parameters, cef.reader, out, *options)
        return Output(out, Written(world, world.config(), {records: ""}))

    persons = run("parameters", [0, 1, 2], RECORDS[0], zero_suppression_chance=0)
    (data / TOTALS).write_text(text_of(persons.tables["t1"], TOTALS_COLUMNS))
    households = run("household-parameters", [[1, 2, 3], [2]], RECORDS[1], "--totals", persons.folder)
    return Counted(states, [block for block in cef.blocks if block["TABBLKST"] in states], persons, households)


def test_tables_are_those_of_the_records_in_the_files(counted):
    kinds = {"STATE": US, "PR-STATE": PUERTO_RICO}
    listed = {kind: [state for state in own if state in counted.states] for kind, own in kinds.items()}
    assert wrong_with(counted.persons, {"oracle": True, "pop_groups": "p", "listed_regions": listed}) == []
    assert wrong_with(counted.households, {"oracle": True, "pop_groups": "h"}) == []


def test_households_are_counted_in_regions_of_these_states_for_each_total(counted):
    groups = set(map(group_of, counted.households.rows))
    regions = {(kind, region) for region, kind, _ in groups}
    assert regions == {pair for block in counted.blocks for pair in regions_of(block).items()}
    assert {region[:2] for kind, region in regions - {("USA", "1")} if kind != "AIANNH"} == set(counted.states)
    assert len(groups) == len(counted.persons.tables["t1"])


@pytest.fixture(scope="module")
def converted(cef, tmp_path_factory):
    out = tmp_path_factory.mktemp("converted") / "out"
    done("cef", "convert", cef.reader, out)
    return out


@pytest.mark.parametrize("table", COLUMNS)
def test_converted_records_are_those_of_the_files_with_codes_as_integers(table, cef, converted):
    for state in cef.states:
        schema = pq.read_schema(converted / table / f"{state}.parquet")
        assert schema.names == COLUMNS[table]
        assert {field.name for field in schema if not pa.types.is_integer(field.type)} <= {"HOUSEHOLDER"}
    assert as_text(converted / table, COLUMNS[table]) == Counter(truth_in(cef, table))


def test_households_are_occupied_housing_units(cef, converted):
    units = Counter((unit["RTYPE"], unit["HHT"] != "0") for unit in cef.units)
    assert units.keys() == {("2", True), ("2", False), ("4", False)}
    assert pq.read_table(converted / "household-records").num_rows == units["2", True]
