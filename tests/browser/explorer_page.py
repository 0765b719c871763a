"""What tests of the explorer's page ask it: its fields, files and numbers."""

import json
from contextlib import contextmanager

from playwright.sync_api import expect

from safetab.tuning import tuning_of
from tests.browser import chromium
from tests.browser.chromium import saved
from tests.explorer_numbers import Asked, agrees_at

FACTS = tuning_of().require().facts
LEVELS = {
    0: ("COUNTY,2", "USA,2", "PR-TRACT,1", "STATE,1"),
    1: ("COUNTY,2,tenure", "USA,2,household type", "PR-TRACT,1,tenure", "STATE,1,household type"),
}


@contextmanager
def opened(browser, file, **options):
    """The page with all that "More" holds, also after it is loaded again. chromium.opened shows the first screen alone."""
    with chromium.opened(browser, file, **options) as one:
        one.page.add_init_script("window.addEventListener('load', () => window.explorer?.more())")
        one.page.evaluate("window.explorer.more()")
        yield one


def asked_on(page):
    total, noise = (
        json.loads(page.locator(f"#{name}").get_attribute("data-question")) for name in ("question-total", "noise")
    )
    proportions = {key: str(value) for key, value in total["proportions"].items()}
    return Asked(total["total"], total["confidence"], proportions, noise["delta"], noise["confidence"])


def numbers_on(page):
    """Where each number stands, and how it is spelled."""
    numbers = "all => all.map(one => [one.dataset.number, one.textContent])"
    return [*map(tuple, page.eval_on_selector_all("[data-number]", numbers))]


def disagreements(page, exact, least=150):
    shown = numbers_on(page)
    assert len(shown) > least
    return [f"{path}: {text}" for path, text in shown if not agrees_at(path, text, exact.of(path))]


def setting_on(page):
    return page.evaluate("window.explorer.setting()")


def set_on(page, setting):
    """Why the page refuses a setting; None if it took it."""
    return page.evaluate("setting => window.explorer.set(setting)", setting)


def show(page, product):
    page.evaluate("number => window.explorer.show(number)", product)


def settle(page):
    page.evaluate("window.explorer.settle()")


def field(page, label):
    return page.get_by_label(label, exact=True).first


def saved_config(page):
    return saved(page.locator("#save"))[1].decode()


def load(page, text):
    page.set_input_files("#load", {"name": "config.json", "mimeType": "application/json", "buffer": text.encode()})
    expect(page.locator("#load")).to_have_value("")  # emptied when the file was read
    page.wait_for_timeout(100)
