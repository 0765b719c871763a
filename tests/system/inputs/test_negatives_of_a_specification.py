"""`negatives` of a specification: kept, withheld by a rule of the release, or shown as zero."""

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import safetab
from tests.inside import NoProgress, write_example
from tests.releases import json_of
from tests.worlds.world import World

WITHHELD = "withhold-negatives"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    write_example("nz", 500, folder, NoProgress())
    world = World.of(folder)
    census, levels = world.path("census.toml"), "[[privacy.levels]]"
    head, _, of_regions, _ = census.read_text().split(levels)
    census.write_text(head + levels + of_regions)
    return world


def run_with(world, negatives, folder, **options):
    own = world.copy(folder / negatives)
    own.edit("census.toml", 'negatives  = "kept"', f'negatives  = "{negatives}"')
    return own.run(folder / negatives / "out", **options)


def rules_of(out):
    return json_of(out / "release" / "datapackage.json")["safetab"]["rules"]


def counts_of(out):
    """How many numbers are below 0, are 0, and were withheld by the rule."""
    numbers = ds.dataset(out / "release" / "numbers", format="parquet").to_table(columns=["count", "rule"])
    by_rule = pc.sum(pc.equal(numbers["rule"].cast("string"), WITHHELD)).as_py() or 0
    below, zero = (pc.sum(made).as_py() or 0 for made in (pc.less(numbers["count"], 0), pc.equal(numbers["count"], 0)))
    return {"below": below, "zero": zero, "withheld": by_rule}


def test_negative_numbers_are_kept_withheld_or_zero_as_the_specification_says(world, tmp_path):
    kept, withheld, zero = (run_with(world, one, tmp_path) for one in ("kept", "withheld", "zero"))
    assert (rules_of(kept), rules_of(withheld), rules_of(zero)) == ([], [WITHHELD], [])
    before = counts_of(kept)
    assert before["below"] > 50
    assert counts_of(withheld) == {"below": 0, "zero": before["zero"], "withheld": before["below"]}
    assert counts_of(zero)["below"] == 0
    assert counts_of(zero)["zero"] >= before["zero"] + before["below"]


def test_a_rule_that_is_asked_for_is_stronger_and_a_rerelease_withholds_too(world, tmp_path):
    out = run_with(world, "withheld", tmp_path, rules=["clamp-negatives"])
    assert rules_of(out) == ["clamp-negatives"]
    safetab.rerelease(out, tmp_path / "again")
    assert rules_of(tmp_path / "again") == [WITHHELD]
    assert counts_of(tmp_path / "again")["below"] == 0
