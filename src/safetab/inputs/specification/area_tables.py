"""The table of areas of a specification.

It has rows sorted by key, ids and names of every level, and passes. `read_lists` reads it with the
other public lists that the specification names, all findings together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.foundation.findings import Checked, FindingsOf
from safetab.inputs.specification.group_lists import (
    Codes,
    NamedGroup,
    groups_by_columns,
    groups_of_files,
    read_code_list,
    refuse_wrong_groups,
)
from safetab.inputs.specification.public_tables import (
    Texts,
    names_of,
    read_columns,
    refuse,
    refuse_misshapen_ids,
    refuse_strange_names,
    repeated,
)
from safetab.model.census.area_levels import AreaKind, TextIds
from safetab.model.census.areas import NO_ENTITY, Areas
from safetab.model.census_value import PublicFacts, passes_of
from safetab.model.specification.reading import lists_folder, public_file
from safetab.model.specification.values import (
    PRIVACY_FILE,
    SPECIFICATION_FILE,
    LevelOfAreas,
    Specification,
)

_FEWEST_PARTS, _MOST_PARTS = 4, 1_000
_Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _AreaTable:
    """The rows of a table of areas in the order of their keys, which numbers them from 0."""

    keys: tuple[tuple[str, ...], ...]
    ids: Mapping[str, TextIds]  # of each level, by name
    number_of: Mapping[str, _Numbers]  # the entity that each row lies in, or NO_ENTITY
    names: Mapping[str, Mapping[str, str]]  # of entities, by level and id
    is_of_pass: Mapping[str, NDArray[np.bool_]]
    other: int | None  # the row of the area that unknown ids count in

    @property
    def facts(self) -> PublicFacts:
        """The facts of the table that a census needs to know."""
        return PublicFacts(self.ids, _parents(self.number_of), _part(self.number_of))

    def areas(self, kinds: Sequence[AreaKind], part: AreaKind) -> Areas:
        """The table as the engines take it."""
        number_of = {kind: self.number_of[kind.name] for kind in kinds}
        if part not in number_of:
            number_of[part] = np.zeros(len(self.keys), dtype=np.int64)
        return Areas.of_numbers(np.arange(len(self.keys)), number_of, part)


def read_area_table(spec: Specification, path: Path, findings: FindingsOf) -> _AreaTable | None:
    """The table of areas of a specification, or None and findings."""
    texts = read_columns(path, _columns(spec), findings)
    if texts is None:
        return None
    key = [column.table for column in spec.areas.key]
    texts = _sorted_by(key, texts)
    missing = pa.array(["", *spec.records.missing], pa.string())
    advice = "Fill them, or take their text out of records.missing."
    for name in key:
        refuse_misshapen_ids(name, texts[name], findings)
        _refuse_empty(name, pc.is_in(texts[name], value_set=missing), advice, findings)
    keys = tuple(zip(*(texts[name].to_pylist() for name in key), strict=True))
    again = dict.fromkeys(" ".join(one) for before, one in pairwise(keys) if one == before)
    refuse(", ".join(key), again, "an area is listed more than once. Keep one row.", findings)
    ids, number_of, names = (
        dict[str, TextIds](),
        dict[str, _Numbers](),
        dict[str, Mapping[str, str]](),
    )
    for level in spec.areas.levels:
        ids[level.name], number_of[level.name], names[level.name] = _level(level, texts, findings)
    is_of_pass = _rows_of_passes(spec, texts, findings)
    other = _other(spec, keys, findings)
    if findings.has_errors:
        return None
    return _AreaTable(keys, ids, number_of, names, is_of_pass, other)


def _columns(spec: Specification) -> list[str]:
    areas = spec.areas
    columns = [column.table for column in areas.key]
    for level in areas.levels:
        columns += [*level.id, *([] if level.names is None else [level.names])]
    return columns + [column for one in areas.passes for column in one.where]


def _sorted_by(key: Sequence[str], texts: Texts) -> Texts:
    """The rows in the order of their keys, column by column."""
    if len(key) == 1 and pc.all(pc.less_equal(texts[key[0]][:-1], texts[key[0]][1:])).as_py():
        return texts  # as most agencies write them
    order = pc.sort_indices(pa.table(dict(texts)), sort_keys=[(name, "ascending") for name in key])
    return {name: column.take(order) for name, column in texts.items()}


def _level(
    level: LevelOfAreas, texts: Texts, findings: FindingsOf
) -> tuple[TextIds, _Numbers, Mapping[str, str]]:
    """The ids of a level, the number of each row's entity, and the names of its entities."""
    rows = len(next(iter(texts.values())))
    if level.whole is not None:
        named = {level.whole: level.title} if level.title else {}
        return TextIds((level.whole,)), np.zeros(rows, dtype=np.int64), named
    columns = [texts[name] for name in level.id]
    is_inside = pc.invert(pc.is_in(columns[-1], value_set=pa.array(level.nowhere, pa.string())))
    for name, column in zip(level.id, columns, strict=True):
        advice = "Fill them, or say with `nowhere` what means that an area is in none."
        _refuse_empty(name, pc.and_(is_inside, pc.equal(column, "")), advice, findings)
    joined = columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, "")
    refuse_misshapen_ids(", ".join(level.id), joined.filter(is_inside), findings)
    encoded = joined.dictionary_encode()
    position = encoded.indices.to_numpy(zero_copy_only=False)
    inside = np.flatnonzero(is_inside.to_numpy(zero_copy_only=False))
    if not len(inside):
        findings.error(f"level {level.name}", "no row of the table is in an area of this level.")
        return TextIds(()), np.full(rows, NO_ENTITY, dtype=np.int64), {}
    spelled = encoded.dictionary.to_pylist()
    is_used = np.bincount(position[inside], minlength=len(spelled))
    ids = TextIds(
        tuple(sorted({spelled[each] for each in np.flatnonzero(is_used).tolist()}, key=str.encode))
    )
    listed = {text: number for number, text in enumerate(ids.texts)}
    numbers = np.full(rows, NO_ENTITY, dtype=np.int64)
    numbers[inside] = np.array([listed.get(text, NO_ENTITY) for text in spelled])[position[inside]]
    if len(columns) > 1:
        _refuse_alike(level, columns, joined, is_inside, findings)
    return ids, numbers, _names(level, texts, ids, numbers, findings)


def _refuse_empty(name: str, is_empty: pa.Array, advice: str, findings: FindingsOf) -> None:
    rows = pc.sum(is_empty).as_py()
    if rows:
        findings.error(name, f"empty in {rows:,} {'row' if rows == 1 else 'rows'}. {advice}")


def _refuse_alike(
    level: LevelOfAreas,
    columns: Sequence[pa.Array],
    joined: pa.Array,
    is_inside: pa.Array,
    findings: FindingsOf,
) -> None:
    """Report ids that different parts spell, such as 1 and 23, and 12 and 3."""
    apart = pa.table([*columns, joined], names=[*map(str, range(len(columns))), "id"]).filter(
        is_inside
    )
    distinct = apart.group_by(apart.column_names).aggregate([]).column("id").to_pylist()
    problem = f"different values of {', '.join(level.id)} spell it."
    refuse(f"level {level.name}", repeated(distinct), problem, findings)


def _names(
    level: LevelOfAreas, texts: Texts, ids: TextIds, numbers: _Numbers, findings: FindingsOf
) -> Mapping[str, str]:
    """The name of each entity of a level, by id; an entity with two names is a finding."""
    if level.names is None:
        return {}
    encoded, inside = texts[level.names].dictionary_encode(), numbers != NO_ENTITY
    name_of_row, numbers = encoded.indices.to_numpy(zero_copy_only=False)[inside], numbers[inside]
    name_of = np.zeros(len(ids.texts), dtype=np.int64)
    name_of[numbers] = name_of_row
    spelled = encoded.dictionary.to_pylist()
    is_wrong = np.isin(numbers, numbers[name_of[numbers] != name_of_row])  # entities with two names
    pairs = zip(numbers[is_wrong].tolist(), name_of_row[is_wrong].tolist(), strict=True)
    names_of(level.names, ((ids.text(number), spelled[name]) for number, name in pairs), findings)
    names = {text: spelled[name] for text, name in zip(ids.texts, name_of.tolist(), strict=True)}
    refuse_strange_names(level.names, names.items(), findings)
    return names


def _rows_of_passes(
    spec: Specification, texts: Texts, findings: FindingsOf
) -> dict[str, NDArray[np.bool_]]:
    """The rows of the table in each pass; empty or overlapping passes are findings."""
    rows = len(next(iter(texts.values())))
    taken = np.zeros(rows, dtype=np.bool_)
    found: dict[str, NDArray[np.bool_]] = {}
    for one in passes_of(spec):
        is_there = np.ones(rows, dtype=np.bool_)
        for column, values in one.where.items():
            is_there &= pc.is_in(texts[column], value_set=pa.array(values, pa.string())).to_numpy(
                zero_copy_only=False
            )
        if not is_there.any():
            findings.error(
                f"pass {one.name}", "no row of the table is in this pass. Change its `where`."
            )
        if (taken & is_there).any():
            findings.error(
                f"pass {one.name}", "some areas are in another pass too. Passes must not overlap."
            )
        taken |= is_there
        found[one.name] = is_there
    return found


def _other(
    spec: Specification, keys: Sequence[tuple[str, ...]], findings: FindingsOf
) -> int | None:
    other = spec.areas.other
    if other is not None and other not in keys:
        findings.error("areas.other", f"{' '.join(other)} is not a row of the table. Add it.")
    return keys.index(other) if other in keys else None


def _parents(number_of: Mapping[str, _Numbers]) -> Mapping[str, str]:
    """The parent of each level, if it has one.

    It is the level with most areas of which each holds whole areas of the child. Of two levels with
    the same areas, the first is the parent.
    """
    names = list(number_of)
    sizes = {name: int(numbers.max(initial=NO_ENTITY)) + 1 for name, numbers in number_of.items()}
    parents: dict[str, str] = {}
    for place, name in enumerate(names):
        others = [other for other in names if other != name]
        others = [
            other for other in others if sizes[other] < sizes[name] or names.index(other) < place
        ]
        coarser = [other for other in others if _holds(number_of[other], number_of[name])]
        if coarser:
            parents[name] = max(coarser, key=lambda other: (sizes[other], names.index(other)))
    return parents


def _holds(outer: _Numbers, inner: _Numbers) -> bool:
    """Whether every entity of the inner level lies in one entity of the outer."""
    is_inside = inner != NO_ENTITY
    if not is_inside.all():
        inner, outer = inner[is_inside], outer[is_inside]
    around = np.full(int(inner.max(initial=NO_ENTITY)) + 1, NO_ENTITY, dtype=np.int64)
    around[inner] = outer
    return bool((outer != NO_ENTITY).all() and (around[inner] == outer).all())


def _part(number_of: Mapping[str, _Numbers]) -> str | None:
    """The coarsest level that covers every area and has several entities, but not too many."""
    sizes = {
        name: int(numbers.max()) + 1
        for name, numbers in number_of.items()
        if (numbers != NO_ENTITY).all()
    }
    fitting = [name for name, size in sizes.items() if _FEWEST_PARTS <= size <= _MOST_PARTS]
    return min(fitting, key=sizes.__getitem__, default=None)


@dataclass(frozen=True, slots=True)
class GivenLists:
    """The content of the lists, in texts; without a table if the areas are in DATA."""

    table: _AreaTable | None
    codes: Mapping[str, Codes]  # by classification
    groups: list[NamedGroup]
    paths: tuple[Path, ...]


def read_lists(spec: Specification, parameters: Path) -> Checked[GivenLists]:
    """The lists of a specification, and every finding about them."""
    folder, has_table = lists_folder(parameters), bool(Path(spec.areas.file or "").suffix)
    names = [name for name in _file_names(spec) if has_table or name != spec.areas.file]
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
        refuse_wrong_groups(groups, spec, of_file)
    # Two classifications may have one list: what is wrong with it is said once.
    findings = tuple(
        dict.fromkeys(finding for each in of_file.values() for finding in each.findings)
    )
    if any(finding.is_error for finding in findings):
        return Checked(None, findings)
    of_spec = [
        parameters / SPECIFICATION_FILE,
        folder / SPECIFICATION_FILE,
        parameters / PRIVACY_FILE,
    ]
    read = dict.fromkeys([*(path for path in of_spec if path.exists()), *there.values()])
    return Checked(GivenLists(table, codes, groups, tuple(read)), findings)


def _file_names(spec: Specification) -> tuple[str, ...]:
    """The names of the lists of a specification, each once."""
    of_groups = [name for name in (spec.groups.file, spec.groups.codes) if name is not None]
    return tuple(
        dict.fromkeys([spec.areas.file, *(each.file for each in spec.classifications), *of_groups])
    )


def _groups(
    spec: Specification,
    codes: Mapping[str, Codes],
    paths: Mapping[str, Path],
    findings: Mapping[str, FindingsOf],
) -> list[NamedGroup]:
    if len(codes) < len(spec.classifications):
        return []
    if spec.groups.file is None:
        return groups_by_columns(spec, codes, findings)
    has_both = {spec.groups.file, spec.groups.codes} <= paths.keys()
    return groups_of_files(spec, codes, paths, findings) if has_both else []
