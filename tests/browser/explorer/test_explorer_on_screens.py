"""The explorer in headless Chromium: any width, both schemes, paper. `make test-browser` runs these."""

import pytest

from tests.browser.chromium import WIDTH, contrast, luminance, sheets
from tests.browser.explorer_page import LEVELS, opened, show

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (360, "dark"), (820, "light"), (1440, "dark")])
def test_it_fits_any_screen_and_reads_in_both_schemes(browser, file, width, scheme):
    with opened(browser, file, viewport={"width": width, "height": 740}, color_scheme=scheme) as one:
        assert one.page.evaluate(WIDTH) <= width
        text, ground = one.page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert contrast(text, ground) > 7
        assert (luminance(ground) < 0.2) == (scheme == "dark")
        assert one.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_upon_colours_are_4_5_to_1_or_more(browser, file, scheme):
    """Every shade of the heat maps, and every bar of the simulation that has words."""
    with opened(browser, file, viewport={"width": 1440, "height": 900}, color_scheme=scheme) as one:
        pairs = one.page.evaluate("""() => {
            const pencil = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
            const plain = (colour) => {
                pencil.fillStyle = colour;
                pencil.fillRect(0, 0, 1, 1);
                return String(pencil.getImageData(0, 0, 1, 1).data);
            };
            const added = (place, html) => { place.insertAdjacentHTML("beforeend", html); return place.lastElementChild; };
            const heat = added(document.body, "<table class='heat'><tr></tr></table>").querySelector("tr");
            const image = added(document.body, "<svg></svg>");
            const shades = [...Array(8).keys()].map((shade) => {
                const look = getComputedStyle(added(heat, `<td class="heat-${shade}">1</td>`));
                return [`heat-${shade}`, plain(look.color), plain(look.backgroundColor)];
            });
            const bars = [["none", "dark"], ...[0, 1, 2, 3].map((table) => [table, `on-${table}`])].map(([area, ink]) => {
                const words = getComputedStyle(added(image, `<text class="outcome-words ${ink}"></text>`)).fill;
                return [`area-${area}`, plain(words), plain(getComputedStyle(added(image, `<rect class="area-${area}"/>`)).fill)];
            });
            return [...shades, ...bars];
        }""")
        assert len(pairs) == 13
        assert {name: contrast(words, ground) for name, words, ground in pairs if contrast(words, ground) < 4.5} == {}


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("product", LEVELS)
def test_the_summary_for_a_committee_is_one_page(page, product, paper):
    show(page, product)
    assert sheets(page, format=paper) == 1


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("product", LEVELS)
def test_every_target_is_large_enough_and_the_margin_is_in_sight(browser, file, width, product):
    with opened(browser, file, viewport={"width": width, "height": 844}) as one:
        show(one.page, product)
        small = one.page.evaluate("""() => [...document.querySelectorAll("a[href], button, input, select, summary")]
            .filter(one => one.offsetParent !== null && !one.classList.contains("skip"))
            .map(one => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
            .filter(([, box]) => box.width < 23.9 || box.height < 23.9).map(([name, box]) => `${name} ${box.width} x ${box.height}`)""")
        assert small == []
        margin = one.page.locator("#levels-table input.margin").first.bounding_box()
        assert margin is not None
        assert margin["x"] + margin["width"] <= width
        assert one.page.evaluate(WIDTH) <= width
