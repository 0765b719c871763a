"""Mutants of the core, tried by tests.

`python -m tools.mutate --seed N --count 300` tries a random choice of them. `--list FILE` tries
those of a file. Each is tried on the files of tests that call its function, the cheapest first
(`python -m tools.called` writes that map). `--tests` are tried instead, or those of them that are
in such a file if there is a map. The last line has the share that died; `--least SHARE` makes less
of it an error.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tools.called import SOURCE, test_files
from tools.mutate.mutants import Mutant, mutants_of
from tools.mutate.trial import Verdict, load_libraries, tried

CORE = (
    "core/", "counting/local/", "inputs/parameter_difference.py", "inputs/planner.py",
    "inputs/public_files.py", "inputs/readers/forms/", "model/census/", "model/products/",
    "model/specification/", "release/files/numbers/",
)  # fmt: skip
"""What decides counts, noise, losses and what is released."""


def all_mutants() -> dict[str, Mutant]:
    paths = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
    modules = {
        name: path.read_text(encoding="utf-8")
        for name, path in paths.items()
        if name.startswith(CORE)
    }
    mutants = [
        mutant for module, source in modules.items() for mutant, _ in mutants_of(module, source)
    ]
    return {str(mutant): mutant for mutant in mutants}


def chosen(given: argparse.Namespace) -> list[Mutant]:
    known = all_mutants()
    if given.list is None:
        return random.Random(given.seed).sample(list(known.values()), given.count)
    wanted = given.list.read_text(encoding="utf-8").splitlines()
    gone = [name for name in wanted if name not in known]
    print(f"{len(gone)} of {len(wanted)} listed mutants are no longer in the program.")
    return [known[name] for name in wanted if name in known]


def tests_of(mutant: Mutant, given: Sequence[str] | None) -> Sequence[str]:
    """The files of tests that call the function, the cheapest first.

    If tests are given, those of them that are in such files.
    """
    known = test_files()
    if given is not None and not known:
        return given
    calling = [
        each["tests"]
        for each in known
        if mutant.function in each["functions"].get(mutant.module, ())
    ]
    calling = calling or [
        each["tests"] for each in known
    ]  # what is called as modules load is in no map
    if given is None:
        return calling
    return [test for file in calling for test in given if test.partition("::")[0] == file]


def verdict_of(mutant: Mutant, tests: Sequence[str]) -> Verdict:
    source = (SOURCE / mutant.module).read_text(encoding="utf-8")
    make = next(make for each, make in mutants_of(mutant.module, source) if each == mutant)
    return (
        tried(mutant.module, make(), tests)
        if tests
        else Verdict(is_dead=False, killer="", seconds=0)
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutate", description=__doc__, fromfile_prefix_chars="@"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--list", type=Path, help="a file with a mutant a line")
    parser.add_argument(
        "--tests", nargs="+", help="what pytest is given, or @FILE with a test a line"
    )
    parser.add_argument("--least", type=float, default=0, help="the share that must die")
    given = parser.parse_args()
    if given.tests is None and not test_files():
        parser.error("There is no map of the tests: `python -m tools.called` writes it.")
    load_libraries()
    if given.tests and (whole := tried("", None, given.tests)).is_dead:
        parser.error(f"The tests fail without a mutant.\n{whole.output}")
    print(f"Seed {given.seed}.")
    mutants = chosen(given)
    dead = Counter[bool]()
    for mutant in mutants:
        verdict = verdict_of(mutant, tests_of(mutant, given.tests))
        dead[verdict.is_dead] += 1
        fate = verdict.killer if verdict.is_dead else "LIVES"
        print(f"{mutant}\n    {fate}, {verdict.seconds:.1f} s", flush=True)
    share = dead[True] / max(len(mutants), 1)
    print(f"{dead[True]} of {len(mutants)} mutants died: {share:.1%}.")
    return int(share < given.least)


if __name__ == "__main__":
    sys.exit(main())
