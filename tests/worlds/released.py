"""Censuses and their releases, each made once for all tests of a session, which only look at them."""

from pathlib import Path
from typing import NamedTuple

import safetab
from tests.worlds.households import write_household_world
from tests.worlds.pairs import write_paired_world
from tests.worlds.people import write_random_world
from tests.worlds.world import World


class Released(NamedTuple):
    world: World
    out: Path


class Releases:
    """What was asked for before is not made again."""

    def __init__(self, folder):
        self._folder = folder
        self._made: dict[str, Path] = {}

    def people(self, seed=3, run=None, **world):
        """The world of `write_random_world` and its run with a test key."""
        return self._released("people", write_random_world, seed, run or {}, world)

    def households(self, seed=21, run=None, **world):
        """The world of `write_household_world` and its run with a test key."""
        return self._released("households", write_household_world, seed, run or {}, world)

    def pairs(self, **run):
        """The world of `write_paired_world` and its run with a test key."""
        return self._released("pairs", write_paired_world, 3, run, {})

    def again(self, out, **steps):
        """A release made again from the same measurements, with other steps."""
        folder = self._once(
            f"again {out} {sorted(steps.items())}", lambda new: safetab.rerelease(out, new / "out", **steps)
        )
        return folder / "out"

    def _released(self, kind, write, seed, run, world):
        name = f"{kind} {seed} {sorted(world.items())}"
        made = World.of(self._once(name, lambda folder: write(folder, seed, **world)))
        out = self._once(f"{name} {sorted(run.items())}", lambda folder: made.run(folder / "out", **run))
        return Released(made, out / "out")

    def _once(self, name, make):
        if name not in self._made:
            folder = self._folder / str(len(self._made))
            folder.mkdir()
            make(folder)
            self._made[name] = folder
        return self._made[name]
