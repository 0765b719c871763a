"""docs/the-paper-reproduced.md is what `python -m tools.reproduction` writes, and its loss distributions are right."""

from functools import partial
from math import comb, exp

import pytest
from dp_accounting import pld

from safetab.tuning import tuning_of
from tests.conftest import PROJECT
from tools.reproduction.__main__ import files
from tools.reproduction.figures import paper_figures
from tools.reproduction.loss_distributions import Counts, together
from tools.reproduction.page import first_part

DOCS = PROJECT / "docs"
GAUSSIAN = pld.privacy_loss_distribution.from_discrete_gaussian_mechanism
GEOMETRIC = pld.privacy_loss_distribution.from_discrete_laplace_mechanism


def test_the_papers_numbers_on_the_page_are_up_to_date():
    assert (DOCS / "the-paper-reproduced.md").read_text("utf-8").startswith(first_part(tuning_of().require()))
    for name, svg in paper_figures().items():
        assert (DOCS / "figures" / name).read_text("utf-8") == svg


@pytest.mark.slow
def test_the_whole_page_is_up_to_date():
    for name, text in files().items():
        assert (DOCS / name).read_text("utf-8") == text, "run `python -m tools.reproduction`"


def test_geometric_losses_are_tosses_of_a_coin():
    losses = together([Counts(9, scale=4.0)])
    worse = 1 / (1 + exp(-1 / 4))
    for epsilon in 0.0, 0.5, 1.3, 2.2:
        tosses = ((comb(9, k) * worse**k * (1 - worse) ** (9 - k), (2 * k - 9) / 4) for k in range(10))
        exact = sum(chance * (1 - exp(epsilon - loss)) for chance, loss in tosses if loss > epsilon)
        assert exact - 1e-12 <= losses.delta(epsilon) <= exact + 1e-3
    assert losses.epsilon(1e-30) == pytest.approx(9 / 4, abs=2e-3)
    assert losses.delta(9 / 4 + 1e-3) == 0


def test_losses_agree_with_dp_accounting():
    gaussian, geometric = (partial(make, value_discretization_interval=1e-4) for make in (GAUSSIAN, GEOMETRIC))
    for ours, first, second in (
        ((Counts(9, sigma=5.6), Counts(9, sigma=16.8)), gaussian(5.6), gaussian(16.8).self_compose(9)),
        ((Counts(9, scale=3.8), Counts(18, scale=34.0)), geometric(1 / 3.8), geometric(1 / 34).self_compose(18)),
    ):
        losses, theirs = together([*ours]), first.self_compose(9).compose(second)
        for delta in 1e-3, 1e-6, 1e-9:
            assert losses.epsilon(delta) == pytest.approx(theirs.get_epsilon_for_delta(delta), rel=0.01)
