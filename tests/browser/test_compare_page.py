"""The page of a comparison in headless Chromium: wide, narrow, dark and printed. `make test-browser` runs these."""

from dataclasses import replace

import pytest

from tests.browser.chromium import CUT_OFF, WIDTH, axe_violations, opened, sheets
from tests.inside import compare_page
from tests.unit.apps.compare.sample_comparison import sample_comparison

pytestmark = pytest.mark.browser
COLOURS = """() => [...new Set([...document.querySelectorAll("table td")].map((cell) =>
  getComputedStyle(cell).color + getComputedStyle(cell).backgroundColor))]"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A page with twelve protections, two more than the sample has."""
    sample = sample_comparison()
    more = [
        replace(one, protection=replace(one.protection, spec=f"{one.protection.spec},again=yes"))
        for one in sample.protections[:2]
    ]
    shown = [
        replace(one, printed={**one.printed, **{each.protection.spec: "1" for each in more}}) for one in sample.shown
    ]
    file = tmp_path_factory.mktemp("compare") / "compare.html"
    larger = replace(sample, protections=(*sample.protections, *more), shown=tuple(shown))
    file.write_text(compare_page(larger), encoding="utf-8")
    with opened(browser, file, viewport={"width": 1070, "height": 741}) as watched:
        yield watched.page
        assert watched.requests == [file.as_uri()]
        assert watched.complaints == []


def test_the_page_is_read_on_every_screen(page):
    assert axe_violations(page) == []  # ends on a narrow screen
    assert page.evaluate(WIDTH) == 390
    assert len(page.evaluate(COLOURS)) == 1  # no cell stands out
    assert page.locator("header li").count() == 6
    assert page.locator("figure svg").count() == 3
    assert not page.locator(".on-paper").first.is_visible()
    region = page.get_by_role("group", name="Exposed in Example County")
    region.focus()
    assert region.evaluate("(one) => one === document.activeElement")
    assert region.get_by_role("rowheader").count() == 13  # the protections and the baseline


def test_the_page_prints_on_two_sheets_with_nothing_cut_off(page):
    page.set_viewport_size({"width": 1070, "height": 741})
    for paper in ("A4", "Letter"):
        assert sheets(page, format=paper, prefer_css_page_size=True) == 2
    page.emulate_media(media="print")
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate(WIDTH) <= 1070
    assert page.locator("#does-not-say li").last.is_visible()
    assert page.locator(".on-paper").first.is_visible()
