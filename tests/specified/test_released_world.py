"""A release says its census: it is written, checked, opened and asked without the specification."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.cases import cases_of, values_of
from tests.inside import (
    _IDS,
    TAKEN_COLUMNS,
    Absence,
    CoterminousOptions,
    Estimate,
    InvalidInput,
    PublishedTotals,
    ReleaseOptions,
    ReleaseRequest,
    ReleaseRule,
    RereleaseRequest,
    RunFailed,
    TotalsOfLevel,
    export_csv,
    number_columns,
    open_release,
    open_release_folder,
    read_public_files,
    rerelease_files,
    schema_of,
    write_checksums,
)
from tests.releases import check_output
from tests.specified.released_world import AREAS, SPECIFICATION, released, write_atlantis

ALL_STEPS = ReleaseOptions(
    rules=(ReleaseRule.CLAMP_NEGATIVES, ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER),
    coterminous=CoterminousOptions(),
    csv=True,
)
OUT_OF_RELEASES = Path("universe/census.json")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return released(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def stepped(tmp_path_factory):
    return released(tmp_path_factory.mktemp("steps"), ALL_STEPS)


@pytest.fixture(scope="module")
def alone(world, tmp_path_factory):
    """A copy of the release alone, far from its parameters."""
    folder = tmp_path_factory.mktemp("alone") / "release"
    shutil.copytree(world.out / "release", folder)
    return folder


@pytest.fixture
def release(alone):
    return open_release(alone)


REGION_IDS = """Atlantis, all
01 / =1+1 / Île du Nord
a,b / a|b / say "x" / zé 9
日本
Z / é"""


def test_an_opened_release_has_the_census_the_product_and_the_universe_of_the_run(world, alone):
    opened, ran = open_release_folder(alone).universe, world.universe
    for name in ("specification", "census", "lists", "states"):
        assert getattr(opened, name) == getattr(ran, name), name
    for name in ("name", "label_columns", "files"):
        assert getattr(opened.product, name) == getattr(ran.product, name), name
    assert ran.product.name == "Languages of Atlantis"
    assert "\n".join(" / ".join(entities.region_ids) for entities in opened.entities.values()) == REGION_IDS
    for level, entities in ran.entities.items():
        assert opened.entities[level].names == entities.names
        for kind in opened.census.kinds:
            assert opened.parents(level, kind).tolist() == ran.parents(level, kind).tolist()
    towns = opened.census.area_level("market town")
    for kind, parents in {"isle": [2, 1, 2, 0], "whole": [0, 0, 0, 0]}.items():
        assert opened.parents(towns, opened.census.kind(kind)).tolist() == parents


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def text_of(world, name):
    """With single blanks."""
    return " ".join((world.out / "release" / name).read_text("utf-8").split())


ASKED = """
Île du Nord | x 10 | 0
ile du nord | High Elvish | 5_000
a,b | e f | 5_000
say "x" | Orcish only | 300
Lone Town (town zé 9) | Elvish (e f) | 5_000
日本 | o-only | 300
Accent | x 10 | 5_000
Atlantis | e f-only | 7
"""


@pytest.mark.parametrize(("area", "group", "expected"), cases_of(ASKED))
def test_numbers_are_found_by_any_id_code_or_name(release, area, group, expected):
    answer = release.total(area, group)
    assert abs(answer.value - int(expected)) <= 3 * answer.margin_of_error


def test_a_name_in_two_levels_of_groups_is_the_finest_that_is_published_and_a_note_says_so(release):
    assert release.group("Elvish").code == "x 10"
    published = release.total("Île du Nord", "Elvish")
    assert published.counted[0].group.code == "x 10"
    assert published.notes[-1] == "this is x 10 (tongue-tip). Groups with the same name: e f (family)."
    assert not any("same name" in note for note in release.total("Île du Nord", "x 10").notes)
    assert isinstance(release.total("a,b", "x 10"), Absence)
    coarser = release.total("a,b", "Elvish")
    assert isinstance(coarser, Estimate), "the finer group is suppressed there, the coarser is published"
    assert coarser.counted[0].group.code == "e f"
    nowhere = release.total("a,b", "Orcish")
    assert nowhere.group.code == "x β"
    assert "This is x β" in nowhere.hint
    assert "note: this is x 10" in str(release.table("Île du Nord", "Elvish"))


def test_tables_have_the_lines_of_three_categories(release):
    table = release.table("Île du Nord", "e f", family="gender and age")
    assert table.count(gender="another gender").value < 100
    assert table.count(gender="female", age=(0, 17)).value > 4_900


def test_areas_lie_in_others_without_any_digit(release):
    assert [area.region_id for area in release.areas("town", within="Île du Nord")] == ["a,b", 'say "x"']
    assert [area.region_id for area in release.areas("town", within="日本")] == ["Z", "é"]
    assert release.total("a,b", "x 10").instead[0].counted[0].entity.region_id == "Île du Nord"


def test_statuses_name_every_group_of_the_universe(release):
    statuses = release.status(area="zé 9")
    rows = {row["iteration_code"]: row["status"] for row in statuses.rows() if row["family"] == "gender and age"}
    assert set(rows) == {"e f", "e f-only", "o", "o-only", "x 10", "x 20", "x β"}
    assert rows["e f"] == "published"
    left_out = {row["status"] for row in statuses.rows() if row["family"] == "age"}
    assert left_out == {"not tabulated"}, "no budget was given for towns"


def test_plain_files_are_csv_with_one_row_a_line(world):
    rows = read_csv(world.out / "tables" / "gender-by-age" / "main.csv")
    assert list(rows[0]) == ["area_level", "area", "group", "table", "gender", "age_start", "age_end", "count"]
    assert {row["area"] for row in rows if row["area_level"] == "market town"} == {"a,b", "a|b", 'say "x"', "zé 9"}
    finest = [row for row in rows if (row["area"], row["group"]) == ("Atlantis, all", "e f")]
    assert [row["gender"] for row in finest].count("another gender") == 4
    assert sum(int(row["count"]) for row in finest if row["gender"] != "all" and row["age_end"] != row["age_start"]
               and (row["age_start"], row["age_end"]) != ("0", "99")) == int(finest[0]["count"])  # fmt: skip


def test_hive_readers_take_labels_with_spaces_from_folders(world):
    numbers = ds.dataset(world.out / "release" / "numbers", partitioning="hive").to_table()
    labels = {"whole", "isle", "market town", "far isle", "far market-town"}
    assert set(numbers["geography_level"].to_pylist()) == labels


def test_the_steps_after_measuring_work_with_texts(stepped, tmp_path):
    sets = pq.read_table(stepped.out / "release" / "universe" / "coterminous.parquet").to_pylist()
    assert [(one["set"], one["geography_level"], one["region_id"]) for one in sets] == [
        (1, "isle", "01"),
        (1, "market town", "zé 9"),
        (2, "isle", "=1+1"),
        (2, "market town", "a|b"),
    ]
    opened = open_release(stepped.out)
    assert opened.total("zé 9", "x β").value == opened.total("01", "x β").value
    assert export_csv(stepped.out, tmp_path / "csv")["universe/entities.csv"] == 11
    entities = read_csv(tmp_path / "csv" / "universe" / "entities.csv")
    parents = {row["region_id"]: row["parent_region_id"] for row in entities}
    assert all(row["geo_id"] == f"{row['geography_level']}:{row['region_id'].lstrip(chr(39))}" for row in entities)
    assert {row["parent_geo_id"] for row in entities if not row["parent_region_id"]} == {""}
    for path in (tmp_path / "csv" / "numbers").iterdir():
        numbers = read_csv(path)
        assert all(row["iteration_id"] == f"{row['iteration_level']}:{row['iteration_code']}" for row in numbers)
        assert all(row["interval_low"] or row["status"] == "withheld" for row in numbers)
    assert parents["a,b"] == "Île du Nord"
    assert parents["a|b"] == "'=1+1", "a text that a spreadsheet takes for a formula has an apostrophe in front"


def test_a_rerelease_reads_the_table_of_areas_of_the_run(world, tmp_path):
    areas = write_atlantis(tmp_path / "again").parameters / "areas.csv"
    request = RereleaseRequest.of(areas, coterminous=True, order="Market Town,isle")
    rerelease_files(world.out, tmp_path / "new", request)
    facts = json.loads((tmp_path / "new" / "release" / "datapackage.json").read_text("utf-8"))["safetab"]
    assert facts["coterminous"]["order"] == ["market town", "isle"]
    sets = pq.read_table(tmp_path / "new" / "release" / "universe" / "coterminous.parquet")
    assert sets["region_id"].to_pylist() == ["a|b", "=1+1", "zé 9", "01"]


def test_a_rerelease_refuses_another_table_of_areas_and_other_kinds(world, tmp_path):
    areas = write_atlantis(tmp_path / "again", areas=AREAS.replace("zé 9", "zé 8")).parameters / "areas.csv"
    with pytest.raises(InvalidInput, match="not the entities of the run: zé 8, zé 9"):
        rerelease_files(world.out, tmp_path / "new", RereleaseRequest.of(areas, coterminous=True))
    request = RereleaseRequest.of(areas, coterminous=True, order="state,county")
    with pytest.raises(InvalidInput, match="two or more of isle,market town, each once"):
        rerelease_files(world.out, tmp_path / "new", request)
    with pytest.raises(InvalidInput, match=r"compares smallest areas\. Add --geography: the areas\.csv file"):
        rerelease_files(world.out, tmp_path / "new", RereleaseRequest.of(coterminous=True))
    assert not (tmp_path / "new").exists()


def test_an_order_is_judged_when_the_census_is_known():
    assert ReleaseRequest(coterminous=True, order="moon,sun").options().coterminous.order == ("moon", "sun")


def test_documents_say_whose_numbers_these_are(world):
    head = text_of(world, "README.txt").partition("WHAT THIS IS")[0]
    for words in ("LANGUAGES OF ATLANTIS, A MADE-UP CENSUS", "The Office of Nowhere", "2031", "office@nowhere.example",
                  "https://nowhere.example", "CC0", "Source: a test"):  # fmt: skip
        assert words in head
    assert "COUNTS OF" not in head
    package = json.loads(text_of(world, "datapackage.json"))
    assert package["title"] == "Languages of Atlantis, a made-up census"
    assert package["homepage"] == "https://nowhere.example"
    assert package["licenses"] == [{"name": "CC0"}]
    assert package["contributors"][0]["title"] == "The Office of Nowhere"
    by_name = {resource["name"]: resource for resource in package["resources"]}
    assert by_name["census"]["path"] == "universe/census.json"
    kinds = next(field for field in by_name["numbers"]["schema"]["fields"] if field["name"] == "iteration_kind")
    assert kinds["constraints"]["enum"] == ["language", "language only"]


def test_readme_examples_can_be_typed(world):
    readme = (world.out / "release" / "README.txt").read_text("utf-8")
    lines = [line.strip() for line in readme.splitlines() if line.strip().startswith((">>> number", "..."))]
    asked = " ".join(line.removeprefix(">>> ").removeprefix("... ") for line in lines[:2])
    found = {"release": open_release(world.out)}
    exec(asked, found)
    assert isinstance(found["number"], Estimate)


@pytest.mark.parametrize(
    "damage",
    [
        lambda document: document.pop("parents"),
        lambda document: document["specification"].update(colour="blue"),
        lambda document: document["specification"]["areas"]["levels"].pop(),
    ],
)
def test_a_damaged_census_is_refused(world, tmp_path, damage):
    shutil.copytree(world.out / "release", tmp_path / "release")
    assert open_release(tmp_path / "release")
    file = tmp_path / "release" / OUT_OF_RELEASES
    document = json.loads(file.read_text("utf-8"))
    damage(document)
    file.write_text(json.dumps(document), "utf-8")
    write_checksums(tmp_path / "release")
    with pytest.raises(InvalidInput, match="damaged, or of another version"):
        open_release(tmp_path / "release")


def test_an_output_with_another_specification_breaks_its_rules(world):
    about = world.universe.specification
    other = replace(world.universe, specification=replace(about, about=replace(about.about, agency="Another")))
    with pytest.raises(RunFailed, match="the specification is not that of the run"):
        check_output(world.out, other, ReleaseOptions())


def test_a_measurement_of_an_area_that_is_not_listed_is_found(world, tmp_path):
    path = shutil.copytree(world.out, tmp_path / "out") / "measurements" / "main.parquet"
    table = pq.read_table(path)
    regions = [region.replace("zé 9", "zé 8") for region in table["region_id"].to_pylist()]
    place = table.column_names.index("region_id")
    pq.write_table(table.set_column(place, "region_id", pa.array(regions)), path, store_schema=False)
    with pytest.raises(RunFailed, match="a group is not in the universe"):
        check_output(tmp_path / "out", world.universe, ReleaseOptions())


def test_labels_never_take_the_name_of_another_column(world):
    product, census = world.universe.product, world.universe.census
    own = {column.name for column in product.label_columns}
    columns = {column.name for column in number_columns(product, census)} | set(schema_of(product).names)
    columns |= {name for layout in product.files for name in layout.columns} | {"geography_level"}
    of_csv = {text for text, _ in _IDS.values()} - {"parent_geo_id"}  # which no file of numbers has
    assert (columns | of_csv) - own == TAKEN_COLUMNS


TOTALS = 'area_level,area,group,count\nisle,01,e f,250\nmarket town,"a,b",x β,-3\nfar isle,日本,o,7\n'


SELECTOR = 'selector = "stage 1"\nstage_1 = 0.1\n'
SUPPRESS = 'suppress = { chance = 0.9, areas = ["market town"] }\n'


def _selected_by_totals(folder, text):
    selector = 'selector = "published totals"\ntotals = "totals.csv"\n'
    return write_atlantis(folder, SPECIFICATION.replace(SELECTOR, selector, 1).replace(SUPPRESS, "", 1), totals=text)


def _rows_of(totals, census):
    found = set()
    for level, of_level in totals.of_level.items():
        assert level in census.area_levels
        for entity, code, count in zip(of_level.entity, of_level.code, of_level.count, strict=True):
            found.add((level.label, level.kind.ids.text(int(entity)), totals.codes[code], int(count)))
    return found


def test_published_totals_of_a_stranger_are_read_by_texts(tmp_path):
    files = read_public_files(*_selected_by_totals(tmp_path, TOTALS)).require()
    rows = values_of("""
        "far isle" | "日本" | "o" | 7
        "isle" | "01" | "e f" | 250
        "market town" | "a,b" | "x β" | -3
    """)
    assert sorted(map(list, _rows_of(files.totals, files.config.census))) == rows
    assert "totals.csv" in files.totals_files


WRONG_TOTALS = """
isle,01 | moon,01 | moon: must be one of whole, isle, market town
isle,01 | isle,02 | 02: must be listed in areas.csv
,250 | ,many | many: must be an integer
area_level, | level, | no such column
,e f, | ,e g, | e g
"""


@pytest.mark.parametrize(("old", "new", "message"), cases_of(WRONG_TOTALS))
def test_wrong_totals_are_refused(tmp_path, old, new, message):
    read = read_public_files(*_selected_by_totals(tmp_path, TOTALS.replace(old, new, 1)))
    assert read.value is None
    assert message in "\n".join(finding.message for finding in read.findings)


def test_totals_of_a_release_are_renumbered_for_another_census(world):
    census = world.universe.census
    assert PublishedTotals(("o",), {}).by_ids_of(census).of_level == {}
    level = open_release_folder(world.out).universe.census.area_level("far market-town")
    ids = level.kind.ids
    of_level = TotalsOfLevel(
        np.array([ids.number("é"), ids.number("Z")]), np.zeros(2, dtype=np.int64), np.array([1, 2])
    )
    moved = PublishedTotals(("o",), {level: of_level}).by_ids_of(census)
    assert _rows_of(moved, census) == {("far market-town", "é", "o", 1), ("far market-town", "Z", "o", 2)}


UNIT = 'unit = { name = "household", column = "house", most_records = 3 }\n'


@pytest.fixture(scope="module")
def of_units(tmp_path_factory):
    """A release of units with several records, without a selector."""
    text = SPECIFICATION.replace("fields = [\n", f'{UNIT}fields = [\n  {{ name = "house", type = "string" }},\n', 1)
    text = text.replace(SELECTOR, 'selector = "none"\n').replace(SUPPRESS, "")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("thresholds"))
    return released(tmp_path_factory.mktemp("units"), text=text)


def test_a_release_of_units_with_several_records_is_opened_with_their_noise(of_units):
    designs = [level.design for level in open_release_folder(of_units.out).universe.levels if level.design.stages]
    assert {design.sensitivity.l2_squared // design.sensitivity.groups for design in designs} == {9}
    assert "What is protected is one household, with up to 3 islanders." in text_of(of_units, "README.txt")


def test_a_release_without_a_selector_has_the_finest_table_of_every_group(of_units):
    release = open_release(of_units.out)
    for group in release.groups():
        assert release.table("a,b", group, family="gender and age").shape.label == "gender_age"


def test_what_is_protected_is_one_record_unless_units_are_named(world):
    assert "What is protected is one islander: one record." in text_of(world, "README.txt")
