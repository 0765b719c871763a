"""One or two signals at a file operation of a run or of another command: what is there is old or new, and whole."""

import shutil
import signal
from dataclasses import replace
from pathlib import Path

from tests.faults.commands import ended, warmed_up
from tests.faults.every_command import every_command, left_behind, traced, what_is_in
from tests.faults.injector import Fault, Operations
from tests.faults.run_places import RunPlaces, spread_over
from tests.faults.suite import wrong_ending
from tests.faults.worlds import write_world

_CODES = {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
_SIGNALS = tuple(_CODES)
_MOST_LATER = 6  # operations between two signals


class Kills:
    name = "kills"
    cases = 1_000

    def prepare(self, folder):
        self.prepare_run(folder)
        self.operations = {}
        for overwrite in (False, True):
            places = self.before.copied_to(folder / f"traced-{overwrite}", with_out=overwrite)
            counted = Fault(kinds=Operations.CHANGES)
            noted = ended(places.command(self.world, overwrite=overwrite), counted, [places.folder], is_traced=True)
            assert noted.code == 0, noted.stderr
            self.operations[overwrite] = noted.trace
        print(f"operations that change something: {[len(one) for one in self.operations.values()]}")
        self.prepare_others(folder)

    def prepare_run(self, folder):
        self.world = write_world("text", folder / "world")
        self.before = RunPlaces(folder / "before").make()
        warmed_up(self.before.command(self.world, overwrite=False))

    def prepare_others(self, folder):
        (folder / "others").mkdir()
        commands = every_command(folder / "others", self.world, self.before)
        self.others = [traced(command, folder / "traced") for command in commands]

    def findings(self, number, rng, folder):
        sent = _SIGNALS[number // 4 % 4]
        second = rng.choice((0, *_SIGNALS)) if number // 2 % 2 else 0
        fault = Fault(signal=sent, second=second, later=rng.randrange(_MOST_LATER))
        if number % 2:
            return self._findings_of_other(number, fault, folder)
        return self._findings_of_run(number, fault, folder, overwrite=rng.random() < 0.5)

    def _findings_of_run(self, number, fault, folder, *, overwrite):
        trace = self.operations[overwrite]
        fault = replace(fault, at=spread_over(number // 2, len(trace)), kinds=Operations.CHANGES)
        places = self.before.copied_to(folder / "run", with_out=overwrite)
        before = places.state()
        ending = ended(places.command(self.world, overwrite=overwrite), fault, [places.folder])
        found = wrong_ending(ending, *codes_after(fault))
        found += self.wrong_state(places, before, ending)
        if ending.code >= 0 and places.left_behind():
            found.append(f"left behind: {places.left_behind()}")
        found += self.wrong_next_run(places)
        operation, path = trace[fault.at - 1]
        where = path.rpartition("/run/")[2] if "/run/" in path else Path(path).name
        return [f"{fault} ({operation} {where}){', --overwrite' if overwrite else ''}: {one}" for one in found]

    def _findings_of_other(self, number, fault, folder):
        known = self.others[number // 2 % len(self.others)]
        turn = number // (2 * len(self.others))
        fault = replace(fault, at=spread_over(number * 31 + turn, len(known.trace)))
        known.command.prepare(folder / "case")
        ending = known.command.ended(folder / "case", fault)
        found = wrong_ending(ending, *codes_after(fault)) + wrong_things(known, folder / "case", ending)
        found += wrong_repetition(known, folder / "case")
        operation, path = known.trace[fault.at - 1]
        return [f"{known.command.name}, {fault} ({operation} {Path(path).name}): {one}" for one in found]

    def wrong_state(self, places, before, ending):
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

    def wrong_next_run(self, places):
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


def codes_after(fault):
    """How a command may end: by one of the signals, or well if it had come to its end."""
    return (0, *(_CODES[signal.Signals(sent)] for sent in (fault.signal, fault.second) if sent))


def wrong_things(known, case, ending):
    """What is wrong with what is there: all of it is as before, or as after the command."""
    found, there = [], what_is_in(case)
    if ending.code < 0:  # between two of its files, perhaps
        is_whole = all(there[name] in (known.before.get(name), known.after.get(name)) for name in there)
        return [] if is_whole and known.before.keys() <= there.keys() else [f"there is {there}"]
    is_old, is_new = there == known.before, there == known.after
    if not (is_old or is_new):
        found.append(f"exit code {ending.code}, and there is {there}: {ending.words[-200:]}")
    if ending.code == 0 and not is_new:
        found.append("exit code 0, and it is not done")
    if ending.code > 0 and not is_old:
        found.append(f"exit code {ending.code}, and it is done: {ending.words[-200:]}")
    if left_behind(case) and "could not be removed" not in ending.words:
        found.append(f"left behind: {left_behind(case)}")
    return found


def wrong_repetition(known, case):
    """What is wrong after the same command, once its outputs are removed."""
    for name in what_is_in(case).keys() - known.before.keys():
        path = case / name
        path.with_name(f"{name}.heads").unlink(missing_ok=True)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    ending = known.command.ended(case, is_repeated=True)
    found = wrong_ending(ending, 0)
    if what_is_in(case) != known.after:
        found.append(f"there is {what_is_in(case)}: {ending.words[-200:]}")
    if left_behind(case):
        found.append(f"left behind: {left_behind(case)}")
    return [f"the next time: {one}" for one in found]
