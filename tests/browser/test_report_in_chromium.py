"""The pages in headless Chromium: wide, narrow, dark and printed. `make test-browser` runs these."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

import safetab
from tests.browser.chromium import axe_violations, opened
from tests.browser.chromium import chromium as started_chromium
from tests.inside import write_demo_census

pytestmark = pytest.mark.browser
each_page = pytest.mark.parametrize("page", ["report.html", "accuracy.html"])
DARK = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")
PAGES = {"report.html": "Points to check", "accuracy.html": "How good are the numbers?"}
MEASURING = """<!doctype html><title>waiting</title>
<iframe src="{page}" style="border:0;width:{width}px;height:800px"></iframe>
<script>
document.querySelector("iframe").onload = (event) => {{
  const page = event.target.contentDocument;
  const style = event.target.contentWindow.getComputedStyle(page.body);
  document.title = [page.documentElement.scrollWidth, style.backgroundColor, page.styleSheets.length].join("; ");
}};
</script>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a report, and pages that look at it."""
    folder = tmp_path_factory.mktemp("browser")
    write_demo_census(folder / "census")
    safetab.run(folder / "census" / "parameters", folder / "census" / "data", folder / "out")
    shutil.copy(folder / "out" / "report.html", folder / "report.html")
    census = folder / "census"
    other = Path(shutil.copytree(census / "parameters", census / "more-for-counties"))
    config = json.loads((other / "config.json").read_text())
    more = {key: 4 * config[key] for key in config if key.endswith("_county")}
    (other / "config.json").write_text(json.dumps(config | more))
    options = {"against": other, "runs": 3}
    safetab.accuracy(census / "parameters", census / "data", folder / "accuracy", **options)
    shutil.copy(folder / "accuracy" / "accuracy.html", folder / "accuracy.html")
    for page in PAGES:
        for width in (390, 1280):
            (folder / f"measure-{width}-{page}").write_text(MEASURING.format(width=width, page=page))
    (folder / "blank.html").write_text("<!doctype html><title>blank</title>")
    (folder / "faulty.html").write_text("<!doctype html><title>x</title><script>nothing.here()</script>")
    return folder


class _Recording(SimpleHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(folder: Path) -> Iterator[str]:
    _Recording.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Recording, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def chromium(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "there is no chromium: apt-get install chromium"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]
    own = f"--user-data-dir={tmp_path / 'profile'}"
    return subprocess.run([program, *options, own, *words], capture_output=True, text=True, timeout=120, check=True)


def measured(tmp_path: Path, site: str, page: str, width: int, *words: str) -> list[str]:
    measuring = f"{site}/measure-{width}-{page}"
    found = chromium(tmp_path, *words, "--virtual-time-budget=10000", "--dump-dom", measuring)
    return re.search("<title>(.*?)</title>", found.stdout)[1].split("; ")


def screenshot(tmp_path: Path, page: Path, width: int) -> bytes:
    picture = tmp_path / f"{page.stem}-{width}.png"
    chromium(tmp_path, f"--window-size={width},1600", f"--screenshot={picture}", page.as_uri())
    return picture.read_bytes()


@each_page
def test_axe_finds_nothing(folder, page):
    with started_chromium() as browser, opened(browser, folder / page) as watched:
        assert axe_violations(watched.page) == []


@each_page
def test_the_page_loads_from_a_file_without_a_complaint(folder, tmp_path, page):
    told = chromium(tmp_path, "--dump-dom", (folder / page).as_uri())
    assert "CONSOLE" not in told.stderr
    assert PAGES[page] in told.stdout
    assert "CONSOLE" in chromium(tmp_path, "--dump-dom", (folder / "faulty.html").as_uri()).stderr  # we would know


@each_page
def test_the_page_asks_a_server_for_itself_alone(site, tmp_path, page):
    chromium(tmp_path, "--virtual-time-budget=5000", "--dump-dom", f"{site}/{page}")
    assert _Recording.asked == [f"/{page}"]


@each_page
@pytest.mark.parametrize("width", [500, 1280])
def test_screenshots_are_not_blank(folder, tmp_path, width, page):
    shown, blank = (screenshot(tmp_path, folder / name, width) for name in (page, "blank.html"))
    assert len(shown) > 10 * len(blank)


@each_page
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_never_wider_than_the_screen(site, tmp_path, width, page):
    scroll_width, _, styles = measured(tmp_path, site, page, width)
    assert int(scroll_width) == width
    assert styles == "1"


@each_page
def test_the_page_is_light_or_dark_as_the_reader_likes(site, tmp_path, page):
    assert measured(tmp_path, site, page, 1280)[1] == "rgb(255, 255, 255)"
    assert measured(tmp_path, site, page, 1280, *DARK)[1] == "rgb(18, 22, 27)"


@each_page
def test_the_page_prints_without_half_empty_sheets(folder, page):
    """Sheets beside the height of the page, as it is printed, in sheets of A4 without their margins."""
    with (
        started_chromium() as browser,
        opened(browser, folder / page, viewport={"width": 688, "height": 1017}) as watched,
    ):
        sheets = len(re.findall(rb"/Type\s*/Page\b", watched.page.pdf(format="A4", prefer_css_page_size=True)))
        watched.page.emulate_media(media="print")
        height = watched.page.evaluate("document.documentElement.scrollHeight") / 1017
    assert 3 < height <= sheets <= 1.15 * height + 1


OVERPRINTED = """() => [...document.querySelectorAll(".plot svg")].flatMap((drawing) => {
  const boxes = [...drawing.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([a, one], n) => boxes.slice(n + 1).filter(([, other]) => one.left < other.right - 1
    && other.left < one.right - 1 && one.top < other.bottom - 3 && other.top < one.bottom - 3).map(([b]) => `${a}/${b}`));
})"""
CUT = """() => [...document.querySelectorAll(".plot svg")].flatMap((drawing) => {
  const { left, right } = drawing.getBoundingClientRect();
  return [...drawing.querySelectorAll("text")].filter((text) => text.getBoundingClientRect().right > right
    || text.getBoundingClientRect().left < left).map((text) => text.textContent);
})"""
SCALES = """() => [...document.querySelectorAll(".plots")].map((row) => [...row.querySelectorAll("svg")].map(
    (drawing) => [...drawing.querySelectorAll("text")].map((text) => text.textContent).join("; ")))"""


def test_plots_are_compared_on_one_scale_and_no_text_is_printed_over_another(folder):
    with started_chromium() as browser, opened(browser, folder / "accuracy.html") as watched:
        assert watched.page.evaluate(OVERPRINTED) == []
        assert watched.page.evaluate(CUT) == []
        scales = [set(row) for row in watched.page.evaluate(SCALES)]
        assert len(scales) == 6  # share and error of two configurations; error, relative error; tables; suppression
        assert [len(row) for row in scales] == [1, 1, 1, 1, 2, 2]  # thresholds close up and bias have axes of their own
        watched.page.add_style_tag(content=".plot text { font-size: 40px !important; }")
        assert watched.page.evaluate(OVERPRINTED) != []  # we would know


def test_the_comparison_comes_first_and_names_both(folder):
    with started_chromium() as browser, opened(browser, folder / "accuracy.html") as watched:
        page = watched.page
        assert page.locator("main h2").first.text_content() == "parameters, against more-for-counties"
        assert page.locator("#comparison .legend li").all_text_contents() == ["parameters", "more-for-counties"]
        assert "the other" not in page.locator("#comparison").text_content()


def test_the_verdict_of_a_class_is_seen_however_long_the_names_are(folder):
    """Both names of a comparison are made as long as folders get."""
    page = (folder / "accuracy.html").read_text(encoding="utf-8")
    (folder / "long.html").write_text(page.replace("more-for-counties", "more_for_counties_" * 4), encoding="utf-8")
    with started_chromium() as browser, opened(browser, folder / "long.html") as watched:
        watched.page.set_viewport_size({"width": 1440, "height": 900})
        region = watched.page.get_by_role("group", name="Class by class").first
        assert region.evaluate("(one) => one.scrollWidth - one.clientWidth") == 0
        verdicts = region.locator("td:nth-child(3)").all_text_contents()
        assert "gain" in verdicts
        assert set(verdicts) <= {"gain", "mixed", "same", "lose"}
