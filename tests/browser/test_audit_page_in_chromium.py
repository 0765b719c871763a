"""The page of an audit in headless Chromium: wide, narrow, dark and printed. `make test-browser` runs these."""

import datetime
import re
from dataclasses import replace

import pytest

from tests.browser.chromium import A4, CUT_OFF, GROUND, GROUNDS, WIDTH, axe_violations, opened, sheets
from tests.inside import AuditReport, LossSeen, audit, parts_of_audit, review_page, verdict

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A real part of the audit, with two verdicts more: a fault, and one that is not shown."""
    parts, long = parts_of_audit(is_quick=True), f"a_very_long_name_of_a_file_that_differs_{'x' * 40}.parquet differs"
    found = (
        *audit(parts[:1]),
        (parts[2], verdict("equal numbers, equal bytes", [long], "40 files, including the log")),
        (parts[5], verdict("loss: 1 group", [], "40 samples are too few to show any loss here", could_find=False)),
        (parts[7], replace(verdict("loss: 9 groups", [], "4,000 samples"), loss=LossSeen(0.878, 1.165))),
    )
    file = tmp_path_factory.mktemp("audit") / "audit.html"
    file.write_text(review_page(AuditReport(found, True, datetime.date(2026, 1, 2))), encoding="utf-8")
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_read_on_every_screen(browser, page, width, scheme):
    with opened(browser, page, viewport={"width": width, "height": 900}, color_scheme=scheme) as watched:
        assert watched.requests == [page.as_uri()]
        assert watched.complaints == []
        shown = watched.page
        assert shown.evaluate(WIDTH) == width
        assert shown.evaluate(CUT_OFF) == []
        shown.add_style_tag(content=".claims th, .words thead th { overflow-wrap: normal }")
        assert shown.evaluate(CUT_OFF) == [], "a word is broken in its middle"
        assert shown.evaluate(GROUND) == GROUNDS[scheme]
        assert shown.locator("header li").count() == 5
        assert re.findall(r"\d+", shown.inner_text(".verdict"))[-4:] == ["5", "3", "1", "1"]
        results = shown.locator(".checks td:nth-child(2)").all_inner_texts()
        assert results == ["passed", "passed", "FAILED", "not shown", "passed"]
        assert shown.locator(".checks .result-failed").last.inner_text().startswith("a_very_long_name")
        wide = "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).length"
        assert shown.locator("main .scroll").evaluate_all(wide) == 0


def test_a_reader_without_eyes_or_mouse_gets_the_tables(browser, page):
    with opened(browser, page, viewport={"width": 390, "height": 900}) as watched:
        region = watched.page.get_by_role("group", name="Checks: Noise has the right distribution")
        region.focus()
        assert region.evaluate("(one) => one === document.activeElement")
        assert region.get_by_role("columnheader").all_inner_texts()[:2] == ["Tried on", "Result"]
        assert region.locator("th[scope=rowgroup]").count()
        assert watched.page.get_by_role("heading", level=1).count() == 1
        assert axe_violations(watched.page) == []


def test_the_page_prints_on_a_few_sheets_with_nothing_cut_off(browser, page):
    with opened(browser, page, viewport=A4) as watched:
        assert sheets(watched.page, prefer_css_page_size=True) <= 3
        watched.page.emulate_media(media="print")
        assert watched.page.evaluate(CUT_OFF) == []
        assert watched.page.evaluate(WIDTH) <= A4["width"]
