"""Releases that several modules look at, made once."""

from __future__ import annotations

import pytest
from tests.official_forms import Made, write_persons


@pytest.fixture(scope="session")
def made_in_census_form(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return write_persons(tmp_path_factory.mktemp("census") / "world")
