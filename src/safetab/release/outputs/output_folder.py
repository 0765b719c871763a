"""Output folders that appear complete or not at all, and which earlier output may be replaced."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from safetab.foundation.failures import (
    NOTHING_SPENT,
    NOTHING_WRITTEN,
    OF_THE_MACHINE,
    RunFailed,
    machine_refused,
    raise_if_the_machine_failed,
    refusals_as_run_failed,
)
from safetab.foundation.files import NOT_UTF_8_PATH, is_utf8_path, resolved, whole_path
from safetab.foundation.findings import Finding, InvalidInput, Severity, shortened
from safetab.foundation.interrupts import publishing
from safetab.foundation.locked_folder import (
    LeftBehind,
    clear_abandoned,
    locked_file,
    locked_folder,
    why_no_folder,
)
from safetab.foundation.new_files import (
    CantBeDone,
    exchange,
    is_output_of_run,
    output_around,
    refusals_as_warnings,
    sync_directory,
)
from safetab.release.outputs.manifest import ADDED_LATER, MANIFEST_FILE


@dataclass(frozen=True, slots=True)
class EarlierOutput:
    """An output that may be replaced: it has the file `known_by` and no files but its own."""

    known_by: str
    own_names: Callable[[Path], Container[str]]
    """The files written into a folder, by the list that it keeps or by their known names."""

    def foreign_in(self, out: Path) -> list[str]:
        """Files and links that the command did not write.

        Its own list is one of them if the command can't have written it.
        """
        if not (out / self.known_by).is_file():
            return []
        try:
            own = self.own_names(out)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return [self.known_by]
        return [name for name in names_in(out) if name not in own]


def names_in(folder: Path) -> list[str]:
    """The names of files at any depth, and of links wherever they lead."""
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in paths)


class NamesLike(Container[str]):
    """Every name that matches a pattern completely."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._pattern.fullmatch(name) is not None


def always_named(known_by: str, names: Container[str]) -> EarlierOutput:
    """An output whose files have the same names wherever it is."""
    return EarlierOutput(known_by, lambda _: names)


def _names_of_manifest(out: Path) -> Container[str]:
    manifest = json.loads((out / MANIFEST_FILE).read_bytes())
    return {MANIFEST_FILE, *ADDED_LATER, *manifest["outputs"], *manifest.get("documents", ())}


_OUTPUT_OF_RUN = EarlierOutput(MANIFEST_FILE, _names_of_manifest)


_REPLACED = "replaced"
_TRIES = 10


def output_findings(
    out: Path,
    inputs: Iterable[Path],
    *,
    overwrite: bool,
    earlier: EarlierOutput = _OUTPUT_OF_RUN,
    kept: Iterable[Path] = (),
) -> tuple[Finding, ...]:
    """Why an output can't be written there without harm, as far as is known beforehand.

    It may neither contain nor lie in what is read, nor lie in the output of a run. Folders in
    `kept` may contain it. What a killed run had moved aside is put back first and judged too. An
    earlier output is replaced if it is of the same kind and holds nothing else.
    """
    try:
        _restore_replaced(out)
        read = tuple(inputs)
        message = _why_misplaced(out, read, (*read, *kept)) or _why_not(
            out, overwrite=overwrite, earlier=earlier
        )
    except OSError as error:
        raise_if_the_machine_failed(error)
        message = f"can't be made: {error.strerror or 'unknown error'}."
    return (Finding(Severity.ERROR, str(out), "", message),) if message else ()


def _why_misplaced(out: Path, read: Iterable[Path], kept: Iterable[Path]) -> str | None:
    """Why `out` may not be at this place, or None if it may."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        return "is not a folder. Choose another OUT."
    if not is_utf8_path(whole_path(out)):
        return NOT_UTF_8_PATH
    place = resolved(out)
    if any(resolved(path).is_relative_to(place) for path in kept):
        return "contains files that this command reads or keeps. Choose another folder."
    around = next((path for path in read if resolved(path) in place.parents), None)
    if around is not None:
        return f"is inside {around}, which this command reads. Choose a folder elsewhere."
    output = output_around(out)
    if output is not None:
        return (
            f"is inside {output}, the output of a run, which must not change."
            " Choose a folder elsewhere."
        )
    return None


def _why_not(out: Path, *, overwrite: bool, earlier: EarlierOutput) -> str | None:
    """Why `out` can't be replaced, or None if it can."""
    if out.exists() and not overwrite:
        return "already exists. Choose another folder, or add --overwrite."
    if out.exists() and any(out.iterdir()) and not (out / earlier.known_by).is_file():
        lacks = f"already exists and holds no {earlier.known_by} of an earlier output"
        return f"{lacks}, so it is not replaced. Choose another OUT."
    foreign = earlier.foreign_in(out)
    if foreign:
        return (
            f"holds what safetab didn't write there: {shortened(foreign)}."
            " Move it away, or give another OUT."
        )
    parent = out.parent
    if not parent.is_dir():
        return (
            f"can't be made: {parent}"
            f" {'is not a folder' if parent.exists() else 'does not exist. Make it first'}."
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        return f"can't be made: {parent} may not be written to. Check its permissions."
    why = why_no_folder(parent, _prefix(out))
    return None if why is None else f"can't be made in {parent}: {why}. Choose another folder."


@contextmanager
def whole_output(out: Path, *, overwrite: bool) -> Iterator[Path]:
    """A folder to fill, which becomes `out` if the block succeeds and vanishes if not.

    The old or the new output is at `out` at every moment, complete: the two are swapped in one
    step. On a file system without such a step, the old output is moved aside for a moment; if the
    run is killed just then, the next one puts it back. Without `overwrite`, an output that appeared
    meanwhile stays, and this fails. Once the new output is in place nothing fails any more, and the
    next run removes what could not be removed.
    """
    _restore_replaced(out)
    with suppress(LeftBehind), locked_folder(out.parent, _prefix(out)) as folder:
        output = folder / "output"
        output.mkdir()
        with _own_files_blame_nobody(folder):
            yield output
        _settle(output)
        with publishing():
            _publish(output, out, overwrite=overwrite)
        with refusals_as_warnings(out):
            sync_directory(out.parent)


def change_in_one_step(folder: Path, change: Callable[[Path], object]) -> None:
    """Put a changed copy of a folder in its place: the whole change is seen, or none.

    The copy is made of hard links, beside the output of a run that the folder belongs to. Raises
    CantBeDone where no such step is possible, and RunFailed if the machine refuses.
    """
    place = resolved(folder)
    out = place.parent if is_output_of_run(place.parent) else place
    try:
        if place in (here := Path.cwd(), *here.parents):
            raise CantBeDone  # for people at work there, it would be gone
        with suppress(LeftBehind), locked_folder(out.parent, _prefix(out)) as beside:
            copy = beside / "output"
            _link_into(copy, place)
            change(copy)
            for each in (copy, *filter(Path.is_dir, copy.rglob("*"))):
                sync_directory(each)
            with publishing():
                exchange(copy, place)
            with refusals_as_warnings(place):
                sync_directory(place.parent)
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise machine_refused(error, folder) from None
        raise CantBeDone from None


def _link_into(copy: Path, folder: Path) -> None:
    """Make a copy of a folder with the same files, not copies of them."""
    paths = sorted(folder.rglob("*"))
    copy.mkdir()
    folders = [path for path in paths if path.is_dir()]
    for path in paths:
        target = copy / path.relative_to(folder)
        if path in folders:
            target.mkdir()
        else:
            os.link(path, target)
    for path in (*reversed(folders), folder):
        shutil.copystat(path, copy / path.relative_to(folder))


@contextmanager
def _own_files_blame_nobody(folder: Path) -> Iterator[None]:
    """Raise RunFailed if what was just written can't be read: no input is at fault."""
    try:
        yield
    except InvalidInput as invalid:
        if not any(Path(finding.file).is_relative_to(folder) for finding in invalid.findings):
            raise
        why = " ".join(finding.message for finding in invalid.findings)
        raise RunFailed(f"what was just written can't be read: {why} {NOTHING_WRITTEN}") from None


@contextmanager
def only_writer(out: Path) -> Iterator[None]:
    """Hold the name of `out`. Raises InvalidInput if another process does, with nothing spent."""
    with refusals_as_run_failed(out):
        lock = locked_file(out.parent / f".{out.name}.safetab-lock")
    if lock is None:
        message = "another run is writing it now. Wait until that ends, or choose another OUT."
        raise InvalidInput((Finding(Severity.ERROR, str(out), "", message),), NOTHING_SPENT)
    with lock:
        yield


def _restore_replaced(out: Path) -> None:
    """Remove what killed runs left beside `out`.

    An output that one had moved aside is put back.
    """

    def put_back(folder: Path) -> None:
        replaced = folder / _REPLACED
        if replaced.is_dir() and not os.path.lexists(out):
            replaced.rename(out)

    clear_abandoned(out.parent, _prefix(out), put_back)


def _prefix(out: Path) -> str:
    return f".{out.name}.partial-"


def _publish(output: Path, out: Path, *, overwrite: bool) -> None:
    """Move the finished output to its place."""
    for _ in range(_TRIES if overwrite else 0):  # others may publish there at the same time
        with suppress(FileNotFoundError):
            _replace(output, out)
            return
        with suppress(OSError):
            output.rename(out)
            return
    try:
        output.rename(out)
    except OSError as error:
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
            raise
        raise FileExistsError(errno.EEXIST, f"{out} was made by somebody else meanwhile") from None


def _replace(output: Path, out: Path) -> None:
    """Swap the outputs. Raises FileNotFoundError if there is nothing to replace."""
    if not stat.S_ISDIR(out.lstat().st_mode):
        raise FileExistsError(errno.EEXIST, f"{out} is not a directory any more")
    try:
        exchange(output, out)
    except CantBeDone:
        replaced = output.parent / _REPLACED
        out.rename(replaced)
        try:
            output.rename(out)
        except OSError:
            replaced.rename(out)
            raise
        with suppress(OSError):  # the new one is in its place, whatever becomes of the old
            replaced.rename(output.parent / "discarded")  # from now on it is not put back


def _settle(output: Path) -> None:
    """Flush everything to disk, and give all files the time of now.

    So no file says how long its numbers took.
    """
    now = time.time_ns()
    for path in sorted(output.rglob("*"), reverse=True):
        if path.is_file():
            with path.open("r+b") as file:  # Windows syncs only what may be written
                os.fsync(file.fileno())
        os.utime(path, ns=(now, now))
    os.utime(output, ns=(now, now))
