"""The site of a specified census in headless Chromium. `make test-browser` runs these."""

import re

import pytest

import safetab
from tests.browser.chromium import go, opened_site
from tests.inside import Estimate, NoProgress, write_example, write_site
from tests.worlds.specified.small_world import AREAS, CODES, nz_keys, write_specification
from tests.worlds.world import World

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Some names of areas have a comma and macrons."""
    folder = tmp_path_factory.mktemp("nz")
    write_example("nz", 20_000, folder, NoProgress())
    world = World.of(folder)
    areas = world.path("areas.csv")
    areas.write_text(areas.read_text().replace(",Aldbridge 1,", ',"Ōtāhuhu, North 1",'), encoding="utf-8")
    write_site(world.run(folder / "out"), folder / "site")
    return folder


@pytest.fixture(scope="module")
def release(folder):
    return safetab.open_release(folder / "out")


@pytest.fixture
def page(browser, folder):
    with opened_site(browser, folder / "site") as page:
        yield page


def asked(page, area, group=""):
    """The address that the finder goes to."""
    page.evaluate("location.hash = '#/'")
    page.wait_for_selector("main .hero")
    page.fill("#find", f"{group} {area}")
    page.click("#finder button[type=submit]")
    page.wait_for_selector("main:not([aria-busy]):not(:has(.hero)) h1")
    return page.evaluate("decodeURIComponent(location.hash)")


def test_the_first_page_speaks_of_the_census(page):
    assert page.inner_text("h1").startswith("Ethnic groups (total response)")
    assert page.get_attribute("#find", "placeholder") == "Region, territorial authority, … or ethnic group"
    assert "from the nation down to statistical areas 2" in page.inner_text(".lead")
    assert "synthetic" in page.inner_text("#status")
    assert "with invented people" in page.inner_text("#source")
    assert page.locator(".tiles").count() == 0
    go(page, "#/about")
    assert "one person: one record" in page.inner_text("main")


def links(page, summary):
    """The links of an open list below these words."""
    return page.locator(f"details[open]:has(> summary:text-is('{summary}')) a").count()


def test_the_first_page_lists_the_largest_areas_and_others_when_opened(page):
    assert links(page, "Regions") == 6
    assert links(page, "Territorial authorities") == 0
    page.click("summary:text-is('Territorial authorities')")
    page.wait_for_selector("details[open]:has(> summary:text-is('Territorial authorities')) a")
    assert links(page, "Territorial authorities") == 24
    assert links(page, "Ethnic groups") == 6
    page.click("summary:text-is('Ethnic groups, only answer')")
    assert links(page, "Ethnic groups, only answer") == 6
    assert page.inner_text("#home-link").split("\n") == ["NZ ethnicity 2023", "safetab, with invented people"]
    assert page.locator("h1 .unbroken").all_inner_texts() == ["made-up"]
    go(page, "#/group/1")
    assert page.inner_text(".tabs [aria-current]") == "Regions"
    assert page.inner_text("h1 small") == "ethnic group, code 1"


def test_groups_of_an_area_can_be_filtered_by_level(page):
    asked(page, "nation")
    before = page.locator(".list tbody tr").count()
    page.select_option("#level", label="level 1")
    assert page.locator(".list tbody tr").count() == 12 < before
    page.select_option("#kind", label="Ethnic groups, only answer")
    names = page.locator(".list tbody th").all_inner_texts()
    assert len(names) == 6
    assert all("only" in name for name in names)


@pytest.fixture(scope="module")
def unnamed(tmp_path_factory):
    """A census with one answer and a group of everyone; every group is published, and many areas have no names."""
    keys, folder = nz_keys(), tmp_path_factory.mktemp("unnamed")
    header, *codes = CODES.splitlines()
    everyone = [f"{header},all,all_name", *(f"{line},{',' if ',,' in line else 'T,Everyone'}" for line in codes)]
    level = {"name": "all", "title": "All", "of": "ethnicity", "column": "all", "names": "all_name", "members": ["any"]}
    keys["groups"]["levels"].insert(0, level)
    shape = {"id": "E0", "label": "age_2", "title": "Age", "by": ["age"], "breaks": {"age": [0, 18]}}
    keys["tables"][0]["shapes"].insert(1, shape)
    keys["privacy"]["levels"][0] |= {"groups": ["all", "level 1", "level 2"], "thresholds": [0, 2]}
    keys["classifications"]["ethnicity"]["columns"] = ["ETH1"]
    keys["groups"]["levels"][1]["members"] = ["any"]
    del keys["privacy"]["suppress"]
    areas = AREAS + "".join(f"80000{n},a{n},b{n},{n}\n" for n in range(10, 70))
    files = {"areas.csv": areas, "ethnicity.csv": "\n".join(everyone)}
    world = World(*write_specification(folder, keys, files=files))
    (world.data / "SYNTHETIC").touch()
    write_site(world.run(folder / "out"), folder / "site")
    return folder / "site"


def test_many_areas_are_folded_and_one_without_a_name_is_called_what_it_is(browser, unnamed):
    with opened_site(browser, unnamed) as page:
        assert links(page, "Regions") == 0
        page.click("summary:text-is('Regions')")
        page.wait_for_selector("details[open] bdi:text-is('69')")
        assert links(page, "Regions") == 62
        assert asked(page, "01") == "#/area/region/01"
        assert page.inner_text("h1") == "Region 01"
        assert page.inner_text(".list caption") == "Groups in region 01"
        assert "Groups without a number" not in page.inner_text("main")
        rows = page.eval_on_selector_all(
            ".list tbody tr",
            "rows => rows.map(({ cells }) => [cells[0].querySelector('bdi'), cells[1], cells[4]].map(one => one.innerText))",
        )
        shown = {name: (int(number), share) for name, number, share in rows if name in {"Everyone", "European"}}
        (everyone, whole), (european, share) = shown["Everyone"], shown["European"]
        assert f"Everyone, {everyone} people" in page.inner_text("[data-shares]")
        assert (whole, share) == ("100 %", f"{100 * european / everyone:.1f} %")
        assert (page.locator("#kind").count(), page.locator("#level").count()) == (0, 1)
        asked(page, "01", "Everyone")
        assert "begin at 0, 15, 65." in page.inner_text(".adding > p.soft")
        assert page.locator(".quick button").all_inner_texts() == ["Male", "Female", "Another gender"]
        go(page, "#/about")
        text = page.inner_text("main")
        assert "levels overlap" in text
        assert "same area twice" not in text


def test_areas_are_found_with_or_without_commas_and_macrons(page):
    for text in ("Ōtāhuhu, North 1", "otahuhu north 1", "OTAHUHU,NORTH 1", "100100"):
        assert asked(page, text) == "#/area/sa2/100100"
        assert "Ōtāhuhu, North 1" in page.inner_text(".crumbs")


def test_a_name_in_several_levels_is_answered_by_the_finest_that_is_published(page, release):
    answered = set[str]()
    for area in ("Cordale Region", "Aldbridge District", "Aldbridge 2", "Bramton 3"):
        for group in ("Māori", "samoan", "Indian"):
            address = asked(page, area, group)
            number = release.total(area, group)
            notes = " ".join(number.notes) if isinstance(number, Estimate) else number.hint or ""
            code = re.search(r"[Tt]his is (\S+) \(", notes)
            assert code
            assert address.endswith(f"/{code[1]}"), (area, group)
            assert f"This is {code[1]} (level" in page.inner_text("[data-namesakes]")
            answered.add(f"{isinstance(number, Estimate)}")
    assert answered == {"True", "False"}
    asked(page, "Cordale Region", "Pacific Peoples")
    assert page.locator("[data-namesakes]").count() == 0


def test_three_categories_have_plain_bars(page):
    asked(page, "nation", "European")
    rows = page.inner_text("main section:has-text('Gender by age')")
    assert [rows.count(one) for one in ("Male\t", "Female\t", "Another gender\t")] == [1, 1, 1]
    assert (page.locator("table.bars").count(), page.locator("table.pyramid").count()) == (1, 0)


def test_a_census_without_outlines_has_no_map(page):
    for kind in ("region", "ta"):
        page.evaluate(f"location.hash = '#/group/331/{kind}'")
        page.wait_for_selector(f"main:not([aria-busy]) nav.tabs a[aria-current][href$='/{kind}']")
        assert page.locator("table.list tbody tr").count() > 1
        assert page.locator("svg.shapes, .map").count() == 0


def test_sums_of_a_specified_table_are_those_of_open_release(page, release):
    asked(page, "nation", "European")
    table = release.table("nation", "1")
    for genders, (first, last) in (
        (["male", "another gender"], (15, 44)),
        (["female"], (65, 120)),
        (["male"], (0, 14)),
    ):
        page.select_option("#from-age-0", label=str(first))
        page.select_option("#to-age-0", label="no limit" if last == 120 else str(last))
        for name in ("male", "female", "another gender"):
            page.get_by_label(name.capitalize(), exact=True).set_checked(name in genders)
        wanted = release.sum([table.count(gender, (first, last)) for gender in genders])
        low, high = wanted.interval
        assert page.inner_text("[data-number=sum]") == f"{wanted.value:,}"
        assert page.inner_text("[data-interval=sum]") == f"± {wanted.margin_of_error:,}: {low:,} to {high:,}"
    assert page.inner_text(".sum-words") == "Male, age 0 to 14 years"
    assert page.locator(".quick button").all_inner_texts() == [
        "Male", "Female", "Another gender", "Under 15 years", "15 to 29 years", "30 to 64 years", "65 years and over",
    ]  # fmt: skip
