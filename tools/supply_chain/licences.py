"""Licences of all locked packages, as SPDX expressions: the list, and the page that shows it.

A package's own metadata is asked, if it is installed here or in a FOLDER (`pip install --target`).
Where it has words and no expression, or isn't installed, the entry that is there stays, and a
missing one is named.
"""

from __future__ import annotations

import gzip
import json
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

from tools import PROJECT
from tools.supply_chain.locks import LOCKS, pins_of
from tools.supply_chain.outlines import OUTLINES

LIST = Path(__file__).parent / "licences.json"
PAGE = PROJECT / "docs" / "licences.md"
_CLASSIFIERS = {  # that name one licence; "BSD License" doesn't
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def locked_names() -> set[str]:
    return {pin.name for lock in LOCKS for pin in pins_of(lock)}


def stated_licence(package: Distribution) -> str | None:
    """What the metadata says in a form that leaves no doubt."""
    if expression := package.metadata.get("License-Expression"):
        return str(expression)
    named = {
        _CLASSIFIERS.get(line)
        for line in package.metadata.get_all("Classifier") or []
        if line[:9] == "License :"
    }
    return named.pop() if len(named) == 1 else None


def stated_licences(folders: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for package in distributions(path=[*folders, *sys.path]):
        name = package.metadata["Name"].lower().replace("_", "-").replace(".", "-")
        if licence := stated_licence(package):
            found.setdefault(name, licence)
    return found


def known_licences() -> dict[str, str]:
    known: dict[str, str] = json.loads(LIST.read_text())
    return known


def page() -> str:
    """docs/licences.md."""
    licences, lines = known_licences(), [_HEAD]
    told: set[str] = set()
    for lock, purpose in LOCKS.items():
        new = {(pin.name, pin.version, licences[pin.name]) for pin in pins_of(lock)} - told
        told |= new
        lines.append(
            f"\n## For {purpose} (`{lock}`)\n\n| package | version | licence |\n|---|---|---|"
        )
        lines += [f"| {name} | {version} | {licence} |" for name, version, licence in sorted(new)]
    outlines = json.loads(gzip.decompress(OUTLINES.read_bytes()))
    licence = outlines["licence_of_us_atlas"].strip().replace("\n", "\n> ").replace("> \n", ">\n")
    lines.append(f"{_OUTLINES}{outlines['source']}. The licence of us-atlas:\n\n> {licence}")
    return "\n".join(lines) + "\n"


_OUTLINES = """
## Data in the program (`safetab/apps/website/outlines`)

Maps have simplified outlines of U.S. states and counties, made by \
`python -m tools.supply_chain.outlines`. Source: """
_HEAD = """# Licences

The program is under Apache-2.0. It contains no other package's code, and installs these packages, \
which keep their own
licences. `python -m tools.supply_chain.bill` makes the list from the lock files \
and the packages' own metadata
([supply chain](supply-chain.md)); a package is listed where it is first needed. \
Licences are SPDX expressions."""


def write_licences(folders: list[str]) -> None:
    """Renew the list and its page. Exits with the names of packages whose licence isn't known."""
    stated = stated_licences(folders)
    known = known_licences() if LIST.exists() else {}
    licences = {name: stated.get(name, known.get(name, "")) for name in sorted(locked_names())}
    LIST.write_text(json.dumps(licences, indent=1) + "\n")
    if unknown := [name for name, licence in licences.items() if not licence]:
        sys.exit(
            f"Find out the licences of these packages, and write them into {LIST.name}:"
            f" {', '.join(unknown)}."
        )
    PAGE.write_text(page())
