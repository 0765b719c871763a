"""Compiles the specification of a parameters folder: its configuration, its lists and its areas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from safetab.foundation.findings import Checked, Finding, FindingsOf
from safetab.inputs.bureau.specified import (
    check_bureaus,
    config_of_bureau,
    is_of_the_bureau,
    lists_of_bureau,
)
from safetab.inputs.readers.area_names import AreaNames
from safetab.inputs.specification.area_tables import GivenLists, read_lists
from safetab.inputs.specification.group_lists import NamedGroup, public_lists_of
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import Areas
from safetab.model.census.census import Census
from safetab.model.census.groups import PublicLists
from safetab.model.census_value import census_of, config_of
from safetab.model.config.run_config import RunConfig
from safetab.model.products.record import record_layout_of
from safetab.model.products.record_integers import RecordIntegers
from safetab.model.products.specified import product_of
from safetab.model.specification.reading import Publication, publication_of, read_sound_parts
from safetab.model.specification.values import SPECIFICATION_FILE, Specification


@dataclass(frozen=True, slots=True)
class Compiled:
    """All that the public files of a specification say."""

    config: RunConfig
    lists: PublicLists
    areas: Areas | None = None  # None: they are in DATA, in the Bureau's form
    areas_of_pass: Mapping[Pass, Areas] = field(default_factory=dict)
    names: AreaNames = field(default_factory=dict)
    paths: tuple[Path, ...] = ()
    publication: Publication | None = None


def compile_folder(parameters: Path) -> Checked[Compiled]:
    """The specification of a parameters folder, and every finding about it and its lists."""
    spec, found = read_sound_parts(parameters)
    if spec is None:
        return Checked(None, found)
    own, lists = FindingsOf(SPECIFICATION_FILE), read_lists(spec, parameters)
    check_bureaus(spec, own)
    if lists.value is None or own.has_errors or any(finding.is_error for finding in found):
        return Checked(None, found + lists.findings + own.findings)
    if is_of_the_bureau(spec):
        names = {
            code: name
            for of_list in lists.value.codes.values()
            for code, name in of_list.names.items()
        }
        groups = lists_of_bureau(lists.value.groups, names)
        of_bureau = Compiled(
            config_of_bureau(spec),
            groups,
            paths=lists.value.paths,
            publication=publication_of(spec.about),
        )
        return Checked(of_bureau, found + lists.findings)
    compiled = _compiled(spec, lists.value, own)
    return Checked(compiled, found + lists.findings + own.findings)


def _compiled(spec: Specification, given: GivenLists, findings: FindingsOf) -> Compiled | None:
    """The specification and its lists as values that a run uses, or None and a finding."""
    table, codes, groups = given.table, given.codes, given.groups
    assert table is not None
    kinds = frozenset(group.kind for group in groups)
    census = census_of(spec, replace(table.facts, group_kinds=kinds))
    _warn_of_levels_without_groups(spec, census, groups, findings)
    try:
        record = record_layout_of(
            spec, {name: of_list.names for name, of_list in codes.items()}, table.keys
        )
        RecordIntegers(record)  # raises
        product = product_of(spec, record)
    except (
        ValueError
    ) as problem:  # what neither the file nor a list shows by itself, such as too many values
        findings.error("", str(problem))
        return None
    areas = table.areas(census.kinds, census.part)
    areas_of_pass = {one: areas.chosen(table.is_of_pass[one.name]) for one in census.passes}
    parts = {one: _ids_of_parts(census, areas_of_pass[one]) for one in census.passes}
    config = config_of(spec, census, product, parts)
    names = {
        (level, text): name
        for level in census.area_levels
        for text, name in table.names[level.kind.name].items()
    }
    lists = public_lists_of(groups, codes, census)
    publication = publication_of(spec.about)
    return Compiled(
        config, lists, areas, MappingProxyType(areas_of_pass), names, given.paths, publication
    )


def _ids_of_parts(census: Census, areas: Areas) -> tuple[str, ...]:
    return tuple(census.part.ids.text(number) for number in areas.entities(census.part).tolist())


def _warn_of_levels_without_groups(
    spec: Specification, census: Census, groups: list[NamedGroup], findings: FindingsOf
) -> None:
    """Warn of budgets for which no group exists."""
    for choice in spec.privacy.levels:
        for label in choice.areas:
            lists = {listed.name for listed in census.lists_at(census.area_level(label).kind)}
            for level in choice.groups:
                if not any(group.level == level and group.listed in lists for group in groups):
                    findings.warning(
                        "privacy.levels",
                        f"{level} at {label}: no group of this level is listed there.",
                    )


def warnings_of_places(paths: tuple[Path, ...], data: Path) -> tuple[Finding, ...]:
    """A warning for each public file that lies inside DATA."""
    inside = FindingsOf(SPECIFICATION_FILE)
    for path in paths:
        if path.resolve().is_relative_to(data.resolve()):
            advice = (
                "The guarantee does not hold if it was made from the records."
                " Keep public files apart."
            )
            inside.warning(path.name, f"lies inside DATA. {advice}")
    return inside.findings
