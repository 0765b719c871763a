"""A new member of `Selector` fails here with the list of tables and texts that lack it.

These places are looked up by selector. Code that compares with one member takes any other for the rest, and no test can tell:
docs/adding-things.md, "A selector", says where to look.
"""

import pytest

from tests.inside import (
    Selector,
    group_statuses_module,
    level_design_module,
    package_data,
    specified_module,
    tabulate_level_module,
    template_texts,
)
from tests.worlds.specified.changed_worlds import SELECTORS, declared_paths

TABLES = {
    "core/algorithm/level_design.py: _ADAPTIVE": level_design_module._ADAPTIVE,
    "core/algorithm/tabulate_level.py: _ADAPTIVE": tabulate_level_module._ADAPTIVE,
    "release/files/group_statuses.py: _ABSENT": group_statuses_module._ABSENT,
    "model/products/specified.py: _SELECTORS": specified_module._SELECTORS.values(),
}
"""What is looked up by the member."""

OF_TEXTS = {
    "cli/texts.toml": (package_data("safetab.cli", "texts.toml"), ("plan", "tune")),
    "templates/report/texts.toml": (template_texts("report/texts.toml"), ("choice", "why_nothing")),
    "templates/release/texts.toml": (template_texts("release/texts.toml"), ("selection", "absent")),
}
TEXTS = {
    **{f"{file}: {table}": texts[table] for file, (texts, tables) in OF_TEXTS.items() for table in tables},
    **{
        f"templates/accuracy/texts.toml: {section}": {
            selector: texts[section]
            for selector, texts in template_texts("accuracy/texts.toml").items()
            if section in texts
        }
        for section in ("levels", "errors", "tables", "coverage", "about")
    },
}
"""What is looked up by `Selector.value`."""


def places_without(selector, value):
    """The tables and texts that lack a selector."""
    tables = [place for place, members in TABLES.items() if selector not in members]
    return tables + [place for place, texts in TEXTS.items() if not texts.get(value)]


@pytest.mark.parametrize("selector", Selector)
def test_every_selector_is_in_every_table_and_text(selector):
    lacking = places_without(selector, selector.value)
    assert not lacking, "\n".join([f"{selector} is missing in", *lacking])


def test_a_selector_that_is_in_none_of_them_is_found():
    assert places_without(object(), "largest area") == [*TABLES, *TEXTS]
    assert len([*TABLES, *TEXTS]) == 15


def test_every_selector_can_be_spelled_and_is_tried_in_random_worlds():
    declared = {path.partition(" = ")[2] for path in declared_paths() if path.startswith(".privacy.selector = ")}
    assert declared == set(specified_module._SELECTORS) == set(SELECTORS)
