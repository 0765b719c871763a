"""What tests of the explorer's page ask it: its fields, files and numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from safetab.tuning import tuning_of
from tests.browser import chromium
from tests.browser.chromium import Watched, saved
from tests.explorer_numbers import Asked, ExactNumbers, agrees_at

FACTS = tuning_of().require().facts
LEVELS = {
    0: ("COUNTY,2", "USA,2", "PR-TRACT,1", "STATE,1"),
    1: ("COUNTY,2,tenure", "USA,2,household type", "PR-TRACT,1,tenure", "STATE,1,household type"),
}


@contextmanager
def opened(browser: Browser, file: Path, **options: object) -> Iterator[Watched]:
    """The page with all that "More" holds, also after it is loaded again. chromium.opened shows the first screen alone."""
    with chromium.opened(browser, file, **options) as one:
        one.page.add_init_script("window.addEventListener('load', () => window.explorer?.more())")
        one.page.evaluate("window.explorer.more()")
        yield one


def asked_on(page: Page) -> Asked:
    total, noise = (
        json.loads(page.locator(f"#{name}").get_attribute("data-question")) for name in ("question-total", "noise")
    )
    proportions = {key: str(value) for key, value in total["proportions"].items()}
    return Asked(total["total"], total["confidence"], proportions, noise["delta"], noise["confidence"])


def numbers_on(page: Page) -> list[tuple[str, str]]:
    """Where each number stands, and how it is spelled."""
    numbers = "all => all.map(one => [one.dataset.number, one.textContent])"
    return [*map(tuple, page.eval_on_selector_all("[data-number]", numbers))]


def disagreements(page: Page, exact: ExactNumbers, least: int = 150) -> list[str]:
    shown = numbers_on(page)
    assert len(shown) > least
    return [f"{path}: {text}" for path, text in shown if not agrees_at(path, text, exact.of(path))]


def setting_on(page: Page) -> Any:
    return page.evaluate("window.explorer.setting()")


def set_on(page: Page, setting: Any) -> str | None:
    """Why the page refuses a setting; None if it took it."""
    return page.evaluate("setting => window.explorer.set(setting)", setting)


def show(page: Page, product: int) -> None:
    page.evaluate("number => window.explorer.show(number)", product)


def settle(page: Page) -> None:
    page.evaluate("window.explorer.settle()")


def field(page: Page, label: str):
    return page.get_by_label(label, exact=True).first


def saved_config(page: Page) -> str:
    return saved(page.locator("#save"))[1].decode()


def load(page: Page, text: str) -> None:
    page.set_input_files("#load", {"name": "config.json", "mimeType": "application/json", "buffer": text.encode()})
    expect(page.locator("#load")).to_have_value("")  # emptied when the file was read
    page.wait_for_timeout(100)
