"""The request for a comparison, and the census that it is asked of.

The census is counted once, with the areas under attack.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Self

import numpy as np

from safetab.apps.compare.attacks.membership import membership_bound
from safetab.apps.compare.measures.utility import key_of_seed
from safetab.apps.compare.pages.words import text
from safetab.apps.compare.presets import GROUPS, protections_of, with_source
from safetab.apps.compare.protections.protection import Protection
from safetab.apps.compare.protections.spec_text import checked as checked_text
from safetab.apps.compare.results import ComparedCensus
from safetab.apps.compare.tables.count_area import (
    ChosenArea,
    CountedArea,
    PeopleOfArea,
    people_of_area,
    smallest_plan,
)
from safetab.apps.compare.tables.counted_census import AskedTables, CountedCensus
from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.guarantees.losses import DELTA, reported_loss
from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.core.privacy.reference import loss_text
from safetab.counting.local.counter import RecordCounter
from safetab.foundation.findings import VERSION, Finding, FindingsOf, InvalidInput, shortened
from safetab.foundation.progress import Progress
from safetab.inputs.configuration import read_config
from safetab.inputs.own_records import is_synthetic, paths_read
from safetab.inputs.planner import plan_of
from safetab.inputs.tuning.tuning import production_of_2020
from safetab.model.census.area_levels import AreaLevel
from safetab.model.config.run_config import RunConfig
from safetab.model.products.all_products import as_shipped
from safetab.model.specification.kinds import in_sentence
from safetab.release.outputs.output_folder import NamesLike, always_named, output_findings
from safetab.release.report.shares import finer_table, share
from safetab.runs import guards
from safetab.runs.declared_options import COMPARE, COMPARED_WITH, with_defaults
from safetab.runs.inputs import RunInputs, checked_engine, read_inputs
from safetab.runs.options import RunOptions, refused_options

FACTS_FILE, PAGE_FILE = "protections.json", "compare.html"
_NO_ATTACK = "none"
_FILE_NAMES = (
    r"compare\.html|committee\.csv|(utility|exposure)\.(csv|parquet)|protections\.json|README\.txt"
)
_EARLIER = always_named(FACTS_FILE, NamesLike(_FILE_NAMES))
_MOST_RUNS, _MOST_SEED = 10_000, 2**63 - 1
_TABLES = ("as-released", "every-group")
_MOST_PEOPLE, _WANTED_PEOPLE = 400_000, 100_000


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
        protections, attack = (tuple(values.pop(name) or ()) for name in ("protections", "attack"))
        own = {
            name: values.pop(name) for name in ("preset", "tables", "runs", "seed", "time_limit")
        }
        return cls(
            protections, attack=attack, options=RunOptions.of(COMPARED_WITH, **values), **own
        )

    @property
    def is_sweep(self) -> bool:
        """Whether families of protections are compared at several strengths."""
        return self.preset == "sweep" and not self.protections

    @property
    def attacks(self) -> bool:
        """Whether an area is attacked at all."""
        return self.attack != (_NO_ATTACK,)


def checked_protections(
    parameters: Path, data: Path, out: Path, request: CompareRequest
) -> tuple[tuple[Protection, ...], Mapping[str, str]]:
    """The protections asked for, and why others are left out.

    Raises InvalidInput with every reason not to begin.
    """
    checked, options = (
        [checked_text(text, Path()) for text in dict.fromkeys(request.protections)],
        request.options,
    )
    others = [
        read_config(each.value.parameters)
        for each in checked
        if each.value and each.value.parameters
    ]
    own = [finding for each in (*checked, *others) for finding in each.findings]
    read, kept = [parameters, *paths_read(data)], (options.temporary_folder,)
    output = output_findings(out, read, overwrite=options.overwrite, earlier=_EARLIER, kept=kept)
    on_records = [each.value.records for each in checked if each.value and each.value.records]
    if is_synthetic(data) and on_records:
        own += on_records[0].refused(data)
    found = (*_refused(data, request), *own, *refused_options(data, options), *output)
    if any(finding.is_error for finding in found):
        raise InvalidInput(found)
    if checked:
        return tuple(with_source(each.require()) for each in checked), {}
    protections, left_out = protections_of(request.preset)
    by_name = sorted(protections, key=lambda each: each.name.casefold())
    return protections if request.is_sweep else tuple(by_name), left_out


def _refused(data: Path, request: CompareRequest) -> tuple[Finding, ...]:
    """The faults of the request itself."""
    findings = FindingsOf("the command")
    # os.path.exists never raises; reading DATA reports what is wrong
    if os.path.exists(data) and not is_synthetic(data):  # noqa: PTH110
        findings.error("DATA", text("may_be_real", data=data, marker=SYNTHETIC_MARKER))
    wrong = {
        ("--runs", f"must be from 1 to {_MOST_RUNS:,}."): not 1 <= request.runs <= _MOST_RUNS,
        ("--seed", f"must be from 0 to {_MOST_SEED}."): not 0 <= request.seed <= _MOST_SEED,
        ("--time-limit", "must be more than 0 seconds."): request.time_limit is not None
        and not request.time_limit > 0,
        ("--tables", f"must be {' or '.join(_TABLES)}."): request.tables not in _TABLES,
        ("--preset", f"must be one of {', '.join(GROUPS)}."): request.preset not in GROUPS,
        ("--attack", f"{_NO_ATTACK} stands alone: give areas, or {_NO_ATTACK}."): _NO_ATTACK
        in request.attack
        and request.attacks,
    }
    for (flag, message), is_wrong in wrong.items():
        if is_wrong:
            findings.error(flag, message)
    return findings.findings


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The counts of one DATA by one PARAMETERS."""

    inputs: RunInputs
    engine: RecordCounter
    census: CountedCensus
    warnings: tuple[Finding, ...]
    people: int  # how many records were counted

    def areas(self, request: CompareRequest) -> tuple[CountedArea, ...]:
        """The areas under attack, those named or the usual one.

        Raises InvalidInput with every one that can't be attacked.
        """
        if not request.attacks:
            return ()
        findings, config, chosen = (
            FindingsOf("the command"),
            self.inputs.plan.config,
            list[ChosenArea](),
        )
        levels = [
            level for level in config.census.area_levels if level.tabulation_pass in config.passes
        ]
        levels = [level for level in levels if smallest_plan(self.inputs, level) is not None]
        levels.sort(key=lambda level: len(level.kind.around))  # coarse to fine
        if not levels:
            problem = "no area of this census has smaller areas with numbers. Add --attack none."
            findings.error("--attack", problem, is_of_files=True)
        elif not request.attack:
            chosen.append(self._usual_area(levels))
        known = [area for level in levels for area in self._areas_of(level)]
        for asked in dict.fromkeys(request.attack if levels else ()):
            wanted = asked.casefold().strip()
            same = [
                area
                for area in known
                if wanted in {area.region_id.casefold(), area.name.casefold()}
            ][:1]
            if not same:
                kinds = shortened(dict.fromkeys(level.kind.nouns for level in reversed(levels)))
                findings.error(
                    "--attack", text("no_such_area", asked=asked, kinds=kinds), is_of_files=True
                )
            chosen += same
        for area in chosen:
            people = int(self.engine.records_of_areas(area.level)[area.entity])
            if people > _MOST_PEOPLE:
                problem = text("large_area", name=area.name, people=people, most=_MOST_PEOPLE)
                findings.error("--attack", problem, is_of_files=True)
        findings.require_no_errors()
        return tuple(
            CountedArea(self.inputs, self.people_of(area), area, request.tables, request.seed)
            for area in chosen
        )

    def _usual_area(self, levels: Sequence[AreaLevel]) -> ChosenArea:
        """The area whose population is nearest to 100,000.

        It is of the kind that the smallest areas lie in.
        """
        plan = smallest_plan(self.inputs, levels[-1])
        parent = plan.level.geography.kind.parent if plan is not None else None
        level = next((each for each in levels if each.kind == parent), levels[-1])
        distances = np.abs(self.engine.records_of_areas(level) - _WANTED_PEOPLE)
        return self._areas_of(level)[int(np.argmin(distances))]

    def _areas_of(self, level: AreaLevel) -> list[ChosenArea]:
        """The areas of a level, with their names."""
        files, ids = self.inputs.files, level.kind.ids
        regions = [
            ids.text(int(each))
            for each in files.geography_of_pass[level.tabulation_pass].entities(level.kind)
        ]
        named = [(files.names.get((level, region), region), region) for region in regions]
        return [ChosenArea(level, at, *each) for at, each in enumerate(named)]

    def people_of(self, area: ChosenArea) -> PeopleOfArea:
        """The people of one area."""
        return people_of_area(self.engine, area.level, area.entity)

    def scaled(self, factor: Fraction) -> World:
        """The world with the same counts and every budget times `factor`.

        Raises InvalidInput if such noise can't be drawn.
        """
        config = self.inputs.files.config
        families = tuple(
            replace(
                each, budgets={level: factor * budget for level, budget in each.budgets.items()}
            )
            for each in config.families
        )
        return self._with(replace(config, families=families))

    def of_2020(self) -> World:
        """The world with the same counts and thresholds, and the budgets of 2020.

        Raises InvalidInput if PARAMETERS have no such budgets.
        """
        config = self.inputs.files.config
        if as_shipped(config.product).production is None:
            raise InvalidInput.about("safetab:2020", text("not_of_2020"))
        of_2020 = production_of_2020(config.product)
        families = tuple(
            replace(
                own,
                budgets={
                    level: budget and other.budgets[level] for level, budget in own.budgets.items()
                },
            )
            for own, other in zip(config.families, of_2020.families, strict=True)
        )
        definition, fraction = of_2020.privacy_definition, of_2020.stage_1_fraction
        return self._with(
            replace(
                config, families=families, privacy_definition=definition, stage_1_fraction=fraction
            )
        )

    def _with(self, config: RunConfig) -> World:
        files, census = replace(self.inputs.files, config=config), copy(self.census)
        census.inputs = replace(self.inputs, files=files, plan=plan_of(files).require())
        return replace(self, inputs=census.inputs, census=census)

    def words(self, areas: Sequence[CountedArea], request: CompareRequest) -> ComparedCensus:
        """The page's words for the census and its parts."""
        config = self.inputs.plan.config
        family = config.product.families[0]
        where = (
            "where its true size gives one"
            if request.tables == "as-released"
            else "for every group"
        )
        by = f", and a {finer_table(family)} {where}" if len(family.shapes) > 1 else ""
        smallest = [
            config.census.area_level(counted.area.levels[-1]).kind.nouns for counted in areas
        ]
        return ComparedCensus(
            people=self.people,
            nouns=config.product.record.nouns,
            groups=config.census.words.groups,
            tables=f"the total of every group{by}",
            is_stress_test=request.tables == "every-group",
            whole=config.census.words.whole,
            attacked=len(areas),
            attacked_area=", ".join(counted.area.name for counted in areas),
            areas=smallest[0] if smallest else "areas",
            **(self._larger(areas) if areas else {}),
        )

    def _larger(self, areas: Sequence[CountedArea]) -> dict[str, str]:
        """The larger areas whose tables were attacked, and those whose tables were not.

        It also has the share of the budgets that was spent on the latter.
        """
        config, chosen = self.inputs.plan.config, areas[0].chosen.level
        budgets = defaultdict[AreaLevel, Fraction](Fraction)
        for level in config.census.levels_of([chosen.tabulation_pass]):
            budgets[level.geography] += config.budget_of(level)
        met = set.intersection(*(set(counted.area.levels) for counted in areas))
        around = [
            one for one, budget in budgets.items() if budget and one.kind in chosen.kind.around
        ]
        left = [one for one in around if one.label not in met]
        attacked = [one for one in around if one not in left]
        spent = share(float(sum(budgets[one] for one in left) / (sum(budgets.values()) or 1)), 0)
        nouns = (
            in_sentence([f"the {one.kind.noun}" for one in some], "and")
            for some in (attacked, left)
        )
        return dict(
            zip(("larger_attacked", "larger_left", "spent_on_left"), (*nouns, spent), strict=True)
        )

    def facts(self, areas: Sequence[CountedArea], request: CompareRequest) -> dict[str, str]:
        """The facts of the comparison's run, by their titles."""
        record, limit = self.inputs.plan.config.product.record, request.time_limit
        facts = {
            "Program": f"safetab {VERSION}, NumPy {np.__version__}",
            "Records": f"{self.people:,} synthetic {record.nouns}",
            "Tables": request.tables,
            "Draws of each random protection": f"{request.runs:,}; swapping is drawn once",
            "Seed": str(request.seed),
            "Key of SafeTab's noise": key_of_seed(request.seed).hex(),
            "Limits": text("limits", attack=f"{limit:g} seconds" if limit else text("no_limit")),
        }
        for area, alone in ((counted.area, counted.shares_unique()) for counted in areas):
            given = {
                "nouns": record.nouns,
                "areas": len(area.areas) - 1,
                "groups": len(area.systems),
                "alone": alone,
            }
            facts[f"Area under attack: {area.name}"] = text("area_fact", area=area, **given)
        return facts


@contextmanager
def counted_world(
    parameters: Path, data: Path, request: CompareRequest, progress: Progress
) -> Iterator[World]:
    """Read, check and count; the engine is closed at the end.

    Raises InvalidInput if an input is at fault.
    """
    options = request.options
    checked = read_inputs(parameters, data, totals=options.totals)
    inputs = checked.require()
    with (
        guards.backend_of(options) as backend,
        checked_engine(checked, backend, progress) as (warnings, engine),
    ):
        if not isinstance(engine, RecordCounter):
            raise TypeError("records are counted in this process")
        config = inputs.plan.config
        progress.step(
            f"Counting the {config.product.record.counted} of each {config.census.part.noun}", 1
        )
        people = sum(engine.prepare().values())
        progress.advance()
        yield World(
            inputs,
            engine,
            CountedCensus(inputs, engine, progress, request.tables, options),
            warnings,
            people,
        )


def guarantee_of(protection: Protection, plan: RunPlan) -> str:
    """The formal guarantee over the whole release in words, or why it has none."""
    if not protection.is_safetab:
        is_random = protection.is_drawn_again or protection.records is not None
        return text("no_guarantee" if is_random else "no_limit_below_1")
    definition, noun = plan.config.privacy_definition, plan.config.product.record.noun
    loss, symbol = reported_loss(definition, plan.loss), definition.budget_symbol
    own = f"{symbol} = {loss_text(loss.unbounded)}"
    if not definition.is_pure:
        own += (
            f" (epsilon = {ceil(loss.unbounded_epsilon * 10) / 10:,.1f}"
            f" at delta = {float(DELTA):g})"
        )
    changed = membership_bound(plan, is_changed=True)
    return text(
        "guarantee",
        noun=noun,
        own=own,
        symbol=symbol,
        bound=f"{membership_bound(plan):.2f}",
        changed=changed,
    )


def comes_with(protection: Protection) -> tuple[str, ...]:
    """The facts that a user gets with a number, such as its largest error.

    There is a mark if some numbers are withheld.
    """
    if protection.is_safetab:
        return ("an interval for 95%",)
    numbers, error = protection.numbers, protection.largest_error
    known = []
    if error == 0:
        known.append("exact")
    elif numbers is not None and error is not None:
        is_secret = (
            numbers.may_be_secret and protection.source is not None and protection.source.assumed
        )
        limit = "where the agency publishes it" if is_secret else f"{error:,}"
        known.append(f"the largest error, {limit}")
    if protection.selections or (numbers is not None and numbers.withheld_below):
        known.append("a mark where withheld")
    return tuple(known) or ("nothing",)
