"""Households of a synthetic census: a CEF that keeps to every rule, and household records that agree with it."""

import csv
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.cases import cases_of
from tests.commands import done, refused
from tests.conftest import SHARED, SMALL_EXAMPLE
from tests.inside import (
    GRF_COLUMNS,
    StatePeople,
    demo_plan,
    demographics,
    households_units_module,
    palettes_of,
    state_geography,
    state_people_module,
)
from tests.plain_cef import (
    OWN_CHILDREN,
    PARTNERS,
    PERSON,
    RELATIVES,
    SPOUSES,
    UNIT,
    Cef,
    ages_of_children,
    broken_fields,
    household_type,
)
from tests.releases import files_of, json_of

pytestmark = pytest.mark.slow

SMALL = "--states 2 --counties 6 --tracts 30 --iterations 120 --seed 11"
DENSE = "40000 --states 1 --counties 1 --tracts 1 --iterations 40"  # blocks that cross chunks
SPARSE = "9000 --states 3 --counties 9 --tracts 90 --iterations 40"  # hardly two people a block
HOUSEHOLDS_HEADER = (
    "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|HHRACE|"
    "QRACE1|QRACE2|QRACE3|QRACE4|QRACE5|QRACE6|QRACE7|QRACE8|QSPAN|HOUSEHOLD_TYPE|TEN"
)


def made(out, words):
    done("synthesize", out, *f"--people {words}".split())
    return out


def made_cef(out, words):
    return Cef(made(out, f"{words} --format cef") / "data" / "reader.ini")


def refusal(out, words, code=2):
    said = refused("synthesize", out, *f"--people {words}".split(), code=code)
    assert not out.exists()
    return said


def text_rows(out, table):
    parts = sorted((out / "data" / table).iterdir())
    return [line.split("|") for part in parts for line in part.read_text().splitlines()[1:]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("households")


@pytest.fixture(scope="module")
def small(folder):
    return made_cef(folder / "small", f"20000 {SMALL}")


@pytest.fixture(scope="module", params=["small", "dense", "sparse"])
def cef(request, folder, small):
    if request.param == "small":
        return small
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_people_module, "CHUNK_PEOPLE", 3_000)
        return made_cef(folder / request.param, DENSE if request.param == "dense" else SPARSE)


@pytest.fixture(scope="module")
def text(folder):
    return made(folder / "text", f"20000 {SMALL} --format text --households")


def test_every_field_of_every_line_is_legal(cef):
    assert broken_fields(cef.persons, PERSON) == {}
    assert broken_fields(cef.units, UNIT) == {}
    for record in (*cef.persons, *cef.units):
        assert record["BCUSTATEFP"] == record["file's state"]


def test_persons_units_and_blocks_belong_together(cef):
    assert len(cef.unit_of_mafid) == len(cef.units)
    assert len(cef.block_of_oid) == len(cef.blocks)
    assert all(len(block) == 76 for block in cef.blocks)
    for unit in cef.units:
        block = cef.block_of_oid[unit["OIDTB"].strip()]
        assert block["TABBLKST"] == unit["BCUSTATEFP"]
    for mafid, members in cef.members.items():
        unit = cef.unit_of_mafid[mafid]
        assert {person["RTYPE"] for person in members} <= {{"2": "3", "4": "5"}[unit["RTYPE"]]}
        assert int(unit["FINAL_POP"]) == len(members)
        assert sorted(int(person["CUF_PNC"]) for person in members) == list(range(1, len(members) + 1))
        assert {person["QGQTYP"] for person in members} <= {unit["QGQTYP"]}


def test_the_counts_are_those_of_the_files(cef):
    for state in cef.states:
        found = cef.counts(state)
        for name, records, housing in (("UNIT", cef.units, "2"), ("PER", cef.persons, "3")):
            kinds = Counter(record["RTYPE"] for record in records if record["file's state"] == state)
            expected = (kinds.total(), kinds[housing], kinds.total() - kinds[housing])
            assert tuple(int(found[f"COUNT_{name}{kind}"]) for kind in ("", "_HU", "_GQ")) == expected


def test_what_the_unit_record_says_follows_from_the_members(cef):
    for mafid, members in cef.members.items():
        unit = cef.unit_of_mafid[mafid]
        if unit["RTYPE"] == "2" and members:
            check_household(unit, members)
        else:
            check_not_in_universe(unit, members)


def check_household(unit, members):
    (householder,) = (person for person in members if person["RELSHIP"] == "20")
    ages = [int(person["QAGE"]) for person in members]
    own = [int(person["QAGE"]) for person in members if person["RELSHIP"] in OWN_CHILDREN]
    assert unit["HHT"] == household_type(members)
    assert unit["HHT2"] == type_2(householder, members)
    assert int(unit["HHLDRAGE"]) == int(householder["QAGE"]) >= 15
    assert unit["HHSPAN"] == householder["CENHISP"] == ("1" if householder["QSPAN"] == "9950" else "2")
    assert (unit["HHLDRACE"], unit["HHRACE"]) == (householder["QRACEX"], householder["CENRACE"])
    assert unit["HHSEX"] == householder["QSEX"]
    assert unit["TEN"] in "1234"
    assert unit["TEN"] == unit["TEN_A"] == unit["TEN_R"]
    assert (unit["VACS"], unit["QGQTYP"], unit["GQSEX"]) == ("0", "   ", " ")
    assert int(unit["P18"]) == sum(age < 18 for age in ages)
    assert [int(unit[f"P{age}"]) for age in (60, 65, 75)] == [sum(one >= age for one in ages) for age in (60, 65, 75)]
    assert unit["PAC"] == ages_of_children(ages)
    assert unit["PAOC"] == ages_of_children(own)
    assert {person["LIVE_ALONE"] for person in members} == {"1" if len(members) == 1 else "2"}
    check_relationships(unit, householder, members)


def type_2(householder, members):
    relationships = {person["RELSHIP"] for person in members}
    has_own = any(person["RELSHIP"] in OWN_CHILDREN and int(person["QAGE"]) < 18 for person in members)
    if relationships & (SPOUSES | PARTNERS):
        return f"{(1 if relationships & SPOUSES else 3) + (not has_own):02d}"
    others = 0 if len(members) == 1 else 1 if has_own else 2 if relationships & RELATIVES else 3
    return f"{(5 if householder['QSEX'] == '2' else 9) + others:02d}"


def check_relationships(unit, householder, members):
    couple = [person for person in members if person["RELSHIP"] in SPOUSES | PARTNERS]
    assert len(couple) <= 1
    assert unit["CPLT"] == ({"21": "1", "23": "2", "22": "3", "24": "4"}[couple[0]["RELSHIP"]] if couple else "5")
    for person in members:
        older = int(householder["QAGE"]) - int(person["QAGE"])
        relationship = person["RELSHIP"]
        assert relationship not in {"37", "38"}
        if relationship in SPOUSES | PARTNERS:
            assert int(person["QAGE"]) >= 18
            assert abs(older) <= 14
            assert (person["QSEX"] == householder["QSEX"]) == (relationship in {"23", "24"})
        if relationship in OWN_CHILDREN:
            assert 16 <= older <= 50
        if relationship == "29":
            assert -50 <= older <= -16
        if relationship == "30":
            assert older >= 38
    partner = couple[0] if couple and couple[0]["RELSHIP"] in PARTNERS else None
    sexes = None if partner is None else (householder["QSEX"], partner["QSEX"])
    assert unit["UPART"] == {None: "5", ("1", "1"): "1", ("1", "2"): "2", ("2", "2"): "3", ("2", "1"): "4"}[sexes]
    generations = {
        {"29": -1, "31": -1, "32": 1, "30": 2}.get(person["RELSHIP"], int(person["RELSHIP"] in OWN_CHILDREN))
        for person in members
    }
    assert unit["MULTG"] == ("2" if len(generations) >= 3 else "1")


def check_not_in_universe(unit, members):
    zeros = ("TEN", "TEN_A", "TEN_R", "HHT", "HHT2", "CPLT", "UPART", "MULTG", "PAOC", "PAC", "HHSEX", "P18", "P75")
    assert {int(unit[name]) for name in zeros} == {0}
    assert not any(unit[name].strip() for name in ("HHLDRAGE", "HHSPAN", "HHLDRACE", "HHRACE"))
    assert {person["LIVE_ALONE"] for person in members} <= {"0"}
    if unit["RTYPE"] == "2":
        assert unit["VACS"] in "1234567"
        return
    assert members
    assert unit["VACS"] == "0"
    sexes = {person["QSEX"] for person in members}
    assert unit["GQSEX"] == ("3" if len(sexes) == 2 else min(sexes))
    assert {person["RELSHIP"] for person in members} == {"37" if int(unit["QGQTYP"]) < 500 else "38"}


def test_a_block_with_somebody_of_15_has_a_householder(cef):
    oid = {mafid: unit["OIDTB"] for mafid, unit in cef.unit_of_mafid.items()}
    with_adult = {oid[person["MAFID"]] for person in cef.persons if int(person["QAGE"]) >= 15}
    with_householder = {oid[person["MAFID"]] for person in cef.persons if person["RELSHIP"] == "20"}
    assert with_householder == with_adult


def test_dates_of_birth_give_the_age_on_census_day(small):
    for person in small.persons:
        year, month, day = (int(person[f"QDOB_{part}"]) for part in ("YEAR", "MONTH", "DAY"))
        assert int(person["QDB"]) == 10_000 * year + 100 * month + day
        assert int(person["QAGE"]) == 2020 - year - ((month, day) > (4, 1))


def test_a_census_has_all_kinds_of_households_and_units(small):
    assert {unit["HHT"] for unit in small.units} == set("01234567")
    assert {unit["TEN"] for unit in small.units} == set("01234")
    assert {person["RELSHIP"] for person in small.persons} == {str(code) for code in range(20, 39)}
    vacant = [unit["OIDTB"] for unit in small.units if unit["VACS"] != "0"]
    occupied = {unit["OIDTB"] for unit in small.units if unit["VACS"] == "0"}
    assert 0.05 < len(vacant) / len(small.units) < 0.2
    assert set(vacant) - occupied  # a block where nobody lives
    assert set(small.block_of_oid) - {unit["OIDTB"].strip() for unit in small.units}  # and one without units
    in_quarters = sum(person["RTYPE"] == "5" for person in small.persons)
    assert 0.01 < in_quarters / len(small.persons) < 0.05


def test_reader_and_marker_lie_beside_each_other_and_the_configuration_says_cef(small):
    data = small.reader.parent
    assert "do not exist" in (data / "SYNTHETIC").read_text()
    assert json_of(data.parent / "parameters" / "config.json")["reader"] == "cef"
    assert {path.name for path in data.iterdir()} == {
        "reader.ini", "SYNTHETIC", "geography-names.txt",
        *(f"CEF20_{kind}_{state}.txt" for kind in ("PER", "UNIT", "CNT") for state in ("06", "48", "72")),
        *(f"grfc_tab20_{state}.txt" for state in ("06", "48", "72")),
    }  # fmt: skip


def test_the_command_says_how_to_run_it(tmp_path):
    out = tmp_path / "census"
    said = done("synthesize", out, *f"--people 3000 {SMALL} --format cef".split())
    assert f"safetab run {out}/parameters {out}/data/reader.ini {out}-output" in said


def moved(code):
    """The Hispanic codes of a census's own lists, as a CEF has them."""
    return str(int(code) - 2000) if "9000" <= code < "9900" else code


def test_the_persons_are_those_of_text_and_the_households_those_of_household_records(small, text):
    persons, households = text_rows(text, "person-records"), text_rows(text, "household-records")
    assert [[*row[:-1], moved(row[-1])] for row in persons] == list(small.person_records())
    assert [[*row[:13], moved(row[13]), *row[14:]] for row in households] == list(small.household_records())
    assert len(households) == sum(row[2] == "True" for row in persons) > 5_000


def test_with_given_lists_the_codes_are_the_same_too(tmp_path):
    lists = f"3000 --parameters {SMALL_EXAMPLE}/parameters --states 1 --counties 2 --tracts 5"
    cef = made_cef(tmp_path / "cef", lists)
    text = made(tmp_path / "text", f"{lists} --format text --households")
    assert text_rows(text, "person-records") == list(cef.person_records())
    assert text_rows(text, "household-records") == list(cef.household_records())
    config = json_of(tmp_path / "cef" / "parameters" / "config.json")
    assert config == json_of(text / "parameters" / "config.json") | {"reader": "cef"}


def test_households_change_nothing_of_the_persons_but_who_is_a_householder(tmp_path, text):
    plain = made(tmp_path / "plain", f"20000 {SMALL} --format text")
    before, after = text_rows(plain, "person-records"), text_rows(text, "person-records")
    assert [row[:2] + row[3:] for row in before] == [row[:2] + row[3:] for row in after]
    assert {(one[2], other[2]) for one, other in zip(before, after, strict=True)} == {
        ("True", "True"), ("False", "False"), ("False", "True")
    }  # fmt: skip
    without = {key: content for key, content in files_of(plain).items() if "person-records" not in key}
    own = ("-records", "person-household", "household-parameters")
    assert without == {key: content for key, content in files_of(text).items() if not any(one in key for one in own)}


def test_household_records_have_their_header_and_are_the_same_in_parquet(tmp_path, text):
    part = (text / "data" / "household-records" / "72.txt").read_text()
    assert part.splitlines()[0] == HOUSEHOLDS_HEADER
    out = made(tmp_path / "parquet", f"20000 {SMALL} --households")
    for table in ("household-records", "person-records"):
        tables = [pq.read_table(path) for path in sorted((out / "data" / table).iterdir())]
        rows = [list(row.values()) for one in tables for row in one.to_pylist()]
        assert [["Null" if value is None else value for value in row] for row in rows] == text_rows(text, table)


def test_a_census_with_households_is_valid(text):
    done("validate", text / "parameters", text / "data")


def test_the_bytes_do_not_depend_on_threads(tmp_path, small, text):
    for form, reference in (("cef", small.reader.parents[1]), ("text --households", text)):
        out = made(tmp_path / form, f"20000 {SMALL} --format {form} --threads 1")
        assert files_of(out) == files_of(reference)


@pytest.mark.parametrize(
    ("people", "options", "complaint"),
    cases_of("""
        5000 | --format cef --households | --households: is for text and Parquet
        5000 | --format cef --shuffle | --shuffle: tears households apart
        5000 | --households --shuffle | --shuffle: tears households apart
        800000000 | --format cef | --people: are too many for a CEF
    """),
)
def test_what_does_not_go_together_is_refused(tmp_path, people, options, complaint):
    assert complaint in refusal(tmp_path / "out", f"{people} {SMALL} {options}")


def test_ethnicity_codes_that_no_cef_holds_are_refused(tmp_path):
    own = made(tmp_path / "own", f"1000 {SMALL}")
    asked = f"1000 --states 1 --counties 1 --tracts 2 --parameters {own}/parameters --format cef"
    said = refusal(tmp_path / "out", asked, code=1)
    assert "no CEF can hold the ethnicity codes 9001" in said


def test_very_large_group_quarters_are_several_units(tmp_path, monkeypatch):
    monkeypatch.setattr(households_units_module, "_MOST_PEOPLE_OF_QUARTERS", 3)
    cef = made_cef(tmp_path / "cef", f"9000 {SMALL}")
    test_persons_units_and_blocks_belong_together(cef)
    quarters = [unit for unit in cef.units if unit["RTYPE"] == "4"]
    assert max(int(unit["FINAL_POP"]) for unit in quarters) == 3
    assert max(Counter((unit["OIDTB"], unit["QGQTYP"]) for unit in quarters).values()) > 1


def test_a_state_without_anybody_has_its_files_too(tmp_path):
    cef = made_cef(tmp_path / "cef", "110 --iterations 40 --tracts 60 --counties 51")
    assert len(cef.states) == 52
    assert len(cef.persons) == 110
    nobody = set(cef.states) - {person["file's state"] for person in cef.persons}
    assert nobody
    assert {int(cef.counts(state)["COUNT_PER"]) for state in nobody} == {0}


def people_of(plan, number):
    geography = state_geography(plan.shares[number], plan.seed)
    palettes = palettes_of(geography, plan.mix, plan.seed)
    return StatePeople(geography, palettes, demographics(geography.share.tabulation_pass, plan.seed), 26, False)


def columns_of(chunks):
    starts = np.cumsum([0, *(len(chunk.race) for chunk in chunks)])
    several = [chunk.several.person + start for chunk, start in zip(chunks, starts, strict=False)]
    parts = (
        [np.repeat(chunk.blocks, chunk.people_of_block) for chunk in chunks],
        [chunk.demographic for chunk in chunks],
        [chunk.race for chunk in chunks],
        [chunk.ethnicity for chunk in chunks],
        several,
        [chunk.several.races.ravel() for chunk in chunks],
    )
    return [np.concatenate(part).tolist() for part in parts]


@pytest.mark.parametrize("chunk_people", [37, 1_999, 10_000])
def test_whole_blocks_are_the_same_people_with_no_block_in_two_chunks(monkeypatch, chunk_people):
    monkeypatch.setattr(state_people_module, "CHUNK_PEOPLE", chunk_people)
    people = people_of(demo_plan(8_000, 5), 2)
    plain = [people.chunk(number, 5) for number in range(people.chunks)]
    whole = list(people.whole_blocks(5))
    assert len(whole) == people.chunks
    assert columns_of(plain) == columns_of(whole)
    seen: set[int] = set()
    for chunk in whole:
        blocks = set(chunk.blocks[chunk.people_of_block > 0].tolist())
        assert not blocks & seen
        seen |= blocks


@pytest.mark.needs_2020_files
def test_the_rules_used_here_are_those_of_the_layout_and_hold_for_the_dummy_file():
    with (SHARED / "cef" / "cef20-layout.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for record, layout in (("CEF20_PER", PERSON), ("CEF20_UNIT", UNIT)):
        expected = [(row["name"], int(row["width"])) for row in rows if row["record"] == record]
        assert [(name, width) for name, (width, *_) in layout.items()] == expected
    dummy = Cef(SHARED / "cef" / "dummy" / "cef" / "reader.ini")
    assert broken_fields(dummy.persons, PERSON) == {}
    assert broken_fields(dummy.units, UNIT) == {}
    for table, derived in (("person", dummy.person_records()), ("household", dummy.household_records())):
        lines = (SHARED / "cef" / "dummy" / "expected" / f"{table}-records.txt").read_text().splitlines()[1:]
        assert Counter(map(tuple, derived)) == Counter(tuple(line.split("|")) for line in lines)
    header = (SHARED / "cef" / "dummy" / "cef" / "grfc_tab20_72.txt").read_text().splitlines()[0].split("|")
    assert len(header) == 76
    assert header == list(GRF_COLUMNS)
