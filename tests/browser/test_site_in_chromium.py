"""The site of a release in headless Chromium. `make test-browser` runs these."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
import threading
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page
from tests.browser.chromium import Watched, chromium, opened
from tests.household_worlds import write_household_world

import safetab
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.distributions.weighted_sum import WeightedDraws, weighted_sum
from safetab.estimates.estimate import Absence, Estimate
from safetab.estimates.noisy_number import chance_in_words, shown
from safetab.estimates.open_release import Release
from safetab.foundation.findings import VERSION
from safetab.site.write_site import write_site
from safetab.synthetic.demo_census import write_demo_census

pytestmark = pytest.mark.browser
COUNTY = "#/area/COUNTY/44007"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_demo_census(folder / "census")
    parameters, data = folder / "census" / "parameters", folder / "census" / "data"
    rules = ["withhold-alone-above-partner"]
    safetab.run(parameters, data, folder / "out", test_key="00" * 32, coterminous=True, rules=rules)
    write_site(folder / "out", folder / "site")
    world = write_household_world(folder / "world", 21, budget=0.3, people=250)
    safetab.run(world.parameters, world.data, folder / "households", test_key="0a" * 32)
    write_site(folder / "households", folder / "households-site")
    return folder


@pytest.fixture(scope="module")
def release(folder: Path) -> Release:
    return safetab.open_release(folder / "out")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def watched(browser: Browser, folder: Path) -> Iterator[Watched]:
    with opened(browser, folder / "site" / "index.html") as watched:
        watched.page.wait_for_selector("main h1")
        yield watched
        assert watched.complaints == []
        assert {url.split(":")[0] for url in watched.requests} <= {"file", "blob"}


def go(page: Page, route: str) -> None:
    """Shows a view and waits until it stands."""
    page.evaluate("document.querySelector('main').replaceChildren()")
    page.evaluate("route => { if (location.hash === route) location.hash = '#/about'; location.hash = route; }", route)
    page.wait_for_selector("main:not([aria-busy]) h1")


def in_words(number: Estimate) -> str:
    """The number with what stands beside it, as a table of the site writes them."""
    low, high = number.interval
    beside = f"{low:,} to {high:,}" if low != high else f"{low:,}"
    text = f"{number.value:,} {beside if number.selection_matters else f'± {shown(number.margin_of_error)}'}"
    return text.replace("-", "\N{MINUS SIGN}")


def cells(page: Page, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_text_contents()]


def test_500_numbers_that_are_shown_are_those_of_open_release(watched: Watched, release: Release) -> None:
    page, compared, rng = watched.page, 0, random.Random(3)
    areas = [("COUNTY", "44007"), ("STATE", "15"), ("USA", "1"), ("PLACE", "4459000"), ("PR-COUNTY", "72127")]
    for level, region in areas:
        go(page, f"#/area/{level}/{region}")
        for more in page.get_by_role("button", name=re.compile("Show all")).all():
            more.click()
        texts = page.evaluate("""() => [...document.querySelectorAll('table.list tbody tr')].map(row => [
            row.querySelector('a').hash.split('/').pop(), row.cells[1].textContent, row.cells[2].textContent])""")
        entity = release.geography(region, level)
        answers = {one.counted[0].group.code: one for one in release.totals(geography=entity).numbers}
        for code, number, beside in texts:
            assert number == "withheld" or f"{number} {beside}".strip() == in_words(answers.pop(code))
            compared += 1
        assert answers == {}
        for code in rng.sample([code for code, number, _ in texts if number != "withheld"], 4):
            compared += check_table(page, release, (level, region, code))
    assert compared >= 500


def check_table(page: Page, release: Release, key: tuple[str, str, str]) -> int:
    level, region, code = key
    go(page, f"#/area/{level}/{region}/{code}")
    entity, group = release.geography(region, level), release.group(code)
    total = release.total(entity, group)
    assert page.locator("[data-number=total]").text_content() == in_words(total).split(" ", maxsplit=1)[0]
    low, high = total.interval
    assert f"{low:,} to {high:,}" in page.locator("[data-interval=total]").text_content()
    table = release.table(entity, group)
    shown_lines = dict(
        page.evaluate("""() => [...document.querySelectorAll('table [data-number]')].map(
            cell => [cell.dataset.number, cell.textContent.trim().replace(/\\s+/g, ' ')])""")
    )
    for line in table.lines:
        name = release.product.line_question.name_of(line.counted[0].line)
        if name in shown_lines:
            assert shown_lines[name] == in_words(line)
    return len(shown_lines) + 1


def test_households_are_shown_with_both_of_their_tables(browser: Browser, folder: Path) -> None:
    release = safetab.open_release(folder / "households")
    with opened(browser, folder / "households-site" / "index.html") as watched:
        page, compared = watched.page, 0
        page.wait_for_selector("main h1")
        for answer in release.totals(geography=release.geography("01", "STATE")).numbers[:12]:
            counted = answer.counted[0]
            go(page, f"#/area/STATE/01/{counted.group.code}")
            assert page.locator("[data-number=total]").text_content() == in_words(answer).split(" ", maxsplit=1)[0]
            lines = page.evaluate("""() => [...document.querySelectorAll('table.bars')].map(table =>
                [...table.querySelectorAll('[data-number]')].map(
                    cell => [cell.dataset.number, cell.textContent.trim().replace(/\\s+/g, ' ')]))""")
            tables = [release.table(counted.entity, counted.group, family=one.name) for one in release.product.families]
            finer = [table for table in tables if len(table.shape.lines) > 1]
            assert len(lines) == len(finer)
            for drawn, table in zip(lines, finer, strict=True):
                named = {
                    release.product.line_question.name_of(one.counted[0].line): in_words(one) for one in table.lines
                }
                assert dict(drawn).items() >= {(name, text) for name, text in named.items() if name in dict(drawn)}
                compared += len(set(dict(drawn)) & set(named))
        assert compared >= 20
        assert watched.complaints == []


SEVERAL_TOTALS = "were measured separately, each with its own random noise, so their totals can differ."
ALONE_ABOVE = "Each group has its own random noise, so a group alone can come out larger"


def test_tables_that_do_not_add_up_to_the_total_say_why(browser: Browser, folder: Path) -> None:
    """The large number is that of one table; the total of the other has noise of its own."""
    release, said = safetab.open_release(folder / "households"), set[bool]()
    with opened(browser, folder / "households-site" / "index.html") as watched:
        watched.page.wait_for_selector("main h1")
        for area in ("01", "44"):
            for answer in release.totals(geography=release.geography(area, "STATE")).numbers:
                counted = answer.counted[0]
                tables = [
                    release.table(counted.entity, counted.group, family=one.name) for one in release.product.families
                ]
                totals = {table.lines[0].value for table in tables if len(table.shape.lines) > 1} | {answer.value}
                go(watched.page, f"#/area/STATE/{area}/{counted.group.code}")
                assert (SEVERAL_TOTALS in watched.page.locator("main").text_content()) == (len(totals) > 1)
                said.add(len(totals) > 1)
    assert said == {True, False}


def test_a_group_alone_above_the_same_group_in_combination_is_explained(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    """The site of the fixture has a rule that withholds such numbers, and says nothing."""
    safetab.rerelease(folder / "out", tmp_path / "without-rule")
    write_site(tmp_path / "without-rule", tmp_path / "site")
    release, said = safetab.open_release(tmp_path / "without-rule"), 0
    for site, has_rule in ((folder / "site", True), (tmp_path / "site", False)):
        with opened(browser, site / "index.html") as watched:
            watched.page.wait_for_selector("main h1")
            for area in ("44", "15", "49", "50"):
                numbers = release.totals(geography=release.geography(area, "STATE")).numbers
                values = {(one.counted[0].group.level, one.counted[0].group.name): one.value for one in numbers}
                is_above = any(
                    value > values.get((level, f"{name} or in any combination"), math.inf)
                    for (level, name), value in values.items()
                )
                go(watched.page, f"#/area/STATE/{area}")
                is_said = ALONE_ABOVE in watched.page.locator("main").text_content()
                assert is_said == (is_above and not has_rule)
                said += is_said
    assert said


def test_an_absent_number_has_its_reason_and_what_to_use_instead(watched: Watched, release: Release) -> None:
    page, looked_at = watched.page, 0
    entity = release.geography("44007", "COUNTY")
    for group in [one for one in release._universe.lists.iterations if one.level][::9]:
        answer = release.total(entity, group)
        if not isinstance(answer, Absence):
            continue
        go(page, f"{COUNTY}/{group.code}")
        assert page.locator("[data-reason]").get_attribute("data-reason") == answer.status
        reason = page.locator("[data-reason]").text_content()
        assert reason.startswith(answer.reason.removesuffix("."))
        links = page.eval_on_selector_all(".instead a", "links => links.map(link => link.hash)")
        assert links == [
            f"#/area/{one.counted[0].entity.geography.label}/{one.counted[0].entity.region_id}/{one.counted[0].group.code}"
            for one in answer.instead
        ]
        looked_at += 1
    assert looked_at >= 4


@pytest.mark.parametrize("other", ["COUNTY/44003/1002", "COUNTY/44007/1009", "STATE/15/1010", "PLACE/4459000/1002"])
def test_a_comparison_says_how_often_noise_alone_does_it(watched: Watched, release: Release, other: str) -> None:
    page = watched.page
    level, region, code = other.split("/")
    a = release.total(release.geography("44007", "COUNTY"), release.group("1002"))
    b = release.total(release.geography(region, level), release.group(code))
    assert isinstance(a, Estimate)
    assert isinstance(b, Estimate)
    go(page, f"#/compare/COUNTY/44007/1002/{other}")
    difference = release.differ(a, b)
    assert page.locator("[data-number=difference]").text_content() == f"{abs(difference.value):,}"
    low, high = (f"{end:,}".replace("-", "\N{MINUS SIGN}") for end in difference.interval)
    assert f"between {low} and {high}," in page.locator("[data-interval=difference]").text_content()
    chance = page.locator("[data-chance]")
    assert float(chance.get_attribute("data-chance")) == pytest.approx(difference.chance_of_noise_alone, abs=1e-8)
    assert chance_in_words(difference.chance_of_noise_alone) in chance.text_content()


def test_noise_of_both_kinds_sums_as_it_does_in_safetab(browser: Browser, folder: Path, tmp_path: Path) -> None:
    """The page's chances beside safetab's own, for narrow, wide and two-sided geometric noise."""
    script = (folder / "site" / "site.js").read_text().replace("start();\n})();", "window.noiseOf = noiseOf;\n})();")
    noises = [DiscreteGaussian(Fraction(1, 10)), DiscreteGaussian(Fraction(31, 2)), DiscreteGaussian(Fraction(900)),
              DiscreteLaplace(Fraction(3, 2)), DiscreteLaplace(Fraction(20))]  # fmt: skip
    with opened(browser, tmp_path) as watched:
        watched.page.add_script_tag(content=script)
        for first in noises:
            for second in noises:
                parts = [WeightedDraws(first, Fraction(1), 1), WeightedDraws(second, Fraction(1), 8)]
                if first == second:
                    parts = [WeightedDraws(first, Fraction(1), 9)]
                sum_ = weighted_sum(tuple(parts))
                given = [[[_name(one.noise), float(one.noise.parameter)], one.draws] for one in parts]
                for distance in (1, 7, 40, 130):
                    found = watched.page.evaluate(
                        "([parts, x]) => noiseOf(parts).chanceOfAtLeast(x)", [given, distance]
                    )
                    assert found == pytest.approx(sum_.chance_of_at_least(Fraction(distance)), abs=1e-8)
                margin = watched.page.evaluate("parts => noiseOf(parts).margin(0.95)", given)
                assert margin == sum_.margin_of_error(Fraction(19, 20))


def _name(noise: object) -> str:
    return "gaussian" if type(noise).__name__ == "DiscreteGaussian" else "laplace"


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("nation", "USA/1"), ("USA", "USA/1"), ("United States", "USA/1"), ("RI", "STATE/44"),
        ("rhode island", "STATE/44"), ("Providence County, RI", "COUNTY/44007"), ("44007", "COUNTY/44007"),
        ("providence county, rhode island", "COUNTY/44007"), ("providence county", "COUNTY/44007"),
        ("Mayaguez Municipio", "PR-COUNTY/72097"), ("15001000100", "TRACT/15001000100"), ("Navajo, AZ", "AIANNH/2430"),
    ],
)  # fmt: skip
def test_places_are_found_by_the_names_that_people_use(watched: Watched, typed: str, wanted: str) -> None:
    watched.page.fill("#find-area", typed)
    watched.page.press("#find-area", "Enter")
    watched.page.wait_for_url(f"**#/area/{wanted}")


@pytest.mark.parametrize(
    ("field", "typed", "suggested"),
    [
        ("area", "Provdence County", "Providence County, Rhode Island"), ("area", "Xyzzy", None),
        ("area", "avajo", "Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM--UT"),
        ("area", "Nava", "Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM--UT"),
        ("group", "Itallian", "Italian alone"), ("group", "irish", "Irish alone"),
    ],
)  # fmt: skip
def test_what_is_not_exact_is_suggested_and_never_taken(
    watched: Watched, field: str, typed: str, suggested: str | None
) -> None:
    page = watched.page
    page.fill(f"#find-{field}", typed)
    page.press(f"#find-{field}", "Enter")
    page.wait_for_timeout(300)
    assert page.evaluate("location.hash") in {"", "#/"}
    options = cells(page, f"#find-{field}-list li bdi")
    assert suggested in options if suggested else options == []


def test_everything_can_be_done_by_keyboard(watched: Watched) -> None:
    page = watched.page
    for key in ("Tab", "Enter"):  # the skip link
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.id") == "main"
    page.focus("#find-area")
    page.keyboard.type("provid")
    page.wait_for_selector("#find-area-list li")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#find-area", "aria-activedescendant") == "find-area-0"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("italian a")
    page.wait_for_selector("#find-group-list li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**#/area/*/*/*")
    page.wait_for_selector("[data-number=total], [data-reason]")
    go(page, COUNTY)
    page.focus("table.list thead th:nth-child(1) button")
    page.keyboard.press("Enter")
    names = cells(page, "table.list tbody th")
    assert names == sorted(names, key=str.casefold)
    assert page.get_attribute("table.list thead th:nth-child(1)", "aria-sort") == "ascending"


ROUTES = [
    "#/",
    COUNTY,
    f"{COUNTY}/1009",
    "#/group/1002/state",
    "#/group/1002/tract/44007",
    "#/about",
    "#/compare/COUNTY/44007/1002/COUNTY/15003/1002",
]


MARGIN = dict.fromkeys(("top", "bottom", "left", "right"), "14mm")


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_no_view_is_wider_than_the_screen(browser: Browser, folder: Path, width: int) -> None:
    with opened(browser, folder / "site" / "index.html", viewport={"width": width, "height": 900}) as watched:
        for route in ROUTES:
            go(watched.page, route)
            assert watched.page.locator("main h1").text_content() not in {"Can't be read", "Not found"}, route
            assert watched.page.evaluate("document.documentElement.scrollWidth") == width, route


def test_a_phone_has_the_note_of_a_number_below_it(browser: Browser, folder: Path) -> None:
    """A column of notes has no room there."""
    seen = {}
    for width in (390, 1440):
        with opened(browser, folder / "site" / "index.html", viewport={"width": width, "height": 900}) as watched:
            go(watched.page, "#/group/1002/tract/44007")
            notes = watched.page.locator("table.list tbody td:nth-child(5)").all()
            below = watched.page.locator("table.list .below").all()
            seen[width] = [[one.inner_text() for one in some if one.is_visible()] for some in (notes, below)]
    assert seen[390][0] == seen[1440][1] == []
    assert seen[390][1] == [note for note in seen[1440][0] if note]
    assert seen[390][1]


def test_what_is_not_for_release_is_not_called_released(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "site" / "index.html") as watched:
        watched.page.wait_for_selector("main h1")
        source = watched.page.locator("#source").text_content()
    assert "Not for release" in source
    assert ". Made by safetab " in source
    assert "released" not in source


def test_the_site_is_dark_where_the_reader_likes_it(browser: Browser, folder: Path) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        with opened(browser, folder / "site" / "index.html", color_scheme=scheme) as watched:
            watched.page.wait_for_selector("main h1")
            colours[scheme] = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colours == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_are_readable_on_their_ground(browser: Browser, folder: Path, scheme: str) -> None:
    """A contrast of 4.5 to 1 or more, for the colours of texts."""
    with opened(browser, folder / "site" / "index.html", color_scheme=scheme) as watched:
        watched.page.wait_for_selector("main h1")
        read = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
        for ink, ground in [("--ink", "--paper"), ("--soft", "--paper"), ("--soft", "--tint"), ("--accent", "--paper"),
                            ("--accent-ink", "--accent"), ("--paper", "--stop"), ("--on-light", "--s2"), ("--on-dark", "--s3")]:  # fmt: skip
            lights = [_luminance(watched.page.evaluate(read, name)) for name in (ink, ground)]
            assert (max(lights) + 0.05) / (min(lights) + 0.05) >= 4.5, (ink, ground)


def _luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_what_is_shown_can_be_downloaded(watched: Watched, release: Release) -> None:
    go(watched.page, COUNTY)
    rows = [*csv.DictReader(io.StringIO(downloaded(watched.page)))]
    numbers = {row["iteration_code"]: row for row in rows if row["status"] == "number"}
    answers = release.totals(geography=release.geography("44007", "COUNTY")).numbers
    assert {one.counted[0].group.code for one in answers} == set(numbers)
    for one in answers:
        row = numbers[one.counted[0].group.code]
        found = (int(row["estimate"]), int(row["margin_of_error"]), int(row["interval_low"]), int(row["interval_high"]))
        assert found == (one.value, one.margin_of_error, *one.interval)
    assert {row["status"] for row in rows} >= {"number", "suppressed", "not tabulated"}
    assert all(row["note"] for row in rows if row["status"] == "suppressed")


def downloaded(page: Page) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    return Path(download.value.path()).read_text(encoding="utf-8-sig")


def test_every_download_keeps_the_status_the_source_and_the_date(watched: Watched, folder: Path) -> None:
    date = json.loads((folder / "out" / "manifest.json").read_text())["date"]
    comparison = "#/compare/COUNTY/44007/1002/COUNTY/15003/1002"
    for route in (COUNTY, f"{COUNTY}/1002", "#/group/1002/state", comparison):
        go(watched.page, route)
        table = pd.read_csv(io.StringIO(downloaded(watched.page)), dtype=str)
        assert len(table) > 0, route
        assert [*table.columns[-3:]] == ["release_status", "source", "release_date"], route
        assert set(table["release_status"]) == {"test key, not for release"}
        assert set(table["source"]) == {f"SafeTab-P, made by safetab {VERSION}"}
        assert set(table["release_date"]) == {date}


@pytest.mark.parametrize("route", ROUTES)
def test_every_view_is_a_link(browser: Browser, folder: Path, watched: Watched, route: str) -> None:
    go(watched.page, route)
    with opened(browser, folder / "site" / "index.html") as other:
        other.page.goto(f"{(folder / 'site' / 'index.html').as_uri()}{route}")
        other.page.reload()
        other.page.wait_for_selector("main:not([aria-busy]) h1")
        assert other.page.locator("main").inner_text() == watched.page.locator("main").inner_text()


def test_a_link_to_nothing_says_so(watched: Watched) -> None:
    for route in ("#/area/COUNTY/99999", "#/group/0000", "#/nothing", "#/area/COUNTY/44007/%3Cimg%3E"):
        go(watched.page, route)
        assert watched.page.locator("main h1").text_content() == "Not found"


def test_the_status_is_on_every_view(watched: Watched, release: Release) -> None:
    for route in ROUTES:
        go(watched.page, route)
        assert watched.page.locator("#status").text_content() == release.output_status.line
        assert watched.page.locator("#status").is_visible()


def test_states_are_tiles_or_the_shapes_that_were_given(watched: Watched, folder: Path, browser: Browser) -> None:
    go(watched.page, "#/group/1002/state")
    assert watched.page.locator(".tiles a").count() == 6
    assert watched.page.locator(".shapes").count() == 0
    ring = [[-71.9, 41.1], [-71.1, 41.1], [-71.1, 42.0], [-71.9, 42.0], [-71.9, 41.1]]
    feature = {"properties": {"GEOID": "44"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    (folder / "shapes.json").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    write_site(folder / "out", folder / "site-with-shapes", folder / "shapes.json")
    with opened(browser, folder / "site-with-shapes" / "index.html") as other:
        go(other.page, "#/group/1002/state")
        labels = other.page.eval_on_selector_all(
            ".shapes a", "links => links.map(link => link.getAttribute('aria-label'))"
        )
        number, beside = other.page.evaluate("""() => [...document.querySelectorAll('table.list tbody tr')]
            .filter(row => row.cells[0].textContent === 'Rhode Island')
            .map(row => [row.cells[1].textContent, row.cells[2].textContent])[0]""")
        assert labels == [f"Rhode Island: {number} ({beside})"]
        box = other.page.locator(".shapes path").bounding_box()
        assert box["height"] > box["width"] > 50  # 0.9 by 0.8 degrees at 41 north
        assert other.complaints == []


def test_alaska_is_drawn_whole_across_the_antimeridian_and_a_lake_is_no_land(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    """The Aleutians reach 179.8 east: the map must not go around the world for them."""
    script = (folder / "site" / "site.js").read_text().replace("start();\n})();", "window.fitted = fitted;\n})();")
    mainland = [[-168.0, 54.0], [-130.0, 54.0], [-130.0, 71.4], [-168.0, 71.4], [-168.0, 54.0]]
    lake = [[-160.0, 60.0], [-150.0, 60.0], [-150.0, 65.0], [-160.0, 65.0], [-160.0, 60.0]]
    islands = [
        [[172.4, 52.8], [173.4, 52.8], [173.4, 53.0], [172.4, 52.8]],
        [[-180.0, 51.9], [-179.1, 51.9], [-180.0, 51.2]],
    ]
    style = (folder / "site" / "site.css").read_text()
    with opened(browser, tmp_path, viewport={"width": 800, "height": 900}) as watched:
        watched.page.add_script_tag(content=script)
        watched.page.set_content(f"<style>{style}</style><svg class=shapes><path class=shade-4></path></svg>")
        map_of = """rings => { const { width, height, pathOf } = fitted([{ rings }]);
            const path = document.querySelector("path");
            path.setAttribute("d", rings.map(pathOf).join(""));
            path.ownerSVGElement.setAttribute("viewBox", `0 0 ${width} ${height}`);
            const at = (x, y) => path.isPointInFill(new DOMPoint(x, y));
            const box = path.getBBox();
            const of = (lon, lat) => pathOf([[lon, lat]]).slice(1, -1).split(",").map(Number);
            return [box.width / box.height, at(...of(-140, 60)), at(...of(-155, 62)), of(172.4, 52.8)[0], of(-130, 54)[0]]; }"""
        shape, on_land, in_lake, attu, east = watched.page.evaluate(map_of, [mainland, lake, *islands])
    assert (on_land, in_lake) == (True, False)
    assert (attu, east) == (0.0, 1000.0)
    assert shape == pytest.approx(57.6 * math.cos(math.radians((51.2 + 71.4) / 2)) / 20.2, rel=0.01)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_the_site_works_from_a_server_and_asks_it_alone(browser: Browser, folder: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder / "site"))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            own = f"http://127.0.0.1:{server.server_address[1]}/"
            context = browser.new_context()
            page, asked, complaints = context.new_page(), [], []
            page.on("request", lambda request: asked.append(request.url))
            page.on("console", lambda message: complaints.append(message.text))
            page.goto(f"{own}index.html{COUNTY}/1009")
            page.wait_for_selector("[data-number=total]")
            context.close()
        finally:
            server.shutdown()
            thread.join()
    assert complaints == []
    assert all(url.startswith((own, "data:")) for url in asked)


@pytest.mark.parametrize("route", ROUTES)
def test_a_view_prints_on_few_sheets_without_what_can_only_be_clicked(
    browser: Browser, folder: Path, route: str
) -> None:
    """Sheets beside the height of the view as it is printed, in sheets of A4 without their margins."""
    with opened(browser, folder / "site" / "index.html", viewport={"width": 688, "height": 1017}) as watched:
        page = watched.page
        page.wait_for_selector("main h1")
        go(page, route)
        assert page.locator("main h1").text_content() not in {"Can't be read", "Not found"}
        page.emulate_media(media="print")
        sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", margin=MARGIN)))
        height = page.evaluate("document.documentElement.scrollHeight") / 1017
        assert 1 <= sheets <= 1.2 * height + 1
        assert page.evaluate("document.documentElement.scrollWidth") == 688
        assert not page.locator(".top, .actions, .filters").and_(page.locator(":visible")).count()
        assert page.locator("#status").is_visible()
