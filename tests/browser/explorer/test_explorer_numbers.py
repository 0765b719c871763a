"""The explorer in headless Chromium: every number is Python's. `make test-browser` runs these."""

import random
from fractions import Fraction

import pytest

from safetab.tuning import Tuning, tuning_of
from tests.browser.explorer_page import FACTS, LEVELS, asked_on, disagreements, field, set_on, settle, show
from tests.explorer_numbers import ExactNumbers, agrees, can_be_drawn, random_config, setting_of
from tests.inside import DELTA, PRODUCTS, epsilon_of_rho, loss_text, production_of_2020

pytestmark = pytest.mark.browser
SETTINGS = 200  # of each product
CHUNK = 25


@pytest.mark.parametrize("first", range(0, SETTINGS, CHUNK))
@pytest.mark.parametrize("product", LEVELS)
def test_every_number_of_random_settings_is_pythons_to_the_digits_shown(page, product, first):
    base = production_of_2020(PRODUCTS[product])
    pinned = None
    show(page, product)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.wait_for_timeout(500)  # what is folded away is drawn when it is opened
    for seed in range(first, first + CHUNK):
        tuning = Tuning(random_config(base, seed), FACTS)
        refusal = set_on(page, setting_of(tuning.config))
        assert (refusal is None) == can_be_drawn(tuning), refusal
        if refusal is not None:
            continue
        page.evaluate("key => window.explorer.look(key)", LEVELS[product][seed % 4])
        if pinned is None:
            page.evaluate("document.getElementById('pin').click()")
            settle(page)
        exact = ExactNumbers(tuning, asked_on(page), pinned)
        if pinned is None:
            pinned = exact
            exact = ExactNumbers(tuning, asked_on(page), pinned)
        assert disagreements(page, exact) == [], f"seed {seed}"
        assert page.evaluate("window.explorer.results().warnings") == exact.warnings


def test_a_total_that_is_a_sum_of_cells_has_the_margin_of_the_sum_on_the_map(page):
    """2020: a County Detailed group of 300 gets a total alone, of 30,000 sex by 23 ages: 46 cells."""
    at = '#heat [data-number="at/COUNTY,2/{}/relative_in_likeliest"]'
    shown = [page.locator(at.format(size)).text_content() for size in (300, 30000)]
    assert shown == ["3.7 %", "0.25 %"]  # 11 of 300 and 75 of 30,000 people


def test_a_wrong_number_would_be_seen(page):
    """The comparison itself: half a unit of the last digit is allowed, and no more."""
    exact = ExactNumbers(tuning_of().require(), asked_on(page))
    assert disagreements(page, exact) == []
    page.evaluate(
        """document.querySelector('[data-number="levels/COUNTY,2/stages/stage_2/parameter"]').textContent = "5.6078" """
    )
    assert disagreements(page, exact) == ["levels/COUNTY,2/stages/stage_2/parameter: 5.6078"]
    assert agrees("11", 11)
    assert not agrees("12", 11)
    assert agrees("99.99 %", 0.99994)
    assert not agrees("99.99 %", 0.99996)


def test_a_loss_is_never_shown_too_small(page):
    dice = random.Random(4944)
    losses = [f"{10 ** dice.uniform(-6, 9):.{dice.randint(0, 18)}f}" for _ in range(5000)]
    losses = [loss for loss in losses if float(loss)]
    shown = page.evaluate(
        "all => all.map(one => [window.explorer.lossText(one), window.explorer.lossText(one, 5)])", losses
    )
    assert shown == [[loss_text(Fraction(loss)), loss_text(Fraction(loss), 5)] for loss in losses]
    rhos = [loss for loss in losses if float(loss) < 1e7][:1000]
    epsilons = page.evaluate("all => all.map(one => window.explorer.epsilonText(one, '1e-10'))", rhos)
    for rho, text in zip(rhos, epsilons, strict=True):
        least = epsilon_of_rho(Fraction(rho), DELTA)
        assert least <= Fraction(text.replace(",", "")) <= least + Fraction(1, 10**4) + least / 10**9, rho
    page.evaluate("document.querySelector('[data-number=\"loss/us/unbounded\"]').textContent = '4.943'")
    exact = ExactNumbers(tuning_of().require(), asked_on(page))
    assert disagreements(page, exact) == ["loss/us/unbounded: 4.943"]


def test_a_loss_far_above_2020_and_noise_that_protects_nobody_are_warned_of(page):
    assert page.text_content("#warning-count") == "No warnings"
    reference = page.locator("#cost-losses tr").last.text_content()
    assert reference == "For comparison: the 2020 Detailed DHC-A4.9449.88825.362938.9488"
    field(page, "Budget of County, Detailed").fill("900000")
    settle(page)
    assert page.text_content("#bar-losses").count("2020: ") == 3
    assert page.text_content("#warning-count") == "3 warnings"
    total, level, no_protection = page.evaluate("window.explorer.results().warnings")
    assert total["text"].startswith(
        "The total loss per person, rho 900,004.785, is more than 182,039 times that of the 2020"
    )
    assert (level["level"], no_protection["level"]) == ("COUNTY,2", "COUNTY,2")
    assert no_protection["text"].startswith("This setting protects nobody at this level")
    assert "`safetab run` refuses it for real people" in page.text_content("#summary-warnings")
