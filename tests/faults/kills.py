"""Kills and interrupts at every file operation that changes something: OUT is the old or the new output, whole."""

from __future__ import annotations

import random
import signal
from pathlib import Path

from tests.faults.commands import Ending, ended, warmed_up
from tests.faults.injector import Fault, Operations
from tests.faults.run_places import RunPlaces, spread_over
from tests.faults.suite import wrong_ending
from tests.faults.worlds import write_world

_ALLOWED = {
    signal.SIGKILL: (-signal.SIGKILL, 0), signal.SIGINT: (130, 0), signal.SIGTERM: (143, 0), signal.SIGHUP: (129, 0),
}  # fmt: skip


class Kills:
    name = "kills"
    cases = 1_000

    def prepare(self, folder: Path) -> None:
        self.world = write_world("text", folder / "world")
        self.before = RunPlaces(folder / "before").make()
        warmed_up(self.before.command(self.world, overwrite=False))
        self.operations = {}
        for overwrite in (False, True):
            places = self.before.copied_to(folder / f"traced-{overwrite}", with_out=overwrite)
            counted = Fault(kinds=Operations.CHANGES)
            traced = ended(places.command(self.world, overwrite=overwrite), counted, [places.folder], is_traced=True)
            assert traced.code == 0, traced.stderr
            self.operations[overwrite] = traced.trace
        print(f"operations that change something: {[len(one) for one in self.operations.values()]}")

    def findings(self, number: int, rng: random.Random, folder: Path) -> list[str]:
        overwrite, sent = bool(number % 2), tuple(_ALLOWED)[number // 2 % 4]
        trace = self.operations[overwrite]
        fault = Fault(spread_over(number // 4, len(trace)), signal=sent, kinds=Operations.CHANGES)
        places = self.before.copied_to(folder / "run", with_out=overwrite)
        before = places.state()
        ending = ended(places.command(self.world, overwrite=overwrite), fault, [places.folder])
        found = wrong_ending(ending, *_ALLOWED[sent])
        found += self.wrong_state(places, before, ending)
        if sent is not signal.SIGKILL and places.left_behind():
            found.append(f"left behind: {places.left_behind()}")
        found += self.wrong_next_run(places)
        operation, path = trace[fault.at - 1]
        where = path.rpartition("/run/")[2] if "/run/" in path else Path(path).name
        return [f"{fault} ({operation} {where}){', --overwrite' if overwrite else ''}: {one}" for one in found]

    def wrong_state(self, places: RunPlaces, before: str, ending: Ending) -> list[str]:
        found, after = [], places.state()
        known, runs = self.before.runs_in_accounts(), places.runs_in_accounts()
        new = {run: states for run, states in runs.items() if run not in known}
        is_new = after not in {before, "none", "half"}
        if after == "half":
            found.append("OUT is half there")
        if after == "none" and before != "none":
            found.append("OUT is gone")
        if is_new and not new:
            found.append("OUT is new and nothing is in the accounts")
        if is_new and any("failed" in states for states in new.values()):
            found.append("OUT is new and the accounts say that the run failed")
        if is_new and ending.code > 0:
            found.append(f"OUT is new and the exit code is {ending.code}: {ending.words[-200:]}")
        if ending.code == 0 and not is_new:
            found.append("exit code 0 and OUT is not new")
        if ending.code > 0 and not all(run in ending.words for run in new):
            found.append(f"a run is in the accounts, and what it spent is not told: {ending.words[-200:]}")
        if ending.code > 128 and not new and "Interrupted. Nothing was" not in ending.words:
            found.append(f"that nothing was spent is not told: {ending.words[-200:]}")
        if any(not run <= runs.get(name, set()) for name, run in known.items()):
            found.append("the accounts lost an earlier run")
        return found

    def wrong_next_run(self, places: RunPlaces) -> list[str]:
        known = len(places.runs_in_accounts())
        ending = ended(places.command(self.world, overwrite=True))
        found = [f"the next run: {one}" for one in wrong_ending(ending, 0)]
        if places.state() in {"none", "half"}:
            found.append("the next run did not make OUT")
        if places.left_behind():
            found.append(f"the next run left behind: {places.left_behind()}")
        if len(places.runs_in_accounts()) != known + 1:
            found.append("the next run is not in the accounts once")
        return found
