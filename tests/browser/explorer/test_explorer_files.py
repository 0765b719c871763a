"""The explorer in headless Chromium: files in and out, and what a reload brings back. `make test-browser` runs these."""

import csv
from fractions import Fraction

import pytest
from playwright.sync_api import expect

from safetab.tuning import Tuning
from tests.browser.chromium import saved
from tests.browser.explorer_page import FACTS, field, load, opened, saved_config, set_on, setting_on, show
from tests.commands import done
from tests.explorer_numbers import can_be_drawn, random_config, setting_of
from tests.inside import PRODUCTS, VERSION, parse_config, presets, production_of_2020, write_demo_census

pytestmark = pytest.mark.browser


def test_a_config_is_saved_as_it_was_loaded_and_changed_only_where_it_was_changed(page):
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
def test_a_saved_config_means_what_the_page_shows(page, product):
    show(page, PRODUCTS.index(product))
    configs = [random_config(production_of_2020(product), seed) for seed in range(1000, 1010)]
    for config in (config for config in configs if can_be_drawn(Tuning(config, FACTS))):
        assert set_on(page, setting_of(config)) is None
        read = parse_config(saved_config(page)).require()
        for name in ("privacy_definition", "most_answers", "stage_1_fraction", "zero_suppression_chance", "passes"):
            assert getattr(read, name) == getattr(config, name)
        assert dict(read.budgets) == dict(config.budgets)
        for of_file, of_page in zip(read.families, config.families, strict=True):
            assert all(of_page.thresholds[level] == totals for level, totals in of_file.thresholds.items())


def test_a_config_saved_by_the_page_is_accepted_by_validate(page, tmp_path):
    write_demo_census(tmp_path / "census")
    parameters = tmp_path / "census" / "parameters"
    load(page, (parameters / "config.json").read_text("utf-8"))
    field(page, "Share of each budget for stage 1, gamma").fill("0.2")
    (parameters / "config.json").write_text(saved_config(page), encoding="utf-8")
    done("validate", parameters, tmp_path / "census" / "data")
    assert parse_config((parameters / "config.json").read_text("utf-8")).require().stage_1_fraction == Fraction(1, 5)


def test_a_config_at_fault_is_told_whole_and_changes_nothing(page):
    before = setting_on(page)
    wrong = presets()["2020 production"].replace('"zcdp"', '"<img src=x onerror=alert(1)>"').replace("0.159", "-1", 1)
    load(page, wrong)
    problems = page.locator("#load-problems li").all_text_contents()
    assert len(problems) == 2
    assert any("privacy_defn" in problem for problem in problems)
    assert setting_on(page) == before
    assert page.locator("img").count() == 0
    load(page, "not json")
    assert "line 1" in page.text_content("#load-problems")


def downloaded(page, button):
    return [*csv.reader(saved(page.locator(button))[1].decode("utf-8-sig").splitlines())]


def test_tables_are_downloaded_as_csv(page):
    rows = [row[:-3] for row in downloaded(page, "#save-margins")]
    level = ["us", "County, Detailed", "COUNTY", "Detailed", "persons", "sex_age_23"]
    assert [*level, "total", "95", "75"] in rows
    assert [*level, "sex_marginal", "95", "53"] in rows
    header, *rows = downloaded(page, "#save-curves")
    assert header[0] == "true_size_persons"
    assert len(rows) > 40


def test_every_download_says_which_setting_it_is_of_where_it_is_from_and_when(page):
    page.clock.set_fixed_time("2026-03-09T12:00:00")
    field(page, "Budget of County, Detailed").fill("0.2")
    source = f"safetab {VERSION}. {page.text_content('#source')}"
    for button in ("#save-levels", "#save-margins", "#save-curves"):
        header, *rows = downloaded(page, button)
        assert header[-3:] == ["setting", "source", "date"], button
        assert {tuple(row[-3:]) for row in rows} == {("2020 production, changed", source, "2026-03-09")}, button
        assert {len(row) for row in rows} == {len(header)}


def test_a_configuration_of_the_other_product_brings_it_into_view(page):
    load(page, presets(PRODUCTS[1])["2020 production"])
    assert page.locator("[data-product='1']").get_attribute("aria-pressed") == "true"
    expect(page.locator("#started-from")).to_have_text("Current setting: loaded config.json.")


def test_a_file_with_a_budget_beyond_all_measure_is_refused_in_words(page):
    load(page, presets()["2020 production"].replace("0.159", "1e99", 1))
    assert "can't be drawn" in page.text_content("#load-problems")
    assert page.text_content("#started-from") == "Current setting: 2020 production."


def test_a_reload_and_a_link_bring_the_settings_of_both_products_back(browser, file):
    with opened(browser, file) as one:
        page = one.page
        field(page, "Budget of County, Detailed").fill("0.2")
        field(page, "Share of each budget for stage 1, gamma").fill("0.25")
        show(page, 1)
        field(page, "Threshold for tenure in 3 cells, County, Detailed, tenure, people").fill("1200")
        settings = page.evaluate("[window.explorer.setting(), (window.explorer.show(0), window.explorer.setting())]")
        page.wait_for_url(lambda url: url.endswith("SafeTab-H~t25=1200"))
        address = page.url
        assert address.partition("#")[2] == "set/SafeTab-P~g=0.25~b5=0.2/SafeTab-H~t25=1200"
        page.get_by_role("link", name="Privacy cost").click()
        assert page.url == address
        page.reload()
        assert setting_on(page) == settings[1]
        assert page.text_content("#started-from") == "Current setting: 2020 production, changed."
    with opened(browser, file) as other:
        assert setting_on(other.page) != settings[1]
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


def test_a_restored_setting_says_so_and_can_be_left(browser, file):
    with opened(browser, file) as one:
        page, line = one.page, one.page.locator("#restored")
        assert not line.is_visible()
        losses = page.text_content("#bar-losses")
        page.reload()
        assert not line.is_visible()  # nothing was changed
        page.get_by_role("button", name="Keep the current setting").click()
        show(page, 1)
        field(page, "Budget of County, Detailed, tenure").fill("0.5")
        show(page, 0)
        field(page, "Budget of County, Detailed").fill("50")
        page.wait_for_timeout(600)
        page.goto("about:blank")
        page.goto(file.as_uri())
        today = page.evaluate(
            "new Date().toLocaleDateString('en-US', { year: 'numeric', month: 'long', day: 'numeric' })"
        )
        assert line.text_content() == f"Restored your last setting ({today}). Start fresh"
        assert line.bounding_box()["y"] < page.locator("h1").bounding_box()["y"]
        assert page.text_content("#bar-losses") != losses
        line.get_by_role("button", name="Start fresh").click()
        assert not line.is_visible()
        assert page.text_content("#bar-losses") == losses
        assert page.text_content("#started-from") == "Current setting: 2020 production."
        assert page.locator("#kept-list strong").count() == 0
        assert page.evaluate("document.activeElement.id") == "started-from"
        page.wait_for_timeout(600)
        assert page.evaluate("localStorage.length") == 0
        assert page.url == file.as_uri()
        page.reload()
        assert not line.is_visible()
        assert page.evaluate("(window.explorer.show(1), window.explorer.setting().budgets['COUNTY,2,tenure'])") != "0.5"
        assert one.complaints == []


def test_the_date_is_that_of_the_last_change_and_not_of_the_last_visit(browser, file):
    with opened(browser, file) as one:
        page = one.page
        page.clock.install(time="2026-03-01T12:00:00")
        page.goto(file.as_uri())
        field(page, "Budget of County, Detailed").fill("50")
        page.clock.run_for(1000)
        page.clock.set_system_time("2026-03-09T12:00:00")
        for _ in range(2):
            page.reload()
            page.clock.run_for(1000)
            assert "(March 1, 2026)" in page.text_content("#restored")
        field(page, "Budget of County, Detailed").fill("40")
        page.clock.run_for(1000)
        page.reload()
        assert "(March 9, 2026)" in page.text_content("#restored")


def test_a_link_is_not_called_the_last_setting_until_the_page_comes_back_without_it(browser, file):
    with opened(browser, file) as one:
        page, line = one.page, one.page.locator("#restored")
        page.goto("about:blank")
        page.goto(f"{file.as_uri()}#set/SafeTab-P~b5=0.2")
        assert not line.is_visible()
        page.wait_for_timeout(600)
        page.goto("about:blank")
        page.goto(file.as_uri())
        assert page.text_content("#started-from") == "Current setting: a link, changed."
        assert line.is_visible()
        page.goto("about:blank")
        page.goto(f"{file.as_uri()}#set/SafeTab-P~b5=0.3")
        assert not line.is_visible()


def test_leaving_asks_only_if_something_is_unsaved(page):
    asks = "() => { const leaving = new Event('beforeunload', { cancelable: true }); return !window.dispatchEvent(leaving); }"
    assert not page.evaluate(asks)
    field(page, "Budget of County, Detailed").fill("0.2")
    assert page.evaluate(asks)
    saved_config(page)
    assert not page.evaluate(asks)
