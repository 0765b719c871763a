"""What the pages must know besides the numbers: tables, levels, noise, and why a number is absent."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from safetab.census.geography_levels import EntityKind, GeographyLevel
from safetab.census.iterations import TABULATED_ITERATION_LEVELS
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.estimates.estimate import percent
from safetab.estimates.intervals import far_threshold
from safetab.estimates.reading.absence import most_if_suppressed, reason_of, withheld_because
from safetab.privacy.calibration import Noise
from safetab.privacy.output_status import OutputStatus
from safetab.privacy.stages import Stage
from safetab.products.product import Product, Shape
from safetab.release.documents import ReleaseFacts
from safetab.release.group_status import NOT_IN_FILES, NOT_TABULATED, SUPPRESSED, absent_status
from safetab.release.numbers.level_numbers import RULES
from safetab.release.numbers.number_columns import WITHHELD
from safetab.release.release_universe import Universe
from safetab.site.measured_tables import MeasuredTable, MeasuredTables, lines_shown
from safetab.site.name_files import KINDS, REASONS, reasons_of_geography
from safetab.site.spellings import spellings
from safetab.site.states import states_on_tiles

JsonObject = dict[str, object]
Indices = Mapping[str, object]

_PLURALS = {
    EntityKind.NATION: "nation", EntityKind.STATE: "states", EntityKind.COUNTY: "counties", EntityKind.TRACT: "tracts",
    EntityKind.PLACE: "places", EntityKind.AIANNH: "American Indian, Alaska Native and Native Hawaiian areas",
}  # fmt: skip
_NOUNS = {EntityKind.AIANNH: "American Indian, Alaska Native or Native Hawaiian area"}


def site_facts(universe: Universe, facts: ReleaseFacts, tables: MeasuredTables, indices: Indices) -> JsonObject:
    """All of it; `indices` say with which areas and groups the files begin."""
    product, confidence = universe.product, facts.options.confidence
    shapes = _shapes(product, tables)
    return {
        "product": _product(product),
        "status": {
            "value": facts.status.value,
            "line": _status_line(facts, tables),
            "forRelease": facts.status.is_for_release,
            "protects": facts.status is not OutputStatus.NO_PROTECTION,
        },
        "isRead": facts.origin is not None,
        "date": facts.date.isoformat(),
        "version": facts.version,
        "confidence": float(confidence),
        "percent": percent(confidence),
        "shapes": [_shape(*one, product) for one in shapes],
        "tables": [_table(one, universe, tables, shapes) for one in tables.tables],
        "noises": [_noise(level, universe, confidence) for level in range(len(universe.levels))],
        "selected": {
            str(number): [[total, *ends] for total, ends in sorted(found.items())]
            for number, found in tables.selected.items()
            if found
        },
        "geographies": [_geography(one, universe, facts) for one in universe.entities],
        "rules": _why_withheld(),
        "reasons": [reason_of(why, None, product, NOT_TABULATED) for why in REASONS],
        "kinds": [kind.value for kind in KINDS],
        "states": states_on_tiles(),
        "spellings": spellings(),
        **indices,
    }


def _shapes(product: Product, tables: MeasuredTables) -> list[tuple[Shape, bool]]:
    """All that groups can have, and those of groups whose table is not known; with whether it is known."""
    known = [(shape, True) for family in product.families for shape in family.shapes]
    return [*known, *dict.fromkeys((one.shape, False) for one in tables.tables if not one.is_known)]


def _status_line(facts: ReleaseFacts, tables: MeasuredTables) -> str:
    unknown = "Where the files don't tell a group's table, its margin of error is the largest that it can have."
    return facts.status.line if all(one.is_known for one in tables.tables) else f"{facts.status.line} {unknown}"


def _why_withheld() -> list[list[str]]:
    """By the numbers that rows have for it: a name, what it means, the status, and the reason in a sentence."""
    rules = [
        [one.value, one.explanation, WITHHELD, f"{withheld_because(one.value).removesuffix('.')}: {one.explanation}."]
        for one in RULES
    ]
    unknown = withheld_because(None)
    not_given = "It is not in the files that were read. It is not known to be zero."
    return [*rules, ["X", unknown, WITHHELD, unknown], ["", not_given, NOT_IN_FILES, not_given]]


def _product(product: Product) -> JsonObject:
    return {
        "name": product.name,
        "noun": product.record.noun,
        "nouns": product.record.nouns,
        "counts": product.counts,
        "suppresses": product.suppression_key is not None,
        "families": [{"name": one.name, "detail": one.detail} for one in product.families],
    }


def _shape(shape: Shape, is_known: bool, product: Product) -> JsonObject:
    """Lines are: what they are called alone and in their table, first cell, cells, whether it is the total."""
    question = product.line_question
    family = product.family_of_label[shape.label]
    return {
        "family": product.families.index(family),
        "words": shape.words if is_known else "a total; its table is not known",
        "title": shape.title,
        "lines": [
            [question.name_of(line), line.stub, line.first_cell, line.cells, int(line.is_total), line.table_id]
            for line in lines_shown(shape, is_known=is_known)
        ],
    }


def _table(
    table: MeasuredTable, universe: Universe, tables: MeasuredTables, shapes: list[tuple[Shape, bool]]
) -> JsonObject:
    """If the shape is not known, `least` is the margin of error of a lone total."""
    margins = {line.cells: tables.margin(table, line.cells) for line in table.lines}
    level = universe.levels[table.level]
    is_lone = table.shape is level.family.total and table.stage is Stage.STAGE_2
    return {
        "level": table.level,
        "geography": list(universe.entities).index(level.geography),
        "shape": shapes.index((table.shape, table.is_known)),
        "stage": table.stage.name,
        "margins": margins,
        "least": None if table.is_known else tables.margin(table, 1),
        "isSelected": is_lone and level.design.suppression_threshold is not None,
    }


def _noise(number: int, universe: Universe, confidence: Fraction) -> JsonObject:
    """How a level draws its noise, and from which totals on selection no longer changes a difference."""
    level = universe.levels[number].design
    threshold = level.suppression_threshold
    known: JsonObject = {stage.name: _draw(one.noise) for stage, one in level.stages.items()}
    if threshold is not None and Stage.STAGE_2 in level.stages:
        known["far"] = [far_threshold(level.noise(Stage.STAGE_2), threshold, draws, confidence) for draws in (1, 2)]
    return known


def _draw(noise: Noise) -> list[object]:
    """Its name and its parameter; for margins and chances that describe published numbers."""
    return ["gaussian" if isinstance(noise, DiscreteGaussian) else "laplace", float(noise.parameter)]


def _geography(geography: GeographyLevel, universe: Universe, facts: ReleaseFacts) -> JsonObject:
    kind, known = geography.entity_kind, list(universe.entities)
    status = absent_status(universe.product, facts.origin)
    around = [
        [known.index(level), one.id_digits, int(one.crosses_states)]
        for one in kind.around
        for level in known
        if level.entity_kind is one and level.tabulation_pass is geography.tabulation_pass
    ]
    return {
        "label": geography.label,
        "kind": kind.name.lower(),
        "isSubstate": geography.is_substate,
        "noun": _NOUNS.get(kind, kind.noun),
        "nouns": _PLURALS[kind],
        "count": len(universe.entities[geography].ids),
        "around": around,
        "reasons": reasons_of_geography(geography, universe),
        "absent": {
            str(int(one)): [
                status,
                reason_of(None, universe.level_of(geography, one), universe.product, status),
                most_if_suppressed(universe.level_of(geography, one).design, facts.options.confidence)
                if universe.level_of(geography, one).design.stages and status == SUPPRESSED
                else None,
            ]
            for one in TABULATED_ITERATION_LEVELS
        },
    }
