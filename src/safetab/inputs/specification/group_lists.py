"""The code lists and groups of a specification, as public lists."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from safetab.foundation.findings import FindingsOf, shortened
from safetab.inputs.specification.public_tables import (
    names_of,
    read_columns,
    refuse,
    refuse_misshapen_ids,
    refuse_strange_names,
    repeated,
)
from safetab.model.census.census import Census
from safetab.model.census.groups import CharacteristicIteration, GroupLevel, Members, PublicLists
from safetab.model.specification.values import (
    COMMON,
    SPECIFICATION_FILE,
    CodeList,
    Groups,
    LevelOfGroups,
    Specification,
)

_CODE, _NAME = "code", "name"
_GROUP_COLUMNS = ("group", "name", "level", "classification", "members", "list")
_CODES_COLUMNS = ("group", "code")
_ONLY_END = "-only"
"""The ending of the codes of groups with only their own codes, if groups are made from a column."""

_FindingsIn = Mapping[str, FindingsOf]
"""The findings about each file, by its name."""


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes that a record may hold of one classification, and the rows of its list."""

    names: Mapping[str, str]
    columns: Mapping[str, Sequence[str]]  # further columns, in the order of `names`


@dataclass(frozen=True, slots=True)
class NamedGroup:
    """A group as the lists say it, in texts."""

    code: str
    name: str
    level: str
    classification: str
    members: str
    listed: str
    codes: frozenset[str]

    @property
    def kind(self) -> str:
        """The name of its kind."""
        return (
            self.classification
            if self.members == Members.ANY.value
            else f"{self.classification} {self.members}"
        )


def read_code_list(
    classification: CodeList, spec: Specification, path: Path, findings: FindingsOf
) -> Codes:
    """The codes of a classification.

    They are those of its file that match its pattern and are not residual.
    """
    own = (level for level in spec.groups.levels if level.of == classification.name)
    further = [name for level in own for name in (level.column, level.names) if name is not None]
    texts = read_columns(path, [_CODE, _NAME, *further], findings)
    if texts is None:
        return Codes({}, {})
    columns = {name: column.to_pylist() for name, column in texts.items()}
    pattern = re.compile(classification.pattern or ".*", re.DOTALL)
    left_out = frozenset(classification.residual)
    rows = [
        row
        for row, code in enumerate(columns[_CODE])
        if code not in left_out and pattern.fullmatch(code)
    ]
    kept = {name: [column[row] for row in rows] for name, column in columns.items()}
    codes = kept[_CODE]
    refuse(
        _CODE, repeated(codes), "a code is listed more than once. Keep one row for each.", findings
    )
    _refuse_misshapen(classification, codes, findings)
    missing = (code for code in codes if code and code in spec.records.missing)
    refuse(_CODE, missing, "in records.missing, too. Keep it in one place.", findings)
    if not codes:
        findings.error(
            _CODE,
            f"no code is left for {classification.name}: its pattern and residual leave all out.",
        )
    return Codes(dict(zip(codes, kept[_NAME], strict=True)), {name: kept[name] for name in columns})


def _refuse_misshapen(classification: CodeList, codes: Sequence[str], findings: FindingsOf) -> None:
    if "" in codes:
        findings.error(_CODE, "a code is empty. Fill it, or take the row out.")
    refuse_misshapen_ids(_CODE, pa.array(codes, pa.string()), findings)
    first, separator = classification.first, classification.separator
    if first is not None:
        problem = (
            f"longer than `first = {first}`, so no record can have it."
            " Shorten the codes of the list."
        )
        refuse(_CODE, (code for code in codes if len(code) > first), problem, findings)
    if separator is not None:
        divided = (code for code in codes if separator in code)
        refuse(_CODE, divided, f'holds "{separator}", which divides answers.', findings)


def groups_by_columns(
    spec: Specification, codes: Mapping[str, Codes], findings: _FindingsIn
) -> list[NamedGroup]:
    """The groups that columns of code lists make."""
    found = list[NamedGroup]()
    for level in spec.groups.levels:
        # Checked when the file was read.
        assert level.of is not None and level.column is not None  # noqa: PT018
        of_level, own = codes[level.of], spec.classification(level.of)
        if level.column not in of_level.columns:
            continue  # the list could not be read
        column = level.names or level.column
        groups, names = of_level.columns[level.column], of_level.columns[column]
        inside = defaultdict[str, set[str]](set)
        for code, value in zip(of_level.columns[_CODE], groups, strict=True):
            if value:
                inside[value].add(code)
        named = [pair for pair in zip(groups, names, strict=True) if pair[0]]
        # a code with two names is listed twice, which was said
        name_of = (
            dict(named) if level.column == _CODE else names_of(column, named, findings[own.file])
        )
        refuse_misshapen_ids(level.column, pa.array(inside, pa.string()), findings[own.file])
        if level.names is not None:
            refuse_strange_names(level.names, name_of.items(), findings[own.file])
        for value, inner in inside.items():
            found += _groups_of_value(spec.groups, level, value, name_of[value], frozenset(inner))
    return found


def _groups_of_value(
    groups: Groups, level: LevelOfGroups, value: str, name: str, codes: frozenset[str]
) -> Iterable[NamedGroup]:
    assert level.of is not None
    for members in level.members:
        is_only = members == Members.ONLY.value
        words = (groups.only_words if is_only else groups.any_words).replace("{name}", name)
        code = f"{level.code_prefix}{value}{_ONLY_END if is_only else ''}"
        yield NamedGroup(code, words, level.name, level.of, members, COMMON, codes)


def groups_of_files(
    spec: Specification,
    codes: Mapping[str, Codes],
    paths: Mapping[str, Path],
    findings: _FindingsIn,
) -> list[NamedGroup]:
    """The groups that two files list, with findings about what they name."""
    # Checked when the file was read.
    assert spec.groups.file is not None and spec.groups.codes is not None  # noqa: PT018
    of_groups, of_codes = findings[spec.groups.file], findings[spec.groups.codes]
    rows = read_columns(
        paths[spec.groups.file], _GROUP_COLUMNS[:-1], of_groups, may_have=_GROUP_COLUMNS
    )
    pairs = read_columns(
        paths[spec.groups.codes], _CODES_COLUMNS, of_codes, may_have=_CODES_COLUMNS
    )
    if rows is None or pairs is None:
        return []
    lists = rows["list"].to_pylist() if "list" in rows else [COMMON] * len(rows["group"])
    inside = defaultdict[str, set[str]](set)
    for group, code in zip(pairs["group"].to_pylist(), pairs["code"].to_pylist(), strict=True):
        inside[group].add(code)
    columns = [rows[name].to_pylist() for name in _GROUP_COLUMNS[:-1]]
    found = [
        NamedGroup(
            code,
            name,
            level,
            classification,
            members,
            listed or COMMON,
            frozenset(inside.get(code, ())),
        )
        for (code, name, level, classification, members), listed in zip(
            zip(*columns, strict=True), lists, strict=True
        )
    ]
    strangers = inside.keys() - {group.code for group in found}
    refuse("group", sorted(strangers), f"not in {spec.groups.file}.", of_codes)
    allowed = {
        "level": {level.name for level in spec.groups.levels},
        "classification": {each.name for each in spec.classifications},
        "members": {members.value for members in Members},
        "list": {listed.name for listed in spec.groups.lists},
    }
    for column, values in allowed.items():
        given = {getattr(group, "listed" if column == "list" else column) for group in found}
        refuse(
            column,
            sorted(given - values),
            f"must be one of {', '.join(sorted(values))}.",
            of_groups,
        )
    right = [group for group in found if group.classification in codes]
    for group in right:
        unknown = group.codes - codes[group.classification].names.keys()
        if unknown:
            problem = (
                f"{shortened(sorted(unknown))} of group {group.code}:"
                f" not a code of {group.classification}."
            )
            of_codes.error("code", problem)
    return right


def refuse_wrong_groups(
    groups: Sequence[NamedGroup], spec: Specification, of_file: _FindingsIn
) -> None:
    """Report groups without codes, and codes that clash.

    A clash is the code of a group that is given twice, or a code in two groups of a kind at an area
    kind.
    """
    findings = of_file[spec.groups.file or SPECIFICATION_FILE]
    places = defaultdict[str, dict[str, None]](dict)
    for group in groups:
        file = spec.groups.file or spec.classification(group.classification).file
        places[group.code][f"{group.level} in {file}"] = None
    again = (
        f"{code} ({' and '.join(places[code])})"
        for code in repeated(group.code for group in groups)
    )
    problem = (
        "several groups have this code. Keep one row for each,"
        " or give a level another `code_prefix`."
    )
    refuse("group", again, problem, findings)
    if any(not group.code for group in groups):
        findings.error("group", "the code of a group is empty. Fill it, or take the row out.")
    if spec.groups.file or not any(of_file[each.file].has_errors for each in spec.classifications):
        refuse_misshapen_ids(
            "group", pa.array([group.code for group in groups], pa.string()), findings
        )
        refuse_strange_names("name", ((group.code, group.name) for group in groups), findings)
    empty = (group.code for group in groups if not group.codes)
    refuse("group", empty, "no code leads to the group. Give it one, or leave it out.", findings)
    _refuse_shared_codes(groups, spec, of_file[spec.groups.codes or SPECIFICATION_FILE])


def _refuse_shared_codes(
    groups: Sequence[NamedGroup], spec: Specification, findings: FindingsOf
) -> None:
    """Report codes in two groups of a kind and level at a kind of area.

    Stability rests on it: there, a code is in at most one such group.
    """
    reported, seen = set[tuple[str, str]](), list[set[str]]()
    for area in spec.areas.levels:
        lists = {
            listed.name
            for listed in spec.groups.lists
            if listed.areas is None or area.name in listed.areas
        }
        if lists in seen:
            continue
        seen.append(lists)
        holder: dict[tuple[str, str, str], str] = {}
        for group in (group for group in groups if group.listed in lists):
            for code in sorted(group.codes):
                first = holder.setdefault((group.level, group.kind, code), group.code)
                if first != group.code and (first, group.code) not in reported:
                    reported.add((first, group.code))
                    problem = (
                        f"code {code} is in {first} and in {group.code},"
                        " which share level and members."
                    )
                    findings.error(
                        "code", f"{problem} A record would be counted twice: keep it in one."
                    )


def public_lists_of(
    groups: Sequence[NamedGroup], codes: Mapping[str, Codes], census: Census
) -> PublicLists:
    """The lists as the engines take them: groups in the order of their codes as texts."""
    kinds = {kind.name: kind for kind in census.group_kinds}
    levels: dict[str, GroupLevel] = {level.name: level for level in census.group_levels}
    ordered = sorted(groups, key=lambda group: group.code.encode())
    names: dict[str, str] = {}
    for of_list in codes.values():
        names |= of_list.names
    return PublicLists(
        names,
        tuple(
            CharacteristicIteration(
                group.code,
                group.name,
                levels[group.level],
                kinds[group.kind],
                census.group_list(group.listed),
            )
            for group in ordered
        ),
        {group.code: group.codes for group in ordered},
    )
