"""Memory limits from 200 MB to 4 GB: a run ends well, or says that memory was short; it never crashes or blames a file."""

from __future__ import annotations

import random
import resource
from pathlib import Path

from tests.faults.commands import ended, warmed_up
from tests.faults.run_places import RunPlaces
from tests.faults.suite import wrong_ending
from tests.faults.worlds import write_world

_LEAST, _MOST = 200 << 20, 4 << 30
_FALSE_REASONS = ("damaged", "Write it again", "Get the release again", "not what its ending says", "unknown error")
_TRUE_REASONS = ("memory", "Cannot allocate", "threads", "start new thread", "Resource temporarily unavailable")


class MemoryLimits:
    """The limits are on the address space that a command may add to what its libraries have mapped by then."""

    name = "memory"
    cases = 100

    def prepare(self, folder: Path) -> None:
        self.world = write_world("parquet", folder / "world")
        self.before = RunPlaces(folder / "before").make()
        warmed_up(self.before.command(self.world, overwrite=False), ["show", self.before.out, "--state", "44"])

    def findings(self, number: int, rng: random.Random, folder: Path) -> list[str]:
        space = round(_LEAST * (_MOST / _LEAST) ** rng.random())
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        places = self.before.copied_to(folder / "run", with_out=False)
        ending = ended(places.command(self.world, overwrite=False), address_space=max(space, mapped + (space >> 4)))
        found = wrong_ending(ending, 0, 3)
        if ending.code == 3 and not any(one in ending.words for one in _TRUE_REASONS):
            found.append(f"memory is not named: {ending.words[-300:]}")
        found += [f'a false reason, "{one}": {ending.words[-300:]}' for one in _FALSE_REASONS if one in ending.words]
        if (ending.code == 0) != (places.state() not in {"none", "half"}):
            found.append(f"exit code {ending.code}, and OUT is {places.state()}")
        if ending.code == 3 and places.left_behind():
            found.append(f"left behind: {places.left_behind()}")
        return [f"{space >> 20} MB: {one}" for one in found]
