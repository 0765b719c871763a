"""The explorer's page, written once and opened from a file, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.chromium import Watched, chromium
from tests.browser.explorer_page import opened
from tests.commands import cli


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("explorer") / "explorer.html"
    told = cli("explore", "-o", file)
    assert told.exit_code == 0, told.output
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def watched(browser: Browser, file: Path) -> Iterator[Watched]:
    """A page on a desktop; it must not complain of anything, nor ask for anything but itself."""
    with opened(browser, file, viewport={"width": 1440, "height": 900}) as one:
        yield one
        assert one.complaints == []
        assert [url for url in one.requests if not url.startswith("blob:")] == [file.as_uri()]


@pytest.fixture
def page(watched: Watched) -> Page:
    return watched.page
