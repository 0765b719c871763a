"""What tune and the explorer say of a specification: its own words, and none of another census."""

import csv
import json
import re
import shutil
import tomllib
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from safetab.tuning import least_budget, tuning_of
from tests.cases import cases_of, values_of
from tests.commands import done, refused
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
)
from tests.worlds.specified.of_bureau import as_specification
from tests.worlds.specified.small_world import nz_keys, of_units, write_specification
from tests.worlds.specified.toml_text import toml_of

AMERICAN = re.compile(
    r"\b(?:races?|alone or in combination|states?|count(?:y|ies)|tracts?|AIANNH|Puerto Rico"
    r"|Census Bureau|2020|FIPS)\b",
    re.IGNORECASE,
)
QUESTIONS = cases_of("""
    levels
    budget | sa2, level 2 | 11
    threshold | SA2, Level 2 | 3
    margins | 4
    margins | 4 | --proportion | sa2, level 2=3 | --proportion | nation, level 1=9 | --pass | all
    noise
    codes | sa2, level 2
    curve | sa2, level 2
""")


@pytest.fixture(scope="module")
def parameters(tmp_path_factory):
    return write_specification(tmp_path_factory.mktemp("words"), nz_keys())[0]


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_tune_speaks_of_the_census(question, parameters):
    for form in [], ["--json"]:
        told = done("tune", *question, "--parameters", parameters, *form)
        assert AMERICAN.findall(told) == []
        assert question[0] == "levels" or "level 2" in told


@pytest.mark.parametrize(
    ("question", "sentence", "code"),
    values_of("""
        ["budget", "county-detailed", "11"] | "The levels are nation, level 1; nation, level 2; region, level 1" | 1
        ["margins", "4", "--proportion", "x"] | "is not like nation, level 1=11" | 2
        ["margins", "4", "--pass", "us"] | "must be all, a pass that runs" | 2
        ["levels", "--config", "x"] | "--config: it can't be given with a specification" | 2
    """),
)
def test_a_mistake_is_answered_in_its_words(question, sentence, code, parameters):
    assert sentence in refused("tune", *question, "--parameters", parameters, code=code).replace('"', "")


def tuning_with(folder, keys):
    return tuning_of(parameters=write_specification(folder, keys)[0]).require()


def test_units_with_several_records_get_more_noise(tmp_path):
    """By hand: k = 3 records of s = 3 groups, rho 1 and gamma 0.1: sigma^2 = 9 x 3 / (2 x 0.9) = 15."""
    tuning = tuning_with(tmp_path, of_units("PATIENT", 3))
    tuned = tuning.level(tuning.config.census.level("sa2", "level 2"))
    assert tuned.stability == 3
    assert Fraction(tuned.sensitivity.l2_squared, 2) / Fraction(9, 10) == 15
    assert least_budget(tuned, 11)
    assert {level["most_records"] for level in specified_page_facts(tuning)["products"][0]["levels"]} == {3}


def american_words(page):
    return AMERICAN.findall(re.sub(r"<(script|style)[^>]*>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))


def test_the_page_of_a_specification_names_no_other_census(parameters, tmp_path):
    facts = specified_page_facts(tuning_of(parameters=parameters).require())
    assert AMERICAN.findall(json.dumps(facts)) == american_words(explorer_page(facts)) == []
    page, sheets = tmp_path / "e.html", tmp_path / "w.xlsx"
    told = refused("explore", "-o", page, "--parameters", parameters, "--xlsx", sheets, code=2)
    assert "--xlsx: works only for SafeTab-P. Leave it out to write the page." in told
    assert list(tmp_path.iterdir()) == []


def rows_of(file):
    with file.open(encoding="utf-8") as text:
        return [*csv.DictReader(text)]


def test_accuracy_knows_the_truth_of_tables_of_any_order(tmp_path):
    """Ages first, then gender by age: a cell of a coarse table is no run of fine ones, or is cut by one."""
    keys, out = nz_keys(), tmp_path / "out"
    keys["tables"][0]["shapes"][1:1] = [
        {"id": label, "label": label, "title": "Age", "by": ["age"], "breaks": {"age": [0, first]}}
        for label, first in (("divided", 15), ("not_divided", 20))
    ]
    keys["privacy"]["levels"][0] |= {"thresholds": [1, 2, 4], "areas": ["region", "sa2"]}
    folders = write_specification(tmp_path, keys)
    _, divided, not_divided, finest = tuning_of(parameters=folders[0]).require().config.product.families[0].shapes
    people = np.random.default_rng(1).integers(9, size=len(finest.cell_of_value))
    fine, wanted = (np.bincount(shape.cell_of_value, people, minlength=shape.cells) for shape in (finest, divided))
    cells, firsts = _summed_cells(divided, finest)
    assert np.add.reduceat(fine[cells], firsts).tolist() == wanted.tolist()
    assert _summed_cells(not_divided, finest) is None
    done("accuracy", *folders, out, "--runs", "2", "--confidential")
    assert {row["table"] for row in rows_of(out / "accuracy.csv")} >= {"divided", "not_divided", "gender_age"}
    for name in "README.txt", "accuracy.html", "accuracy.json":
        assert american_words((out / name).read_text("utf-8")) == []


def test_two_specifications_with_the_same_tables_can_be_compared(tmp_path):
    """The other one has more budget at one level: only that level may differ by more than chance.

    False alarms: one in a thousand, what a comparison allows.
    """
    keys, out = nz_keys(), tmp_path / "out"
    (both,) = keys["privacy"]["levels"]
    both |= {"areas": ["region", "sa2"], "groups": "level 1"}
    folders = write_specification(tmp_path / "given", keys)
    keys["privacy"]["levels"] = [both | {"areas": "region"}, both | {"areas": "sa2", "budget": 500}]
    other = write_specification(tmp_path / "other", keys)[0]
    told = done("accuracy", *folders, out, "--runs", "20", "--confidential", "--against", other)
    assert "Counting the people of each" in told
    assert "mean error, people" in (out / "accuracy.html").read_text("utf-8")
    verdicts = {(row["geography_level"] == "sa2", row["verdict"]) for row in rows_of(out / "comparison.csv")}
    assert (True, "gain") in verdicts
    assert {verdict for is_changed, verdict in verdicts if not is_changed} == {"same"}


@pytest.mark.parametrize(
    ("table", "name", "message"),
    values_of("""
        {"breaks": {"age": [0, 15, 64]}} | "Small NZ" | "has other tables than PARAMETERS."
        {} | "Other" | "is a configuration of Other; PARAMETERS is one of Small NZ."
    """),
)
def test_specifications_with_other_tables_are_not_compared(table, name, message, tmp_path):
    folders, keys = write_specification(tmp_path / "given", nz_keys()), nz_keys()
    keys["tables"][0]["shapes"][1] |= table
    keys["about"]["name"] = name
    other = write_specification(tmp_path / "other", keys)[0]
    assert message in refused(
        "accuracy", *folders, tmp_path / "out", "--runs", "1", "--confidential", "--against", other
    )


@pytest.mark.parametrize(
    ("columns", "levels", "words"),
    values_of("""
        ["ETH1", "ETH2"] | 2 | "Groups overlap, since a person can be in several. "
        ["ETH1"] | 2 | "Groups of different levels overlap. "
        ["ETH1"] | 1 | ""
    """),
)
def test_a_site_says_which_groups_overlap(columns, levels, words, tmp_path):
    keys = nz_keys()
    keys["classifications"]["ethnicity"]["columns"] = columns
    keys["privacy"]["levels"][0]["groups"] = ["level 1", "level 2"][:levels]
    config = tuning_with(tmp_path, keys).config
    assert _words(config.census, config.product.record.noun)["overlap"] == words
    assert [kind.title for kind in config.census.group_kinds] == ["Ethnic groups", "Ethnic groups, only answer"]


@pytest.mark.parametrize("question", [["budget", "sa2, level 2", "11"], ["margins", "4"]], ids=" ".join)
def test_a_privacy_file_that_tune_wrote_says_the_answer(question, parameters, tmp_path):
    command = ["tune", *question, "--parameters", parameters, "--privacy", tmp_path / "privacy.toml", "--json"]
    answer = json.loads(done(*command))
    refused(*command)  # nothing is replaced
    shutil.copytree(parameters, tmp_path, dirs_exist_ok=True)
    census = tomllib.loads((tmp_path / "census.toml").read_text("utf-8"), parse_float=Decimal)
    del census["privacy"]
    (tmp_path / "census.toml").write_text(toml_of(census), "utf-8")
    before, after = (tuning_of(parameters=folder).require() for folder in (parameters, tmp_path))
    answers = answer.get("levels") or [{"level": answer["level"], "budget": answer["least_budget"]}]
    found = {level["level"]: level["budget"] for level in answers}
    wanted = {level: Fraction(found.get(answer_name(level), tuned.budget)) for level, tuned in before.levels.items()}
    assert {level: tuned.budget for level, tuned in after.levels.items()} == wanted != {}
    assert [one.thresholds for one in after.config.families] == [one.thresholds for one in before.config.families]
    for name in "most_answers", "stage_1_fraction", "zero_suppression_chance":
        assert getattr(after.config, name) == getattr(before.config, name)


def test_a_privacy_file_is_of_a_specification(tmp_path):
    told = refused("tune", "budget", "county-detailed", "11", "--privacy", tmp_path / "p.toml", code=2)
    assert "needs --parameters with a specification" in told
    assert [*tmp_path.iterdir()] == []


def test_a_specification_of_the_bureau_opens_its_page_with_its_choices(demo_census, tmp_path):
    folder, page = as_specification(demo_census / "parameters", tmp_path / "spec"), tmp_path / "e.html"
    done("explore", "-o", page, "--parameters", folder)
    facts = page.read_text("utf-8").split('id="facts">')[1].split("</script>")[0]
    preset = json.loads(facts)["products"][0]["presets"][0]
    assert preset["name"] == "loaded config"
    opened, given = config_of_text(preset["config"]).require(), read_config(folder).require()
    assert [one.thresholds for one in opened.families] == [one.thresholds for one in given.families]
    for name in "budgets", "passes", "most_answers":
        assert getattr(opened, name) == getattr(given, name)


def kinds(config, noun):
    return meanings(config.census, replace(config.product.record, noun=noun), "95 %")["kinds"]


def test_a_site_says_who_is_in_a_group_of_each_kind(tmp_path):
    (alone, _, of_alone), (combined, _, of_combined), (ethnicity, of_kind, _) = meanings(US, SAFETAB_P.record, "")[
        "kinds"
    ]
    assert alone == "“Alone” means that every race answer is in this group."
    assert combined == "“Alone or in any combination” means that at least one race answer is in this group."
    assert of_alone == "every race answer is in it"
    assert of_combined == "at least one race answer is in it"
    assert ethnicity == "Only the ethnicity answer counts for this group, not the race answers."
    assert of_kind == "Ethnicity: only the ethnicity answer counts for such a group, not the race answers."
    of_households = [sentence for sentence, _, _ in meanings(US, SAFETAB_H.record, "")["kinds"]]
    assert " of the householder " in of_households[0]
    assert "householder's ethnicity" in of_households[2]
    assert of_households[1].endswith("at least one race answer of the householder is in this group.")
    several, only = kinds(tuning_with(tmp_path / "several", nz_keys()).config, "guest")
    assert several == [
        "A guest is in this group if at least one ethnicity answer is in it.",
        "Ethnic groups: a guest is in such a group if at least one ethnicity answer is in it.",
        "at least one ethnicity answer is in it",
    ]
    assert only[0] == "A guest is in this group if every ethnicity answer is in it."
    assert only[1].startswith("Ethnic groups, only answer: a guest is in such a group")
    keys = nz_keys()
    keys["classifications"]["ethnicity"]["columns"] = ["ETH1"]
    assert kinds(tuning_with(tmp_path / "one", keys).config, "guest") == [["", "", ""], ["", "", ""]]
