"""Names typed on a site and names given to Python: one set of rules, the same answers. `make test-browser` runs these."""

import re

import pytest

from tests.browser.chromium import opened
from tests.inside import (
    US,
    InvalidInput,
    Lookup,
    area_facts,
    census_facts,
    open_release_folder,
    site_script,
    write_area_names,
    write_data,
    write_group_names,
)
from tests.named_world import AREAS, GROUPS, USUAL, named_universe, ways_to_write

pytestmark = pytest.mark.browser
LISTED = 10  # choices that a message of Python names at most
ANSWERS = """async ([area, texts, level]) => {
    await ready;
    const names = (some) => [...new Set(some.map(({ name }) => name))];
    const at = level === null ? null : { geography: geographyLabelled(level) };
    return Promise.all(texts.map(async (text) => {
        const found = area ? await areasNamed(text) : groupsNamed(text, at);
        if (found.length) return { found: found.map(({ id, code }) => id ?? code) };
        if (area && isLevelWord(text)) return { level: true };
        return { suggested: names(area ? await areasSuggested(text) : groupsSuggested(text)) };
    }));
}"""


def page_of_names(folder, universe):
    """A page with the site's scripts and the names of a universe, and nothing else."""
    geographies = [area_facts(one, universe) for one in universe.entities]
    empty = {"tables": [], "shapes": [], "selected": {}}
    names = [write_area_names(folder, one, universe) for one in universe.entities]
    files = {"names": names, "groupFiles": write_group_names(folder, universe)}
    write_data(folder, "facts", {**empty, **files, "geographies": geographies, **census_facts(universe)})
    functions = "areasNamed, areasSuggested, groupsNamed, groupsSuggested, isLevelWord, geographyLabelled"
    script = site_script().replace("\nstart();\n", f"\nObject.assign(window, {{ {functions}, ready: readFacts() }});\n")
    (folder / "site.js").write_text(script, encoding="utf-8")
    page = folder / "names.html"
    page.write_text('<!doctype html><meta charset="utf-8"><body><script src="site.js"></script>', encoding="utf-8")
    return page


def answer_of(look, text):
    """What Python found or said, as the page's functions have it."""
    try:
        return {"found": [look(text)]}
    except InvalidInput as refused:
        message = refused.findings[0].message
    if " is a level, not an area" in message:
        return {"level": True}
    several = re.search(r" has ([\d,]+) matches: (.*)\. Give ", message)
    if several:
        ids = re.findall(r"\((?:[A-Za-z ]+ )?(\d+)\)(?:; |$)", several.group(2))
        return {"several": int(several.group(1).replace(",", "")), "found": ids[:LISTED]}
    near = re.search(r"Did you mean (?:one of these: )?(.*)\?$", message)
    return {"suggested": near.group(1).split("; ") if near else []}


def in_short(answer):
    found = answer.get("found", [])
    return {"several": len(found), "found": found[:LISTED]} if len(found) > 1 else answer


def compare(page, look, texts, level, *, area):
    shown = page.evaluate(ANSWERS, [area, texts, level])
    different = {
        text: (in_short(one), python)
        for text, one in zip(texts, shown, strict=True)
        if in_short(one) != (python := answer_of(look, text))
    }
    assert different == {}


def distinct(names, most):
    texts = list(dict.fromkeys([*USUAL, *(text for name, code in names for text in ways_to_write(name, code))]))
    return texts[:: max(len(texts) // most, 1)]


def check(browser, folder, universe):
    lookup = Lookup(universe, "the release")
    areas = [(one.name, one.region_id) for one in lookup.entities(list(universe.entities))]
    groups = [(one.name, one.code) for one in universe.lists.iterations]
    with opened(browser, page_of_names(folder, universe)) as watched:
        texts = distinct(areas, 400)
        assert len(texts) >= 350
        compare(watched.page, lambda text: lookup.entity(text).region_id, texts, None, area=True)
        for level in (None, US.area_level("STATE"), US.area_level("COUNTY")):
            compare(
                watched.page,
                lambda text, at=level: lookup.group(text, at=at).code,
                distinct(groups, 150),
                None if level is None else level.label,
                area=False,
            )
        assert watched.complaints == []


def test_names_that_are_hard_to_tell_apart(browser, tmp_path):
    assert len(AREAS) + len(GROUPS) == 17
    check(browser, tmp_path, named_universe())


def test_names_of_a_release(browser, tmp_path, demo_out):
    check(browser, tmp_path, open_release_folder(demo_out).universe)
