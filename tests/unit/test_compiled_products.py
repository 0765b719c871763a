"""SafeTab-P and SafeTab-H, compiled from their specifications, are what they always were."""

import hashlib
import json
from dataclasses import asdict

import pytest

from tests.inside import PRODUCTS

DIGESTS = {
    "SafeTab-P": "570eb53de9610c48cfb333d15470a3d7efc7bd2803e8079bd579f0492fa5d989",
    "SafeTab-H": "cd669769fd582c092974c6893f957db63d804f760866bb99b889f5139af4363e",
}


def dump_of_shape(shape):
    return {
        "label": shape.label,
        "title": shape.title,
        "words": shape.words,
        "cell_of_value": shape.cell_of_value,
        "cell_labels": shape.cell_labels,
        "lines": [asdict(line) for line in shape.lines],
        "kinds": [asdict(kind) for kind in shape.kinds],
        "file_rows": {folder: [asdict(row) for row in rows] for folder, rows in shape.file_rows.items()},
        "divisions": shape.divisions,
        "table_id": shape.table_id,
    }


def sums_of(family):
    """The kinds of lines in finer shapes that sum several cells, fewest cells first."""
    draws = {kind.name: kind.draws for shape in family.finer for kind in shape.kinds if kind.draws > 1}
    return tuple(sorted(draws, key=draws.__getitem__))


def dump_of(product):
    """Everything that a product says of its tables, as JSON can hold it; not the sentence about published losses."""
    fields = ("number", "name", "file_word", "detail", "grains", "divided_into", "is_unnamed_in_format_0")
    families = [
        {name: getattr(family, name) for name in fields}
        | {"sums": sums_of(family), "shapes": [dump_of_shape(shape) for shape in family.shapes]}
        for family in product.families
    ]
    own = ("number", "name", "source", "stage_1_key", "suppression_key", "counts", "adding_up", "totals_table")
    question, lines = product.line_question, [shape.lines for family in product.families for shape in family.shapes]
    return {name: getattr(product, name) for name in own} | {
        "families": families,
        "family_keys": {name: asdict(keys) for name, keys in product.family_keys.items()},
        "selector": product.selector.value,
        "label_columns": [asdict(column) for column in product.label_columns],
        "files": [{"folder": file.folder, "label_columns": file.label_columns} for file in product.files],
        "reference": {name: str(getattr(product.reference, name)) for name in ("name", "rho", "costliest_level")},
        "questions": [question.arguments, question.everything],
        "lines": [[question.name_of(line), question.bar_of(line)] for of_shape in lines for line in of_shape],
    }


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_every_line_and_cell_is_what_it_was_before_products_were_compiled(product):
    text = json.dumps(dump_of(product), sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest() == DIGESTS[product.name]
