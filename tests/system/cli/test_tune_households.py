"""`safetab tune` and `safetab explore` for a product with several table families and published totals."""

import json
import re
import shlex

import pytest

from tests.commands import done, refused
from tests.worlds.households import config_of_2020

ONE_FAMILY = ["budget county-detailed 11", "codes county-detailed", "curve county-detailed"]
COMMANDS = [
    "levels",
    *(f"{words} --family tenure" for words in ONE_FAMILY),
    "threshold county-detailed T04002",
    "margins 9",
    "noise",
]


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("households") / "config.json"
    path.write_text(json.dumps(config_of_2020()))
    return path


def command(config, words):
    return ("tune", *shlex.split(words), "--config", config)


def printed_by(config, words):
    return done(*command(config, words))


def refusal(config, words):
    return refused(*command(config, words), code=2)


def answer(config, words):
    return json.loads(printed_by(config, f"{words} --json"))


def rows(text):
    return [" ".join(line.split()) for line in text.splitlines()]


OF_TYPE = """
+/- lone total 42 / 50 / 66 2 / 3 / 4 42 / 50 / 66 9 / 11 / 14
+/- sum of 2 59 / 71 / 93 4 / 4 / 6 59 / 71 / 93 13 / 16 / 20
+/- total 84 / 100 / 131 5 / 6 / 8 84 / 100 / 131 18 / 22 / 29
Household Type (8 Categories) from 149,971 from 6,971 from 149,970 from 19,971
+/- sum of 3 73 / 87 / 114 4 / 5 / 7 73 / 87 / 114 16 / 19 / 25
+/- total 94 / 112 / 147 6 / 7 / 9 94 / 112 / 147 21 / 25 / 32
sigma 25.51 1.5306 25.51 5.6123
"""
OF_TENURE = """
Tenure (3 Categories) from 4,971 from 471 from 971
+/- total 73 / 87 / 114 4 / 5 / 7 16 / 19 / 25
sigma 25.51 1.5306 5.6123
"""
OF_ALL = """
United States 8.895302 17.790604 36.4329 56.9659
Puerto Rico 4.754134 9.508268 24.7696 37.9957
"""


def test_levels_have_a_table_for_each_family(config):
    text = printed_by(config, "levels")
    assert rows(text).count("COUNTY Detailed 6,757,450 0.142869 1.61 %") == 2
    by_type, tenure = text.split("Levels: tenure")
    for printed, expected in ((by_type, OF_TYPE), (tenure, OF_TENURE), (text, OF_ALL)):
        assert set(rows(expected.strip())) <= set(rows(printed))
    assert "No household record was opened." in text
    assert not re.search(r"gamma|stage|empty groups|T:|persons", text)


def test_levels_for_programs(config):
    found = answer(config, "levels")
    assert (found["product"], found["unit"], found["threshold_unit"]) == ("SafeTab-H", "households", "people")
    assert [found["loss"][one]["unbounded"] for one in ("US pass", "PR pass")] == ["8.895302", "4.754134"]
    assert len(found["levels"]) == 2 * 19
    (county,) = (one for one in found["levels"] if (one["level"], one["family"]) == ("COUNTY Detailed", "tenure"))
    assert county["margins_of_error"]["0.95"] == {"T04001": {"total": 11}, "T04002": {"cell": 11, "total": 19}}
    assert county["thresholds"] == [971]
    assert not {"suppression_threshold", "empty_groups_published"} & {*county, *found}


@pytest.mark.parametrize("words", ONE_FAMILY)
def test_a_question_about_one_family_asks_which(config, words):
    needed = "--family: needed, since SafeTab-H has several. Give household-type or tenure."
    assert needed in refusal(config, words)
    assert '--family: SafeTab-H has no "sex".' in refusal(config, f"{words} --family sex")


def test_a_key_of_the_configuration_names_the_family(config):
    found = answer(config, "budget privacy_budget_h_t4_level_2_county 11")
    assert (found["level"], found["family"], found["least_budget"]) == ("COUNTY Detailed", "tenure", "0.1304")


def test_a_budget_is_in_households_and_without_gamma(config):
    text = printed_by(config, "budget county-detailed 11 --family tenure")
    assert "COUNTY Detailed, tenure: +/- 11 households at 95 %" in text
    assert "gamma" not in text
    assert "rho 0.142869 now" in text
    assert "whole number of households" in refused(*command(config, "budget usa-detailed x --family tenure"))


@pytest.mark.parametrize("table", ["5", "T03004", "t03004"])
def test_a_table_names_the_family_and_its_threshold_is_in_people(config, table):
    asked = f"threshold county-detailed {table}"
    found = answer(config, asked)
    described = [found[key] for key in ("family", "table", "size", "unit")]
    assert described == ["household type", "T03004", 550, "households"]
    assert (found["threshold_now"], found["threshold_unit"]) == (19971, "people")
    assert found["people_per_record_at_threshold_now"] == pytest.approx(19971 / 550)
    text = printed_by(config, asked)
    assert "from 550 households on" in text
    assert "19,971 people now: precise enough if there are at most 36.3 per household" in text
    assert "stage 1" not in text


def test_a_table_of_no_family(config):
    assert 'TABLE: there is no table "9". Give 2, 4, 5 or 3' in refusal(config, "threshold usa-detailed 9")
    wrong = refusal(config, "threshold usa-detailed 5 --number sex")
    assert '--number: must be one of cell, sum-of-2, sum-of-3, total, not "sex".' in wrong


def test_a_sum_of_cells_is_a_number_too(config):
    for number, margin in {"cell": 3, "sum-of-2": 4, "'sum of 3'": 5, "total": 7}.items():
        assert answer(config, f"threshold usa-detailed 5 --number {number}")["margin"] == margin


def test_margins_share_a_total_among_families(config):
    asked = "margins 8.895302 --proportion county-detailed=11"
    both, alone = (answer(config, words)["levels"] for words in (asked, f"{asked} --family tenure"))
    assert [one["family"] for one in both] == ["household type", "tenure"]
    assert [one["budget"] for one in both] == ["4.448302", "4.447"]  # the first takes what rounding leaves
    assert [one["family"] for one in alone] == ["tenure"]
    assert alone[0]["margin"] < both[0]["margin"]
    text = printed_by(config, "margins 1 --family tenure")
    assert "for rho 1, for tenure alone" in text
    assert "whole households" in text


def test_what_a_published_total_chooses(config):
    printed = rows(printed_by(config, "curve county-detailed --family household-type"))
    expected = """
    up to 970 T03001 1 11 11
    971 to 4,970 T03002 2 11 16
    4,971 to 19,970 T03003 4 11 22
    from 19,971 T03004 5 11 25
    """
    assert set(rows(expected)) <= {*printed, ""}
    found = answer(config, "curve county-detailed --family tenure --size 970 --size 971")
    assert [(one["first"], one["table"]) for one in found["totals"]] == [(970, "T04001"), (971, "T04002")]
    assert found["totals"][1]["margins_of_error"] == {"cell": 11, "total": 19}


def test_a_table_that_no_total_chooses_is_left_out(tmp_path):
    path, keys = tmp_path / "config.json", config_of_2020()
    keys["thresholds_h_t3"]["(COUNTY, 2)"] = [50, 50, 90]
    path.write_text(json.dumps(keys))
    found = answer(path, "curve county-detailed --family household-type")
    assert [(one["first"], one["last"], one["table"]) for one in found["totals"]] == [
        (None, 49, "T03001"), (50, 89, "T03003"), (90, None, "T03004"),
    ]  # fmt: skip


def test_noises_and_codes_speak_of_households(config):
    text = printed_by(config, "noise")
    assert "COUNTY Detailed, tenure" in text
    assert "What one household loses" in text
    text = printed_by(config, "codes county-detailed --family tenure")
    assert "3 4 7 -36.4 % -33.3 %" in rows(text)
    assert "households with more are missing" in text


@pytest.mark.parametrize("words", COMMANDS)
def test_every_answer_has_both_forms_and_no_persons(config, words):
    assert "persons" not in printed_by(config, words)
    assert answer(config, words)["concerns"] == []


def test_there_is_no_workbook_of_it(config, tmp_path):
    page = tmp_path / "explorer.html"
    said = refused("explore", "--config", config, "-o", page, "--xlsx", tmp_path / "x.xlsx", code=2)
    assert "--xlsx: works only for SafeTab-P. Leave it out to write the page." in said
    assert list(tmp_path.iterdir()) == []
