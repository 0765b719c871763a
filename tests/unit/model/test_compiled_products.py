"""SafeTab-P and SafeTab-H, compiled from their specifications, are what they always were."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import pytest

from tests.inside import PRODUCTS, as_shipped

DIGESTS = {
    "SafeTab-P": "8a5d1ea4f8e9326012f9a4049c4c28b716bacea570099d42b93e3efe4bc9146a",
    "SafeTab-H": "a46ffad8a7cfb254a0ddcd95b461e5974b44ff1c925fd1d4ff134c7b9bcfb058",
}


SAID = (
    "number name source stage_1_key suppression_key counts adding_up totals_table families family_keys selector"
    " label_columns files"
)
"""Of a product, what JSON shall hold: not the sentence about published losses."""


def plain(value):
    """Everything that a value says, as JSON can hold it."""
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_every_line_and_cell_is_what_it_was_before_products_were_compiled(product):
    question, lines = product.line_question, [line for shape in product.shapes for line in shape.lines]
    of_lines = [[question.name_of(line), question.bar_of(line)] for line in lines]
    owners = [product if hasattr(product, name) else as_shipped(product) for name in SAID.split()]
    said = [plain(getattr(owner, name)) for owner, name in zip(owners, SAID.split(), strict=True)]
    text = json.dumps([said, str(question.arguments), str(of_lines)], sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest() == DIGESTS[product.name]
