"""`safetab accuracy`: the same path as a run, what is refused, and who may read what it writes."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import stat
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import cli
from tests.inside import (
    SEX_BY_AGE,
    KnownCounts,
    NoProgress,
    OutputStatus,
    RunOptions,
    backend_of,
    checked_engine,
    names_of,
    read_inputs,
)
from tests.releases import numbers_of
from tests.worlds.people import write_small_census

pytestmark = pytest.mark.slow

KEY = "5e" * 32


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_census(tmp_path_factory.mktemp("accuracy") / "census")


@pytest.fixture(scope="module")
def report(census: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of three runs, beside three runs of the same configuration; nobody changes it."""
    out = tmp_path_factory.mktemp("report") / "out"
    return assessed(census, out, "--runs", 3, "--against", census / "parameters", "--test-key", KEY)


@pytest.fixture(scope="module")
def released(census: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("released") / "out"
    safetab.run(census / "parameters", census / "data", out, test_key=KEY)
    return out


@pytest.fixture
def copied(census: Path, tmp_path: Path) -> Path:
    """A census that a test may damage."""
    return Path(shutil.copytree(census, tmp_path / "census"))


def command(*arguments: object) -> tuple[int, str, str]:
    result = cli("accuracy", *arguments)
    return result.exit_code, result.stdout, result.stderr


def assessed(census: Path, out: Path, *options: object) -> Path:
    code, _, stderr = command(census / "parameters", census / "data", out, *options)
    assert code == 0, stderr
    return out


def refused(census: Path, out: Path, *options: object) -> str:
    code, _, stderr = command(census / "parameters", census / "data", out, *options)
    assert code == 1
    assert "Traceback" not in stderr
    return stderr


def rows_of(out: Path, name: str = "accuracy") -> list[dict]:
    """Of the first configuration."""
    rows = pq.read_table(out / f"{name}.parquet").to_pylist()
    return [row for row in rows if row.get("configuration", "given") == "given"]


def exact_totals(census: Path) -> dict[tuple[str, str, str], int]:
    """The true size of every group with somebody in it."""
    checked, found = read_inputs(census / "parameters", census / "data"), {}
    with backend_of(RunOptions()) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        for level in checked.require().plan.levels:
            totals = engine.totals(level)
            for index, count in zip(totals.indices.tolist(), totals.confidential_counts[:, 0].tolist(), strict=True):
                group = level.universe.group_at(index)
                found[level.level.geography.label, group.region_id, group.iteration.code] = count
    return found


def is_in_interval(row: dict, true: int) -> bool:
    """By the interval that the release gives."""
    return row["interval_low"] <= true <= row["interval_high"]


def test_known_counts_are_the_engines_whatever_is_asked(census):
    checked, random = read_inputs(census / "parameters", census / "data"), np.random.default_rng(20)
    with backend_of(RunOptions()) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        levels = checked.require().plan.levels
        known = KnownCounts(engine, levels, lambda: None)
        for level in levels:
            totals, indices = engine.totals(level), engine.totals(level).indices
            assert np.array_equal(known.totals(level).indices, indices)
            assert np.array_equal(known.totals(level).confidential_counts, totals.confidential_counts)
            some = random.choice(level.universe.size, min(60, level.universe.size), replace=False)
            large = indices[np.argsort(totals.confidential_counts[:, 0])[-60:]]
            chosen = np.unique(np.concatenate([some, large]))  # empty, unlikely and likely ones
            shape_of = random.integers(0, len(SEX_BY_AGE), len(chosen))
            asked = {shape: chosen[shape_of == number] for number, shape in enumerate(SEX_BY_AGE)}
            asked = {shape: of_shape for shape, of_shape in asked.items() if len(of_shape)}
            expected, seen = engine.cells(level, asked), known.cells(level, asked)
            for shape in asked:
                assert np.array_equal(seen[shape].indices, expected[shape].indices)
                assert np.array_equal(seen[shape].confidential_counts, expected[shape].confidential_counts)


@pytest.mark.parametrize(
    "options",
    [
        (),
        pytest.param(("--coterminous",), marks=pytest.mark.slow),
        pytest.param(("--rule", "clamp-negatives"), marks=pytest.mark.slow),
        ("--coterminous", "--rule", "withhold-negatives", "--rule", "withhold-alone-above-partner"),
    ],
)
def test_one_assessed_run_is_the_run_that_the_same_key_gives(census, tmp_path, options):
    """Published totals by level and table, and their errors, counted again from the files of a run."""
    key_of_first_run = hashlib.sha256(bytes.fromhex(KEY) + (0).to_bytes(8, "big")).hexdigest()
    run = cli("run", census / "parameters", census / "data", tmp_path / "run", *options, "--test-key", key_of_first_run)  # fmt: skip
    assert run.exit_code == 0, run.stderr
    truth, published, absolute, signed = exact_totals(census), Counter(), Counter(), Counter()
    cells, within, in_interval = Counter(), Counter(), Counter()
    for row in numbers_of(tmp_path / "run"):
        key = (row["geography_level"], row["iteration_level"], row["table"])
        if row["status"] == "withheld":
            continue
        if row["table_id"] == "T01001":
            true = truth.get((row["geography_level"], row["region_id"], row["iteration_code"]), 0)
            error = row["count"] - true
            published[key] += 1
            absolute[key] += abs(error)
            signed[key] += error
            within[key] += abs(error) <= row["unclamped_margin_of_error"]
            in_interval[key] += is_in_interval(row, true)
        elif row["noise_draws"] == 1:
            cells[key] += 1
    names = ("published", "absolute", "signed", "cells", "within", "in_interval")
    seen: dict[str, Counter] = {name: Counter() for name in names}
    for row in rows_of(assessed(census, tmp_path / "out", "--runs", 1, "--test-key", KEY, *options)):
        key = (row["geography_level"], row["iteration_level"], row["table"])
        if row["iteration_kind"] != "all" or row["size_class"] != "all" or row["table"] == "all":
            continue
        if row["number"] == "total" and row["numbers"]:
            seen["published"][key] += row["published"]
            seen["absolute"][key] += round(row["mean_absolute_error"] * row["numbers"])
            seen["signed"][key] += round(row["bias"] * row["numbers"])
            seen["within"][key] += round(row["coverage_95"] * row["numbers"])
            seen["in_interval"][key] += round(row["interval_coverage_95"] * row["numbers"])
        if row["number"] == "cell":
            seen["cells"][key] += row["numbers"]
    assert seen["published"] == published
    assert seen["absolute"] == absolute
    assert seen["signed"] == signed
    assert seen["cells"] == cells
    assert seen["within"] == within
    assert seen["in_interval"] == in_interval
    assert sum(cells.values()) > 0


def test_every_group_of_every_level_is_in_one_size_class(census, report):
    plan = safetab.plan(census / "parameters", census / "data")
    groups: Counter = Counter()
    for row in rows_of(report):
        is_a_class = row["iteration_kind"] != "all" and row["size_from"] is not None
        if is_a_class and (row["number"], row["table"]) == ("total", "all"):
            groups[row["geography_level"], row["iteration_level"]] += row["groups"]
    expected = {(one.level.geography.label, one.level.iterations.name): one.universe.size for one in plan.levels}
    assert groups == expected


def test_people_who_may_be_real_are_refused_unless_the_curator_says_so(copied, tmp_path):
    (copied / "data" / "SYNTHETIC").unlink()
    told = refused(copied, tmp_path / "out", "--runs", 1)
    assert "has no file SYNTHETIC" in told
    assert "--confidential" in told
    assert not (tmp_path / "out").exists()
    code, stdout, _ = command(copied / "parameters", copied / "data", tmp_path / "out", "--runs", 1, "--confidential")
    assert code == 0
    assert "may ever be released" in stdout
    page = (tmp_path / "out" / "accuracy.html").read_text(encoding="utf-8")
    warning = "Confidential. Made from the true counts of real people. Never release any of it."
    assert f'<p class="forbidden">{warning}</p>' in page
    assert warning in (tmp_path / "out" / "README.txt").read_text()
    assert json.loads((tmp_path / "out" / "accuracy.json").read_text())["warning"] == warning
    assert pq.read_schema(tmp_path / "out" / "accuracy.parquet").metadata[b"safetab"].decode() == warning
    assert not json.loads((tmp_path / "out" / "accuracy.json").read_text())["for_release"]


def test_a_key_can_be_chosen_for_synthetic_people_alone(copied, tmp_path):
    (copied / "data" / "SYNTHETIC").unlink()
    assert "--test-key" in refused(copied, tmp_path / "out", "--runs", 1, "--confidential", "--test-key", KEY)


def test_only_the_curator_can_read_it(report):
    assert stat.S_IMODE(report.stat().st_mode) == 0o700
    names = {path.name for path in report.iterdir()}
    assert names == {
        "accuracy.html", "accuracy.csv", "accuracy.parquet", "accuracy.json", "comparison.csv", "comparison.parquet",
        "README.txt",
    }  # fmt: skip
    assert {stat.S_IMODE(path.stat().st_mode) for path in report.iterdir()} == {0o600}


@pytest.mark.parametrize("inside", ["", "deeper", "release/deeper"])
def test_it_goes_neither_into_a_release_nor_in_its_place(census, released, inside):
    before = {path: path.read_bytes() for path in released.rglob("*") if path.is_file()}
    told = refused(census, released / inside, "--runs", 1, "--overwrite")
    assert "the output of a run, which may be released" in told
    assert {path: path.read_bytes() for path in released.rglob("*") if path.is_file()} == before


def test_an_unrelated_manifest_above_is_no_release(census, tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    told = refused(census, tmp_path / "out", "--runs", 0)  # refused for the runs alone
    assert "output of a run" not in told


@pytest.mark.slow
def test_it_replaces_an_older_report_if_told_and_nothing_else(census, report, tmp_path):
    out = Path(shutil.copytree(report, tmp_path / "out"))
    assert "already exists" in refused(census, out, "--runs", 1)
    assessed(census, out, "--runs", 2, "--overwrite")
    assert json.loads((out / "accuracy.json").read_text())["runs"] == {"given": 2}
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("mine")
    assert "so it is not replaced" in refused(census, tmp_path / "precious", "--runs", 1, "--overwrite")
    assert (tmp_path / "precious" / "thesis.txt").read_text() == "mine"


def test_what_somebody_put_into_a_report_stays(census, report, tmp_path):
    out = Path(shutil.copytree(report, tmp_path / "out"))
    (out / "thesis.txt").write_text("mine")
    told = refused(census, out, "--runs", 1, "--overwrite")
    assert "holds what safetab didn't write there: thesis.txt. Move it away" in " ".join(told.split())
    assert (out / "thesis.txt").read_text() == "mine"


def test_a_run_does_not_take_the_place_of_a_report(census, report):
    arguments = ["run", str(census / "parameters"), str(census / "data"), str(report), "--overwrite"]
    result = cli(*arguments)
    assert result.exit_code == 1
    assert (report / "accuracy.html").is_file()


def test_several_mistakes_are_told_at_once(census, tmp_path):
    told = refused(census, tmp_path / "nowhere" / "out", "--runs", 0, "--memory", "lots", "--empty-blocks", "x.txt")
    for part in ("--runs: must be from 1", "--memory", "--empty-blocks", "nowhere is not a directory"):
        assert part in told


def test_data_that_are_nowhere_are_told_as_such(census, tmp_path):
    code, _, stderr = command(census / "parameters", tmp_path / "absent", tmp_path / "out", "--runs", 1)
    assert code == 1
    assert "--confidential" not in stderr
    assert "absent" in stderr


def test_a_mistake_in_the_other_parameters_leaves_nothing_behind(census, tmp_path):
    assert "absent does not exist" in refused(census, tmp_path / "out", "--runs", 1, "--against", tmp_path / "absent")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_same_key_gives_the_same_tables_however_many_runs_go_side_by_side(census, report, tmp_path):
    alone = assessed(census, tmp_path / "out", "--runs", 3, "--test-key", KEY, "--threads", 1)
    for first, second in zip(rows_of(report), rows_of(alone), strict=True):
        for name, value in first.items():
            if isinstance(value, float):
                assert value == pytest.approx(second[name], rel=1e-9, abs=1e-9)
            else:
                assert value == second[name]


@pytest.mark.slow
def test_with_rules_or_copies_no_distance_from_theory_is_told(census, tmp_path):
    out = assessed(census, tmp_path / "out", "--runs", 1, "--rule", "clamp-negatives", "--coterminous")
    assert all(row["bias_distance"] is None for row in rows_of(out))
    page = (out / "accuracy.html").read_text(encoding="utf-8")
    assert "<strong>Rules of the release: </strong>clamp-negatives" in page
    assert "<strong>Coterminous step: </strong>on" in page
    assert "there is no distance" in page


@pytest.mark.slow
def test_a_better_configuration_is_seen_to_be_better(copied, tmp_path):
    """A county's Detailed groups get ten times the budget, those of tracts a tenth."""
    other = Path(shutil.copytree(copied / "parameters", tmp_path / "other"))
    config = json.loads((other / "config.json").read_text())
    for level, factor in (("county", 10), ("tract", 0.1)):
        key = f"privacy_budget_p_level_2_{level}"
        config[key] = round(config[key] * factor, 6)
    (other / "config.json").write_text(json.dumps(config))
    out = assessed(copied, tmp_path / "out", "--runs", 10, "--against", other, "--test-key", KEY)
    chosen = {
        (row["geography_level"], row["iteration_level"]): row
        for row in rows_of(out, "comparison")
        if (row["size_class"], row["iteration_kind"], row["measured"]) == ("20 to 49", "all", "adaptive")
    }
    county, tract, place = (chosen[level, "Detailed"] for level in ("COUNTY", "TRACT", "PLACE"))
    assert county["verdict"] == "gain"
    assert tract["verdict"] != "gain"
    assert tract["published_share_other"] < tract["published_share"] / 2
    assert tract["mean_absolute_error_other"] > tract["mean_absolute_error"]
    assert place["verdict"] == "same"


def test_a_configuration_beside_itself_gains_and_loses_nothing(census, tmp_path):
    out = assessed(census, tmp_path / "out", "--runs", 1, "--against", census / "parameters")
    rows = rows_of(out, "comparison")
    assert any(row["mean_absolute_error"] != row["mean_absolute_error_other"] for row in rows)
    assert {row["verdict"] for row in rows} == {"same"}


def test_the_page_needs_nothing_else(report):
    page = (report / "accuracy.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src &#x27;none&#x27;" in page
    assert page.count("<figure") > 10
    assert '<p class="verdict"><strong>Margins hold: yes. </strong>' in page
    assert page.split("</header>")[0].count("<li>") == 5
    assert OutputStatus.TEST_KEY.sentence in page  # these runs have one
    assert "parameters, against parameters again</h2>" in page


def test_classes_of_a_comparison_stand_by_rising_size(report):
    last: dict[tuple, int] = {}
    rows = rows_of(report, "comparison")
    keys = [
        tuple(row[name] for name in ("geography_level", "iteration_level", "measured", "iteration_kind"))
        for row in rows
    ]
    assert len(set(keys)) == 1 + sum(one != other for one, other in pairwise(keys))  # each together
    for key, row in zip(keys, rows, strict=True):
        if row["size_from"] is not None:
            assert row["size_from"] > last.get(key, -1)
            last[key] = row["size_from"]
    assert len(last) > 10


@pytest.mark.parametrize(
    ("given", "other", "names"),
    [
        ("a/parameters", "a/finer", ("parameters", "finer")),
        ("a/parameters", "b/parameters", ("a/parameters", "b/parameters")),
        ("a/parameters", "a/x/../parameters/", ("parameters", "parameters again")),
        (".", "..", None),
    ],
)
def test_two_configurations_are_called_by_their_folders(given, other, names):
    assert names_of(Path(given), Path(other)) == (names or (Path.cwd().name, Path.cwd().parent.name))


def test_the_page_headlines_the_coverage_of_published_totals(report):
    """By the plain margin and by the release's interval, all together and below state level."""
    page = (report / "accuracy.html").read_text(encoding="utf-8")
    wholes = [
        row
        for row in rows_of(report)
        if (row["number"], row["table"], row["iteration_kind"], row["size_class"]) == ("total", "all", "all", "all")
    ]
    below = [row for row in wholes if row["geography_level"].removeprefix("PR-") not in {"USA", "STATE"}]
    shown = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page)
    for (words, figure), name in zip(shown[:2], ("coverage_95", "interval_coverage_95"), strict=True):
        assert words.startswith("of published totals")
        for chosen, text in ((wholes, figure), (below, words.rsplit(" ", 1)[1])):
            expected = sum(row["numbers"] * (row[name] or 0) for row in chosen) / sum(row["numbers"] for row in chosen)
            assert float(text.removesuffix("%")) == pytest.approx(100 * expected, abs=0.051)
    assert "of all totals" not in page


def test_the_page_marks_the_true_sizes_for_which_the_plain_margin_fails_and_the_interval_does_not(report):
    page = (report / "accuracy.html").read_text(encoding="utf-8")
    chosen = [
        row
        for row in rows_of(report)
        if (row["number"], row["table"], row["iteration_kind"]) == ("total", "all", "all")
        and row["size_from"] is not None
        and row["numbers"]
    ]
    failing = [row for row in chosen if row["coverage_95_theory"] < 0.95]
    assert {row["size_class"] for row in failing} >= {"10 to 19", "50 to 99"}
    assert all(row["interval_coverage_95_theory"] >= 0.95 for row in chosen)
    told = f"Of {len(chosen):,} classes of level and true size that have published totals, the plain margin falls short"
    assert f"{told} of 95% in {len(failing):,} and the release&#x27;s interval in 0." in page
    assert page.count('<strong class="short">') == len(failing)
    assert '<small class="short">' not in page


def test_over_all_tables_the_shares_add_up_to_what_is_published(report):
    shares: Counter = Counter()
    whole = {}
    for row in rows_of(report):
        key = tuple(
            row[name] for name in ("geography_level", "iteration_level", "measured", "iteration_kind", "size_class")
        )
        if row["number"] == "total" and row["table"] == "all":
            whole[key] = row["published_share"]
            assert row["suppressed_share"] == pytest.approx(1 - row["published_share"])
        elif row["number"] == "total":
            shares[key] += row["published_share"]
    assert len(whole) > 100
    assert all(shares[key] == pytest.approx(share) for key, share in whole.items())


def test_a_function_of_the_package_is_a_function_however_often_it_is_called(census, tmp_path):
    """A subpackage of the same name would take its place as soon as it is imported."""
    for name in safetab.__all__:
        assert callable(getattr(safetab, name)) or name in {"__version__", "tuning"}
    for time in ("first", "second"):
        safetab.accuracy(census / "parameters", census / "data", tmp_path / time, runs=1)
        assert (tmp_path / time / "accuracy.html").is_file()
