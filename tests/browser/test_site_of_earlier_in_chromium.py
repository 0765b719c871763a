"""A site with an earlier release in headless Chromium: what has changed, and whether noise explains it."""

from collections import Counter

import pytest
from playwright.sync_api import expect

import safetab
from tests.browser.chromium import A4, WIDTH, go, opened_site, saved_rows
from tests.inside import Absence, Difference, Estimate, chance_in_words, far_threshold, write_site
from tests.system.apps.website.test_site import write_persons
from tests.worlds.world import World

pytestmark = pytest.mark.browser

MINUS = "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The earlier release has another draw, more noise, other thresholds, two thirds of the people and another pass."""
    folder = tmp_path_factory.mktemp("earlier")
    out = write_persons(folder / "newer")
    world = World.of(folder / "newer" / "world")
    people = world.data / "person-records.txt"
    lines = people.read_text().splitlines()
    people.write_text("\n".join([lines[0], *(line for n, line in enumerate(lines[1:]) if n % 3)]) + "\n")
    less = {key: value / 2 for key, value in world.config().items() if "budget_p_level" in key}
    less |= {"run_pr": True, "privacy_budget_p_level_2_pr_state": 0.01}
    world.configure(**less, thresholds_p={name: [0, 30, 90] for name in world.config()["thresholds_p"]})
    safetab.run(*world, folder / "before", test_key="11" * 32)
    write_site(out, folder / "site", earlier=folder / "before")
    write_site(out, folder / "alone")
    return folder


@pytest.fixture(scope="module")
def releases(folder):
    return safetab.open_release(folder / "newer" / "out"), safetab.open_release(folder / "before")


@pytest.fixture(scope="module")
def page(browser, folder):
    with opened_site(browser, folder / "site") as page:
        yield page


def signed(number):
    return f"{number:+,}".replace("-", MINUS).replace("+0", "0")


def is_near(now, then):
    """Whether a total underwent suppression and is not far above its threshold."""
    draws = [*now.form.selected_draws, *then.form.selected_draws]
    limits = [far_threshold(noise, one.threshold, len(draws), now.confidence) for one, noise, _ in draws]
    return any(one.total < limit for (one, _, _), limit in zip(draws, limits, strict=True))


def then_in_words(then):
    return f"{then.value:,}" if then.value > 0 else "few or none"


def check_both(page, now, then):
    """That the page says what Python's difference of the two says, and which of the sentences it was."""
    change = Difference(now, then)
    section = page.locator("section[data-earlier=number]")
    assert section.locator("[data-number=earlier]").text_content() == then_in_words(then)
    if min(now.value, then.value) <= 0:
        assert section.locator("[data-number=change], [data-interval]").count() == 0
        said = section.locator("[data-verdict=change]").text_content()
        is_too_low = any(one.value < 0 == one.interval[1] for one in (now, then))
        assert ("nothing useful" if is_too_low else "only the ranges") in said
        return "few or none"
    assert int(section.locator("[data-value]").get_attribute("data-value")) == change.value
    amount = f"{abs(change.value):,} {'more' if change.value > 0 else 'fewer'}"
    assert (amount if change.value else "as many") in section.locator("[data-number=change]").text_content()
    low, high = (f"{end:,}" for end in then.interval)
    assert f"({low} to {high})" in section.text_content() or low == high
    verdict = section.locator("[data-verdict=change]").text_content()
    if "above a threshold" in verdict:
        assert section.locator("[data-interval]").count() == 0
        assert is_near(now, then)
        return "near"
    assert not change.selection_matters
    assert not is_near(now, then)
    least, most = map(signed, change.interval)
    assert f"between {least} and {most}." in section.locator("[data-interval=change]").text_content()
    assert chance_in_words(change.chance_of_noise_alone) in verdict
    is_chance = change.interval[0] <= 0 <= change.interval[1]
    assert verdict.startswith("This may be chance" if is_chance else "Random noise alone rarely makes")
    return "chance" if is_chance else "sure"


def test_changes_are_those_of_two_open_releases(page, releases):
    newer, earlier = releases
    seen = Counter[str]()
    for level, region in (("USA", "1"), ("STATE", "44"), ("COUNTY", "01001")):
        areas = [one.area(region, level) for one in releases]
        for group in newer._universe.lists.iterations:
            now, then = newer.total(areas[0], group.code), earlier.total(areas[1], group.code)
            go(page, f"#/area/{level}/{region}/{group.code}")
            if isinstance(now, Estimate) and isinstance(then, Estimate):
                seen[check_both(page, now, then)] += 1
            elif isinstance(now, Estimate):
                assert then.reason in page.text_content("section[data-earlier=absent]")
                seen[f"then {then.status}"] += 1
            elif isinstance(then, Estimate):
                figure = page.text_content("section[data-earlier=number] [data-number=earlier]")
                assert figure == then_in_words(then)
                seen["now absent"] += 1
            else:
                assert isinstance(then, Absence)
                expect(page.locator("p[data-earlier=absent]")).to_contain_text("no number here either")
                seen["both absent"] += 1
    assert {"chance", "sure", "near", "few or none", "then suppressed", "now absent", "both absent"} <= seen.keys()


def test_a_list_of_areas_has_the_change_of_each(page, releases):
    changes = 0
    for group in releases[0]._universe.lists.iterations:
        if not group.level.is_tabulated:
            continue
        go(page, f"#/group/{group.code}/county")
        rows = page.evaluate("""() => [...document.querySelectorAll('table.list tbody tr')].map(
            row => [row.querySelector('a').hash.split('/')[3], row.lastElementChild.textContent])""")
        saved = {row["region_id"]: row for row in saved_rows(page)}
        page.wait_for_timeout(120)  # Chromium drops a page's 11th download within a second
        for region, text in rows:
            now, then = (one.total(one.area(region, "COUNTY"), group.code) for one in releases)
            if not (isinstance(now, Estimate) and isinstance(then, Estimate)):
                assert text == ""
                continue
            if min(now.value, then.value) <= 0:
                assert text.strip() in {"may be chance", "more", "fewer"}
                continue
            change = Difference(now, then)
            assert text.removesuffix(" may be chance") == signed(change.value)
            names = ("earlier", "change", "change_low", "change_high")
            numbers = [str(one) for one in (then.value, change.value, *change.interval)]
            told = 2 if change.selection_matters else 4
            assert [saved[region][name] for name in names[:told]] == numbers[:told]
            if not change.selection_matters:
                assert text.endswith(" may be chance") == (change.interval[0] <= 0 <= change.interval[1])
            changes += 1
    assert changes > 8


def test_a_printed_list_has_letters_of_one_size_and_fits_on_a_sheet(page):
    page.set_viewport_size(A4)
    go(page, "#/about")
    go(page, "#/group/1001/county")
    page.emulate_media(media="print")
    assert page.evaluate(WIDTH) == A4["width"]
    sizes = page.evaluate("""() => [...document.querySelectorAll("table.list :is(td, th, td small.soft)")].map(
        (cell) => getComputedStyle(cell).fontSize)""")
    assert len(sizes) > 10
    assert len(set(sizes)) == 1
    page.emulate_media(media="null")


def test_without_an_earlier_release_one_line_says_so(browser, folder):
    with opened_site(browser, folder / "alone") as page:
        go(page, "#/area/STATE/44/1001")
        expect(page.locator("[data-earlier=none]")).to_have_count(1)
        go(page, "#/group/1001/county")
        assert "Change" not in page.text_content("main")
