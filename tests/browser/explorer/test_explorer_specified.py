"""The explorer of specifications in headless Chromium: Python's numbers, their own words, and privacy.toml again."""

import random
import re
import tomllib
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import pytest

from safetab.tuning import Tuning, tuning_of
from tests.browser.explorer_page import asked_on, disagreements, load, opened, saved_config, set_on, setting_on, settle
from tests.commands import done
from tests.explorer_numbers import ExactNumbers, can_be_drawn, setting_of, tuned_levels
from tests.inside import PrivacyDefinition, Thresholds, loss_of_config
from tests.unit.release.test_specified_words import AMERICAN
from tests.worlds.specified.small_world import nz_keys, write_specification
from tests.worlds.specified.toml_text import toml_of

pytestmark = pytest.mark.browser


def _hospital(keys):
    """Stays of patients, who may have several; one answer; pure differential privacy; nothing is withheld."""
    keys["about"] |= {"name": "Stays", "record": "admission", "records": "admissions"}
    keys["records"]["unit"] = {"name": "patient", "column": "PATIENT", "most_records": 3}
    keys["records"]["fields"].append({"name": "PATIENT", "type": "string"})
    keys["classifications"]["ethnicity"]["columns"] = ["ETH1"]
    keys["privacy"]["definition"] = "puredp"
    del keys["privacy"]["suppress"]


def _fixed(keys):
    """Every group gets the finest table; two families; a level that is left out; a reference."""
    keys["about"]["reference"] = {"name": "census before", "rho": Decimal("0.3")}
    keys["tables"].append(
        {
            "name": "gender",
            "detail": "gender",
            "shapes": [
                {"id": "G1", "label": "all", "title": "All"},
                {"id": "G2", "label": "gender", "title": "Gender", "by": ["gender"]},
            ],
        }
    )
    privacy = keys["privacy"]
    del privacy["suppress"], privacy["stage_1"]
    privacy |= {"selector": "none", "use": {"ethnicity": 2}}
    privacy["levels"] = [
        {"tables": "gender and age", "groups": "level 1", "areas": ["nation", "region"], "budget": Decimal("0.25")},
        {"tables": "gender", "groups": ["level 1", "level 2"], "areas": "sa2", "budget": Decimal("0.125")},
    ]


def _lone(keys):
    """Nothing but totals, small ones withheld; two passes."""
    del keys["tables"][0]["shapes"][1:]
    levels = {level: f"{level}-{{}}" for level in ("region", "sa2")}
    keys["areas"]["passes"] = [
        {
            "name": name,
            "title": f"Island {name}",
            "where": {"REGC": region},
            "levels": {level: label.format(name) for level, label in levels.items()},
        }
        for name, region in (("n", "01"), ("s", "02"))
    ]
    areas = [label.format(name) for name in "ns" for label in levels.values()]
    keys["privacy"]["levels"] = [{"groups": ["level 1", "level 2"], "areas": areas, "budget": 1}]


VARIANTS = {"nz": lambda _: None, "hospital": _hospital, "fixed": _fixed, "lone": _lone}


@pytest.fixture(scope="module", params=VARIANTS)
def parameters(request, tmp_path_factory):
    keys = nz_keys()
    VARIANTS[request.param](keys)
    return write_specification(tmp_path_factory.mktemp(request.param), keys)[0]


@pytest.fixture
def page(browser, parameters, tmp_path):
    file = tmp_path / "explorer.html"
    done("explore", "-o", file, "--parameters", parameters)
    with opened(browser, file, viewport={"width": 1440, "height": 900}) as one:
        yield one.page
        assert one.complaints == []


def _random_config(base, seed):
    dice = random.Random(seed)
    definitions = list(PrivacyDefinition) if base.product.reference is None else [base.privacy_definition]
    families = []
    for one in base.families:
        budgets = {level: Fraction(f"{10 ** dice.uniform(-2, 1):.3g}") for level in base.census.levels}
        budgets |= {level: Fraction(0) for level in budgets if dice.random() < 0.2}
        budgets |= {next(iter(base.census.levels_of([each]))): Fraction(1) for each in base.passes}
        thresholds = {
            level: Thresholds(tuple(sorted(dice.randint(0, 9999) for _ in usual.totals)))
            for level, usual in one.thresholds.items()
        }
        families.append(replace(one, budgets=MappingProxyType(budgets), thresholds=MappingProxyType(thresholds)))
    return replace(
        base,
        privacy_definition=dice.choice(definitions),
        families=tuple(families),
        stage_1_fraction=Fraction(dice.randint(1, 99), 100) if base.product.has_stage_1 else Fraction(0),
        most_answers=dice.randint(1, base.census.most_answers),
        zero_suppression_chance=Fraction("0.95") if base.zero_suppression_chance else Fraction(0),
    )


def test_every_number_of_random_settings_is_pythons(page, parameters):
    given = tuning_of(parameters=parameters).require()
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.wait_for_timeout(500)
    assert setting_on(page) == setting_of(given.config)
    for seed in range(6):
        tuning = given if seed == 0 else Tuning(_random_config(given.config, seed), given.facts)
        assert can_be_drawn(tuning)
        assert set_on(page, setting_of(tuning.config)) is None
        page.evaluate("key => window.explorer.look(key)", list(tuned_levels(tuning))[-1])
        exact = ExactNumbers(tuning, asked_on(page))
        assert disagreements(page, exact, 60) == [], f"seed {seed}"
        assert page.evaluate("window.explorer.results().warnings") == exact.warnings


def test_a_saved_privacy_file_says_the_setting_to_a_run_and_to_the_page(page, parameters, tmp_path):
    given = tuning_of(parameters=parameters).require()
    assert setting_on(page) == setting_of(given.config)
    census = (parameters / "census.toml").read_text("utf-8")
    others = {key: value for key, value in tomllib.loads(census, parse_float=Decimal).items() if key != "privacy"}
    for seed in range(1, 5):
        wanted = setting_of(_random_config(given.config, seed))
        assert set_on(page, wanted) is None
        saved = saved_config(page)
        again = tmp_path / f"again{seed}"
        again.mkdir()
        for file in parameters.iterdir():
            (again / file.name).write_bytes(file.read_bytes())
        (again / "census.toml").write_text(toml_of(others), "utf-8")
        (again / "privacy.toml").write_text(saved, "utf-8")
        read = setting_of(tuning_of(parameters=again).require().config)
        tabulated = {key for key, budget in wanted["budgets"].items() if Fraction(budget)}
        for setting in (read, wanted):
            setting["thresholds"] = {key: setting["thresholds"][key] for key in tabulated}
        assert read == wanted
        set_on(page, setting_of(given.config))
        load(page, saved)
        loaded = setting_on(page)
        loaded["thresholds"] = {key: loaded["thresholds"][key] for key in tabulated}
        assert loaded == wanted
    load(page, census)
    assert setting_on(page) == setting_of(given.config)


def test_the_page_speaks_of_its_own_census(page, parameters):
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    settle(page)
    text = page.evaluate("document.body.innerText")
    assert AMERICAN.findall(text) == []
    assert re.findall(r"undefined|NaN|\bnull\b|household|\ba admission", text) == []
    facts = tuning_of(parameters=parameters).require().config
    protected = "patient" if "patient" in str(facts.product.record.unit) else "person"
    assert f"a {protected} joins or leaves" in text
    assert page.get_by_label("Most answers of ethnicity counted for a person", exact=True).count() == (
        0 if facts.census.most_answers == 1 else 1
    )
    assert re.search(r"parameters considered on \d{1,2} [A-Z][a-z]+ \d{4}", text)
    assert re.findall(r"\b[Ff]ewer codes|against \d codes|more codes is|, such as an ethnic group", text) == []
    assert page.locator("#simulation").is_hidden()
    assert page.locator("#joint").is_hidden()


def test_the_first_screen_asks_of_its_own_census(page, parameters):
    config = tuning_of(parameters=parameters).require().config
    opening = page.locator("#opening")
    assert re.match(
        r"How precise should (region|authority|area) counts of “level [12]” groups( by gender and age)? be\?",
        opening.inner_text(),
    )
    reference = config.product.reference
    known = "the loaded specification" if reference is None else f"the {reference.name}"
    assert f"may that cost, compared with {known}?" in opening.inner_text()
    unbounded = loss_of_config(config).unbounded if reference is None else Fraction("0.3")
    opening.get_by_label(f"Privacy cost, times {known}", exact=True).fill("1.5")
    page.keyboard.press("Enter")
    loss = page.inner_text("#opening-notes [data-number='loss/whole_run/unbounded']")
    assert Fraction(loss) == unbounded * Fraction(3, 2)
    opening.get_by_label("Wanted margin of error", exact=False).first.fill("25")
    assert "are within ±\u00a025 " in page.inner_text("#opening-answer")


def test_a_wrong_privacy_file_is_refused_with_its_problems(page):
    before, saved = setting_on(page), saved_config(page)
    wrong = {
        "budget = ": "budget = -",
        "definition = ": "definition = x",
        'selector = "': 'selector = "x',
        "groups = [": 'groups = ["nobody", ',
        "[privacy]": "[private]",
        "areas = [": "areas = [[",
    }
    for old, new in wrong.items():
        load(page, saved.replace(old, new, 1) if old != "[privacy]" else saved.replace("privacy", "private"))
        assert page.locator("#load-problems li").count() >= 1, old
        assert setting_on(page) == before
    load(page, saved + saved[saved.index("\n[[privacy.levels]]") :].split("\n\n")[0])
    assert "has an entry before" in page.inner_text("#load-problems")


def test_the_last_level_of_a_pass_stays(page, parameters):
    tuning = tuning_of(parameters=parameters).require()
    boxes = page.locator("#levels input[type=checkbox]")
    for number in range(boxes.count()):
        if boxes.nth(number).is_checked():
            boxes.nth(number).click()
    assert page.locator("#levels input[type=checkbox]:checked").count() == len(tuning.config.passes)
