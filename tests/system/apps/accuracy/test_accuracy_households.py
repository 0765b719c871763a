"""`safetab accuracy` where published totals choose tables of several families: the truth beside runs, by family."""

import html
import re
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

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
from tests.conftest import SHARED, SMALL_EXAMPLE
from tests.inside import noisy_count, tabulate_level_module
from tests.worlds.households import config_of_2020, write_small_households
from tests.worlds.world import World

pytestmark = pytest.mark.slow

KEY = "7a" * 32
WITH_KEY = ("--test-key", KEY)
DRAWS = {"T03001": 1, "T03002": 2, "T03003": 4, "T03004": 5, "T04001": 1, "T04002": 3}
FAR = 8.0


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_small_households(tmp_path_factory.mktemp("households") / "world")


@pytest.fixture(scope="module")
def report(world, tmp_path_factory):
    """Of twenty runs beside twenty of another configuration, where tenure at states is a thousand times more precise
    and tables of household type are finer everywhere; nobody changes it."""
    folder = tmp_path_factory.mktemp("report")
    other = world.copy(folder / "other")
    finer = {level: [1, 2, 3] for level in other.config()["thresholds_h_t3"]}
    other.configure(privacy_budget_h_t4_level_2_state=1920.8, thresholds_h_t3=finer)
    return assessed(world, folder / "out", *WITH_KEY, "--runs", 20, "--against", other.parameters)


def distances(rows, statistic=""):
    names = [name for name in rows[0] if name.endswith(f"{statistic}_distance")]
    return np.array([row[name] for row in rows for name in names if row[name] is not None])


def test_known_counts_are_the_engines_for_each_family(world):
    known_counts_are_the_engines(world)


@pytest.mark.parametrize("options", [(), ("--rule", "withhold-negatives")])
def test_one_assessed_run_is_the_run_that_the_same_key_gives(world, tmp_path, options):
    done("run", *world, tmp_path / "run", "--test-key", of_first_run(KEY), *options)
    expected = errors_of_a_run(world, tmp_path / "run", lambda row: row["line"] == 1)
    found = errors_told(assessed(world, tmp_path / "out", *WITH_KEY, "--runs", 1, *options))
    names = {"published", "mean_absolute_error"}
    expected, found = ({key: count for key, count in one.items() if key[0] in names} for one in (expected, found))
    assert len(expected) > 80
    assert found == expected


def test_groups_are_those_with_a_published_total_and_their_tables_are_known(world, report):
    totals = len((world.data / "pop-group-totals.txt").read_text().splitlines()) - 1
    rows = rows_of(report)
    for family, tables in (("household type", 4), ("tenure", 2)):
        of_family = [row for row in rows if row["table_family"] == family]
        assert len({row["table"] for row in of_family}) == tables + 1
        everything = whole(of_family, number="total", table="all")
        assert sum(row["groups"] for row in everything) == totals
        assert sum(row["published"] for row in everything) == 20 * totals
    assert {row["table"] for row in rows} == {*DRAWS, "all"}
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
    variance = {}
    for row in whole(rows_of(report), number="total"):
        if row["table"] != "all" and row["numbers"]:
            assert row["bias_theory"] == pytest.approx(0, abs=1e-9)
            level = (row["geography_level"], row["iteration_level"])
            of_one = row["root_mean_square_error_theory"] ** 2 / DRAWS[row["table"]]
            assert of_one == pytest.approx(variance.setdefault(level, of_one), rel=1e-6)


@pytest.mark.parametrize(
    ("statistic", "change"), [("bias", lambda noise: noise + 2), ("coverage_95", lambda noise: 2 * noise)]
)
def test_wrong_noise_is_far_from_theory(world, out, monkeypatch, statistic, change):
    def faulty(counts, shape, right):
        noise = noisy_count(counts, shape, right) - counts.confidential_counts
        return counts.confidential_counts + change(noise)

    monkeypatch.setattr(tabulate_level_module, "noisy_count", faulty)
    found = distances(rows_of(assessed(world, out, *WITH_KEY, "--runs", 10)), statistic)
    assert np.abs(found).max() > FAR


def test_comparisons_are_by_family(report):
    rows = whole(pq.read_table(report / "comparison.parquet").to_pylist(), size_class="1 or more")
    assert len(rows) > 10
    of = {"tenure": set(), "household type": set()}
    for row in rows:
        of[row["table_family"]].add(row["verdict"])
    assert [row["verdict"] for row in whole(rows, size_class="1 or more", **PRECISE)] == ["gain"]
    assert of["tenure"] <= {"gain", "same"}
    assert "mixed" in of["household type"]  # finer tables, whose totals are less certain
    assert of["household type"] <= {"gain", "mixed", "same"}


PRECISE = {"geography_level": "STATE", "iteration_level": "Detailed", "table_family": "tenure"}


ITS_WORDS = """
on the same households
Household type Every group
Tenure Every group
mean error, households
thresholds, in people
"""


def test_the_page_speaks_of_households_family_by_family(report):
    page = re.sub(r"<style.*?</style>", "", (report / "accuracy.html").read_text(), flags=re.DOTALL)
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert text.count("Groups with households") == 2
    assert [words for words in ITS_WORDS.strip().splitlines() if words not in text] == []
    about_people = re.findall(r"(\S+ \S+) people", re.sub("[Tt]hese people are synthetic", "", text))
    assert set(about_people) <= {"total of", "thresholds, in", "are in"}
    assert not re.search("persons|suppress|stage|Combined|selection-aware", text)


def test_clamped_counts_have_no_theory_but_a_report(world, tmp_path):
    damaged = world.copy(tmp_path)
    damaged.configure(allow_negative_counts=False)
    rows = rows_of(assessed(damaged, tmp_path / "out", *WITH_KEY, "--runs", 2))
    assert not len(distances(rows))
    assert max(row["bias"] for row in rows if row["numbers"]) > 0


def test_copies_are_assessed(world, out):
    rows = rows_of(assessed(world, out, *WITH_KEY, "--runs", 2, "--coterminous"))
    assert {row["table_family"] for row in rows} == {"household type", "tenure"}


def test_the_other_configuration_must_be_of_the_same_product(world, tmp_path):
    for other, is_said in ((tmp_path / "nowhere", False), (SMALL_EXAMPLE / "parameters", True)):
        told = refused("accuracy", *world, tmp_path / "out", "--against", other)
        assert ("--against: is a configuration of SafeTab-P; PARAMETERS is one of SafeTab-H." in told) is is_said


def test_real_households_need_a_word(world, out, tmp_path):
    real = world.copy(tmp_path)
    (real.data / "SYNTHETIC").unlink()
    assert "its households may be real" in refused("accuracy", *real, out, "--runs", 1)
    words = "true counts of real households"
    assert words in done("accuracy", *real, out, "--runs", 1, "--confidential")
    assert words in (out / "README.txt").read_text()


@pytest.mark.needs_2020_files
def test_the_case_of_the_bureaus_program_with_the_budgets_of_2020(tmp_path):
    case = World.of(shutil.copytree(SHARED / "households" / "case-tricky", tmp_path / "case"))
    case.configure(**{key: value for key, value in config_of_2020().items() if key.startswith("privacy_budget")})
    rows = rows_of(assessed(case, tmp_path / "out", *WITH_KEY, "--runs", 5))
    found = distances(rows)
    assert len(found) > 1_000
    assert np.abs(found).max() < FAR
    assert {row["table"] for row in rows} == {*DRAWS, "all"}
