"""`safetab tune` from the terminal: its numbers, its forms, its mistakes."""

import json
import re

import pytest

from safetab.tuning import tuning_of
from tests.cases import cases_of
from tests.commands import cli, refused
from tests.conftest import SMALL_EXAMPLE
from tests.inside import QuestionReader, answer_percent, chance_text

COMMANDS = """\
table-moe
table-thresholds
levels
budget county-detailed 11
threshold county-detailed 23
margins 5
noise
codes county-detailed
curve county-detailed
""".splitlines()


def printed_by(words, *more):
    ended = cli("tune", *words.split(), *more)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def answer(words, *more):
    return json.loads(printed_by(words, *more, "--json"))


def rows(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_papers_tables_are_printed():
    printed = rows(printed_by("table-moe"))
    assert "COUNTY Detailed 11 0.143 0.159 0.286 0.318 11 0.1449 8.87 %" in printed
    assert "PLACE Regional 50 0.007 0.008 0.014 0.016 49 0.007531 5.86 %" in printed
    assert any(line.startswith("Where the target is 50, rho 0.008 gives +/- 49 at 95 % already") for line in printed)
    assert any("rho 4.944 in the paper, 3.675255 by the exact margins (-25.7 %)" in line for line in printed)
    assert {"0.008 93", "0.159 21", "0.543 11"} <= set(rows(printed_by("table-thresholds")))


def test_levels_are_those_of_the_plan_without_data():
    printed = rows(printed_by("levels"))
    assert any(line.startswith("266,586,338 population groups at 19 levels") for line in printed)
    assert set(
        rows("""
        TRACT Detailed 181,490,100 0.159 3.22 % 11,206.96
        rho 0.008 2.134 0.008 0.159
        +/- lone total 41 / 49 / 64 2 / 3 / 4 41 / 49 / 64 9 / 11 / 14
        Sex by Age(4) from 4,971 from 471 from 4,971 from 971
        +/- sex 82 / 98 / 129 5 / 6 / 8 82 / 98 / 129 18 / 22 / 29
        +/- total 116 / 139 / 182 7 / 8 / 11 116 / 139 / 182 26 / 31 / 41
        +/- sex 197 / 235 / 309 12 / 14 / 19 197 / 235 / 309 44 / 53 / 69
        +/- total 279 / 332 / 437 17 / 20 / 27 279 / 332 / 437 63 / 75 / 98
        T - - 93 21
        stability 9 9 9 9
        sigma, stage 1 75 4.5921 75 16.823
        sigma, stage 2 25 1.5307 25 5.6077
        United States 4.944 9.888 25.3629 38.9488
    """)
    ) <= {*printed, ""}


def test_levels_of_given_files():
    parameters, data = SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data"
    (geography,) = data.glob("GRF-C*")
    found = answer("levels --parameters", parameters, "--geography", geography)
    assert found["groups"] == 805
    (county,) = (level for level in found["levels"] if level["level"] == "COUNTY Detailed")
    assert county["margins_of_error"]["0.95"]["sex_age_4"] == {"cell": 10, "sex": 20, "total": 28}
    assert found["loss"]["anybody"]["unbounded_epsilon"] == 25.0701


def test_a_configuration_under_pure_dp(world):
    world.configure(privacy_defn="puredp")
    config = world.parameters / "config.json"
    printed = printed_by("levels --config", config)
    assert "scale" in printed
    assert "delta" not in printed
    found = answer("budget county-detailed 11 --config", config)
    assert (found["unit"], found["least_budget"], found["paper_budget"]) == ("epsilon", "2.598", None)


@pytest.mark.parametrize(
    "spelling",
    ["county-detailed", "COUNTY Detailed", "(COUNTY, 2)", "county_detailed", "privacy_budget_p_level_2_county"],
)
def test_a_level_may_be_spelled_as_in_files(spelling):
    assert answer("budget", spelling, "11")["level"] == "COUNTY Detailed"
    level = QuestionReader(tuning_of().require()).level("(PR-TRACT, 1)").facts.level
    assert str(level) == "(PR-TRACT, Regional)"


@pytest.mark.parametrize("table", ["total", "T01001", "t01001"])
def test_a_lone_total_has_a_size_too(table):
    found = answer("threshold county-detailed", table, "--relative", "0.1")
    assert (found["margin"], found["size"], found["suppression_threshold"]) == (11, 110, 21)
    printed = " ".join(printed_by("threshold county-detailed", table).split())
    assert (
        "a total alone has a margin of error of +/- 11 persons at 95 %. That is 10 % of it from 110 persons" in printed
    )
    assert "It is shown only above T = 21." in printed


@pytest.mark.parametrize(("table", "same"), [("T02001", "4"), ("T02003", "23"), ("sex_age_9", "9"), ("SEX-AGE-9", "9")])
def test_a_table_may_be_named_by_its_id(table, same):
    assert answer("threshold county-detailed", table) == answer("threshold county-detailed", same)


def test_questions_from_the_other_side():
    found = answer("budget county-detailed 11")
    assert (found["least_budget"], found["margin"], found["budget_now"]) == ("0.1449", 11, "0.159")
    assert found["saving"] == pytest.approx(0.0872, abs=1e-4)
    assert answer("budget aiannh-regional 50 --confidence 0.9")["least_budget"] == "0.005304"
    found = answer("threshold county-detailed 23 --relative 0.1 --number sex")
    assert (found["size"], found["cautious_threshold"], found["threshold_now"]) == (1060, 1093, 19_971)
    found = answer("margins 5")
    assert (found["spent"], found["left"]) == ("5", "0")
    assert {level["level"]: level["margin"] for level in found["levels"]}["COUNTY Detailed"] == 8
    found = answer("margins 1 --pass pr --proportion pr-county-detailed=1")
    assert [level["level"] for level in found["levels"]] == ["PR-COUNTY Detailed"]


def test_comparisons():
    found = answer("noise --delta 1e-10")
    assert (found["gaussian_epsilon"], found["geometric_epsilon_pure"]) == ("21.2352", "30.056")
    found = answer("codes county-detailed")
    assert [row["margin"] for row in found["codes"]] == [6, 6, 7, 8, 9, 10, 10, 11]
    found = answer("curve county-detailed --size 0 --size 21")
    assert found["suppression_threshold"] == 21
    assert [row["size"] for row in found["sizes"]] == [0, 21]
    assert found["sizes"][0]["suppressed"] > 0.9999
    assert found["sizes"][1]["bias"] == pytest.approx(4.8042, abs=1e-4)
    assert "Nothing is suppressed" in printed_by("curve state-detailed")


def test_concerns_are_told_where_they_apply(world):
    thresholds = world.config()["thresholds_p"]
    world.configure(max_race_codes=3, thresholds_p=thresholds | {"(COUNTY, 2)": [5, 5000, 20_000]})
    config = world.parameters / "config.json"
    for words in ("levels", "budget county-detailed 11", "curve county-detailed"):
        printed = printed_by(words, "--config", config)
        assert "Concern: COUNTY Detailed: The lowest threshold, 5, lies within the noise of stage 1" in printed
        assert "Concern: Only the first 3 of 8 race codes are used" in printed
    elsewhere = answer("curve tract-detailed --config", config)["concerns"]
    assert [concern["level"] for concern in elsewhere] == [None]


@pytest.mark.parametrize("words", COMMANDS)
def test_no_margin_is_shown_without_its_confidence(words):
    printed = printed_by(words)
    assert "…" not in printed
    for block in printed.split("\n\n"):
        if "+/-" in block or "margin" in block.lower():
            assert "%" in block
    for line in re.findall(r".*\+/-.*", printed):
        assert "%" in line or " at 95 %" in printed
    assert "concerns" in answer(words)


@pytest.mark.parametrize(
    ("code", "words", "told"),
    cases_of("""
        1 | budget county 11 | LEVEL: there is no level "county". The levels are usa-regional, usa-detailed,
        1 | budget county-detailed -- -1.5 | MARGIN: must be a whole number of persons, at least 0
        1 | budget county-detailed 999999999 | no noise that can be drawn
        1 | threshold county-detailed 5 | no table "5". Give 4, 9 or 23: how many ages it has; total; or an id,
        1 | threshold aiannh-regional 4 | its budget privacy_budget_p_level_1_aiannh is 0
        1 | margins nan | TOTAL: "nan" is not a decimal number above 0, e.g. 5.
        1 | margins 5 --proportion pr-state-detailed=1 | not in the US pass
        1 | codes county-detailed --config nowhere.json | nowhere.json does not exist
        2 | budget county-detailed 11 --confidence 95 | --confidence: must be a number from 0.5
        2 | threshold county-detailed 4 --relative 0 | --relative: "0" is not a decimal number above 0
        2 | threshold county-detailed 4 --number row | must be one of cell, sex, total, not "row"
        2 | margins 5 --proportion county-detailed | is not like county-detailed=11
        2 | margins 5 --pass guam | must be us or pr, a pass that runs, not "guam".
        2 | noise --delta 1 | --delta: "1" is not a decimal number above 0 and below 1
        2 | curve county-detailed --size -1 | must lie between 0 and 1,000,000,000
        2 | nothing | Usage
        2 | budget | Usage
        2 | curve county-detailed --size x | Usage
        2 | levels x y | Usage
    """),
)
def test_a_mistake_is_told_in_one_sentence(code, words, told):
    result = cli("tune", *words.split())
    assert (result.exit_code, result.stdout) == (int(code), "")
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_noise_that_cannot_be_drawn_is_told_and_the_rest_is_shown(world):
    world.configure(privacy_budget_p_level_2_county=10**20)
    config = world.parameters / "config.json"
    printed = printed_by("levels --config", config)
    assert "Concern: COUNTY Detailed: This noise can't be drawn" in printed
    assert "TRACT Detailed" in printed
    for words in ("threshold county-detailed 4", "noise", "codes county-detailed", "curve county-detailed"):
        assert "can't be drawn" in refused("tune", *words.split(), "--config", config)


def test_what_is_nearly_certain_never_reads_as_certain():
    assert [chance_text(chance) for chance in (0.99999, 0.00001, 0.5)] == ["> 99.99 %", "< 0.01 %", "50.00 %"]
    assert answer_percent(0.25) == "25 %"
