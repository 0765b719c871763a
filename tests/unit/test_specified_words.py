"""What tune and the explorer say of a specification: its own words, and none of another census."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from safetab.tuning import least_budget, tuning_of
from tests.commands import cli
from tests.inside import (
    SAFETAB_H,
    SAFETAB_P,
    US,
    _summed_cells,
    _words,
    answer_name,
    config_of_text,
    explorer_page,
    meanings,
    read_config,
    specified_page_facts,
    write_demo_census,
)
from tests.worlds.specified.of_bureau import as_specification
from tests.worlds.specified.small_world import nz_keys, write_specification
from tests.worlds.specified.toml_text import toml_of

AMERICAN = re.compile(
    r"\b(?:races?|alone or in combination|states?|count(?:y|ies)|tracts?|AIANNH|Puerto Rico"
    r"|Census Bureau|2020|FIPS)\b",
    re.IGNORECASE,
)
QUESTIONS = [
    ["levels"],
    ["budget", "sa2, level 2", "11"],
    ["threshold", "SA2, Level 2", "3"],
    ["margins", "4"],
    ["margins", "4", "--proportion", "sa2, level 2=3", "--proportion", "nation, level 1=9", "--pass", "all"],
    ["noise"],
    ["codes", "sa2, level 2"],
    ["curve", "sa2, level 2"],
]


@pytest.fixture(scope="module")
def parameters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_specification(tmp_path_factory.mktemp("words"), nz_keys())[0]


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_tune_speaks_of_the_census(question, parameters):
    for form in ([], ["--json"]):
        told = cli("tune", *question, "--parameters", parameters, *form)
        assert told.exit_code == 0, told.output
        assert AMERICAN.findall(told.output) == []
    if question[0] != "levels":
        assert "level 2" in told.output


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (["budget", "county-detailed", "11"], "The levels are nation, level 1; nation, level 2; region, level 1"),
        (["margins", "4", "--proportion", "x"], 'is not like "nation, level 1"=11'),
        (["margins", "4", "--pass", "us"], "must be all, a pass that runs"),
        (["levels", "--config", "x"], "--config: it can't be given with a specification"),
    ],
)
def test_a_mistake_is_answered_in_its_words(question, sentence, parameters):
    told = cli("tune", *question, "--parameters", parameters)
    assert told.exit_code == (2 if "--" in "".join(question) else 1)
    assert sentence.replace('"', "") in re.sub(r"\s+", " ", told.stderr).replace('"', "")


def test_units_with_several_records_get_more_noise(tmp_path):
    """By hand: k = 3 records of s = 3 groups, rho 1 and gamma 0.1: sigma^2 = 9 x 3 / (2 x 0.9) = 15."""
    keys = nz_keys()
    keys["records"]["unit"] = {"name": "patient", "column": "PATIENT", "most_records": 3}
    keys["records"]["fields"].append({"name": "PATIENT", "type": "string"})
    tuning = tuning_of(parameters=write_specification(tmp_path, keys)[0]).require()
    tuned = tuning.level(tuning.config.census.level("sa2", "level 2"))
    assert tuned.stability == 3
    assert Fraction(tuned.sensitivity.l2_squared, 2) / Fraction(9, 10) == 15
    alone = least_budget(tuned, 11)
    assert alone is not None
    levels = specified_page_facts(tuning)["products"][0]["levels"]  # type: ignore[index]
    assert {level["most_records"] for level in levels} == {3}


def test_the_page_of_a_specification_names_no_other_census(parameters, tmp_path):
    facts = specified_page_facts(tuning_of(parameters=parameters).require())
    assert AMERICAN.findall(json.dumps(facts)) == []
    text = re.sub(r"<(script|style)[^>]*>.*?</\1>|<[^>]*>", " ", explorer_page(facts), flags=re.DOTALL)
    assert AMERICAN.findall(text) == []
    told = cli("explore", "-o", tmp_path / "e.html", "--parameters", parameters, "--xlsx", tmp_path / "w.xlsx")
    assert (told.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "--xlsx: works only for SafeTab-P. Leave it out to write the page." in told.stderr


@pytest.mark.parametrize("breaks", [[0, 15], [0, 20]], ids=["divided by the finest", "not divided"])
def test_accuracy_knows_the_truth_of_tables_of_any_order(breaks, tmp_path):
    """Ages first, then gender by age: a cell of the coarse table is no run of fine ones, or is cut by one."""
    keys = nz_keys()
    coarse = {"id": "E0", "label": "age_2", "title": "Age", "by": ["age"], "breaks": {"age": breaks}}
    keys["tables"][0]["shapes"].insert(1, coarse)
    keys["privacy"]["levels"][0]["thresholds"] = [1, 4]
    folders = write_specification(tmp_path, keys)
    family = tuning_of(parameters=folders[0]).require().config.product.families[0]
    people = np.random.default_rng(1).integers(9, size=len(family.finest.cell_of_value))
    fine, wanted = (
        np.bincount(shape.cell_of_value, people, minlength=shape.cells) for shape in (family.finest, family.shapes[1])
    )
    summed = _summed_cells(family.shapes[1], family.finest)
    assert (summed is None) == (breaks == [0, 20])
    if summed is not None:
        assert np.add.reduceat(fine[summed[0]], summed[1]).tolist() == wanted.tolist()
    command = ["accuracy", *map(str, folders), str(tmp_path / "out"), "--runs", "2", "--confidential"]
    told = cli(*command)
    assert told.exit_code == 0, told.output
    with (tmp_path / "out" / "accuracy.csv").open(encoding="utf-8") as file:
        assert {row["table"] for row in csv.DictReader(file)} >= {"age_2", "gender_age"}
    for file_name in ("README.txt", "accuracy.html", "accuracy.json"):
        text = (tmp_path / "out" / file_name).read_text("utf-8")
        assert AMERICAN.findall(re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)) == []


def test_two_specifications_with_the_same_tables_can_be_compared(tmp_path):
    """The other one has more budget at one level: only that level may differ by more than chance."""
    folders = write_specification(tmp_path / "given", nz_keys())
    keys = nz_keys()
    (both,) = keys["privacy"]["levels"]
    keys["privacy"]["levels"] = [both | {"areas": ["nation", "region", "ta"]}, both | {"areas": "sa2", "budget": 5}]
    other = write_specification(tmp_path / "other", keys)[0]
    command = ["accuracy", *map(str, folders), str(tmp_path / "out"), "--runs", "40", "--confidential", "--against"]
    told = cli(*command, other)
    assert told.exit_code == 0, told.output
    assert "Counting the people of each" in told.output
    assert "mean error, people" in (tmp_path / "out" / "accuracy.html").read_text("utf-8")
    with (tmp_path / "out" / "comparison.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["verdict"] for row in rows if row["geography_level"] != "sa2"} == {"same"}
    assert "gain" in {row["verdict"] for row in rows if row["geography_level"] == "sa2"}


@pytest.mark.parametrize(
    ("table", "name", "message"),
    [
        ({"breaks": {"age": [0, 15, 64]}}, "Small NZ", "has other tables than PARAMETERS."),
        ({}, "Other", "is a configuration of Other; PARAMETERS is one of Small NZ."),
    ],
)
def test_specifications_with_other_tables_are_not_compared(table, name, message, tmp_path):
    folders = write_specification(tmp_path / "given", nz_keys())
    keys = nz_keys()
    keys["tables"][0]["shapes"][1] |= table
    keys["about"]["name"] = name
    other = write_specification(tmp_path / "other", keys)[0]
    command = ["accuracy", *map(str, folders), str(tmp_path / "out"), "--runs", "1", "--confidential", "--against"]
    told = cli(*command, other)
    assert told.exit_code == 1
    assert message in re.sub(r"\s+", " ", told.output)


@pytest.mark.parametrize(
    ("columns", "levels", "words"),
    [
        (["ETH1", "ETH2"], 2, "Groups overlap, since a person can be in several. "),
        (["ETH1"], 2, "Groups of different levels overlap. "),
        (["ETH1"], 1, ""),
    ],
)
def test_a_site_says_which_groups_overlap(columns, levels, words, tmp_path):
    keys = nz_keys()
    keys["classifications"]["ethnicity"]["columns"] = columns
    keys["privacy"]["levels"][0]["groups"] = ["level 1", "level 2"][:levels]
    config = tuning_of(parameters=write_specification(tmp_path, keys)[0]).require().config
    assert _words(config.census, config.product.record.noun)["overlap"] == words
    kinds = ["Ethnic groups", "Ethnic groups, only answer"]
    assert [kind.title for kind in config.census.group_kinds] == kinds


@pytest.mark.parametrize("question", [["budget", "sa2, level 2", "11"], ["margins", "4"]], ids=" ".join)
def test_a_privacy_file_that_tune_wrote_says_the_answer(question, parameters, tmp_path):
    written = tmp_path / "privacy.toml"
    command = ["tune", *question, "--parameters", str(parameters), "--privacy", str(written), "--json"]
    answer = json.loads(cli(*command).stdout)
    assert cli(*command).exit_code == 1  # nothing is replaced
    for file in parameters.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    census = tomllib.loads((tmp_path / "census.toml").read_text("utf-8"), parse_float=Decimal)
    del census["privacy"]
    (tmp_path / "census.toml").write_text(toml_of(census), "utf-8")
    before, after = (tuning_of(parameters=folder).require() for folder in (parameters, tmp_path))
    found = {level["level"]: level["budget"] for level in answer.get("levels", ())}
    found = found or {answer["level"]: answer["least_budget"]}
    wanted = {level: Fraction(found.get(answer_name(level), tuned.budget)) for level, tuned in before.levels.items()}
    assert {level: tuned.budget for level, tuned in after.levels.items()} == wanted != {}
    assert [one.thresholds for one in after.config.families] == [one.thresholds for one in before.config.families]
    assert after.config.most_answers == before.config.most_answers
    assert (after.config.stage_1_fraction, after.config.zero_suppression_chance) == (
        Fraction("0.1"),
        Fraction("0.9999"),
    )


def test_a_privacy_file_is_of_a_specification(tmp_path):
    told = cli("tune", "budget", "county-detailed", "11", "--privacy", tmp_path / "p.toml")
    assert (told.exit_code, [*tmp_path.iterdir()]) == (2, [])
    assert "needs --parameters with a specification" in told.stderr


def test_a_specification_of_the_bureau_opens_its_page_with_its_choices(tmp_path):
    write_demo_census(tmp_path / "census")
    folder = as_specification(tmp_path / "census" / "parameters", tmp_path / "spec")
    told = cli("explore", "-o", tmp_path / "e.html", "--parameters", folder)
    assert told.exit_code == 0, told.output
    facts = (tmp_path / "e.html").read_text("utf-8").split('id="facts">')[1].split("</script>")[0]
    preset = json.loads(facts)["products"][0]["presets"][0]
    assert preset["name"] == "loaded config"
    opened, given = config_of_text(preset["config"]).require(), read_config(folder).require()
    assert opened.budgets == given.budgets
    assert [one.thresholds for one in opened.families] == [one.thresholds for one in given.families]
    assert (opened.passes, opened.most_answers) == (given.passes, given.most_answers)


def test_a_site_says_who_is_in_a_group_of_each_kind(tmp_path):
    assert meanings(US, SAFETAB_P.record, "95 %")["kinds"] == [
        ["“Alone” means that every race answer is in this group."] * 2 + ["every race answer is in it"],
        ["“Alone or in any combination” means that at least one race answer is in this group."] * 2
        + ["at least one race answer is in it"],
        [
            "Only the ethnicity answer counts for this group, not the race answers.",
            "Ethnicity: only the ethnicity answer counts for such a group, not the race answers.",
            "",
        ],
    ]
    of_households = meanings(US, SAFETAB_H.record, "95 %")["kinds"]
    assert isinstance(of_households, list)
    assert [sentence for sentence, _, _ in of_households] == [
        "“Alone” means that every race answer of the householder is in this group.",
        "“Alone or in any combination” means that at least one race answer of the householder is in this group.",
        "Only the householder's ethnicity answer counts for this group, not the race answers.",
    ]
    config = tuning_of(parameters=write_specification(tmp_path / "several", nz_keys())[0]).require().config
    assert meanings(config.census, replace(config.product.record, noun="guest"), "95 %")["kinds"] == [
        [
            "A guest is in this group if at least one ethnicity answer is in it.",
            "Ethnic groups: a guest is in such a group if at least one ethnicity answer is in it.",
            "at least one ethnicity answer is in it",
        ],
        [
            "A guest is in this group if every ethnicity answer is in it.",
            "Ethnic groups, only answer: a guest is in such a group if every ethnicity answer is in it.",
            "every ethnicity answer is in it",
        ],
    ]
    keys = nz_keys()
    keys["classifications"]["ethnicity"]["columns"] = ["ETH1"]
    config = tuning_of(parameters=write_specification(tmp_path / "one", keys)[0]).require().config
    assert meanings(config.census, config.product.record, "95 %")["kinds"] == [["", "", ""], ["", "", ""]]
