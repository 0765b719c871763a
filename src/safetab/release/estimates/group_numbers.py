"""The numbers of groups as estimates or as absences, from rows found by their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from math import sqrt
from typing import Any

import numpy as np
import pyarrow.compute as pc

from safetab.core.privacy.calibration import Stage
from safetab.foundation.files import resolved
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.groups import CharacteristicIteration, GroupLevel
from safetab.model.products.product import TOTAL_LINE, Line, Shape, TableFamily
from safetab.release.estimates.estimate import Absence, Estimate
from safetab.release.estimates.noise import (
    Guess,
    LinearForm,
    Measured,
    Measurement,
    Selected,
    adjusted,
    combined,
    parts_of_group,
    sum_of_forms,
)
from safetab.release.estimates.noisy_number import (
    SELECTION_NOTE,
    Counted,
    most_if_suppressed,
    reason_of,
    withheld_because,
)
from safetab.release.estimates.reading.lookup import Entity
from safetab.release.estimates.results import Answer, GroupTable
from safetab.release.files.checksums import damage_as_invalid_input
from safetab.release.files.group_statuses import NOT_TABULATED, SUPPRESSED, absent_status
from safetab.release.files.numbers.number_files import LEAST_MARGIN, WITHHELD
from safetab.release.files.numbers.read_numbers import NumberBatch, NumbersReader
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_universe import ReleaseLevel

Row = dict[str, Any]
_Texts = Sequence[str]

_TEXTS = (
    "region_id", "iteration_code", "table", "table_id", "status", "rule",
    "donor_geography_level", "donor_region_id",
)  # fmt: skip
_NUMBERS = ("line", "count", "unclamped_count", "unclamped_margin_of_error", "stage_1_total")


_BATCHES_KEPT = 16  # row groups


class NumberRows:
    """The rows of a release, found by their texts; keeps the row groups that were read last."""

    def __init__(self, folder: ReleaseFolder) -> None:
        self._folder = folder
        self._census = folder.universe.census
        self._product = folder.universe.product
        self.release = str(resolved(folder.path))
        self._file = cache(self._file_of)
        self._batch = lru_cache(maxsize=_BATCHES_KEPT)(_batch)

    def of_group(
        self, entity: Entity, group: CharacteristicIteration, family: TableFamily
    ) -> list[Row]:
        """All lines of one group in a family; empty if the group is absent."""
        file = self._file(PopulationGroupLevel(entity.geography, group.level), family)
        conditions = {"region_id": [entity.region_id], "iteration_code": [group.code]}
        return [] if file is None else self._found(file, conditions)

    def totals(
        self,
        level: PopulationGroupLevel,
        region_ids: _Texts,
        codes: _Texts | None,
        family: TableFamily,
    ) -> list[Row]:
        """The totals of some entities and iterations, sorted by region and iteration."""
        file = self._file(level, family)
        if file is None:
            return []
        conditions: dict[str, _Texts] = {
            "table_id": self._product.total_table_ids,
            "region_id": region_ids,
        }
        conditions |= {} if codes is None else {"iteration_code": codes}
        return [row for row in self._found(file, conditions) if row["line"] == TOTAL_LINE]

    def _found(self, file: NumbersReader, conditions: Mapping[str, _Texts]) -> list[Row]:
        """The rows with one of the given values in each column, which include region_id.

        Raises InvalidInput if a release can't have such a table, line, donor or number.
        """
        rows: list[Row] = []
        with damage_as_invalid_input(file.path):
            for number in file.row_groups_of(conditions["region_id"]):
                batch = self._batch(file, number)
                is_chosen = np.ones(len(batch), dtype=np.bool_)
                for column, values in conditions.items():
                    is_chosen &= batch.positions(column, dict.fromkeys(values, 1)) == 1
                rows += batch.table.take(np.flatnonzero(is_chosen)).to_pylist()
            for row in rows:
                self.line_of(row)
                if row["donor_geography_level"] is not None:
                    self._census.area_level(row["donor_geography_level"])
                if row["unclamped_count"] is None and row["status"] != WITHHELD:
                    raise ValueError("a number is missing")
        return rows

    def _file_of(self, level: PopulationGroupLevel, family: TableFamily) -> NumbersReader | None:
        number = self._folder.universe.number_of_level.get((family, level))
        return (
            None
            if number is None
            else self._folder.open_numbers(self._folder.universe.levels[number])
        )

    def measured(
        self, row: Row, geography: AreaLevel, iteration: CharacteristicIteration
    ) -> Measured:
        """Whose noise the number of a row has: its own group's, or the donor's if it is a copy."""
        donor = row["donor_geography_level"]
        origin = geography if donor is None else self._census.area_level(donor)
        region = row["region_id"] if donor is None else row["donor_region_id"]
        is_total_only = self._product.has_total_only and iteration.is_total_only
        stage = Stage.TOTAL_ONLY if is_total_only else Stage.STAGE_2
        family = self._product.family_of_label[row["table"]]
        noise = self._folder.universe.level_of(origin, iteration.level, family).design.noise(stage)
        return Measured(self.release, origin, region, iteration.code, stage, noise, family.name)

    def stage_1(self, measured: Measured, iteration: CharacteristicIteration) -> LinearForm:
        """The form of the total that chose a group's table."""
        family = next(each for each in self._product.families if each.name == measured.family)
        level = self._folder.universe.level_of(measured.geography, iteration.level, family)
        noise = level.design.noise(Stage.STAGE_1)
        return LinearForm({measured._replace(stage=Stage.STAGE_1, noise=noise): (1,)})

    def line_of(self, row: Row) -> Line:
        """The line of the table that a row shows."""
        return _line(self._product.shape(row["table"]), row["table_id"], row["line"])


def _batch(file: NumbersReader, row_group: int) -> NumberBatch:
    """Raises ValueError if a text could steer a terminal."""
    batch = file.batch(row_group, [*_TEXTS, *_NUMBERS], strict=False)
    for column in _TEXTS:
        if pc.all(pc.utf8_is_printable(batch.texts(column).dictionary)).as_py() is False:
            raise ValueError(f"{column} has characters that could steer a terminal")
    return batch


@cache
def _line(shape: Shape, table_id: str, number: int) -> Line:
    return next(line for line in shape.lines if (line.table_id, line.number) == (table_id, number))


# Deviations of stage 1. Farther from a threshold, the margin of a combined total holds as often as
# it says.
_DEVIATIONS_NEAR = 2


class GroupNumbers:
    """Reads rows of a release and turns each into an estimate with its linear form."""

    def __init__(self, folder: ReleaseFolder) -> None:
        self._universe = folder.universe
        self._product = folder.universe.product
        self._confidence = folder.facts.options.confidence
        self._origin = folder.facts.origin
        self._rows = NumberRows(folder)
        self.release = self._rows.release
        self._at_most = cache(
            lambda *level: most_if_suppressed(
                self._universe.level_of(*level).design, self._confidence
            )
        )

    def total(self, entity: Entity, group: CharacteristicIteration) -> Answer:
        """The total of a group in an area, or its absence."""
        return self.totals_of_group([entity], group)[0]

    def table(
        self, entity: Entity, group: CharacteristicIteration, family: TableFamily
    ) -> GroupTable | Absence:
        """The table of a group in an area, or its absence."""
        rows = self._rows.of_group(entity, group, family)
        if not rows:
            return self._absence(entity, group, family)
        own = [row for row in rows if not self._is_shown_twice(row)]
        answers = [(row, self._answer(row, entity, group)) for row in own]
        shown = tuple(answer for _, answer in answers if isinstance(answer, Estimate))
        withheld = []
        for row in [row for row, answer in answers if isinstance(answer, Absence)]:
            line = self._rows.line_of(row)
            name = ", ".join([*map(str, line.labels[:1]), line.stub])
            withheld.append(f"{name} ({'X' if row['rule'] is None else 'rule ' + row['rule']})")
        shape = self._product.shape(rows[0]["table"])
        return GroupTable(entity, group, shape, shown, tuple(withheld), product=self._product)

    def _is_shown_twice(self, row: Row) -> bool:
        """Whether the row is a total that another line of the table also has."""
        own = self._rows.line_of(row)
        same = [line for line in self._product.shape(row["table"]).lines if line.run == own.run]
        return own.is_total and any(line is not own for line in same)

    def adjusted_table(
        self, entity: Entity, group: CharacteristicIteration, family: TableFamily
    ) -> GroupTable | Absence | None:
        """The table after least squares with the other family's, or None without one."""
        table = self.table(entity, group, family)
        others = [one for one in self._product.families if one is not family]
        measured = [self._measurement(entity, group, one) for one in (family, *others)]
        own, other = measured[0], next((one for one in measured[1:] if one is not None), None)
        if isinstance(table, Absence) or own is None or other is None:
            return table if isinstance(table, Absence) else None
        lines, is_first = [], family is self._product.families[0]
        for line in table.lines:
            own_line = Guess(line.exact_value, line.form)
            guess = adjusted(own_line, line.counted[0].line.cells, own, other, is_first=is_first)
            better = replace(
                line, exact_value=guess.value, form=guess.form, published=None, combined=None
            )
            lines.append(replace(better, what=f"{line.what}, adjusted"))
        return replace(table, lines=tuple(lines))

    def _measurement(
        self, entity: Entity, group: CharacteristicIteration, family: TableFamily
    ) -> Measurement | None:
        """The total of a family's table as measured, or None if the table is absent or withheld."""
        level = PopulationGroupLevel(entity.geography, group.level)
        for row in self._rows.totals(level, [entity.region_id], [group.code], family):
            if row["status"] != WITHHELD:
                measured = self._rows.measured(row, entity.geography, group)
                total = Guess(Fraction(row["unclamped_count"]), self._form(row, group, measured))
                cells = self._product.shape(row["table"]).cells
                return Measurement(total, cells, float(measured.noise.variance().mid()))
        return None

    def totals_of_group(
        self, entities: Sequence[Entity], group: CharacteristicIteration
    ) -> list[Answer]:
        """The answer for each of some entities of one level."""
        level = PopulationGroupLevel(entities[0].geography, group.level)
        rows = self._totals(level, [entity.region_id for entity in entities], [group.code])
        by_region = {row["region_id"]: row for row in rows}
        answers: list[Answer] = []
        for entity in entities:
            row = by_region.get(entity.region_id)
            answers.append(
                self._absence(entity, group) if row is None else self._answer(row, entity, group)
            )
        return answers

    def totals_of_area(
        self, entity: Entity, iterations: GroupLevel, groups: Mapping[str, CharacteristicIteration]
    ) -> list[Answer]:
        """All published totals of some groups in an entity at an iteration level."""
        rows = self._totals(
            PopulationGroupLevel(entity.geography, iterations), [entity.region_id], None
        )
        wanted = [(row, groups.get(row["iteration_code"])) for row in rows]
        return [self._answer(row, entity, group) for row, group in wanted if group is not None]

    def _totals(
        self, level: PopulationGroupLevel, region_ids: Sequence[str], codes: Sequence[str] | None
    ) -> list[Row]:
        """One row for each group with a total, from the first family that shows it."""
        found: dict[tuple[str, str], Row] = {}
        for family in self._product.families:
            for row in self._rows.totals(level, region_ids, codes, family):
                key = row["region_id"], row["iteration_code"]
                if key not in found or (
                    found[key]["status"] == WITHHELD and row["status"] != WITHHELD
                ):
                    found[key] = row
        return (
            [found[key] for key in sorted(found)]
            if self._product.has_several_families
            else [*found.values()]
        )

    def _answer(self, row: Row, entity: Entity, group: CharacteristicIteration) -> Answer:
        """The number of a row as an estimate, or its absence if it was withheld."""
        if row["status"] == WITHHELD:
            reason = withheld_because(row["rule"])
            return Absence(
                entity, group, WITHHELD, reason, confidence=self._confidence, product=self._product
            )
        measured = self._rows.measured(row, entity.geography, group)
        counted = Counted(entity, group, self._rows.line_of(row))
        own = Guess(Fraction(row["unclamped_count"]), self._form(row, group, measured))
        better = self._better(row, own, counted, measured) if counted.line.is_total else None
        near = (
            ()
            if better is None
            else _threshold_notes(better, is_near=self._is_near(row, group, measured))
        )
        answer = self._estimate(
            own, counted, counted.what, _notes(row, self._universe.census.words.smallest_areas)
        )
        if better is not None:
            improved = self._estimate(better, counted, f"{counted.what}, combined", near)
            answer = replace(answer, combined=replace(improved, holds_confidence=not near))
        if own.form.selected and answer.selection_matters:
            answer = replace(answer, notes=(*answer.notes, SELECTION_NOTE))
        return replace(answer, published=row["count"])

    def _estimate(
        self, guess: Guess, counted: Counted, what: str, notes: tuple[str, ...]
    ) -> Estimate:
        return Estimate(
            what, guess.value, guess.form, self._confidence, (counted,), notes=notes,
            product=self._product, universe=self._universe,
        )  # fmt: skip

    def _form(self, row: Row, group: CharacteristicIteration, measured: Measured) -> LinearForm:
        """The draws that a row's number sums."""
        shape, run = self._product.shape(row["table"]), self._rows.line_of(row).run
        weights = {measured: tuple(int(cell in run) for cell in range(shape.cells))}
        design = self._level(measured.geography, group.level, row).design
        threshold = design.suppression_threshold
        if (
            threshold is None
            or shape is not design.family.total
            or measured.stage is not Stage.STAGE_2
        ):
            return LinearForm(weights)
        return LinearForm(weights, {measured: Selected(row["unclamped_count"], threshold)})

    def _is_near(self, row: Row, group: CharacteristicIteration, measured: Measured) -> bool:
        """Whether the choice of the table reveals much about the noise of the stage-1 total."""
        if row["stage_1_total"] is None:
            return False
        design = self._level(measured.geography, group.level, row).design
        near = _DEVIATIONS_NEAR * sqrt(float(design.noise(Stage.STAGE_1).variance().mid()))
        return any(
            abs(row["stage_1_total"] - threshold) <= near for threshold in design.thresholds.totals
        )

    def _better(self, row: Row, own: Guess, counted: Counted, measured: Measured) -> Guess | None:
        """All independent guesses of the total combined.

        None if there is only one, or the total was selected.
        """
        guesses = self._guesses(row, own, counted.group, measured) + self._of_other_families(
            row, counted
        )
        parts = parts_of_group(self._universe, counted.group, counted.entity.geography)
        whole = self._sum_of_parts(counted.entity, parts) if parts and guesses else None
        guesses += [] if whole is None else [whole]
        return combined(guesses) if len(guesses) > 1 else None

    def _guesses(
        self, row: Row, own: Guess, group: CharacteristicIteration, measured: Measured
    ) -> list[Guess]:
        """The sum of cells and the stage-1 total; nothing if the total underwent suppression."""
        if own.form.selected:
            return []
        if measured.stage is Stage.TOTAL_ONLY or row["stage_1_total"] is None:
            return [own]
        near = int(self._is_near(row, group, measured))
        return [
            own,
            Guess(Fraction(row["stage_1_total"]), self._rows.stage_1(measured, group), near),
        ]

    def _of_other_families(self, row: Row, counted: Counted) -> list[Guess]:
        """The total as other tables of the product have it, with independent noise.

        None of them if a rule withheld one: the rule looked at the noise, so the rest are selected.
        """
        level = PopulationGroupLevel(counted.entity.geography, counted.group.level)
        own, guesses = self._product.family_of_label[row["table"]], list[Guess]()
        for family in [family for family in self._product.families if family is not own]:
            rows = self._rows.totals(level, [row["region_id"]], [row["iteration_code"]], family)
            if any(one["status"] == WITHHELD for one in rows):
                return []
            for other in rows:
                measured = self._rows.measured(other, counted.entity.geography, counted.group)
                guesses.append(
                    Guess(
                        Fraction(other["unclamped_count"]),
                        self._form(other, counted.group, measured),
                    )
                )
        return guesses

    def _sum_of_parts(
        self, entity: Entity, parts: Sequence[CharacteristicIteration]
    ) -> Guess | None:
        """The sum of the best guesses for Detailed groups, or None if one of them can't be used."""
        level = PopulationGroupLevel(entity.geography, parts[0].level)
        totals = self._totals(level, [entity.region_id], [part.code for part in parts])
        rows = {row["iteration_code"]: row for row in totals}
        best: list[Guess] = []
        for part in parts:
            row = rows.get(part.code)
            if row is None or row["status"] == WITHHELD:
                return None
            measured = self._rows.measured(row, entity.geography, part)
            own = Guess(Fraction(row["unclamped_count"]), self._form(row, part, measured))
            guesses = self._guesses(row, own, part, measured)
            if not guesses:
                return None
            best.append(combined(guesses))
        value = sum((guess.value for guess in best), Fraction(0))
        return Guess(
            value, sum_of_forms([guess.form for guess in best]), sum(guess.near for guess in best)
        )

    def _absence(
        self, entity: Entity, group: CharacteristicIteration, family: TableFamily | None = None
    ) -> Absence:
        """Why a group has no row of a family; of any, unless one is given."""
        place = entity.geography, group.level, family
        level = self._universe.level_of(*place) if group.level.is_tabulated else None
        why = self._universe.why_not_tabulated(entity.geography, group, family)
        status = NOT_TABULATED if why is not None else absent_status(self._product, self._origin)
        at_most = self._at_most(*place) if status == SUPPRESSED else None
        reason = reason_of(why, level, self._product, status)
        return Absence(
            entity, group, status, reason, at_most, self._confidence, product=self._product
        )

    def _level(self, geography: AreaLevel, iterations: GroupLevel, row: Row) -> ReleaseLevel:
        """The level as measured for this row's table family."""
        return self._universe.level_of(
            geography, iterations, self._product.family_of_label[row["table"]]
        )


def _threshold_notes(better: Guess, *, is_near: bool) -> tuple[str, ...]:
    """Notes on a combined total if the choice of a table reveals much about its noise."""
    if not better.near:
        return ()
    has = "has" if better.near == 1 else "have"
    what = (
        "its stage-1 total is"
        if is_near
        else f"{better.near:,} of the groups that it adds up {has} a stage-1 total"
    )
    return (
        f"{what} near a table threshold, so the combined total's margin may be too small;"
        " the published number is not affected",
    )


def _notes(row: Row, smallest_areas: str) -> tuple[str, ...]:
    """Notes on a number that was copied, or whose table is not known."""
    notes = []
    if row["donor_region_id"] is not None:
        donor = f"{row['donor_geography_level']} {row['donor_region_id']}"
        same = f"which is made of the same {smallest_areas}: the same number, with the same noise"
        notes.append(f"copied from {donor}, {same}")
    if row.get(LEAST_MARGIN) is not None:
        ends = f"{row[LEAST_MARGIN]:,} to {row['unclamped_margin_of_error']:,}"
        notes.append(
            f"the margin of error is {ends}: which table the group has is not known,"
            " so the greatest is taken"
        )
    return tuple(notes)
