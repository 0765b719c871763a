"""The columns of the tidy release, each with the words that describe it, and the Arrow table of some numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.census.geography import region_id
from safetab.outputs.text_columns import SHORT_LIST, TEXT, TextsAt, as_dictionaries, texts
from safetab.products.product import Product
from safetab.release.numbers.level_numbers import NO_INTERVAL, NO_RULE, RULES, Numbers
from safetab.release.numbers.number_kinds import NumberKinds
from safetab.release.numbers.published_groups import NO_DONOR
from safetab.release.release_universe import ReleaseLevel, Universe

PUBLISHED, COPIED, WITHHELD = "published", "copied", "withheld"
STATUSES = (PUBLISHED, COPIED, WITHHELD)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a released table; `is_required` says that it is never null.

    A column that joins later `may_be_absent`: releases from before lack it, and are still read.
    """

    name: str
    type: pa.DataType
    description: str
    is_required: bool = True
    values: tuple[str, ...] = ()
    may_be_absent: bool = False


_OF_GROUPS = (
    Column("region_id", TEXT, "Id of the geographic entity, leading zeros included."),
    Column("region_name", TEXT, "Name of the entity; its id where no name is known."),
    Column("iteration_code", TEXT, "Code of the race or ethnicity group (characteristic iteration)."),
    Column("iteration_name", TEXT, "Name of the group."),
    Column("iteration_kind", TEXT, "Which answers define the group.",
           values=("race alone", "race alone or in any combination", "ethnicity")),
    Column("iteration_level", TEXT, "How fine the group is.", values=("Regional", "Detailed")),
)  # fmt: skip
_COUNT = "The number of {}, with noise; null if withheld. Not a count of exactly so many."
_MARGIN = (
    Column("margin_of_error", pa.int64(),
           "The truth is within this distance of `count` at the stated confidence, as far as noise goes. Null if"
           " `count` is withheld or is a sum of numbers that were clamped at 0: use the unclamped columns then.",
           is_required=False),
)  # fmt: skip
_LEAST = "Totals that passed suppression: least true size that agrees with `count`, given that it was published."
_GREATEST = "The same: greatest true size."
_NOTHING_SUPPRESSED = "Always null: no total is suppressed."
_OF_NUMBERS = (
    Column("unclamped_count", pa.int64(),
           "The number with no part of it raised to 0: the one to add up. Null if withheld.", is_required=False),
    Column("unclamped_margin_of_error", pa.int64(), "Margin of error of `unclamped_count`.", is_required=False),
    Column("variance", pa.float64(), "Variance of the noise in `unclamped_count`."),
    Column("noise_draws", pa.int8(), "How many independent draws of noise `unclamped_count` sums."),
    Column("noise_mechanism", TEXT, "Distribution of one draw.", values=("discrete_gaussian", "discrete_laplace")),
    Column("noise_parameter", TEXT,
           "Exact parameter of one draw, a whole number or numerator/denominator: sigma squared of the discrete"
           " Gaussian, the scale of the discrete Laplace."),
)  # fmt: skip
_STAGE_1 = (
    "In {} rows of groups measured in two stages: the noisy total that chose the table. It has independent noise of its"
    " own (universe/levels, stage_1_parameter)."
)
_NO_STAGE_1 = "Always null: published totals, not a noisy total of this release, chose the tables."
_OF_STATUS = (
    Column("status", TEXT, "Whether the number is the group's own, copied from a donor, or withheld.", values=STATUSES),
    Column("rule", TEXT, "The rule that withheld the number, or raised it to 0; null if none did.",
           is_required=False, values=tuple(rule.value for rule in RULES)),
    Column("donor_geography_level", TEXT, "Level of the entity whose numbers these are; null if they are its own.",
           is_required=False),
    Column("donor_region_id", TEXT, "Id of that entity.", is_required=False),
)  # fmt: skip


@cache
def number_columns(product: Product) -> tuple[Column, ...]:
    """All columns, in their order; the lines' labels are the product's."""
    totals, suppresses = " or ".join(product.total_table_ids), product.suppression_key is not None
    return (
        *_OF_GROUPS,
        Column("table", TEXT, "The table that this population group got.",
               values=tuple(shape.label for family in product.families for shape in family.shapes)),
        Column("table_id", TEXT, "Published table that this row is a line of."
               f" Every published group has {_tables_of_every_group(product)}.", values=product.table_ids),
        Column("line", pa.int8(), "Number of the line in its table, from 1."),
        Column("stub", TEXT, "Text of the line."),
        *(Column(one.name, pa.type_for_alias(one.line_type), one.description, values=one.values)
          for one in product.label_columns),
        Column("count", pa.int64(), _COUNT.format(product.record.nouns), is_required=False),
        *_MARGIN,
        Column("interval_low", pa.int64(), _LEAST if suppresses else _NOTHING_SUPPRESSED, is_required=False),
        Column("interval_high", pa.int64(), _GREATEST if suppresses else _NOTHING_SUPPRESSED, is_required=False),
        *_OF_NUMBERS,
        Column("stage_1_total", pa.int64(), _NO_STAGE_1 if product.stage_1_key is None else _STAGE_1.format(totals),
               is_required=False),
        *_OF_STATUS,
    )  # fmt: skip


def _tables_of_every_group(product: Product) -> str:
    """One table of each family has a group's total."""
    of_families = []
    for family in product.families:
        ids = list(dict.fromkeys(line.table_id for shape in family.shapes for line in shape.lines if line.is_total))
        of_families.append(ids[0] if len(ids) == 1 else f"one of {', '.join(ids)}")
    return " and ".join(of_families)


@cache
def number_schema(product: Product) -> pa.Schema:
    columns = number_columns(product)
    return pa.schema([pa.field(column.name, column.type, nullable=not column.is_required) for column in columns])


@cache
def schema_in_memory(product: Product) -> pa.Schema:
    """Texts are dictionaries until they are written; in the file they are plain strings."""
    return as_dictionaries(number_schema(product))


class NumberColumns:
    """Makes the Arrow table of some numbers of one level; texts are dictionaries of what occurs."""

    def __init__(self, universe: Universe, level: ReleaseLevel, kinds: NumberKinds) -> None:
        self._universe = universe
        self.schema = schema_in_memory(universe.product)
        self._level = level
        self._kinds = kinds
        self._entities = universe.entities[level.geography]
        self._iterations = universe.iteration_columns[level.level.iterations]
        self._of_kind = _columns_of_kinds(universe.product, kinds)
        self._is_sum_clamped = ~(kinds.draws == 1) & (not universe.allow_negative_counts)

    def table(self, numbers: Numbers) -> pa.Table:
        kinds, is_withheld = numbers.kinds.astype(np.intp), numbers.is_withheld
        margins = self._kinds.margins[kinds]
        is_outside = numbers.low == NO_INTERVAL
        columns = self._group_columns(numbers) | {name: column(kinds) for name, column in self._of_kind.items()}
        columns |= {
            "count": _masked(numbers.counts, is_withheld),
            "margin_of_error": _masked(margins, is_withheld | self._is_sum_clamped[kinds]),
            "interval_low": _masked(numbers.low, is_withheld | is_outside),
            "interval_high": _masked(numbers.high, is_withheld | is_outside),
            "unclamped_count": _masked(numbers.unclamped, is_withheld),
            "unclamped_margin_of_error": _masked(margins, is_withheld),
            "variance": pa.array(self._kinds.variances[kinds]),
            "noise_draws": pa.array(self._kinds.draws[kinds]),
            "stage_1_total": _masked(numbers.stage_1_totals, is_withheld | ~self._kinds.have_stage_1[kinds]),
            "status": texts(STATUSES, np.where(is_withheld, np.int8(2), numbers.donors != NO_DONOR)),
            "rule": texts([rule.value for rule in RULES], np.maximum(numbers.rules, NO_RULE)),
        }
        return pa.table([columns[name] for name in self.schema.names], schema=self.schema)

    def _group_columns(self, numbers: Numbers) -> dict[str, pa.Array]:
        index, iterations = self._level.index, self._iterations
        entity, iteration = index.entity_of(numbers.indices), index.iteration_of(numbers.indices)
        of_entities, of_iterations = TextsAt(entity, len(self._entities.ids)), TextsAt(iteration, len(iterations.codes))
        region_ids, names = self._entities.columns
        return {
            "region_id": of_entities.of(region_ids),
            "region_name": of_entities.of(names),
            "iteration_code": of_iterations.of(iterations.codes),
            "iteration_name": of_iterations.of(iterations.names),
            "iteration_kind": texts(iterations.kinds.dictionary, iterations.kinds.indices.to_numpy()[iteration]),
            "iteration_level": texts([self._level.level.iterations.label], np.zeros(len(numbers), dtype=np.int32)),
        } | self._donor_columns(numbers)

    def _donor_columns(self, numbers: Numbers) -> dict[str, pa.Array]:
        is_copied = numbers.donors != NO_DONOR
        if not is_copied.any():
            none = pa.DictionaryArray.from_arrays(pa.nulls(len(numbers), pa.int32()), pa.array([], TEXT))
            return {"donor_geography_level": none, "donor_region_id": none}
        levels = self._universe.levels
        level_of_kind = np.array([kind.level for kind in self._kinds.kinds], dtype=np.int64)
        measured_at = np.where(is_copied, level_of_kind[numbers.kinds], -1)
        donor = np.full(len(numbers), -1, dtype=np.int64)
        ids: list[str] = []
        for level in np.unique(measured_at[is_copied]).tolist():
            rows = measured_at == level
            distinct, position = np.unique(numbers.donors[rows], return_inverse=True)
            donor[rows] = len(ids) + position
            ids += [region_id(entity, levels[level].geography.entity_kind) for entity in distinct.tolist()]
        return {
            "donor_geography_level": texts([one.geography.label for one in levels], measured_at),
            "donor_region_id": texts(ids, donor),
        }


def _masked(values: NDArray[np.int64], is_null: NDArray[np.bool_]) -> pa.Array:
    return pa.array(values, mask=is_null if is_null.any() else None)


class _TextOfKind:
    """A text column that a number's kind decides."""

    def __init__(self, text_of_kind: list[str]) -> None:
        self._values = list(dict.fromkeys(text_of_kind))
        place = {text: position for position, text in enumerate(self._values)}
        self._position = np.array([place[text] for text in text_of_kind], dtype=np.int32)
        self._dictionary = pa.array(self._values, TEXT)

    def __call__(self, kinds: NDArray[np.intp]) -> pa.Array:
        if len(self._values) > SHORT_LIST:
            return texts(self._values, self._position[kinds])
        return pa.DictionaryArray.from_arrays(pa.array(self._position[kinds]), self._dictionary)


class _SmallNumberOfKind:
    """A column of small numbers that a number's kind decides."""

    def __init__(self, number_of_kind: list[int]) -> None:
        self._numbers = np.array(number_of_kind, dtype=np.int8)

    def __call__(self, kinds: NDArray[np.intp]) -> pa.Array:
        return pa.array(self._numbers[kinds])


@lru_cache(maxsize=4)
def _columns_of_kinds(product: Product, kinds: NumberKinds) -> dict[str, _TextOfKind | _SmallNumberOfKind]:
    lines = [kind.line for kind in kinds.kinds]
    noise = [kind.noise for kind in kinds.kinds]
    labels = zip(product.label_columns, zip(*(line.labels for line in lines), strict=True), strict=False)
    columns: dict[str, _TextOfKind | _SmallNumberOfKind] = {
        "table": _TextOfKind([kind.shape.label for kind in kinds.kinds]),
        "table_id": _TextOfKind([line.table_id for line in lines]),
        "line": _SmallNumberOfKind([line.number for line in lines]),
        "stub": _TextOfKind([line.stub for line in lines]),
        "noise_mechanism": _TextOfKind([one.mechanism for one in noise]),
        "noise_parameter": _TextOfKind([str(one.parameter) for one in noise]),
    }
    for column, values in labels:
        as_text = column.line_type == "string"
        columns[column.name] = _TextOfKind(list(values)) if as_text else _SmallNumberOfKind(list(values))
    return columns
