"""`safetab accuracy`: the same path as a run, what is refused, and who may read what it writes."""

import re
import shutil
import stat
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import safetab
from tests.assessed import (
    assessed,
    errors_of_a_run,
    errors_told,
    known_counts_are_the_engines,
    of_first_run,
    rows_of,
    whole,
)
from tests.commands import done, refused
from tests.inside import OutputStatus, names_of
from tests.releases import files_of, json_of
from tests.worlds.people import write_small_census
from tests.worlds.world import World

pytestmark = pytest.mark.slow

KEY = "5e" * 32
LEVEL = ("geography_level", "iteration_level")


@pytest.fixture(scope="module")
def census(tmp_path_factory):
    return World.of(write_small_census(tmp_path_factory.mktemp("accuracy") / "census"))


@pytest.fixture(scope="module")
def report(census, tmp_path_factory):
    """Of three runs, beside three runs of the same configuration; nobody changes it."""
    options = ("--runs", 3, "--against", census.parameters, "--test-key", KEY)
    return assessed(census, tmp_path_factory.mktemp("report") / "out", *options)


@pytest.fixture(scope="module")
def page(report):
    return (report / "accuracy.html").read_text()


@pytest.fixture
def copied(census, tmp_path):
    """A census that a test may damage."""
    return census.copy(tmp_path / "census")


def values(row, names):
    return tuple(row[name] for name in names)


def test_known_counts_are_the_engines_whatever_is_asked(census):
    known_counts_are_the_engines(census)


OPTIONS = "; --coterminous; --rule clamp-negatives; --coterminous --rule withhold-negatives --rule withhold-alone-above-partner"


@pytest.mark.parametrize("options", OPTIONS.split(";"))
def test_one_assessed_run_is_the_run_that_the_same_key_gives(census, tmp_path, options):
    """Published totals by level and table, and their errors, counted again from the files of a run."""
    done("run", *census, tmp_path / "run", *options.split(), "--test-key", of_first_run(KEY))
    expected = errors_of_a_run(census, tmp_path / "run", lambda row: row["table_id"] == "T01001")
    out = assessed(census, tmp_path / "out", "--runs", 1, "--test-key", KEY, *options.split())
    assert errors_told(out) == expected
    assert any(count for (name, *_), count in expected.items() if name == "cells")


def test_every_group_of_every_level_is_in_one_size_class(census, report):
    groups = Counter()
    for row in rows_of(report):
        is_a_class = row["iteration_kind"] != "all" and row["size_from"] is not None
        if is_a_class and (row["number"], row["table"]) == ("total", "all"):
            groups[values(row, LEVEL)] += row["groups"]
    levels = safetab.plan(*census).levels
    assert groups == {(one.level.geography.label, one.level.iterations.name): one.universe.size for one in levels}


def test_people_who_may_be_real_are_refused_unless_the_curator_says_so(copied, out):
    (copied.data / "SYNTHETIC").unlink()
    told = refused("accuracy", *copied, out, "--runs", 1)
    assert "has no file SYNTHETIC" in told
    assert "--confidential" in told
    told = refused("accuracy", *copied, out, "--runs", 1, "--confidential", "--test-key", KEY)
    assert "--test-key" in told
    assert not out.exists()
    assert "may ever be released" in done("accuracy", *copied, out, "--runs", 1, "--confidential")
    warning = "Confidential. Made from the true counts of real people. Never release any of it."
    assert f'<p class="forbidden">{warning}</p>' in (out / "accuracy.html").read_text()
    assert warning in (out / "README.txt").read_text()
    facts = json_of(out / "accuracy.json")
    assert (facts["warning"], facts["for_release"]) == (warning, False)
    assert pq.read_schema(out / "accuracy.parquet").metadata[b"safetab"].decode() == warning


def test_only_the_curator_can_read_it(report):
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (report, *report.iterdir())}
    files = "accuracy.html accuracy.json README.txt accuracy.csv accuracy.parquet comparison.csv comparison.parquet"
    assert modes == {report.name: 0o700} | dict.fromkeys(files.split(), 0o600)


@pytest.mark.parametrize("inside", ["", "deeper", "release/deeper"])
def test_it_goes_neither_into_a_release_nor_in_its_place(census, releases, inside):
    released = releases.people(2, people=60, budget=1).out
    before = files_of(released)
    told = refused("accuracy", *census, released / inside, "--runs", 1, "--overwrite")
    assert "the output of a run, which may be released" in told
    assert files_of(released) == before


def test_an_unrelated_manifest_above_is_no_release(census, tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    told = refused("accuracy", *census, tmp_path / "out", "--runs", 0, code=2)  # refused for the runs alone
    assert "output of a run" not in told


def test_it_replaces_an_older_report_if_told_and_nothing_else(census, report, tmp_path):
    out = shutil.copytree(report, tmp_path / "out")
    assert "already exists" in refused("accuracy", *census, out, "--runs", 1)
    assessed(census, out, "--runs", 2, "--overwrite")
    assert json_of(out / "accuracy.json")["runs"] == {"given": 2}
    (tmp_path / "precious").mkdir()
    for folder, words in (
        (tmp_path / "precious", "so it is not replaced"),
        (out, "holds what safetab didn't write there: thesis.txt. Move it away"),
    ):
        (folder / "thesis.txt").write_text("mine")
        assert words in refused("accuracy", *census, folder, "--runs", 1, "--overwrite")
        assert (folder / "thesis.txt").read_text() == "mine"


def test_a_run_does_not_take_the_place_of_a_report(census, report):
    refused("run", *census, report, "--overwrite")
    assert (report / "accuracy.html").is_file()


def test_mistakes_are_told_at_once_and_leave_nothing_behind(census, out, tmp_path):
    many = ("--runs", 0, "--memory", "lots", "--empty-blocks", "x.txt")
    told = refused("accuracy", *census, tmp_path / "nowhere" / "out", *many, code=2)
    for part in ("--runs: must be from 1", "--memory", "--empty-blocks", "nowhere does not exist"):
        assert part in told
    absent = tmp_path / "absent"
    told = refused("accuracy", census.parameters, absent, out, "--runs", 1)
    assert "absent" in told
    assert "--confidential" not in told
    assert "absent does not exist" in refused("accuracy", *census, out, "--runs", 1, "--against", absent)
    assert not [*tmp_path.iterdir()]


def test_the_same_key_gives_the_same_tables_however_many_runs_go_side_by_side(census, report, out):
    alone = assessed(census, out, "--runs", 3, "--test-key", KEY, "--threads", 1)
    for first, second in zip(rows_of(report), rows_of(alone), strict=True):
        for name, value in first.items():
            is_exact = not isinstance(value, float)
            assert second[name] == (value if is_exact else pytest.approx(value, rel=1e-9, abs=1e-9))


def test_with_rules_or_copies_no_distance_from_theory_is_told(census, tmp_path):
    out = assessed(census, tmp_path / "out", "--runs", 1, "--rule", "clamp-negatives", "--coterminous")
    assert all(row["bias_distance"] is None for row in rows_of(out))
    page = (out / "accuracy.html").read_text()
    assert "<strong>Rules of the release: </strong>clamp-negatives" in page
    assert "<strong>Coterminous step: </strong>on" in page
    assert "there is no distance" in page


def test_a_better_configuration_is_seen_to_be_better(census, tmp_path):
    """A county's Detailed groups get ten times the budget, those of tracts a tenth."""
    other = census.copy(tmp_path / "other")
    county, tract = "privacy_budget_p_level_2_county", "privacy_budget_p_level_2_tract"
    config = other.config()
    other.configure(**{county: round(config[county] * 10, 6), tract: round(config[tract] / 10, 6)})
    out = assessed(census, tmp_path / "out", "--runs", 10, "--against", other.parameters, "--test-key", KEY)
    rows = whole(rows_of(out, "comparison"), size_class="20 to 49", measured="adaptive")
    chosen = {values(row, LEVEL): row for row in rows}
    county, tract, place = (chosen[level, "Detailed"] for level in ("COUNTY", "TRACT", "PLACE"))
    assert (county["verdict"], place["verdict"]) == ("gain", "same")
    assert tract["verdict"] != "gain"
    assert tract["published_share_other"] < tract["published_share"] / 2
    assert tract["mean_absolute_error_other"] > tract["mean_absolute_error"]


def test_a_configuration_beside_itself_gains_and_loses_nothing(census, tmp_path):
    out = assessed(census, tmp_path / "out", "--runs", 1, "--against", census.parameters)
    rows = rows_of(out, "comparison")
    assert any(row["mean_absolute_error"] != row["mean_absolute_error_other"] for row in rows)
    assert {row["verdict"] for row in rows} == {"same"}


def test_the_page_needs_nothing_else(page):
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src &#x27;none&#x27;" in page
    assert page.count("<figure") > 10
    assert '<p class="verdict"><strong>Margins hold: yes. </strong>' in page
    assert page.split("</header>")[0].count("<li>") == 5
    assert OutputStatus.TEST_KEY.sentence in page  # these runs have one
    assert "parameters, against parameters again</h2>" in page


def test_classes_of_a_comparison_stand_by_rising_size(report):
    rows, last = rows_of(report, "comparison"), {}
    keys = [values(row, (*LEVEL, "measured", "iteration_kind")) for row in rows]
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
        (".", "..", (Path.cwd().name, Path.cwd().parent.name)),
    ],
)
def test_two_configurations_are_called_by_their_folders(given, other, names):
    assert names_of(Path(given), Path(other)) == names


def test_the_page_headlines_the_coverage_of_published_totals(report, page):
    """By the plain margin and by the release's interval, all together and below state level."""
    wholes = whole(rows_of(report), number="total", table="all")
    below = [row for row in wholes if row["geography_level"].removeprefix("PR-") not in {"USA", "STATE"}]
    shown = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page)
    for (words, figure), name in zip(shown[:2], ("coverage_95", "interval_coverage_95"), strict=True):
        assert words.startswith("of published totals")
        for chosen, text in ((wholes, figure), (below, words.rsplit(" ", 1)[1])):
            expected = sum(row["numbers"] * (row[name] or 0) for row in chosen) / sum(row["numbers"] for row in chosen)
            assert float(text.removesuffix("%")) == pytest.approx(100 * expected, abs=0.051)
    assert "of all totals" not in page


def test_the_page_marks_the_true_sizes_for_which_the_plain_margin_fails_and_the_interval_does_not(report, page):
    wanted = {"number": "total", "table": "all", "iteration_kind": "all"}.items()
    chosen = [
        row for row in rows_of(report) if wanted <= row.items() and row["size_from"] is not None and row["numbers"]
    ]
    failing = [row for row in chosen if row["coverage_95_theory"] < 0.95]
    assert {row["size_class"] for row in failing} >= {"10 to 19", "50 to 99"}
    assert all(row["interval_coverage_95_theory"] >= 0.95 for row in chosen)
    told = f"Of {len(chosen):,} classes of level and true size that have published totals, the plain margin falls short"
    assert f"{told} of 95% in {len(failing):,} and the release&#x27;s interval in 0." in page
    assert page.count('<strong class="short">') == len(failing)
    assert '<small class="short">' not in page


def test_over_all_tables_the_shares_add_up_to_what_is_published(report):
    shares, published = Counter(), {}
    for row in rows_of(report):
        key = values(row, (*LEVEL, "measured", "iteration_kind", "size_class"))
        if row["number"] == "total" and row["table"] == "all":
            published[key] = pytest.approx(row["published_share"])
            assert row["suppressed_share"] == pytest.approx(1 - row["published_share"])
        elif row["number"] == "total":
            shares[key] += row["published_share"]
    assert len(published) > 100
    assert all(shares[key] == share for key, share in published.items())


def test_a_function_of_the_package_is_a_function_however_often_it_is_called(census, tmp_path):
    """A subpackage of the same name would take its place as soon as it is imported."""
    for name in safetab.__all__:
        assert callable(getattr(safetab, name)) or name in {"__version__", "tuning"}
    for time in ("first", "second"):
        safetab.accuracy(*census, tmp_path / time, runs=1)
        assert (tmp_path / time / "accuracy.html").is_file()
