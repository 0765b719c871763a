"""The explorer in headless Chromium: the first picture, and charts that are read off. `make test-browser` runs these."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.explorer_page import field, opened, setting_on

pytestmark = pytest.mark.browser


def test_the_relative_error_reaches_as_high_as_the_numbers(page):
    page.evaluate("window.explorer.look('STATE,1')")
    drawn = page.locator("#figure-relative .chart-image path.line").last.get_attribute("d")
    heights = [float(height) for height in re.findall(r"[ML][\d.]+ ([\d.]+)", drawn)]
    assert heights[0] < heights[1] < heights[2]  # the y of SVG grows downwards: no flat start


@pytest.mark.parametrize("width", [390, 1440])
def test_the_marks_of_the_first_picture_are_dragged_and_fields_follow(browser, file, width):
    with opened(browser, file, viewport={"width": width, "height": 900}) as one:
        page = one.page
        for what, index in (("budget", 0), ("margin", 0), ("threshold", 1)):
            before = setting_on(page)
            mark = page.locator(f'[data-mark="{what}"][data-level="COUNTY,2"][data-index="{index}"]')
            mark.scroll_into_view_if_needed()
            box = mark.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x - 10, y)
            page.mouse.move(x - 20, y)
            page.mouse.up()
            after = setting_on(page)
            if what == "threshold":
                assert after["thresholds"]["COUNTY,2"][1] < before["thresholds"]["COUNTY,2"][1]
            else:  # a smaller margin takes a larger budget
                assert (float(after["budgets"]["COUNTY,2"]) < float(before["budgets"]["COUNTY,2"])) == (
                    what == "budget"
                )
            expect(field(page, "Budget of County, Detailed")).to_have_value(after["budgets"]["COUNTY,2"])
            page.click("#undo")
            assert setting_on(page) == before, "one drag is one step"
        assert one.complaints == []


def test_more_begins_with_the_picture_of_all_levels_and_the_line_of_2020(page):
    for _ in range(2):  # hides it and shows it again
        page.click("#more-button")
    assert page.locator("#overview-chart").bounding_box()["y"] < 450
    assert page.locator("#setting").bounding_box()["y"] < 900  # beside it
    assert "2020 Detailed DHC-A: \N{GREEK SMALL LETTER RHO} = 4.944" in page.text_content("#overview-losses")
    county = page.locator('#overview-chart [data-number="levels/COUNTY,2/smallest_published/95"]')
    assert county.text_content() == "31"


@pytest.mark.parametrize(
    "figure", ["figure-suppression", "figure-bias", "figure-tables", "figure-relative", "cost-curve"]
)
def test_pointing_at_a_curve_or_the_arrow_keys_read_it_off(page, figure):
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
