"""The public lists that a specification names, read and checked, all findings together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetab.dialects.specification.area_tables import AreaTable, read_area_table
from safetab.dialects.specification.group_lists import (
    Codes,
    NamedGroup,
    groups_by_columns,
    groups_of_files,
    read_code_list,
    refuse_wrong_groups,
)
from safetab.foundation.findings import Checked, FindingsOf
from safetab.specification.reading import lists_folder, public_file
from safetab.specification.values import PRIVACY_FILE, SPECIFICATION_FILE, Specification


@dataclass(frozen=True, slots=True)
class GivenLists:
    """What the lists say, in texts; without a table if the areas are in DATA."""

    table: AreaTable | None
    codes: Mapping[str, Codes]  # by classification
    groups: list[NamedGroup]
    paths: tuple[Path, ...]


def read_lists(spec: Specification, parameters: Path) -> Checked[GivenLists]:
    """The lists of a specification, and every finding about them."""
    folder, has_table = lists_folder(parameters), bool(Path(spec.areas.file or "").suffix)
    names = [name for name in file_names(spec) if has_table or name != spec.areas.file]
    of_file = {name: FindingsOf(name) for name in (*names, SPECIFICATION_FILE)}
    paths = {name: public_file(folder, name, "", of_file[name]) for name in names}
    there = {name: path for name, path in paths.items() if path is not None}
    table = None
    if spec.areas.file in there:
        table = read_area_table(spec, there[spec.areas.file], of_file[spec.areas.file])
    codes = {
        each.name: read_code_list(each, spec, there[each.file], of_file[each.file])
        for each in spec.classifications
        if each.file in there
    }
    groups = _groups(spec, codes, there, of_file)
    if has_table or not spec.areas.file:  # the Bureau has groups without codes
        refuse_wrong_groups(groups, spec, of_file[SPECIFICATION_FILE])
    # Two classifications may have one list: what is wrong with it is said once.
    findings = tuple(dict.fromkeys(finding for each in of_file.values() for finding in each.findings))
    if any(finding.is_error for finding in findings):
        return Checked(None, findings)
    of_spec = [parameters / SPECIFICATION_FILE, folder / SPECIFICATION_FILE, parameters / PRIVACY_FILE]
    read = dict.fromkeys([*(path for path in of_spec if path.exists()), *there.values()])
    return Checked(GivenLists(table, codes, groups, tuple(read)), findings)


def file_names(spec: Specification) -> tuple[str, ...]:
    """The names of the lists of a specification, each once."""
    of_groups = [name for name in (spec.groups.file, spec.groups.codes) if name is not None]
    return tuple(dict.fromkeys([spec.areas.file, *(each.file for each in spec.classifications), *of_groups]))


def _groups(
    spec: Specification, codes: Mapping[str, Codes], paths: Mapping[str, Path], findings: Mapping[str, FindingsOf]
) -> list[NamedGroup]:
    if len(codes) < len(spec.classifications):
        return []
    if spec.groups.file is None:
        return groups_by_columns(spec, codes, findings)
    has_both = {spec.groups.file, spec.groups.codes} <= paths.keys()
    return groups_of_files(spec, codes, paths, findings) if has_both else []
