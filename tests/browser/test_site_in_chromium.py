"""The site of a release in headless Chromium. `make test-browser` runs these."""

import json
import random
import re
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain, product
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

import safetab
from tests.browser.chromium import (
    A4,
    HEIGHT,
    WIDTH,
    axe_violations,
    contrast,
    go,
    opened,
    opened_site,
    saved,
    saved_rows,
    served,
    sheets,
)
from tests.cases import cases_of
from tests.inside import (
    VERSION,
    Absence,
    DiscreteGaussian,
    DiscreteLaplace,
    Estimate,
    LinkedSite,
    WeightedDraws,
    chance_in_words,
    shown,
    weighted_sum,
    write_site,
)

pytestmark = pytest.mark.browser
COUNTY, PROVIDENCE = "#/area/COUNTY/44007", "Providence County, Rhode Island"
PUBLISHER = "safetab, with invented people"
A_NUMBER = "[data-number=total], [data-reason]"
MISSING = {"Can't be read", "Not found"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, demo_out, household_run, releases):
    """Sites of the demo and of two small releases, which lead to each other."""
    folder = tmp_path_factory.mktemp("site")
    write_site(demo_out, folder / "site")
    people = releases.people(21, run={"test_key": "0a" * 32}, people=250, max_race_codes=3)
    outs = {"households": household_run.out, "people": people.out}
    for name, other in (("households", "people"), ("people", "households")):
        (folder / name).symlink_to(outs[name])
        linked = LinkedSite(outs[other], str(folder / f"{other}-site"))
        write_site(outs[name], folder / f"{name}-site", linked=linked)
    return folder


@pytest.fixture(scope="module")
def release(demo_out):
    return safetab.open_release(demo_out)


@pytest.fixture
def page(browser, folder):
    with opened_site(browser, folder / "site") as page:
        yield page


def range_of(number):
    low, high = number.interval
    return f"{low:,} to {high:,}" if low != high else f"{low:,}"


def in_words(number):
    """The number with what stands beside it, as a table of the site writes them."""
    beside = range_of(number) if number.selection_matters else f"± {shown(number.margin_of_error)}"
    return f"{number.value:,} {beside}".replace("-", "\N{MINUS SIGN}")


def in_a_row(number):
    """The same in a list of groups or areas, where a number that noise took to zero or below is its range."""
    words = in_words(number)
    return words if number.value > 0 else f"few or none ({words.split()[0]}) {range_of(number)}"


def cells(page, selector):
    return [" ".join(text.split()) for text in page.locator(selector).all_text_contents()]


DRAWN = """() => [...document.querySelectorAll('table.bars, table.pyramid')].map(table =>
    [...table.querySelectorAll('[data-number]')].map(
        cell => [cell.dataset.number, cell.textContent.trim().replace(/\\s+/g, ' ')]))"""


def total_shown(page):
    return page.text_content("[data-number=total]")


def show_all(page):
    for more in page.get_by_role("button", name=re.compile("Show all")).all():
        more.click()


def test_500_numbers_that_are_shown_are_those_of_open_release(page, release):
    compared, rng = 0, random.Random(3)
    areas = [("COUNTY", "44007"), ("STATE", "15"), ("USA", "1"), ("PLACE", "4459000"), ("PR-COUNTY", "72127")]
    for level, region in areas:
        go(page, f"#/area/{level}/{region}")
        show_all(page)
        texts = page.evaluate("""() => [...document.querySelectorAll('table.list tbody tr')].map(row => [
            row.querySelector('a').hash.split('/').pop(), row.cells[1].textContent, row.cells[2].textContent])""")
        entity = release.area(region, level)
        answers = {one.counted[0].group.code: one for one in release.totals(area=entity).numbers}
        for code, number, beside in texts:
            assert number == "withheld" or f"{number} {beside}".strip() == in_a_row(answers.pop(code))
            compared += 1
        assert answers == {}
        for code in rng.sample([code for code, number, _ in texts if number != "withheld"], 4):
            compared += check_table(page, release, level, region, code)
    assert compared >= 500


def check_table(page, release, level, region, code):
    go(page, f"#/area/{level}/{region}/{code}")
    entity, group = release.area(region, level), release.group(code)
    total = release.total(entity, group)
    assert total_shown(page) == in_words(total).split(" ", maxsplit=1)[0]
    is_too_low = total.value < 0 == total.interval[1]
    assert ("no useful range" if is_too_low else range_of(total)) in page.inner_text("[data-interval=total]")
    table = release.table(entity, group)
    drawn = chain.from_iterable(page.evaluate(DRAWN))
    shown_lines = {name: text for name, text in drawn if text != "withheld"}
    assert shown_lines.items() <= named_lines(release, table).items()
    return len(shown_lines) + 1


def named_lines(release, table):
    """Numbers of a table as the site writes them, by the names of their lines."""
    return {release.product.line_question.name_of(one.counted[0].line): in_words(one) for one in table.lines}


def finer_tables(release, counted):
    """The tables of a group that are more than its total."""
    tables = (release.table(counted.entity, counted.group, family=one.name) for one in release.product.families)
    return [table for table in tables if len(table.shape.lines) > 1]


def test_households_are_shown_with_both_of_their_tables(browser, folder):
    release = safetab.open_release(folder / "households")
    with opened_site(browser, folder / "households-site") as page:
        compared = 0
        for answer in release.totals(area=release.area("01", "STATE")).numbers[:12]:
            counted = answer.counted[0]
            go(page, f"#/area/STATE/01/{counted.group.code}")
            assert total_shown(page) == in_words(answer).split(" ", maxsplit=1)[0]
            for drawn, table in zip(page.evaluate(DRAWN), finer_tables(release, counted), strict=True):
                assert dict(drawn).items() <= named_lines(release, table).items()
                compared += len(drawn)
        assert compared >= 20


def sum_shown(page, section="main"):
    return " ".join(cells(page, f"{section} [data-number=sum], {section} [data-interval=sum]"))


def sum_in_words(number):
    return f"{number.value:,} ± {number.margin_of_error:,}: {range_of(number)}".replace("-", "\N{MINUS SIGN}")


def test_sums_of_ages_and_sexes_are_those_of_open_release(page, release):
    """Any range between boundaries of the table, of groups with each of the tables."""
    rng, compared, shapes = random.Random(7), 0, set[str]()
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


def numbers_in(row):
    return [int(row[name]) for name in ("estimate", "margin_of_error", "interval_low", "interval_high")]


def numbers_of(estimate):
    return [estimate.value, estimate.margin_of_error, *estimate.interval]


def test_children_are_one_click_and_a_download_has_their_sum(page, release):
    go(page, "#/area/STATE/44/1087")
    page.get_by_role("button", name="Under 18 years").click()
    children = release.table("Rhode Island", "1087").count(ages=(0, 17))
    assert children.form.noise.parts[0].draws > 2
    assert sum_shown(page) == sum_in_words(children)
    (row,) = (row for row in saved_rows(page) if row["line"] == "age 0 to 17")
    assert numbers_in(row) == numbers_of(children)
    assert (row["note"], row["release_status"]) == ("sum of 8 numbers of the table", "test key, not for release")
    page.get_by_role("button", name="Female").click()
    assert sum_shown(page) == sum_in_words(release.table("Rhode Island", "1087").count("female", (0, 17)))
    page.get_by_role("button", name="Under 18 years").click()
    page.get_by_label("Female", exact=True).uncheck()
    assert sum_shown(page) == ""


def test_any_cells_of_household_tables_are_added_up(browser, folder):
    release, compared = safetab.open_release(folder / "households"), 0
    with opened_site(browser, folder / "households-site") as page:
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


def test_tables_that_do_not_add_up_to_the_total_say_why(browser, folder):
    """The large number is that of one table; the total of the other has noise of its own."""
    release, said = safetab.open_release(folder / "households"), set[bool]()
    with opened_site(browser, folder / "households-site") as page:
        for area in ("01", "44"):
            for answer in release.totals(area=release.area(area, "STATE")).numbers:
                counted = answer.counted[0]
                totals = {table.lines[0].value for table in finer_tables(release, counted)} | {answer.value}
                go(page, f"#/area/STATE/{area}/{counted.group.code}")
                assert bool(page.locator("[data-differs]").count()) == (len(totals) > 1)
                said.add(len(totals) > 1)
    assert said == {True, False}


def test_a_group_alone_above_the_same_group_in_combination_is_explained(browser, folder, demo_out, tmp_path):
    """The site of the fixture has a rule that withholds such numbers, and says nothing."""
    safetab.rerelease(demo_out, tmp_path / "without-rule")
    write_site(tmp_path / "without-rule", tmp_path / "site")
    release, said = safetab.open_release(tmp_path / "without-rule"), 0
    for site, has_rule in ((folder / "site", True), (tmp_path / "site", False)):
        with opened_site(browser, site) as page:
            for area in ("44", "15", "49", "50"):
                pairs = contradictory(release.totals(area=release.area(area, "STATE")).numbers)
                go(page, f"#/area/STATE/{area}")
                is_said = page.locator("[data-above]").count()
                assert is_said == (bool(pairs) and not has_rule)
                said += is_said
                if is_said:
                    check_pairs(page, pairs)
    assert said


def contradictory(numbers):
    """Pairs of numbers of groups alone and in any combination, of which the first is larger."""
    of_name = {(one.counted[0].group.level, one.counted[0].group.name): one for one in numbers}
    pairs = [(one, of_name.get((level, f"{name} or in any combination"))) for (level, name), one in of_name.items()]
    return [(alone, any_) for alone, any_ in pairs if any_ and alone.value > any_.value]


def check_pairs(page, pairs):
    """Both groups of a pair are marked, and the page of each has the range that uses both numbers."""
    show_all(page)
    marked = page.eval_on_selector_all("tr:has(.mark) a", "links => links.map(link => link.hash.split('/').pop())")
    assert {*marked} == {one.counted[0].group.code for pair in pairs for one in pair}
    alone, any_ = pairs[0]
    low, high = alone.interval[0], any_.interval[1]
    share = any_.variance / (alone.variance + any_.variance)
    mean = share * alone.value + (1 - share) * any_.value
    a, b = side_of(alone), side_of(any_)
    for route in (f"area/{a}", f"area/{b}", f"compare/{a}/{b}", f"compare/{b}/{a}"):
        go(page, f"#/{route}")
        assert page.locator(".difference, [data-verdict]").count() == 0
        assert page.text_content("[data-pair] [data-interval=both]") == (
            f"{low:,} to {high:,}" if low < high else f"{low:,}"
        )
        value = page.text_content("[data-number=both]").removeprefix("about ").replace(",", "")
        assert float(value) == pytest.approx(min(max(mean, low), high), abs=0.51)


def test_an_absent_number_has_its_reason_and_what_to_use_instead(page, release):
    looked_at = 0
    entity = release.area("44007", "COUNTY")
    for group in [one for one in release._universe.lists.iterations if one.level][::9]:
        answer = release.total(entity, group)
        if not isinstance(answer, Absence):
            continue
        go(page, f"{COUNTY}/{group.code}")
        reason = page.locator("[data-reason]")
        assert reason.get_attribute("data-reason") == answer.status
        assert reason.text_content().startswith(answer.reason.removesuffix("."))
        links = page.eval_on_selector_all(".instead a", "links => links.map(link => link.hash)")
        assert links == [f"#/area/{side_of(one)}" for one in answer.instead]
        looked_at += 1
    assert looked_at >= 4


def side_of(number):
    counted = number.counted[0]
    return f"{counted.entity.geography.label}/{counted.entity.region_id}/{counted.group.code}"


@pytest.mark.parametrize("other", ["COUNTY/44003/1002", "COUNTY/44007/1009", "STATE/15/1010", "PLACE/4459000/1002"])
def test_a_comparison_says_how_often_noise_alone_does_it(page, release, other):
    level, region, code = other.split("/")
    a, b = release.total("44007", "1002", level="COUNTY"), release.total(region, code, level=level)
    go(page, f"#/compare/COUNTY/44007/1002/{other}")
    difference = release.differ(a, b)
    assert page.text_content("[data-number=difference]") == f"{abs(difference.value):,}"
    low, high = sorted(end if difference.value > 0 else -end for end in difference.interval)
    ends = f"{low:,} to {high:,}" if low > 0 else f"between {-low:,} fewer and {high:,} more"
    assert ends in page.inner_text("[data-interval=difference]")
    chance = page.locator("[data-chance]")
    assert float(chance.get_attribute("data-chance")) == pytest.approx(difference.chance_of_noise_alone, abs=1e-8)
    assert chance_in_words(difference.chance_of_noise_alone) in chance.text_content()


@pytest.mark.parametrize(
    ("route", "named"),
    [
        ("COUNTY/44003/1007/COUNTY/44007/1007", "{n} more people of the group German alone in {b} than in {a}."),
        ("COUNTY/44007/1007/COUNTY/44007/1160", "{n} more people of the group German alone than of the group Mexican in {a}."),
        ("COUNTY/44007/1007/COUNTY/49035/1160", "{n} more people of the group German alone in {a} than of the group Mexican in {b}."),
    ],
)  # fmt: skip
def test_a_comparison_names_what_it_compares(page, release, route, named):
    a, b = (release.area(route.split("/")[n], "COUNTY").name for n in (1, 4))
    go(page, f"#/compare/{route}")
    number = page.inner_text("[data-number=difference]")
    assert page.inner_text(".difference").endswith(named.format(a=a, b=b, n=number))


def test_a_number_below_zero_is_few_or_none_and_is_still_given(page, release):
    state = release.area("15", "STATE")
    number = next(one for one in release.totals(area=state).numbers if one.value < 0 < one.interval[1])
    go(page, f"#/area/STATE/15/{number.counted[0].group.code}")
    assert page.inner_text(".answer .big") == "Few or none"
    assert page.inner_text("[data-interval=total]") == f"0 to {number.interval[1]} people"
    assert page.inner_text("[data-number=total]") == f"\N{MINUS SIGN}{-number.value}"
    go(page, f"#/compare/STATE/15/{number.counted[0].group.code}/COUNTY/44007/1002")
    assert page.inner_text("[data-verdict]").startswith("Noise took a number to zero or below, so only the ranges")
    assert page.locator(".difference, [data-chance], [data-interval=difference]").count() == 0


def test_a_range_of_nothing_but_zero_is_not_called_sure(page, release):
    numbers = (one for state in release.areas("state") for one in release.totals(area=state).numbers)
    side = side_of(next(one for one in numbers if one.value < 0 == one.interval[1]))
    go(page, f"#/area/{side}")
    said = page.inner_text(".answer")
    assert "unusually low" in said
    assert "sure" not in said
    go(page, f"#/compare/{side}/COUNTY/44007/1002")
    assert "nothing useful can be said of the difference" in page.inner_text("[data-verdict]")


def test_a_group_alone_links_to_the_one_in_combination_and_back(page, release):
    both = [release.group(name).code for name in ("German alone", "German alone or in any combination")]
    for code, other in (both, both[::-1]):
        go(page, f"#/area/STATE/44/{code}")
        assert page.locator("[data-partner] a").get_attribute("href") == f"#/area/STATE/44/{other}"


def test_the_page_says_whose_numbers_these_are_and_how_to_cite_them(page):
    title = "Race and ethnicity groups of a synthetic census"
    assert page.title() == title
    assert page.inner_text("#home-link").split("\n") == [title, PUBLISHER]
    assert page.inner_text("h1 small").strip() == PUBLISHER
    source = page.inner_text("#source")
    assert source.startswith(f"Published by: {PUBLISHER}. Source: Synthetic records")
    assert "Not for release" in source
    assert "released" not in source
    begins = f"{PUBLISHER}: {title}. Not for release (test key), made "
    go(page, "#/about")
    assert page.inner_text("[data-citation]").startswith(begins)
    go(page, f"{COUNTY}/1007")
    page.click(".cite-number summary")
    cited = page.inner_text("[data-citation]")
    assert cited.startswith(begins)
    assert f"German alone, Providence County, Rhode Island: {total_shown(page)} people, ± " in cited
    assert re.search(r" Accessed \d+ [A-Z][a-z]+ \d{4}\.$", cited)


def test_words_are_defined_where_they_appear(page):
    go(page, f"{COUNTY}/1007")
    alone = page.inner_text("[data-meaning=kind]")
    assert "every race answer" in alone
    page.fill("#find", "german")
    page.wait_for_selector("[role=option]")
    every, least = page.locator("[role=option] small").all_inner_texts()[:2]
    assert "every race answer" in every
    assert "at least one race answer" in least
    go(page, COUNTY)
    page.click(".meanings summary")
    said = page.inner_text(".meanings")
    for words in (
        alone,
        "“Alone or in any combination” means that at least one",
        "by at most 75",
        "does not mean zero",
    ):
        assert words in said


def test_people_and_households_lead_to_the_same_area_and_group(browser, folder):
    with opened_site(browser, folder / "people-site") as page:
        route = f"#/area/STATE/01/{safetab.open_release(folder / 'people').groups()[0].code}"
        go(page, route)
        assert page.locator(f".go-on a[href='../households-site/index.html{route}']").count() == 1
        page.click("#linked a")
        page.wait_for_url(f"**/households-site/index.html{route}")
        page.wait_for_selector("main:not([aria-busy]) .answer")
        assert page.inner_text("#linked").split() == ["People", "Households"]
        assert page.inner_text("#linked [aria-current]") == "Households"
        page.click("#linked a")
        page.wait_for_url(f"**/people-site/index.html{route}")


def test_noise_of_both_kinds_sums_as_it_does_in_safetab(browser, folder, tmp_path):
    """The page's chances beside safetab's own, for narrow, wide and two-sided geometric noise."""
    script = (folder / "site" / "site.js").read_text().replace("start();\n})();", "window.noiseOf = noiseOf;\n})();")
    noises = [DiscreteGaussian(Fraction(1, 10)), DiscreteGaussian(Fraction(31, 2)), DiscreteGaussian(Fraction(900)),
              DiscreteLaplace(Fraction(3, 2)), DiscreteLaplace(Fraction(20))]  # fmt: skip
    with opened(browser, tmp_path) as watched:
        watched.page.add_script_tag(content=script)
        for first, second in product(noises, repeat=2):
            draws = {first: 9} if first == second else {first: 1, second: 8}
            exact = weighted_sum(tuple(WeightedDraws(noise, Fraction(1), number) for noise, number in draws.items()))
            given = [
                [["gaussian" if isinstance(noise, DiscreteGaussian) else "laplace", float(noise.parameter)], number]
                for noise, number in draws.items()
            ]
            for distance in (1, 7, 40, 130):
                found = watched.page.evaluate("([parts, x]) => noiseOf(parts).chanceOfAtLeast(x)", [given, distance])
                assert found == pytest.approx(exact.chance_of_at_least(Fraction(distance)), abs=1e-8)
            margin = watched.page.evaluate("parts => noiseOf(parts).margin(0.95)", given)
            assert margin == exact.margin_of_error(Fraction(19, 20))


FOUND = dict(
    cases_of(
        """
        nation | USA/1
        USA | USA/1
        United States | USA/1
        RI | STATE/44
        rhode island | STATE/44
        Providence County, RI | COUNTY/44007
        44007 | COUNTY/44007
        providence county | COUNTY/44007
        providence county, rhode island | COUNTY/44007
        Mayaguez Municipio | PR-COUNTY/72097
        15001000100 | TRACT/15001000100
        Navajo, AZ | AIANNH/2430
        rhode island dominican | STATE/44/1167
        Hmong alone Providence County | COUNTY/44007/1048
        mexican in Providence city, RI | PLACE/4459000/1160
        44007 1048 | COUNTY/44007/1048
        Hmong alone — in Kent County, Rhode Island | COUNTY/44003/1048
        """
    )
)


def find(page, typed):
    page.fill("#find", typed)
    page.press("#find", "Enter")


def test_places_and_groups_are_found_by_the_names_that_people_use(page):
    for typed, wanted in FOUND.items():
        go(page, "#/about")
        find(page, typed)
        page.wait_for_url(f"**#/area/{wanted}")


def test_one_question_after_another_is_answered_though_views_come_late(page):
    """No view takes the focus from a reader who came back to the field, or puts its own text beside what is typed."""
    page.evaluate("location.hash = '#/area/STATE/44'; document.querySelector('#find').focus()")
    expect(page.locator("main h1")).to_contain_text("Rhode Island")
    expect(page.locator("#find")).to_have_value("Rhode Island")
    page.keyboard.type("44007 1048")
    page.keyboard.press("Enter")
    page.wait_for_url("**#/area/COUNTY/44007/1048")
    expect(page.locator("main")).to_be_focused()
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 10})
    for typed in ("RI", "Mayaguez Municipio", "15001000100", "Navajo, AZ"):
        find(page, typed)
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


def test_a_view_that_comes_while_the_reader_types_leaves_the_text_alone(page):
    page.focus("#find")
    page.evaluate(TYPE_WHILE_A_VIEW_COMES, False)
    expect(page.locator("main h1")).to_contain_text("Rhode Island")
    expect(page.locator("#find")).to_have_value("44007")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**#/area/COUNTY/44007")
    expect(page.locator("#find")).to_have_value(PROVIDENCE)
    expect(page.locator("#find-list")).to_be_hidden()
    page.fill("#find", "xyzzy")
    page.keyboard.press("Enter")
    page.go_back()  # a view that was left shows its own place
    expect(page.locator("#find")).to_have_value("Rhode Island")


def test_a_question_is_answered_though_another_view_comes_before(page):
    page.evaluate(TYPE_WHILE_A_VIEW_COMES, True)
    page.wait_for_url("**#/area/COUNTY/44007")
    expect(page.locator("#find")).to_have_value(PROVIDENCE)


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


def test_what_is_not_exact_is_listed_and_never_taken(page):
    for typed, (said, listed) in LISTED.items():
        find(page, typed)
        expect(page.locator("#find-hint")).to_contain_text(said)
        expect(page.locator("#find-list li")).to_have_text(listed)
        if listed:
            expect(page.locator("#announcer")).to_have_text(f"{len(listed)} choice{'s' * (len(listed) > 1)}.")
    for typed, first in (("Provdence County", "P"), ("dominican provdence county", "Dominican — in P")):
        find(page, typed)
        expect(page.locator("#find-list li").first).to_contain_text(f"{first}rovidence County, Rhode Island")
        assert page.text_content("#find-hint") == MEAN
    assert page.evaluate("location.hash") in {"", "#/"}


def test_a_group_of_all_others_is_in_a_place_only_if_it_is_asked_for(page):
    page.fill("#find", "other latino providence")
    expect(page.locator("#find-list li").first).to_contain_text("Other Hispanic, Latino, or Spanish — in Providence")
    page.fill("#find", "latino providence")
    expect(page.locator("#find-list li").first).to_contain_text("Providence County, Rhode Island place; county")
    assert not any(" — in " in one for one in cells(page, "#find-list li"))


def test_a_word_lists_all_groups_that_have_it(page):
    """Asian itself is a major group, which is not counted."""
    page.fill("#find", "asian")
    expect(page.locator("#find-list li")).to_have_count(12)
    names = cells(page, "#find-list li bdi")
    assert {"East Asian alone", "South Asian alone", "Southeast Asian alone", "Asian Indian alone"} <= {*names[:10]}
    assert names[10:] == ["Asian alone", "Asian alone or in any combination"]
    page.fill("#find", "asians")
    expect(page.locator("#find-hint")).to_have_text(MEAN)
    assert sorted(cells(page, "#find-list li bdi")) == sorted(names)


def test_everything_can_be_done_by_keyboard(page):
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the skip link
    assert page.evaluate("document.activeElement.id") == "main"
    page.focus("#find")
    page.keyboard.type("italian alone provid")
    page.wait_for_selector("#find-list li")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#find", "aria-activedescendant") == "find-0"
    page.keyboard.press("Enter")
    page.wait_for_url("**#/area/*/*/1009")
    page.wait_for_selector(A_NUMBER)
    go(page, COUNTY)
    page.focus("table.list thead th:nth-child(1) button")
    page.keyboard.press("Enter")
    names = cells(page, "table.list tbody th")
    assert names == sorted(names, key=str.casefold)
    assert page.get_attribute("table.list thead th:nth-child(1)", "aria-sort") == "ascending"


def test_back_and_forward_show_a_view_as_it_was_left(page):
    go(page, COUNTY)
    page.fill("#filter", "an")
    page.select_option("#kind", "1")
    page.click("table.list thead th:nth-child(1) button")
    page.locator(".tiles, details summary").first.click()
    page.evaluate("scrollTo(0, 300)")
    left = page.inner_text("main")
    page.locator("table.list tbody a").nth(9).click()
    page.wait_for_selector(A_NUMBER)
    assert page.evaluate("scrollY") == 0
    number = page.inner_text("main")
    for _ in range(2):
        page.go_back()
        page.wait_for_selector("main:not([aria-busy]) #filter")
        assert (page.input_value("#filter"), page.input_value("#kind"), page.evaluate("scrollY")) == ("an", "1", 300)
        assert page.inner_text("main") == left
        assert page.title() == page.input_value("#find") == PROVIDENCE
        page.go_forward()
        page.wait_for_selector(A_NUMBER)
        assert page.inner_text("main") == number


def test_every_group_is_reached_by_links_from_the_first_page(page, release):
    counted = {one.code for one in release._universe.lists.iterations if one.level.is_tabulated}
    seen = groups_linked(page)
    ahead = [*seen]
    while ahead and seen != counted:
        code = ahead.pop()
        if release.group(code).level.number == 1:  # with finer groups inside
            go(page, f"#/group/{code}")
            found = groups_linked(page) - seen
            ahead += found
            seen |= found
    assert seen == counted
    go(page, "#/")
    page.locator("main a[href='#/groups']").first.click()
    page.wait_for_selector("#filter")
    assert groups_linked(page) == counted
    page.fill("#filter", "asian ind")
    assert cells(page, "main .links a") == ["Asian Indian", "Asian Indian"]


def groups_linked(page):
    links = page.evaluate("[...document.querySelectorAll('main .links a, main .crumbs a')].map(link => link.hash)")
    return {found[1] for one in links if (found := re.fullmatch(r"#/group/(\w+)", one))}


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


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_no_view_is_wider_than_the_screen(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    for route in ROUTES:
        go(page, route)
        assert page.inner_text("main h1") not in MISSING, route
        assert page.evaluate(WIDTH) == width, route


def test_a_phone_has_the_note_or_the_share_of_a_number_below_it(page):
    """Columns of notes and shares have no room there."""
    go(page, "#/group/1002/tract/44007")
    seen = []
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        selectors = ("tbody td:last-child", "tbody td:nth-child(5)", ".below")  # notes, shares, what is below
        found = [page.locator(f"table.list {one}").all() for one in selectors]
        seen += [[one.inner_text() for one in some if one.is_visible()] for some in found]
    notes, shares, *no_room, below = seen
    assert no_room == [[], [], []]
    assert below == [note or share for note, share in zip(notes, shares, strict=True) if note or share]
    assert any(notes)
    assert any(shares)


@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 22, 27)")])
def test_the_site_is_as_dark_as_the_reader_likes_and_texts_are_readable(page, scheme, ground):
    """A contrast of 4.5 to 1 or more, for the colours of texts."""
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
    read = "names => names.split(' ').map(name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim())"
    for pair in ("ink paper", "soft paper", "soft tint", "accent paper", "accent-ink accent", "paper stop", "on-light s2", "on-dark s3"):  # fmt: skip
        assert contrast(*page.evaluate(read, pair)) >= 4.5, pair


def test_what_is_shown_can_be_downloaded(page, release):
    go(page, COUNTY)
    rows = saved_rows(page)
    numbers = {row["iteration_code"]: row for row in rows if row["status"] == "number"}
    answers = release.totals(area=release.area("44007", "COUNTY")).numbers
    assert {code: numbers_in(row) for code, row in numbers.items()} == {
        one.counted[0].group.code: numbers_of(one) for one in answers
    }
    assert {row["status"] for row in rows} >= {"number", "suppressed", "not tabulated"}
    assert all(row["note"] for row in rows if row["status"] == "suppressed")
    assert {row["geo_id"] for row in rows} == {"0500000US44007"}
    go(page, f"{COUNTY}/1002")
    lines = [row["line"] for row in saved_rows(page)]
    assert len(lines) > 3
    assert lines.count("both, all ages") == 1


def test_every_download_keeps_the_status_the_source_and_the_date(page, demo_out):
    date = json.loads((demo_out / "manifest.json").read_text())["date"]
    for route in (COUNTY, f"{COUNTY}/1002", "#/group/1002/state", ROUTES[-1]):
        go(page, route)
        rows = saved_rows(page)
        assert {(row["release_status"], row["release_date"]) for row in rows} == {("test key, not for release", date)}
        assert {row["source"] for row in rows} == {f"{PUBLISHER}. SafeTab-P, made by safetab {VERSION}"}


@pytest.mark.parametrize("route", ROUTES)
def test_every_view_is_a_link_and_has_the_status(page, release, route):
    go(page, route)
    shown = page.inner_text("main")
    page.reload()
    page.wait_for_selector("main:not([aria-busy]) h1")
    assert page.inner_text("main") == shown
    assert page.text_content("#status") == release.output_status.line
    assert page.locator("#status").is_visible()


def test_a_link_to_nothing_says_so(page):
    for route in ("#/area/COUNTY/99999", "#/group/0000", "#/nothing", "#/area/COUNTY/44007/%3Cimg%3E"):
        go(page, route)
        assert page.inner_text("main h1") in MISSING


def test_the_status_is_away_only_where_a_picture_has_it(page):
    """A link may name a picture that the view doesn't have."""
    status, picture = page.locator("#status"), page.locator("main > svg")
    for name in ("nothing", "", '"]'):
        go(page, f"{COUNTY}?embed={name}")
        expect(page.locator("table.list")).to_be_visible()
        expect(status).to_be_visible()
    go(page, f"{COUNTY}?embed=list")
    for _ in range(2):
        expect(picture).to_be_visible()
        expect(status).to_be_hidden()
        page.go_back()
        expect(status).to_be_visible()
        page.go_forward()


def test_the_name_of_a_tile_contains_what_it_shows_and_all_texts_are_in_landmarks(page):
    """Who speaks to the page says what is seen; who hears it goes from landmark to landmark."""
    go(page, "#/")
    tiles = page.eval_on_selector_all(
        ".tiles a",
        "links => links.map(link => [link.getAttribute('aria-label'), ...[...link.querySelectorAll('text')].map(one => one.textContent)])",
    )
    assert ["RI, Rhode Island", "RI"] in tiles
    assert all(shown in name for name, shown in tiles)
    outside = """[...document.body.children].filter(one => one.textContent.trim() && one.checkVisibility()
        && !one.matches("header, main, footer, aside[aria-label], .skip, .unseen")).map(one => one.outerHTML)"""
    for route in ("#/", "#/group/1002/state"):
        go(page, route)
        assert page.evaluate(outside) == []
    labels = "[...document.querySelectorAll('[role=region], nav, section[aria-label]')].map(one => one.ariaLabel)"
    go(page, COUNTY)
    names = page.evaluate(labels)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "route",
    ["#/", "#/groups", "#/about", COUNTY, f"{COUNTY}/1167", f"{COUNTY}/1126", "#/group/1002/county", "#/compare"],
)
def test_axe_finds_nothing(page, route):
    go(page, route)
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    assert axe_violations(page) == []


def test_axe_finds_what_is_wrong(page):
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any("button-name" in one for one in axe_violations(page))


def labels_of_map(page):
    return page.eval_on_selector_all(".shapes a", "links => links.map(link => link.getAttribute('aria-label'))")


def in_list(page):
    """The areas of the list as the map labels them."""
    rows = page.eval_on_selector_all(
        "table.list tbody tr", "rows => rows.map(row => [0, 1, 2].map(n => row.cells[n].firstChild?.textContent ?? ''))"
    )
    return [f"{area}: {number} ({beside})" if beside else f"{area}: no number" for area, number, beside in rows]


@pytest.mark.parametrize("kind", ["state", "county"])
def test_states_and_counties_are_drawn_with_the_numbers_of_the_list(page, kind):
    go(page, f"#/group/1002/{kind}")
    assert sorted(labels_of_map(page)) == sorted(in_list(page))
    assert len(labels_of_map(page)) == {"state": 6, "county": 24}[kind]
    assert page.locator(".shapes .ground").count() == 52  # all states, so that a reader knows where these are
    assert "not in this release" in page.inner_text(".legend")


def test_the_counties_of_one_state_fill_their_map(page):
    go(page, "#/group/1002/county")
    page.get_by_label("State").select_option("Rhode Island")
    page.wait_for_selector("main:not([aria-busy]) h1")
    expect(page.locator(".shapes a")).to_have_count(5)
    expect(page.locator(".shapes .ground")).to_have_count(1)
    assert page.get_by_label("State").input_value() == "44"
    box = page.locator(".shapes .ground").bounding_box()
    assert 1.2 < box["height"] / box["width"] < 1.7
    assert box["height"] > 400


def test_a_map_shows_what_is_missing_and_what_is_uncertain(page, release):
    """Lines where there is no number, dots where the range is wider than the number; the legend explains both."""
    seen = set()
    for code in ("1002", "1167", "1126"):
        go(page, f"#/group/{code}/county")
        drawn = page.eval_on_selector_all(
            ".shapes a",
            "links => links.map(link => [link.getAttribute('href').split('/')[3], ...['.no-number', '.dotted'].map(one => !!link.querySelector(one))])",
        )
        wanted = {}
        for entity in release.areas("county"):
            answer = release.total(entity, release.group(code))
            has_number = isinstance(answer, Estimate)
            is_wide = has_number and answer.interval[1] - answer.interval[0] > answer.value
            wanted[entity.region_id] = [not has_number, is_wide]
        assert {region: looks for region, *looks in drawn} == wanted
        legend = page.inner_text(".legend")
        assert ("no number" in legend) == ([True, False] in wanted.values())
        assert ("range is wider" in legend) == ([False, True] in wanted.values())
        seen |= {*map(tuple, wanted.values())}
    assert len(seen) == 3


def test_a_map_can_show_shares(page, release):
    """The share of the sum of all counties shown, and that of the wider group in each county."""
    go(page, "#/group/1167/county")
    number, wider = (
        release.total(release.area("44007", "COUNTY"), release.group(one)).value for one in ("1167", "1165")
    )
    others = [release.total(one, release.group("1167")) for one in release.areas("county")]
    whole = sum(one.value for one in others if isinstance(one, Estimate))
    for words, share in (("the sum of all counties shown", number / whole), ("Caribbean Hispanic", number / wider)):
        page.get_by_label(f"Share of {words}").check()
        page.locator(".shapes a[href$='/44007/1167']").focus()
        said = page.inner_text(".said")
        assert float(re.search(rf", ([0-9.]+) % of {words}$", said)[1]) == pytest.approx(100 * share, rel=0.06)


def test_an_area_of_a_map_is_reached_by_arrow_keys(page):
    go(page, "#/group/1002/state")
    assert page.locator(".shapes a[tabindex='0']").count() == 1
    page.locator(".shapes a[href*='/35/']").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".said")).to_contain_text("Utah: ")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".said")).to_contain_text("Hawaii: ")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Hawaii")


def test_a_first_tap_says_the_number_and_a_second_opens_it(browser, folder):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with opened_site(browser, folder / "site", **phone) as page:
        go(page, "#/group/1002/state")
        utah = page.locator(".shapes a[href*='/49/'] path").first
        utah.tap()
        expect(page.locator(".said")).to_contain_text("Utah: ")
        assert page.evaluate("location.hash") == "#/group/1002/state"
        utah.tap()
        expect(page.locator("h1")).to_contain_text("Utah")


def test_ranks_allow_for_overlapping_ranges_and_shares_are_of_what_is_published(page):
    go(page, "#/group/1087/county")
    rows = [row for row in saved_rows(page) if row["status"] == "number"]
    whole = sum(int(row["estimate"]) for row in rows)
    ends = [(int(row["interval_low"]), int(row["interval_high"])) for row in rows]
    for row, (low, high) in zip(rows, ends, strict=True):
        assert int(row["rank_from"]) == 1 + sum(other > high for other, _ in ends)
        assert int(row["rank_to"]) == sum(other >= low for _, other in ends)
        assert float(row["share"]) == pytest.approx(int(row["estimate"]) / whole, abs=1e-6)
    assert any(row["rank_from"] < row["rank_to"] for row in rows)
    note = page.text_content("[data-shares]")
    assert note.endswith(f" {len(rows)} counties with a number.")
    assert "95 % of the time" in note
    drawn = [text.removesuffix(" %") for text in cells(page, ".list tbody td:nth-child(5)") if text]
    assert sum(map(float, drawn)) == pytest.approx(100, abs=0.06 * len(rows))
    go(page, COUNTY)
    assert "no number for everyone" in page.text_content("[data-shares]")


def test_what_a_filter_leaves_is_what_is_saved(page, browser, tmp_path):
    """With its ranks in the whole list. The title, the names of the files and the embedded picture have the filter."""
    go(page, COUNTY)
    ranks = "() => [...document.querySelectorAll('.list tbody tr')].map(row => [row.cells[0].textContent, row.cells[3].textContent])"
    page.get_by_role("button", name="Show all").first.click()
    before = dict(page.evaluate(ranks))
    page.fill("#filter", "portug")
    left = dict(page.evaluate(ranks))
    assert 0 < len(left) < 5
    assert left.items() <= before.items()
    assert saved(page.get_by_role("button", name="CSV"))[0] == "COUNTY-44007-only-groups-with-portug.csv"
    rows = saved_rows(page)
    assert {row["iteration_name"] for row in rows if row["status"] == "number"} == {*left}
    assert all("portug" in row["iteration_name"].lower() for row in rows)
    box = page.locator("[data-picture=list]")
    file, picture = saved(box.get_by_role("button", name="SVG"))
    assert file.endswith("-only-groups-with-portug.svg")
    assert all(name in picture.decode() for name in left)
    assert b"Mexican" not in picture
    with embedded(browser, box, tmp_path) as frame:
        label = frame.locator("main > svg").get_attribute("aria-label")
    assert label.endswith(", only groups with “portug”")


@contextmanager
def embedded(browser, box, folder):
    """The frame of an article with the embedded picture."""
    box.get_by_role("button", name="Embed").click()
    (folder / "article.html").write_text(box.locator("textarea").input_value(), encoding="utf-8")
    with opened(browser, folder / "article.html") as watched:
        yield watched.page.frame_locator("iframe")
        assert watched.complaints == []


def test_a_map_and_its_list_have_the_same_shares(page, release):
    """There are none of numbers that are mostly noise, and none below 0 % or above 100 %."""
    offered = set[bool]()
    codes = [one.code for one in release.groups(level="county")][::60]
    for code in ("1002", "1126", *codes):
        go(page, f"#/group/{code}/county")
        note = page.locator("[data-shares]")
        has_shares = note.count() == 1 and "no shares" not in note.text_content()
        assert page.get_by_label("Share of the sum").count() == has_shares
        offered.add(has_shares)
        for choice in page.locator(".measures label", has_text="Share of").all():
            choice.click()
            legend = page.inner_text(".legend")
            assert all(float(one) <= 100 for one in re.findall(r"([0-9.]+) %", legend)), code
            assert "\N{MINUS SIGN}" not in legend
            if re.search(r"^0 %", legend):
                assert page.locator(".legend .shade-0").count()
    assert offered == {False, True}


@pytest.mark.parametrize(
    ("route", "name"), [("#/area/STATE/44/1087", "table-0"), ("#/group/1002/state", "map"), (COUNTY, "list")]
)
def test_a_picture_says_what_it_is_when_it_is_saved_or_embedded(page, browser, tmp_path, release, route, name):
    go(page, route)
    box = page.locator(f"[data-picture={name}]")
    drawing, pixels = (saved(box.get_by_role("button", name=kind))[1] for kind in ("SVG", "PNG"))
    picture = ElementTree.fromstring(drawing)
    words = " ".join(" ".join(picture.itertext()).split())
    for one in (picture.get("aria-label"), f"safetab {VERSION}", release.output_status.line):
        assert one in words
    assert not any(one.get("class") or one.get("style") or one.get("href") for one in picture.iter())
    assert len([one for one in picture.iter() if one.tag.endswith(("}rect", "}path"))]) > 6
    size = [int.from_bytes(pixels[at : at + 4]) for at in (16, 20)]
    assert size == [2 * int(picture.get(end)) for end in ("width", "height")]
    with embedded(browser, box, tmp_path) as frame:
        shown = frame.locator("main > svg")
        shown.wait_for()
        assert shown.get_attribute("aria-label") == picture.get("aria-label")
        assert release.output_status.line.split()[-1] in shown.text_content()  # lines are broken
        assert not frame.locator(".top, footer, table").and_(frame.locator(":visible")).count()


def rectangle(west, south, east, north):
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def test_shapes_that_were_given_are_drawn_instead(browser, demo_out, tmp_path):
    outline = {"type": "Polygon", "coordinates": [rectangle(-71.9, 41.1, -71.1, 42.0)]}
    feature = {"properties": {"GEOID": "44"}, "geometry": outline}
    (tmp_path / "shapes.json").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    write_site(demo_out, tmp_path / "site", tmp_path / "shapes.json")
    with opened_site(browser, tmp_path / "site") as page:
        go(page, "#/group/1002/state")
        (label,) = labels_of_map(page)
        assert label.startswith("Rhode Island: ")
        assert label in in_list(page)
        assert "5 states have no outline" in page.inner_text(".map")
        box = page.locator(".shapes a path").first.bounding_box()
        assert box["height"] > box["width"] > 50  # 0.9 by 0.8 degrees at 41 north


def test_alaska_is_drawn_whole_across_the_antimeridian_and_a_lake_is_no_land(browser, folder, tmp_path):
    """The Aleutians reach 179.8 east: the map must not go around the world for them."""
    script = (folder / "site" / "site.js").read_text()
    script = script.replace("start();\n})();", "Object.assign(window, { fittedInto, pathOf });\n})();")
    mainland, lake = rectangle(-168.0, 54.0, -130.0, 71.4), rectangle(-160.0, 60.0, -150.0, 65.0)
    islands = [rectangle(172.4, 52.8, 173.4, 53.0), rectangle(-180.0, 51.2, -179.1, 51.9)]
    style = (folder / "site" / "site.css").read_text()
    with opened(browser, tmp_path, viewport={"width": 800, "height": 900}) as watched:
        page = watched.page
        page.add_script_tag(content=script)
        page.set_content(f"<style>{style}</style><svg class=shapes><path class=shade-4></path></svg>")
        map_of = """rings => { const { width, height, shapes: [shape] } = fittedInto([{ rings }], 1000, 1000);
            const path = document.querySelector("path");
            path.setAttribute("d", pathOf(shape));
            path.ownerSVGElement.setAttribute("viewBox", `0 0 ${width} ${height}`);
            const between = (one, other) => path.isPointInFill(
                new DOMPoint((one[0] + other[0]) / 2, (one[1] + other[1]) / 2));
            const [land, lake, attu] = shape.rings;
            return [between(land[1], lake[1]), between(lake[0], lake[2]), attu[0][0], land[1][0], height]; }"""
        on_land, in_lake, attu, east, height = page.evaluate(map_of, [mainland, lake, *islands])
    assert on_land
    assert not in_lake
    assert (attu, east) == pytest.approx((0.0, 1000.0))
    assert 500 < height < 800


def test_the_site_works_from_a_server_and_asks_it_alone(browser, folder):
    with (
        served(folder / "site") as (address, _),
        opened(browser, f"{address}/index.html{COUNTY}/1009", offline=False) as watched,
    ):
        watched.page.wait_for_selector("[data-number=total]")
        assert watched.complaints == []
        assert all(url.startswith((address, "data:")) for url in watched.requests)


@pytest.mark.parametrize("route", ROUTES)
def test_a_view_prints_on_few_sheets_without_what_can_only_be_clicked(page, route):
    """Sheets beside the height of the view as it is printed, in sheets of A4 without their margins."""
    page.set_viewport_size(A4)
    go(page, route)
    assert page.inner_text("main h1") not in MISSING
    page.emulate_media(media="print")
    height = page.evaluate(HEIGHT) / A4["height"]
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "14mm")
    assert 1 <= sheets(page, margin=margin) <= 1.2 * height + 1
    assert page.evaluate(WIDTH) == A4["width"]
    only_clicked = ".top, .actions, .filters, .on-screen, .meanings, .cite-number, footer a[href='#/about']"
    assert not page.locator(only_clicked).and_(page.locator(":visible")).count()
    assert page.locator("#status").is_visible()
