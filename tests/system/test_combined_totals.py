"""Combined totals of households use measured numbers alone, and none of a family of which a rule withheld a number."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

import safetab
from tests.inside import Estimate, NumberRows
from tests.releases import Row, group, numbers_of
from tests.worlds.world import World

TENURE, TYPE = "T04", "T03"


def totals_by_group(out: Path) -> dict[tuple[str, str, str], dict[str, Row]]:
    found: defaultdict[tuple[str, str, str], dict[str, Row]] = defaultdict(dict)
    for row in numbers_of(out):
        if row["line"] == 1 and row["iteration_level"] == "Detailed":  # Regional groups are sums of parts besides
            found[group(row)][row["table_id"][:3]] = row
    return {key: rows for key, rows in found.items() if rows.keys() == {TENURE, TYPE}}


def combined(release: safetab.Release, key: tuple[str, str, str]) -> Estimate | None:
    level, region, code = key
    answer = release.total(release.area(region, level), release.group(code))
    assert isinstance(answer, Estimate)
    return answer.combined


def clamped_numbers_are_not_combined(made: tuple[World, Path], folder: Path) -> None:
    """Of totals that a rule raised to 0, the measured number is used."""
    safetab.rerelease(made[1], folder / "clamped", rules=["clamp-negatives"])
    release, seen = safetab.open_release(folder / "clamped"), 0
    for key, rows in totals_by_group(folder / "clamped").items():
        if rows[TENURE]["count"] == rows[TENURE]["unclamped_count"]:
            continue
        seen += 1
        first, second = (1 / rows[family]["variance"] for family in (TYPE, TENURE))
        numbers = [rows[family]["unclamped_count"] for family in (TYPE, TENURE)]
        found = combined(release, key)
        assert found is not None
        assert float(found.exact_value) == pytest.approx(
            (first * numbers[0] + second * numbers[1]) / (first + second), abs=0.002 * max(map(abs, numbers))
        )
    assert seen >= 3


def test_clamped_numbers_are_not_combined(household_run, tmp_path):
    clamped_numbers_are_not_combined(household_run, tmp_path)


def a_family_with_a_withheld_number_is_not_combined(made: tuple[World, Path], patch: pytest.MonkeyPatch) -> None:
    """What is left of it was selected by its noise."""
    _, out = made
    release, original = safetab.open_release(out), NumberRows.totals
    key = next(key for key, rows in totals_by_group(out).items() if rows[TYPE]["unclamped_count"] > 0)
    assert combined(release, key) is not None

    def with_a_withheld_number(self, level, region_ids, codes, family):
        found = original(self, level, region_ids, codes, family)
        of_tenure = [row for row in found if row["table_id"].startswith(TENURE)]
        return found + [row | {"status": "withheld", "unclamped_count": None, "count": None} for row in of_tenure]

    patch.setattr(NumberRows, "totals", with_a_withheld_number)
    found = combined(release, key)
    assert found is None or {each.family for each in found.form.weights} == {"household type"}


def test_a_family_with_a_withheld_number_is_not_combined(household_run, monkeypatch):
    a_family_with_a_withheld_number_is_not_combined(household_run, monkeypatch)
