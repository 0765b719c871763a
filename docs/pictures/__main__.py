"""Takes the pictures of `demo`, `nz` and `compare` in build/, which `make pictures` wrote. NAME .. takes only these."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from docs.pictures.pictured import PAGES, TERMINALS, Picture
from docs.pictures.terminal import page_of

PICTURES = Path(__file__).parent
BUILD = PICTURES.parents[1] / "build"
WIDTH_PIXELS = 1400
MARGIN_PIXELS = 12


def main(names: list[str]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for one in (*PAGES, *TERMINALS):
            if not names or one.name in names:
                file = _take(one if isinstance(one, Picture) else page_of(one, BUILD), browser)
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
    page.screenshot(path=file, full_page=True, clip={"x": 0, "y": first["y"], "width": width, "height": height})
    page.close()
    return file


if __name__ == "__main__":
    main(sys.argv[1:])
