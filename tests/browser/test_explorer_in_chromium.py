"""The explorer in headless Chromium, from a file and without a network. `make test-browser` runs these."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.browser.chromium import Watched, chromium, opened
from tests.explorer_numbers import Asked, ExactNumbers, agrees, agrees_at, can_be_drawn, random_config, setting_of
from typer.testing import CliRunner

from safetab.cli.main import app
from safetab.config.config_file import parse_config
from safetab.planning.losses import DELTA
from safetab.privacy.conversions import epsilon_of_rho
from safetab.privacy.loss_text import loss_text
from safetab.products.all_products import PRODUCTS
from safetab.products.product import Product
from safetab.synthetic.demo_census import write_demo_census
from safetab.tuning import Tuning, tuning_of
from safetab.tuning.presets import presets, production_of_2020

pytestmark = pytest.mark.browser
FACTS = tuning_of().require().facts
SETTINGS = 100  # of each product
CHUNK = 25
LEVELS = {
    0: ("COUNTY,2", "USA,2", "PR-TRACT,1", "STATE,1"),
    1: ("COUNTY,2,tenure", "USA,2,household type", "PR-TRACT,1,tenure", "STATE,1,household type"),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("explorer") / "explorer.html"
    told = CliRunner().invoke(app, ["explore", "-o", str(file)])
    assert told.exit_code == 0, told.output
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def watched(browser: Browser, file: Path) -> Iterator[Watched]:
    """A page on a desktop; it must not complain of anything, nor ask for anything but itself."""
    with opened(browser, file, viewport={"width": 1440, "height": 900}) as one:
        yield one
        assert one.complaints == []
        assert [url for url in one.requests if not url.startswith("blob:")] == [file.as_uri()]


@pytest.fixture
def page(watched: Watched) -> Page:
    return watched.page


def asked_on(page: Page) -> Asked:
    total, noise = (
        json.loads(page.locator(f"#{name}").get_attribute("data-question")) for name in ("question-total", "noise")
    )
    proportions = {key: str(value) for key, value in total["proportions"].items()}
    return Asked(total["total"], total["confidence"], proportions, noise["delta"], noise["confidence"])


def numbers_on(page: Page) -> list[tuple[str, str]]:
    """Where each number stands, and how it is spelled."""
    return [
        tuple(pair)
        for pair in page.eval_on_selector_all(
            "[data-number]", "all => all.map(one => [one.dataset.number, one.textContent])"
        )
    ]


def disagreements(page: Page, exact: ExactNumbers) -> list[str]:
    shown = numbers_on(page)
    assert len(shown) > 150
    return [f"{path}: {text}" for path, text in shown if not agrees_at(path, text, exact.of(path))]


@pytest.mark.parametrize("first", range(0, SETTINGS, CHUNK))
@pytest.mark.parametrize("product", LEVELS)
def test_every_number_of_random_settings_is_pythons_to_the_digits_shown(page: Page, product: int, first: int) -> None:
    base = production_of_2020(PRODUCTS[product])
    pinned = None
    page.evaluate("number => window.explorer.show(number)", product)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.wait_for_timeout(500)  # what is folded away is drawn when it is opened
    for seed in range(first, first + CHUNK):
        tuning = Tuning(random_config(base, seed), FACTS)
        refusal = page.evaluate("setting => window.explorer.set(setting)", setting_of(tuning.config))
        assert (refusal is None) == can_be_drawn(tuning), refusal
        if refusal is not None:
            continue
        page.evaluate("key => window.explorer.look(key)", LEVELS[product][seed % 4])
        if pinned is None:
            page.evaluate("document.getElementById('pin').click()")
            page.evaluate("window.explorer.settle()")
        exact = ExactNumbers(tuning, asked_on(page), pinned)
        if pinned is None:
            pinned = exact
            exact = ExactNumbers(tuning, asked_on(page), pinned)
        assert disagreements(page, exact) == [], f"seed {seed}"
        assert page.evaluate("window.explorer.results().warnings") == exact.warnings


def test_a_wrong_number_would_be_seen(page: Page) -> None:
    """The comparison itself: half a unit of the last digit is allowed, and no more."""
    exact = ExactNumbers(tuning_of().require(), asked_on(page))
    assert disagreements(page, exact) == []
    page.evaluate(
        """document.querySelector('[data-number="levels/COUNTY,2/stages/stage_2/parameter"]').textContent = "5.6078" """
    )
    assert disagreements(page, exact) == ["levels/COUNTY,2/stages/stage_2/parameter: 5.6078"]
    assert agrees("11", 11)
    assert not agrees("12", 11)
    assert agrees("99.99 %", 0.99994)
    assert not agrees("99.99 %", 0.99996)


def test_a_loss_is_never_shown_too_small(page: Page) -> None:
    dice = random.Random(4944)
    losses = [f"{10 ** dice.uniform(-6, 9):.{dice.randint(0, 18)}f}" for _ in range(5000)]
    losses = [loss for loss in losses if float(loss)]
    shown = page.evaluate(
        "all => all.map(one => [window.explorer.lossText(one), window.explorer.lossText(one, 5)])", losses
    )
    assert shown == [[loss_text(Fraction(loss)), loss_text(Fraction(loss), 5)] for loss in losses]
    rhos = [loss for loss in losses if float(loss) < 1e7][:1000]
    epsilons = page.evaluate("all => all.map(one => window.explorer.epsilonText(one, '1e-10'))", rhos)
    for rho, text in zip(rhos, epsilons, strict=True):
        least = epsilon_of_rho(Fraction(rho), DELTA)
        assert least <= Fraction(text.replace(",", "")) <= least + Fraction(1, 10**4) + least / 10**9, rho
    page.evaluate("document.querySelector('[data-number=\"loss/us/unbounded\"]').textContent = '4.943'")
    exact = ExactNumbers(tuning_of().require(), asked_on(page))
    assert disagreements(page, exact) == ["loss/us/unbounded: 4.943"]


def test_a_loss_far_above_2020_and_noise_that_protects_nobody_are_warned_of(page: Page) -> None:
    assert page.locator("#warning-count").text_content() == "No warnings"
    reference = page.locator("#cost-losses tr").last.text_content()
    assert reference == "For comparison: the 2020 Detailed DHC-A4.9449.88825.362938.9488"
    field(page, "Budget of County, Detailed").fill("900000")
    page.evaluate("window.explorer.settle()")
    assert page.locator("#bar-losses").text_content().count("2020: ") == 3
    assert page.locator("#warning-count").text_content() == "3 warnings"
    total, level, no_protection = page.evaluate("window.explorer.results().warnings")
    assert total["text"].startswith(
        "The total loss of a person, rho 900,004.785, is more than 182,039 times that of the 2020"
    )
    assert (level["level"], no_protection["level"]) == ("COUNTY,2", "COUNTY,2")
    assert no_protection["text"].startswith("This setting protects nobody at this level")
    assert "`safetab run` refuses it for real people" in page.locator("#summary-warnings").text_content()


def field(page: Page, label: str):
    return page.get_by_label(label, exact=True).first


def test_typed_values_answer_at_once_and_undo_takes_them_back(page: Page) -> None:
    budget = field(page, "Budget of County, Detailed")
    margin = field(page, "Target margin of error of County, Detailed, persons; sets the budget")
    budget.fill("0.5")
    assert margin.input_value() == "6"
    assert page.locator('[data-number="loss/us/unbounded"]').first.text_content() == "5.285"
    margin.fill("20")
    page.keyboard.press("Enter")
    assert Fraction(budget.input_value()) == Fraction("0.04567")
    page.locator("#undo").click()
    assert budget.input_value() == "0.5"
    page.locator("#undo").click()
    assert budget.input_value() == "0.159"
    page.locator("#redo").click()
    assert budget.input_value() == "0.5"


def test_a_wrong_entry_is_told_beside_its_field_and_changes_nothing(page: Page) -> None:
    before = page.evaluate("window.explorer.setting()")
    for label, text in [
        ("Budget of County, Detailed", "-1"),
        ("Share of each budget for stage 1, gamma", "1"),
        ("Chance that an empty group is suppressed", "many"),
        ("Most race codes counted for a person", "9"),
    ]:
        entry = field(page, label)
        entry.fill(text)
        message = page.locator(f"#{entry.get_attribute('aria-describedby').split()[-1]}")
        assert entry.get_attribute("aria-invalid") == "true"
        assert message.text_content(), label
        assert page.evaluate("window.explorer.setting()") == before
        page.keyboard.press("Escape")


def saved_config(page: Page) -> str:
    with page.expect_download() as started:
        page.locator("#save").click()
    return Path(started.value.path()).read_text("utf-8")


def load(page: Page, text: str) -> None:
    page.set_input_files("#load", {"name": "config.json", "mimeType": "application/json", "buffer": text.encode()})
    page.wait_for_timeout(100)


def test_a_config_is_saved_as_it_was_loaded_and_changed_only_where_it_was_changed(page: Page) -> None:
    odd = (
        presets()["2020 production"]
        .replace("0.159", "0.15900", 3)
        .replace('"reader"', '"mine": [1, {"a": 2e3}],\n"reader"')
    )
    load(page, odd)
    assert saved_config(page) == odd
    field(page, "Budget of County, Detailed").fill("0.16")
    changed = saved_config(page)
    assert changed == odd.replace(
        '"privacy_budget_p_level_2_county": 0.15900', '"privacy_budget_p_level_2_county": 0.16'
    )
    assert parse_config(changed).require().budgets != parse_config(odd).require().budgets


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_a_saved_config_means_what_the_page_shows(page: Page, product: Product) -> None:
    page.evaluate("number => window.explorer.show(number)", PRODUCTS.index(product))
    configs = [random_config(production_of_2020(product), seed) for seed in range(1000, 1010)]
    for config in (config for config in configs if can_be_drawn(Tuning(config, FACTS))):
        assert page.evaluate("setting => window.explorer.set(setting)", setting_of(config)) is None
        read = parse_config(saved_config(page)).require()
        for name in ("privacy_definition", "max_race_codes", "stage_1_fraction", "zero_suppression_chance", "passes"):
            assert getattr(read, name) == getattr(config, name)
        assert dict(read.budgets) == dict(config.budgets)
        for of_file, of_page in zip(read.families, config.families, strict=True):
            assert all(of_page.thresholds[level] == totals for level, totals in of_file.thresholds.items())


def test_a_config_saved_by_the_page_is_accepted_by_validate(page: Page, tmp_path: Path) -> None:
    write_demo_census(tmp_path / "census")
    parameters = tmp_path / "census" / "parameters"
    load(page, (parameters / "config.json").read_text("utf-8"))
    field(page, "Share of each budget for stage 1, gamma").fill("0.2")
    (parameters / "config.json").write_text(saved_config(page), encoding="utf-8")
    told = CliRunner().invoke(app, ["validate", str(parameters), str(tmp_path / "census" / "data")])
    assert (told.exit_code, told.stdout) == (0, "Everything is valid.\n"), told.output
    assert parse_config((parameters / "config.json").read_text("utf-8")).require().stage_1_fraction == Fraction(1, 5)


def test_a_config_at_fault_is_told_whole_and_changes_nothing(page: Page) -> None:
    before = page.evaluate("window.explorer.setting()")
    wrong = presets()["2020 production"].replace('"zcdp"', '"<img src=x onerror=alert(1)>"').replace("0.159", "-1", 1)
    load(page, wrong)
    problems = page.locator("#load-problems li").all_text_contents()
    assert len(problems) == 2
    assert any("privacy_defn" in problem for problem in problems)
    assert page.evaluate("window.explorer.setting()") == before
    assert page.locator("img").count() == 0
    load(page, "not json")
    assert "line 1" in page.locator("#load-problems").text_content()


def test_tables_are_downloaded_as_csv(page: Page) -> None:
    with page.expect_download() as started:
        page.locator("#save-margins").click()
    lines = Path(started.value.path()).read_text("utf-8-sig").splitlines()
    assert 'us,"County, Detailed",COUNTY,Detailed,persons,sex_age_23,total,95,75' in lines
    assert 'us,"County, Detailed",COUNTY,Detailed,persons,sex_age_23,sex_marginal,95,53' in lines
    with page.expect_download() as started:
        page.locator("#save-curves").click()
    header, *rows = Path(started.value.path()).read_text("utf-8-sig").splitlines()
    assert header.startswith("true_size_persons,")
    assert len(rows) > 40


def test_the_page_can_be_used_with_the_keyboard_alone(page: Page) -> None:
    reached = []
    for _ in range(400):
        page.keyboard.press("Tab")
        name, tag, kind, visible = page.evaluate("""() => {
            const one = document.activeElement, style = getComputedStyle(one);
            const name = one.getAttribute("aria-label") || (one.labels && one.labels[0]?.textContent) || one.textContent || one.getAttribute("aria-labelledby") || "";
            return [name.trim(), one.tagName, one.type || "", style.outlineStyle !== "none" || style.boxShadow !== "none"];
        }""")
        if tag == "BODY":
            break
        reached.append((name, tag, kind))
        assert name, f"a control without a name: {tag} {kind}"
        assert visible, f"focus can't be seen on {name}"
    names = [name for name, _, _ in reached]
    for wanted in (
        "Share of each budget for stage 1, gamma",
        "Save config.json",
        "Keep the setting in force",
        "Print this page",
    ):
        assert any(wanted in name for name in names), wanted
    budget = field(page, "Budget of County, Detailed")
    budget.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("0.2")
    page.keyboard.press("Tab")
    assert page.evaluate("window.explorer.setting().budgets['COUNTY,2']") == "0.2"
    page.locator("body").press("Control+z")
    assert page.evaluate("window.explorer.setting().budgets['COUNTY,2']") == "0.159"


def test_every_control_and_table_says_what_it_is(page: Page) -> None:
    nameless = page.evaluate("""() => [...document.querySelectorAll("input, select, button")].filter(one =>
        !(one.getAttribute("aria-label") || one.labels?.length || one.textContent.trim())).map(one => one.outerHTML)""")
    assert nameless == []
    assert page.evaluate("[...document.querySelectorAll('table')].filter(one => !one.caption).length") == 0
    assert (
        page.evaluate(
            "[...document.querySelectorAll('svg')].filter(one => !one.getAttribute('aria-label') && one.getAttribute('aria-hidden') !== 'true' && !one.querySelector('title')).length"
        )
        == 0
    )
    assert page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (360, "dark"), (820, "light"), (1440, "dark")])
def test_it_fits_any_screen_and_reads_in_both_schemes(browser: Browser, file: Path, width: int, scheme: str) -> None:
    with opened(browser, file, viewport={"width": width, "height": 740}, color_scheme=scheme) as one:
        assert one.page.evaluate("document.documentElement.scrollWidth") <= width
        text, ground = one.page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert contrast(text, ground) > 7
        assert (luminance(ground) < 0.2) == (scheme == "dark")
        assert one.complaints == []


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("product", LEVELS)
def test_the_summary_for_a_committee_is_one_page(page: Page, product: int, paper: str) -> None:
    page.evaluate("number => window.explorer.show(number)", product)
    printed = page.pdf(format=paper)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1


def test_both_products_have_settings_of_their_own_and_a_joint_loss(page: Page) -> None:
    field(page, "Budget of County, Detailed").fill("0.2")
    page.get_by_role("button", name="Households (SafeTab-H)").click()
    field(page, "Budget of County, Detailed, tenure").fill("0.242869")
    page.evaluate("window.explorer.settle()")
    joint = {path: text for path, text in numbers_on(page) if path.startswith("joint/")}
    assert joint["joint/0/loss/us"] == "8.995302"
    assert joint["joint/1/loss/us"] == "22.975604"  # 4.944 + 0.041 + 2 x (8.895302 + 0.1)
    assert joint["joint/1/loss/pr"] == "12.151268"  # 2.643 + 2 x 4.754134
    assert joint["joint/2/loss/us"] == "28.935302"  # four times 4.985, and once the household
    page.get_by_role("button", name="People (SafeTab-P)").click()
    assert field(page, "Budget of County, Detailed").input_value() == "0.2"
    assert {path: text for path, text in numbers_on(page) if path.startswith("joint/")} == joint


def test_thresholds_of_households_are_in_people(page: Page) -> None:
    page.evaluate("window.explorer.show(1)")
    assert field(page, "Threshold for tenure in 3 cells, County, Detailed, tenure, people").input_value() == "971"
    assert "Least size for household type in … cells, people" in page.locator("#levels-table").text_content()
    assert page.locator("#figure-suppression").is_hidden()


def test_a_configuration_of_the_other_product_brings_it_into_view(page: Page) -> None:
    load(page, presets(PRODUCTS[1])["2020 production"])
    assert page.locator("[data-product='1']").get_attribute("aria-pressed") == "true"
    assert page.locator("#started-from").text_content() == "Now: loaded config.json."


@pytest.mark.parametrize("budget", ["1e-30", "1e-9"])
def test_a_budget_whose_noise_cannot_be_drawn_is_refused_at_once(page: Page, budget: str) -> None:
    entry = field(page, "Budget of County, Detailed")
    entry.fill(budget)
    assert entry.get_attribute("aria-invalid") == "true"
    message = page.locator(f"#{entry.get_attribute('aria-describedby').split()[-1]}").text_content()
    assert "can't be drawn: sigma must lie between" in message
    assert page.evaluate("window.explorer.setting().budgets['COUNTY,2']") == "0.159"
    assert page.evaluate("window.explorer.slowestAnswer()") < 5000


def test_a_file_with_a_budget_beyond_all_measure_is_refused_in_words(page: Page) -> None:
    load(page, presets()["2020 production"].replace("0.159", "1e99", 1))
    assert "can't be drawn" in page.locator("#load-problems").text_content()
    assert page.locator("#started-from").text_content() == "Now: 2020 production."


def test_a_level_is_few_tab_stops_away_and_arrows_move_between_levels(page: Page) -> None:
    budget = field(page, "Budget of County, Detailed")
    stops = page.evaluate("""() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")]
        .filter(one => one.tabIndex >= 0 && one.offsetParent !== null).map(one => one.getAttribute("aria-label"))""")
    assert stops.index("Budget of County, Detailed") < 45
    assert "Budget of State, Detailed" not in stops
    budget.focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Budget of County, Regional"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Budget of Tract, Regional"


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("product", LEVELS)
def test_every_target_is_large_enough_and_the_margin_is_in_sight(
    browser: Browser, file: Path, width: int, product: int
) -> None:
    with opened(browser, file, viewport={"width": width, "height": 844}) as one:
        one.page.evaluate("number => window.explorer.show(number)", product)
        small = one.page.evaluate("""() => [...document.querySelectorAll("a[href], button, input, select, summary")]
            .filter(one => one.offsetParent !== null && !one.classList.contains("skip"))
            .map(one => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
            .filter(([, box]) => box.width < 23.9 || box.height < 23.9).map(([name, box]) => `${name} ${box.width} x ${box.height}`)""")
        assert small == []
        margin = one.page.locator("#levels-table input.margin").first.bounding_box()
        assert margin is not None
        assert margin["x"] + margin["width"] <= width
        assert one.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_relative_error_reaches_as_high_as_the_numbers(page: Page) -> None:
    page.evaluate("window.explorer.look('STATE,1')")
    drawn = page.locator("#figure-relative .chart-image path.line").last.get_attribute("d")
    heights = [float(height) for height in re.findall(r"[ML][\d.]+ ([\d.]+)", drawn)]
    assert heights[0] < heights[1] < heights[2]  # the y of SVG grows downwards: no flat start


def test_thresholds_for_a_target_error_stand_beside_those_in_force_and_are_taken_over(page: Page) -> None:
    row = page.locator("#thresholds tr", has_text="County, Detailed").first
    assert row.locator("td").all_text_contents() == [
        *("110", "880", "971 fits", "1,980", "4,971 high", "5,060", "19,971 high")
    ]
    assert page.locator("#thresholds [role=status]").text_content().startswith("Of 57 thresholds, 0 are too low")
    page.get_by_role("button", name="Take these thresholds over").click()
    assert page.evaluate("window.explorer.setting().thresholds['COUNTY,2']") == [880, 1980, 5060]
    page.locator("#undo").click()
    assert page.evaluate("window.explorer.setting().thresholds['COUNTY,2']") == [971, 4971, 19971]
    page.evaluate("window.explorer.show(1)")
    row = page.locator("#thresholds tr", has_text="County, Detailed").last
    assert row.locator("td").all_text_contents() == ["110", "330", "825", "971 fits"]  # 2.5 people a household
    page.get_by_label("People of the group in a household, on average").fill("3")
    assert row.locator("td").all_text_contents() == ["110", "330", "990", "971 too low"]


def test_a_reload_and_a_link_bring_the_settings_of_both_products_back(browser: Browser, file: Path) -> None:
    with opened(browser, file) as one:
        page = one.page
        field(page, "Budget of County, Detailed").fill("0.2")
        field(page, "Share of each budget for stage 1, gamma").fill("0.25")
        page.evaluate("window.explorer.show(1)")
        field(page, "Threshold for tenure in 3 cells, County, Detailed, tenure, people").fill("1200")
        settings = page.evaluate("[window.explorer.setting(), (window.explorer.show(0), window.explorer.setting())]")
        page.wait_for_timeout(600)
        address = page.url
        assert address.partition("#")[2] == "set/SafeTab-P~g=0.25~b5=0.2/SafeTab-H~t25=1200"
        page.get_by_role("link", name="Privacy cost").click()
        assert page.url == address
        page.reload()
        assert page.evaluate("window.explorer.setting()") == settings[1]
        assert page.locator("#started-from").text_content() == "Now: 2020 production, changed."
    with opened(browser, file) as other:
        assert other.page.evaluate("window.explorer.setting()") != settings[1]
        other.page.goto(address)
        assert other.page.evaluate("[(window.explorer.show(1), window.explorer.setting()), (window.explorer.show(0), window.explorer.setting())]") == settings  # fmt: skip
        for wrong in (
            "#set/SafeTab-P~b5=<b>",
            "#set/Nobody~b5=1",
            "#set/SafeTab-P~t5=3.2.1",
            "#set/SafeTab-P~b5=1e-30",
        ):
            other.page.goto(f"{file.as_uri()}{wrong}")
            assert other.page.evaluate("window.explorer.setting().thresholds['COUNTY,2']") == [971, 4971, 19971]
        assert other.complaints == []


def test_leaving_asks_only_if_something_is_unsaved(page: Page) -> None:
    asks = "() => { const leaving = new Event('beforeunload', { cancelable: true }); return !window.dispatchEvent(leaving); }"
    assert not page.evaluate(asks)
    field(page, "Budget of County, Detailed").fill("0.2")
    assert page.evaluate(asks)
    saved_config(page)
    assert not page.evaluate(asks)


@pytest.mark.parametrize("width", [390, 1440])
def test_the_marks_of_the_first_picture_are_dragged_and_fields_follow(browser: Browser, file: Path, width: int) -> None:
    with opened(browser, file, viewport={"width": width, "height": 900}) as one:
        page = one.page
        for what, index in (("budget", 0), ("margin", 0), ("threshold", 1)):
            before = page.evaluate("window.explorer.setting()")
            mark = page.locator(f'[data-mark="{what}"][data-level="COUNTY,2"][data-index="{index}"]')
            mark.scroll_into_view_if_needed()
            box = mark.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x - 10, y)
            page.mouse.move(x - 20, y)
            page.mouse.up()
            after = page.evaluate("window.explorer.setting()")
            if what == "threshold":
                assert after["thresholds"]["COUNTY,2"][1] < before["thresholds"]["COUNTY,2"][1]
            else:  # a smaller margin takes a larger budget
                assert (float(after["budgets"]["COUNTY,2"]) < float(before["budgets"]["COUNTY,2"])) == (
                    what == "budget"
                )
            assert field(page, "Budget of County, Detailed").input_value() == after["budgets"]["COUNTY,2"]
            page.locator("#undo").click()
            assert page.evaluate("window.explorer.setting()") == before, "one drag is one step"
        assert one.complaints == []


def test_the_first_picture_is_on_the_first_screen_with_the_line_of_2020(page: Page) -> None:
    assert page.locator("#overview-chart").bounding_box()["y"] < 450
    assert page.locator("#setting").bounding_box()["y"] < 900  # beside it
    assert "2020 Detailed DHC-A: \N{GREEK SMALL LETTER RHO} = 4.944" in page.locator("#overview-losses").text_content()
    county = page.locator('#overview-chart [data-number="levels/COUNTY,2/smallest_published/95"]')
    assert county.text_content() == "31"


def test_up_to_six_settings_are_kept_by_name_and_told_apart_in_words(page: Page) -> None:
    keep = page.get_by_role("button", name="Keep the setting in force")
    page.get_by_label("Name (optional)").fill("as in 2020")
    keep.click()
    field(page, "Budget of County, Detailed").fill("0.5")
    page.evaluate("window.explorer.settle()")
    words = page.locator("#compare-words").text_content()
    assert words == (
        "Beside as in 2020: \N{GREEK SMALL LETTER RHO} is 0.341 more (unbounded); margins are smaller at County, Detailed."
    )
    for _ in range(5):
        keep.click()
    assert keep.get_attribute("aria-disabled") == "true"
    page.evaluate("document.getElementById('pin').click()")
    heads = page.locator("#kept-table thead th").all_text_contents()
    assert heads == ["Number", "as in 2020", "A", "B", "C", "D", "E", "In force"]
    page.get_by_role("button", name="Return to as in 2020").click()
    assert page.evaluate("window.explorer.setting().budgets['COUNTY,2']") == "0.159"
    page.get_by_role("button", name="Forget E", exact=True).click()
    assert page.locator("#kept-list li").count() == 5
    page.evaluate("window.explorer.show(1)")
    assert page.locator("#kept-list li").count() == 0  # each product has its own


@pytest.mark.parametrize(
    "figure", ["figure-suppression", "figure-bias", "figure-tables", "figure-relative", "cost-curve"]
)
def test_pointing_at_a_curve_or_the_arrow_keys_read_it_off(page: Page, figure: str) -> None:
    image = page.locator(f"#{figure} .chart-image")
    image.scroll_into_view_if_needed()
    image.hover()
    pointed = image.locator(".reading text").all_text_contents()
    assert len(pointed) >= 2
    page.mouse.move(0, 0)
    assert image.locator(".reading").count() == 0
    image.focus()
    page.keyboard.press("ArrowRight")
    first = image.locator(".reading text").all_text_contents()
    page.keyboard.press("ArrowRight")
    assert image.locator(".reading text").all_text_contents() != first
