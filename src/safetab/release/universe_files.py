"""The public universe as files of the release, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from safetab.census.area_levels import AreaLevel, DigitIds, Pass
from safetab.census.census import Census, PopulationGroupLevel
from safetab.census.groups import CharacteristicIteration, PublicLists
from safetab.census.sensitivity import Sensitivity
from safetab.foundation.files import printable
from safetab.outputs.pass_files import TEXT
from safetab.planning.level_design import LevelDesign, StageDesign
from safetab.planning.plan_json import exact
from safetab.privacy.calibration import PrivacyDefinition, Stage, calibrated_noise
from safetab.products.product import Product, Selector, Thresholds
from safetab.release.coterminous import PassSets
from safetab.release.numbers.number_files import Column, columns_of_groups, schema_of_columns
from safetab.release.release_universe import NO_BUDGET, NO_CODES, Entities, ReleaseLevel, Universe, release_levels

_STAGES = (Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY)
_STAGE_COLUMNS = tuple(
    Column(f"{stage.name.lower()}_{what}", TEXT, f"{words} {where}; null if there was none.", is_required=False)
    for stage, where in {
        Stage.STAGE_1: "of stage 1, the total that chooses the table",
        Stage.STAGE_2: "of stage 2, the published numbers of groups measured in two stages",
        Stage.TOTAL_ONLY: "of groups that get a total whatever their size",
    }.items()
    for what, words in (("budget", "Share of the budget (exact)"), ("parameter", "Exact parameter of the noise"))
)
FAMILY = "family"
_TOTALS = {Selector.NOISY_STAGE_1: "Stage-1 total", Selector.PUBLISHED_TOTALS: "Published total of people"}
_ENTITIES_FILE = "universe/entities.parquet"
_GROUPS_FILE = "universe/iterations.parquet"
_CODES_FILE = "universe/codes.parquet"
_CODES_OF_GROUPS_FILE = "universe/iteration-codes.parquet"
_LEVELS_FILE = "universe/levels.parquet"
UNIVERSE_FILES = (_ENTITIES_FILE, _GROUPS_FILE, _CODES_FILE, _CODES_OF_GROUPS_FILE, _LEVELS_FILE)
COTERMINOUS_FILE = "universe/coterminous.parquet"
Described = tuple[str, tuple[Column, ...]]
"""What a file describes, and its columns."""


def geography_level_column(census: Census) -> Column:
    """The column of labels of area levels."""
    return Column("geography_level", TEXT, "Geography level.", values=tuple(one.label for one in census.area_levels))


def universe_files(product: Product, census: Census) -> dict[str, Described]:
    """What each file of the universe describes, and its columns. Only some releases have the last file.

    The columns of the levels include the thresholds of the product's shapes.
    """
    region, region_name, code, name, kind, _ = columns_of_groups(census)
    geography_level, smallest = geography_level_column(census), census.words.smallest_areas
    of_codes = " and ".join(classification.name for classification in census.classifications)
    return {
        _ENTITIES_FILE: (
            "Every geographic entity of the levels that could be tabulated.",
            (geography_level, region, region_name),
        ),
        _GROUPS_FILE: (
            f"Every {census.words.group}, whether it has numbers or not.",
            (code, name, _group_level_column(census), kind, _list_column(census)),
        ),
        _CODES_FILE: (
            f"The {of_codes} codes.",
            (Column("code", TEXT, census.words.code_form), Column("code_name", TEXT, "What the code stands for.")),
        ),
        _CODES_OF_GROUPS_FILE: (
            "Which codes make up which group: one row a pair.",
            (code, Column("code", TEXT, "A code inside the group.")),
        ),
        _LEVELS_FILE: (
            "How each level, a geography level crossed with an iteration level, was measured.",
            _columns_of_levels(product, census),
        ),
        COTERMINOUS_FILE: (
            f"Entities that are made of the same {smallest}.",
            (
                Column("set", pa.int32(), "Number of the set: entities with the same number are made of the same"
                       f" {smallest}."),
                geography_level,
                region,
            ),
        ),
    }  # fmt: skip


def _group_level_column(census: Census) -> Column:
    names = tuple(level.name for level in census.group_levels)
    return Column("iteration_level", TEXT, "How fine the group is.", values=names)


def _list_column(census: Census) -> Column:
    *others, last = (f"{listed.clause or listed.words} ({listed.name})" for listed in census.lists)
    where = f"{', '.join(others)}, or {last}" if others else last
    untabulated = [f"{level.name.lower()} groups" for level in census.group_levels if not level.is_tabulated]
    nowhere = f"; null for {' and '.join(untabulated)}, which never are" if untabulated else ""
    names = tuple(listed.name for listed in census.lists)
    about = f"Where the group is tabulated: {where}{nowhere}."
    return Column("list", TEXT, about, is_required=False, values=names)


def _columns_of_levels(product: Product, census: Census) -> tuple[Column, ...]:
    passes = " or ".join(f"{each.title} ({each.name})" for each in census.passes)
    families = tuple(family.name for family in product.families)
    total = f"{_TOTALS[product.selector]} from which on a group gets"
    is_required = not product.has_several_families
    thresholds = (
        Column(f"threshold_{shape.label}", pa.int64(), f"{total} {shape.words}.", is_required=is_required)
        for family in product.families
        for shape in family.finer
    )
    return (
        Column("pass", TEXT, f"{passes}.", values=tuple(each.name for each in census.passes)),
        geography_level_column(census),
        _group_level_column(census),
        *([Column(FAMILY, TEXT, "What the tables show.", values=families)] if product.has_several_families else ()),
        Column("budget", TEXT, "Privacy-loss budget of the level, exact; 0 = not tabulated."),
        Column("not_tabulated", TEXT, "Why the level has no numbers; null if it has.", is_required=False),
        Column("stability", pa.int16(), "Most groups of the level that one record can be in."),
        *thresholds,
        Column("suppression_threshold", pa.int64(), "A group's total that stands alone is published only above"
               " this; null if all are published.", is_required=False),
        Column("noise_mechanism", TEXT, "Distribution of one draw of noise.", is_required=False,
               values=("discrete_gaussian", "discrete_laplace")),
        *_STAGE_COLUMNS,
    )  # fmt: skip


def write_universe(release: Path, universe: Universe, sets: Iterable[PassSets] | None) -> dict[str, int]:
    """Write the files of the universe and return the rows of each."""
    (release / "universe").mkdir(parents=True, exist_ok=True)
    rows_of: dict[str, list[tuple[object, ...]]] = {
        _GROUPS_FILE: [
            (each.code, each.name, each.level.name, each.kind.name, each.listed.name if each.listed else None)
            for each in universe.lists.iterations
        ],
        _CODES_FILE: [*sorted(universe.lists.code_names.items())],
        _CODES_OF_GROUPS_FILE: [
            (iteration.code, code)
            for iteration in universe.lists.iterations
            for code in sorted(universe.lists.codes_of_iteration.get(iteration.code, ()))
        ],
        _LEVELS_FILE: [_level_row(level) for level in universe.levels],
    }
    columns_of = {name: columns for name, (_, columns) in universe_files(universe.product, universe.census).items()}
    if sets is not None:
        rows_of[COTERMINOUS_FILE] = _set_rows(universe.census, sets)
    tables = {_ENTITIES_FILE: _entities_table(columns_of[_ENTITIES_FILE], universe)}
    tables |= {name: _table(columns_of[name], rows) for name, rows in rows_of.items()}
    for name, table in tables.items():
        pa.parquet.write_table(table, release / name, compression="zstd", store_schema=False, row_group_size=1 << 17)
    return {name: len(table) for name, table in tables.items()}


def _table(columns: tuple[Column, ...], rows: list[tuple[object, ...]]) -> pa.Table:
    by_column = zip(*rows, strict=True) if rows else ([] for _ in columns)
    arrays = [pa.array(list(values), column.type) for values, column in zip(by_column, columns, strict=True)]
    return pa.table(arrays, schema=schema_of_columns(columns))


def _entities_table(columns: tuple[Column, ...], universe: Universe) -> pa.Table:
    """The table of entities, by far the longest."""
    schema = schema_of_columns(columns)
    parts = [
        pa.table([pa.repeat(geography.label, len(entities)), *entities.columns], schema=schema)
        for geography, entities in universe.entities.items()
    ]
    return pa.concat_tables([schema.empty_table(), *parts]).combine_chunks()


def _level_row(level: ReleaseLevel) -> tuple[object, ...]:
    """The row of a level: budget, noise, thresholds and margins."""
    design, measured = level.design, level.design.stages
    why = None if measured else (NO_CODES if design.budget else NO_BUDGET).value
    stages: list[str | None] = []
    for stage in _STAGES:
        found = measured.get(stage)
        stages += [None, None] if found is None else [exact(found.budget), str(found.noise.parameter)]
    thresholds: list[int | None] = []  # of all families; only those of the level's own are known here
    for family in design.product.families:
        thresholds += design.thresholds.totals if family is design.family else [None] * len(family.finer)
    geography = level.geography
    names = [geography.tabulation_pass.name, geography.label, level.level.iterations.name]
    if design.product.has_several_families:
        names.append(level.family.name)
    mechanism = next((stage.noise.mechanism for stage in measured.values()), None)
    budget = (exact(design.budget), why, design.stability)
    return (*names, *budget, *thresholds, design.suppression_threshold, mechanism, *stages)


def _set_rows(census: Census, sets: Iterable[PassSets]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    number = 0
    for of_pass in sets:
        for coterminous in of_pass.sets:
            number += 1
            for kind, entity in coterminous:
                level = census.level_of(of_pass.tabulation_pass, kind)
                rows.append((number, level.label, kind.ids.text(entity)))
    return rows


@dataclass(frozen=True, slots=True)
class ReleasedRun:
    """What a release says about the run that made it, besides its universe."""

    census: Census
    product: Product
    definition: PrivacyDefinition
    states: Mapping[Pass, tuple[str, ...]]
    allow_negative_counts: bool


def read_universe(release: Path, run: ReleasedRun) -> Universe:
    """The universe of a release with these facts.

    Raises KeyError, ValueError or an Arrow error if a file is damaged.
    """
    tables = {name: _read(release / name) for name in UNIVERSE_FILES}
    lists = _lists(tables, run.census)
    designs = [_design(row, run) for row in tables[_LEVELS_FILE].to_pylist()]
    listed = tables[_ENTITIES_FILE]
    geographies = dict.fromkeys(design.level.geography for design in designs)
    entities = {geography: _entities(listed, geography) for geography in geographies}
    facts = (run.product, run.definition, run.allow_negative_counts)
    levels = release_levels(designs, lists, entities)
    return Universe(run.census, *facts, tuple(run.states), run.states, lists, entities, levels)


def _read(path: Path) -> pa.Table:
    """A table of the universe, without characters with which a forged name could control a terminal."""
    with pa.parquet.ParquetFile(path) as file:
        table = file.read()
    for number, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and pc.all(pc.utf8_is_printable(table[number])).as_py() is False:
            cleaned = [text and printable(text.replace("\n", "\0")) for text in table[number].to_pylist()]
            table = table.set_column(number, field, pa.array(cleaned, TEXT))
    return table


def _entities(listed: pa.Table, level: AreaLevel) -> Entities:
    own = listed.filter(pc.equal(listed["geography_level"], level.label))
    texts, ids = tuple(own["region_id"].to_pylist()), level.kind.ids
    if isinstance(ids, DigitIds):  # there may be many
        numbers = own["region_id"].cast(pa.int64()).to_numpy()
    else:
        numbers = np.array([ids.number(text) for text in texts], dtype=np.int64)
    return Entities(numbers, texts, tuple(own["region_name"].to_pylist()))


def _lists(tables: Mapping[str, pa.Table], census: Census) -> PublicLists:
    """The public lists from the tables of the universe."""
    codes: dict[str, list[str]] = {}
    for iteration, code in _rows(tables[_CODES_OF_GROUPS_FILE], "iteration_code", "code"):
        codes.setdefault(iteration, []).append(code)
    columns = ("iteration_code", "iteration_name", "iteration_level", "iteration_kind", "list")
    levels = {level.name: level for level in census.group_levels}
    kinds = {kind.name: kind for kind in census.group_kinds}
    lists = {listed.name: listed for listed in census.lists}
    iterations = tuple(
        CharacteristicIteration(code, name, levels[level], kinds[kind], lists[listed] if listed else None)
        for code, name, level, kind, listed in _rows(tables[_GROUPS_FILE], *columns)
    )
    names = dict(_rows(tables[_CODES_FILE], "code", "code_name"))
    codes_of_iteration = {code: frozenset(inside) for code, inside in codes.items()}
    return PublicLists(MappingProxyType(names), iterations, MappingProxyType(codes_of_iteration))


def _rows(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[column].to_pylist() for column in columns), strict=True)


def _design(row: dict[str, str], run: ReleasedRun) -> LevelDesign:
    """The design of a level from its row in the universe."""
    geography = run.census.area_level(row["geography_level"])
    iterations = run.census.group_level(row["iteration_level"])
    sensitivity = Sensitivity.of_groups(int(row["stability"]))
    threshold = row["suppression_threshold"]
    family = next(known for known in run.product.families if row.get(FAMILY, known.name) == known.name)
    stages = {}
    for stage in _STAGES:
        name = stage.name.lower()
        if row[f"{name}_budget"]:
            budget = Fraction(row[f"{name}_budget"])
            noise = calibrated_noise(run.definition, sensitivity, budget)
            if str(noise.parameter) != row[f"{name}_parameter"]:
                raise ValueError(f"{geography.label}: the parameter of {name} is not what its budget buys")
            stages[stage] = StageDesign(stage, budget, noise)
    return LevelDesign(
        product=run.product,
        family=family,
        level=PopulationGroupLevel(geography, iterations),
        definition=run.definition,
        sensitivity=sensitivity,
        budget=Fraction(row["budget"]),
        thresholds=Thresholds(tuple(int(row[f"threshold_{shape.label}"]) for shape in family.finer)),
        stages=MappingProxyType(stages),
        suppression_threshold=None if threshold is None else int(threshold),
    )
