"""The explorer's page as a text; tests/browser looks at it in a browser."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from safetab.tuning import tuning_of
from safetab.tuning.concerns import NO_PROTECTION
from tests.commands import cli
from tests.inside import (
    SAFETAB_H,
    US,
    AreaKind,
    AreaLevel,
    DigitIds,
    GroupLevel,
    Pass,
    explorer_page,
    json_in_a_page,
    page_facts,
    presets,
    script,
    sentence_words,
    write_demo_census,
)
from tests.lint.test_general_rooms import WORDS


class _Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []
        self.texts = {}

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        _, attributes = self.found[-1] if self.found else ("", {})
        if attributes.get("id") == "facts":
            self.texts["facts"] = self.texts.get("facts", "") + data


def elements_of(page):
    elements = _Elements()
    elements.feed(page)
    return elements


@pytest.fixture(scope="module")
def page():
    return explorer_page(page_facts(tuning_of().require().facts, "2020", None))


def test_nothing_of_the_page_is_fetched_from_anywhere(page):
    for tag, attributes in elements_of(page).found:
        assert tag not in {"img", "iframe", "object", "embed", "base"}
        assert "src" not in attributes
        target = attributes.get("href", "")
        assert target is not None
        assert target.startswith(("#", "data:,")) or not target, (tag, target)
    urls = set(re.findall(r"https?://[^\s\"'`<)]+", page))
    assert urls <= {"http://www.w3.org/2000/svg"}  # the name of SVG, which no browser asks for
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import)\s*\(", script())
    policy = next(a["content"] for t, a in elements_of(page).found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy


def test_the_line_of_2020_reaches_the_page(page):
    facts = json.loads(elements_of(page).texts["facts"])["products"][0]
    assert facts["reference"] == {
        "name": "2020 Detailed DHC-A",
        "unbounded": "4.944",
        "bounded": "9.888",
        "unbounded_epsilon": "25.3629",
        "bounded_epsilon": "38.9488",
        "costliest_level": "2.134",
        "far_above": 2,
    }
    assert facts["no_protection"] == NO_PROTECTION
    assert not re.search(r"4\.944|9\.888|25\.3629|2\.134", script())


def test_the_script_has_its_words_from_the_products(page):
    words = r"\b(sex|ages?|tenure|household type|privacy_budget\w*|thresholds_[ph]\w*|T0[34]00\d)\b"
    assert re.findall(words, script()) == []
    persons, households = json.loads(elements_of(page).texts["facts"])["products"]
    assert [persons["records"], persons["threshold_unit"]] == ["persons", "persons"]
    assert [households["records"], households["threshold_unit"]] == ["households", "people"]
    assert [family["name"] for family in households["families"]] == ["household type", "tenure"]
    assert [len(persons["levels"]), len(households["levels"])] == [20, 40]


def test_the_page_names_nothing_of_one_census(page):
    template = (files("safetab.explorer") / "page" / "explorer.html").read_text("utf-8")
    for text in (script(), template):
        assert [found.group() for found in WORDS.finditer(text.lower().replace("_", " "))] == []
        assert not re.search(r'"(us|pr)"|\.(us|pr)\b|below state|United States', text)
    assert not re.search(r"{{\w+}}", page)  # every word was filled in
    facts = json.loads(elements_of(page).texts["facts"])
    assert facts["sentences"] == sentence_words(US)


def test_the_words_of_another_census():
    valley = Pass("valley", "Valley <of> the river")
    area = AreaKind("area", "district", "districts", "District", DigitIds(2), parent=None, suppresses=True)
    groups = (
        GroupLevel(1, "Wide"),
        GroupLevel(3, "Narrow", example="Weavers"),
        GroupLevel(4, "Hidden", is_tabulated=False),
    )
    words = replace(US.words, title="Trades", whole="all", below="in districts", below_short="", example_levels="")
    other = replace(
        US, kinds=(area,), passes=(valley,), area_levels=(AreaLevel("D", 0, valley, area, "District"),),
        group_levels=groups, words=words, classifications=US.classifications[1:], example_level=None,
    )  # fmt: skip
    sentences = sentence_words(other)
    assert (sentences["kinds"], sentences["whole_label"]) == ("district", "D")
    assert sentences["group_levels"] == "Wide or Narrow (such as “Weavers”)"
    assert (sentences["for_passes"], sentences["Whole"]) == ("for Valley <of> the river", "All")
    facts = page_facts(tuning_of().require().facts, "", None) | {"sentences": sentences}
    assert "of Valley &lt;of&gt; the river" in explorer_page(facts)
    assert other.most_answers == 1


def test_a_configuration_of_households_opens_the_page_on_them(tmp_path):
    config = tmp_path / "config.json"
    config.write_text(presets(SAFETAB_H)["2020 production"].replace("0.142869", "0.2", 1))
    told = cli("explore", "-o", tmp_path / "e.html", "--config", config)
    assert told.exit_code == 0, told.output
    facts = json.loads(elements_of((tmp_path / "e.html").read_text("utf-8")).texts["facts"])
    assert facts["first_product"] == 1
    assert facts["products"][1]["presets"][0] == {"name": "loaded config", "config": config.read_text()}
    refused = cli("explore", "-o", tmp_path / "f.html", "--config", config, "--xlsx", tmp_path / "w.xlsx")
    assert (refused.exit_code, "Leave it out to write the page" in refused.stderr) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "e.html"]


def test_a_text_from_a_file_cannot_become_a_script():
    hostile = '</script><script>alert("1")</script><!-- & \u2028'
    facts = page_facts(tuning_of().require().facts, hostile, presets()["2020 production"])
    elements = elements_of(explorer_page(facts))
    assert sum(tag == "script" for tag, _ in elements.found) == 2  # the facts and the program
    assert json.loads(elements.texts["facts"])["source"] == hostile
    assert "<" not in json_in_a_page({"key": hostile})


def test_the_facts_of_a_page_are_those_of_the_files_given(tmp_path):
    write_demo_census(tmp_path / "census")
    parameters, data = tmp_path / "census" / "parameters", tmp_path / "census" / "data"
    geography = next(data.glob("GRF-C*"))
    told = cli("explore", "-o", tmp_path / "e.html", "--parameters", parameters, "--geography", geography)
    assert told.exit_code == 0, told.output
    facts = json.loads(elements_of((tmp_path / "e.html").read_text("utf-8")).texts["facts"])
    plan = json.loads(cli("plan", parameters, data, "--json").stdout)
    facts = facts["products"][0]
    levels = {(level["geography"], level["iterations"]): level for level in facts["levels"]}
    assert plan["levels"]
    for level in plan["levels"]:
        given = levels[level["geography_level"], level["iteration_level"]]
        assert given["entities"] == level["entities"]
        assert given["adaptive_iterations"] == level["adaptive_iterations"]
        assert given["stability"][plan["max_race_codes"] - 1] == level["stability"]
    assert facts["presets"][0] == {"name": "loaded config", "config": (parameters / "config.json").read_text("utf-8")}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--config", "nowhere.json"], "nowhere.json does not exist."),
        (["--parameters", "nowhere"], "nowhere does not exist."),
        (["--geography", "nowhere"], "nowhere"),
        (["-o", "."], "is a directory. Give the name of a file."),
        (["-o", "nowhere/explorer.html"], "can't be written: there is no folder nowhere."),
        (["--xlsx", "there.html"], "already exists. Choose another name, or add --overwrite."),
        (["--xlsx", "nowhere/w.xlsx"], "can't be written: there is no folder nowhere."),
        (["-o", "there.html"], "already exists. Choose another name, or add --overwrite."),
    ],
)
def test_a_mistake_gets_a_sentence_and_no_page(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("there.html").write_text("mine")
    told = cli("explore", *words)
    assert (told.exit_code, sentence in told.stderr, "Traceback" in told.output) == (1, True, False), told.output
    wrong = cli("explore", "-o", "new.html", "--xlsx", "./new.html")
    assert (wrong.exit_code, "--xlsx: is the page itself. Choose another name." in wrong.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["there.html"]
    assert Path("there.html").read_text() == "mine"


def test_a_page_is_replaced_where_that_is_asked_for(tmp_path):
    file = tmp_path / "explorer.html"
    file.write_text("old")
    told = cli("explore", "-o", file, "--overwrite")
    assert (told.exit_code, told.stdout) == (0, f"Wrote {file}.\n")
    assert file.read_text("utf-8").startswith("<!doctype html>")
