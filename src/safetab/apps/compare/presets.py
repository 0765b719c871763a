"""Protections from published sources, by name.

They are the groups of `--preset`, and the texts of `--list` and `--explain`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill

from safetab.apps.compare.protections.all_methods import METHODS
from safetab.apps.compare.protections.protection import Protection, Source
from safetab.apps.compare.protections.spec_text import checked
from safetab.foundation.files import package_data
from safetab.foundation.findings import InvalidInput
from safetab.model.specification.kinds import nearest

_WORDS = [method.words for method in METHODS]
_PRESETS = [preset for words in _WORDS for preset in words.get("preset", ())]
_BY_NAME = sorted(_PRESETS, key=lambda preset: preset["name"].casefold())
_FAMILIES = [family for words in _WORDS for family in words.get("sweep", {}).items()]
GROUPS: Mapping[str, str] = package_data("safetab.apps.compare", "presets.toml")["groups"]
"""The groups of presets, in words."""
PRESETS = tuple(
    Protection(each["spec"], each["name"], Source(**each["source"])) for each in _BY_NAME
)
"""The name and source of every preset, by name.

`checked` gives its steps. Its text is canonical.
"""
GROUPS_OF: Mapping[str, Sequence[str]] = {each["spec"]: each["groups"] for each in _BY_NAME}
"""The groups that each preset is in."""
SWEEP: Mapping[str, Sequence[str]] = dict(
    sorted(_FAMILIES, key=lambda family: family[0].casefold())
)
"""The families of methods by name, each at five strengths from weak to strong."""


def protections_of(group: str) -> tuple[tuple[Protection, ...], Mapping[str, str]]:
    """The protections of a group of `GROUPS` by name.

    The second value says why others, by their specs, are left out.
    """
    specs = [preset.spec for preset in PRESETS if group in GROUPS_OF[preset.spec]]
    specs += [spec for family in SWEEP.values() for spec in family] if group == "sweep" else []
    made = [(spec, checked(spec, Path())) for spec in specs]
    reasons = {
        spec: " ".join(finding.message for finding in each.errors)
        for spec, each in made
        if each.errors
    }
    return tuple(with_source(each.value) for _, each in made if each.value is not None), reasons


def with_source(protection: Protection) -> Protection:
    """The protection with name and source of the preset that it equals, if there is one."""
    same = next((preset for preset in PRESETS if preset.spec == protection.spec), None)
    return protection if same is None else replace(protection, name=same.name, source=same.source)


def list_text() -> str:
    """Every preset by its group, with its source.

    The text also says what is published of it and what was assumed.
    """
    lines: list[str] = []
    for group, words in GROUPS.items():
        lines += [_filled(f"{group}: {words}"), ""]
        lines += [
            _filled(f"{preset.name}: {preset.spec}", "  ")
            for preset in PRESETS
            if group in GROUPS_OF[preset.spec]
        ]
        if group == "sweep":
            lines += [
                _filled(f"{family}: {', '.join(specs)}", "  ") for family, specs in SWEEP.items()
            ]
        lines.append("")
    lines += ["Where the presets come from", ""]
    for preset in PRESETS:
        lines.append(_filled(f"{preset.name}: {preset.spec}", "  "))
        if (source := preset.source) and source.document:
            lines.append(
                _filled(f"{source.agency}; {source.years}. Source: {source.document}.", "    ")
            )
        known = {"Published": source.published, "Assumed": source.assumed} if source else {}
        lines += [
            _filled(f"{word}: {' '.join(texts)}", "    ") for word, texts in known.items() if texts
        ] + [""]
    return "\n".join(lines).rstrip() + "\n"


def explanation(name: str) -> str:
    """One method in plain words, with an example of ten numbers.

    Raises InvalidInput if there is no such method.
    """
    known = {words["name"]: words for words in _WORDS}
    known |= {step: words for words in _WORDS for step in words.get("also", ())}
    if name not in known:
        raise InvalidInput.about(
            "the command",
            f"There is no such method. {nearest(name, [*known])}",
            f"--explain {name}",
        )
    method = known[name]
    texts = [
        method["title"],
        *map(_filled, method["text"]),
        "Ten numbers of one group",
        method["example"],
    ]
    return "\n\n".join([*texts, _filled(method["after"])]) + "\n"


def _filled(text: str, indent: str = "") -> str:
    return fill(text, 100, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
