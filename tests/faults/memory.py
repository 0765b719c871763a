"""Memory limits from 200 MB to 4 GB: a run ends well, or says that memory was short; it never crashes or blames a file."""

import resource
import subprocess
import sys
from pathlib import Path

from tests.faults.commands import HUNG, Ending, ended, warmed_up
from tests.faults.run_places import RunPlaces
from tests.faults.suite import wrong_ending
from tests.faults.worlds import write_world

_LEAST, _MOST = 200 << 20, 4 << 30
_FALSE_REASONS = str.split(
    "damaged; Write it again; Get the release again; not what its ending says; unknown error", "; "
)
_TRUE_REASONS = str.split(
    "memory; address space; Cannot allocate; threads; start new thread; Resource temporarily unavailable", "; "
)
_SECONDS = 120


class MemoryLimits:
    """Half of the cases are new processes under a limit on their address space, from their first moment on.

    In the others it is limited what a command may add to what its libraries have mapped by then.
    """

    name = "memory"
    cases = 100

    def prepare(self, folder):
        self.worlds = [write_world(form, folder / form) for form in ("parquet", "text")]
        self.before = RunPlaces(folder / "before").make()
        warmed_up(self.before.command(self.worlds[0], overwrite=False), ["show", self.before.out, "--state", "44"])

    def findings(self, number, rng, folder):
        space = round(_LEAST * (_MOST / _LEAST) ** rng.random())
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        places, is_new = self.before.copied_to(folder / "run", with_out=False), number % 2 == 0
        if is_new:
            ending = new_process(places.command(rng.choice(self.worlds), overwrite=False), space)
        else:
            loaded = self.worlds[0]
            ending = ended(places.command(loaded, overwrite=False), address_space=max(space, mapped + (space >> 4)))
        found = wrong_ending(ending, 0, 3)
        if ending.code == 3 and not any(one in ending.words for one in _TRUE_REASONS):
            found.append(f"memory is not named: {ending.words[-300:]}")
        found += [f'a false reason, "{one}": {ending.words[-300:]}' for one in _FALSE_REASONS if one in ending.words]
        if (ending.code == 0) != (places.state() not in {"none", "half"}):
            found.append(f"exit code {ending.code}, and OUT is {places.state()}")
        if ending.code == 3 and places.left_behind():
            found.append(f"left behind: {places.left_behind()}")
        return [f"{'a new process, ' if is_new else ''}{space >> 20} MB: {one}" for one in found]


def new_process(command, space):
    called = [sys.executable, "-m", "safetab", *map(str, command)]
    try:
        done = subprocess.run(
            called, capture_output=True, text=True, check=False, timeout=_SECONDS, preexec_fn=lambda: _limit(space)
        )
    except subprocess.TimeoutExpired:
        return Ending(HUNG, "", "")
    return Ending(done.returncode, done.stdout, done.stderr)


def _limit(space):
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
