"""Every command of safetab on small inputs, for the suites that break what a command does."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.cases import cases_of
from tests.faults.commands import code_of_command, ended, warmed_up
from tests.faults.injector import Fault
from tests.faults.releases import reading_commands, whole_output_commands
from tests.faults.worlds import write_world

_TEMPORARY = "temporary"
Tree = dict[str, int]
"""Files below a path, and whether each is empty."""


@dataclass(frozen=True)
class SmallCommand:
    """A command that writes below a case's folder alone, which "CASE" stands for in its words."""

    name: str
    words: tuple[object, ...]
    read: tuple[Path, ...]
    changed: tuple[Path, ...] = ()  # copied into the case's folder first: the command changes them
    again: tuple[str, ...] = ()  # also said when it is repeated

    def prepare(self, case):
        (case / _TEMPORARY).mkdir(parents=True)
        for path in self.changed:
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, case / path.name)

    def arguments(self, case):
        return [str(word).replace("CASE", str(case)) for word in self.words]

    def folders(self, case):
        return [case, *self.read]

    def ended(self, case, fault=None, *, is_repeated=False):
        """How it ends; its temporary files are below the case's folder, too."""

        def work():
            os.environ["TMPDIR"] = tempfile.tempdir = str(case / _TEMPORARY)
            return code_of_command([*self.arguments(case), *(self.again if is_repeated else ())])

        return ended(work, fault, self.folders(case), is_traced=True)


@dataclass(frozen=True)
class Traced:
    """A command whose operations are known, and what is below a case's folder before and after it."""

    command: SmallCommand
    trace: tuple[tuple[str, str], ...]
    before: dict[str, Tree]
    after: dict[str, Tree]


def traced(command, case):
    """Run twice: once to load what it needs, and once to note its operations."""
    command.prepare(case / "warm")
    with _temporary_files_in(case / "warm" / _TEMPORARY):
        warmed_up(command.arguments(case / "warm"))
    command.prepare(case / "traced")
    before = what_is_in(case / "traced")
    ending = command.ended(case / "traced", Fault())
    assert ending.code == 0, f"{command.name}: {ending.stderr}"
    after = what_is_in(case / "traced")
    assert not left_behind(case / "traced"), command.name
    shutil.rmtree(case)
    return Traced(command, ending.trace, before, after)


class _temporary_files_in:  # noqa: N801 - used like a function
    def __init__(self, folder):
        self._folder = str(folder)

    def __enter__(self):
        self._kept, tempfile.tempdir = tempfile.tempdir, self._folder

    def __exit__(self, *_):
        tempfile.tempdir = self._kept


def what_is_in(case):
    """What a user sees in a case's folder: each name, with the files below it.

    The heads of a spend log are left out: the log is written before them, and a warning says so if they are not.
    """
    seen = (path for path in case.iterdir() if path.name != _TEMPORARY and not path.name.startswith("."))
    seen = (path for path in seen if path.suffix != ".heads")
    return {path.name: _tree(path) for path in seen}


def _tree(path):
    below = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {str(each.relative_to(path)): bool(each.stat().st_size) for each in below if each.is_file()}


def left_behind(case):
    """What nobody asked for: hidden things, and temporary files."""
    hidden = [path for path in case.rglob(".*") if not path.is_relative_to(case / _TEMPORARY)]
    return sorted(str(path.relative_to(case)) for path in (*hidden, *(case / _TEMPORARY).iterdir()))


def every_command(folder, world, places):
    """All commands but `run`, which has cases of its own, `audit`, which takes a minute, and `docs`.

    `world`: what was run with its output at `places`. Other inputs are made in the folder.
    """
    parquet, cef, households = (write_world(kind, folder / kind) for kind in ("parquet", "cef", "households"))
    mine, key, log = folder / "mine", folder / "key", places.spend_log
    logs = (log, log.with_name(f"{log.name}.heads"))
    out, parameters, data = places.out, world.parameters, world.data
    totals = folder / "totals"
    warmed_up(
        ["new", mine],
        ["sign", "--new-key", key],
        ["run", parameters, data, totals, "--spend-log", folder / "other.log", "--dataset", "others"],
        ["export", out, folder / "census", "--form", "census"],
    )
    of_inputs = _commands(f"""
        validate | validate {parquet.parameters} {parquet.data}
        plan | plan {parameters} {data}
        diff | diff {parameters} {households.parameters} --data {data}
        lists | lists {parameters} --short CASE/short.txt
        explore | explore -o CASE/page.html --xlsx CASE/book.xlsx --parameters {parameters}
        accuracy | accuracy {parameters} {data} CASE/accuracy --runs 2
        compare | {_COMPARE} {parameters} {data} CASE/compared
        demo | demo CASE/demo --census nz
        new | new CASE/census
        new --columns | new CASE/census --columns {parquet.data}/person-records.parquet
        synthesize | synthesize CASE/mine --people 300
        cef convert | cef convert {cef.data} CASE/tables
        cef blocks | cef blocks {cef.data} CASE/blocks.csv
        tune levels | tune levels --parameters {parameters}
        tune codes | tune codes county-regional --parameters {parameters}
    """)
    of_outputs = (
        reading_commands(out / "release", "CASE/new")
        | whole_output_commands(out, "CASE/new", data / "GRF-C.txt")
        | _commands(f"""
        verify | verify {out}
        registry | registry {out} -o CASE/entry.yaml
        sign | sign CASE/out --key {key} --not-for-release
        sign --new-key | sign --new-key CASE/key
        spend | spend CASE/spend.log --table CASE/table.csv
        spend --check | spend CASE/spend.log --check
        spend --set-limit | spend CASE/spend.log --dataset these-people --set-limit 5
        spend --merge | spend CASE/spend.log --merge {folder}/other.log -o CASE/merged.log
    """)
    )
    read = (world.parameters.parent, folder, places.folder)
    changed = {name: logs for name in of_outputs if name.startswith("spend")}
    changed |= {"sign": (out,), "synthesize": (mine,)}
    again = {"sign": ("--overwrite",)}
    return [
        SmallCommand(name, tuple(words), read, changed.get(name, ()), again.get(name, ()))
        for name, words in (of_inputs | of_outputs).items()
    ]


def _commands(table):
    return {name: words.split() for name, words in cases_of(table)}


_COMPARE = "compare --runs 2 --attack none --threads 1 --protection none --protection round:base=5"
