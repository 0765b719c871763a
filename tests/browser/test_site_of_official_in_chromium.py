"""The site of a release that `safetab official` read, in headless Chromium: X, and totals whose table is not known."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import safetab
from tests.browser.chromium import chromium, opened
from tests.inside import VERSION, write_site
from tests.official_forms import numbers_in, read_again, write_persons
from tests.releases import Row

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("official")
    made = write_persons(folder / "world")
    read_again(made, folder / "totals", files=[made.census / "T01001.csv"])
    read_again(made, folder / "whole", "--complete")
    for name in ("totals", "whole"):
        write_site(folder / name, folder / f"{name}-site")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def first_row(release: Path, levels: set[str], status: str) -> tuple[str, Row]:
    """A total of some levels with a status; with its route."""
    for (level, region, code, table_id, _), row in numbers_in(release).items():
        is_total_only = row["least_margin_of_error"] is None and release.name == "totals"
        if level in levels and table_id == "T01001" and row["status"] == status and not is_total_only:
            return f"#/area/{level}/{region}/{code}", row
    raise AssertionError("there is none")


def texts_at(page: Page, route: str) -> str:
    page.evaluate("document.querySelector('main').replaceChildren()")
    page.evaluate("route => { location.hash = route; }", route)
    page.wait_for_selector("main:not([aria-busy]) h1")
    return " ".join(page.locator("main").inner_text().split())


def test_a_number_that_the_bureau_withheld_is_no_number(browser, folder):
    route, row = first_row(folder / "whole", {"STATE", "COUNTY", "PLACE", "TRACT", "AIANNH"}, "withheld")
    with opened(browser, folder / "whole-site" / "index.html") as watched:
        page = watched.page
        page.wait_for_selector("main h1")
        text = texts_at(page, route)
        assert "No number It was measured; the files that were read show X in its place." in text
        assert page.locator(".give-or-take").count() == 0
        area = texts_at(page, route.rpartition("/")[0])
        assert f"{row['iteration_name']} withheld" in area
        assert watched.complaints == []


def test_a_download_says_that_the_numbers_were_read(browser, folder):
    with opened(browser, folder / "whole-site" / "index.html") as watched:
        watched.page.wait_for_selector("main h1")
        texts_at(watched.page, "#/area/USA/1")
        with watched.page.expect_download() as download:
            watched.page.get_by_role("button", name="Download as CSV").click()
        text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    rows = csv.DictReader(io.StringIO(text))
    told = {(row["release_status"], row["source"]) for row in rows}
    assert told == {("test key, not for release", f"SafeTab-P, read by safetab {VERSION}")}


def test_a_total_of_an_unknown_table_has_both_ends_of_its_margin(browser, folder):
    route, row = first_row(folder / "totals", {"COUNTY"}, "published")
    least, margin = row["least_margin_of_error"], row["margin_of_error"]
    estimate = safetab.open_release(folder / "totals").total(row["region_id"], row["iteration_code"], level="county")
    low, high = estimate.interval
    with opened(browser, folder / "totals-site" / "index.html") as watched:
        page = watched.page
        page.wait_for_selector("main h1")
        text = texts_at(page, route)
        assert f"{estimate.value} people ± {margin}, or as little as ± {least}: {low} to {high}" in text
        assert "The files don't say which table the group got" in text
        assert "too small here" not in text
        area = texts_at(page, route.rpartition("/")[0])
        assert f"± {least} to {margin}" in area
        texts_at(page, f"#/group/{row['iteration_code']}/county")
        assert f"± {least} to {margin}" in page.locator("table.list").inner_text()
        sides = [
            one.removeprefix("#/area/") for one in (route, first_row(folder / "totals", {"STATE"}, "published")[0])
        ]
        compared = texts_at(page, f"#/compare/{'/'.join(sides)}")
        assert "or less often: the table of a group is not known." in compared
        assert watched.complaints == []


def test_the_page_says_who_made_the_numbers_and_who_read_them(browser, folder):
    for name in ("whole", "totals"):
        with opened(browser, folder / f"{name}-site" / "index.html") as watched:
            watched.page.wait_for_selector("main h1")
            for text in (texts_at(watched.page, "#/about"), watched.page.locator("#source").inner_text()):
                assert f"SafeTab-P. Read by safetab {safetab.__version__} on " in text
                assert safetab.open_release(folder / name).output_status.line in text
                assert "Made by safetab" not in text
                assert ", released " not in text
                assert ("Where the files don't say which table a group got" in text) == (name == "totals")
