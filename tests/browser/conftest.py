"""One Chromium for all tests of pages."""

import pytest

from tests.browser.chromium import chromium


@pytest.fixture(scope="session")
def browser():
    with chromium() as started:
        yield started
