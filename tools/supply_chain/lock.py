"""The lock files, made from pyproject.toml.

Needs uv, which the project itself doesn't, and a package index.
"""

from __future__ import annotations

import shutil
import subprocess

from tools import PROJECT
from tools.supply_chain.locks import LOWEST

BOUNDS = "build/lowest-bounds.txt"
"""The lowest versions, without those of the test tools."""

_COMPILE = [
    "uv",
    "pip",
    "compile",
    "-q",
    "--universal",
    "--python-version",
    "3.11",
    "--generate-hashes",
    "--no-header",
]
_COMPILE += ["--no-emit-index-url"]


def compiled(words: str, lock: str) -> None:
    """Write a lock file from these words for uv."""
    subprocess.run([*_COMPILE, *words.split(), "-o", lock], cwd=PROJECT, check=True)  # noqa: S603


def main() -> None:
    compiled("pyproject.toml", "requirements.lock")
    compiled("--group build", "requirements-build.lock")
    compiled("pyproject.toml --group dev -c requirements.lock", "requirements-dev.lock")
    compiled("--group spark -c requirements-dev.lock", "requirements-spark.lock")
    compiled("--group docs -c requirements-dev.lock", "requirements-docs.lock")
    (PROJECT / "build").mkdir(exist_ok=True)
    compiled("--resolution lowest-direct pyproject.toml", BOUNDS)
    # Tests and checks in their locked versions, where these fit.
    shutil.copyfile(PROJECT / "requirements-dev.lock", PROJECT / LOWEST)
    compiled(f"pyproject.toml --group dev -c {BOUNDS}", LOWEST)


if __name__ == "__main__":
    main()
