"""Debian's Chromium, driven by playwright, without a network."""

import csv
import io
import re
import shutil
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

SCREENS = (
    (1400, "light", {}),
    (1400, "dark", {"runOnly": ["color-contrast"]}),
    (390, "light", {"runOnly": ["scrollable-region-focusable", "region", "meta-viewport"]}),
)
"""Screens on which axe looks at a page. On all but the first, only rules whose answer may differ there."""

WIDTH, HEIGHT = "document.documentElement.scrollWidth", "document.documentElement.scrollHeight"
GROUND = "getComputedStyle(document.body).backgroundColor"
GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}
A4 = {"width": 688, "height": 1017}
"""A sheet without its margins."""

CUT_OFF = """() => [...document.querySelectorAll("main td, main th")].filter(
  (cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent)"""
"""The cells of tables whose text does not fit."""


@contextmanager
def chromium():
    program = shutil.which("chromium")
    assert program, "chromium is not installed: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Watched:
    """A page, and what it asked for and complained of."""

    def __init__(self, page, address):
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)


@contextmanager
def opened(browser, file, **options):
    """A file, or an address if the page isn't offline."""
    context = browser.new_context(**{"offline": True, "accept_downloads": True} | options)
    try:
        yield Watched(context.new_page(), file if isinstance(file, str) else file.as_uri())
    finally:
        context.close()


@contextmanager
def opened_site(browser, site, **options):
    """The first view of a site, which asks for nothing but its files, and complains of nothing."""
    with opened(browser, site / "index.html", **options) as watched:
        watched.page.wait_for_selector("main h1")
        yield watched.page
        assert watched.complaints == []
        assert {url.split(":")[0] for url in watched.requests} <= {"file", "blob"}


@contextmanager
def served(folder):
    """The address of a server of a folder, and the paths that it is asked for."""
    asked = []

    class Recording(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Recording, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()


def go(page, route):
    """Shows a view of a site and waits until it stands."""
    page.evaluate("document.querySelector('main').replaceChildren()")
    page.evaluate("route => { if (location.hash === route) location.hash = '#/about'; location.hash = route; }", route)
    page.wait_for_selector("main:not([aria-busy]) h1")


def saved(button):
    """The name and the bytes of the file that a button saves."""
    with button.page.expect_download() as download:
        button.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def saved_rows(page):
    """The rows of the view of a site as CSV."""
    text = saved(page.get_by_role("button", name="Download as CSV"))[1].decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def sheets(page, **options):
    """On how many sheets a page is printed."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(**{"format": "A4"} | options)))


def luminance(colour):
    """Of #010203, or of a list of numbers that begins with red, green and blue."""
    parts = (
        [int(part, 16) for part in re.findall("[0-9a-f]{2}", colour)]
        if colour.startswith("#")
        else re.findall(r"\d+", colour)
    )
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4
        for one in (int(part) / 255 for part in parts[:3])
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def axe_violations(page):
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
