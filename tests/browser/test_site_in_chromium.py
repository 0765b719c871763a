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
from xml.etree import ElementTree

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

import safetab
from tests.browser.chromium import Watched, axe_violations, chromium, opened
from tests.inside import (
    VERSION,
    Absence,
    DiscreteGaussian,
    DiscreteLaplace,
    Estimate,
    LinkedSite,
    Release,
    WeightedDraws,
    chance_in_words,
    shown,
    weighted_sum,
    write_demo_census,
    write_site,
)
from tests.worlds.households import write_household_world
from tests.worlds.people import write_random_world

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
    safetab.run(*world, folder / "households", test_key="0a" * 32)
    world = write_random_world(folder / "people-world", 21, people=250, max_race_codes=3)
    safetab.run(*world, folder / "people", test_key="0a" * 32)
    for name, other in (("households", "people"), ("people", "households")):
        linked = LinkedSite(folder / other, str(folder / f"{other}-site"))
        write_site(folder / name, folder / f"{name}-site", linked=linked)
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


def in_a_row(number: Estimate) -> str:
    """The same in a list of groups or areas, where a number that noise took to zero or below is its range."""
    low, high = number.interval
    if number.value > 0:
        return in_words(number)
    value = in_words(number).split(" ", maxsplit=1)[0]
    return f"few or none ({value}) {low:,} to {high:,}" if low != high else f"few or none ({value}) {low:,}"


def cells(page: Page, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_text_contents()]


def test_500_numbers_that_are_shown_are_those_of_open_release(watched, release):
    page, compared, rng = watched.page, 0, random.Random(3)
    areas = [("COUNTY", "44007"), ("STATE", "15"), ("USA", "1"), ("PLACE", "4459000"), ("PR-COUNTY", "72127")]
    for level, region in areas:
        go(page, f"#/area/{level}/{region}")
        for more in page.get_by_role("button", name=re.compile("Show all")).all():
            more.click()
        texts = page.evaluate("""() => [...document.querySelectorAll('table.list tbody tr')].map(row => [
            row.querySelector('a').hash.split('/').pop(), row.cells[1].textContent, row.cells[2].textContent])""")
        entity = release.area(region, level)
        answers = {one.counted[0].group.code: one for one in release.totals(area=entity).numbers}
        for code, number, beside in texts:
            assert number == "withheld" or f"{number} {beside}".strip() == in_a_row(answers.pop(code))
            compared += 1
        assert answers == {}
        for code in rng.sample([code for code, number, _ in texts if number != "withheld"], 4):
            compared += check_table(page, release, (level, region, code))
    assert compared >= 500


def check_table(page: Page, release: Release, key: tuple[str, str, str]) -> int:
    level, region, code = key
    go(page, f"#/area/{level}/{region}/{code}")
    entity, group = release.area(region, level), release.group(code)
    total = release.total(entity, group)
    assert page.locator("[data-number=total]").text_content() == in_words(total).split(" ", maxsplit=1)[0]
    low, high = total.interval
    shown_range = f"{low:,} to {high:,}" if low != high else f"{low:,}"
    is_too_low = total.value < 0 and high == 0
    assert ("no useful range" if is_too_low else shown_range) in page.inner_text("[data-interval=total]")
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


def test_households_are_shown_with_both_of_their_tables(browser, folder):
    release = safetab.open_release(folder / "households")
    with opened(browser, folder / "households-site" / "index.html") as watched:
        page, compared = watched.page, 0
        page.wait_for_selector("main h1")
        for answer in release.totals(area=release.area("01", "STATE")).numbers[:12]:
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


def sum_shown(page: Page, section: str = "main") -> str:
    return " ".join(cells(page, f"{section} [data-number=sum], {section} [data-interval=sum]"))


def sum_in_words(number: Estimate) -> str:
    low, high = number.interval
    ends = f"{low:,} to {high:,}" if low != high else f"{low:,}"
    return f"{number.value:,} ± {number.margin_of_error:,}: {ends}".replace("-", "\N{MINUS SIGN}")


def test_sums_of_ages_and_sexes_are_those_of_open_release(watched, release):
    """Any range between boundaries of the table, of groups with each of the tables."""
    page, rng, compared, shapes = watched.page, random.Random(7), 0, set[str]()
    for level, region in (("STATE", "44"), ("COUNTY", "44007")):
        entity = release.area(region, level)
        tables = [release.table(entity, one.counted[0].group) for one in release.totals(area=entity).numbers]
        of_shape = {table.shape.label: table for table in tables if table.shape.cells > 1}
        for table in of_shape.values():
            go(page, f"#/area/{level}/{region}/{table.group.code}")
            assert sum_shown(page) == ""
            starts = sorted({first for _, first, _ in table.shape.cell_labels})
            for sex in ("both", "male", "female"):
                first, last = sorted(rng.sample([*starts, 116], 2))
                page.select_option("#from-age-0", label=str(first))
                page.select_option("#to-age-0", label="no limit" if last == 116 else str(last - 1))
                for name in ("Male", "Female"):
                    page.get_by_label(name, exact=True).set_checked(sex in {"both", name.lower()})
                wanted = sum_in_words(table.count(sex, (first, last - 1)))
                is_whole = (sex, first, last) == ("both", 0, 116)
                assert sum_shown(page) == ("" if is_whole else wanted), (table.group.name, sex, first, last)
                compared += 1
            shapes.add(table.shape.label)
    assert compared >= 12
    assert len(shapes) == 3


def test_children_are_one_click_and_a_download_has_their_sum(watched, release):
    page = watched.page
    go(page, "#/area/STATE/44/1087")
    page.get_by_role("button", name="Under 18 years").click()
    children = release.table("Rhode Island", "1087").count(ages=(0, 17))
    assert children.form.noise.parts[0].draws > 2
    assert sum_shown(page) == sum_in_words(children)
    (row,) = [row for row in csv.DictReader(io.StringIO(downloaded(page))) if row["line"] == "age 0 to 17"]
    numbers = [int(row[name]) for name in ("estimate", "margin_of_error", "interval_low", "interval_high")]
    assert numbers == [children.value, children.margin_of_error, *children.interval]
    assert (row["note"], row["release_status"]) == ("sum of 8 numbers of the table", "test key, not for release")
    page.get_by_role("button", name="Female").click()
    assert sum_shown(page) == sum_in_words(release.table("Rhode Island", "1087").count("female", (0, 17)))
    page.get_by_role("button", name="Under 18 years").click()
    page.get_by_label("Female", exact=True).uncheck()
    assert sum_shown(page) == ""


def test_any_cells_of_household_tables_are_added_up(browser, folder):
    release, compared = safetab.open_release(folder / "households"), 0
    with opened(browser, folder / "households-site" / "index.html") as watched:
        page = watched.page
        page.wait_for_selector("main h1")
        for answer in release.totals(area=release.area("01", "STATE")).numbers[:8]:
            counted = answer.counted[0]
            go(page, f"#/area/STATE/01/{counted.group.code}")
            for family in release.product.families:
                table = release.table(counted.entity, counted.group, family=family.name)
                single = [one for one in table.lines if one.counted[0].line.cells == 1]
                if len(single) < 3:
                    continue
                section = f"main section:has(> h2:text-is('{family.detail.capitalize()}'))"
                assert page.locator(f"{section} input:checked").count() == 0
                chosen = single[::2]
                for one in single:
                    box = page.locator(section).get_by_label(one.counted[0].line.stub, exact=True)
                    box.set_checked(one in chosen)
                assert sum_shown(page, section) == sum_in_words(release.sum(chosen))
                compared += 1
        assert compared >= 4
        assert watched.complaints == []


SEVERAL_TOTALS = "were measured separately, each with its own random noise, so their totals can differ."
ALONE_ABOVE = "Each group has its own random noise, so a group alone can come out larger"


def test_tables_that_do_not_add_up_to_the_total_say_why(browser, folder):
    """The large number is that of one table; the total of the other has noise of its own."""
    release, said = safetab.open_release(folder / "households"), set[bool]()
    with opened(browser, folder / "households-site" / "index.html") as watched:
        watched.page.wait_for_selector("main h1")
        for area in ("01", "44"):
            for answer in release.totals(area=release.area(area, "STATE")).numbers:
                counted = answer.counted[0]
                tables = [
                    release.table(counted.entity, counted.group, family=one.name) for one in release.product.families
                ]
                totals = {table.lines[0].value for table in tables if len(table.shape.lines) > 1} | {answer.value}
                go(watched.page, f"#/area/STATE/{area}/{counted.group.code}")
                assert (SEVERAL_TOTALS in watched.page.locator("main").text_content()) == (len(totals) > 1)
                said.add(len(totals) > 1)
    assert said == {True, False}


def test_a_group_alone_above_the_same_group_in_combination_is_explained(browser, folder, tmp_path):
    """The site of the fixture has a rule that withholds such numbers, and says nothing."""
    safetab.rerelease(folder / "out", tmp_path / "without-rule")
    write_site(tmp_path / "without-rule", tmp_path / "site")
    release, said = safetab.open_release(tmp_path / "without-rule"), 0
    for site, has_rule in ((folder / "site", True), (tmp_path / "site", False)):
        with opened(browser, site / "index.html") as watched:
            watched.page.wait_for_selector("main h1")
            for area in ("44", "15", "49", "50"):
                numbers = release.totals(area=release.area(area, "STATE")).numbers
                values = {(one.counted[0].group.level, one.counted[0].group.name): one.value for one in numbers}
                is_above = any(
                    value > values.get((level, f"{name} or in any combination"), math.inf)
                    for (level, name), value in values.items()
                )
                go(watched.page, f"#/area/STATE/{area}")
                is_said = ALONE_ABOVE in watched.page.locator("main").text_content()
                assert is_said == (is_above and not has_rule)
                said += is_said
                if is_said:
                    check_pair(watched.page, numbers)
    assert said


def check_pair(page: Page, numbers: tuple[Estimate, ...]) -> None:
    """Both groups of a pair are marked, and the page of each has the range that uses both numbers."""
    of_name = {(one.counted[0].group.level, one.counted[0].group.name): one for one in numbers}
    pairs = [
        (one, of_name[level, f"{name} or in any combination"])
        for (level, name), one in of_name.items()
        if (level, f"{name} or in any combination") in of_name
    ]
    contradictory = [(alone, any_) for alone, any_ in pairs if alone.value > any_.value]
    for more in page.get_by_role("button", name=re.compile("Show all")).all():
        more.click()
    marked = page.eval_on_selector_all("tr:has(.mark) a", "links => links.map(link => link.hash.split('/').pop())")
    assert set(marked) == {one.counted[0].group.code for pair in contradictory for one in pair}
    for alone, any_ in contradictory[:1]:
        low, high = alone.interval[0], any_.interval[1]
        share = any_.variance / (alone.variance + any_.variance)
        mean = share * alone.value + (1 - share) * any_.value
        sides = [f"STATE/{one.counted[0].entity.region_id}/{one.counted[0].group.code}" for one in (alone, any_)]
        for route in (
            *(f"#/area/{side}" for side in sides),
            f"#/compare/{'/'.join(sides)}",
            f"#/compare/{'/'.join(sides[::-1])}",
        ):
            go(page, route)
            assert page.locator(".difference, [data-verdict]").count() == 0
            assert "it holds them less often" in page.inner_text("[data-pair]")
            assert page.locator("[data-interval=both]").text_content() == (
                f"{low:,} to {high:,}" if low < high else f"{low:,}"
            )
            value = page.locator("[data-number=both]").text_content().removeprefix("about ").replace(",", "")
            assert float(value) == pytest.approx(min(max(mean, low), high), abs=0.51)


def test_an_absent_number_has_its_reason_and_what_to_use_instead(watched, release):
    page, looked_at = watched.page, 0
    entity = release.area("44007", "COUNTY")
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
def test_a_comparison_says_how_often_noise_alone_does_it(watched, release, other):
    page = watched.page
    level, region, code = other.split("/")
    a = release.total(release.area("44007", "COUNTY"), release.group("1002"))
    b = release.total(release.area(region, level), release.group(code))
    assert isinstance(a, Estimate)
    assert isinstance(b, Estimate)
    go(page, f"#/compare/COUNTY/44007/1002/{other}")
    difference = release.differ(a, b)
    assert page.locator("[data-number=difference]").text_content() == f"{abs(difference.value):,}"
    low, high = sorted(end if difference.value > 0 else -end for end in difference.interval)
    ends = f"{low:,} to {high:,}" if low > 0 else f"between {-low:,} fewer and {high:,} more"
    assert f"The true difference is {ends}, with 95 % confidence." in page.inner_text("[data-interval=difference]")
    chance = page.locator("[data-chance]")
    assert float(chance.get_attribute("data-chance")) == pytest.approx(difference.chance_of_noise_alone, abs=1e-8)
    assert chance_in_words(difference.chance_of_noise_alone) in chance.text_content()


@pytest.mark.parametrize(
    ("route", "sentence"),
    [
        ("COUNTY/44003/1007/COUNTY/44007/1007", "There are about {n} more people of the group German alone in {b} than in {a}."),
        ("COUNTY/44007/1007/COUNTY/44007/1160",
         "There are about {n} more people of the group German alone than of the group Mexican in {a}."),
        ("COUNTY/44007/1007/COUNTY/49035/1160", "There are about {n} more people of the group German alone in {a} than of the group Mexican in {b}."),
    ],
)  # fmt: skip
def test_a_comparison_names_what_it_compares(watched, release, route, sentence):
    a, b = (release.area(route.split("/")[n], "COUNTY").name for n in (1, 4))
    go(watched.page, f"#/compare/{route}")
    said = watched.page.inner_text(".difference")
    assert said == sentence.format(a=a, b=b, n=watched.page.inner_text("[data-number=difference]"))


def test_a_number_below_zero_is_few_or_none_and_is_still_given(watched, release):
    page, state = watched.page, release.area("15", "STATE")
    number = next(one for one in release.totals(area=state).numbers if one.value < 0 < one.interval[1])
    go(page, f"#/area/STATE/15/{number.counted[0].group.code}")
    assert page.inner_text(".answer .big") == "Few or none"
    assert page.inner_text("[data-interval=total]") == f"0 to {number.interval[1]} people"
    assert page.inner_text("[data-number=total]") == f"\N{MINUS SIGN}{-number.value}"
    go(page, f"#/compare/STATE/15/{number.counted[0].group.code}/COUNTY/44007/1002")
    assert page.inner_text("[data-verdict]").startswith("Noise took a number to zero or below, so only the ranges")
    assert page.locator(".difference, [data-chance], [data-interval=difference]").count() == 0


def test_a_range_of_nothing_but_zero_is_not_called_sure(watched, release):
    page = watched.page
    numbers = (one for state in release.areas("state") for one in release.totals(area=state).numbers)
    number = next(one for one in numbers if one.value < 0 == one.interval[1])
    counted = number.counted[0]
    side = f"{counted.entity.geography.label}/{counted.entity.region_id}/{counted.group.code}"
    go(page, f"#/area/{side}")
    said = page.inner_text(".answer")
    assert "Probably few or none: the noise came out unusually low here" in said
    assert "sure that the true number" not in said
    go(page, f"#/compare/{side}/COUNTY/44007/1002")
    assert "nothing useful can be said of the difference" in page.inner_text("[data-verdict]")


def test_a_group_alone_links_to_the_one_in_combination_and_back(watched, release):
    page = watched.page
    both = [release.group(name).code for name in ("German alone", "German alone or in any combination")]
    for code, other in (both, both[::-1]):
        go(page, f"#/area/STATE/44/{code}")
        assert page.locator("[data-partner] a").get_attribute("href") == f"#/area/STATE/44/{other}"


def test_the_page_says_whose_numbers_these_are_and_how_to_cite_them(watched):
    page, title = watched.page, "Race and ethnicity groups of a synthetic census"
    assert page.title() == title
    assert page.inner_text("#home-link").split("\n") == [title, "safetab, with invented people"]
    assert page.inner_text("h1 small").strip() == "safetab, with invented people"
    assert page.inner_text("#source").startswith(
        "Published by: safetab, with invented people. Source: Synthetic records"
    )
    begins = f"safetab, with invented people: {title}. Not for release (test key), made "
    go(page, "#/about")
    assert page.inner_text("[data-citation]").startswith(begins)
    go(page, f"{COUNTY}/1007")
    page.click("text=Cite this number")
    cited = page.inner_text("[data-citation]")
    assert cited.startswith(begins)
    assert (
        f"German alone, Providence County, Rhode Island: {page.inner_text('[data-number=total]')} people, ± " in cited
    )
    assert re.search(r" Accessed \d+ [A-Z][a-z]+ \d{4}\.$", cited)


def test_words_are_defined_where_they_appear(watched):
    page = watched.page
    alone = "“Alone” means that every race answer is in this group."
    go(page, f"{COUNTY}/1007")
    assert page.inner_text("[data-meaning=kind]") == alone
    page.fill("#find", "german")
    page.wait_for_selector("[role=option]")
    notes = ["group; every race answer is in it", "group; at least one race answer is in it"]
    assert page.locator("[role=option] small").all_inner_texts()[:2] == notes
    go(page, COUNTY)
    page.click("text=What do the words mean?")
    said = page.inner_text(".meanings")
    assert alone in said
    assert "“Alone or in any combination” means that at least one race answer is in this group." in said
    assert "“± 75” means that random noise moved the number by at most 75, 95 % of the time." in said
    assert "“No number” means that no count is published. It does not mean zero." in said


def test_people_and_households_lead_to_the_same_area_and_group(browser, folder):
    with opened(browser, folder / "people-site" / "index.html") as watched:
        page = watched.page
        page.wait_for_selector("main h1")
        level, region = "STATE", json.loads((folder / "people-world" / "parameters" / "config.json").read_text())
        code = safetab.open_release(folder / "people").groups()[0].code
        route = f"#/area/{level}/{region['state_filter_us'][0]}/{code}"
        go(page, route)
        link = page.locator(".go-on a", has_text="Households: ").get_attribute("href")
        assert link == f"../households-site/index.html{route}"
        page.click("#linked a")
        page.wait_for_url(f"**/households-site/index.html{route}")
        page.wait_for_selector("main:not([aria-busy]) .answer")
        assert page.inner_text("#linked").split() == ["People", "Households"]
        assert page.inner_text("#linked [aria-current]") == "Households"
        page.click("#linked a")
        page.wait_for_url(f"**/people-site/index.html{route}")
        assert watched.complaints == []


def test_noise_of_both_kinds_sums_as_it_does_in_safetab(browser, folder, tmp_path):
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


FOUND = {
    "nation": "USA/1", "USA": "USA/1", "United States": "USA/1", "RI": "STATE/44", "rhode island": "STATE/44",
    "Providence County, RI": "COUNTY/44007", "44007": "COUNTY/44007", "providence county": "COUNTY/44007",
    "providence county, rhode island": "COUNTY/44007", "Mayaguez Municipio": "PR-COUNTY/72097",
    "15001000100": "TRACT/15001000100", "Navajo, AZ": "AIANNH/2430", "rhode island dominican": "STATE/44/1167",
    "Hmong alone Providence County": "COUNTY/44007/1048", "mexican in Providence city, RI": "PLACE/4459000/1160",
    "44007 1048": "COUNTY/44007/1048", "Hmong alone — in Kent County, Rhode Island": "COUNTY/44003/1048",
}  # fmt: skip


def test_places_and_groups_are_found_by_the_names_that_people_use(watched):
    for typed, wanted in FOUND.items():
        go(watched.page, "#/about")
        watched.page.fill("#find", typed)
        watched.page.press("#find", "Enter")
        watched.page.wait_for_url(f"**#/area/{wanted}")


def test_one_question_after_another_is_answered_though_views_come_late(watched):
    """No view takes the focus from a reader who came back to the field, or puts its own text beside what is typed."""
    page = watched.page
    page.evaluate("location.hash = '#/area/STATE/44'; document.querySelector('#find').focus()")
    expect(page.locator("main h1")).to_contain_text("Rhode Island")
    expect(page.locator("#find")).to_have_value("Rhode Island")
    page.keyboard.type("44007 1048")
    page.keyboard.press("Enter")
    page.wait_for_url("**#/area/COUNTY/44007/1048")
    expect(page.locator("main")).to_be_focused()
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 10})
    for typed in ("RI", "Mayaguez Municipio", "15001000100", "Navajo, AZ"):
        page.fill("#find", typed)
        page.press("#find", "Enter")
        page.wait_for_url(f"**#/area/{FOUND[typed]}")


TYPE_WHILE_A_VIEW_COMES = """submits => {
    location.hash = "#/area/STATE/44";
    const field = document.querySelector("#find");
    field.value = "44007";
    field.dispatchEvent(new Event("input"));
    if (submits) {
        document.querySelector("#finder button").focus();
        document.querySelector("#finder").requestSubmit();
    }
}"""


def test_a_view_that_comes_while_the_reader_types_leaves_the_text_alone(watched):
    page = watched.page
    page.focus("#find")
    page.evaluate(TYPE_WHILE_A_VIEW_COMES, False)
    expect(page.locator("main h1")).to_contain_text("Rhode Island")
    expect(page.locator("#find")).to_have_value("44007")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**#/area/COUNTY/44007")
    expect(page.locator("#find")).to_have_value("Providence County, Rhode Island")
    expect(page.locator("#find-list")).to_be_hidden()
    page.fill("#find", "xyzzy")
    page.keyboard.press("Enter")
    page.go_back()  # a view that was left shows its own place
    expect(page.locator("#find")).to_have_value("Rhode Island")


def test_a_question_is_answered_though_another_view_comes_before(watched):
    watched.page.evaluate(TYPE_WHILE_A_VIEW_COMES, True)
    watched.page.wait_for_url("**#/area/COUNTY/44007")
    expect(watched.page.locator("#find")).to_have_value("Providence County, Rhode Island")


WHICH, MEAN, NOTHING = (
    "Which one do you mean?",
    "Did you mean one of these?",
    "No place or group with this name was found.",
)
ITALIAN = ["Italian alone group; every race answer is in it",
           "Italian alone or in any combination group; at least one race answer is in it"]  # fmt: skip
NAVAJO = ("Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM--UT place; American Indian, Alaska Native or "
          "Native Hawaiian area")  # fmt: skip
HMONG = [f"Hmong {kind} group; {answers} race answer is in it"
         for kind, answers in (("alone", "every"), ("alone or in any combination", "at least one"))]  # fmt: skip
IN_KENT = [f"Hmong {kind} — in Kent County, Rhode Island group in a place; county"
           for kind in ("alone", "alone or in any combination")]  # fmt: skip
LISTED = {
    "Xyzzy": (NOTHING, []),
    "Indian American": (NOTHING, []),
    "Mexican American": (MEAN, ["Mexican group; ethnicity"]),
    "italian": (WHICH, ITALIAN),
    "Itallian": (MEAN, ITALIAN),
    "hmong kent county": (WHICH, IN_KENT),
    "kent county hmnog": (MEAN, IN_KENT),
    "avajo": (MEAN, [NAVAJO]),
    "navajo": (WHICH, [NAVAJO, "Navajo Nation alone group; every race answer is in it",
                       "Navajo Nation alone or in any combination group; at least one race answer is in it"]),
    "navajo new mexico": (WHICH, [NAVAJO, "Navajo Nation alone — in New Mexico group in a place; state",
                                  "Navajo Nation alone or in any combination — in New Mexico group in a place; state"]),
    "hispanic": (WHICH, ["Hispanic group; ethnicity", "Caribbean Hispanic group; ethnicity",
                         "Other Hispanic, Latino, or Spanish group; ethnicity",
                         "Hispanic or Latino group; major group, not counted here",
                         "Not Hispanic or Latino group; major group, not counted here"]),
    "hmong fresno": ("Nothing called “fresno” was found here, only “hmong”.", HMONG),
    "xyzzy vermont": ("Nothing called “xyzzy” was found here, only “vermont”.", ["Vermont place; state"]),
    "white vermont": ("“white” has no numbers of its own here. Did you mean one of these?", [
        "Vermont place; state", "White alone group; major group, not counted here",
        "White alone or in any combination group; major group, not counted here"]),
    "mexicans": (MEAN, ["Mexican group; ethnicity"]),
    "providence vermont": (MEAN, ["Providence County, Rhode Island place; county", "Providence city, Rhode Island place",
                                  "Vermont place; state"]),
    "tract 1 providence": (MEAN, ["Census Tract 1, Providence County, Rhode Island place; tract"]),
}  # fmt: skip


def test_what_is_not_exact_is_listed_and_never_taken(watched):
    page = watched.page
    for typed, (said, listed) in LISTED.items():
        page.fill("#find", typed)
        page.press("#find", "Enter")
        expect(page.locator("#find-hint")).to_contain_text(said)
        expect(page.locator("#find-list li")).to_have_text(listed)
        if listed:
            expect(page.locator("#announcer")).to_have_text(f"{len(listed)} choice{'s' * (len(listed) > 1)}.")
    for typed, first in {
        "Provdence County": "Providence",
        "dominican provdence county": "Dominican — in Providence",
    }.items():
        page.fill("#find", typed)
        page.press("#find", "Enter")
        expect(page.locator("#find-list li").first).to_contain_text(f"{first} County, Rhode Island")
        assert page.locator("#find-hint").text_content() == MEAN
    assert page.evaluate("location.hash") in {"", "#/"}


def test_a_group_of_all_others_is_in_a_place_only_if_it_is_asked_for(watched):
    page, other = watched.page, "Other Hispanic, Latino, or Spanish — in Providence County, Rhode Island"
    page.fill("#find", "other latino providence")
    expect(page.locator("#find-list li").first).to_contain_text(other)
    page.fill("#find", "latino providence")
    expect(page.locator("#find-list li").first).to_contain_text("Providence County, Rhode Island place; county")
    assert not any(" — in " in one for one in cells(page, "#find-list li"))


def test_a_word_lists_all_groups_that_have_it(watched):
    """Asian itself is a major group, which is not counted."""
    watched.page.fill("#find", "asian")
    expect(watched.page.locator("#find-list li")).to_have_count(12)
    names = cells(watched.page, "#find-list li bdi")
    assert {"East Asian alone", "South Asian alone", "Southeast Asian alone", "Asian Indian alone"} <= {*names[:10]}
    assert names[10:] == ["Asian alone", "Asian alone or in any combination"]
    watched.page.fill("#find", "asians")
    expect(watched.page.locator("#find-hint")).to_have_text(MEAN)
    assert sorted(cells(watched.page, "#find-list li bdi")) == sorted(names)


def test_everything_can_be_done_by_keyboard(watched):
    page = watched.page
    for key in ("Tab", "Enter"):  # the skip link
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.id") == "main"
    page.focus("#find")
    page.keyboard.type("italian alone provid")
    page.wait_for_selector("#find-list li")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#find", "aria-activedescendant") == "find-0"
    page.keyboard.press("Enter")
    page.wait_for_url("**#/area/*/*/1009")
    page.wait_for_selector("[data-number=total], [data-reason]")
    go(page, COUNTY)
    page.focus("table.list thead th:nth-child(1) button")
    page.keyboard.press("Enter")
    names = cells(page, "table.list tbody th")
    assert names == sorted(names, key=str.casefold)
    assert page.get_attribute("table.list thead th:nth-child(1)", "aria-sort") == "ascending"


def test_back_and_forward_show_a_view_as_it_was_left(watched):
    page = watched.page
    go(page, COUNTY)
    page.fill("#filter", "an")
    page.select_option("#kind", "1")
    page.click("table.list thead th:nth-child(1) button")
    page.locator(".tiles, details summary").first.click()
    page.evaluate("scrollTo(0, 300)")
    left = page.locator("main").inner_text()
    page.locator("table.list tbody a").nth(9).click()
    page.wait_for_selector("[data-number=total], [data-reason]")
    assert page.evaluate("scrollY") == 0
    number = page.locator("main").inner_text()
    for _ in range(2):
        page.go_back()
        page.wait_for_selector("main:not([aria-busy]) #filter")
        assert (page.input_value("#filter"), page.input_value("#kind"), page.evaluate("scrollY")) == ("an", "1", 300)
        assert page.locator("main").inner_text() == left
        assert page.title() == page.input_value("#find") == "Providence County, Rhode Island"
        page.go_forward()
        page.wait_for_selector("[data-number=total], [data-reason]")
        assert page.locator("main").inner_text() == number


def test_every_group_is_reached_by_links_from_the_first_page(watched, release):
    page, seen, ahead = watched.page, set[str](), ["#/"]
    counted = {one.code for one in release._universe.lists.iterations if one.level.is_tabulated}
    links = "[...document.querySelectorAll('main .links a, main .crumbs a')].map(link => link.hash)"
    while ahead:
        route = ahead.pop()
        if route != "#/":
            go(page, route)
        found = [one for one in page.evaluate(links) if re.fullmatch(r"#/group/\w+", one)]
        ahead += [
            one
            for one in dict.fromkeys(found)
            if one not in seen and len(seen) < len(counted) and _is_wide(one, release)
        ]
        seen.update(found)
    assert {one.removeprefix("#/group/") for one in seen} == counted
    go(page, "#/")
    page.get_by_role("link", name="All groups").click()
    page.wait_for_selector("h1:has-text('All groups')")
    assert {one.removeprefix("#/group/") for one in page.evaluate(links) if one.startswith("#/group/")} == counted
    page.fill("#filter", "asian ind")
    assert cells(page, "main .links a") == ["Asian Indian", "Asian Indian"]


def _is_wide(route: str, release: Release) -> bool:
    """Whether there are finer groups inside, so that its view need not be opened for the others."""
    return release.group(route.removeprefix("#/group/")).level.number == 1


ROUTES = [
    "#/",
    "#/groups",
    COUNTY,
    f"{COUNTY}/1009",
    "#/group/1002/state",
    "#/group/1002/tract/44007",
    "#/about",
    "#/compare/COUNTY/44007/1002/COUNTY/15003/1002",
]


MARGIN = dict.fromkeys(("top", "bottom", "left", "right"), "14mm")


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_no_view_is_wider_than_the_screen(browser, folder, width):
    with opened(browser, folder / "site" / "index.html", viewport={"width": width, "height": 900}) as watched:
        for route in ROUTES:
            go(watched.page, route)
            assert watched.page.locator("main h1").text_content() not in {"Can't be read", "Not found"}, route
            assert watched.page.evaluate("document.documentElement.scrollWidth") == width, route


def test_a_phone_has_the_note_or_the_share_of_a_number_below_it(browser, folder):
    """Columns of notes and shares have no room there."""
    seen = {}
    for width in (390, 1440):
        with opened(browser, folder / "site" / "index.html", viewport={"width": width, "height": 900}) as watched:
            go(watched.page, "#/group/1002/tract/44007")
            selectors = ("tbody td:last-child", "tbody td:nth-child(5)", ".below")  # notes, shares, what is below
            found = [watched.page.locator(f"table.list {one}").all() for one in selectors]
            seen[width] = [[one.inner_text() for one in some if one.is_visible()] for some in found]
    (notes, shares, _), (_, _, below) = seen[1440], seen[390]
    assert [*seen[390][:2], seen[1440][2]] == [[], [], []]
    assert below == [note or share for note, share in zip(notes, shares, strict=True) if note or share]
    assert any(notes)
    assert any(shares)


def test_what_is_not_for_release_is_not_called_released(browser, folder):
    with opened(browser, folder / "site" / "index.html") as watched:
        watched.page.wait_for_selector("main h1")
        source = watched.page.locator("#source").text_content()
    assert "Not for release" in source
    assert ". Made by safetab " in source
    assert "released" not in source


def test_the_site_is_dark_where_the_reader_likes_it(browser, folder):
    colours = {}
    for scheme in ("light", "dark"):
        with opened(browser, folder / "site" / "index.html", color_scheme=scheme) as watched:
            watched.page.wait_for_selector("main h1")
            colours[scheme] = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colours == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_are_readable_on_their_ground(browser, folder, scheme):
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


def test_what_is_shown_can_be_downloaded(watched, release):
    go(watched.page, COUNTY)
    rows = [*csv.DictReader(io.StringIO(downloaded(watched.page)))]
    numbers = {row["iteration_code"]: row for row in rows if row["status"] == "number"}
    answers = release.totals(area=release.area("44007", "COUNTY")).numbers
    assert {one.counted[0].group.code for one in answers} == set(numbers)
    for one in answers:
        row = numbers[one.counted[0].group.code]
        found = (int(row["estimate"]), int(row["margin_of_error"]), int(row["interval_low"]), int(row["interval_high"]))
        assert found == (one.value, one.margin_of_error, *one.interval)
    assert {row["status"] for row in rows} >= {"number", "suppressed", "not tabulated"}
    assert all(row["note"] for row in rows if row["status"] == "suppressed")
    assert {row["geo_id"] for row in rows} == {"0500000US44007"}
    go(watched.page, f"{COUNTY}/1002")
    lines = [row["line"] for row in csv.DictReader(io.StringIO(downloaded(watched.page)))]
    assert len(lines) > 3
    assert lines.count("both, all ages") == 1


def downloaded(page: Page) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    return Path(download.value.path()).read_text(encoding="utf-8-sig")


def test_every_download_keeps_the_status_the_source_and_the_date(watched, folder):
    date = json.loads((folder / "out" / "manifest.json").read_text())["date"]
    comparison = "#/compare/COUNTY/44007/1002/COUNTY/15003/1002"
    for route in (COUNTY, f"{COUNTY}/1002", "#/group/1002/state", comparison):
        go(watched.page, route)
        table = pd.read_csv(io.StringIO(downloaded(watched.page)), dtype=str)
        assert len(table) > 0, route
        assert [*table.columns[-3:]] == ["release_status", "source", "release_date"], route
        assert set(table["release_status"]) == {"test key, not for release"}
        assert set(table["source"]) == {f"safetab, with invented people. SafeTab-P, made by safetab {VERSION}"}
        assert set(table["release_date"]) == {date}


@pytest.mark.parametrize("route", ROUTES)
def test_every_view_is_a_link(browser, folder, watched, route):
    go(watched.page, route)
    with opened(browser, folder / "site" / "index.html") as other:
        other.page.goto(f"{(folder / 'site' / 'index.html').as_uri()}{route}")
        other.page.reload()
        other.page.wait_for_selector("main:not([aria-busy]) h1")
        assert other.page.locator("main").inner_text() == watched.page.locator("main").inner_text()


def test_a_link_to_nothing_says_so(watched):
    for route in ("#/area/COUNTY/99999", "#/group/0000", "#/nothing", "#/area/COUNTY/44007/%3Cimg%3E"):
        go(watched.page, route)
        assert watched.page.locator("main h1").text_content() == "Not found"


def test_the_status_is_on_every_view(watched, release):
    for route in ROUTES:
        go(watched.page, route)
        assert watched.page.locator("#status").text_content() == release.output_status.line
        assert watched.page.locator("#status").is_visible()


def test_the_status_is_away_only_where_a_picture_has_it(watched):
    """A link may name a picture that the view doesn't have."""
    page = watched.page
    for name in ("nothing", "", '"]'):
        go(page, f"{COUNTY}?embed={name}")
        expect(page.locator("table.list")).to_be_visible()
        expect(page.locator("#status")).to_be_visible()
    go(page, f"{COUNTY}?embed=list")
    expect(page.locator("main > svg")).to_be_visible()
    expect(page.locator("#status")).to_be_hidden()
    page.go_back()
    expect(page.locator("#status")).to_be_visible()
    page.go_forward()
    expect(page.locator("main > svg")).to_be_visible()
    expect(page.locator("#status")).to_be_hidden()


def test_the_name_of_a_tile_contains_what_it_shows_and_all_texts_are_in_landmarks(watched):
    """Who speaks to the page says what is seen; who hears it goes from landmark to landmark."""
    go(watched.page, "#/")
    tiles = watched.page.eval_on_selector_all(
        ".tiles a",
        "links => links.map(link => [link.getAttribute('aria-label'), ...[...link.querySelectorAll('text')].map(one => one.textContent)])",
    )
    assert ["RI, Rhode Island", "RI"] in tiles
    assert all(shown in name for name, shown in tiles)
    outside = """[...document.body.children].filter(one => one.textContent.trim() && one.checkVisibility()
        && !one.matches("header, main, footer, aside[aria-label], .skip, .unseen")).map(one => one.outerHTML)"""
    for route in ("#/", "#/group/1002/state"):
        go(watched.page, route)
        assert watched.page.evaluate(outside) == []
    labels = "[...document.querySelectorAll('[role=region], nav, section[aria-label]')].map(one => one.ariaLabel)"
    go(watched.page, COUNTY)
    names = watched.page.evaluate(labels)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "route",
    ["#/", "#/groups", "#/about", COUNTY, f"{COUNTY}/1167", f"{COUNTY}/1126", "#/group/1002/county", "#/compare"],
)
def test_axe_finds_nothing(watched, route):
    go(watched.page, route)
    watched.page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    assert axe_violations(watched.page) == []


def test_axe_finds_what_is_wrong(watched):
    watched.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any("button-name" in one for one in axe_violations(watched.page))


def labels_of_map(page: Page) -> list[str]:
    return page.eval_on_selector_all(".shapes a", "links => links.map(link => link.getAttribute('aria-label'))")


def in_list(page: Page) -> list[str]:
    """The areas of the list as the map labels them."""
    rows = page.eval_on_selector_all(
        "table.list tbody tr", "rows => rows.map(row => [0, 1, 2].map(n => row.cells[n].firstChild?.textContent ?? ''))"
    )
    return [f"{area}: {number} ({beside})" if beside else f"{area}: no number" for area, number, beside in rows]


@pytest.mark.parametrize("kind", ["state", "county"])
def test_states_and_counties_are_drawn_with_the_numbers_of_the_list(watched, kind):
    go(watched.page, f"#/group/1002/{kind}")
    assert sorted(labels_of_map(watched.page)) == sorted(in_list(watched.page))
    assert len(labels_of_map(watched.page)) == {"state": 6, "county": 24}[kind]
    assert watched.page.locator(".shapes .ground").count() == 52  # all states, so that a reader knows where these are
    assert "not in this release" in watched.page.locator(".legend").inner_text()


def test_the_counties_of_one_state_fill_their_map(watched):
    page = watched.page
    go(page, "#/group/1002/county")
    hint = page.get_by_text("Choose a state above to see its counties larger.")
    assert hint.count() == 1
    page.get_by_label("State").select_option("Rhode Island")
    page.wait_for_selector("main:not([aria-busy]) h1")
    expect(page.locator(".shapes a")).to_have_count(5)
    assert page.locator(".shapes .ground").count() == 1
    assert page.get_by_label("State").input_value() == "44"
    assert not hint.count()
    box = page.locator(".shapes .ground").bounding_box()
    assert 1.2 < box["height"] / box["width"] < 1.7
    assert box["height"] > 400


def test_a_map_shows_what_is_missing_and_what_is_uncertain(watched, release):
    """Lines where there is no number, dots where the range is wider than the number; the legend explains both."""
    seen = set()
    for code in ("1002", "1167", "1126"):
        go(watched.page, f"#/group/{code}/county")
        drawn = {
            link.get_attribute("href").split("/")[3]: (
                link.locator(".no-number").count(),
                link.locator(".dotted").count(),
            )
            for link in watched.page.locator(".shapes a").all()
        }
        wanted = {}
        for entity in release.areas("county"):
            answer = release.total(entity, release.group(code))
            has_number = isinstance(answer, Estimate)
            is_wide = has_number and answer.interval[1] - answer.interval[0] > answer.value
            wanted[entity.region_id] = (int(not has_number), int(is_wide))
        assert drawn == wanted
        legend = watched.page.locator(".legend").inner_text()
        assert ("no number, which does not mean zero" in legend) == ((1, 0) in wanted.values())
        assert ("the range is wider than the number itself" in legend) == ((0, 1) in wanted.values())
        seen |= {*wanted.values()}
    assert seen == {(0, 0), (0, 1), (1, 0)}


def test_a_map_can_show_shares(watched, release):
    """The share of the sum of all counties shown, and that of the wider group in each county."""
    page = watched.page
    go(page, "#/group/1167/county")
    county, group, around = release.area("44007", "COUNTY"), release.group("1167"), release.group("1165")
    number, wider = (release.total(county, one).value for one in (group, around))
    others = [release.total(one, group) for one in release.areas("county")]
    whole = sum(one.value for one in others if isinstance(one, Estimate))
    for words, share in (("the sum of all counties shown", number / whole), ("Caribbean Hispanic", number / wider)):
        page.get_by_label(f"Share of {words}").check()
        page.locator(".shapes a[href$='/44007/1167']").focus()
        said = page.locator(".said").inner_text()
        assert float(re.search(rf", ([0-9.]+) % of {words}$", said)[1]) == pytest.approx(100 * share, rel=0.06)


def test_an_area_of_a_map_is_reached_by_arrow_keys(watched):
    page = watched.page
    go(page, "#/group/1002/state")
    assert page.locator(".shapes a[tabindex='0']").count() == 1
    page.locator(".shapes a[href*='/35/']").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".said")).to_contain_text("Utah: ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".said")).to_contain_text("Hawaii: ")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Hawaii")


def test_a_first_tap_says_the_number_and_a_second_opens_it(browser, folder):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with opened(browser, folder / "site" / "index.html", **phone) as watched:
        go(watched.page, "#/group/1002/state")
        utah = watched.page.locator(".shapes a[href*='/49/'] path").first
        utah.tap()
        expect(watched.page.locator(".said")).to_contain_text("Utah: ")
        assert watched.page.evaluate("location.hash") == "#/group/1002/state"
        utah.tap()
        expect(watched.page.locator("h1")).to_contain_text("Utah")


def test_ranks_allow_for_overlapping_ranges_and_shares_are_of_what_is_published(watched):
    page = watched.page
    go(page, "#/group/1087/county")
    rows = [row for row in csv.DictReader(io.StringIO(downloaded(page))) if row["status"] == "number"]
    whole = sum(int(row["estimate"]) for row in rows)
    ends = [(int(row["interval_low"]), int(row["interval_high"])) for row in rows]
    for row, (low, high) in zip(rows, ends, strict=True):
        assert int(row["rank_from"]) == 1 + sum(other > high for other, _ in ends)
        assert int(row["rank_to"]) == sum(other >= low for _, other in ends)
        assert float(row["share"]) == pytest.approx(int(row["estimate"]) / whole, abs=1e-6)
    assert any(row["rank_from"] < row["rank_to"] for row in rows)
    note = page.locator("[data-shares]").text_content()
    assert note.endswith(f"Shares are of the sum of the {len(rows)} counties with a number.")
    assert "if every range holds its true number. Each range does so 95 % of the time." in note
    drawn = [text.removesuffix(" %") for text in cells(page, ".list tbody td:nth-child(5)") if text]
    assert sum(map(float, drawn)) == pytest.approx(100, abs=0.06 * len(rows))
    go(page, COUNTY)
    assert "the release has no number for everyone here" in page.locator("[data-shares]").text_content()


def test_what_a_filter_leaves_is_what_is_saved(watched, browser, tmp_path):
    """With its ranks in the whole list. The title, the names of the files and the embedded picture have the filter."""
    page = watched.page
    go(page, COUNTY)
    ranks = "() => [...document.querySelectorAll('.list tbody tr')].map(row => [row.cells[0].textContent, row.cells[3].textContent])"
    page.get_by_role("button", name="Show all").first.click()
    before = dict(page.evaluate(ranks))
    page.fill("#filter", "portug")
    left = dict(page.evaluate(ranks))
    assert 0 < len(left) < 5
    assert left.items() <= before.items()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    assert download.value.suggested_filename == "COUNTY-44007-only-groups-with-portug.csv"
    rows = [*csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig")))]
    assert {row["iteration_name"] for row in rows if row["status"] == "number"} == set(left)
    assert all("portug" in row["iteration_name"].lower() for row in rows)
    box = page.locator("[data-picture=list]")
    with page.expect_download() as download:
        box.get_by_role("button", name="Save as SVG").click()
    assert download.value.suggested_filename.endswith("-only-groups-with-portug.svg")
    words = Path(download.value.path()).read_text(encoding="utf-8")
    assert "Number of people." in words
    assert all(name in words for name in left)
    assert "Mexican" not in words
    box.get_by_role("button", name="Embed").click()
    (tmp_path / "article.html").write_text(box.locator("textarea").input_value(), encoding="utf-8")
    with opened(browser, tmp_path / "article.html") as other:
        label = other.page.frame_locator("iframe").locator("main > svg").get_attribute("aria-label")
    assert label.endswith(", only groups with “portug”")


def test_a_map_and_its_list_have_the_same_shares(watched, release):
    """There are none of numbers that are mostly noise, and none below 0 % or above 100 %."""
    page, offered = watched.page, set[bool]()
    codes = [one.code for one in release.groups(level="county")][::60]
    for code in ("1002", "1126", *codes):
        go(page, f"#/group/{code}/county")
        note = page.locator("[data-shares]")
        has_shares = note.count() == 1 and "no shares" not in note.text_content()
        of_sum = page.get_by_label("Share of the sum of all counties shown")
        assert of_sum.count() == int(has_shares)
        offered.add(has_shares)
        for choice in page.locator(".measures label", has_text="Share of").all():
            choice.click()
            legend = page.locator(".legend").inner_text()
            assert all(float(one) <= 100 for one in re.findall(r"([0-9.]+) %", legend)), code
            assert "\N{MINUS SIGN}" not in legend
            if re.search(r"^0 %", legend):
                assert page.locator(".legend .shade-0").count()
    assert offered == {False, True}


@pytest.mark.parametrize(
    ("route", "name"), [("#/area/STATE/44/1087", "table-0"), ("#/group/1002/state", "map"), (COUNTY, "list")]
)
def test_a_picture_says_what_it_is_when_it_is_saved_or_embedded(watched, browser, tmp_path, release, route, name):
    page = watched.page
    go(page, route)
    box = page.locator(f"[data-picture={name}]")
    saved = {}
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            box.get_by_role("button", name=f"Save as {kind}").click()
        saved[kind] = Path(download.value.path()).read_bytes()
    picture = ElementTree.fromstring(saved["SVG"])
    words = " ".join(picture.itertext())
    for one in (picture.get("aria-label"), f"safetab {VERSION}", release.output_status.line):
        assert one in " ".join(words.split())
    assert not any(one.get("class") or one.get("style") or one.get("href") for one in picture.iter())
    assert len([one for one in picture.iter() if one.tag.endswith(("}rect", "}path"))]) > 6
    assert saved["PNG"].startswith(b"\x89PNG")
    size = [int.from_bytes(saved["PNG"][at : at + 4]) for at in (16, 20)]
    assert size == [2 * int(picture.get(end)) for end in ("width", "height")]
    box.get_by_role("button", name="Embed").click()
    (tmp_path / "article.html").write_text(f"<h1>News</h1>{box.locator('textarea').input_value()}", encoding="utf-8")
    with opened(browser, tmp_path / "article.html") as other:
        frame = other.page.frame_locator("iframe")
        frame.locator("main > svg").wait_for()
        assert frame.locator("main > svg").get_attribute("aria-label") == picture.get("aria-label")
        assert release.output_status.line.split()[-1] in frame.locator("main > svg").text_content()  # lines are broken
        assert not frame.locator(".top, footer, table").and_(frame.locator(":visible")).count()
        assert other.complaints == []


def test_shapes_that_were_given_are_drawn_instead(folder, browser):
    ring = [[-71.9, 41.1], [-71.1, 41.1], [-71.1, 42.0], [-71.9, 42.0], [-71.9, 41.1]]
    feature = {"properties": {"GEOID": "44"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    (folder / "shapes.json").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    write_site(folder / "out", folder / "site-with-shapes", folder / "shapes.json")
    with opened(browser, folder / "site-with-shapes" / "index.html") as other:
        go(other.page, "#/group/1002/state")
        (label,) = labels_of_map(other.page)
        assert label.startswith("Rhode Island: ")
        assert label in in_list(other.page)
        assert "5 states have no outline here. The list below has them." in other.page.locator(".map").inner_text()
        box = other.page.locator(".shapes a path").first.bounding_box()
        assert box["height"] > box["width"] > 50  # 0.9 by 0.8 degrees at 41 north
        assert other.complaints == []


def test_alaska_is_drawn_whole_across_the_antimeridian_and_a_lake_is_no_land(browser, folder, tmp_path):
    """The Aleutians reach 179.8 east: the map must not go around the world for them."""
    script = (folder / "site" / "site.js").read_text()
    script = script.replace("start();\n})();", "Object.assign(window, { fittedInto, pathOf });\n})();")
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
        map_of = """rings => { const { width, height, shapes: [shape] } = fittedInto([{ rings }], 1000, 1000);
            const path = document.querySelector("path");
            path.setAttribute("d", pathOf(shape));
            path.ownerSVGElement.setAttribute("viewBox", `0 0 ${width} ${height}`);
            const between = (one, other) => path.isPointInFill(
                new DOMPoint((one[0] + other[0]) / 2, (one[1] + other[1]) / 2));
            const [land, lake, attu] = shape.rings;
            return [between(land[1], lake[1]), between(lake[0], lake[2]), attu[0][0], land[1][0], height]; }"""
        on_land, in_lake, attu, east, height = watched.page.evaluate(map_of, [mainland, lake, *islands])
    assert (on_land, in_lake) == (True, False)
    assert (attu, east) == (0.0, pytest.approx(1000.0))
    assert 500 < height < 800


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_the_site_works_from_a_server_and_asks_it_alone(browser, folder):
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
def test_a_view_prints_on_few_sheets_without_what_can_only_be_clicked(browser, folder, route):
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
        only_clicked = ".top, .actions, .filters, .on-screen, .meanings, .cite-number, footer a[href='#/about']"
        assert not page.locator(only_clicked).and_(page.locator(":visible")).count()
        assert page.locator("#status").is_visible()
