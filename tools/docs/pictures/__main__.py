"""Makes the demos and takes their pictures, for docs/pictures.

NAME .. takes only these, of demos that are there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tools import PROJECT
from tools.docs.pictures.pictured import PAGES, TERMINALS, Picture
from tools.docs.pictures.terminal import page_of

PICTURES = PROJECT / "docs" / "pictures"
BUILD = PROJECT / "build"
WIDTH_PIXELS = 1400
MARGIN_PIXELS = 12


DEMOS = (
    "demo build/demo --overwrite",
    "demo build/nz --census nz --overwrite",
    "compare build/demo/parameters build/demo/data build/compare --runs 2 --overwrite",
)


def main(names: list[str]) -> None:
    for command in () if names else DEMOS:
        subprocess.run([sys.executable, "-m", "safetab", *command.split()], cwd=PROJECT, check=True)  # noqa: S603
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
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
    page.screenshot(
        path=file, full_page=True, clip={"x": 0, "y": first["y"], "width": width, "height": height}
    )
    page.close()
    return file


if __name__ == "__main__":
    main(sys.argv[1:])
