"""The explorer in headless Chromium: what is typed, refused, undone and reached with the keyboard. `make test-browser` runs these."""

from fractions import Fraction

import pytest

from tests.browser.explorer_page import field, setting_on, settle

pytestmark = pytest.mark.browser


def test_typed_values_answer_at_once_and_undo_takes_them_back(page):
    budget = field(page, "Budget of County, Detailed")
    margin = field(page, "Target margin of error of County, Detailed, persons; sets the budget")
    budget.fill("0.5")
    assert margin.input_value() == "6"
    assert page.locator('[data-number="loss/us/unbounded"]').first.text_content() == "5.285"
    margin.fill("20")
    page.keyboard.press("Enter")
    assert Fraction(budget.input_value()) == Fraction("0.04567")
    page.click("#undo")
    settle(page)  # the field may be out of sight
    assert budget.input_value() == "0.5"
    page.click("#undo")
    settle(page)  # the field may be out of sight
    assert budget.input_value() == "0.159"
    page.click("#redo")
    settle(page)  # the field may be out of sight
    assert budget.input_value() == "0.5"


def test_a_wrong_entry_is_told_beside_its_field_and_changes_nothing(page):
    before = setting_on(page)
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
        assert setting_on(page) == before
        page.keyboard.press("Escape")


@pytest.mark.parametrize("budget", ["1e-30", "1e-9"])
def test_a_budget_whose_noise_cannot_be_drawn_is_refused_at_once(page, budget):
    entry = field(page, "Budget of County, Detailed")
    entry.fill(budget)
    assert entry.get_attribute("aria-invalid") == "true"
    message = page.text_content(f"#{entry.get_attribute('aria-describedby').split()[-1]}")
    assert "can't be drawn: sigma must lie between" in message
    assert page.evaluate("window.explorer.setting().budgets['COUNTY,2']") == "0.159"
    assert page.evaluate("window.explorer.slowestAnswer()") < 5000


def test_the_page_can_be_used_with_the_keyboard_alone(page):
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
        "Keep the current setting",
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


def test_every_control_and_table_says_what_it_is(page):
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


def test_a_level_is_few_tab_stops_away_and_arrows_move_between_levels(page):
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
