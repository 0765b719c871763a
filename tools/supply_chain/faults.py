"""Known faults of the locked versions; without internet, with `OSV_ZIP=all.zip`.

The open-source vulnerability database (OSV) is asked, or the copy of its Python part that OSV_ZIP
names. Ends with 0 if no fault is known, 1 if one is, 3 if nothing could be asked.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from typing import Any

from packaging.version import Version

from tools.supply_chain.locks import LOCKS, Pin, pins_of

DATABASE = "https://api.osv.dev/v1/querybatch"
Faults = dict[str, list[str]]
"""The names of the faults of each version that has one."""


def asked(pins: list[Pin]) -> Faults:
    """What the database answers; only names and versions of public packages are sent."""
    queries = [
        {"version": pin.version, "package": {"name": pin.name, "ecosystem": "PyPI"}} for pin in pins
    ]
    request = urllib.request.Request(
        DATABASE, json.dumps({"queries": queries}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - a fixed address
        results = json.load(answer)["results"]
    named = zip(pins, results, strict=True)
    return {
        pin.purl: [fault["id"] for fault in found["vulns"]]
        for pin, found in named
        if found.get("vulns")
    }


def read_off(copy: zipfile.ZipFile, pins: list[Pin]) -> Faults:
    """What a copy of the database says."""
    faults: Faults = {}
    for name in sorted(copy.namelist()):
        entry = json.loads(copy.read(name))
        for pin in pins:
            if "withdrawn" not in entry and any(
                _affects(part, pin) for part in entry.get("affected", [])
            ):
                faults.setdefault(pin.purl, []).append(entry["id"])
    return faults


def _affects(part: dict[str, Any], pin: Pin) -> bool:
    package = part.get("package", {})
    if (
        package.get("ecosystem") != "PyPI"
        or package.get("name", "").lower().replace("_", "-") != pin.name
    ):
        return False
    ranges = (found for found in part.get("ranges", []) if found["type"] == "ECOSYSTEM")
    return pin.version in part.get("versions", []) or any(
        _holds(found["events"], pin) for found in ranges
    )


def _holds(events: list[dict[str, str]], pin: Pin) -> bool:
    """Events rise.

    A fault begins at `introduced`, ends before `fixed`, or after `last_affected`.
    """
    version, is_affected = Version(pin.version), False
    for kind, at in _in_order(events):
        if kind == "introduced" and (at == "0" or version >= Version(at)):
            is_affected = True
        elif (kind == "fixed" and version >= Version(at)) or (
            kind == "last_affected" and version > Version(at)
        ):
            is_affected = False
    return is_affected


def _in_order(events: list[dict[str, str]]) -> Iterator[tuple[str, str]]:
    pairs = [
        pair
        for event in events
        for pair in event.items()
        if pair[0] in {"introduced", "fixed", "last_affected"}
    ]
    return iter(sorted(pairs, key=lambda pair: Version(pair[1])))


def told(faults: Faults, pins: list[Pin]) -> int:
    for purl, names in sorted(faults.items()):
        print(f"{purl}: {', '.join(names)}")
    print(f"{len(faults)} of {len(pins)} locked versions have known faults.")
    return 1 if faults else 0


def main() -> int:
    pins = sorted(
        {pin.purl: pin for lock in LOCKS for pin in pins_of(lock)}.values(),
        key=lambda pin: pin.purl,
    )
    path = os.environ.get("OSV_ZIP")
    try:
        if not path:
            return told(asked(pins), pins)
        with zipfile.ZipFile(path) as copy:
            return told(read_off(copy, pins), pins)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        where = (
            "the file that OSV_ZIP names is not there, or is not a copy of it"
            if path
            else "it can't be reached from here"
        )
        print(
            f"Nothing was checked: the database of known faults is needed, and {where}.",
            file=sys.stderr,
        )
        print(
            "Without internet, set OSV_ZIP to a copy of its PyPI part (docs/supply-chain.md).",
            file=sys.stderr,
        )
        return 3


if __name__ == "__main__":
    sys.exit(main())
