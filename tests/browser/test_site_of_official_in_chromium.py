"""The site of a release that `safetab official` read, in headless Chromium: X, and totals whose table is not known."""

import pytest

import safetab
from tests.browser.chromium import go, opened_site, saved_rows
from tests.inside import VERSION, write_site
from tests.official_forms import numbers_in, read_again, write_persons

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("official")
    made = write_persons(folder / "world")
    read_again(made, folder / "totals", files=[made.census / "T01001.csv"])
    read_again(made, folder / "whole", "--complete")
    for name in ("totals", "whole"):
        write_site(folder / name, folder / f"{name}-site")
    return folder


def first_row(release, levels, status):
    """A total of some levels with a status; with its route."""
    for (level, region, code, table_id, _), row in numbers_in(release).items():
        is_total_only = row["least_margin_of_error"] is None and release.name == "totals"
        if level in levels and table_id == "T01001" and row["status"] == status and not is_total_only:
            return f"#/area/{level}/{region}/{code}", row
    raise AssertionError("there is none")


def text_at(page, route):
    go(page, route)
    return " ".join(page.inner_text("main").split())


def test_a_number_that_the_bureau_withheld_is_no_number(browser, folder):
    route, row = first_row(folder / "whole", {"STATE", "COUNTY", "PLACE", "TRACT", "AIANNH"}, "withheld")
    with opened_site(browser, folder / "whole-site") as page:
        assert "show X in its place" in text_at(page, route)
        assert page.locator(".give-or-take").count() == 0
        assert f"{row['iteration_name']} withheld" in text_at(page, route.rpartition("/")[0])


def test_a_download_says_that_the_numbers_were_read(browser, folder):
    with opened_site(browser, folder / "whole-site") as page:
        go(page, "#/area/USA/1")
        told = {(row["release_status"], row["source"]) for row in saved_rows(page)}
    assert told == {("test key, not for release", f"SafeTab-P, read by safetab {VERSION}")}


def test_a_total_of_an_unknown_table_has_both_ends_of_its_margin(browser, folder):
    route, row = first_row(folder / "totals", {"COUNTY"}, "published")
    least, margin = row["least_margin_of_error"], row["margin_of_error"]
    estimate = safetab.open_release(folder / "totals").total(row["region_id"], row["iteration_code"], level="county")
    low, high = estimate.interval
    other, _ = first_row(folder / "totals", {"STATE"}, "published")
    with opened_site(browser, folder / "totals-site") as page:
        text = text_at(page, route)
        assert f"{estimate.value} people ± {margin}, or as little as ± {least}: {low} to {high}" in text
        assert "don't say which table" in text
        assert "too small here" not in text
        for view in (route.rpartition("/")[0], f"#/group/{row['iteration_code']}/county"):
            assert f"± {least} to {margin}" in text_at(page, view)
        compared = text_at(page, f"#/compare/{'/'.join(one.removeprefix('#/area/') for one in (route, other))}")
        assert "table of a group is not known" in compared


def test_the_page_says_who_made_the_numbers_and_who_read_them(browser, folder):
    for name in ("whole", "totals"):
        with opened_site(browser, folder / f"{name}-site") as page:
            for text in (text_at(page, "#/about"), page.inner_text("#source")):
                assert f"SafeTab-P. Read by safetab {VERSION} on " in text
                assert safetab.open_release(folder / name).output_status.line in text
                assert "Made by safetab" not in text
                assert ", released " not in text
                assert ("don't say which table" in text) == (name == "totals")
