"""Public files -> the plan of a run, with every finding about them at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from safetab.census.geography import NOWHERE, Geography
from safetab.census.geography_levels import EntityKind, TabulationPass
from safetab.census.group_universe import GroupUniverse, universe_of
from safetab.census.iteration_map import iteration_map_of
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.census.public_lists import PublicLists
from safetab.census.published_totals import PublishedTotals
from safetab.census.stability import stability
from safetab.config.config_file import CONFIG_FILE, budget_key, read_config, reader_asked_for
from safetab.config.run_config import FamilyConfig, ReaderKind, RunConfig
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, Finding, FindingsOf, Severity, shortened
from safetab.planning.given_geography import folder_beside, read_given_geography
from safetab.planning.level_design import IterationsMeasured, level_design
from safetab.planning.run_plan import LevelPlan, RunPlan
from safetab.planning.selected_groups import check_totals, selected_groups
from safetab.privacy.stages import Stage
from safetab.products.product import Product
from safetab.readers.cef.reader_file import read_reader_file
from safetab.readers.geography import GEOGRAPHY_TABLE
from safetab.readers.geography_names import GeographyNames, geography_names_path, read_geography_names
from safetab.readers.public_lists import list_paths, read_public_lists
from safetab.readers.published_totals import find_published_totals, find_totals_in, read_published_totals

if TYPE_CHECKING:
    from safetab.readers.cef.geography import BlockOids


@dataclass(frozen=True, slots=True)
class PublicFiles:
    """All that a plan is made of."""

    config: RunConfig
    lists: PublicLists
    geography_of_pass: Mapping[TabulationPass, Geography]
    paths: tuple[Path, ...] = ()
    names: GeographyNames = field(default_factory=dict)
    oids: BlockOids | None = None  # of a CEF
    totals: PublishedTotals | None = None  # that choose tables, if the product asks for such
    totals_files: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GivenTotals:
    """Published totals from elsewhere than the data directory, and the files that they are from."""

    totals: Checked[PublishedTotals]
    files: Mapping[str, Path] = field(default_factory=dict)  # by the names that a manifest gives them


def plan_of_files(parameters: str | Path, data: str | Path, totals: GivenTotals | None = None) -> Checked[RunPlan]:
    """The plan that the parameters directory and the geography of the data directory make; opens no record file."""
    files = read_public_files(Path(parameters), Path(data), totals=totals)
    if files.value is None:
        return Checked(None, files.findings)
    made = plan_of(files.value)
    return Checked(made.value, files.findings + made.findings)


def read_public_files(
    parameters: Path, data: Path, geography_folder: Path | None = None, totals: GivenTotals | None = None
) -> Checked[PublicFiles]:
    """Reads the lists, the geography of DATA or of another folder, and totals if the product needs them.

    Totals are those of DATA, unless others are given.
    """
    geography_folder, reader = geography_folder or data, reader_asked_for(parameters, data)
    if not _is_directory(parameters):
        finding = Finding(Severity.ERROR, str(parameters), "", "no such directory. Give the directory of config.json.")
        return Checked(None, (finding, *read_given_geography(geography_folder, reader, None).errors))
    config, lists = read_config(parameters), read_public_lists(parameters)
    geography = read_given_geography(geography_folder, reader, config.value)
    names = read_geography_names(folder_beside(data, reader))
    findings = config.findings + lists.findings + geography.findings + names.findings
    if config.value is None or lists.value is None:
        return Checked(None, findings)
    if geography.value is None:  # what is wrong with the budgets doesn't need it
        nowhere = dict.fromkeys(config.value.passes, NOWHERE)
        return Checked(None, findings + plan_of(PublicFiles(config.value, lists.value, nowhere)).errors)
    of_pass = {
        tabulation_pass: geography.value.geography.of_states(config.value.states_of(tabulation_pass))
        for tabulation_pass in config.value.passes
    }
    findings += _states_without_blocks(config.value, of_pass)
    beside = folder_beside(data, reader)
    names_path = geography_names_path(beside)
    paths = (parameters / CONFIG_FILE, *list_paths(parameters), *geography.value.paths)
    paths += () if names_path is None else (names_path,)
    files = PublicFiles(
        config.value, lists.value, MappingProxyType(of_pass), paths, names.value or {}, geography.value.oids
    )
    chosen = _selecting_totals(config.value.product, data, reader, totals)
    if chosen is not None:
        checked = _checked_totals(chosen.totals, lists.value, geography.value.geography, of_pass)
        findings += checked.findings
        files = replace(files, totals=checked.value, totals_files=chosen.files)
    return Checked(None if any(finding.is_error for finding in findings) else files, findings)


def _selecting_totals(
    product: Product, data: Path, reader: ReaderKind, given: GivenTotals | None
) -> GivenTotals | None:
    """Those that were given, or those of DATA; none if the product measures its own."""
    if product.totals_table is None:
        if given is None:
            return None
        findings = FindingsOf("the command")
        findings.error("--totals", f"{product.name} measures its own totals. Leave the option out.")
        return GivenTotals(Checked(None, findings.findings))
    if given is not None:
        return _beside_a_file(given, folder_beside(data, reader), product.totals_table)
    findings, ini = FindingsOf(product.totals_table), None
    if reader is ReaderKind.CEF:
        ini = read_reader_file(data).value
    if ini is not None and ini.totals is not None:
        files = find_totals_in(ini.totals, findings)
    else:
        files = find_published_totals(folder_beside(data, reader), product.totals_table, findings)
    if files is None:
        return GivenTotals(Checked(None, findings.findings))
    read = read_published_totals(files, product.totals_table)
    return GivenTotals(read, {path.name: path for path in files.parts})


def _beside_a_file(given: GivenTotals, data: Path, table: str) -> GivenTotals:
    """The same, with a word about totals in DATA that are not used."""
    ignored = FindingsOf(table)
    if find_published_totals(data, table, FindingsOf(table)) is not None:
        ignored.warning("", "lies in DATA and is not used: --totals stands for it.")
    return replace(given, totals=Checked(given.totals.value, given.totals.findings + ignored.findings))


def _checked_totals(
    read: Checked[PublishedTotals], lists: PublicLists, whole: Geography, of_pass: Mapping[TabulationPass, Geography]
) -> Checked[PublishedTotals]:
    if read.value is None:
        return read
    findings = FindingsOf("the file of published totals")
    check_totals(read.value, lists, whole, of_pass, findings)
    return Checked(None if findings.has_errors else read.value, read.findings + findings.findings)


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # a name too long, a parent that may not be searched
        raise_if_the_machine_failed(error)
        return False


def _states_without_blocks(config: RunConfig, of_pass: Mapping[TabulationPass, Geography]) -> tuple[Finding, ...]:
    """A pass without a block is an error; a state without one is worth a look."""
    findings = FindingsOf(GEOGRAPHY_TABLE)
    for tabulation_pass, geography in of_pass.items():
        states = config.states_of(tabulation_pass)
        listed = set(geography.entities(EntityKind.STATE).tolist())
        missing = [state for state in states if int(state) not in listed]
        name = tabulation_pass.value.upper()
        if not listed:
            findings.error("TABBLKST", f"no block of state {shortened(states)}: the {name} pass would be empty.")
        elif missing:
            findings.warning("TABBLKST", f"no block of state {shortened(missing)}, which config.json asks for.")
    return findings.findings


def plan_of(files: PublicFiles) -> Checked[RunPlan]:
    """The plan, and findings about levels that can't be measured as they are configured."""
    findings = FindingsOf(CONFIG_FILE)
    tabulated = [
        (of_family, level)
        for level in files.config.levels
        for of_family in files.config.families
        if of_family.budgets[level] > 0
    ]
    entities = {
        geography: files.geography_of_pass[geography.tabulation_pass].entities(geography.entity_kind)
        for geography in {level.geography for _, level in tabulated}
    }
    has_total_only = files.config.product.has_total_only
    universes = {
        level: universe_of(level, entities[level.geography], files.lists, has_total_only=has_total_only)
        for level in dict.fromkeys(level for _, level in tabulated)
    }
    stabilities = {grain: _stability_of(grain, files) for grain in {_grain(level) for _, level in tabulated}}
    levels = tuple(
        _level_plan(universes[level], of_family, files, stabilities[_grain(level)]) for of_family, level in tabulated
    )
    for level_plan in levels:
        _check_level(level_plan, findings)
    left_out = tuple(level for level in files.config.levels if files.config.budget_of(level) == 0)
    plan = RunPlan(files.config, files.lists, levels, left_out)
    return Checked(None if findings.has_errors else plan, findings.findings)


def _grain(level: PopulationGroupLevel) -> tuple[IterationLevel, bool]:
    """All that a level's stability depends on, besides the lists: which iterations it has."""
    return level.iterations, level.geography.is_substate


def _stability_of(grain: tuple[IterationLevel, bool], files: PublicFiles) -> int:
    level, is_substate = grain
    maximum = files.config.max_race_codes
    return stability(iteration_map_of(files.lists, level, is_substate=is_substate, max_race_codes=maximum))


def _level_plan(
    universe: GroupUniverse, of_family: FamilyConfig, files: PublicFiles, stability_of_level: int
) -> LevelPlan:
    measured = _iterations_measured(universe)
    design = level_design(files.config, of_family, universe.level, stability_of_level, measured)
    return LevelPlan(design, universe, None if files.totals is None else selected_groups(universe, files.totals))


def _iterations_measured(universe: GroupUniverse) -> IterationsMeasured:
    return IterationsMeasured(
        adaptive=len(universe.iterations) - universe.total_only_iterations, total_only=universe.total_only_iterations
    )


def _check_level(plan: LevelPlan, findings: FindingsOf) -> None:
    product = plan.design.product
    key = budget_key(product, plan.family, plan.level)
    advice = f"Change the budget{f' or {product.stage_1_key}' if product.stage_1_key else ''}."
    for measured in plan.design.stages.values():
        complaint = measured.noise.out_of_sampler_range
        if complaint is not None:
            findings.error(key, f"the noise of {_STAGE_NAMES[measured.stage]} is out of range: {complaint}. {advice}")
    if not plan.design.stages:
        findings.warning(
            key, "no code leads to an iteration of this level, so nothing will be measured for this budget."
        )
    elif not len(plan.universe.entities):
        kind = plan.level.geography.entity_kind.noun
        findings.warning(key, f"the geography lists no {kind}, so nothing will be measured for this budget.")


_STAGE_NAMES = {Stage.STAGE_1: "stage 1", Stage.STAGE_2: "stage 2", Stage.TOTAL_ONLY: "total-only groups"}
