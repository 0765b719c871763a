"""The software bill of materials, CycloneDX JSON, which every wheel carries.

`python -m tools.supply_chain.bill [FOLDER ...]` renews it and, before it, the licences.
It has no date and no random number, so the same locks make the same bytes.
"""

from __future__ import annotations

import json
import sys
import tomllib
from typing import Any

from tools import PROJECT
from tools.supply_chain.licences import known_licences, write_licences
from tools.supply_chain.locks import SHIPPED, Pin, pins_of

BILL = PROJECT / "src" / "safetab" / "sbom.cdx.json"


def bill() -> str:
    program = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    pins = {pin.purl: (pin, lock) for lock in reversed(SHIPPED) for pin in pins_of(lock)}
    own = f"pkg:pypi/{program['name']}@{program['version']}"
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": program["name"],
                "version": program["version"],
                "purl": own,
                "licenses": [{"expression": program["license"]}],
            }
        },
        "components": [_component(pin, lock) for _, (pin, lock) in sorted(pins.items())],
        "dependencies": _dependencies(own, [pin for pin, _ in pins.values()]),
    }
    return json.dumps(content, indent=1) + "\n"


def _component(pin: Pin, lock: str) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": pin.purl,
        "name": pin.name,
        "version": pin.version,
        "scope": "required" if lock == SHIPPED[0] else "optional",
        "licenses": [{"expression": known_licences()[pin.name]}],
        "purl": pin.purl,
    }
    if pin.marker:
        component["properties"] = [{"name": "safetab:installed-if", "value": pin.marker}]
    return component


def _dependencies(own: str, pins: list[Pin]) -> list[dict[str, Any]]:
    needs: dict[str, set[str]] = {ref: set() for ref in (own, *(pin.purl for pin in pins))}
    refs: dict[str, list[str]] = {"safetab": [own]}
    for pin in pins:
        refs.setdefault(pin.name, []).append(pin.purl)
    for pin in pins:
        for name in pin.needed_by:
            for ref in refs.get(name, []):
                needs[ref].add(pin.purl)
    return [{"ref": ref, "dependsOn": sorted(found)} for ref, found in sorted(needs.items())]


def main() -> None:
    write_licences(sys.argv[1:])
    BILL.write_text(bill())


if __name__ == "__main__":
    main()
