"""Protections from published sources, each with its source: the groups of `--preset`, in order of their names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from safetab.comparison.protections.protection import Protection, Source
from safetab.comparison.protections.spec_text import checked


@dataclass(frozen=True, slots=True)
class Preset:
    """One protection with a source; its text is canonical."""

    name: str
    spec: str
    groups: Sequence[str]
    source: Source


_FILE = tomllib.loads((files("safetab.comparison") / "presets.toml").read_text(encoding="utf-8"))
GROUPS: Mapping[str, str] = _FILE["groups"]
"""The groups of presets, in words."""
_READ = (Preset(**{**each, "source": Source(**each["source"])}) for each in _FILE["preset"])
PRESETS = tuple(sorted(_READ, key=lambda preset: preset.name.casefold()))
"""Every preset that has a source, by name."""
SWEEP: Mapping[str, Sequence[str]] = dict(sorted(_FILE["sweep"].items()))
"""The families of methods by name, each at five strengths from weak to strong."""


def protections_of(group: str) -> tuple[tuple[Protection, ...], tuple[str, ...]]:
    """The protections of a group of `GROUPS` by name, and a sentence for each that lacks its solver."""
    specs = [preset.spec for preset in PRESETS if group in preset.groups]
    specs += [spec for family in SWEEP.values() for spec in family] if group == "sweep" else []
    made = {spec: checked(spec, Path()) for spec in specs}
    left_out = {spec: " ".join(finding.message for finding in each.errors) for spec, each in made.items()}
    return (
        tuple(with_source(each.value) for each in made.values() if each.value is not None),
        tuple(f"{spec} was left out: {reasons}" for spec, reasons in left_out.items() if reasons),
    )


def with_source(protection: Protection) -> Protection:
    """The protection with name and source of the preset that it equals, if there is one."""
    same = next((preset for preset in PRESETS if preset.spec == protection.spec), None)
    return protection if same is None else replace(protection, name=same.name, source=same.source)
