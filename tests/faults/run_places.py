"""The places of a run that faults are tried on, and what must hold of them afterwards."""

import hashlib
import json
import shutil
from dataclasses import dataclass
from math import gcd
from pathlib import Path

DATASET = "these-people"


@dataclass(frozen=True)
class RunPlaces:
    """All that a run writes lies in one folder."""

    folder: Path

    @property
    def out(self):
        return self.folder / "out"

    @property
    def temporary(self):
        return self.folder / "temporary"

    @property
    def spend_log(self):
        return self.folder / "spend.log"

    def command(self, world, *, overwrite):
        options = ["--temp", self.temporary, "--threads", "1", "--spend-log", self.spend_log, "--dataset", DATASET]
        return ["run", world.parameters, world.data, self.out, *options, *(["--overwrite"] if overwrite else [])]

    def make(self):
        self.temporary.mkdir(parents=True)
        return self

    def copied_to(self, folder, *, with_out):
        shutil.copytree(self.folder, folder)
        places = RunPlaces(folder)
        if not with_out:
            shutil.rmtree(places.out)
        return places

    def state(self):
        """The digest of what is at OUT: "none", or "half" if that is not whole."""
        if not self.out.exists():
            return "none"
        if not is_whole(self.out):
            return "half"
        return hashlib.sha256((self.out / "manifest.json").read_bytes()).hexdigest()

    def runs_in_accounts(self):
        """What the spend log says of each run: begun, released, failed. A line that was cut counts for nothing."""
        states = {}
        for line in self.spend_log.read_text().splitlines() if self.spend_log.exists() else ():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if "run" in entry:
                states.setdefault(entry["run"], set()).add(entry["state"])
        return states

    def left_behind(self):
        """What is there besides OUT, the logs and an empty folder for temporary files."""
        known = {"out", "out.confidential.log", "spend.log", "spend.log.heads", "temporary"}
        here = [path.name for path in self.folder.iterdir() if path.name not in known]
        return sorted(here + [f"temporary/{path.name}" for path in self.temporary.iterdir()])


def is_whole(out):
    """Every file that the manifest names is there with its hash, and no other."""
    try:
        manifest = json.loads((out / "manifest.json").read_text())
    except (OSError, ValueError):
        return False
    files = manifest["outputs"] | manifest["documents"]
    there = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    return there == {*files, "manifest.json"} and all(
        hashlib.sha256((out / name).read_bytes()).hexdigest() == facts["sha256"] for name, facts in files.items()
    )


def spread_over(number, operations):
    """One of so many operations, from 1 on: neighbouring numbers are far apart, and each is met once before any twice."""
    step = next(one for one in range(max(1, round(0.618 * operations)), operations + 2) if gcd(one, operations) == 1)
    return 1 + number * step % operations
