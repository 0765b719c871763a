"""Two to six runs at one OUT, one folder for temporary files and one spend log: all ends fit together."""

import time

from tests.faults.commands import started, warmed_up
from tests.faults.run_places import RunPlaces
from tests.faults.suite import wrong_ending
from tests.faults.worlds import write_world


class Races:
    name = "races"
    cases = 200

    def prepare(self, folder):
        self.world = write_world("text", folder / "world")
        self.before = RunPlaces(folder / "before").make()
        warmed_up(self.before.command(self.world, overwrite=False))

    def findings(self, number, rng, folder):
        overwrite, with_out = rng.random() < 0.6, rng.random() < 0.5
        places = self.before.copied_to(folder / "run", with_out=with_out and overwrite)
        known = self.before.runs_in_accounts()
        at_work = []
        for _ in range(rng.randint(2, 6)):
            at_work.append(started(places.command(self.world, overwrite=overwrite)))
            time.sleep(rng.choice((0, 0, 0.05, 0.3)))
        endings = [one.ended(300) for one in at_work]
        found = [one for ending in endings for one in wrong_ending(ending, 0, 1, 3)]
        found += wrong_accounts(places, set(known), endings)
        done = sum(ending.code == 0 for ending in endings)
        if not done:
            found.append(f"no run of {len(endings)} came through: {[ending.words[-150:] for ending in endings]}")
        if not overwrite and done > 1:
            found.append(f"{done} runs say that they made OUT")
        if places.state() in {"none", "half"}:
            found.append(f"OUT is {places.state()}")
        if places.left_behind():
            found.append(f"left behind: {places.left_behind()}")
        return [f"{len(endings)} runs{', --overwrite' if overwrite else ''}: {one}" for one in found]


def wrong_accounts(places, known, endings):
    """Each run that came through is in the accounts as released, and no other is."""
    states = [run for name, run in places.runs_in_accounts().items() if name not in known]
    released, done = sum("released" in one for one in states), sum(ending.code == 0 for ending in endings)
    found = [] if released == done else [f"{done} runs came through and {released} are released in the accounts"]
    if len(states) > len(endings) or any("begun" not in one for one in states):
        found.append(f"the accounts know {len(states)} runs of {len(endings)}")
    return found
