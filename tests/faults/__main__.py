"""`python -m tests.faults`: runs suites of faults and prints what they find; docs/testing-faults.md says how."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.injector import compiler, with_injector


def main():
    given = _arguments().parse_args()
    if compiler() is None:
        print("SKIPPED: there is no C compiler (cc), which the fault injector needs.")
        return 0
    with_injector(["-m", "tests.faults", *sys.argv[1:]])
    os.environ["COLUMNS"] = "1000"
    failed = 0
    for name in given.suites or SUITES:
        failed += _ran(name, given)
    return 1 if failed else 0


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("suites", nargs="*", help=f"of {', '.join(SUITES)}; all if none is given")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of all cases; printed")
    parser.add_argument("--share", type=float, default=1.0, help="of the cases of each suite, e.g. 0.1")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", type=int, help="this case alone, and its files are kept")
    parser.add_argument("--workers", type=int, default=2)
    return parser


_TOLD_EVERY = 250
SUITES = ("inputs", "releases", "kills", "errors", "memory", "races")


def _suite(name):
    from tests.faults import errors, inputs, kills, memory, races, releases

    of_name = (
        inputs.MutatedInputs, releases.DamagedReleases, kills.Kills, errors.InjectedErrors, memory.MemoryLimits, races.Races
    )  # fmt: skip
    return next(one for one in of_name if one.name == name)()


def _ran(name, given):
    """How many cases of a suite found something."""
    suite, begun = _suite(name), time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"safetab-faults-{name}-") as made:
        folder = Path(made)
        (folder / "prepared").mkdir()
        suite.prepare(folder / "prepared")
        last = given.first + max(1, round(suite.cases * given.share))
        numbers = range(given.first, last) if given.only is None else range(given.only, given.only + 1)
        found = _in_workers(suite, numbers, given, folder)
    seconds = time.monotonic() - begun
    print(f"{name}: {len(numbers):,} cases, {found:,} with findings, seed {given.seed}, {seconds:.0f} s", flush=True)
    return found


def _in_workers(suite, numbers, given, folder):
    workers = min(given.workers, len(numbers))
    processes = []
    for worker in range(workers):
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            _work(suite, numbers[worker::workers], given, folder / f"worker-{worker}")
        processes.append(process)
    try:
        codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
    except KeyboardInterrupt:
        for process in processes:
            os.kill(process, signal.SIGKILL)
        raise
    if any(code < 0 or code > 2 for code in codes):
        print(f"{suite.name}: a worker of the tests themselves failed: {codes}", flush=True)
        return len(numbers)
    return sum(int((folder / f"worker-{worker}" / "found").read_text()) for worker in range(workers))


def _work(suite, numbers, given, folder):
    """In a process of its own; never comes back."""
    from tests.faults.suite import generator

    code, failed = 3, 0
    try:
        folder.mkdir()
        for done, number in enumerate(numbers):
            if done and done % _TOLD_EVERY == 0:
                print(f"{suite.name}: {done:,} of {len(numbers):,} cases of {folder.name}", flush=True)
            case = folder / "case"
            case.mkdir()
            findings = suite.findings(number, generator(suite.name, given.seed, number), case)
            for one in findings:
                print(
                    f"{suite.name} {number}: {one}\n    python -m tests.faults {suite.name} --seed {given.seed} --only {number}",
                    flush=True,
                )
            failed += bool(findings)
            if given.only is not None:
                kept = Path(tempfile.mkdtemp(prefix="safetab-fault-kept-"))
                shutil.copytree(case, kept, symlinks=True, dirs_exist_ok=True, copy_function=_copied)
                print(f"kept: {kept}")
            shutil.rmtree(case)
        (folder / "found").write_text(str(failed))
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _copied(source, target):
    if Path(source).is_file():
        shutil.copy2(source, target)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the libraries count their leaks at a usual exit
