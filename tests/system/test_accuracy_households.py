"""`safetab accuracy` where published totals choose tables of several families: the truth beside runs, by family."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.commands import cli
from tests.conftest import SHARED, SMALL_EXAMPLE
from tests.inside import (
    KnownCounts,
    NoProgress,
    RunOptions,
    backend_of,
    checked_engine,
    noisy_count,
    read_inputs,
    tabulate_level_module,
)
from tests.releases import numbers_of
from tests.worlds.households import config_of_2020, write_small_households
from tests.worlds.world import World

pytestmark = pytest.mark.slow

KEY = "7a" * 32
TABLES = {"T03001", "T03002", "T03003", "T03004", "T04001", "T04002"}
FAR = 8.0


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_small_households(tmp_path_factory.mktemp("households") / "world")


@pytest.fixture(scope="module")
def other(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tenure at states is a thousand times more precise; tables of household type are finer everywhere."""
    folder = Path(shutil.copytree(world.parameters, tmp_path_factory.mktemp("other") / "parameters"))
    config = world.config() | {"privacy_budget_h_t4_level_2_state": 1920.8}
    config["thresholds_h_t3"] = {level: [1, 2, 3] for level in config["thresholds_h_t3"]}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def report(world: World, other: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of twenty runs beside twenty of another configuration; nobody changes it."""
    out = tmp_path_factory.mktemp("report") / "out"
    return assessed(world, out, "--runs", 20, "--against", other)


def accuracy(world: World, out: Path, *options: object):
    words = ["accuracy", world.parameters, world.data, out, "--test-key", KEY, *options]
    return cli(*words)


def assessed(world: World, out: Path, *options: object) -> Path:
    result = accuracy(world, out, *options)
    assert result.exit_code == 0, result.stderr
    return out


def rows_of(out: Path, configuration: str = "given") -> list[dict]:
    rows = pq.read_table(out / "accuracy.parquet").to_pylist()
    return [row for row in rows if row["configuration"] == configuration]


def whole(rows: list[dict], **keys: object) -> list[dict]:
    """All kinds and sizes together."""
    wanted = {"iteration_kind": "all", "size_class": "all"} | keys
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def distances(rows: list[dict], statistic: str = "") -> np.ndarray:
    names = [name for name in rows[0] if name.endswith(f"{statistic}_distance")]
    return np.array([row[name] for row in rows for name in names if row[name] is not None])


def page_of(report: Path) -> str:
    text = (report / "accuracy.html").read_text()
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_known_counts_are_the_engines_for_each_family(world):
    checked, random = read_inputs(*world), np.random.default_rng(20)
    with backend_of(RunOptions()) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        levels = checked.require().plan.levels
        known = KnownCounts(engine, levels, lambda: None)
        for level in levels:
            assert np.array_equal(known.totals(level).indices, engine.totals(level).indices)
            some = random.choice(level.universe.size, min(40, level.universe.size), replace=False)
            chosen = np.unique(np.concatenate([some, level.selected.indices]))
            shape_of = random.integers(0, len(level.family.shapes), len(chosen))
            asked = {shape: chosen[shape_of == number] for number, shape in enumerate(level.family.shapes)}
            asked = {shape: of_shape for shape, of_shape in asked.items() if len(of_shape)}
            expected, seen = engine.cells(level, asked), known.cells(level, asked)
            for shape in asked:
                assert np.array_equal(seen[shape].confidential_counts, expected[shape].confidential_counts)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--rule", "withhold-negatives")])
def test_one_assessed_run_is_the_run_that_the_same_key_gives(world, tmp_path, options):
    key = hashlib.sha256(bytes.fromhex(KEY) + (0).to_bytes(8, "big")).hexdigest()
    words = ["run", world.parameters, world.data, tmp_path / "run", "--test-key", key, *options]
    run = cli(*words)
    assert run.exit_code == 0, run.stderr
    truth, published, absolute = exact_totals(world), Counter(), Counter()
    for row in numbers_of(tmp_path / "run"):
        if row["line"] == 1 and row["status"] != "withheld":
            key = (row["geography_level"], row["iteration_level"], row["table"])
            published[key] += 1
            group = (row["geography_level"], row["region_id"], row["iteration_code"])
            absolute[key] += abs(row["count"] - truth.get(group, 0))
    seen = whole(rows_of(assessed(world, tmp_path / "out", "--runs", 1, *options)), number="total")
    seen = [row for row in seen if row["table"] != "all" and row["numbers"]]
    assert len(published) > 40
    keys = [(row["geography_level"], row["iteration_level"], row["table"]) for row in seen]
    assert dict(zip(keys, (row["published"] for row in seen), strict=True)) == dict(published)
    for one, row in zip(keys, seen, strict=True):
        assert row["mean_absolute_error"] * row["numbers"] == pytest.approx(absolute[one])


def exact_totals(world: World) -> dict[tuple[str, str, str], int]:
    """How many households every group has that has any."""
    checked, found = read_inputs(*world), {}
    with backend_of(RunOptions()) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        for level in checked.require().plan.levels:
            totals = engine.totals(level)
            for index, count in zip(totals.indices.tolist(), totals.confidential_counts[:, 0].tolist(), strict=True):
                group = level.universe.group_at(index)
                found[level.level.geography.label, group.region_id, group.iteration.code] = count
    return found


def test_groups_are_those_with_a_published_total_and_their_tables_are_known(world, report):
    totals = [row.split("|") for row in (world.data / "pop-group-totals.txt").read_text().splitlines()[1:]]
    rows = rows_of(report)
    for family, tables in (("household type", 4), ("tenure", 2)):
        of_family = [row for row in rows if row["table_family"] == family]
        assert len({row["table"] for row in of_family}) == tables + 1
        everything = whole(of_family, number="total", table="all")
        assert sum(row["groups"] for row in everything) == len(totals)
        assert sum(row["published"] for row in everything) == 20 * len(totals)
    assert {row["table"] for row in rows} == {*TABLES, "all"}
    for row in rows:
        if row["number"] == "total":
            assert row["published_share"] == pytest.approx(row["published_share_theory"], abs=1e-12)
    assert not len(distances(rows, "published_share"))  # nothing is left to chance
    assert {row["number"] for row in rows} == {"total", "cell", "sum of 2", "sum of 3"}


def test_every_number_is_unbiased_with_the_variance_of_its_draws(report):
    found = distances(rows_of(report))
    assert len(found) > 500
    assert np.abs(found).max() < FAR
    assert 0.85 < np.sqrt((found**2).mean()) < 1.15
    draws = {"T03001": 1, "T03002": 2, "T03003": 4, "T03004": 5, "T04001": 1, "T04002": 3}
    variance = {}
    for row in whole(rows_of(report), number="total"):
        if row["table"] != "all" and row["numbers"]:
            assert row["bias_theory"] == pytest.approx(0, abs=1e-9)
            level = (row["geography_level"], row["iteration_level"])
            of_one = row["root_mean_square_error_theory"] ** 2 / draws[row["table"]]
            assert of_one == pytest.approx(variance.setdefault(level, of_one), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statistic", "change"), [("bias", lambda noise: noise + 2), ("coverage_95", lambda noise: 2 * noise)]
)
def test_wrong_noise_is_far_from_theory(world, tmp_path, monkeypatch, statistic, change):
    def faulty(counts, shape, right):
        noise = noisy_count(counts, shape, right) - counts.confidential_counts
        return counts.confidential_counts + change(noise)

    monkeypatch.setattr(tabulate_level_module, "noisy_count", faulty)
    found = distances(rows_of(assessed(world, tmp_path / "out", "--runs", 10)), statistic)
    assert np.abs(found).max() > FAR


def test_comparisons_are_by_family(report):
    rows = pq.read_table(report / "comparison.parquet").to_pylist()
    rows = [row for row in rows if row["iteration_kind"] == "all" and row["size_class"] == "1 or more"]
    verdicts = {(row["geography_level"], row["iteration_level"], row["table_family"]): row["verdict"] for row in rows}
    assert verdicts["STATE", "Detailed", "tenure"] == "gain"
    assert {one for (_, _, family), one in verdicts.items() if family == "tenure"} <= {"gain", "same"}
    of_types = {one for (_, _, family), one in verdicts.items() if family == "household type"}
    assert "mixed" in of_types  # finer tables, whose totals are less certain
    assert of_types <= {"gain", "mixed", "same"}


def test_the_page_speaks_of_households_family_by_family(report):
    text = page_of(report)
    assert "on the same households" in text
    assert text.count("Groups with households") == 2
    for words in (
        "Household type Every group",
        "Tenure Every group",
        "mean error, households",
        "thresholds, in people",
    ):
        assert words in text
    about_people = re.findall(r"(\S+ \S+) people", re.sub("[Tt]hese people are synthetic", "", text))
    assert set(about_people) <= {"total of", "thresholds, in", "are in"}
    for words in ("persons", "suppress", "stage", "Combined", "selection-aware"):
        assert words not in text


@pytest.mark.slow
def test_clamped_counts_have_no_theory_but_a_report(world, tmp_path):
    damaged = World(Path(shutil.copytree(world.parameters, tmp_path / "parameters")), world.data)
    damaged.configure(allow_negative_counts=False)
    rows = rows_of(assessed(damaged, tmp_path / "out", "--runs", 2))
    assert not len(distances(rows))
    assert max(row["bias"] for row in rows if row["numbers"]) > 0


@pytest.mark.slow
def test_copies_are_assessed(world, tmp_path):
    rows = rows_of(assessed(world, tmp_path / "out", "--runs", 2, "--coterminous"))
    assert {row["table_family"] for row in rows} == {"household type", "tenure"}


def test_the_other_configuration_must_be_of_the_same_product(world, tmp_path):
    missing = accuracy(world, tmp_path / "out", "--against", tmp_path / "nowhere")
    assert missing.exit_code == 1
    assert "SafeTab-P" not in missing.stderr
    result = accuracy(world, tmp_path / "out", "--against", SMALL_EXAMPLE / "parameters")
    assert result.exit_code == 1
    assert "--against: is a configuration of SafeTab-P; PARAMETERS is one of SafeTab-H." in result.stderr


@pytest.mark.slow
def test_real_households_need_a_word(world, tmp_path):
    real = World(world.parameters, Path(shutil.copytree(world.data, tmp_path / "data")))
    (real.data / "SYNTHETIC").unlink()
    words = ["accuracy", real.parameters, real.data, tmp_path / "out", "--runs", 1]
    refused = cli(*words)
    assert refused.exit_code == 1
    assert "its households may be real" in refused.stderr
    told = cli(*words, "--confidential")
    assert told.exit_code == 0, told.stderr
    assert "true counts of real households" in told.stdout
    assert "true counts of real households" in (tmp_path / "out" / "README.txt").read_text()


@pytest.mark.slow
@pytest.mark.needs_2020_files
def test_the_case_of_the_bureaus_program_with_the_budgets_of_2020(tmp_path):
    case = SHARED / "households" / "case-tricky"
    parameters = Path(shutil.copytree(case / "parameters", tmp_path / "parameters"))
    budgets = {key: value for key, value in config_of_2020().items() if key.startswith("privacy_budget")}
    config = json.loads((parameters / "config.json").read_text()) | budgets
    (parameters / "config.json").write_text(json.dumps(config))
    out = assessed(World(parameters, case / "data"), tmp_path / "out", "--runs", 5)
    found = distances(rows_of(out))
    assert len(found) > 1_000
    assert np.abs(found).max() < FAR
    assert {row["table"] for row in rows_of(out)} == {*TABLES, "all"}
