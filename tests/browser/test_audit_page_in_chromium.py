"""The page of an audit in headless Chromium: wide, narrow, dark and printed. `make test-browser` runs these."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import CUT_OFF, axe_violations, chromium, opened
from tests.inside import AuditReport, LossSeen, audit, parts_of_audit, review_page, verdict

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real part of the audit, with two verdicts more: a fault, and one that is not shown."""
    parts = parts_of_audit(is_quick=True)
    draws, long = parts[0], f"a_very_long_name_of_a_file_that_differs_{'x' * 40}.parquet differs"
    found = [
        *audit([draws]),
        (parts[2], verdict("equal numbers, equal bytes", [long], "40 files, including the log")),
        (parts[5], verdict("loss: 1 group", [], "40 samples are too few to show any loss here", could_find=False)),
        (parts[7], replace(verdict("loss: 9 groups", [], "4,000 samples"), loss=LossSeen(0.878, 1.165))),
    ]
    file = tmp_path_factory.mktemp("audit") / "audit.html"
    file.write_text(review_page(AuditReport(tuple(found), True, datetime.date(2026, 1, 2))), encoding="utf-8")
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_read_on_every_screen(browser, page, width, scheme):
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with opened(browser, page, **options) as watched:
        assert watched.requests == [page.as_uri()]
        assert watched.complaints == []
        shown = watched.page
        assert shown.evaluate("document.documentElement.scrollWidth") == width
        assert shown.evaluate(CUT_OFF) == []
        shown.add_style_tag(content=".claims th, .words thead th { overflow-wrap: normal }")
        assert shown.evaluate(CUT_OFF) == [], "a word is broken in its middle"
        background = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}[scheme]
        assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == background
        lines = shown.locator("header li").all_inner_texts()
        assert len(lines) == 5
        assert lines[1].split("\n")[-1].endswith("Do not release anything with this installation.")
        assert shown.locator(".verdict").inner_text().endswith("5 checks: 3 passed, 1 failed, 1 not shown.")
        results = shown.locator(".checks td:nth-child(2)").all_inner_texts()
        assert results == ["passed", "passed", "FAILED", "not shown", "passed"]
        assert shown.locator(".checks .result-failed").last.inner_text().startswith("a_very_long_name")
        tables = shown.locator("main .scroll").all()
        assert all(table.evaluate("(one) => one.scrollWidth <= one.clientWidth + 1") for table in tables)


def test_a_reader_without_eyes_or_mouse_gets_the_tables(browser, page):
    with opened(browser, page, viewport={"width": 390, "height": 900}) as watched:
        region = watched.page.get_by_role("group", name="Checks: Noise has the right distribution")
        region.focus()
        assert region.evaluate("(one) => one === document.activeElement")
        assert region.get_by_role("columnheader").all_inner_texts()[:2] == ["Tried on", "Result"]
        assert (
            region.locator("th[scope=rowgroup]").first.inner_text().startswith("Noise has its distribution. Each value")
        )
        assert watched.page.get_by_role("heading", level=1).count() == 1
        assert axe_violations(watched.page) == []


def test_the_page_prints_on_a_few_sheets_with_nothing_cut_off(browser, page):
    with opened(browser, page, viewport={"width": 688, "height": 1017}) as watched:
        sheets = len(re.findall(rb"/Type\s*/Page\b", watched.page.pdf(format="A4", prefer_css_page_size=True)))
        watched.page.emulate_media(media="print")
        assert watched.page.evaluate(CUT_OFF) == []
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 688
    assert sheets <= 3
