"""Debian's Chromium, driven by playwright, without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

SCREENS = (
    (1400, "light", {}),
    (1400, "dark", {"runOnly": ["color-contrast"]}),
    (390, "light", {"runOnly": ["scrollable-region-focusable", "region", "meta-viewport"]}),
)
"""Screens on which axe looks at a page. On all but the first, only rules whose answer may differ there."""

CUT_OFF = """() => [...document.querySelectorAll("main td, main th")].filter(
  (cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent)"""
"""The cells of tables whose text does not fit."""


@contextmanager
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "chromium is not installed: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Watched:
    """A page opened from a file, and what it asked for and complained of."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(file.as_uri())


@contextmanager
def opened(browser: Browser, file: Path, **options: object) -> Iterator[Watched]:
    context = browser.new_context(offline=True, accept_downloads=True, **options)
    try:
        yield Watched(context.new_page(), file)
    finally:
        context.close()


def axe_violations(page: Page) -> list[str]:
    """What axe finds on a page: wide and narrow, light and dark."""
    found = []
    for width, scheme, rules in SCREENS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        answer = Axe().run(page, options={"resultTypes": ["violations"], "preload": False, **rules}).response
        found += [
            f"{width} px, {scheme}, {one['id']}: {node['html'][:160]}"
            for one in answer["violations"]
            for node in one["nodes"]
        ]
    return found
