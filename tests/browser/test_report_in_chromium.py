"""The pages in headless Chromium: wide, narrow, dark and printed. `make test-browser` runs these."""

import shutil

import pytest

import safetab
from tests.browser.chromium import A4, GROUND, GROUNDS, HEIGHT, WIDTH, axe_violations, opened, served, sheets
from tests.worlds.world import World

pytestmark = pytest.mark.browser
each_page = pytest.mark.parametrize("name", ["report.html", "accuracy.html"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory, demo_census, demo_out):
    """A report, and a comparison of two configurations."""
    folder, world = tmp_path_factory.mktemp("pages"), World.of(demo_census)
    other = World(folder / "more-for-counties", world.data)
    shutil.copytree(world.parameters, other.parameters)
    other.configure(**{key: 4 * budget for key, budget in world.config().items() if key.endswith("_county")})
    safetab.accuracy(*world, folder / "accuracy", against=other.parameters, runs=3)
    shutil.copy(demo_out / "report.html", folder)
    shutil.copy(folder / "accuracy" / "accuracy.html", folder)
    return folder


@each_page
def test_axe_finds_nothing(browser, folder, name):
    with opened(browser, folder / name) as watched:
        assert axe_violations(watched.page) == []


@each_page
def test_the_page_loads_from_a_file_without_a_complaint(browser, folder, name):
    with opened(browser, folder / name) as watched:
        assert watched.requests == [(folder / name).as_uri()]
        assert watched.complaints == []
        watched.page.evaluate("setTimeout(() => nothing.here())")
        watched.page.wait_for_timeout(100)
        assert watched.complaints  # we would know


@each_page
def test_the_page_asks_a_server_for_itself_alone(browser, folder, name):
    with served(folder) as (address, asked), opened(browser, f"{address}/{name}", offline=False) as watched:
        watched.page.wait_for_load_state("networkidle")
        assert asked == [f"/{name}"]


@each_page
@pytest.mark.parametrize("width", [390, 500, 1280])
def test_the_page_fits_the_screen_and_is_light_or_dark_as_the_reader_likes(browser, folder, width, name):
    with opened(browser, folder / name, viewport={"width": width, "height": 800}) as watched:
        page = watched.page
        assert page.evaluate(WIDTH) == width
        assert page.evaluate("document.styleSheets.length") == 1
        for scheme, ground in GROUNDS.items():
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(GROUND) == ground
        seen = page.screenshot()
        page.set_content("")
        assert len(seen) > 10 * len(page.screenshot()), "it is blank"


@each_page
def test_the_page_prints_without_half_empty_sheets(browser, folder, name):
    """Sheets beside the height of the page, as it is printed, in sheets of A4 without their margins."""
    with opened(browser, folder / name, viewport=A4) as watched:
        printed = sheets(watched.page, prefer_css_page_size=True)
        watched.page.emulate_media(media="print")
        height = watched.page.evaluate(HEIGHT) / A4["height"]
    assert 3 < height <= printed <= 1.15 * height + 1


OVERPRINTED = """() => [...document.querySelectorAll(".plot svg")].flatMap((drawing) => {
  const boxes = [...drawing.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([a, one], n) => boxes.slice(n + 1).filter(([, other]) => one.left < other.right - 1
    && other.left < one.right - 1 && one.top < other.bottom - 3 && other.top < one.bottom - 3).map(([b]) => `${a}/${b}`));
})"""
CUT = """() => [...document.querySelectorAll(".plot svg")].flatMap((drawing) => {
  const { left, right } = drawing.getBoundingClientRect();
  return [...drawing.querySelectorAll("text")].filter((text) => text.getBoundingClientRect().right > right
    || text.getBoundingClientRect().left < left).map((text) => text.textContent);
})"""
SCALES = """() => [...document.querySelectorAll(".plots")].map((row) => [...row.querySelectorAll("svg")].map(
    (drawing) => [...drawing.querySelectorAll("text")].map((text) => text.textContent).join("; ")))"""


def test_plots_are_compared_on_one_scale_and_no_text_is_printed_over_another(browser, folder):
    with opened(browser, folder / "accuracy.html") as watched:
        assert watched.page.evaluate(OVERPRINTED) == []
        assert watched.page.evaluate(CUT) == []
        scales = [set(row) for row in watched.page.evaluate(SCALES)]
        assert len(scales) == 6  # share and error of two configurations; error, relative error; tables; suppression
        assert [len(row) for row in scales] == [1, 1, 1, 1, 2, 2]  # thresholds close up and bias have axes of their own
        watched.page.add_style_tag(content=".plot text { font-size: 40px !important; }")
        assert watched.page.evaluate(OVERPRINTED) != []  # we would know


def test_the_comparison_comes_first_and_names_both(browser, folder):
    with opened(browser, folder / "accuracy.html") as watched:
        page = watched.page
        assert page.locator("main h2").first.text_content() == "parameters, against more-for-counties"
        assert page.locator("#comparison .legend li").all_text_contents() == ["parameters", "more-for-counties"]
        assert "the other" not in page.text_content("#comparison")


def test_the_verdict_of_a_class_is_seen_however_long_the_names_are(browser, folder):
    """Both names of a comparison are made as long as folders get."""
    page = (folder / "accuracy.html").read_text(encoding="utf-8")
    (folder / "long.html").write_text(page.replace("more-for-counties", "more_for_counties_" * 4), encoding="utf-8")
    with opened(browser, folder / "long.html", viewport={"width": 1440, "height": 900}) as watched:
        region = watched.page.get_by_role("group", name="Class by class").first
        assert region.evaluate("(one) => one.scrollWidth - one.clientWidth") == 0
        verdicts = region.locator("td:nth-child(3)").all_text_contents()
        assert "gain" in verdicts
        assert set(verdicts) <= {"gain", "mixed", "same", "lose"}
