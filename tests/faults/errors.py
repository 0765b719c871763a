"""Injected errors at every file operation of a run and of the commands that read a release: the reason told is true."""

from __future__ import annotations

import errno
import os
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.commands import Ending, ended, warmed_up
from tests.faults.injector import Fault
from tests.faults.kills import Kills
from tests.faults.releases import reading_commands, whole_output_commands
from tests.faults.run_places import RunPlaces, spread_over
from tests.faults.suite import wrong_ending
from tests.faults.worlds import write_world

_ANY = (errno.EIO,)
_OF_OPERATION = {
    "create": (errno.ENOSPC, errno.EACCES, errno.EMFILE, errno.EIO, errno.EINTR, errno.EROFS),
    "open": (errno.EACCES, errno.EMFILE, errno.EIO, errno.EINTR),
    "list": (errno.EACCES, errno.EMFILE, errno.EIO),
    "read": (errno.EIO, errno.EINTR),
    "write": (errno.ENOSPC, errno.EIO, errno.EINTR),
    "sync": (errno.ENOSPC, errno.EIO, errno.EINTR),
    "close": (errno.ENOSPC, errno.EIO, errno.EINTR, errno.EROFS),
    "mkdir": (errno.ENOSPC, errno.EACCES, errno.EIO, errno.EINTR, errno.EROFS),
    "rename": (errno.ENOSPC, errno.EACCES, errno.EIO, errno.EINVAL, errno.EROFS),
    "date": (errno.EIO, errno.EINTR, errno.EROFS),
    "remove": (errno.EACCES, errno.EIO),
    "lock": (errno.EINTR, errno.EIO),
    "stat": (errno.EACCES, errno.EIO),
}
"""Which errors an operation can have, on a machine that is full, broken, closed or busy."""

_MADE_AGAIN = {"create", "open", "read", "write", "sync", "lock"}
"""Which calls are made again if they are interrupted: closing twice could close another's file, and others never are."""

_FALSE_REASONS = (
    "damaged",
    "Get the release again",
    "Get the output again",
    "Write it again",
    "not what its ending says",
    "out of memory",
    "unknown error",
)
_REASONS = {errno.ENOSPC: ("full",)}
_OF_THE_MACHINE = {errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EINTR, errno.EROFS}


@dataclass(frozen=True)
class Tried:
    """A command whose operations are known."""

    name: str
    trace: tuple[tuple[str, str], ...]
    arguments: Callable[[Path], Sequence[object]]
    read: Path
    is_run: bool = False


class InjectedErrors(Kills):
    name = "errors"
    cases = 1_000

    def prepare(self, folder: Path) -> None:
        super().prepare(folder)
        geography = self.world.data / "GRF-C.txt"
        of_release = reading_commands(self.before.out / "release", Path("new"))
        of_output = whole_output_commands(self.before.out, Path("new"), geography)
        self.tried = [self._traced_run(folder, overwrite) for overwrite in (False, True)]
        of_both = (of_release | of_output).items()
        self.tried += [self._traced(folder, name, words, self.before.folder) for name, words in of_both]
        parquet, cef = (write_world(kind, folder / kind) for kind in ("parquet", "cef"))
        self.tried += [
            self._traced(folder, "validate", ["validate", parquet.parameters, parquet.data], folder / "parquet"),
            self._traced(folder, "convert", ["convert", cef.data, "new-convert"], folder / "cef"),
        ]

    def _traced_run(self, folder: Path, overwrite: bool) -> Tried:
        places = self.before.copied_to(folder / f"all-{overwrite}", with_out=overwrite)
        folders = [places.folder, self.world.parameters.parent]
        traced = ended(places.command(self.world, overwrite=overwrite), Fault(), folders, is_traced=True)
        assert traced.code == 0, traced.stderr

        def arguments(case: Path) -> Sequence[object]:
            return RunPlaces(case).command(self.world, overwrite=overwrite)

        read = self.world.parameters.parent
        return Tried("run --overwrite" if overwrite else "run", traced.trace, arguments, read, is_run=True)

    def _traced(self, folder: Path, name: str, words: list[object], read: Path) -> Tried:
        def arguments(case: Path) -> list[object]:
            return [str(word).replace("new-", f"{case}/new-") for word in words]

        (folder / name).mkdir()
        warmed_up(arguments(folder / name))
        shutil.rmtree(folder / name)
        (folder / name).mkdir()
        traced = ended(arguments(folder / name), Fault(), [folder / name, read], is_traced=True)
        assert traced.code == 0, traced.stderr
        return Tried(name, traced.trace, arguments, read)

    def findings(self, number: int, rng: random.Random, folder: Path) -> list[str]:
        tried = self.tried[rng.choice((0, 0, 0, 1, 1, 1, *range(2, len(self.tried))))]
        at = spread_over(number, len(tried.trace))
        operation, _ = tried.trace[at - 1]
        error = rng.choice(_OF_OPERATION.get(operation, _ANY))
        fault = Fault(at, error=error, is_lasting=error == errno.ENOSPC and rng.random() < 0.5)
        ending, found = (self._wrong_run if tried.is_run else self._wrong_command)(tried, fault, folder)
        met = ending.trace[at - 1 :] if fault.is_lasting else ending.trace[at - 1 : at]  # threads may change the order
        found += wrong_words(ending, fault, [name for name, _ in met])
        where = "; ".join(f"{name} {'/'.join(path.split('/')[-2:])}" for name, path in met[:1])
        return [f"{tried.name}, {fault} ({where}): {one}" for one in found]

    def _wrong_run(self, tried: Tried, fault: Fault, folder: Path) -> tuple[Ending, list[str]]:
        places = self.before.copied_to(folder / "run", with_out="--overwrite" in tried.name)
        before = places.state()
        folders = [places.folder, tried.read]
        ending = ended(tried.arguments(places.folder), fault, folders, is_traced=True)
        found = wrong_ending(ending, 0, 1, 3) + self.wrong_state(places, before, ending)
        if places.left_behind() and not fault.is_lasting and "could not be removed" not in ending.words:
            found.append(f"left behind: {places.left_behind()}; {ending.words[-200:]}")
        return ending, found + (self.wrong_next_run(places) if found or fault.at % 8 == 0 else [])

    def _wrong_command(self, tried: Tried, fault: Fault, folder: Path) -> tuple[Ending, list[str]]:
        (folder / "made").mkdir()
        folders = [folder / "made", tried.read]
        ending = ended(tried.arguments(folder / "made"), fault, folders, is_traced=True)
        found = wrong_ending(ending, 0, 1, 3)
        left = sorted(path.name for path in (folder / "made").iterdir())
        if ending.code and left and not fault.is_lasting:
            found.append(f"exit code {ending.code} and there is {left}: {ending.words[-200:]}")
        written = [name for name in left if not name.startswith(".")]  # not what the next command clears away
        if written and "Nothing was written" in ending.words:
            found.append(f"nothing was written, and there is {written}")
        is_writing = any(str(folder / "made") in argument for argument in map(str, tried.arguments(folder / "made")))
        if ending.code == 0 and is_writing and not written:
            found.append("exit code 0, and nothing is there")
        return ending, found


def wrong_words(ending: Ending, fault: Fault, operations: Sequence[str]) -> list[str]:
    """What is said of a failure is the machine's reason, and no other: neither damage nor somebody's mistake.

    `operations`: those that met the fault.
    """
    if ending.code not in {1, 3}:
        return []
    said = f"{ending.code}: {ending.words[-300:]}"
    found = [f'a false reason, "{one}": {said}' for one in _FALSE_REASONS if one in ending.words]
    reasons = (*_REASONS.get(fault.error, ()), os.strerror(fault.error), os.strerror(fault.error).lower())
    reasons += ("could not be closed",) if "close" in operations else ()  # Arrow doesn't tell why
    if fault.error in _OF_THE_MACHINE:
        if ending.code != 3:
            found.append(f"what the machine refused is said to be the fault of what was given: {said}")
        if not any(one in ending.words for one in reasons):
            found.append(f"the machine's reason is not given: {said}")
    if fault.error == errno.EINTR and set(operations) <= _MADE_AGAIN:
        found.append(f"a call that was interrupted is not made again: {said}")
    return found
