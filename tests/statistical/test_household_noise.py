"""Released numbers of households against exact probabilities, at a production budget.

Each test raises a false alarm with probability 1e-6, and must reject noise 3 % too narrow or too wide.
"""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import safetab
from tests.brute_force import rows_of
from tests.conftest import SMALL_EXAMPLE
from tests.statistical.test_released_noise import FALSE_ALARM, chi_square_p_value, gaussian
from tests.worlds.households import COLUMNS, LEVELS, household_config

pytestmark = pytest.mark.slow
TRACTS = 12_000
BUDGET = 0.142869
SIGMA_SQUARED = 9 / (2 * BUDGET)
CELLS = {"t3/T03001": ("0",), "t3/T03004": ("2", "4", "5", "7", "8"), "t4/T04001": ("0",), "t4/T04002": ("1", "2", "3")}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Groups with a total and no household: every measured cell is noise. Half of them get the finest tables."""
    folder = tmp_path_factory.mktemp("noise")
    shutil.copytree(SMALL_EXAMPLE / "parameters", folder / "parameters")
    (folder / "data").mkdir()
    ids = [(f"{n // 1000:03d}", f"{n:06d}") for n in range(TRACTS)]
    blocks = [f"44|{county}|{tract}|1000|99999|9999" for county, tract in ids]
    header = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE"
    (folder / "data" / "GRF-C.txt").write_text("\n".join([header, *blocks]) + "\n")
    nobody = "44|000|000000|1000|01|1000|Null|Null|Null|Null|Null|Null|Null|9950|1|1"  # in no tabulated group
    (folder / "data" / "household-records.txt").write_text("|".join(COLUMNS) + f"\n{nobody}\n")
    lists = ("race-characteristic-iterations.txt", "ethnicity-characteristic-iterations.txt")
    listed = [row for name in lists for row in rows_of(folder / "parameters" / name)]
    codes = [row["ITERATION_CODE"] for row in listed if row["LEVEL"] == "2" and row["DETAILED_ONLY"] == "False"]
    totals = [f"44{county}{tract}|TRACT|{code}|{10**6 * (int(tract) % 2)}" for county, tract in ids for code in codes]
    columns = "REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT"
    (folder / "data" / "pop-group-totals.txt").write_text("\n".join([columns, *totals]) + "\n")
    levels = [f"({one}, {n})" for one in LEVELS for n in (1, 2)]
    config = household_config(0, max_race_codes=8, run_pr=False, state_filter_us=["44"])
    for family, number in (("t3", 3), ("t4", 1)):
        config[f"thresholds_h_{family}"] = {level: [10**6] * number for level in levels}
    config |= {"privacy_budget_h_t3_level_2_tract": BUDGET, "privacy_budget_h_t4_level_2_tract": BUDGET}
    (folder / "parameters" / "config.json").write_text(json.dumps(config))
    safetab.run(folder / "parameters", folder / "data", folder / "out")
    return folder / "out"


@pytest.mark.parametrize("table", CELLS)
def test_measured_cells_are_discrete_gaussian(released, table):
    rows = [row.split("|") for row in (released / table / "us.csv").read_text().splitlines()[1:]]
    noise = np.array([int(count) for *_, cell, count in rows if cell in CELLS[table]])
    assert len(noise) > 100_000
    assert chi_square_p_value(noise, gaussian(SIGMA_SQUARED)) > FALSE_ALARM
    for factor in (0.97, 1.03):
        assert chi_square_p_value(noise, gaussian(SIGMA_SQUARED * factor**2)) < FALSE_ALARM


def test_cells_of_a_group_are_independent(released):
    """The sum of five independent cells has five times the variance; its share of the mean square tells 3 % apart."""
    rows = [row.split("|") for row in (released / "t3/T03004/us.csv").read_text().splitlines()[1:]]
    totals = np.array([int(count) for *_, cell, count in rows if cell == "0"])
    ratio = float(np.mean(totals.astype(float) ** 2)) / (5 * SIGMA_SQUARED)
    assert abs(ratio - 1) < 5 * np.sqrt(2 / len(totals))  # five standard errors: a false alarm once in 1.7 million
    assert 5 * np.sqrt(2 / len(totals)) < 0.03
