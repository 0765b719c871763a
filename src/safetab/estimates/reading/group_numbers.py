"""The numbers of groups, as estimates or as absences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import sqrt

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import CharacteristicIteration, IterationLevel
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.estimates.combined_totals import Guess, Measurement, adjusted, combined, parts_of_regional_group
from safetab.estimates.estimate import SELECTION_NOTE, Counted, Estimate
from safetab.estimates.linear_form import LinearForm, Measured, Selected, sum_of_forms
from safetab.estimates.reading.absence import Absence, most_if_suppressed, reason_of, withheld_because
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.reading.number_reader import Row
from safetab.estimates.reading.number_rows import NumberRows
from safetab.estimates.results import Answer, GroupTable
from safetab.privacy.stages import Stage
from safetab.products.product import TableFamily
from safetab.release.group_status import NOT_TABULATED, SUPPRESSED, absent_status
from safetab.release.numbers.number_columns import WITHHELD
from safetab.release.origin import LEAST_MARGIN
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import NotTabulated, ReleaseLevel

_DEVIATIONS_NEAR = 2  # of stage 1; farther from a threshold the margin of a combined total holds as often as it says


class GroupNumbers:
    """Reads rows of a release and makes of each an estimate with its linear form."""

    def __init__(self, folder: ReleaseFolder) -> None:
        self._universe = folder.universe
        self._product = folder.universe.product
        self._confidence = folder.facts.options.confidence
        self._origin = folder.facts.origin
        self._rows = NumberRows(folder)
        self.release = self._rows.release
        self._at_most = cache(self._most_if_suppressed)

    def total(self, entity: Entity, group: CharacteristicIteration) -> Answer:
        return self.totals_of_group([entity], group)[0]

    def table(
        self, entity: Entity, group: CharacteristicIteration, family: TableFamily | None = None
    ) -> GroupTable | Absence:
        rows = self._rows.of_group(entity.geography, entity.region_id, group, family or self._product.families[0])
        if not rows:
            return self._absence(entity, group)
        own = [row for row in rows if not self._is_told_twice(row)]
        answers = [(row, self._answer(row, entity, group)) for row in own]
        shown = tuple(answer for _, answer in answers if isinstance(answer, Estimate))
        withheld = tuple(self._stub(row) for row, answer in answers if isinstance(answer, Absence))
        return GroupTable(entity, group, self._rows.shape_of(rows[0]), shown, withheld, product=self._product)

    def _is_told_twice(self, row: Row) -> bool:
        """Whether it is a total that a line of the table has too: a table may come beside a table of its total."""
        own = self._rows.line_of(row)
        same = [line for line in self._rows.shape_of(row).lines if line.run == own.run]
        return own.is_total and any(line is not own for line in same)

    def adjusted_table(
        self, entity: Entity, group: CharacteristicIteration, family: TableFamily
    ) -> GroupTable | Absence | None:
        """The table after least squares with that of the next family; none if there is no other one to agree with."""
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
            better = replace(line, exact_value=guess.value, form=guess.form, published=None, combined=None)
            lines.append(replace(better, what=f"{line.what}, adjusted"))
        return replace(table, lines=tuple(lines))

    def _measurement(self, entity: Entity, group: CharacteristicIteration, family: TableFamily) -> Measurement | None:
        level = PopulationGroupLevel(entity.geography, group.level)
        for row in self._rows.totals(level, [entity.region_id], [group.code], family):
            if row["status"] != WITHHELD:
                measured = self._rows.measured(row, entity.geography, group)
                total = Guess(Fraction(row["unclamped_count"]), self._form(row, group, measured))
                return Measurement(total, self._rows.shape_of(row).cells, float(measured.noise.variance().mid()))
        return None

    def totals_of_group(self, entities: Sequence[Entity], group: CharacteristicIteration) -> list[Answer]:
        """One answer for each of some entities of one level."""
        level = PopulationGroupLevel(entities[0].geography, group.level)
        rows = self._totals(level, [entity.region_id for entity in entities], [group.code])
        by_region = {row["region_id"]: row for row in rows}
        return [
            self._answer(by_region[entity.region_id], entity, group)
            if entity.region_id in by_region
            else self._absence(entity, group)
            for entity in entities
        ]

    def totals_of_area(
        self, entity: Entity, iterations: IterationLevel, groups: Mapping[str, CharacteristicIteration]
    ) -> list[Answer]:
        """All that was published about an entity at an iteration level, of some groups."""
        rows = self._totals(PopulationGroupLevel(entity.geography, iterations), [entity.region_id], None)
        return [
            self._answer(row, entity, groups[row["iteration_code"]]) for row in rows if row["iteration_code"] in groups
        ]

    def _totals(self, level: PopulationGroupLevel, region_ids: Sequence[str], codes: Sequence[str] | None) -> list[Row]:
        """One row for each group that has a total: that of the first family in which it is shown, if it is in any."""
        found: dict[tuple[str, str], Row] = {}
        for family in self._product.families:
            for row in self._rows.totals(level, region_ids, codes, family):
                key = row["region_id"], row["iteration_code"]
                if key not in found or (found[key]["status"] == WITHHELD and row["status"] != WITHHELD):
                    found[key] = row
        return [found[key] for key in sorted(found)] if self._product.has_several_families else [*found.values()]

    def _answer(self, row: Row, entity: Entity, group: CharacteristicIteration) -> Answer:
        if row["status"] == WITHHELD:
            reason = withheld_because(row["rule"])
            return Absence(entity, group, WITHHELD, reason, confidence=self._confidence, product=self._product)
        measured = self._rows.measured(row, entity.geography, group)
        counted = Counted(entity, group, self._rows.line_of(row))
        own = Guess(Fraction(row["unclamped_count"]), self._form(row, group, measured))
        better = self._better(row, own, counted, measured) if counted.line.is_total else None
        near = () if better is None else _threshold_notes(better, is_near=self._is_near(row, group, measured))
        answer = Estimate(
            product=self._product,
            universe=self._universe,
            what=counted.what,
            exact_value=own.value,
            form=own.form,
            confidence=self._confidence,
            counted=(counted,),
            published=row["count"],
            notes=_notes(row),
            combined=None
            if better is None
            else Estimate(
                product=self._product,
                universe=self._universe,
                what=f"{counted.what}, combined",
                exact_value=better.value,
                form=better.form,
                confidence=self._confidence,
                counted=(counted,),
                notes=near,
                holds_confidence=not near,
            ),
        )
        return (
            replace(answer, notes=(*answer.notes, SELECTION_NOTE))
            if own.form.selected and answer.selection_matters
            else answer
        )

    def _form(self, row: Row, group: CharacteristicIteration, measured: Measured) -> LinearForm:
        form = self._rows.form_of(row, measured)
        design = self._level(measured.geography, group.level, row).design
        threshold, is_lone = design.suppression_threshold, self._rows.shape_of(row) is design.family.total
        if threshold is None or not is_lone or measured.stage is not Stage.STAGE_2:
            return form
        return LinearForm(form.weights, {measured: Selected(row["unclamped_count"], threshold)})

    def _is_near(self, row: Row, group: CharacteristicIteration, measured: Measured) -> bool:
        """Whether the choice of the table tells much about the noise of the stage-1 total."""
        if row["stage_1_total"] is None:
            return False
        design = self._level(measured.geography, group.level, row).design
        near = _DEVIATIONS_NEAR * sqrt(float(design.noise(Stage.STAGE_1).variance().mid()))
        return any(abs(row["stage_1_total"] - threshold) <= near for threshold in design.thresholds.totals)

    def _better(self, row: Row, own: Guess, counted: Counted, measured: Measured) -> Guess | None:
        """All independent guesses at the total in one; none if there is but one, or a total that was selected."""
        guesses = self._guesses(row, own, counted.group, measured) + self._of_other_families(row, counted)
        parts = parts_of_regional_group(self._universe, counted.group, counted.entity.geography)
        whole = self._sum_of_parts(counted.entity, parts) if parts and guesses else None
        guesses += [] if whole is None else [whole]
        return combined(guesses) if len(guesses) > 1 else None

    def _guesses(self, row: Row, own: Guess, group: CharacteristicIteration, measured: Measured) -> list[Guess]:
        """The sum of cells and the stage-1 total; nothing if the total underwent suppression."""
        if measured.stage is Stage.TOTAL_ONLY:
            return [own]
        if own.form.selected:
            return []
        if row["stage_1_total"] is None:
            return [own]
        near = int(self._is_near(row, group, measured))
        return [own, Guess(Fraction(row["stage_1_total"]), self._rows.stage_1(measured, group), near)]

    def _of_other_families(self, row: Row, counted: Counted) -> list[Guess]:
        """The same total as other tables of the product have it, with noise of their own.

        None if a rule withheld one of them: it looked at the noise, and what is left is selected.
        """
        level = PopulationGroupLevel(counted.entity.geography, counted.group.level)
        own, guesses = self._product.family_of_label[row["table"]], list[Guess]()
        for family in self._product.families:
            rows = (
                () if family is own else self._rows.totals(level, [row["region_id"]], [row["iteration_code"]], family)
            )
            if any(one["status"] == WITHHELD for one in rows):
                return []
            for other in rows:
                measured = self._rows.measured(other, counted.entity.geography, counted.group)
                guesses.append(Guess(Fraction(other["unclamped_count"]), self._form(other, counted.group, measured)))
        return guesses

    def _sum_of_parts(self, entity: Entity, parts: Sequence[CharacteristicIteration]) -> Guess | None:
        """The best guess at each Detailed group, added up; none if one of them can't be used."""
        level = PopulationGroupLevel(entity.geography, parts[0].level)
        rows = {row["iteration_code"]: row for row in self._totals(level, [entity.region_id], _codes(parts))}
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
        return Guess(value, sum_of_forms([guess.form for guess in best]), sum(guess.near for guess in best))

    def _absence(self, entity: Entity, group: CharacteristicIteration) -> Absence:
        if group.level is IterationLevel.MAJOR:
            why: NotTabulated | None = NotTabulated.MAJOR_GROUP
            level = None
        else:
            level = self._level(entity.geography, group.level)
            why = level.why_not_tabulated(group)
        status = NOT_TABULATED if why is not None else absent_status(self._product, self._origin)
        at_most = self._at_most(entity.geography, group.level) if status == SUPPRESSED else None
        reason = reason_of(why, level, self._product, status)
        return Absence(entity, group, status, reason, at_most, self._confidence, product=self._product)

    def _level(self, geography: GeographyLevel, iterations: IterationLevel, row: Row | None = None) -> ReleaseLevel:
        """Of the family that a row is of."""
        family = None if row is None else self._product.family_of_label[row["table"]]
        return self._universe.level_of(geography, iterations, family)

    def _most_if_suppressed(self, geography: GeographyLevel, iterations: IterationLevel) -> int | None:
        return most_if_suppressed(self._level(geography, iterations).design, self._confidence)

    def _stub(self, row: Row) -> str:
        line = self._rows.line_of(row)
        why = "X" if row["rule"] is None else f"rule {row['rule']}"
        return f"{line.labels[0]}, {line.stub} ({why})"


def _codes(groups: Sequence[CharacteristicIteration]) -> list[str]:
    return [one.code for one in groups]


def _threshold_notes(better: Guess, *, is_near: bool) -> tuple[str, ...]:
    """What is said of a combined total if the choice of a table tells much about noise in it."""
    if not better.near:
        return ()
    has = "has" if better.near == 1 else "have"
    what = "its stage-1 total is" if is_near else f"{better.near:,} of the groups that it adds up {has} a stage-1 total"
    return (
        f"{what} near a table threshold, so the combined total's margin may be too small; the published number is not"
        " affected",
    )


def _notes(row: Row) -> tuple[str, ...]:
    notes = []
    if row["donor_region_id"] is not None:
        donor = f"{row['donor_geography_level']} {row['donor_region_id']}"
        notes.append(f"copied from {donor}, which is made of the same blocks: the same number, with the same noise")
    if row.get(LEAST_MARGIN) is not None:
        ends = f"{row[LEAST_MARGIN]:,} to {row['unclamped_margin_of_error']:,}"
        notes.append(f"the margin of error is {ends}: which table the group has is not known, so the greatest is taken")
    return tuple(notes)
