"""Injected errors at file operations of a run and of every other command: the reason told is true."""

import errno
import os
import re
from dataclasses import dataclass

from tests.cases import cases_of
from tests.faults.commands import ended
from tests.faults.every_command import left_behind, what_is_in
from tests.faults.injector import Fault
from tests.faults.kills import Kills
from tests.faults.suite import wrong_ending

_NETWORK = "ESTALE ETIMEDOUT ENOTCONN"


def _numbers(names):
    return {getattr(errno, name) for name in f"{names} {_NETWORK}".split()}


_OF_OPERATION = {
    operation: sorted(_numbers(names))
    for operation, names in cases_of(
        """
        create | ENOSPC EDQUOT EACCES EMFILE EIO EINTR EROFS
        open | EACCES EMFILE EIO EINTR
        list | EACCES EMFILE EIO
        read | EIO EINTR
        write | ENOSPC EDQUOT EIO EINTR
        sync | ENOSPC EDQUOT EIO EINTR
        close | ENOSPC EIO EINTR EROFS
        mkdir | ENOSPC EACCES EIO EINTR EROFS
        rename | ENOSPC EACCES EIO EINVAL EROFS
        date | EIO EINTR EROFS
        remove | EACCES EIO
        lock | EINTR EIO
        chmod | EACCES EIO
        stat | EACCES EIO
        any other | EIO
        """
    )
}
"""Which errors an operation can have, on a machine that is full, broken, closed or busy, or by a network."""

_MADE_AGAIN = set(str.split("create open read write sync lock"))
"""Which calls are made again if they are interrupted: closing twice could close another's file, and others never are."""

_FALSE_REASONS = str.split(
    "damaged; Get the release again; Get the output again; Write it again; not what its ending says; out of memory; unknown error",
    "; ",
)
_OF_THE_PROGRAM = re.compile(r"\.partial-|\.safetab-lock|/safetab-(?!fault)\w+-")
"""Paths that no user gave, so no user can mend them."""

_REASONS = {errno.ENOSPC: ("full",), errno.EDQUOT: ("quota",)}
_OF_THE_MACHINE = _numbers("ENOSPC EDQUOT EIO EMFILE EINTR EROFS")
_MAY_LAST = _numbers("ENOSPC EDQUOT")


@dataclass(frozen=True)
class TriedRun:
    """A run whose operations are known."""

    overwrite: bool
    trace: tuple[tuple[str, str], ...]


class InjectedErrors(Kills):
    name = "errors"
    cases = 1_000

    def prepare(self, folder):
        self.prepare_run(folder)
        self.runs = [self._traced_run(folder, overwrite) for overwrite in (False, True)]
        self.prepare_others(folder)

    def _traced_run(self, folder, overwrite):
        places = self.before.copied_to(folder / f"all-{overwrite}", with_out=overwrite)
        folders = [places.folder, self.world.parameters.parent]
        noted = ended(places.command(self.world, overwrite=overwrite), Fault(), folders, is_traced=True)
        assert noted.code == 0, noted.stderr
        return TriedRun(overwrite, noted.trace)

    def findings(self, number, rng, folder):
        is_run = number % 8 == 0
        tried = rng.choice(self.runs) if is_run else self.others[number % len(self.others)]
        at = 1 + rng.randrange(len(tried.trace))
        operation, _ = tried.trace[at - 1]
        error = rng.choice(_OF_OPERATION.get(operation, _OF_OPERATION["any other"]))
        fault = Fault(at, error=error, is_lasting=error in _MAY_LAST and rng.random() < 0.5)
        if isinstance(tried, TriedRun):
            name = "run --overwrite" if tried.overwrite else "run"
            ending, found = self._wrong_run(tried, fault, folder)
        else:
            name = tried.command.name
            ending, found = self._wrong_command(tried, fault, folder)
        met = ending.trace[at - 1 :] if fault.is_lasting else ending.trace[at - 1 : at]  # threads may change the order
        found += wrong_words(ending, fault, [name for name, _ in met])
        where = "; ".join(f"{name} {'/'.join(path.split('/')[-2:])}" for name, path in met[:1])
        return [f"{name}, {fault} ({where}): {one}" for one in found]

    def _wrong_run(self, tried, fault, folder):
        places = self.before.copied_to(folder / "run", with_out=tried.overwrite)
        before = places.state()
        folders = [places.folder, self.world.parameters.parent]
        ending = ended(places.command(self.world, overwrite=tried.overwrite), fault, folders, is_traced=True)
        found = wrong_ending(ending, 0, 1, 3) + self.wrong_state(places, before, ending)
        if places.left_behind() and not fault.is_lasting and "could not be removed" not in ending.words:
            found.append(f"left behind: {places.left_behind()}; {ending.words[-200:]}")
        return ending, found + (self.wrong_next_run(places) if found or fault.at % 8 == 0 else [])

    def _wrong_command(self, tried, fault, folder):
        case = folder / "made"
        tried.command.prepare(case)
        ending = tried.command.ended(case, fault)
        found = wrong_ending(ending, 0, 1, 3)
        there, left = what_is_in(case), left_behind(case)
        cant_be_removed = fault.is_lasting and "could not be removed" in ending.words
        if ending.code and there != tried.before and not cant_be_removed:
            found.append(f"exit code {ending.code} and there is {there}: {ending.words[-200:]}")
        if ending.code == 0 and there != tried.after:
            found.append(f"exit code 0, and there is {there}: {ending.words[-200:]}")
        if left and not fault.is_lasting and "could not be removed" not in ending.words:
            found.append(f"left behind: {left}; {ending.words[-200:]}")
        return ending, found


def wrong_words(ending, fault, operations):
    """What is said of a failure is the machine's reason, and no other: neither damage nor somebody's mistake.

    `operations`: those that met the fault.
    """
    if ending.code not in {1, 3}:
        return []
    said = f"{ending.code}: {ending.words[-300:]}"
    found = [f'a false reason, "{one}": {said}' for one in _FALSE_REASONS if one in ending.words]
    if ending.code == 1 and _OF_THE_PROGRAM.search(ending.words):
        found.append(f"a path of the program's own is said to be at fault: {said}")
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
