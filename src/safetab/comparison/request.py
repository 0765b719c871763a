"""What a comparison is asked for, and every reason not to begin."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from safetab.census.area_levels import AreaLevel
from safetab.comparison.presets import GROUPS, protections_of
from safetab.comparison.protections.protection import Protection
from safetab.comparison.protections.spec_text import checked as checked_text
from safetab.comparison.tables.count_area import ChosenArea, smallest_plan
from safetab.comparison.tables.counted_census import AskedTables
from safetab.dialects.own_records import is_synthetic, paths_read
from safetab.engines.local.counter import RecordCounter
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, shortened
from safetab.outputs.output_folder import NamesLike, always_named, output_findings
from safetab.pipeline.declared_options import COMPARE, COMPARED_WITH, with_defaults
from safetab.pipeline.inputs import RunInputs
from safetab.pipeline.options import RunOptions, refused_options
from safetab.privacy.output_status import SYNTHETIC_MARKER

FACTS_FILE = "protections.json"
NO_ATTACK = "none"
_FILE_NAMES = r"compare\.html|committee\.csv|(utility|exposure)\.(csv|parquet)|protections\.json|README\.txt"
_EARLIER = always_named(FACTS_FILE, NamesLike(_FILE_NAMES))
_MOST_RUNS, _MOST_SEED = 10_000, 2**63 - 1
_MOST_PEOPLE, _WANTED_PEOPLE = 400_000, 100_000
_TABLES = ("as-released", "every-group")


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """Which protections, which tables, which area to attack, and how often to draw."""

    protections: tuple[str, ...] = ()  # specs; empty: those of the preset
    preset: str = "agencies"
    tables: AskedTables = "as-released"
    attack: tuple[str, ...] = ()  # names or ids of areas; empty: the usual one
    runs: int = 10
    seed: int = 2020
    time_limit: float | None = None  # seconds of the attack on each protection
    options: RunOptions = field(default_factory=RunOptions)

    @classmethod
    def of(cls, **given: object) -> Self:
        """A request from declared options, as the command line and Python have them."""
        values = with_defaults(COMPARE, given)
        protections, attack = (tuple(values.pop(name) or ()) for name in ("protection", "attack"))
        own = {name: values.pop(name) for name in ("preset", "tables", "runs", "seed", "time_limit")}
        return cls(protections, attack=attack, options=RunOptions.of(COMPARED_WITH, **values), **own)

    @property
    def is_sweep(self) -> bool:
        """Whether families of protections are compared at several strengths."""
        return self.preset == "sweep" and not self.protections

    @property
    def attacks(self) -> bool:
        """Whether an area is attacked at all."""
        return self.attack != (NO_ATTACK,)


def checked_protections(
    parameters: Path, data: Path, out: Path, request: CompareRequest
) -> tuple[tuple[Protection, ...], tuple[str, ...]]:
    """The protections that are asked for, and a sentence for each of a preset that can't be made here.

    Raises InvalidInput with every reason not to begin.
    """
    checked = [checked_text(text, Path()) for text in dict.fromkeys(request.protections)]
    own = (finding for each in checked for finding in each.findings)
    output = output_findings(
        out,
        [parameters, *paths_read(data)],
        overwrite=request.options.overwrite,
        earlier=_EARLIER,
        kept=(request.options.temporary_folder,),
    )
    found = (*_refused(data, request), *own, *refused_options(data, request.options), *output)
    if any(finding.is_error for finding in found):
        raise InvalidInput(found)
    own_protections = tuple(each.require() for each in checked)
    if own_protections:
        return own_protections, ()
    protections, left_out = protections_of(request.preset)
    by_name = protections if request.is_sweep else tuple(sorted(protections, key=lambda each: each.name.casefold()))
    return by_name, left_out


def _refused(data: Path, request: CompareRequest) -> tuple[Finding, ...]:
    """What is wrong with the request itself."""
    findings = FindingsOf("the command")
    if os.path.exists(data) and not is_synthetic(data):  # noqa: PTH110 - never raises; reading it reports what is wrong
        findings.error(
            "DATA",
            f"{data} has no file {SYNTHETIC_MARKER}, so its people may be real. What an attack writes is a list of"
            " how people can be found, so only synthetic people can be compared.",
        )
    wrong = {
        ("--runs", f"must be from 1 to {_MOST_RUNS:,}."): not 1 <= request.runs <= _MOST_RUNS,
        ("--seed", f"must be from 0 to {_MOST_SEED}."): not 0 <= request.seed <= _MOST_SEED,
        ("--time-limit", "must be more than 0 seconds."): request.time_limit is not None and request.time_limit <= 0,
        ("--tables", f"must be {' or '.join(_TABLES)}."): request.tables not in _TABLES,
        ("--preset", f"must be one of {', '.join(GROUPS)}."): request.preset not in GROUPS,
        ("--attack", f"{NO_ATTACK} stands alone: give areas, or {NO_ATTACK}."): NO_ATTACK in request.attack[1:]
        or (NO_ATTACK in request.attack and request.attacks),
    }
    for (flag, message), is_wrong in wrong.items():
        if is_wrong:
            findings.error(flag, message)
    return findings.findings


def chosen_areas(inputs: RunInputs, engine: RecordCounter, request: CompareRequest) -> tuple[ChosenArea, ...]:
    """The areas to attack: those that were named, or the usual one. Raises InvalidInput with every mistake."""
    if not request.attacks:
        return ()
    levels = [level for level in _levels(inputs) if smallest_plan(inputs, level) is not None]
    if not levels:
        message = "no area of this census has smaller areas with numbers. Add --attack none."
        raise InvalidInput.about("the command", message, "--attack")
    if not request.attack:
        return (_usual_area(inputs, engine, levels),)
    found, findings = list[ChosenArea](), list[Finding]()
    for text in dict.fromkeys(request.attack):
        try:
            found.append(_area_named(inputs, engine, levels, text))
        except InvalidInput as invalid:
            findings += invalid.findings
    if findings:
        raise InvalidInput(findings)
    return tuple(found)


def _levels(inputs: RunInputs) -> Sequence[AreaLevel]:
    """The area levels of the passes that run, coarse to fine."""
    running = inputs.plan.config.passes
    levels = [level for level in inputs.plan.config.census.area_levels if level.tabulation_pass in running]
    return sorted(levels, key=lambda level: len(level.kind.around))


def _usual_area(inputs: RunInputs, engine: RecordCounter, levels: Sequence[AreaLevel]) -> ChosenArea:
    """The area, of the kind that the smallest areas lie in, whose population is nearest to 100,000."""
    plan = smallest_plan(inputs, levels[-1])
    parent = plan.level.geography.kind.parent if plan is not None else None
    level = next((each for each in levels if each.kind == parent), levels[-1])
    areas = _areas(inputs, level)
    people = engine.records_of_areas(level)
    return areas[int(np.argmin(np.abs(people - _WANTED_PEOPLE)))]


def _area_named(inputs: RunInputs, engine: RecordCounter, levels: Sequence[AreaLevel], text: str) -> ChosenArea:
    """The area with this id or name, of the coarsest level that has one."""
    wanted = text.casefold().strip()
    for level in levels:
        for area in _areas(inputs, level):
            if wanted in {area.region_id.casefold(), area.name.casefold()}:
                people = int(engine.records_of_areas(level)[area.entity])
                if people > _MOST_PEOPLE:
                    message = f"{area.name} has {people:,} people. An attack takes up to {_MOST_PEOPLE:,}."
                    raise InvalidInput.about("the command", message, "--attack")
                return area
    kinds = shortened(level.kind.nouns for level in reversed(levels))
    message = f"there is no area {text!r} among the {kinds} that have smaller areas with numbers."
    raise InvalidInput.about("the command", f"{message} Give its id or its whole name.", "--attack")


def _areas(inputs: RunInputs, level: AreaLevel) -> list[ChosenArea]:
    """The areas of a level, with their names."""
    entities = inputs.files.geography_of_pass[level.tabulation_pass].entities(level.kind)
    regions = [level.kind.ids.text(int(entity)) for entity in entities]
    names = inputs.files.names
    return [ChosenArea(level, at, names.get((level, region), region), region) for at, region in enumerate(regions)]
