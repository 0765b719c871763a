"""The Parquet files and the CSV files of a release give the same interval for every number that is not withheld."""

import csv
from pathlib import Path
from typing import NamedTuple

import pytest

import safetab
from tests.cases import later
from tests.inside import Product, ReleaseOptions, open_release_folder, repeated_totals
from tests.releases import Row, group, numbers_of, universe_of
from tests.specified.released_world import released
from tests.system.release.test_noise_by_hand import written
from tests.worlds.pairs import make_pairs
from tests.worlds.people import write_random_world


def of_rules(*rules, **config):
    def made(folder, _):
        small = {"people": 60, "budget": 1, "zero_suppression_chance": 0.9, "allow_negative_counts": True}
        world = write_random_world(folder, 2, **small, **config)
        make_pairs(world)
        return world.run(folder / "out", csv=True, rules=rules)

    return made


def withheld(folder, both_products):
    safetab.rerelease(both_products / "households", folder / "out", rules=["withhold-negatives"], csv=True)
    return folder / "out"


RELEASES = {
    "people": lambda _, both_products: both_products / "people",
    "households": lambda _, both_products: both_products / "households",
    "copies, some withheld": lambda folder, _: written(folder, csv=True, rules=["withhold-negatives"]),
    "specified": lambda folder, _: released(folder, ReleaseOptions(csv=True)).out,
}
AT_NIGHT = {
    "withhold-negatives": withheld,
    "puredp": of_rules(privacy_defn="puredp"),
    "clamp-negatives": of_rules("clamp-negatives"),
    "withhold-alone-above-partner": of_rules("withhold-alone-above-partner"),
}


class Made(NamedTuple):
    name: str
    out: Path
    rows: list[Row]
    product: Product


@pytest.fixture(scope="module", params=[*RELEASES, *map(later, AT_NIGHT)])
def made(request, both_products, tmp_path_factory):
    out = (RELEASES | AT_NIGHT)[request.param](tmp_path_factory.mktemp("both-forms"), both_products)
    return Made(request.param, out, numbers_of(out), open_release_folder(out).universe.product)


def ends(row):
    """From a Parquet file or a CSV file."""
    return tuple(None if row[end] in {None, ""} else int(row[end]) for end in ("interval_low", "interval_high"))


def key(row):
    return (*(text.lstrip("'") for text in group(row)), row["table_id"], int(row["line"]))


def test_parquet_and_csv_have_the_same_intervals_row_by_row(made):
    in_parquet, in_csv = {key(row): ends(row) for row in made.rows}, {}
    for path in (made.out / "release" / "csv" / "numbers").iterdir():
        with path.open(encoding="utf-8", newline="") as file:
            in_csv |= {key(row): ends(row) for row in csv.DictReader(file)}
    left_out = {one for one in in_parquet if one[-2:] in repeated_totals(made.product)}
    assert in_csv == {one: pair for one, pair in in_parquet.items() if one not in left_out}
    assert len(in_csv) > 50
    assert bool(left_out) == (
        made.name not in "households, withhold-negatives, specified"
    )  # each total is once in CSV files


def test_every_number_that_is_not_withheld_has_an_interval_and_no_other(made):
    for row in made.rows:
        assert (row["interval_low"] is None) == (row["interval_high"] is None) == (row["status"] == "withheld")
    seen = {row["status"] for row in made.rows}
    assert ("withheld" in seen) == ("withh" in made.name)
    assert ("copied" in seen) == ("copies" in made.name)


def test_what_nothing_selected_has_its_margin_of_error_on_both_sides_from_0(made):
    levels = [level for level in universe_of(made.out, "levels") if level["suppression_threshold"] is not None]
    suppressing = {(level["geography_level"], level["iteration_level"]) for level in levels}
    totals = {family.total.label for family in made.product.families}
    plain = 0
    for row in (row for row in made.rows if row["status"] != "withheld"):
        level = row["donor_geography_level"] or row["geography_level"], row["iteration_level"]
        if row["table"] not in totals or level not in suppressing:
            middle, margin = row["unclamped_count"], row["unclamped_margin_of_error"]
            assert ends(row) == (max(middle - margin, 0), max(middle + margin, 0)), row
            plain += 1
    assert plain > 20


@pytest.mark.slow
def test_the_release_is_verified(made):
    not_made = ["is missing."] if made.name == "specified" else []  # README.txt
    assert [one.message for one in safetab.verify(made.out / "release").findings] == not_made
