"""Engines that count a crowd, an area, an answer or a unit wrongly, and lists that don't hold what a proof assumes."""

from dataclasses import replace

from tests.inside import (
    FindingsOf,
    UnitCounts,
    area_tables_module,
    counter_module,
    group_lists_module,
    patterns_module,
    units_module,
)

_CROWD = 1_000


def a_crowd_counted_one_too_many(patch):
    """Of records of a pattern in an atom that are more than a thousand."""
    original = counter_module.count_atoms

    def counted(records, lists, starts, iterations, counts, counted_at):
        original(records, lists, starts, iterations, counts, counted_at)
        for place in range(starts[-1]):
            counts[place] += counts[place] > _CROWD

    patch.setattr(counter_module, "count_atoms", counted)


def the_first_area_of_sparse_totals_is_empty(patch):
    original = counter_module._groups_of_atoms

    def without_the_first(part, entity_of_atom, position_of_iteration, width):
        groups, counts = original(part, entity_of_atom, position_of_iteration, width)
        return groups, counts * (groups >= width)

    patch.setattr(counter_module, "_groups_of_atoms", without_the_first)


def the_eighth_answer_is_forgotten_where_gaps_are_skipped(patch):
    original = patterns_module.order_codes

    def forgetful(codes, most_codes, ordered, may_be_empty=False, may_skip=False):
        original(codes, most_codes - may_skip if most_codes == patterns_module.CODES - 1 else most_codes, ordered,
                 may_be_empty, may_skip)  # fmt: skip

    patch.setattr(patterns_module, "order_codes", forgetful)


def units_counted_by_thread(patch):
    original = UnitCounts.report

    def of_each(self, findings, others=()):
        original(self, findings)
        for other in others:
            original(other, findings)

    patch.setattr(UnitCounts, "report", of_each)


def units_of_earlier_batches_forgotten(patch):
    patch.setattr(UnitCounts, "_added_up", lambda self: self._tables[-1])


def a_unit_may_have_one_record_more(patch):
    original = UnitCounts.__init__

    def begun(self, record, most_waiting):
        more = record.unit and replace(record.unit, most_records=record.unit.most_records + 1)
        original(self, replace(record, unit=more), most_waiting)

    patch.setattr(UnitCounts, "__init__", begun)


def units_are_not_counted(patch):
    patch.setattr(UnitCounts, "report", lambda *_: None)


def units_with_too_many_records_are_a_warning(patch):
    def warned(unit, _, too_many, findings):
        if too_many:
            findings.warning(unit.column, "some units have more records.")

    patch.setattr(units_module, "report_units", warned)


def areas_in_two_passes_accepted(patch):
    original = area_tables_module._rows_of_passes

    def accepted(spec, texts, _):
        return original(spec, texts, FindingsOf("nobody reads these"))

    patch.setattr(area_tables_module, "_rows_of_passes", accepted)


def a_code_in_two_groups_of_a_kind_accepted(patch):
    patch.setattr(group_lists_module, "_refuse_shared_codes", lambda *_: None)


def ids_sorted_without_case(patch):
    def lowered(texts, key=None):
        return sorted(texts, key=str.casefold if key is str.encode else key)

    patch.setattr(area_tables_module, "sorted", lowered, raising=False)
