"""The explorer in headless Chromium: the simulation. `make test-browser` runs these."""

import re
from fractions import Fraction
from math import sqrt

import pytest

from safetab.tuning import Tuning
from tests.browser.chromium import saved
from tests.browser.explorer_page import FACTS, LEVELS, field, numbers_on, set_on, show
from tests.explorer_numbers import agrees, can_be_drawn, random_config, setting_of, tuned_levels
from tests.explorer_simulation import expected_groups
from tests.inside import PRODUCTS, production_of_2020

pytestmark = pytest.mark.browser
SIZES = b"geography_level,iteration_level,people,groups\r\nCOUNTY,Detailed,40,1000\r\nCOUNTY,2,900,500\r\n"


def give(page, sizes):
    file = {"name": "sizes.csv", "mimeType": "text/csv", "buffer": sizes}
    page.set_input_files("#simulation input[type=file]", file)


def simulate(page):
    page.evaluate("document.getElementById('simulate').click()")
    page.wait_for_selector('#simulation[data-state="drawn"]', timeout=60_000)


def told(page, words, role="status"):
    page.locator(f"#simulation [role={role}]", has_text=words).wait_for()


def expected_on(page, key):
    start = f"simulation/{key}/"
    return {path.removeprefix(start): text for path, text in numbers_on(page) if path.startswith(start)}


@pytest.mark.parametrize("product", LEVELS)
@pytest.mark.parametrize("seed", [None, 1, 4, 5, 7, 9])
def test_what_is_expected_is_pythons(page, product, seed):
    base = production_of_2020(PRODUCTS[product])
    tuning = Tuning(base if seed is None else random_config(base, seed), FACTS)
    assert can_be_drawn(tuning), "choose another seed"
    show(page, product)
    assert set_on(page, setting_of(tuning.config)) is None
    simulate(page)
    people = tuned_levels(Tuning(production_of_2020(PRODUCTS[0]), FACTS))
    compared = 0
    for key in LEVELS[product]:
        if key not in tuned_levels(tuning):
            continue
        totals = people[",".join(key.split(",")[:2])] if product else None
        exact = expected_groups(
            FACTS, tuned_levels(tuning)[key], totals, Fraction(1, 10), Fraction("2.5") if product else Fraction(1)
        )
        shown = expected_on(page, key)
        assert set(shown) == set(exact)
        wrong = {name: (text, exact[name]) for name, text in shown.items() if not agrees(text, exact[name])}
        assert wrong == {}, (seed, key)
        compared += 1
    assert compared


def test_draws_vary_around_what_is_expected_as_much_as_they_should(page):
    """300 draws of one level, each number by its own binomial law; a false alarm once in 10^4 runs."""
    give(page, SIZES)
    page.wait_for_selector('#simulation[data-state="drawn"]')
    page.evaluate("window.explorer.simulated('COUNTY,2', 1)")
    draws = page.evaluate("window.explorer.simulated('COUNTY,2', 300)")
    for of in ("absent", "empty"):
        expected = draws["expected"][of]
        groups = 1500 if of == "absent" else FACTS_GROUPS
        variance = expected * (1 - expected / groups)  # at most, where groups differ
        numbers = [one[of] for one in draws["drawn"]]
        assert abs(sum(numbers) / 300 - expected) < 4.5 * sqrt(variance / 300), of
        spread = sum((number - expected) ** 2 for number in numbers) / 300
        assert 0.1 * variance < spread < 1.6 * variance, of
    sums = {one["absent"] + sum(table["near"] + table["far"] for table in one["tables"]) for one in draws["drawn"]}
    assert sums == {1500}


FACTS_GROUPS = next(
    sizes.groups for level, sizes in FACTS.items() if (level.geography.label, level.iterations.number) == ("COUNTY", 2)
)


@pytest.mark.parametrize(
    ("number", "chance"), [(10, 0.3), (100, 0.02), (5_000, 0.4), (1_000_000, 0.9), (200_000_000, 1e-6), (7, 1.0)]
)
def test_binomial_draws_have_their_mean_and_their_variance(page, number, chance):
    """2,000 draws; mean within 4.5 and variance within 5 standard deviations of theirs."""
    draws = page.evaluate(
        "([n, p]) => Array.from({ length: 2000 }, () => window.explorer.binomial(n, p))", [number, chance]
    )
    variance = number * chance * (1 - chance)
    assert all(0 <= draw <= number for draw in draws)
    assert abs(sum(draws) / 2000 - number * chance) <= 4.5 * sqrt(variance / 2000)
    spread = sum((draw - number * chance) ** 2 for draw in draws) / 2000
    fourth = variance * (1 + (3 - 6 / number) * variance)  # of a binomial
    assert abs(spread - variance) <= 5 * sqrt(max(fourth - variance**2, 0) / 2000)


def test_a_change_draws_anew_and_the_words_follow(page):
    simulate(page)
    before = page.text_content("#simulation [role=status]")
    assert re.match(r"Drawn from the groups of a census of [\d,]+ synthetic people: of [\d,]+ groups", before)
    page.evaluate("document.getElementById('simulation').dataset.state = 'old'")
    field(page, "Budget of County, Detailed").fill("0.001")
    page.wait_for_selector('#simulation[data-state="drawn"]')
    assert page.text_content("#simulation [role=status]") != before
    page.get_by_label("Close to the truth means within").fill("50")
    told(page, "within 50 %")


def test_sizes_and_the_draw_stay_when_another_product_comes_into_view(page):
    give(page, SIZES)
    told(page, "the sizes in sizes.csv")
    for product in (1, 0, 1):  # the last two in haste, while the other is being drawn
        show(page, product)
    told(page, "the sizes in sizes.csv")
    told(page, "of 1,500 groups with people")
    assert page.locator('[data-number^="simulation/COUNTY,2,tenure/"]').count() > 0


@pytest.mark.parametrize("product", LEVELS)
def test_the_words_count_empty_groups_below_state_alone(page, product):
    show(page, product)
    simulate(page)
    words = page.text_content("#simulation [role=status]")
    found = re.search(r"Below state, ([\d,]+) empty groups .*; nation and states publish every group", words)
    drawn = page.eval_on_selector_all(
        "#simulation table:first-of-type [data-number$='/empty']",
        "all => all.map(one => [one.dataset.number, one.closest('td').querySelector('strong').textContent])",
    )
    counts = [
        int(text.replace(",", "")) for path, text in drawn if not re.match("simulation/(USA|STATE|PR-STATE),", path)
    ]
    assert len(counts) < len(drawn)
    assert int(found[1].replace(",", "")) == sum(counts)


def test_sizes_of_the_reader_are_used_or_refused_in_words(page):
    page.evaluate("document.querySelector('#simulation details').open = true")
    give(page, SIZES)
    told(page, "the sizes in sizes.csv")
    assert "of 1,500 groups with people" in page.text_content("#simulation [role=status]")
    wrong = b"geography_level,iteration_level,people,groups\nCOUNTRY,2,40,1\nCOUNTY,2,-4,<b>\nUSA,1,5,99\nUSA,1,5,99\n"
    give(page, wrong)
    problems = page.locator("#simulation [role=alert] p")
    problems.first.wait_for()
    assert [text.split(":")[0] for text in problems.all_text_contents()] == ["Line 2", "Line 3"]
    assert "1,500 groups" in page.text_content("#simulation [role=status]")
    give(page, b"people,groups\n1,2\n")
    told(page, "missing", "alert")
    sizes = saved(page.get_by_role("button", name="Save the sizes in use as CSV"))[1].decode("utf-8-sig")
    assert sizes.splitlines() == ["geography_level,iteration_level,list,people,households,groups", "COUNTY,2,adaptive,40,,1000", "COUNTY,2,adaptive,900,,500"]  # fmt: skip
    stored = page.evaluate("JSON.stringify(localStorage)")
    assert "sizes.csv" not in stored
    page.get_by_role("button", name="Use the made-up census").click()
    told(page, "synthetic people")


HEAD = "geography_level,iteration_level,people,groups\n"


def test_sizes_may_have_thousands_in_quotes_and_levels_in_any_case(page):
    content = HEAD + 'county,2,50,"1,000"\n"County" , DETAILED,"1,900",500\n'
    give(page, content.encode())
    told(page, "of 1,500 groups with people")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (HEAD + "\nCOUNTY,2,50,1,000\n", "Line 3: it has more or fewer cells than the first line."),
        (HEAD + "COUNTY,2,50\n", "Line 2: it has more or fewer cells than the first line."),
        (HEAD + 'COUNTY,2,50,"1,00"\n', "Line 2: people, groups and households must be whole numbers"),
        (HEAD + 'COUNTY,2,50,"1\n', "Line 2: a quotation mark isn't closed"),
        (HEAD.replace(",", ";") + "COUNTY;2;50;1\n", "The first line has semicolons between its columns."),
        ("", "These columns are missing in the first line: geography_level, iteration_level, people, groups."),
    ],
)
def test_a_line_that_could_be_read_wrongly_is_refused(page, content, problem):
    give(page, content.encode())
    page.wait_for_function("!document.querySelector('#simulation [role=alert]').hidden")
    found = page.locator("#simulation [role=alert] p").all_text_contents()
    assert len(found) == 1
    assert found[0].startswith(problem)
