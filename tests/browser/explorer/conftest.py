"""The explorer's page, written once and opened from a file, without a network."""

import pytest

from tests.browser.explorer_page import opened
from tests.commands import done


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("explorer") / "explorer.html"
    done("explore", "-o", file)
    return file


@pytest.fixture
def page(browser, file):
    """A page on a desktop; it must not complain of anything, nor ask for anything but itself."""
    with opened(browser, file, viewport={"width": 1440, "height": 900}) as one:
        yield one.page
        assert one.complaints == []
        assert [url for url in one.requests if not url.startswith("blob:")] == [file.as_uri()]
