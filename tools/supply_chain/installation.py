"""Proof that the wheel of build/dist installs: with this Python, or `--all` that are here.

The locked wheels are gathered in build/wheels. Then, without a package index, the wheel is
installed into an empty virtual environment, checks its own noise, makes the demo, finds its
documentation, and is uninstalled without leaving a file. Where the system can take the network away
from a command (`unshare`), safetab runs without one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tools import PROJECT
from tools.supply_chain.archives import DIST
from tools.supply_chain.wheels import PYTHONS

WHEELS = PROJECT / "build" / "wheels"
_NO_NETWORK = ("unshare", "--map-root-user", "--net")
_OF_PYENV = Path("~/.pyenv/versions").expanduser()
_ASKS_VERSION = "import sys; print('{}.{}'.format(*sys.version_info))"
_LOCKED = ("--require-hashes", "--only-binary", ":all:", "-r", str(PROJECT / "requirements.lock"))


class StepError(Exception):
    """What a step found, or what its command printed."""


def pythons() -> dict[str, Path]:
    """One interpreter for each supported version that this machine has.

    The one that runs this is among them.
    """
    found = {"{}.{}".format(*sys.version_info): Path(sys.executable)}
    for version in PYTHONS:
        on_path = shutil.which(f"python{version}")
        named = [Path(on_path)] if on_path else []
        for python in (*named, *sorted(_OF_PYENV.glob(f"{version}.*/bin/python"))):
            answer = subprocess.run(  # noqa: S603
                [python, "-c", _ASKS_VERSION], capture_output=True, text=True, check=False
            )
            if answer.stdout.strip() == version:
                found.setdefault(version, python)
    return {version: found[version] for version in sorted(found)}


class Environment:
    """An empty virtual environment.

    A folder beside it is the home and the place of its commands.
    """

    def __init__(self, python: Path, folder: Path) -> None:
        self.bin, self.home = folder / "venv" / "bin", folder / "home"
        self.home.mkdir()
        run([python, "-m", "venv", folder / "venv"], {})

    def pip(self, *arguments: object, **given: str) -> str:
        return run(
            [self.bin / "python", "-m", "pip", "--disable-pip-version-check", "-q", *arguments],
            given,
        )

    def safetab(self, *arguments: str) -> str:
        own = {"HOME": str(self.home), "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}
        return run([*without_network(), self.bin / "safetab", *arguments], own, self.home)

    def left_files(self) -> list[str]:
        """Whatever has the program's name, below the environment."""
        return sorted(
            str(path) for path in self.bin.parent.rglob("*") if "safetab" in path.name.lower()
        )


def run(command: list[object], given: dict[str, str], folder: Path | None = None) -> str:
    """What a command prints. Raises StepError with it if the command fails."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "NUMBA", "XDG"))
    }
    ended = subprocess.run(  # noqa: S603 - our own commands
        list(map(str, command)),
        env=kept | given,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise StepError(
            f"{' '.join(map(str, command))} ended with {ended.returncode}:\n"
            f"{ended.stdout}{ended.stderr}"
        )
    return ended.stdout


@cache
def without_network() -> tuple[str, ...]:
    """The beginning of a command that runs without a network; nothing where that can't be had."""
    if not shutil.which(_NO_NETWORK[0]):
        return ()
    tried = subprocess.run([*_NO_NETWORK, "true"], capture_output=True, check=False)  # noqa: S603
    return () if tried.returncode else _NO_NETWORK


def install(environment: Environment) -> None:
    environment.pip("download", "--no-deps", "-d", WHEELS, *_LOCKED)
    (wheel,) = DIST.glob("*.whl")
    for wanted in (_LOCKED, (wheel,)):
        environment.pip(
            "install", "--no-index", "--find-links", WHEELS, *wanted, PIP_CONFIG_FILE=os.devnull
        )
    environment.pip("check")


def judge_noise(environment: Environment) -> None:
    if "The noise of this installation is right." not in environment.safetab("audit", "--selftest"):
        raise StepError("the noise was not judged.")


def make_demo(environment: Environment) -> None:
    environment.safetab("demo", "demo")
    pages = (
        "site/index.html",
        "site-households/index.html",
        "explorer.html",
        "output/release/datapackage.json",
    )
    require_files(environment.home / "demo" / page for page in pages)


def find_documentation(environment: Environment) -> None:
    pages = ("", "file-formats", "how-to/install")
    found = [Path(environment.safetab("docs", "--path", page).strip()) for page in pages]
    require_files(found)
    if any(environment.bin.parent not in page.parents for page in found):
        raise StepError(f"these pages are not in the installed package: {found}")


def uninstall(environment: Environment) -> None:
    environment.pip("uninstall", "-y", "safetab")
    if left := environment.left_files():
        raise StepError("these files are left:\n" + "\n".join(left))


def require_files(paths: Iterator[Path] | list[Path]) -> None:
    if missing := [str(path) for path in paths if not path.is_file()]:
        raise StepError(f"these files are missing: {', '.join(missing)}")


STEPS: tuple[Callable[[Environment], None], ...] = (
    install,
    judge_noise,
    make_demo,
    find_documentation,
    uninstall,
)


def outcomes(python: Path, folder: Path) -> Iterator[tuple[str, StepError | None, float]]:
    """Each step with what failed, if anything did, and its seconds.

    Nothing follows a step that failed.
    """
    environment = Environment(python, folder)
    for step in STEPS:
        begin, failed = time.monotonic(), None
        try:
            step(environment)
        except StepError as error:
            failed = error
        yield step.__name__.replace("_", " "), failed, time.monotonic() - begin
        if failed:
            return


def main() -> int:
    passed = failed = 0
    print(f"Commands of safetab run {'without' if without_network() else 'with'} a network.")
    tried = (
        pythons()
        if "--all" in sys.argv
        else {"{}.{}".format(*sys.version_info): Path(sys.executable)}
    )
    for version, python in tried.items():
        with TemporaryDirectory() as folder:
            for step, error, seconds in outcomes(python, Path(folder)):
                print(
                    f"Python {version}: {step}: {error or 'passed'} ({seconds:.0f} s)", flush=True
                )
                passed, failed = passed + (error is None), failed + (error is not None)
    if missing := set(PYTHONS) - set(tried):
        print(f"Not tried: Python {', '.join(sorted(missing))}.")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
