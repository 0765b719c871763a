"""Combined totals of households use measured numbers alone, and none of a family of which a rule withheld a number."""

from collections import defaultdict

import numpy as np
import pytest

import safetab
from tests.inside import NumberRows
from tests.releases import group, numbers_of
from tests.worlds.households import write_household_world
from tests.worlds.released import Released

TENURE, TYPE = "T04", "T03"


def totals_by_group(out):
    found = defaultdict(dict)
    for row in numbers_of(out):
        if row["line"] == 1 and row["iteration_level"] == "Detailed":  # Regional groups are sums of parts besides
            found[group(row)][row["table_id"][:3]] = row
    return {key: rows for key, rows in found.items() if rows.keys() == {TENURE, TYPE}}


def combined(release, key):
    level, region, code = key
    return release.total(release.area(region, level), release.group(code)).combined


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A run of three levels."""
    folder = tmp_path_factory.mktemp("few")
    world = write_household_world(folder, 21, budget=0.3, people=250)
    kept = ("2_state", "2_county", "2_tract")
    levels = [key for key in world.config() if key.startswith("privacy_budget_h") and not key.endswith(kept)]
    world.configure(**dict.fromkeys(levels, 0), run_pr=False)
    return Released(world, world.run(folder / "out"))


def clamped_numbers_are_not_combined(made, folder):
    """Of totals that a rule raised to 0, the measured number is used."""
    safetab.rerelease(made.out, folder / "clamped", rules=["clamp-negatives"])
    release, seen = safetab.open_release(folder / "clamped"), 0
    for key, rows in totals_by_group(folder / "clamped").items():
        if rows[TENURE]["count"] != rows[TENURE]["unclamped_count"]:
            seen += 1
            weights = [1 / rows[family]["variance"] for family in (TYPE, TENURE)]
            numbers = [rows[family]["unclamped_count"] for family in (TYPE, TENURE)]
            near = pytest.approx(np.average(numbers, weights=weights), abs=0.002 * max(map(abs, numbers)))
            assert float(combined(release, key).exact_value) == near
    assert seen >= 3


def test_clamped_numbers_are_not_combined(few, tmp_path):
    clamped_numbers_are_not_combined(few, tmp_path)


def a_family_with_a_withheld_number_is_not_combined(made, patch):
    """What is left of it was selected by its noise."""
    release, original = safetab.open_release(made.out), NumberRows.totals
    key = next(key for key, rows in totals_by_group(made.out).items() if rows[TYPE]["unclamped_count"] > 0)
    assert combined(release, key) is not None

    def with_a_withheld_number(self, level, region_ids, codes, family):
        found = original(self, level, region_ids, codes, family)
        of_tenure = [row for row in found if row["table_id"].startswith(TENURE)]
        return found + [row | {"status": "withheld", "unclamped_count": None, "count": None} for row in of_tenure]

    patch.setattr(NumberRows, "totals", with_a_withheld_number)
    found = combined(release, key)
    assert found is None or {each.family for each in found.form.weights} == {"household type"}


def test_a_family_with_a_withheld_number_is_not_combined(few, monkeypatch):
    a_family_with_a_withheld_number_is_not_combined(few, monkeypatch)
