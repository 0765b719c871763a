"""Takes the pictures from the pages that `make pictures` wrote: `demo`, `nz` and `compare` in build/."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

PICTURES = Path(__file__).parent
BUILD = PICTURES.parents[1] / "build"
WIDTH_PIXELS = 1400
MARGIN_PIXELS = 12


@dataclass(frozen=True, slots=True)
class Picture:
    """A page from one of its elements down to another. A narrower window makes larger letters.

    `button` is pressed first.
    """

    name: str
    page: str
    first: str
    last: str
    window_pixels: int
    button: str = ""


PICTURED = (
    Picture("nz", "nz/site/index.html#/area/region/03/331", "body", "table.bars", 1120),
    Picture("site", "demo/site/index.html#/area/COUNTY/44007/1167", "body", "table.pyramid", 1120),
    Picture("sums", "demo/site/index.html#/area/COUNTY/44007/1167", ".adding", ".adding", 1120, "Under 18 years"),
    Picture("map", "demo/site/index.html#/group/1002/county", "figure.map", "figure.map", 1120),
    Picture("households", "demo/site-households/index.html#/area/COUNTY/44007/1167", ".crumbs", "table.bars", 1120),
    Picture("report", "demo/output/report.html", "header", "header ol, header ul", 1120),
    Picture("compare", "compare/compare.html", "#committee-title", "#committee table", 1300),
    Picture("explorer", "demo/explorer.html", "header", "#opening", 1400),
)


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for picture in PICTURED:
            file = _take(picture, browser)
            sys.stdout.write(f"Wrote {file.name}: {file.stat().st_size / 1000:.0f} kB\n")
        browser.close()


def _take(picture: Picture, browser: Browser) -> Path:
    width = picture.window_pixels
    page = browser.new_page(
        viewport={"width": width, "height": width},
        device_scale_factor=WIDTH_PIXELS / width,
        color_scheme="light",
        offline=True,
    )
    page.goto(f"{BUILD.as_uri()}/{picture.page}")
    if picture.button:
        page.get_by_role("button", name=picture.button).click()
    first = page.locator(picture.first).first.bounding_box()
    last = page.locator(picture.last).first.bounding_box()
    assert first is not None, f"{picture.page} shows no {picture.first}"
    assert last is not None, f"{picture.page} shows no {picture.last}"
    height = last["y"] + last["height"] + MARGIN_PIXELS - first["y"]
    file = PICTURES / f"{picture.name}.png"
    page.screenshot(path=file, clip={"x": 0, "y": first["y"], "width": width, "height": height})
    page.close()
    return file


if __name__ == "__main__":
    main()
