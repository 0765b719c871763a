"""The site of a release: its files, and that every number in them is the release's own."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.household_worlds import write_household_world
from tests.random_worlds import GEOGRAPHIES, write_random_world
from tests.site_files import SiteFiles
from typer.testing import CliRunner

import safetab
from safetab.cli.main import app
from safetab.estimates.estimate import Estimate
from safetab.estimates.reading.absence import Absence
from safetab.site.boundaries import read_boundaries
from safetab.site.cuts import cuts
from safetab.site.data_files import MOST_BYTES, DataFolder
from safetab.site.write_site import site_script, write_site

BUDGETS = {"usa": 0.02, "state": 0.02, "county": 0.01, "place": 0.01}
THRESHOLDS = {"county": [40, 80, 120]}


def write_persons(folder: Path) -> Path:
    """Withheld negatives, copies between areas of the same blocks, lone totals near their thresholds, sex by age."""
    budgets = {f"privacy_budget_p_level_{n}_{g}": BUDGETS.get(g, 0) for g in GEOGRAPHIES for n in (1, 2)}
    thresholds = {
        f"({g.upper().replace('_', '-')}, {n})": THRESHOLDS.get(g, [0, 20, 60]) for g in GEOGRAPHIES for n in (1, 2)
    }
    world = write_random_world(
        folder / "world", 5, people=900, zero_suppression_chance=0.9, allow_negative_counts=True, privacy_defn="zcdp",
        run_pr=False, thresholds_p=thresholds, **budgets,
    )  # fmt: skip
    out = folder / "out"
    safetab.run(
        world.parameters, world.data, out, test_key="00" * 32, coterminous=True, rules=["withhold-negatives"]
    )  # fmt: skip
    return out


def write_households(folder: Path) -> Path:
    world = write_household_world(folder / "world", 21, budget=0.3, people=250)
    world.configure(allow_negative_counts=False)
    safetab.run(world.parameters, world.data, folder / "out", test_key="0a" * 32)
    return folder / "out"


@pytest.fixture(scope="module", params=[write_persons, write_households], ids=["persons", "households"])
def made(request, tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("site")
    out = request.param(folder)
    write_site(out, folder / "site")
    return out, folder / "site"


def test_500_numbers_are_those_of_open_release(made) -> None:
    out, site = made
    release, numbers = safetab.open_release(out), SiteFiles(site).numbers()
    compared, seen = 0, Counter[str]()
    for key in random.Random(1).sample(sorted(numbers), min(500, len(numbers))):
        level, region, code, table_id, line = key
        shown = numbers[key]
        family = release.product.family_of_label[_shape_of(release.product, numbers, key)]
        shape = family.shape(_shape_of(release.product, numbers, key))
        table = release.table(release.geography(region, level), release.group(code), family=family.name)
        wanted = shape.lines[line]
        lines = {(one.counted[0].line.table_id, one.counted[0].line.number): one for one in table.lines}
        if wanted.is_total and not shown.is_withheld and family is release.product.families[0]:
            answer = release.total(release.geography(region, level), release.group(code))
        else:
            answer = lines.get((table_id, wanted.number))
        if wanted.is_total and answer is None:
            continue  # the other family's total is no line of its table
        assert (answer is None or isinstance(answer, Absence)) == shown.is_withheld, key
        if isinstance(answer, Estimate):
            assert shown.value == answer.value
            assert shown.published == answer.published
            assert shown.margin == answer.margin_of_error
            assert (shown.low, shown.high) == answer.interval
            assert (shown.donor is not None) == any("copied" in note for note in answer.notes)
        compared += 1
        seen += Counter(_sorts(shown))
    assert compared >= 400
    assert set(seen) >= ({"withheld", "copied"} if release.product.name == "SafeTab-P" else {"clamped"})


def _sorts(shown) -> list[str]:
    sorts = {
        "withheld": shown.is_withheld, "copied": shown.donor is not None, "clamped": shown.published != shown.value,
    }  # fmt: skip
    return [sort for sort, holds in sorts.items() if holds]


def test_totals_near_their_threshold_have_the_interval_that_knows_of_it(made) -> None:
    out, site = made
    release, files = safetab.open_release(out), SiteFiles(site)
    near = {(int(table), row[0]) for table, rows in files.facts["selected"].items() for row in rows}
    looked_at = 0
    for (level, region, code), (table, value) in files.totals().items():
        answer = release.total(release.geography(region, level), release.group(code)) if table >= 0 else None
        if isinstance(answer, Estimate):
            assert answer.selection_matters == ((table, value) in near)
            assert answer.interval == files.shown(table, 0, value)[1:]
            looked_at += answer.selection_matters
    assert looked_at >= (5 if release.product.name == "SafeTab-P" else 0)


def _shape_of(product, numbers, key) -> str:
    """The shape of a group, known by how many lines its family's tables have in the site."""
    level, region, code, table_id, _ = key
    tables = {other[3] for other in numbers if other[:3] == (level, region, code)}
    shapes = [shape for family in product.families for shape in family.shapes]
    fitting = [one for one in shapes if table_id in _ids(one) and _ids(one) <= tables]
    return max(fitting, key=lambda one: len(one.lines)).label


def _ids(shape) -> set[str]:
    return {line.table_id for line in shape.lines}


def test_totals_by_group_are_those_by_area(made) -> None:
    _, site = made
    files = SiteFiles(site)
    lines = {key: shown for key, shown in files.numbers().items() if key[4] == 0}
    totals = files.totals()
    assert {key[:3] for key in lines} == set(totals)
    for (level, region, code), (table, value) in totals.items():
        own = [shown for key, shown in lines.items() if key[:3] == (level, region, code)]
        if table < 0:
            assert all(shown.is_withheld for shown in own)
        else:
            first = next(shown for shown in own if not shown.is_withheld)
            assert (value, *files.shown(table, 0, value)) == (first.value, first.margin, first.low, first.high)


def test_what_is_said_of_absent_groups_is_what_open_release_says(made) -> None:
    out, site = made
    release, files = safetab.open_release(out), SiteFiles(site)
    totals, absences = files.totals(), 0
    for geography, areas in zip(files.facts["geographies"], files.areas, strict=True):
        for number, (code, _, level, *_) in enumerate(files.groups):
            region = areas[number % len(areas)][0]
            if (geography["label"], region, code) in totals:
                continue
            answer = release.total(release.geography(region, geography["label"]), release.group(code))
            assert isinstance(answer, Absence)
            why = int(geography["reasons"][number])
            status, reason, at_most = (
                ("not tabulated", files.facts["reasons"][why - 1], None) if why else geography["absent"][str(level)]
            )
            assert (status, reason, at_most) == (answer.status, answer.reason, answer.at_most)
            absences += 1
    assert absences >= 20


def test_no_file_is_over_two_megabytes_and_none_names_another_host(made) -> None:
    _, site = made
    paths = [path for path in site.rglob("*") if path.is_file()]
    assert max(path.stat().st_size for path in paths) <= MOST_BYTES
    for path in paths:
        urls = set(re.findall(r"\w+://[\w./]+", path.read_text(encoding="utf-8")))
        assert urls <= {"http://www.w3.org/2000/svg"}, path  # the name of a language, which nobody opens
    page = (site / "index.html").read_text()
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in page
    assert not re.search(r"<script>|<style>|\sstyle=|\son\w+=", page)


def test_the_status_is_in_the_folder_and_on_the_page(made) -> None:
    out, site = made
    status = safetab.open_release(out).output_status
    assert (site / "NOT-FOR-RELEASE").read_text().strip() == status.line
    assert SiteFiles(site).facts["status"] == {"value": status.value, "line": status.line, "forRelease": False}


def test_the_script_knows_no_product() -> None:
    assert not re.search(r"\b(sex|age|ages|male|female|tenure|household)\b", site_script(), re.IGNORECASE)


def cli(*arguments: object):
    return CliRunner().invoke(app, ["site", *map(str, arguments)])


def test_the_command_writes_a_site_once_and_again_if_told(made, tmp_path: Path) -> None:
    out, _ = made
    first = cli(out, tmp_path / "site")
    assert first.exit_code == 0
    assert "Status: test key." in first.output
    assert cli(out, tmp_path / "site").exit_code == 1
    assert cli(out, tmp_path / "site", "--overwrite").exit_code == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("kept")
    assert cli(out, tmp_path / "other", "--overwrite").exit_code == 1
    assert (tmp_path / "other" / "mine.txt").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_damaged_file_of_numbers_is_refused_and_nothing_is_written(made, tmp_path: Path) -> None:
    out, _ = made
    shutil.copytree(out / "release", tmp_path / "release")
    next((tmp_path / "release" / "numbers").rglob("*.parquet")).write_bytes(b"PAR1")
    refused = cli(tmp_path / "release", tmp_path / "site")
    assert refused.exit_code == 1
    assert "is damaged" in refused.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release"]


def square(x: float, y: float) -> list[list[list[float]]]:
    return [[[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1], [x, y]]]


def test_shapes_are_found_by_the_ids_that_files_have(made, tmp_path: Path) -> None:
    out, _ = made
    ids = [{"GEOID": "44"}, {"GEO_ID": "0400000US01"}, {"STATEFP": "99"}]
    features = [
        {"type": "Feature", "properties": one, "geometry": {"type": "Polygon", "coordinates": square(-71.0 - n, 41.5)}}
        for n, one in enumerate(ids)
    ]
    file = tmp_path / "shapes.json"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    result = cli(out, tmp_path / "site", "--boundaries", file)
    assert result.exit_code == 0
    assert "1 shapes" in result.output
    files = SiteFiles(tmp_path / "site")
    assert files.facts["shapeFiles"] == {"STATE": [[0, 1]]}
    positions = [position for position, _ in enumerate(files.areas[_number(files, "STATE")])]
    shapes = {position: (step, rings) for position, step, rings in files.data("shapes/STATE/0")}
    assert sorted(shapes) == positions
    assert shapes[1] == (0.01, [[-7100, 4150, 100, 0, 0, 100, -100, 0, 0, -100]])


def _number(files: SiteFiles, label: str) -> int:
    return [one["label"] for one in files.facts["geographies"]].index(label)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"features": [{"geometry": {"type": "Point", "coordinates": [1, 2]}}]}', '{"features": []}',
     '{"features": [{"properties": {"GEOID": "44"}, "geometry": {"type": "Polygon", "coordinates": [[[500, 1], [2, 2]]]}}]}'],
)  # fmt: skip
def test_a_file_that_holds_no_shapes_is_refused(made, tmp_path: Path, text: str) -> None:
    out, _ = made
    file = tmp_path / "shapes.json"
    file.write_text(text)
    refused = cli(out, tmp_path / "site", "--boundaries", file)
    assert refused.exit_code == 1
    assert "shapes.json" in refused.output
    assert not (tmp_path / "site").exists()


def test_files_are_cut_at_the_coarsest_boundary_that_is_near(monkeypatch) -> None:
    monkeypatch.setattr("safetab.site.cuts.LEAST_BYTES", 20)
    monkeypatch.setattr("safetab.site.cuts.USUAL_BYTES", 100)
    sizes = np.full(30, 10)
    states, areas = np.arange(30) == 5, np.arange(30) % 4 == 0
    assert cuts(sizes, [states, areas]).tolist() == [0, 5, 12, 20]
    assert cuts(np.array([500, 500, 500]), []).tolist() == [0, 1, 2]


def test_a_data_file_that_is_too_large_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(safetab.RunFailed, match="larger"):
        DataFolder(tmp_path).write("facts", "x" * MOST_BYTES)
    assert not (tmp_path / "data" / "facts.js").exists()


def test_boundaries_that_are_not_there_are_named(made, tmp_path: Path) -> None:
    out, _ = made
    with pytest.raises(safetab.InvalidInput, match="there is no file"):
        read_boundaries(tmp_path / "none.json", safetab.open_release(out)._universe)
