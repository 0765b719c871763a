"""The pins of the lock files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools import PROJECT

LOCKS = {
    "requirements.lock": "the program",
    "requirements-spark.lock": "the Spark engine",
    "requirements-build.lock": "building",
    "requirements-dev.lock": "tests and checks",
    "requirements-docs.lock": "the documentation",
}
LOWEST = "requirements-lowest.lock"
"""The lowest versions that pyproject.toml allows: tried by tests, and installed by nothing else."""

SHIPPED = ("requirements.lock", "requirements-spark.lock")
_PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)(?: ; ([^\\]+?))?\s*\\?$")
_VIA = re.compile(r"^\s+#\s+(?:via )?(?!via$)([a-z0-9][a-z0-9._-]*)(?: \(.*\))?$")


@dataclass(frozen=True, slots=True)
class Pin:
    """One version of a package; `marker` says where it is installed, if not everywhere."""

    name: str
    version: str
    marker: str | None
    needed_by: tuple[str, ...]

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def pins_of(lock: str) -> list[Pin]:
    pins: list[Pin] = []
    for line in (PROJECT / lock).read_text().splitlines():
        if found := _PIN.match(line):
            pins.append(Pin(*found.groups(), needed_by=()))
        elif found := _VIA.match(line):
            last = pins[-1]
            pins[-1] = Pin(last.name, last.version, last.marker, (*last.needed_by, found[1]))
    return pins


def hashes_of(lock: str) -> dict[str, int]:
    """How many hashes each pinned version has."""
    counts: dict[str, int] = {}
    name = ""
    for line in (PROJECT / lock).read_text().splitlines():
        if found := _PIN.match(line):
            name = f"{found[1]}=={found[2]}"
            counts[name] = 0
        elif line.lstrip().startswith("--hash=sha256:"):
            counts[name] += 1
    return counts
