"""Released totals against exact probabilities, computed here with mpmath alone.

Each test raises a false alarm with probability 1e-6: the chi-square statistic is compared with that quantile. It must also
reject noise that is a rounded normal of the same variance, and noise 3 % too narrow or too wide.
"""

import shutil

import mpmath
import numpy as np
import pytest

import safetab
from tests.conftest import SMALL_EXAMPLE
from tests.worlds.people import PERSON_HEADER
from tests.worlds.world import World

TRACTS, ITERATIONS = 20_000, 21
FALSE_ALARM = 1e-6


def chi_square_p_value(sample, probabilities):
    """How likely a worse fit is; values that are expected fewer than ten times are taken together."""
    usual = [value for value, chance in probabilities.items() if chance * len(sample) >= 10]
    expected = np.array([probabilities[value] * len(sample) for value in usual])
    observed = np.array([np.count_nonzero(sample == value) for value in usual])
    rest_expected, rest_observed = len(sample) - expected.sum(), len(sample) - observed.sum()
    statistic = ((observed - expected) ** 2 / expected).sum() + (rest_observed - rest_expected) ** 2 / max(
        rest_expected, 1e-9
    )
    return float(mpmath.gammainc(len(usual) / 2, statistic / 2, regularized=True))


def shares(weights):
    whole = mpmath.fsum(weights.values())
    return {k: float(weight / whole) for k, weight in weights.items()}


def gaussian(sigma_squared):
    return shares({k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * mpmath.mpf(sigma_squared))) for k in range(-200, 201)})


def geometric(scale):
    return shares({k: mpmath.exp(-abs(mpmath.mpf(k)) / mpmath.mpf(scale)) for k in range(-2000, 2001)})


def is_right_and_nothing_near_it(noise, distribution, parameters):
    """The first of the parameters is that of the noise."""
    right, *wrong = (chi_square_p_value(noise, distribution(parameter)) for parameter in parameters)
    assert right > FALSE_ALARM
    assert max(wrong) < FALSE_ALARM


def write_tracts(folder, tracts):
    """The parameters of the small example, and a county for each thousand of so many tracts of one block."""
    world = World.of(folder)
    shutil.copytree(SMALL_EXAMPLE / "parameters", world.parameters)
    world.data.mkdir()
    blocks = [f"44|{n // 1000:03d}|{n:06d}|1000|99999|9999" for n in range(tracts)]
    header = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE"
    (world.data / "GRF-C.txt").write_text("\n".join([header, *blocks, ""]))
    (world.data / "SYNTHETIC").write_text("made up: noise this narrow is refused for real people\n")
    return world


def released_noise(folder, budget, definition):
    """Totals of groups with nobody in them: noise alone, about 420,000 of them."""
    world = write_tracts(folder, TRACTS)
    person = "28|1|True|44|000|000000|1000|01|1000|Null|Null|Null|Null|Null|Null|Null|9950"  # in no tabulated group
    (world.data / "person-records.txt").write_text(f"{PERSON_HEADER}\n{person}\n")
    config = world.config()
    config |= {key: 0 for key in config if key.startswith("privacy_budget_p_level")}
    config |= {"privacy_budget_p_level_2_tract": budget, "run_pr": False, "state_filter_us": ["44"]}
    config["thresholds_p"]["(TRACT, 2)"] = [10**6] * 3
    world.write_config(config | {"privacy_defn": definition, "zero_suppression_chance": 0})
    safetab.run(*world, folder / "out")
    rows = (folder / "out" / "t1" / "us.csv").read_text().splitlines()[1:]
    assert len(rows) == TRACTS * ITERATIONS
    return np.array([int(row.rsplit("|", 1)[1]) for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("sigma_squared", [0.5, 31.446540880503145])
def test_released_totals_are_discrete_gaussian(sigma_squared, tmp_path):
    noise = released_noise(tmp_path, 9 / (2 * 0.9 * sigma_squared), "zcdp")
    is_right_and_nothing_near_it(noise, gaussian, [sigma_squared * factor**2 for factor in (1, 0.97, 1.03)])


@pytest.mark.slow
def test_released_totals_are_two_sided_geometric(tmp_path):
    noise = released_noise(tmp_path, 9 / (0.9 * 5), "puredp")
    is_right_and_nothing_near_it(noise, geometric, [5, 5 * 0.97, 5 * 1.03])


def test_the_judge_rejects_a_rounded_normal():
    probabilities = gaussian(0.5)
    variance = sum(k * k * chance for k, chance in probabilities.items())
    normal = np.random.default_rng(1).normal(0, np.sqrt(variance), 400_000)
    assert chi_square_p_value(np.rint(normal).astype(int), probabilities) < FALSE_ALARM
