"""The explorer's first screen in headless Chromium: two questions, one answer, and the offer to convert budgets."""

import re
from fractions import Fraction

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import axe_violations, opened, saved
from tests.browser.explorer_page import field

pytestmark = pytest.mark.browser

CONTROLS = """() => [...document.querySelectorAll("input, select, textarea")].filter(one => one.offsetParent !== null).length"""
SIZE = "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]"
IS_CLEAR = """() => document.getElementById("more").getBoundingClientRect().top
    >= document.getElementById("sticky").getBoundingClientRect().bottom"""
BUDGETS = "window.explorer.setting().budgets"


@pytest.fixture
def first(browser, file):
    """The first screen of a desktop."""
    with opened(browser, file, viewport={"width": 1400, "height": 900}) as one:
        yield one.page
        assert one.complaints == []


def total_of(page, *, without="PR-"):
    budgets = page.evaluate(BUDGETS)
    return sum((Fraction(text) for key, text in budgets.items() if not key.startswith(without)), Fraction(0))


@pytest.mark.parametrize(("width", "most"), [(1400, 900), (390, 2100)])
def test_the_first_screen_is_short_and_has_few_controls(browser, file, width, most):
    with opened(browser, file, viewport={"width": width, "height": 900}) as one:
        page = one.page
        height, needed = page.evaluate(SIZE)
        assert (height <= most, needed <= width) == (True, True)
        assert page.evaluate(CONTROLS) == 6  # a level, a margin and a cost (each with its slider), and who pays
        words = page.inner_text("body")
        expect(page.locator(".kicker")).to_have_text("Parameter explorer: 2020 U.S. Census, Detailed DHC-A")
        assert "How precise should county counts of detailed groups be?" in words
        assert "How much privacy may that cost, compared with 2020?" in words
        assert [word for word in re.findall(r"\S+ \S*[\u0370-\u03ff]\S*", words) if "rho (" not in word] == []
        page.click("#more-button")
        assert page.evaluate(CONTROLS) > 200
        expect(page.locator("#levels")).to_be_visible()
        assert page.evaluate(IS_CLEAR)  # of the bar
        page.click("#more-button")
        assert page.evaluate(CONTROLS) == 6
        assert one.complaints == []


def test_axe_finds_nothing(browser, file):
    with opened(browser, file) as one:
        assert axe_violations(one.page) == []
        one.page.click("#more-button")
        expect(one.page.locator("#levels")).to_be_visible()
        assert axe_violations(one.page) == []


def test_margin_cost_and_answer_are_one_setting(first):
    margin = field(first, "Wanted margin of error, persons")
    cost = field(first, "Privacy cost, times 2020")
    answer = first.locator("#opening-answer")
    assert (margin.input_value(), cost.input_value()) == ("11", "1")
    margin.fill("6")
    assert first.evaluate(BUDGETS)["COUNTY,2"] == "0.4512"
    assert cost.input_value() == "1.06"
    expect(answer).to_contain_text("County counts of detailed groups are within ±\u00a06 persons of the true count")
    expect(answer).to_contain_text("a published 100 stands for 94 to 106")
    expect(answer).to_contain_text("cost 1.06 times as much privacy as 2020")
    cost.fill("2")
    assert total_of(first) == 2 * Fraction("4.944")
    cost.fill("1")
    first.keyboard.press("Enter")
    assert total_of(first) == Fraction("4.944")
    expect(answer).to_contain_text("cost exactly as much privacy as 2020")
    first.click("#opening-undo")
    first.click("#opening-undo")
    assert first.evaluate(BUDGETS)["COUNTY,2"] == "0.159"
    first.get_by_label("Keep this cost").check()
    margin.fill("8")
    budgets = first.evaluate(BUDGETS)
    assert (budgets["COUNTY,2"], budgets["PR-COUNTY,2"]) == ("0.2647", "0.159")
    assert Fraction(budgets["TRACT,2"]) < Fraction("0.159")
    assert total_of(first) == Fraction("4.944")
    margin.fill("1")
    expect(first.locator(".asked .problem:visible")).to_contain_text("costs more than all tables may cost together")
    first.keyboard.press("Escape")
    assert b'"privacy_budget_p_level_2_county": 0.2647' in saved(first.locator("#opening-save"))[1]
    first.locator("#opening-picture [data-row='USA,1']").first.click()
    expect(first.locator("#ask-precision")).to_have_text(
        "How precise should counts of regional groups in the nation be?"
    )
    assert margin.input_value() == "50"  # it helps to pay for the counties


def test_a_pass_is_compared_with_its_own_loss(first):
    answer, cost = first.locator("#opening-answer"), field(first, "Privacy cost, times 2020")
    first.locator("#ask-precision-controls select").select_option("PR-COUNTY,2")
    expect(answer).to_contain_text("All tables together cost exactly as much privacy as 2020.")
    field(first, "Wanted margin of error, persons").fill("3")
    said = "In Puerto Rico, all tables together cost 1.52 times as much privacy as 2020; in the United States, exactly"
    expect(answer).to_contain_text(said)
    expect(first.locator("#ask-cost-controls")).to_contain_text("All tables in Puerto Rico")
    expect(first.locator("[data-number='loss/pr/unbounded']").first).to_have_text(re.compile(r"^4\.01"))
    assert cost.input_value() == "1.52"
    cost.fill("2")
    first.keyboard.press("Enter")
    assert total_of(first) == Fraction("4.944")
    expect(answer).to_contain_text("In Puerto Rico, all tables together cost 2 times as much privacy as 2020")


def bound_of(page):
    """The loss of pure differential privacy, as a bound in times the rho of 2020."""
    budgets = page.evaluate(BUDGETS).items()
    return float(sum(Fraction(text) ** 2 for key, text in budgets if not key.startswith("PR-")) / 2 / Fraction("4.944"))


def test_pure_dp_is_bounded_level_by_level(first):
    first.evaluate("window.explorer.set({...window.explorer.setting(), definition: 'puredp'})")
    bound = bound_of(first)
    expect(first.locator("#opening-answer")).to_contain_text(f"at most {bound:.3g} times")
    expect(first.locator("#ask-cost-controls")).to_contain_text(", at most")
    first.click("#opening-check button")
    bound = bound_of(first)
    assert bound < 20
    expect(first.locator("#opening-check")).to_contain_text("More empty groups may be published: up to 22,009")
    expect(first.locator("#opening-answer")).to_contain_text(f"at most {bound:.3g} times")


def test_a_slider_moved_there_and_back_leaves_every_budget_as_it_was(first):
    before = first.evaluate(BUDGETS)
    slider = field(first, "Privacy cost, times 2020, slider")
    slider.focus()
    for _ in range(9):
        first.keyboard.press("ArrowRight")
    after = first.evaluate(BUDGETS)
    assert after != before
    for _ in range(9):
        first.keyboard.press("ArrowLeft")
    assert {key: Fraction(text) for key, text in first.evaluate(BUDGETS).items()} == {
        key: Fraction(text) for key, text in before.items()
    }


def test_budgets_of_the_other_definition_are_converted_with_one_button(page):
    margins = "() => Object.values(window.explorer.results().levels).map(one => one && one.margins['95'].total)"
    before, loss = page.evaluate(margins), page.evaluate(BUDGETS)
    for label in ("Pure DP: ", "zCDP: "):
        page.locator("#setting").get_by_label(label).check()
        expect(page.locator("#warning-count")).to_have_text("Budgets to convert")
        assert page.evaluate("window.explorer.results().warnings.length") > 0
        expect(page.locator("tr.warning:visible")).to_have_count(0)
        page.click("#setting .offer button")
        assert page.evaluate(margins) == before
        expect(page.locator("#setting .offer")).to_be_hidden()
    assert Fraction(page.evaluate(BUDGETS)["COUNTY,2"]) == Fraction("0.1449")
    for _ in range(4):
        page.click("#undo")
    assert page.evaluate(BUDGETS) == loss
    expect(page.locator("#setting .offer")).to_be_hidden()
