"""The plan of a specification on a terminal: what stands in which column, and that no table is broken."""

import json
import re

import pytest

from tests.commands import done, refused
from tests.inside import NoProgress, a_or_an, write_example

RULE = re.compile(r"^ ─+\s*$", re.MULTILINE)


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    for name in ("nz", "ons"):
        (folder / name).mkdir()
        write_example(name, 1, folder / name, NoProgress())
    return folder


@pytest.fixture
def nz(examples):
    return examples / "nz" / "parameters"


def planned(parameters, *options, columns=80):
    return done("plan", parameters, *options, env={"COLUMNS": str(columns)})


def rows(text):
    return [" ".join(line.split()) for line in text.splitlines()]


@pytest.mark.parametrize("name", ["nz", "ons"])
@pytest.mark.parametrize("columns", [80, 120])
def test_no_table_of_a_plan_is_broken(columns, name, examples):
    text = planned(examples / name / "parameters", columns=columns)
    assert len(RULE.findall(text)) == 3
    assert max(map(len, text.splitlines())) <= columns


ROWS = """
any person in this run 1.68 3.36 13.4549 20.1301
level 2 level 3 level 3
rho 0.02 0.5 0.1
+/- lone total 25 5 11
Gender by age (6 groups) from 5,000 from 1,000 from 1,000
+/- gender 62 12 28
T - - 21
Statistical area 2, level 3 288 9,504 0.92
"""


def test_the_loss_comes_first_and_levels_that_agree_share_a_column(nz):
    text = planned(nz)
    titles = ("Total privacy loss", "Budgets, margins of error (+/-) at 95%, and noise", "What is measured, and")
    assert sorted(titles, key=text.index) == list(titles)
    assert {*ROWS.strip().splitlines()} <= {*rows(text)}
    assert "total-only" not in text
    assert not re.search(r"\b(?:ta|sa2)\b", text)


def test_a_plan_says_how_many_empty_groups_are_published_by_chance(nz):
    """The explorer shows the second sum, since the other levels publish every group."""
    levels = json.loads(planned(nz, "--json"))["levels"]
    published = [(one["suppression_threshold"], one["if_all_groups_are_empty"]["published_groups"]) for one in levels]
    assert sum(number for _, number in published) == pytest.approx(611.6146, abs=1e-3)
    assert sum(number for threshold, number in published if threshold is not None) == pytest.approx(2.6146, abs=1e-3)
    assert {"all levels 27,753 611.61", "with T 27,144 2.61"} <= set(rows(planned(nz)))


def test_without_a_selector_only_the_finest_table_has_margins(nz, tmp_path):
    for file in nz.iterdir():
        text = file.read_text("utf-8").replace('selector   = "stage 1"', 'selector   = "none"')
        kept = [line for line in text.splitlines() if not line.startswith(("stage_1", "suppress", "thresholds"))]
        (tmp_path / file.name).write_text("\n".join(kept), "utf-8")
    text = planned(tmp_path)
    assert "Gender by age (18 groups) every group every group every group" in rows(text)
    assert not re.search(r"lone total|from \d|^ T |stage|Age \(4 groups\)", text, re.MULTILINE)
    margins = json.loads(planned(tmp_path, "--json"))["levels"][0]["margins_of_error"]
    assert [value for value in margins.values() if value] == [{"cell": 24, "gender_marginal": 102, "total": 176}]


def test_a_specification_is_planned_without_data_and_a_config_json_is_not(nz, world):
    assert "This plan was made without opening a record." in " ".join(rows(planned(nz)))
    assert "DATA: needed unless PARAMETERS has a census.toml." in refused("plan", world.parameters, code=2)


def test_the_paper_is_no_measure_for_another_census(nz, world):
    own = done("tune", "budget", "region, level 1", "11", "--parameters", nz)
    usual = done("tune", "budget", "county-detailed", "11", "--config", world.parameters / "config.json")
    assert ["paper" in one for one in (own, usual)] == [False, True]


def test_a_noun_has_the_article_that_it_is_spoken_with():
    for noun in ["an admission", "a patient", "a usual resident", "a unit", "a European", "an uncle"]:
        assert a_or_an(noun.partition(" ")[2]) == noun
