"""One Chromium for all tests of pages."""

from __future__ import annotations

import pytest

from tests.browser.chromium import chromium


@pytest.fixture(scope="session")
def browser():
    with chromium() as started:
        yield started
