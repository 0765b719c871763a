"""Mutated inputs: accepted with the judge's counts, or refused in a sentence; never a traceback, a hang or a value."""

import shutil
import sys

from tests.faults.commands import code_of_command, ended, warmed_up
from tests.faults.judged_counts import difference_of_counts
from tests.faults.mutations import SECRET, mutate
from tests.faults.suite import wrong_ending
from tests.faults.worlds import WORLDS, FaultWorld, write_world

DIFFERENCE = "the judge counts otherwise: "
_SHOWN = 16  # so many characters of a record's line on a screen are a record shown


class MutatedInputs:
    name = "inputs"
    cases = 10_000

    def prepare(self, folder):
        self.worlds = {kind: write_world(kind, folder / kind) for kind in WORLDS}
        for world in self.worlds.values():
            warmed_up(["validate", world.parameters, world.data])
            assert difference_of_counts(world) is None

    def findings(self, number, rng, folder):
        kind = rng.choice(sorted(self.worlds))
        world = copied(self.worlds[kind], folder / "world")
        files = sorted(path for path in (folder / "world").rglob("*") if path.is_file())
        done = []
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            path = rng.choice([one for one in files if one.is_file()])
            name = mutate(path, rng, is_confidential=path.name.startswith(world.records))
            done.append(f"{path.name} {name}")
        ending = ended(lambda: validated_and_judged(world))
        found = wrong_ending(ending, 0, 1) + values_shown(ending, world)
        if DIFFERENCE in ending.stderr:
            found.append(ending.stderr[ending.stderr.index(DIFFERENCE) :].strip())
        return [f"{kind}, {'; '.join(done)}: {one}" for one in found]


def copied(world, folder):
    root = world.parameters.parent
    shutil.copytree(root, folder)
    return FaultWorld(folder / world.parameters.name, folder / world.data.relative_to(root), world.records)


def validated_and_judged(world):
    """In a process of its own: the exit code of `validate`, and a line on standard error if the judge disagrees."""
    code = code_of_command(["validate", world.parameters, world.data, "--threads", "1"])
    if code == 0:
        difference = difference_of_counts(world)
        if difference is not None:
            sys.stderr.write(f"\n{DIFFERENCE}{difference}\n")
    return code


def values_shown(ending, world):
    shown = ending.stderr + ending.stdout
    if SECRET in shown:
        return ["the secret is on the screen"]
    folder = world.data if world.data.is_dir() else world.data.parent
    for path in folder.rglob("*"):
        if path.is_file() and path.name.startswith(world.records):
            lines = path.read_bytes().decode("utf-8", "replace").splitlines()[1:]
            if any(
                len(line) >= _SHOWN and line[:_SHOWN] in shown and "|QRACE1" not in line for line in lines
            ):  # no header
                return [f"a line of {path.name} is on the screen"]
    return []
