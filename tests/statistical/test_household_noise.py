"""Released numbers of households against exact probabilities, at a production budget.

Each test raises a false alarm with probability 1e-6, and must reject noise 3 % too narrow or too wide.
"""

import numpy as np
import pytest

import safetab
from tests.brute_force import rows_of
from tests.statistical.test_released_noise import gaussian, is_right_and_nothing_near_it, write_tracts
from tests.worlds.households import COLUMNS, household_config, write_totals

pytestmark = pytest.mark.slow
TRACTS = 12_000
BUDGET = 0.142869
SIGMA_SQUARED = 9 / (2 * BUDGET)
CELLS = {"t3/T03001": ("0",), "t3/T03004": ("2", "4", "5", "7", "8"), "t4/T04001": ("0",), "t4/T04002": ("1", "2", "3")}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Groups with a total and no household: every measured cell is noise. Half of them get the finest tables."""
    folder = tmp_path_factory.mktemp("noise")
    world = write_tracts(folder, TRACTS)
    nobody = "44|000|000000|1000|01|1000|Null|Null|Null|Null|Null|Null|Null|9950|1|1"  # in no tabulated group
    (world.data / "household-records.txt").write_text("|".join(COLUMNS) + f"\n{nobody}\n")
    lists = ("race-characteristic-iterations.txt", "ethnicity-characteristic-iterations.txt")
    listed = [row for name in lists for row in rows_of(world.parameters / name)]
    codes = [row["ITERATION_CODE"] for row in listed if (row["LEVEL"], row["DETAILED_ONLY"]) == ("2", "False")]
    tracts = [(f"44{n // 1000:03d}{n:06d}", 10**6 * (n % 2)) for n in range(TRACTS)]
    write_totals(world, [f"{tract}|TRACT|{code}|{total}" for tract, total in tracts for code in codes])
    config = household_config(0, max_race_codes=8, run_pr=False, state_filter_us=["44"])
    for family, number in (("t3", 3), ("t4", 1)):
        config[f"thresholds_h_{family}"] = {level: [10**6] * number for level in config[f"thresholds_h_{family}"]}
    world.write_config(
        config | {"privacy_budget_h_t3_level_2_tract": BUDGET, "privacy_budget_h_t4_level_2_tract": BUDGET}
    )
    safetab.run(*world, folder / "out")
    return folder / "out"


def noise_of(released, table, cells):
    rows = [row.split("|") for row in (released / table / "us.csv").read_text().splitlines()[1:]]
    return np.array([int(count) for *_, cell, count in rows if cell in cells])


@pytest.mark.parametrize("table", CELLS)
def test_measured_cells_are_discrete_gaussian(released, table):
    noise = noise_of(released, table, CELLS[table])
    assert len(noise) > 100_000
    is_right_and_nothing_near_it(noise, gaussian, [SIGMA_SQUARED * factor**2 for factor in (1, 0.97, 1.03)])


def test_cells_of_a_group_are_independent(released):
    """The sum of five independent cells has five times the variance; its share of the mean square tells 3 % apart."""
    totals = noise_of(released, "t3/T03004", "0")
    ratio = float(np.mean(totals.astype(float) ** 2)) / (5 * SIGMA_SQUARED)
    slack = 5 * np.sqrt(2 / len(totals))  # five standard errors: a false alarm once in 1.7 million
    assert abs(ratio - 1) < slack < 0.03
