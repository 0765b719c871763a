"""The documentation's search in headless Chromium: pages that say how to do something come before records of decisions."""

import pytest

from tests.conftest import PROJECT

pytestmark = pytest.mark.browser
PAGES = ["decisions/0004-exact-margins-of-error", "CHANGELOG", "reference/python", "noise", "how-to/read-a-release"]


def test_how_tos_come_before_decisions(browser):
    results = [[page, "A title", "", None, 5, "page.md", "text"] for page in PAGES]
    page = browser.new_page()
    page.add_script_tag(path=PROJECT / "tools" / "docs" / "site" / "scorer.js")
    scores = page.evaluate("(results) => results.map((result) => Scorer.score(result))", results)
    page.close()
    ranked = sorted(PAGES, key=lambda name: -scores[PAGES.index(name)])
    assert ranked == ["how-to/read-a-release", "noise", "reference/python", *PAGES[:2]]
