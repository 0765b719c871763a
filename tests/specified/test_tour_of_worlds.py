"""Random censuses go through every command, and an opened release knows the noise of each of its numbers."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.commands import cli
from tests.inside import Estimate, Stage, open_release
from tests.seeds import seeds
from tests.worlds.specified.random_world import ForeignWorld, write_foreign_world

FAMILIES_DIFFER = 2005
"""The seed of a world where some levels are tabulated in the second or third family alone."""
PASS_WITHOUT_DONORS = 2010
"""The seed of a world with a pass that tabulates nothing but the whole."""


def made(folder: Path, seed: int) -> ForeignWorld:
    world = write_foreign_world(folder, seed)
    (world.data / "SYNTHETIC").touch()
    return world


def safetab(*arguments: object) -> None:
    result = cli(*arguments)
    assert result.exit_code == 0, f"{arguments[0]}: {result.output}"


@pytest.mark.parametrize(
    "seed", [FAMILIES_DIFFER, pytest.param(PASS_WITHOUT_DONORS, marks=pytest.mark.slow), *seeds(0, 12)]
)
def test_every_command_takes_any_census(tmp_path, seed):
    world = made(tmp_path, seed)
    inputs, out = (world.parameters, world.data), tmp_path / "out"
    areas = world.parameters / tomllib.loads((world.parameters / "census.toml").read_text())["areas"]["file"]
    safetab("validate", *inputs)
    safetab("plan", *inputs)
    safetab("run", *inputs, out)
    safetab("status", out)
    safetab("export", out, tmp_path / "csv")
    safetab("report", out, "--output", tmp_path / "report.html")
    safetab("site", out, tmp_path / "site")
    safetab("explore", "--parameters", world.parameters, "--output", tmp_path / "page.html")
    safetab("rerelease", out, tmp_path / "again", "--coterminous", "--geography", areas, "--rule", "clamp-negatives")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [PASS_WITHOUT_DONORS, 0, 1, 2])
def test_accuracy_takes_any_census(tmp_path, seed):
    world = made(tmp_path, seed)
    safetab("accuracy", world.parameters, world.data, tmp_path / "accuracy", "--runs", 2, "--coterminous")


def test_totals_are_combined_with_the_noise_of_their_own_family(tmp_path):
    world = made(tmp_path, FAMILIES_DIFFER)
    safetab("run", world.parameters, world.data, tmp_path / "out")
    release = open_release(tmp_path / "out")
    universe, families = release._folder.universe, {each.name: each for each in release.product.families}
    used = set()
    answers = [each for area in release.areas() for each in release.totals(area=area)]
    for answer in answers:
        combined = answer.combined if isinstance(answer, Estimate) else None
        for measured in [] if combined is None else combined.form.weights:
            group = next(each for each in universe.lists.iterations if each.code == measured.iteration_code)
            level = universe.level_of(measured.geography, group.level, families[measured.family])
            assert measured.noise == level.design.noise(measured.stage)
            used.add((measured.family, measured.stage))
    assert {(name, Stage.STAGE_1) for name in families} <= used
