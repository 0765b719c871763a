"""Reads the public files of a run and makes its plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from safetab.core.algorithm.level_design import IterationsMeasured, level_design
from safetab.core.algorithm.run_plan import LevelPlan, RunPlan, check_totals, selected_groups
from safetab.core.guarantees.concerns import warn_of_noisy_choices
from safetab.core.guarantees.losses import JointLoss
from safetab.core.privacy.calibration import Stage
from safetab.foundation.findings import Checked, Finding, FindingsOf, Severity
from safetab.inputs.configuration import (
    parameters_findings,
    product_asked_for,
    read_config,
    reader_asked_for,
    records_of_another_product,
    require_parameters,
)
from safetab.inputs.public_files import (
    folder_beside,
    list_paths,
    parts_without_areas,
    read_given_geography,
    read_public_lists,
    totals_folder,
)
from safetab.inputs.readers.area_names import AreaNames, area_names_path, read_area_names
from safetab.inputs.readers.published_totals import find_published_totals, find_totals_in, read_published_totals
from safetab.inputs.specification.public_tables import find_specified_totals, read_specified_totals
from safetab.inputs.specified_files import Compiled, compile_folder, warnings_of_places
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import Areas
from safetab.model.census.groups import GroupLevel, PublicLists, iteration_map_of
from safetab.model.census.population_groups import PublishedTotals, universe_of
from safetab.model.census.sensitivity import Sensitivity, sensitivity
from safetab.model.config.run_config import CONFIG_FILE, ReaderKind, RunConfig, budget_key
from safetab.model.known_census import DEFAULT_CENSUS
from safetab.model.specification.reading import ABOUT_FILE, Publication, is_specification, read_publication

if TYPE_CHECKING:
    from safetab.inputs.own_records import OwnIds


@dataclass(frozen=True, slots=True)
class PublicFiles:
    """Everything that a plan is made from."""

    config: RunConfig
    lists: PublicLists
    geography_of_pass: Mapping[Pass, Areas]
    paths: tuple[Path, ...] = ()
    names: AreaNames = field(default_factory=dict)
    oids: OwnIds | None = None  # of records in a dialect's own form
    totals: PublishedTotals | None = None  # that choose tables, if the product asks for such
    totals_files: Mapping[str, Path] = field(default_factory=dict)
    publication: Publication | None = None  # None: nobody says whose numbers these are


@dataclass(frozen=True, slots=True)
class GivenTotals:
    """Published totals from outside the data directory, and their files."""

    totals: Checked[PublishedTotals]
    files: Mapping[str, Path] = field(default_factory=dict)  # by the names that a manifest gives them


def plan_of_files(parameters: str | Path, data: str | Path, totals: GivenTotals | None = None) -> Checked[RunPlan]:
    """The plan that the parameters and the geography of the data make. Opens no record file.

    Raises InvalidInput if PARAMETERS and DATA are swapped.
    """
    require_parameters(Path(parameters), Path(data))
    files = read_public_files(Path(parameters), Path(data), totals=totals)
    if files.value is None:
        return Checked(None, _wrong_product(Path(parameters), Path(data)) + files.findings)
    made = plan_of(files.value)
    return Checked(made.value, files.findings + made.findings)


def _wrong_product(parameters: Path, data: Path) -> tuple[Finding, ...]:
    """What may be the cause of other findings: DATA has the records of another product than config.json."""
    if not (parameters / CONFIG_FILE).is_file() or reader_asked_for(parameters, data) is ReaderKind.CEF:
        return ()
    return records_of_another_product(product_asked_for(parameters, data), data, CONFIG_FILE)


def read_public_files(
    parameters: Path, data: Path, geography_folder: Path | None = None, totals: GivenTotals | None = None
) -> Checked[PublicFiles]:
    """Read the configuration, the lists, the geography, and published totals if the product needs them.

    The geography is that of DATA unless another folder is given; so are the totals. Returns every
    finding; the value is None if one of them is an error.
    """
    geography_folder, reader = geography_folder or data, reader_asked_for(parameters, data)
    refused = parameters_findings(parameters)
    if refused:
        return Checked(None, refused)
    paths: tuple[Path, ...]
    if is_specification(parameters):
        compiled = compile_folder(parameters)
        if compiled.value is None:
            return Checked(None, compiled.findings)
        if compiled.value.areas is not None:
            return _specified_files(compiled, data, totals)
        config, lists = Checked(compiled.value.config, compiled.findings), Checked(compiled.value.lists, ())
        paths, publication = compiled.value.paths, Checked(compiled.value.publication, ())
    else:
        config, lists = read_config(parameters, data), read_public_lists(parameters)
        publication = read_publication(parameters)
        paths = (parameters / CONFIG_FILE, *list_paths(parameters), *about_path(parameters))
    geography = read_given_geography(geography_folder, reader, config.value)
    names = read_area_names(folder_beside(data, reader), DEFAULT_CENSUS)
    findings = config.findings + lists.findings + publication.findings + geography.findings + names.findings
    if config.value is None or lists.value is None:
        return Checked(None, findings)
    if geography.value is None:  # what is wrong with the budgets doesn't need it
        nowhere = dict.fromkeys(config.value.passes, Areas.none(config.value.census))
        return Checked(None, findings + plan_of(PublicFiles(config.value, lists.value, nowhere)).errors)
    whole, number_of = geography.value.geography, config.value.census.part.ids.number
    parts_of = {which: map(number_of, config.value.parts_of(which)) for which in config.value.passes}
    of_pass = {which: whole.of_parts(parts) for which, parts in parts_of.items()}
    findings += parts_without_areas(config.value, of_pass)
    names_path = area_names_path(folder_beside(data, reader))
    paths += geography.value.paths
    paths += () if names_path is None else (names_path,)
    oids, geographies = geography.value.oids, MappingProxyType(of_pass)
    files = PublicFiles(config.value, lists.value, geographies, paths, names.value or {}, oids)
    files = replace(files, publication=publication.value)
    return _with_totals(files, findings, whole, _selecting_totals(config.value, data, reader, totals, whole))


def about_path(parameters: Path) -> tuple[Path, ...]:
    """The file about.toml, if the parameters have it."""
    path = parameters / ABOUT_FILE
    return (path,) if path.is_file() else ()


def _specified_files(compiled: Checked[Compiled], data: Path, totals: GivenTotals | None) -> Checked[PublicFiles]:
    """The public files of a specification: all of them are in its folder, except published totals in DATA."""
    given = compiled.require()
    assert given.areas is not None
    files = PublicFiles(given.config, given.lists, given.areas_of_pass, given.paths, given.names)
    files = replace(files, publication=given.publication)
    findings = compiled.findings + warnings_of_places(given.paths, data)
    chosen = _specified_totals(given.config, given.paths[0].parent, data, totals)
    return _with_totals(files, findings, given.areas, chosen)


def _specified_totals(config: RunConfig, parameters: Path, data: Path, given: GivenTotals | None) -> GivenTotals | None:
    """The totals that were given, by the ids of this census, or those in PARAMETERS or DATA."""
    name = config.product.totals_table
    if name is None or given is not None:
        chosen = _selecting_totals(config, data, ReaderKind.CSV, given, Areas.none(config.census))
        if chosen is None or chosen.totals.value is None:
            return chosen
        return replace(chosen, totals=Checked(chosen.totals.value.by_ids_of(config.census), chosen.totals.findings))
    path = find_specified_totals(name, parameters, data)
    if path is None:
        message = "there is no such file in PARAMETERS or DATA. Add it, or give --totals."
        return GivenTotals(Checked(None, (Finding(Severity.ERROR, name, "", message),)))
    return GivenTotals(read_specified_totals(path, config.census), {path.name: path})


def _with_totals(
    files: PublicFiles, findings: tuple[Finding, ...], whole: Areas, chosen: GivenTotals | None
) -> Checked[PublicFiles]:
    """The files with the totals that choose tables, if there are any; no value if a finding is an error."""
    if chosen is not None:
        findings += chosen.totals.findings
        if chosen.totals.value is not None:
            of_pass = files.geography_of_pass
            name = next(iter(chosen.files)) if len(chosen.files) == 1 else "the published totals"
            findings += check_totals(name, chosen.totals.value, files.config, files.lists, whole, of_pass)
        files = replace(files, totals=chosen.totals.value, totals_files=chosen.files)
    return Checked(None if any(finding.is_error for finding in findings) else files, findings)


def _selecting_totals(
    config: RunConfig, data: Path, reader: ReaderKind, given: GivenTotals | None, whole: Areas
) -> GivenTotals | None:
    """The totals that were given, or those in DATA. None if the product measures its own.

    If totals are given and DATA has some too, which are then not used, a warning says so.
    """
    product = config.product
    if product.totals_table is None:
        message = f"{product.name} measures its own totals. Leave the option out."
        refused = Finding(Severity.ERROR, "the command", "--totals", message, is_of_files=True)
        return None if given is None else GivenTotals(Checked(None, (refused,)))
    findings = FindingsOf(product.totals_table)
    if given is not None:
        beside = find_published_totals(folder_beside(data, reader), product.totals_table, FindingsOf(""))
        if beside is not None:
            findings.warning("", "lies in DATA and is not used: --totals stands for it.")
        return replace(given, totals=Checked(given.totals.value, given.totals.findings + findings.findings))
    folder = totals_folder(data, reader)
    if folder is not None:
        files = find_totals_in(folder, findings)
    else:
        files = find_published_totals(folder_beside(data, reader), product.totals_table, findings)
    if files is None:
        return GivenTotals(Checked(None, findings.findings))
    read = read_published_totals(files, product.totals_table, config.census, whole)
    return GivenTotals(read, {path.name: path for path in files.parts})


def joint_loss(config: RunConfig, other_parameters: Path) -> Checked[JointLoss]:
    """The joint loss with another directory's configuration, or findings if the two don't add up."""
    read = read_config(other_parameters)
    if read.value is None:
        return Checked(None, read.findings)
    persons, households = sorted((config, read.value), key=lambda each: each.product.record.holds_people)
    problem = None
    if config.product is read.value.product:
        problem = f"is for {config.product.name} too. Two runs of one product are added up by --spend-log."
    elif config.privacy_definition is not read.value.privacy_definition:
        problem = "has another privacy_defn. Losses of two definitions don't add up to one."
    if problem is not None:
        return Checked(None, (*read.findings, Finding(Severity.ERROR, str(other_parameters), "--with", problem)))
    return Checked(JointLoss(persons, households), read.findings)


def plan_of(files: PublicFiles) -> Checked[RunPlan]:
    """The plan, and findings about levels that can't be measured as configured."""
    findings = FindingsOf(files.config.spelling.file)
    families_and_levels = ((family, level) for level in files.config.levels for family in files.config.families)
    tabulated = [(of_family, level) for of_family, level in families_and_levels if of_family.budgets[level] > 0]
    entities = {
        geography: files.geography_of_pass[geography.tabulation_pass].entities(geography.kind)
        for geography in {level.geography for _, level in tabulated}
    }
    has_total_only = files.config.product.has_total_only
    universes = {
        level: universe_of(level, entities[level.geography], files.lists, has_total_only=has_total_only)
        for level in dict.fromkeys(level for _, level in tabulated)
    }
    sensitivities: dict[tuple[GroupLevel, int], Sensitivity] = {}
    levels = list[LevelPlan]()
    for of_family, level in tabulated:
        # what sensitivity depends on, besides the lists
        grain = level.iterations, files.config.census.grain_of(level.geography.kind)
        if grain not in sensitivities:
            most = files.config.most_answers
            slots = files.config.census.classifications
            kind = level.geography.kind
            codes = iteration_map_of(files.lists, level.iterations, kind, most_answers=most, classifications=slots)
            sensitivities[grain] = sensitivity(codes.classifications, files.config.product.record.most_records)
        universe, total_only = universes[level], universes[level].total_only_iterations
        measured = IterationsMeasured(len(universe.iterations) - total_only, total_only)
        design = level_design(files.config, of_family, level, sensitivities[grain], measured)
        selected = None if files.totals is None else selected_groups(universe, files.totals)
        levels.append(LevelPlan(design, universe, selected))
        _check_level(levels[-1], findings)
    if files.totals is not None:
        _judge_unmeasured_passes(files, files.totals, levels, findings)
    warn_of_noisy_choices(files.config, levels, findings)
    left_out = tuple(level for level in files.config.levels if files.config.budget_of(level) == 0)
    # a specification that another one is like has the same name, in its own folder
    names = [path.name for path in files.paths]
    public = {
        path.name if names.index(path.name) == place else f"{path.parent.name}/{path.name}": path
        for place, path in enumerate(files.paths)
    } | dict(files.totals_files)
    plan = RunPlan(files.config, files.lists, tuple(levels), left_out, public)
    return Checked(None if findings.has_errors else plan, findings.findings)


def _judge_unmeasured_passes(
    files: PublicFiles, totals: PublishedTotals, levels: Sequence[LevelPlan], findings: FindingsOf
) -> None:
    """Report passes of which no group is measured: their budget would be spent on nothing.

    It is an error if no total is of the pass, and a warning if its totals are all of ignored groups.
    """
    for which in files.config.passes:
        of_pass = [plan for plan in levels if plan.level.geography.tabulation_pass == which]
        if not of_pass or any(plan.measured_groups for plan in of_pass):
            continue
        key, areas = files.config.spelling.passes[which], files.geography_of_pass[which]
        own = ((level.kind, found) for level, found in totals.of_level.items() if level.tabulation_pass == which)
        if any(np.isin(found.entity, areas.entities(kind)).any() for kind, found in own):
            findings.warning(key, "all published totals of this pass are ignored: its budget is spent on nothing.")
        else:
            problem = "no published total is of this pass: its budget would be spent on nothing"
            findings.error(key, f"{problem}. Give totals of this pass, or leave the pass out.")


def _check_level(plan: LevelPlan, findings: FindingsOf) -> None:
    """Report a level whose noise can't be drawn or at which nothing is measured."""
    product = plan.design.product
    key = budget_key(product, plan.family, plan.level)
    advice = f"Change the budget{f' or {product.stage_1_key}' if product.stage_1_key else ''}."
    for measured in plan.design.stages.values():
        complaint = measured.noise.out_of_sampler_range
        if complaint is not None:
            findings.error(key, f"the noise of {_STAGE_NAMES[measured.stage]} is out of range: {complaint}. {advice}")
    if not plan.design.stages:
        message = "no code leads to an iteration of this level, so nothing will be measured for this budget."
        findings.warning(key, message)
    elif not len(plan.universe.entities):
        kind = plan.level.geography.kind.noun
        findings.warning(key, f"the geography lists no {kind}, so nothing will be measured for this budget.")


_STAGE_NAMES = {Stage.STAGE_1: "stage 1", Stage.STAGE_2: "stage 2", Stage.TOTAL_ONLY: "total-only groups"}
