"""The site of a release: its files, and that every number in them is the release's own."""

import json
import random
import re
import shutil
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import safetab
from tests.commands import done, refused
from tests.inside import (
    MOST_BYTES,
    PUERTO_RICO_STATE,
    US,
    US_STATES,
    Absence,
    Entities,
    Estimate,
    data_files_module,
    parts_of,
    read_boundaries,
    site_script,
    write_area_names,
    write_data,
    write_site,
)
from tests.releases import files_of
from tests.site_files import SiteFiles
from tests.worlds.people import GEOGRAPHIES, write_random_world

pytestmark = pytest.mark.slow

BUDGETS = {"usa": 0.02, "state": 0.02, "county": 0.01, "place": 0.01}
THRESHOLDS = {"county": [40, 80, 120]}


def write_persons(folder):
    """Withheld negatives, copies between areas of the same blocks, lone totals near their thresholds, sex by age."""
    budgets = {f"privacy_budget_p_level_{n}_{g}": BUDGETS.get(g, 0) for g in GEOGRAPHIES for n in (1, 2)}
    thresholds = {
        f"({g.upper().replace('_', '-')}, {n})": THRESHOLDS.get(g, [0, 20, 60]) for g in GEOGRAPHIES for n in (1, 2)
    }
    world = write_random_world(
        folder / "world", 5, people=900, zero_suppression_chance=0.9, allow_negative_counts=True, privacy_defn="zcdp",
        run_pr=False, thresholds_p=thresholds, **budgets,
    )  # fmt: skip
    return world.run(folder / "out", test_key="00" * 32, coterminous=True, rules=["withhold-negatives"])


@pytest.fixture(scope="module")
def persons(tmp_path_factory):
    return write_persons(tmp_path_factory.mktemp("persons"))


@pytest.fixture(scope="module")
def households(releases, household_run):
    return releases.again(household_run.out, rules=["clamp-negatives"])


@pytest.fixture(scope="module", params=["persons", "households"])
def made(request, tmp_path_factory):
    """A release and its site, of each product."""
    out, site = request.getfixturevalue(request.param), tmp_path_factory.mktemp("sites") / request.param
    write_site(out, site)
    return out, site


@pytest.fixture
def opened(made):
    return safetab.open_release(made[0]), SiteFiles(made[1])


def is_of_people(release):
    return release.product.name == "SafeTab-P"


def test_500_numbers_are_those_of_open_release(opened):
    release, files = opened
    numbers, seen, compared = files.numbers(), Counter(), 0

    @cache
    def answers(*key):
        return _answers(release, *key)

    for key in random.Random(1).sample(sorted(numbers), min(500, len(numbers))):
        shown, known = numbers[key], answers(*key[:3])
        if key[3:] not in known:
            continue  # the other family's lone total, which is no line of a table
        answer = known[key[3:]]
        assert isinstance(answer, Absence) == shown.is_withheld, key
        if isinstance(answer, Estimate):
            assert (shown.value, shown.published) == (answer.value, answer.published)
            assert (shown.margin, shown.low, shown.high) == (answer.margin_of_error, *answer.interval)
            copied = [note.split(",")[0].split()[-1] for note in answer.notes if "copied from" in note]
            assert [shown.donor] == (copied or [None])
        compared += 1
        seen["withheld"] += shown.is_withheld
        seen["copied"] += shown.donor is not None
        seen["clamped"] += shown.published != shown.value
    assert compared >= 400
    assert all(seen[sort] for sort in (["withheld", "copied"] if is_of_people(release) else ["clamped"]))


def _answers(release, level, region, code):
    """What open_release says of each line of a group's tables, by table and position in the shape."""
    entity, group = release.area(region, level), release.group(code)
    withheld = Absence(entity, group, "withheld", "", product=release.product)  # a table leaves such a line out
    found, total = {}, release.total(entity, group)
    for number, family in enumerate(release.product.families):
        table = release.table(entity, group, family=family.name)
        if isinstance(table, Absence):
            continue
        lines = {(one.counted[0].line.table_id, one.counted[0].line.number): one for one in table.lines}
        for position, line in enumerate(table.shape.lines):
            if not line.is_total:
                found[line.table_id, position] = lines.get((line.table_id, line.number), withheld)
            elif number == 0:
                found[line.table_id, position] = total
    return found


def test_totals_near_their_threshold_have_the_interval_that_knows_of_it(opened):
    release, files = opened
    near = {(int(table), row[0]) for table, rows in files.facts["selected"].items() for row in rows}
    totals, looked_at = sorted(files.totals().items()), 0
    for (level, region, code), (table, value) in [one for one in totals if one[1] in near] + totals[::20]:
        answer = release.total(release.area(region, level), release.group(code)) if table >= 0 else None
        if isinstance(answer, Estimate):
            assert answer.selection_matters == ((table, value) in near)
            assert answer.interval == files.shown(table, 0, value)[1:]
            looked_at += answer.selection_matters
    assert looked_at >= 5 * is_of_people(release)


def test_totals_by_group_are_those_by_area(opened):
    _, files = opened
    totals, lines = files.totals(), {}
    for key, shown in files.numbers().items():
        if key[4] == 0:
            lines.setdefault(key[:3], []).append(shown)
    assert lines.keys() == totals.keys()
    for key, (table, value) in totals.items():
        first = next((shown for shown in lines[key] if not shown.is_withheld), None)
        assert (first is None) == (table < 0)
        if first:
            assert (value, *files.shown(table, 0, value)) == (first.value, first.margin, first.low, first.high)


def test_what_is_said_of_absent_groups_is_what_open_release_says(opened):
    release, files = opened
    totals, absences = files.totals(), 0
    for geography, areas in zip(files.facts["geographies"], files.areas, strict=True):
        for number, (code, _, level, *_) in enumerate(files.groups):
            region = areas[number % len(areas)][0]
            if (geography["label"], region, code) in totals:
                continue
            answer = release.total(release.area(region, geography["label"]), release.group(code))
            assert isinstance(answer, Absence)
            why = int(geography["reasons"][number])
            said = ["not tabulated", files.facts["reasons"][why - 1], None] if why else geography["absent"][str(level)]
            assert said == [answer.status, answer.reason, answer.at_most]
            absences += 1
    assert absences >= 20


def test_no_file_is_over_two_megabytes_and_none_names_another_host(made):
    _, site = made
    for path in site.rglob("*"):
        if path.is_file():
            assert path.stat().st_size <= MOST_BYTES
            urls = set(re.findall(r"\w+://[\w./]+", path.read_text(encoding="utf-8")))
            assert urls <= {"http://www.w3.org/2000/svg"}, path  # the name of a language, which nobody opens
    page = (site / "index.html").read_text()
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in page
    assert not re.search(r"<script>|<style>|\sstyle=|\son\w+=", page)


def test_the_status_is_in_the_folder_and_on_the_page(made, opened):
    release, files = opened
    status = release.output_status
    assert (made[1] / "NOT-FOR-RELEASE").read_text().strip() == status.line
    said = {"value": status.value, "line": status.line, "forRelease": False, "protects": True}
    assert said.items() <= files.facts["status"].items()


def test_every_state_has_a_tile_of_its_own():
    states = US.tiles
    assert {code for code, *_ in states} == US_STATES | {PUERTO_RICO_STATE}
    places = {(column, row) for *_, column, row in states}
    assert len(places) == len(states)
    assert all(column <= 11 and row <= 7 for column, row in places)


def test_the_script_knows_no_product():
    assert not re.search(r"\b(sex|age|ages|male|female|tenure|household)\b", site_script(), re.IGNORECASE)


def test_the_command_writes_a_site_once_and_again_if_told(persons, tmp_path):
    site, other = tmp_path / "site", tmp_path / "other"
    assert "Status: test key." in done("site", persons, site)
    before = files_of(site)
    refused("site", persons, site)
    done("site", persons, site, "--overwrite")
    assert files_of(site) == before
    other.mkdir()
    for mine in (other / "mine.txt", site / "data" / "mine.js"):
        mine.write_text("kept")
    refused("site", persons, other, "--overwrite")
    assert "didn't write there: data/mine.js" in refused("site", persons, site, "--overwrite")
    assert {path.name: path.read_text() for path in tmp_path.rglob("mine.*")} == dict.fromkeys(
        ("mine.txt", "mine.js"), "kept"
    )
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_damaged_file_of_numbers_is_refused_and_nothing_is_written(persons, tmp_path):
    release = shutil.copytree(persons / "release", tmp_path / "release")
    next((release / "numbers").rglob("*.parquet")).write_bytes(b"PAR1")
    assert "changed after the release was made: numbers/" in refused("site", release, tmp_path / "site")
    assert [*tmp_path.iterdir()] == [release]


def square(x, y):
    return [[[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1], [x, y]]]


def test_shapes_are_found_by_the_ids_that_files_have(persons, tmp_path):
    ids = [{"GEOID": "44"}, {"GEO_ID": "0400000US01"}, {"STATEFP": "99"}]
    features = [
        {"type": "Feature", "properties": one, "geometry": {"type": "Polygon", "coordinates": square(-71.0 - n, 41.5)}}
        for n, one in enumerate(ids)
    ]
    file = tmp_path / "shapes.json"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert "1 shapes" in done("site", persons, tmp_path / "site", "--boundaries", file)
    files = SiteFiles(tmp_path / "site")
    assert files.facts["shapeFiles"]["STATE"] == [[0, 1]]
    states = [one["label"] for one in files.facts["geographies"]].index("STATE")
    shapes = {position: (step, rings) for position, step, rings in files.data("shapes/STATE/0")}
    assert sorted(shapes) == [*range(len(files.areas[states]))]
    assert shapes[1] == (0.01, [[-7100, 4150, 100, 0, 0, 100, -100, 0, 0, -100]])


def test_a_file_that_holds_no_shapes_is_refused(persons, tmp_path):
    file = tmp_path / "shapes.json"
    for text in (
        "",
        "[]",
        "{}",
        '{"features": [{"geometry": {"type": "Point", "coordinates": [1, 2]}}]}',
        '{"features": []}',
        '{"features": [{"properties": {"GEOID": "44"}, "geometry": {"type": "Polygon", "coordinates": [[[500, 1], [2, 2]]]}}]}',
    ):
        file.write_text(text)
        assert "shapes.json" in refused("site", persons, tmp_path / "site", "--boundaries", file)
        assert not (tmp_path / "site").exists()


def test_files_are_cut_at_the_coarsest_boundary_that_is_near(monkeypatch):
    monkeypatch.setattr(data_files_module, "LEAST_BYTES", 20)
    monkeypatch.setattr(data_files_module, "USUAL_BYTES", 100)
    sizes = np.full(30, 10)
    states, areas = np.arange(30) == 5, np.arange(30) % 4 == 0
    assert parts_of(sizes, [states, areas]) == [(0, 5), (5, 12), (12, 20), (20, 30)]
    assert parts_of(np.array([500, 500, 500])) == [(0, 1), (1, 2), (2, 3)]
    assert parts_of(np.array([], dtype=np.int64)) == []


def test_a_level_without_areas_has_no_names(persons, tmp_path):
    universe = safetab.open_release(persons)._universe
    level = next(iter(universe.entities))
    nothing = Entities(np.array([], dtype=np.int64), (), ())
    without = replace(universe, entities={**universe.entities, level: nothing})
    assert write_area_names(tmp_path, level, without) == []
    assert [*tmp_path.iterdir()] == []


def test_a_data_file_that_is_too_large_is_not_written(tmp_path):
    with pytest.raises(safetab.RunFailed, match="larger"):
        write_data(tmp_path, "facts", "x" * MOST_BYTES)
    assert not (tmp_path / "data" / "facts.js").exists()


def test_boundaries_that_are_not_there_are_named(persons, tmp_path):
    with pytest.raises(safetab.InvalidInput, match="does not exist"):
        read_boundaries(tmp_path / "none.json", safetab.open_release(persons)._universe)
