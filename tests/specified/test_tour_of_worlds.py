"""Random censuses go through every command, and an opened release knows the noise of each of its numbers."""

import tomllib

import pytest

from tests.commands import done
from tests.inside import Estimate, Stage, open_release
from tests.seeds import seeds
from tests.worlds.specified.random_world import write_foreign_world

SMALL = 50
FAMILIES_DIFFER, SMALL_AND_DIFFER = 2005, 33
"""The seeds of worlds where some levels are tabulated without the first of three families."""
PASS_WITHOUT_DONORS = 2010
"""The seed of a world with a pass that tabulates nothing but the whole."""


def made(folder, seed):
    world = write_foreign_world(folder, seed)
    (world.data / "SYNTHETIC").touch()
    return world


@pytest.mark.parametrize(
    "seed",
    [SMALL, *(pytest.param(n, marks=pytest.mark.slow) for n in (FAMILIES_DIFFER, PASS_WITHOUT_DONORS)), *seeds(0, 12)],
)
def test_every_command_takes_any_census(tmp_path, seed):
    world, out = made(tmp_path, seed), tmp_path / "out"
    areas = tomllib.loads((world.parameters / "census.toml").read_text())["areas"]["file"]
    again = "--coterminous", "--geography", world.parameters / areas, "--rule", "clamp-negatives"
    for command in (
        ("validate", *world),
        ("plan", *world),
        ("run", *world, out),
        ("status", out),
        ("export", out, tmp_path / "csv"),
        ("report", out, "--output", tmp_path / "report.html"),
        ("site", out, tmp_path / "site"),
        ("explore", "--parameters", world.parameters, "--output", tmp_path / "page.html"),
        ("rerelease", out, tmp_path / "again", *again),
    ):
        done(*command)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [PASS_WITHOUT_DONORS, 0, 1, 2])
def test_accuracy_takes_any_census(tmp_path, seed):
    done("accuracy", *made(tmp_path, seed), tmp_path / "accuracy", "--runs", 2, "--coterminous")


@pytest.mark.parametrize("seed", [SMALL_AND_DIFFER, pytest.param(FAMILIES_DIFFER, marks=pytest.mark.slow)])
def test_totals_are_combined_with_the_noise_of_their_own_family(tmp_path, seed):
    release = open_release(made(tmp_path, seed).run(tmp_path / "out"))
    universe, families = release._folder.universe, {each.name: each for each in release.product.families}
    groups, used = {each.code: each for each in universe.lists.iterations}, set()
    answers = [each for area in release.areas() for each in release.totals(area=area)]
    combined = [each.combined for each in answers if isinstance(each, Estimate) and each.combined is not None]
    for measured in (each for one in combined for each in one.form.weights):
        level = groups[measured.iteration_code].level
        design = universe.level_of(measured.geography, level, families[measured.family]).design
        assert measured.noise == design.noise(measured.stage)
        used.add((measured.family, measured.stage))
    assert {(name, Stage.STAGE_1) for name in families} <= used
