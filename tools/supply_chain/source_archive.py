"""Proof that the source archive of build/dist is whole.

It is unpacked, a wheel is built from it, which must have the bytes of the wheel beside it, every
test of the archive must load, and the tests that are given run on what that wheel installs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.supply_chain.archives import DIST, commit_time

_BUILD = "import sys; from flit_core import buildapi as b; b.build_wheel(sys.argv[1])"


def unpacked(folder: Path) -> Path:
    (archive,) = DIST.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def run_python(tree: Path, *arguments: object, **given: str) -> int:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=tree, env=os.environ | given, check=False).returncode  # noqa: S603


def main() -> int:
    with TemporaryDirectory() as name:
        folder = Path(name)
        tree, built, installed = unpacked(folder), folder / "built", folder / "installed"
        built.mkdir()
        run_python(tree, "-B", "-c", _BUILD, built, SOURCE_DATE_EPOCH=commit_time())
        (wheel,) = built.iterdir()
        if wheel.read_bytes() != (DIST / wheel.name).read_bytes():
            print(
                f"{wheel.name} from the source archive differs from the one in build/dist.",
                file=sys.stderr,
            )
            return 3
        print("The source archive makes the same wheel.", flush=True)
        pip = (
            "-m",
            "pip",
            "--disable-pip-version-check",
            "-q",
            "install",
            "--no-index",
            "--no-deps",
        )
        if run_python(tree, *pip, "--target", installed, wheel):
            return 3
        return tests_of(tree, installed, sys.argv[1:])


def tests_of(tree: Path, installed: Path, given: list[str]) -> int:
    """The exit code of the given tests, if all tests of the archive can be loaded."""
    loading = run_python(
        tree, "-m", "pytest", "--collect-only", "-qq", "tests", PYTHONPATH=str(installed)
    )
    workers = os.environ.get("WORKERS", "2")
    return loading or run_python(
        tree, "-m", "pytest", "-n", workers, "-q", *given, PYTHONPATH=str(installed)
    )


if __name__ == "__main__":
    sys.exit(main())
