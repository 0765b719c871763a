"""Reads the public files of a run in their dialect.

They are configuration, lists, areas and published totals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from safetab.core.algorithm.run_plan import RunPlan, check_totals
from safetab.foundation.findings import Checked, Finding, FindingsOf, Severity
from safetab.inputs.bureau import grfc, public_lists
from safetab.inputs.bureau.cef.reader_file import read_reader_file
from safetab.inputs.configuration import (
    parameters_findings,
    product_asked_for,
    read_config,
    reader_asked_for,
    records_of_another_product,
    require_parameters,
)
from safetab.inputs.planner import PublicFiles, plan_of
from safetab.inputs.readers.area_names import area_names_path, read_area_names
from safetab.inputs.readers.published_totals import (
    find_published_totals,
    find_totals_in,
    read_published_totals,
)
from safetab.inputs.specification.public_tables import find_specified_totals, read_specified_totals
from safetab.inputs.specified_files import Compiled, compile_folder, warnings_of_places
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import Areas
from safetab.model.census.groups import PublicLists
from safetab.model.census.population_groups import PublishedTotals
from safetab.model.config.run_config import CONFIG_FILE, ReaderKind, RunConfig
from safetab.model.known_census import DEFAULT_CENSUS
from safetab.model.specification.reading import ABOUT_FILE, is_specification, read_publication

if TYPE_CHECKING:
    from safetab.inputs.own_records import OwnIds


@dataclass(frozen=True, slots=True)
class GivenTotals:
    """Published totals from outside the data directory, and their files."""

    totals: Checked[PublishedTotals]
    files: Mapping[str, Path] = field(
        default_factory=dict
    )  # by the names that a manifest gives them


def plan_of_files(
    parameters: str | Path, data: str | Path, totals: GivenTotals | None = None
) -> Checked[RunPlan]:
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
    """A likely cause of other findings: DATA has another product's records.

    The product meant is that of config.json.
    """
    if (
        not (parameters / CONFIG_FILE).is_file()
        or reader_asked_for(parameters, data) is ReaderKind.CEF
    ):
        return ()
    return records_of_another_product(product_asked_for(parameters, data), data, CONFIG_FILE)


def read_public_files(
    parameters: Path,
    data: Path,
    geography_folder: Path | None = None,
    totals: GivenTotals | None = None,
) -> Checked[PublicFiles]:
    """Read the configuration, the lists and the geography.

    Published totals are read if the product needs them. The geography is that of DATA unless
    another folder is given; so are the totals. Returns every finding; the value is None if one of
    them is an error.
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
        config, lists = (
            Checked(compiled.value.config, compiled.findings),
            Checked(compiled.value.lists, ()),
        )
        paths, publication = compiled.value.paths, Checked(compiled.value.publication, ())
    else:
        config, lists = read_config(parameters, data), read_public_lists(parameters)
        publication = read_publication(parameters)
        paths = (parameters / CONFIG_FILE, *list_paths(parameters), *about_path(parameters))
    geography = read_given_geography(geography_folder, reader, config.value)
    names = read_area_names(_folder_beside(data, reader), DEFAULT_CENSUS)
    findings = (
        config.findings
        + lists.findings
        + publication.findings
        + geography.findings
        + names.findings
    )
    if config.value is None or lists.value is None:
        return Checked(None, findings)
    if geography.value is None:  # what is wrong with the budgets doesn't need it
        nowhere = dict.fromkeys(config.value.passes, Areas.none(config.value.census))
        return Checked(
            None, findings + plan_of(PublicFiles(config.value, lists.value, nowhere)).errors
        )
    whole, number_of = geography.value.geography, config.value.census.part.ids.number
    parts_of = {
        which: map(number_of, config.value.parts_of(which)) for which in config.value.passes
    }
    of_pass = {which: whole.of_parts(parts) for which, parts in parts_of.items()}
    findings += _parts_without_areas(config.value, of_pass)
    names_path = area_names_path(_folder_beside(data, reader))
    paths += geography.value.paths
    paths += () if names_path is None else (names_path,)
    oids, geographies = geography.value.oids, MappingProxyType(of_pass)
    files = PublicFiles(config.value, lists.value, geographies, paths, names.value or {}, oids)
    files = replace(files, publication=publication.value)
    return _with_totals(
        files, findings, whole, _selecting_totals(config.value, data, reader, totals, whole)
    )


def about_path(parameters: Path) -> tuple[Path, ...]:
    """The file about.toml, if the parameters have it."""
    path = parameters / ABOUT_FILE
    return (path,) if path.is_file() else ()


def _specified_files(
    compiled: Checked[Compiled], data: Path, totals: GivenTotals | None
) -> Checked[PublicFiles]:
    """The public files of a specification: all of them are in its folder.

    The exception is published totals in DATA.
    """
    given = compiled.require()
    assert given.areas is not None
    files = PublicFiles(given.config, given.lists, given.areas_of_pass, given.paths, given.names)
    files = replace(files, publication=given.publication)
    findings = compiled.findings + warnings_of_places(given.paths, data)
    chosen = _specified_totals(given.config, given.paths[0].parent, data, totals)
    return _with_totals(files, findings, given.areas, chosen)


def _specified_totals(
    config: RunConfig, parameters: Path, data: Path, given: GivenTotals | None
) -> GivenTotals | None:
    """The totals that were given, by the ids of this census, or those in PARAMETERS or DATA."""
    name = config.product.totals_table
    if name is None or given is not None:
        chosen = _selecting_totals(config, data, ReaderKind.CSV, given, Areas.none(config.census))
        if chosen is None or chosen.totals.value is None:
            return chosen
        return replace(
            chosen,
            totals=Checked(chosen.totals.value.by_ids_of(config.census), chosen.totals.findings),
        )
    path = find_specified_totals(name, parameters, data)
    if path is None:
        message = "there is no such file in PARAMETERS or DATA. Add it, or give --totals."
        return GivenTotals(Checked(None, (Finding(Severity.ERROR, name, "", message),)))
    return GivenTotals(read_specified_totals(path, config.census), {path.name: path})


def _with_totals(
    files: PublicFiles, findings: tuple[Finding, ...], whole: Areas, chosen: GivenTotals | None
) -> Checked[PublicFiles]:
    """The files with the totals that choose tables, if there are any.

    There is no value if a finding is an error.
    """
    if chosen is not None:
        findings += chosen.totals.findings
        if chosen.totals.value is not None:
            of_pass = files.geography_of_pass
            name = next(iter(chosen.files)) if len(chosen.files) == 1 else "the published totals"
            findings += check_totals(
                name, chosen.totals.value, files.config, files.lists, whole, of_pass
            )
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
        beside = find_published_totals(
            _folder_beside(data, reader), product.totals_table, FindingsOf("")
        )
        if beside is not None:
            findings.warning("", "lies in DATA and is not used: --totals stands for it.")
        return replace(
            given, totals=Checked(given.totals.value, given.totals.findings + findings.findings)
        )
    folder = _totals_folder(data, reader)
    if folder is not None:
        files = find_totals_in(folder, findings)
    else:
        files = find_published_totals(_folder_beside(data, reader), product.totals_table, findings)
    if files is None:
        return GivenTotals(Checked(None, findings.findings))
    read = read_published_totals(files, product.totals_table, config.census, whole)
    return GivenTotals(read, {path.name: path for path in files.parts})


def read_public_lists(parameters: Path) -> Checked[PublicLists]:
    """The lists of a parameters directory, and every finding about them."""
    if is_specification(parameters):
        compiled = compile_folder(parameters)
        return Checked(None if compiled.value is None else compiled.value.lists, compiled.findings)
    return public_lists.read_lists(parameters)


def list_paths(parameters: Path) -> tuple[Path, ...]:
    """The files that the lists are read from."""
    return public_lists.paths_of_lists(parameters)


def read_codes(parameters: Path) -> Checked[Mapping[str, str]]:
    """The codes that records may hold, with their names."""
    return public_lists.codes_and_names(parameters)


def write_short_form(lists: PublicLists, file: Path, *, overwrite: bool) -> None:
    """Write which codes belong to which group, one row a group."""
    public_lists.write_short_lists(lists, file, overwrite=overwrite)


@dataclass(frozen=True, slots=True)
class _GivenGeography:
    """The areas, the files that list them, and ids of areas.

    By these ids, records in a dialect's own form name the areas.
    """

    geography: Areas
    paths: tuple[Path, ...]
    oids: OwnIds | None = None


def read_given_geography(
    data: Path, reader: ReaderKind, config: RunConfig | None
) -> Checked[_GivenGeography]:
    """The geography of a directory, or of a CEF's .ini file for the states of a configuration."""
    if reader is ReaderKind.CEF:
        return _of_cef(data, None if config is None else config.parts_asked_for)
    read = grfc.read_geography(data)
    return Checked(
        None if read.value is None else _GivenGeography(read.value, grfc.geography_paths(data)),
        read.findings,
    )


def _of_cef(data: Path, states: Iterable[str] | None) -> Checked[_GivenGeography]:
    """The geography that a CEF's .ini file names, for these states."""
    # Few runs read a CEF.
    from safetab.inputs.records.cef.geography import read_cef_geography  # noqa: PLC0415

    reader = read_reader_file(data)
    if reader.value is None:
        return Checked(None, reader.findings)
    wanted = tuple(reader.value.states_there if states is None else states)
    paths = reader.value.geography_of(wanted)
    if paths.value is None:
        return Checked(None, reader.findings + paths.findings)
    read = read_cef_geography(paths.value, wanted)
    findings = reader.findings + paths.findings + read.findings
    if read.value is None:
        return Checked(None, findings)
    return Checked(_GivenGeography(read.value.geography, paths.value, read.value.oids), findings)


def _folder_beside(data: Path, reader: ReaderKind) -> Path:
    """The folder of files that accompany the data.

    It is DATA itself, or the folder of a CEF's .ini file.
    """
    return data.parent if reader is ReaderKind.CEF else data


def _parts_without_areas(config: RunConfig, of_pass: Mapping[Pass, Areas]) -> tuple[Finding, ...]:
    """A pass without any area is an error; a part without one is a warning."""
    return grfc.states_without_blocks(config, of_pass)


def _totals_folder(data: Path, reader: ReaderKind) -> Path | None:
    """The folder of published totals that DATA names, if it names one."""
    ini = read_reader_file(data).value if reader is ReaderKind.CEF else None
    return None if ini is None else ini.totals
