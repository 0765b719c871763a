"""The Parquet files and the CSV files of a release give the same interval for every number that is not withheld."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

import safetab
from tests.inside import ReleaseOptions, open_release_folder, repeated_totals
from tests.releases import Row, group, numbers_of, universe_of
from tests.specified.released_world import released
from tests.system.test_coterminous import WATER, write_world
from tests.system.test_noise_by_hand import BUDGETS
from tests.worlds.households import write_household_world
from tests.worlds.pairs import make_pairs
from tests.worlds.people import write_random_world

KEY = "17" * 32
RULES = ["clamp-negatives", "withhold-negatives", "withhold-alone-above-partner"]
SMALL = {"people": 60, "budget": 1, "zero_suppression_chance": 0.9, "allow_negative_counts": True}


def people(folder: Path, *, definition: str = "zcdp", **options: object) -> Path:
    world = write_random_world(folder, 2, privacy_defn=definition, **SMALL)
    make_pairs(world)
    safetab.run(*world, folder / "out", test_key=KEY, csv=True, **options)
    return folder / "out"


def households(folder: Path) -> Path:
    world = write_household_world(folder, 21, budget=0.3, people=60)
    safetab.run(*world, folder / "out", test_key=KEY, csv=True)
    return folder / "out"


def copies(folder: Path) -> Path:
    changes = {f"privacy_budget_p_level_2_{level}": float(budget) for level, budget in BUDGETS.items()}
    parameters, data = write_world(folder, [10, 10**6, 10**6], zero_suppression_chance=0.4, **changes)
    (folder / "water.txt").write_text(WATER)
    options = {"coterminous": True, "empty_blocks": folder / "water.txt"}
    safetab.run(parameters, data, folder / "out", test_key=KEY, csv=True, **options)
    return folder / "out"


def specified(folder: Path) -> Path:
    return released(folder, ReleaseOptions(csv=True)).out


RELEASES = {
    "people": people,
    "households": households,
    "copies": copies,
    "puredp": lambda folder: people(folder, definition="puredp"),
    "specified": specified,
    **{rule: lambda folder, rule=rule: people(folder, rules=[rule]) for rule in RULES},
}


@pytest.fixture(scope="module", params=list(RELEASES))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    return request.param, RELEASES[request.param](tmp_path_factory.mktemp("both-forms"))


def number(text: str) -> int | None:
    return int(text) if text else None


def rows_of_csv(out: Path) -> Iterator[Row]:
    for path in sorted((out / "release" / "csv" / "numbers").iterdir()):
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


def ends(row: Row) -> tuple[int | None, int | None]:
    return row["interval_low"], row["interval_high"]


def key(row: Row) -> tuple[object, ...]:
    return (*(text.lstrip("'") for text in group(row)), row["table_id"], int(row["line"]))


def test_parquet_and_csv_have_the_same_intervals_row_by_row(made):
    name, out = made
    product = open_release_folder(out).universe.product
    in_parquet = {key(row): ends(row) for row in numbers_of(out)}
    left_out = {one for one in in_parquet if one[-2:] in repeated_totals(product)}
    in_csv = {key(row): (number(row["interval_low"]), number(row["interval_high"])) for row in rows_of_csv(out)}
    assert in_csv == {one: pair for one, pair in in_parquet.items() if one not in left_out}
    assert len(in_csv) > 50
    assert bool(left_out) == (name not in {"households", "specified"}), "each total is once in CSV files"


def test_every_number_that_is_not_withheld_has_an_interval_and_no_other(made):
    name, out = made
    rows = numbers_of(out)
    for row in rows:
        assert (row["interval_low"] is None) == (row["interval_high"] is None) == (row["status"] == "withheld")
    seen = {row["status"] for row in rows}
    assert ("withheld" in seen) == name.startswith("withhold")
    assert ("copied" in seen) == (name == "copies")


def test_what_nothing_selected_has_its_margin_of_error_on_both_sides_from_0(made):
    _, out = made
    suppressing = {
        (level["geography_level"], level["iteration_level"])
        for level in universe_of(out, "levels")
        if level["suppression_threshold"] is not None
    }
    totals = {family.total.label for family in open_release_folder(out).universe.product.families}
    plain = 0
    for row in (row for row in numbers_of(out) if row["status"] != "withheld"):
        level = row["donor_geography_level"] or row["geography_level"], row["iteration_level"]
        if row["table"] not in totals or level not in suppressing:
            middle, margin = row["unclamped_count"], row["unclamped_margin_of_error"]
            assert ends(row) == (max(middle - margin, 0), max(middle + margin, 0)), row
            plain += 1
    assert plain > 20


def test_the_release_is_verified(made):
    name, out = made
    not_made = ["is missing."] if name == "specified" else []  # README.txt
    assert [one.message for one in safetab.verify(out / "release").findings] == not_made
