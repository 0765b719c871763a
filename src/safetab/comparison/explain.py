"""The texts of `compare --list` and `compare --explain`, with examples computed by the protections themselves."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from safetab.comparison.presets import GROUPS, PRESETS, SWEEP, Preset
from safetab.comparison.protections.spec_text import checked
from safetab.comparison.protections.steps import publish
from safetab.comparison.tables.exact_tables import ExactTables, Rows
from safetab.foundation.findings import InvalidInput
from safetab.specification.kinds import nearest

_WIDTH, _SEED = 100, 10


def list_text() -> str:
    """Every preset by its group, with its source, what is published of it and what was assumed."""
    lines: list[str] = []
    for group, words in GROUPS.items():
        lines += [_filled(f"{group}: {words}", ""), ""]
        lines += [_filled(f"{preset.name}: {preset.spec}", "  ") for preset in PRESETS if group in preset.groups]
        if group == "sweep":
            lines += [_filled(f"{family}: {', '.join(specs)}", "  ") for family, specs in SWEEP.items()]
        lines.append("")
    lines += ["Where the presets come from", ""]
    for preset in PRESETS:
        lines += [*_source_lines(preset), ""]
    return "\n".join(lines).rstrip() + "\n"


def _source_lines(preset: Preset) -> Iterator[str]:
    source = preset.source
    yield _filled(f"{preset.name}: {preset.spec}", "  ")
    if source.document:
        yield _filled(f"{source.agency}; {source.years}. Source: {source.document}.", "    ")
    for word, sentences in (("Published", source.published), ("Assumed", source.assumed)):
        if sentences:
            yield _filled(f"{word}: {' '.join(sentences)}", "    ")


def explanation(name: str) -> str:
    """One method in plain words, with an example of ten numbers. Raises InvalidInput if there is no such method."""
    texts = tomllib.loads((files("safetab.comparison") / "explanations.toml").read_text(encoding="utf-8"))
    known = texts["method"]
    steps = {step: method for method in known.values() for step in method.get("also", ())}
    method = {**steps, **known}.get(name)
    if method is None:
        message = f"There is no such method. {nearest(name, [*known, *steps])}"
        raise InvalidInput.about("--explain", message, where=name)
    paragraphs = [_filled(sentence, "") for sentence in method["text"]]
    example = ["Ten numbers of one group", _example(method, texts["example"]), _filled(method["after"], "")]
    return "\n\n".join([method["title"], *paragraphs, *example]) + "\n"


def _example(method: Mapping[str, Any], example: Mapping[str, Any]) -> str:
    """The ten numbers, true and as published, one column for each specification."""
    tables, notes = _tables(example), list[str]()
    columns = {"true": tables.counts.tolist()}
    for spec in method["specs"]:
        protection = checked(spec, Path())
        notes += [_filled(str(finding), "") for finding in protection.findings]
        if protection.value is not None:
            columns[spec] = publish(protection.value, tables, np.random.default_rng(_SEED)).numbers.tolist()
    columns |= method.get("shown", {})
    rows = [["", *columns]]
    for number, *values in zip(example["numbers"], *columns.values(), strict=True):
        printed = ["withheld" if isinstance(value, str | None) else f"{value:,}" for value in values]
        rows.append([number["name"], *printed])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    return "\n".join([*lines, *notes])


def _tables(example: Mapping[str, Any]) -> ExactTables:
    parts = Rows.of_lists([number["parts"] for number in example["numbers"]])
    counts = np.array(example["counts"])
    keys = np.random.default_rng(_SEED).integers(0, 2**64, len(counts), dtype=np.uint64)
    groups, people = (np.array([number[key] for number in example["numbers"]]) for key in ("group", "people"))
    return ExactTables(parts.sums(counts), parts.sums(keys), groups, people, parts)


def _filled(text: str, indent: str) -> str:
    return fill(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
