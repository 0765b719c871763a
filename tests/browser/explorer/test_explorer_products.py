"""The explorer in headless Chromium: both products, thresholds for a target error, settings kept by name. `make test-browser` runs these."""

import re

import pytest

from tests.browser.explorer_page import LEVELS, field, numbers_on, opened, settle, show

pytestmark = pytest.mark.browser


def test_both_products_have_settings_of_their_own_and_a_joint_loss(page):
    field(page, "Budget of County, Detailed").fill("0.2")
    page.get_by_role("button", name="Households (SafeTab-H)").click()
    field(page, "Budget of County, Detailed, tenure").fill("0.242869")
    settle(page)
    joint = {path: text for path, text in numbers_on(page) if path.startswith("joint/")}
    assert joint["joint/0/loss/us"] == "8.995302"
    assert joint["joint/1/loss/us"] == "22.975604"  # 4.944 + 0.041 + 2 x (8.895302 + 0.1)
    assert joint["joint/1/loss/pr"] == "12.151268"  # 2.643 + 2 x 4.754134
    assert joint["joint/2/loss/us"] == "27.960604"  # other answers: 2 x 4.985 + 2 x 8.995302
    assert joint["joint/3/loss/us"] == "81.932416"  # a move: 2 x 4.985 + 8 x 8.995302
    assert joint["joint/4/loss/us"] == "28.935302"  # four times 4.985, and once the household
    page.get_by_role("button", name="People (SafeTab-P)").click()
    assert field(page, "Budget of County, Detailed").input_value() == "0.2"
    assert {path: text for path, text in numbers_on(page) if path.startswith("joint/")} == joint


def test_thresholds_of_households_are_in_people(page):
    show(page, 1)
    assert field(page, "Threshold for tenure in 3 cells, County, Detailed, tenure, people").input_value() == "971"
    assert "Least size for household type in … cells, people" in page.text_content("#levels-table")
    assert page.locator("#figure-suppression").is_hidden()


def test_thresholds_for_a_target_error_stand_beside_those_in_force_and_are_taken_over(page):
    row = page.locator("#thresholds tr", has_text="County, Detailed").first
    assert row.locator("td").all_text_contents() == [
        *("110", "880", "971 fits", "1,980", "4,971 high", "5,060", "19,971 high")
    ]
    assert page.text_content("#thresholds [role=status]").startswith("Of 57 thresholds, 0 are too low")
    page.get_by_role("button", name="Use these thresholds").click()
    assert page.evaluate("window.explorer.setting().thresholds['COUNTY,2']") == [880, 1980, 5060]
    page.click("#undo")
    assert page.evaluate("window.explorer.setting().thresholds['COUNTY,2']") == [971, 4971, 19971]
    show(page, 1)
    row = page.locator("#thresholds tr", has_text="County, Detailed").last
    assert row.locator("td").all_text_contents() == ["110", "330", "825", "971 fits"]  # 2.5 people a household
    page.locator("#thresholds").get_by_label("People of the group in a household, on average").fill("3")
    assert row.locator("td").all_text_contents() == ["110", "330", "990", "971 too low"]


def test_up_to_six_settings_are_kept_by_name_and_told_apart_in_words(page):
    keep = page.get_by_role("button", name="Keep the current setting")
    page.get_by_label("Name (optional)").fill("as in 2020")
    keep.click()
    field(page, "Budget of County, Detailed").fill("0.5")
    settle(page)
    words = page.text_content("#compare-words")
    assert words == (
        "Compared with as in 2020: \N{GREEK SMALL LETTER RHO} is 0.341 more (unbounded); margins are smaller at County, Detailed."
    )
    for _ in range(5):
        keep.click()
    assert keep.get_attribute("aria-disabled") == "true"
    page.evaluate("document.getElementById('pin').click()")
    assert page.text_content("#kept-problem") == "You have already kept 6 settings. Remove one first."
    heads = page.locator("#kept-table thead th").all_text_contents()
    assert heads == ["Number", "1 as in 2020", "2 A", "3 B", "4 C", "5 D", "6 E", "Current"]
    page.get_by_role("button", name="Return to as in 2020").click()
    assert page.evaluate("window.explorer.setting().budgets['COUNTY,2']") == "0.159"
    page.get_by_role("button", name="Remove E", exact=True).click()
    assert page.locator("#kept-list li").count() == 5
    show(page, 1)
    assert page.locator("#kept-list li").count() == 0  # each product has its own


def test_a_name_that_is_taken_is_refused_and_a_number_stays_with_its_setting(page):
    name, keep = page.get_by_label("Name (optional)"), page.get_by_role("button", name="Keep the current setting")
    for wanted in ("wide", "narrow", "wide"):
        name.fill(wanted)
        keep.click()
    problem = page.locator("#kept-problem")
    assert (problem.text_content(), name.input_value()) == ("The name wide is taken. Choose another.", "wide")
    name.fill("new")
    assert not problem.is_visible()
    page.get_by_role("button", name="Remove wide").click()
    assert page.locator("#kept-list li .kept-number").all_text_contents() == ["2"]
    keep.click()
    assert page.locator("#kept-list li").evaluate_all("all => all.map(one => one.textContent.slice(0, 4))") == [
        "1new",
        "2nar",
    ]


def test_every_kept_setting_is_on_the_first_picture_by_its_number(page):
    keep = page.get_by_role("button", name="Keep the current setting")
    for budget in ("0.159", "0.159", "0.01"):
        field(page, "Budget of County, Detailed").fill(budget)
        keep.click()
    field(page, "Budget of County, Detailed").fill("2")
    settle(page)
    assert page.locator("#overview-legend .kept-mark text").all_text_contents() == ["1", "2", "3"]
    assert "A, kept" in page.text_content("#overview-legend")
    drawn = page.locator("#overview-chart .kept-mark").evaluate_all(
        "all => all.map(one => [one.querySelector('title').textContent, one.querySelector('text').textContent])"
    )
    assert ["1 A: budget 0.159; 2 B: budget 0.159", "12"] in drawn
    assert ["3 C: budget 0.01", "3"] in drawn


def test_kept_settings_stand_beside_each_field_where_they_differ_and_outlive_a_reload(browser, file):
    with opened(browser, file) as one:
        assert_kept_settings_stay(one.page)


def assert_kept_settings_stay(page):
    page.get_by_label("Name (optional)").fill("as in 2020")
    page.get_by_role("button", name="Keep the current setting").click()
    field(page, "Budget of County, Detailed").fill("0.5")
    field(page, "Most race codes counted for a person").fill("5")
    field(page, "Threshold for sex by 4 ages, County, Detailed, persons").fill("500")
    settle(page)
    row = page.locator("#levels-table tr", has_text="County, Detailed").first
    beside = ["0.159 1 as in 2020", "11 1 as in 2020", "971 1 as in 2020"]
    assert row.locator(".others > span").all_text_contents() == beside
    assert page.locator("#whole-run .others > span").all_text_contents() == ["8 1 as in 2020"]
    page.wait_for_timeout(600)
    page.reload()
    assert page.locator("#kept-list strong").all_text_contents() == ["as in 2020"]
    assert row.locator(".others > span").all_text_contents() == beside
    assert page.get_by_role("button", name="Compare with as in 2020").get_attribute("aria-pressed") == "true"


def test_households_have_their_units_on_the_axis_and_the_total_in_sight(page):
    labels = page.locator("#overview-chart .axis-label")
    assert "persons" in labels.all_text_contents()
    show(page, 1)
    assert "households (margins), people (thresholds)" in labels.all_text_contents()
    heads = page.locator("#sizes-relative thead th")
    assert heads.all_text_contents()[:2] == ["Table", "total"]
    place = page.locator("#sizes-relative .scroll").bounding_box()
    total = heads.nth(1).bounding_box()
    assert total["x"] + total["width"] <= place["x"] + place["width"]


@pytest.mark.parametrize("product", LEVELS)
def test_every_epsilon_has_its_delta_and_says_which_neighbours_are_meant(page, product):
    show(page, product)
    page.evaluate("document.getElementById('pin').click()")
    settle(page)
    said = page.evaluate("""() => [...document.querySelectorAll('[data-number*="epsilon"]')].map(one => {
        const cell = one.closest("td, dd"), table = one.closest("table"), column = cell.cellIndex;
        const head = column === undefined ? [] : [...table.querySelectorAll("thead tr")].map(row => row.cells[column]?.textContent);
        return [one.dataset.number, [cell.closest("tr, div").textContent, table?.caption.textContent, ...head].join(" ")];
    })""")
    assert len(said) > 30
    for path, words in said:
        assert "\N{GREEK SMALL LETTER DELTA}" in words or "pure" in words, (path, words)
        assert re.search("bounded|joins or leaves|added or removed|answers change|moves to", words), (path, words)
    shown = {path: {text for of, text in numbers_on(page) if of == path} for path, _ in said}
    assert shown["loss/whole_run/unbounded_epsilon"] == shown["compare/a/loss/whole_run/unbounded_epsilon"]
    assert len(shown["loss/whole_run/unbounded_epsilon"]) == 1
