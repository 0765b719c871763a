"""A specification can be written again, and what is written reads back equal."""

import json
import tomllib
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inside import (
    Choice,
    FindingsOf,
    Privacy,
    decimal_text,
    keys_of,
    privacy_text,
    read_specification,
    specification_of_keys,
)
from tests.worlds.specified.small_text import SMALL, write_specification

LIST_COLUMN = SMALL.replace('columns = ["ORIGIN1", "ORIGIN2"]', 'column = "TONGUES"').replace(
    "origin = 1", "origin = 7"
)
TEXT_LIST = SMALL.replace('columns = ["ORIGIN1", "ORIGIN2"]', 'column = "ORIGIN2"\nseparator = "/"')
REFERENCE = SMALL.replace("[about]", '[about]\nreference = { name = "before", rho = 4.96 }\nyear = "2031"')
NO_SELECTOR = SMALL.replace('"stage 1"', '"none"').replace("stage_1    = 0.1", "").replace("suppress ", "# ")
NO_SELECTOR = NO_SELECTOR.replace("thresholds = [10, 100]\n", "")


@pytest.mark.parametrize("text", [SMALL, LIST_COLUMN, TEXT_LIST, REFERENCE, NO_SELECTOR])
def test_keys_read_back_equal_after_json(text, tmp_path):
    spec = read_specification(write_specification(tmp_path, text)).require()
    assert specification_of_keys(json.loads(json.dumps(keys_of(spec))), FindingsOf("keys")) == spec


@pytest.mark.parametrize("text", [SMALL, NO_SELECTOR])
def test_the_text_of_privacy_reads_back_equal(text, tmp_path):
    spec = read_specification(write_specification(tmp_path, text)).require()
    folder = write_specification(tmp_path, text[: text.index("[privacy]")])
    (folder / "privacy.toml").write_text(privacy_text(spec.privacy))
    assert read_specification(folder).require() == spec


@given(st.integers(1, 10**30 - 1), st.integers(0, 30))
def test_a_number_is_written_exactly(digits, decimals):
    number = Fraction(digits, 10**decimals)
    assert Fraction(Decimal(decimal_text(number))) == number
    privacy = Privacy("zcdp", "none", (Choice(("t",), ("g",), ("a",), number, ()),))
    keys = tomllib.loads(privacy_text(privacy), parse_float=Decimal)
    assert Fraction(keys["privacy"]["levels"][0]["budget"]) == number


def test_a_number_without_a_decimal_form_is_refused():
    with pytest.raises(ValueError, match="1/3 can't be written with 60 decimals"):
        decimal_text(Fraction(1, 3))
