"""The explorer's page as a text; tests/browser looks at it in a browser."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from safetab.tuning import tuning_of
from tests.cases import cases_of
from tests.commands import done, refused
from tests.inside import (
    NO_PROTECTION,
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
    template,
)
from tests.lint.test_general_rooms import WORDS
from tests.worlds.world import World


class Elements(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found, self._facts = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.found and self.found[-1][1].get("id") == "facts":
            self._facts += data

    @property
    def facts(self):
        return json.loads(self._facts)


def facts_of(file):
    return Elements(file.read_text("utf-8")).facts


@pytest.fixture(scope="module")
def page():
    return explorer_page(page_facts(tuning_of().require().facts, "2020", None))


def test_nothing_of_the_page_is_fetched_from_anywhere(page):
    elements = Elements(page).found
    for tag, attributes in elements:
        assert tag not in {"img", "iframe", "object", "embed", "base"}
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith(("#", "data:,"))
    urls = set(re.findall(r"https?://[^\s\"'`<)]+", page))
    assert urls <= {"http://www.w3.org/2000/svg"}  # the name of SVG, which no browser asks for
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import)\s*\(", script())
    (policy,) = (each["content"] for _, each in elements if each.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy


def test_the_script_has_its_numbers_and_words_from_the_products(page):
    words = r"\b(sex|ages?|tenure|household type|privacy_budget\w*|thresholds_[ph]\w*|T0[34]00\d)\b"
    assert not re.search(words + r"|4\.944|9\.888|25\.3629|2\.134", script())
    persons, households = Elements(page).facts["products"]
    expected = """{
        "unbounded": "4.944", "bounded": "9.888", "unbounded_epsilon": "25.3629", "bounded_epsilon": "38.9488",
        "costliest_level": "2.134", "far_above": 2
    }"""
    assert persons["reference"].items() >= json.loads(expected).items()
    assert persons["no_protection"] == NO_PROTECTION
    assert [persons["records"], persons["threshold_unit"]] == ["persons", "persons"]
    assert [households["records"], households["threshold_unit"]] == ["households", "people"]
    assert [family["name"] for family in households["families"]] == ["household type", "tenure"]
    assert [len(persons["levels"]), len(households["levels"])] == [20, 40]


def test_the_page_names_nothing_of_one_census(page):
    for text in script(), template("explorer/explorer.html"):
        assert not WORDS.search(text.lower().replace("_", " "))
        assert not re.search(r'"(us|pr)"|\.(us|pr)\b|below state|United States', text)
    assert not re.search(r"{{\w+}}", page)  # every word was filled in
    assert Elements(page).facts["sentences"] == sentence_words(US)


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
    config, page = tmp_path / "config.json", tmp_path / "e.html"
    config.write_text(presets(SAFETAB_H)["2020 production"].replace("0.142869", "0.2", 1))
    page.write_text("old")
    done("explore", "-o", page, "--config", config, "--overwrite")
    facts = facts_of(page)
    assert facts["first_product"] == 1
    assert facts["products"][1]["presets"][0] == {"name": "loaded config", "config": config.read_text()}
    told = refused("explore", "-o", tmp_path / "f.html", "--config", config, "--xlsx", tmp_path / "w.xlsx", code=2)
    assert "Leave it out to write the page" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "e.html"]


def test_a_text_from_a_file_cannot_become_a_script():
    hostile = '</script><script>alert("1")</script><!-- & \u2028'
    facts = page_facts(tuning_of().require().facts, hostile, presets()["2020 production"])
    elements = Elements(explorer_page(facts))
    assert sum(tag == "script" for tag, _ in elements.found) == 2  # the facts and the program
    assert elements.facts["source"] == hostile
    assert "<" not in json_in_a_page({"key": hostile})


def test_the_facts_of_a_page_are_those_of_the_files_given(demo_census, tmp_path):
    world, page = World.of(demo_census), tmp_path / "e.html"
    geography = next(world.data.glob("GRF-C*"))
    done("explore", "-o", page, "--parameters", world.parameters, "--geography", geography)
    facts, plan = facts_of(page)["products"][0], json.loads(done("plan", *world, "--json"))
    levels = {(level["geography"], level["iterations"]): level for level in facts["levels"]}
    assert plan["levels"]
    for level in plan["levels"]:
        given = levels[level["geography_level"], level["iteration_level"]]
        for name in "entities", "adaptive_iterations":
            assert given[name] == level[name]
        assert given["stability"][plan["max_race_codes"] - 1] == level["stability"]
    config = (world.parameters / "config.json").read_text("utf-8")
    assert facts["presets"][0] == {"name": "loaded config", "config": config}


def test_a_mistake_gets_a_sentence_and_no_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("there.html").write_text("mine")
    for words, sentence in cases_of(
        """
        --config nowhere.json | nowhere.json does not exist.
        --parameters nowhere | nowhere does not exist.
        --geography nowhere | nowhere
        -o . | is a directory. Give the name of a file.
        -o nowhere/explorer.html | can't be written: there is no folder nowhere.
        --xlsx there.html | already exists. Choose another name, or add --overwrite.
        --xlsx nowhere/w.xlsx | can't be written: there is no folder nowhere.
        -o there.html | already exists. Choose another name, or add --overwrite.
        """
    ):
        told = refused("explore", *words.split())
        assert sentence in told
        assert "Traceback" not in told
    told = refused("explore", "-o", "new.html", "--xlsx", "./new.html", code=2)
    assert "--xlsx: is the page itself. Choose another name." in told
    assert [path.name for path in tmp_path.iterdir()] == ["there.html"]
    assert Path("there.html").read_text() == "mine"
